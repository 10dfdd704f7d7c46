"""Convolutions whose kernels reach into the padding, against ONNX Runtime and ONNX's reference."""

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from support.combinations import every_other
from support.targets import BYTE_TARGETS, TARGETS, has


def model(x, w, **attributes):
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(w, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def compare(x, w, **attributes):
    proto = model(x, w, **attributes)
    expected = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})[0]
    np.testing.assert_allclose(strata.compile(proto).run([x])[0], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_taps_in_the_padding(seed):
    generator = np.random.default_rng(seed)
    rank = int(generator.integers(1, 4))
    kernel, dilations, strides, pads, sizes = [], [], [], [], []
    for _ in range(rank):
        size, k, d = int(generator.integers(1, 7)), int(generator.integers(1, 5)), int(generator.integers(1, 9))
        low, high = (int(p) for p in generator.integers(0, 20, 2))
        high += max(0, (k - 1) * d + 1 - size - low - high)
        kernel.append(k)
        dilations.append(d)
        strides.append(int(generator.integers(1, 4)))
        pads.append((low, high))
        sizes.append(size)
    group = int(generator.integers(1, 3))
    x = generator.standard_normal((2, 2 * group, *sizes), np.float32)
    w = generator.standard_normal((3 * group, 2, *kernel), np.float32)
    compare(x, w, dilations=dilations, strides=strides, group=group, pads=[p[0] for p in pads] + [p[1] for p in pads])


@pytest.mark.parametrize("dilation", [1, 2, 3, 6, 7, 8, 30])
def test_dilations_of_segmentation_networks(dilation):
    generator = np.random.default_rng(0)
    x = generator.standard_normal((1, 8, 7, 7), np.float32)
    w = generator.standard_normal((16, 8, 3, 3), np.float32)
    compare(x, w, dilations=[dilation] * 2, pads=[dilation] * 4)


# Width, kernel, dilation, stride, zeros before and behind: tiles of columns that read them at the first taps, at the last
# ones, at both or at none; and lines of which most taps read nothing else.
LINES = [
    (7, 3, 1, 1, 1, 1), (7, 5, 1, 1, 2, 2), (7, 7, 1, 1, 3, 3), (5, 3, 1, 1, 1, 1), (3, 3, 1, 1, 1, 1), (1, 3, 1, 1, 1, 1),
    (14, 3, 1, 1, 1, 1), (14, 5, 1, 1, 2, 2), (13, 3, 1, 1, 2, 0), (15, 5, 1, 1, 0, 4), (16, 7, 1, 1, 6, 6), (28, 5, 1, 1, 2, 2),
    (27, 7, 1, 1, 3, 3), (29, 7, 1, 1, 0, 6), (14, 3, 1, 2, 1, 1), (13, 5, 1, 2, 2, 2), (27, 7, 1, 3, 5, 3), (7, 3, 2, 1, 2, 2),
    (14, 3, 6, 1, 6, 6), (14, 3, 12, 1, 12, 12), (28, 3, 12, 1, 12, 12), (28, 3, 24, 1, 24, 24), (30, 3, 36, 2, 36, 36),
    (14, 5, 3, 2, 7, 4), (28, 3, 5, 1, 0, 10), (33, 9, 1, 1, 4, 4),
]  # fmt: skip


def line_case(line, seed):
    """The shape of a model whose columns are as `line` says, and whose rows are as another one says."""
    width, kernel, dilation, stride, low, high = line
    height, k, d, s, top, bottom = LINES[(seed * 7 + 3) % len(LINES)]
    attributes = {"pads": [top, low, bottom, high], "dilations": [d, dilation], "strides": [s, stride]}
    return (height, width), (k, kernel), attributes


FLOATS = [("f32", 16, 48, 1), ("f32", 48, 48, 48), ("f32", 6, 40, 2), ("bf16", 16, 48, 1)]


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("seed, line", list(enumerate(LINES)), ids=str)
def test_columns_in_the_padding(seed, line, number):
    """Each line with two of the forms, by turns."""
    precision, channels, filters, group = FLOATS[(seed + 2 * number) % len(FLOATS)]
    if precision == "bf16" and not has("avx512_bf16"):
        pytest.skip("this CPU has no AVX512-BF16")
    size, kernel, attributes = line_case(line, seed)
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((2, channels, *size), np.float32)
    w = generator.standard_normal((filters, channels // group, *kernel), np.float32)
    if precision == "bf16":
        x, w = (array.astype(ml_dtypes.bfloat16).astype(np.float32) for array in (x, w))
    proto = model(x, w, group=group, **attributes)
    expected = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})[0]
    # Code for other CPUs has other tiles.
    target = None if precision == "bf16" else TARGETS[seed % len(TARGETS)]
    found = strata.compile(proto, threads=1 + seed % 2, winograd=False, precision=precision, target=target).run([x])[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6 * np.abs(expected).max())


BYTES = [("uint8", "int8", 0), ("int8", "int8", 0), ("uint8", "uint8", 0), ("uint8", "int8", 3)]


def check_bytes(x, w, zero, attributes, target):
    graph = helper.make_graph(
        [helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(np.array(zero, x.dtype), "z")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    # Whole numbers of f64 are exact.
    x64, w64 = x.astype(np.float64) - zero, w.astype(np.float64)
    [expected] = ReferenceEvaluator(model(x64, w64, **attributes)).run(None, {"x": x64})
    np.testing.assert_array_equal(strata.compile(proto, target=target).run([x])[0], expected)


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("seed, line", list(enumerate(LINES)), ids=str)
def test_bytes_in_the_padding(seed, line, number):
    """Of data whose zero is another number, padding is that number. Each line with two of the types, by turns."""
    data, weights, zero = BYTES[(seed + 2 * number) % len(BYTES)]
    size, kernel, attributes = line_case(line, seed)
    generator = np.random.default_rng(seed)
    x, w = (generator.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True)
            for kind, shape in ((data, (2, 16, *size)), (weights, (40, 16, *kernel))))  # fmt: skip
    check_bytes(x, w, zero, attributes, BYTE_TARGETS[seed % len(BYTE_TARGETS)])


@pytest.mark.parametrize("target", BYTE_TARGETS, ids=str)
@pytest.mark.parametrize("channels, stride, dilation", [(512, 1, 1), (640, 2, 1), (416, 1, 2)])
def test_bytes_of_many_channels(channels, stride, dilation, target):
    """So many that what one tap of a window reads fills the first-level cache."""
    generator = np.random.default_rng(channels)
    x = generator.integers(0, 255, (1, channels, 7, 20), np.uint8, endpoint=True)
    w = generator.integers(-128, 127, (40, channels, 3, 3), np.int8, endpoint=True)
    attributes = {"strides": [stride] * 2, "dilations": [dilation] * 2, "pads": [dilation] * 4}
    check_bytes(x, w, 0, attributes, target)


@every_other("filters, target", [2, 3, 5, 6, 7, 9, 11], range(len(TARGETS)))
def test_few_filters(filters, target):
    """Fewer than a vector has lanes, with what is read for each of them behind the sums; the last rows end the buffer."""
    generator = np.random.default_rng(filters)
    x, r = (generator.standard_normal((1, c, 9, 13), np.float32) for c in (20, filters))
    w = generator.standard_normal((filters, 20, 3, 3), np.float32) / 16  # sums of magnitude one
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4),
            helper.make_node("Add", ["c", "r"], ["s"]),
            helper.make_node("Tanh", ["s"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in (("x", x), ("r", r))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(generator.standard_normal(filters, np.float32), "b")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    [expected] = ReferenceEvaluator(proto).run(None, {"x": x, "r": r})
    found = strata.compile(proto, threads=1 + filters % 2, target=TARGETS[target]).run([x, r])[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_infinite_weights_meet_zeros():
    x = np.ones((1, 1, 3, 3), np.float32)
    w = np.full((1, 1, 3, 3), np.inf, np.float32)
    assert np.isnan(strata.compile(model(x, w, dilations=[4, 4], pads=[4] * 4)).run([x])[0]).all()
