"""Depthwise convolutions by themselves, whose channels may stay in front: rests of rows, steps, dilations, several results
of a channel, against NumPy in double precision."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import strata


def depthwise(x, w, b, pads, strides, dilations):
    channels, multiplier = x.shape[1], w.shape[0] // x.shape[1]
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    height, width = [(x.shape[2 + i] - dilations[i] * (w.shape[2 + i] - 1) - 1) // strides[i] + 1 for i in (0, 1)]
    y = np.zeros((x.shape[0], channels, multiplier, height, width))
    w = w.reshape(channels, multiplier, *w.shape[2:])
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            part = x[:, :, i * dilations[0] :, j * dilations[1] :]
            part = part[:, :, : height * strides[0] : strides[0], : width * strides[1] : strides[1]]
            y += part[:, :, None] * w[None, :, :, i, j, None, None]
    return np.maximum(y.reshape(x.shape[0], -1, height, width) + b[:, None, None], 0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape, multiplier, kernel, pads, strides, dilations", [
    ((1, 6, 56, 56), 1, (3, 3), (1, 1, 1, 1), (1, 1), (1, 1)),
    ((2, 5, 14, 14), 1, (5, 5), (2, 2, 2, 2), (1, 1), (1, 1)),
    ((1, 4, 7, 33), 2, (3, 3), (0, 1, 2, 1), (1, 1), (1, 2)),
    ((1, 33, 15, 17), 1, (3, 3), (1, 1, 1, 1), (2, 2), (1, 1)),
    ((1, 3, 5, 40), 3, (3, 1), (0, 0, 0, 0), (2, 1), (1, 1)),
    ((3, 2, 1, 64), 1, (1, 7), (0, 3, 0, 3), (1, 1), (1, 1)),
    *(((1, 3, 6, width), 1, (3, 3), (1, 1, 1, 1), (1, 1), (1, 1)) for width in (3, 5, 6, 7, 11, 13, 15, 22, 29, 31)),
])  # fmt: skip
def test_alone(shape, multiplier, kernel, pads, strides, dilations, threads):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(np.float32)
    w = rng.standard_normal((shape[1] * multiplier, 1, *kernel)).astype(np.float32)
    b = rng.standard_normal(len(w)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], group=shape[1], pads=pads, strides=strides, dilations=dilations),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "depthwise", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    y = strata.compile(model, threads=threads).run({"x": x})[0]
    np.testing.assert_allclose(y, depthwise(x, w, b, pads, strides, dilations), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width", [6, 7, 13, 14, 15, 27])
def test_added_in_place(width):
    """What is added to may be the memory of the result, of which some lanes are computed twice."""
    rng = np.random.default_rng(width)
    shape = (1, 5, 9, width)
    x, w = (rng.standard_normal(s).astype(np.float32) for s in (shape, (5, 1, 3, 3)))
    nodes = [helper.make_node("Exp", ["x"], ["e"])]
    for i in range(3):
        before = f"y{i - 1}" if i else "e"
        nodes.append(helper.make_node("Conv", ["x", "w"], [f"c{i}"], group=5, pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Add", [before, f"c{i}"], [f"y{i}"]))
    graph = helper.make_graph(
        nodes, "added", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y2", TensorProto.FLOAT, None)], [numpy_helper.from_array(w, "w")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    y = strata.compile(model).run({"x": x})[0]
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    expected = np.exp(x.astype(np.float64)) + 3 * np.einsum("nchwij,cij->nchw", windows, w[:, 0])
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel, step", [(3, 1), (3, 2), (2, 2)])
@pytest.mark.parametrize("size", [5, 7, 10])
@pytest.mark.parametrize("channels", [16, 48, 64, 80])
def test_small_images(channels, size, kernel, step):
    """Few rows of channels that are one, three or five vectors: depthwise convolutions and pools of what another one made."""
    rng = np.random.default_rng(channels + size)
    x, first, w = (
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((1, 8, size, size), (channels, 8, 1, 1), (channels, 1, kernel, kernel))
    )
    window = dict(kernel_shape=[kernel] * 2, strides=[step] * 2)
    nodes = [
        helper.make_node("Conv", ["x", "first"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Conv", ["r", "w"], ["depthwise"], group=channels, **window),
        helper.make_node("AveragePool", ["r"], ["mean"], **window),
        helper.make_node("MaxPool", ["r"], ["most"], **window),
    ]
    graph = helper.make_graph(
        nodes, "small", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("depthwise", "mean", "most")],
        [numpy_helper.from_array(first, "first"), numpy_helper.from_array(w, "w")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = np.maximum(np.einsum("nchw,fc->nfhw", x.astype(np.float64), first[:, :, 0, 0]), 0)
    windows = np.lib.stride_tricks.sliding_window_view(data, (kernel, kernel), (2, 3))[:, :, ::step, ::step]
    results = strata.compile(model).run({"x": x})
    expected = np.einsum("nchwij,cij->nchw", windows, w[:, 0]), windows.mean((-2, -1)), windows.max((-2, -1))
    for result, right in zip(results, expected):
        np.testing.assert_allclose(result, right, rtol=1e-5, atol=1e-5)
