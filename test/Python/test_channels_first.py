"""Tensors with the channels first: windows in steps along their rows, images of few channels, transposed results."""

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def model(operator, x, weights=(), **attributes):
    names = ["x", *(f"w{i}" for i in range(len(weights)))]
    element = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [helper.make_node(operator, names, ["y"], **attributes)], "first",
        [helper.make_tensor_value_info("x", element, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)],
        [numpy_helper.from_array(array, name) for array, name in zip(weights, names[1:])])  # fmt: skip
    graph.output[0].type.tensor_type.elem_type = element
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def numbers(shape, dtype=np.float32):
    rng = np.random.default_rng(sum(shape))
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, 100, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def outputs(proto, x):
    """Of Strata and of ONNX Runtime."""
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    [y] = strata.compile(proto, winograd=False).run({"x": x})
    [want] = session.run(None, {"x": x})
    assert y.shape == want.shape and y.dtype == want.dtype
    return y, want


# Rows that are full vectors, with rests of every width, shorter than a vector, and of one element.
@pytest.mark.parametrize(
    "cpu, columns", [("", 1), ("", 3), ("", 15), ("", 64), ("sapphirerapids", 31), ("sapphirerapids", 48)]
)
@pytest.mark.parametrize("steps", [2, 3, 4, 5])
@pytest.mark.parametrize("kernel", [1, 3])
def test_windows_in_steps(monkeypatch, cpu, steps, kernel, columns):
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    x = numbers((2, 3, 2 * steps + kernel, (columns - 1) * steps + kernel))
    y, want = outputs(model("MaxPool", x, kernel_shape=[kernel] * 2, strides=[steps] * 2), x)
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("operator, attributes", [("AveragePool", {}), ("AveragePool", {"count_include_pad": 1}),
                                                  ("LpPool", {"p": 2}), ("LpPool", {"p": 1})])  # fmt: skip
@pytest.mark.parametrize("size", [(37,), (9, 37), (4, 5, 37)])
def test_padded_windows(operator, attributes, size):
    x = numbers((2, 5, *size))
    rank = len(size)
    proto = model(operator, x, kernel_shape=[3] * rank, strides=[2] * rank, pads=[1] * 2 * rank, **attributes)
    y, want = outputs(proto, x)
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.uint8, np.int8])
@pytest.mark.parametrize("steps", [2, 3, 4])
def test_elements_of_windows(dtype, steps):
    x = numbers((1, 2, 3 * steps, 70 * steps + 1), dtype)
    proto = model("MaxPool", x, kernel_shape=[steps + 1] * 2, strides=[steps] * 2)
    [y] = strata.compile(proto).run({"x": x})
    np.testing.assert_array_equal(y, ReferenceEvaluator(proto).run(None, {"x": x})[0])


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_depthwise(steps):
    x, w = numbers((2, 6, 20, 41)), numbers((6, 1, 3, 3))
    y, want = outputs(model("Conv", x, [w], group=6, strides=[steps] * 2, pads=[1] * 4), x)
    np.testing.assert_allclose(y, want, rtol=0, atol=1e-5)


# What is read last is the end of the tensor: nothing behind it is.
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("step, count", [(2, 1), (2, 77), (3, 32), (4, 77), (8, 32), (9, 7)])
def test_slices(dtype, step, count):
    x = numbers((3, (count - 1) * step + 1), np.uint8).astype(dtype)
    ends = [np.array([value], np.int64) for value in (0, x.shape[1], 1, step)]
    y, want = outputs(model("Slice", x, ends), x)
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("cpu", ["", "sapphirerapids"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.uint8, np.bool_])
@pytest.mark.parametrize("channels", [2, 3, 5])
@pytest.mark.parametrize("size", [(5, 3), (3, 61)])
def test_channels_of_images(monkeypatch, cpu, dtype, channels, size):
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    x = numbers((2, channels, *size), np.uint8).astype(dtype)
    [y] = strata.compile(model("Transpose", x, perm=[0, 2, 3, 1])).run({"x": x})
    np.testing.assert_array_equal(y, x.transpose(0, 2, 3, 1))
    [back] = strata.compile(model("Transpose", y, perm=[0, 3, 1, 2])).run({"x": y})
    np.testing.assert_array_equal(back, x)


# Results larger than the cache, of which blocks are transposed: rows, parts of one long row, and rests of both.
CONVOLUTIONS = [
    ((1, 3, 120, 90), (64, 3, 7, 7), {"strides": [2, 2], "pads": [3] * 4}),
    ((2, 16, 61, 57), (72, 16, 3, 3), {"pads": [1] * 4}),
    ((1, 8, 50, 50), (96, 8, 5, 5), {"dilations": [2, 2]}),
    ((1, 1, 9000), (128, 1, 10), {"strides": [5]}),
    ((1, 24, 4001), (48, 24, 3), {"pads": [1, 1]}),
    ((1, 4, 9, 24, 30), (40, 4, 3, 3, 3), {"pads": [1] * 6}),
    ((1, 32, 64, 64), (64, 8, 3, 3), {"group": 4}),
]


@pytest.mark.parametrize("cpu, threads", [("", 1), ("", 2), ("sapphirerapids", 1)])
@pytest.mark.parametrize("shape, filters, attributes", CONVOLUTIONS)
def test_transposed_results(monkeypatch, cpu, threads, shape, filters, attributes):
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    x, w, bias = numbers(shape), numbers(filters), numbers(filters[:1])
    proto = model("Conv", x, [w / np.sqrt(np.float32(w[0].size)), bias], **attributes)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    [y] = strata.compile(proto, winograd=False, threads=threads).run({"x": x})
    np.testing.assert_allclose(y, session.run(None, {"x": x})[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("cpu", ["sapphirerapids", "znver4"])
@pytest.mark.parametrize("shape, filters, attributes", CONVOLUTIONS[:2] + CONVOLUTIONS[3:4])
def test_transposed_results_of_bf16(monkeypatch, cpu, shape, filters, attributes):
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    x, w = numbers(shape), numbers(filters)
    w /= np.sqrt(np.float32(w[0].size))
    proto = model("Conv", x, [w], **attributes)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    np.testing.assert_allclose(y, session.run(None, {"x": x})[0], rtol=0, atol=0.04)
