"""Images whose pixels come from the channels of a convolution, or of the phases of a transposed one, against ONNX Runtime.
All numbers are small integers, which bf16 holds: results are equal."""

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper


def integers(*shape, seed=0):
    return np.random.default_rng(seed).integers(-1, 2, shape).astype(np.float32)


def compare(nodes, weights, x, precision, shape=None, threads=1):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape or x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    [expected] = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})
    assert np.abs(expected).max() > 4
    [found] = strata.compile(proto, precision=precision, threads=threads, winograd=False).run([x])
    np.testing.assert_array_equal(found, expected)


# What follows, element by element or not, and reads it.
READERS = {
    "nothing": [helper.make_node("Identity", ["s"], ["y"])],
    "activation": [helper.make_node("Relu", ["s"], ["y"])],
    "slope": [helper.make_node("PRelu", ["s", "slope"], ["y"])],
    "convolution": [helper.make_node("Relu", ["s"], ["r"]), helper.make_node("Conv", ["r", "v"], ["y"], pads=[1] * 4)],
    "two": [
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("Conv", ["r", "v"], ["d"], pads=[1] * 4),
        helper.make_node("Add", ["d", "r"], ["y"]),
    ],
    "largest": [helper.make_node("GlobalMaxPool", ["s"], ["m"]), helper.make_node("Sub", ["s", "m"], ["y"])],
}


def readers(name, channels):
    weights = {}
    if name == "slope":
        weights["slope"] = integers(channels, 1, 1, seed=4)
    if name in ("convolution", "two"):
        weights["v"] = np.zeros((channels, channels, 3, 3), np.float32)
        # Few terms: sums stay small.
        weights["v"][np.arange(channels), np.arange(channels)[::-1]] = integers(channels, 3, 3, seed=5)
    return READERS[name], weights


@pytest.mark.parametrize("precision", ["f32", "bf16"])
@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("kernel, block, reader", [
    (3, 2, "nothing"), (1, 2, "activation"), (3, 3, "slope"), (3, 2, "convolution"), (1, 3, "convolution"),
    (3, 2, "two"), (1, 4, "nothing"), (1, 2, "two"),
])  # fmt: skip
def test_depth_to_space(kernel, block, reader, mode, precision):
    channels = 16
    x = integers(2, 8, 6, 20, seed=1)
    nodes, weights = readers(reader, channels)
    weights |= {"w": integers(channels * block * block, 8, kernel, kernel, seed=2),
                "b": integers(channels * block * block, seed=3)}  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[kernel // 2] * 4),
        helper.make_node("DepthToSpace", ["c"], ["s"], blocksize=block, mode=mode),
        *nodes,
    ]
    compare(nodes, weights, x, precision, threads=1 + block % 2)
    compare(nodes, weights, x, precision, shape=[None, 8, None, None])


@pytest.mark.parametrize("precision", ["f32", "bf16"])
@pytest.mark.parametrize("reader", sorted(READERS))
@pytest.mark.parametrize("kernel, stride, pads", [(3, 2, [1, 1, 0, 0]), (4, 2, [1] * 4), (2, 2, [0] * 4), (5, 3, [1] * 4)])
def test_transposed_convolutions(kernel, stride, pads, reader, precision):
    channels = 32
    x = integers(1, 8, 6, 8, seed=1)
    nodes, weights = readers(reader, channels)
    weights |= {"w": integers(8, channels, kernel, kernel, seed=2), "b": integers(channels, seed=3)}
    nodes = [
        helper.make_node("ConvTranspose", ["x", "w", "b"], ["s"], strides=[stride] * 2, pads=pads),
        *nodes,
    ]
    compare(nodes, weights, x, precision, threads=1 + stride % 2)
