"""Element types that few operators compute with: strings, complex numbers, integers where floats are usual."""

import ml_dtypes
import numpy as np
import pytest
import strata
from onnx import TensorProto, helper


def run(op, inputs, output=None, opset=22, constants=(), **attributes):
    def kind(x):
        return TensorProto.STRING if x.dtype == object else helper.np_dtype_to_tensor_dtype(x.dtype)

    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    given = {n: x for n, x in zip(names, inputs) if n}
    infos = [helper.make_tensor_value_info(n, kind(x), [f"{n}_{i}" for i in range(x.ndim)] if int(n[1:]) not in constants else x.shape)
             for n, x in given.items()]  # fmt: skip
    graph = helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], "g", infos,
                              [helper.make_tensor_value_info("y", output or kind(inputs[0]), None)])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return strata.compile(model, threads=1).run(given)[0]


def words(*shape):
    return np.array([f"w{i}" if i % 3 else "" for i in range(np.prod(shape))], object).reshape(shape)


def test_non_zero_strings_are_those_with_letters():
    x = words(2, 4)
    np.testing.assert_array_equal(run("NonZero", [x], TensorProto.INT64), np.nonzero(x != ""))


def test_triangle():
    x = words(2, 3, 4)
    assert (run("Trilu", [x, np.array(1)], upper=1) == np.where(np.tri(3, 4, 0, bool), "", x)).all()


def test_resize_strings():
    x = words(2, 3)
    sizes = np.array([4, 6])
    assert (run("Resize", [x, None, None, sizes], mode="nearest") == x.repeat(2, 0).repeat(2, 1)).all()
    scales = np.array([1, 2], np.float32)
    assert (run("Upsample", [x, scales], opset=9, mode="nearest") == x.repeat(2, 1)).all()
    region = np.array([0, 0, 1, 2], np.float32)
    y = run("Resize", [x, region, None, np.array([2, 4])], mode="nearest", coordinate_transformation_mode="tf_crop_and_resize",
            extrapolation_value=0.5)  # fmt: skip
    assert y.tolist() == [["", "w1", "0.5", "0.5"], ["", "w4", "0.5", "0.5"]]
    with pytest.raises(strata.CompileError, match="it interpolates strings"):
        run("Resize", [x, None, None, sizes], mode="linear")


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_resize_by_parts(mode):
    rng = np.random.default_rng(1)
    x, sizes = (rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))).astype(np.complex128), np.array([5, 7])
    parts = [run("Resize", [np.ascontiguousarray(p), None, None, sizes], mode=mode) for p in (x.real, x.imag)]
    np.testing.assert_allclose(run("Resize", [x, None, None, sizes], mode=mode), parts[0] + 1j * parts[1])
    flags = rng.random((3, 4)) < 0.3
    expected = run("Resize", [flags.astype(np.float64), None, None, sizes], mode=mode) != 0
    np.testing.assert_array_equal(run("Resize", [flags, None, None, sizes], mode=mode), expected)
    y = run("Resize", [x[:2, :3], np.array([0, 0, 1, 2], np.float32), None, np.array([2, 4])], mode="nearest",
            coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=2.5)  # fmt: skip
    np.testing.assert_array_equal(y, np.stack([x[:2, 0], x[:2, 1], [2.5, 2.5], [2.5, 2.5]], 1))


def test_grid_sample():
    rng = np.random.default_rng(2)
    grid = rng.uniform(-1.3, 1.3, (1, 3, 5, 2)).astype(np.float32)
    x = words(1, 2, 4, 3)
    places = run("GridSample", [np.arange(1.0, 25).reshape(x.shape), grid], mode="nearest").astype(int)
    assert (run("GridSample", [x, grid], mode="nearest") == np.append("", x.ravel())[places]).all()
    for mode in ("linear", "cubic"):
        z = rng.normal(size=x.shape) + 1j * rng.normal(size=x.shape)
        parts = [run("GridSample", [np.ascontiguousarray(p), grid], mode=mode) for p in (z.real, z.imag)]
        np.testing.assert_allclose(run("GridSample", [z, grid], mode=mode), parts[0] + 1j * parts[1])
        for dtype in (np.int8, np.uint64, np.bool_):
            values = rng.integers(0, 2 if dtype is np.bool_ else 100, x.shape).astype(dtype)
            exact = run("GridSample", [values.astype(np.float64), grid], mode=mode)
            expected = exact != 0 if dtype is np.bool_ else np.trunc(np.maximum(exact, np.iinfo(dtype).min)).astype(dtype)
            np.testing.assert_array_equal(run("GridSample", [values, grid], mode=mode), expected)
    with pytest.raises(strata.CompileError, match="mode linear on strings"):
        run("GridSample", [x, grid], mode="linear")


def test_sums_of_strings_are_concatenated():
    x = np.array([["a", "b", "c"], ["d", "e", "f"]], object)[None]
    y = run("Col2Im", [x, np.array([4]), np.array([2])], constants=(1, 2))
    assert y.tolist() == [[["a", "bd", "ce", "f"]]]


@pytest.mark.parametrize("target", ["DOUBLE", "INT64", "UINT64"])
def test_bits_of_complex_numbers(target):
    x = np.array([1 + 2j, -0.0 - 1e30j, np.nan + np.inf * 1j], np.complex64)
    y = run("BitCast", [x], getattr(TensorProto, target), 26, to=getattr(TensorProto, target))
    np.testing.assert_array_equal(y.view(np.uint64), x.view(np.uint64))
    back = run("BitCast", [y], TensorProto.COMPLEX64, 26, to=TensorProto.COMPLEX64)
    np.testing.assert_array_equal(back.view(np.uint64), x.view(np.uint64))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, object, np.bool_])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_center_crop_pad(dtype, index):
    x = words(3, 4, 5) if dtype is object else np.arange(60).reshape(3, 4, 5).astype(dtype)
    for target in ([2, 7, 5], [6, 1, 0], [3, 4, 5]):
        expected = x
        for axis, size in enumerate(target):
            more = size - expected.shape[axis]
            if more < 0:
                start = -more // 2
                expected = expected.take(range(start, start + size), axis)
            else:
                pads = [(0, 0)] * 3
                pads[axis] = (more // 2, more - more // 2)
                expected = np.pad(expected, pads, constant_values="" if dtype is object else 0)
        assert (run("CenterCropPad", [x, np.array(target, index)]) == expected).all()
        y = run("CenterCropPad", [x, np.array(target[:1], index)], axes=[-3])
        assert y.shape == (target[0], 4, 5)
    assert (run("CenterCropPad", [x[:0], np.array([2, 2, 2], index)]) == ("" if dtype is object else 0)).all()


def test_losses_of_bfloat16():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 5)).astype(ml_dtypes.bfloat16)
    labels = np.array([0, 4, 2, 1])
    exact = x.astype(np.float64)
    logs = exact - np.log(np.exp(exact).sum(1, keepdims=True))
    expected = -logs[np.arange(4), labels].mean()
    loss = run("SoftmaxCrossEntropyLoss", [x, labels])
    assert loss.dtype == x.dtype
    np.testing.assert_allclose(loss.astype(np.float64), expected, 2**-8)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_branches_choose_between_narrow_floats(dtype):
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def branch(source):
        value = helper.make_tensor_value_info("r", kind, None)
        return helper.make_graph([helper.make_node("Identity", [source], ["r"])], source, [], [value])

    node = helper.make_node("If", ["c"], ["z"], then_branch=branch("x"), else_branch=branch("y"))
    infos = [helper.make_tensor_value_info("c", TensorProto.BOOL, []), helper.make_tensor_value_info("x", kind, ["n", 2]),
             helper.make_tensor_value_info("y", kind, ["m", 2])]  # fmt: skip
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("z", kind, None)])
    model = strata.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), threads=1)
    x, y = np.array([[1, 2], [3, 4]]).astype(dtype), np.array([[5, 6]]).astype(dtype)
    for condition, expected in ((True, x), (False, y)):
        (z,) = model.run([np.array(condition), x, y])
        assert z.dtype == expected.dtype and z.tolist() == expected.tolist()
