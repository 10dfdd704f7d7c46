"""Products of signed bytes with weights of signed bytes, and what else reads the data: all exact."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from support.targets import TARGETS


def bytes_of(rng, *shape):
    return rng.integers(-128, 128, shape).astype(np.int8)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("zero", [0, -128, 37])
@pytest.mark.parametrize("channels, size, filters, more", [(3, 9, 24, 40), (16, 12, 21, 3)])
def test_images(target, zero, channels, size, filters, more):
    rng = np.random.default_rng(size)
    x, other = bytes_of(rng, 1, channels, size, size), bytes_of(rng, 1, 5, size // 2, size // 2)
    weights = {"w": bytes_of(rng, filters, channels, 3, 3), "v": bytes_of(rng, more, channels + 5, 3, 3),
               "d": bytes_of(rng, channels, 1, 3, 3), "z": np.array(zero, np.int8)}  # fmt: skip
    nodes = [
        helper.make_node("ConvInteger", ["x", "w", "z"], ["a"], pads=[1] * 4),
        helper.make_node("ConvInteger", ["x", "d", "z"], ["b"], pads=[1] * 4, group=channels),
        helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Concat", ["p", "o"], ["q"], axis=1),
        helper.make_node("ConvInteger", ["q", "v", "z"], ["c"], pads=[0, 1, 2, 1], strides=[2, 1]),
        helper.make_node("Cast", ["p"], ["e"], to=TensorProto.FLOAT),
    ]
    value, results = helper.make_tensor_value_info, {"a": TensorProto.INT32, "b": TensorProto.INT32,
                                                     "c": TensorProto.INT32, "e": TensorProto.FLOAT}  # fmt: skip
    feeds = {"x": x, "o": other}
    graph = helper.make_graph(
        nodes, "g", [value(name, TensorProto.INT8, array.shape) for name, array in feeds.items()],
        [value(name, kind, None) for name, kind in results.items()],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = strata.compile(model, target=target).run(feeds)
    for y, want in zip(found, ReferenceEvaluator(model).run(None, feeds)):
        np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("m, k, n", [(1, 64, 40), (17, 50, 33), (64, 256, 64)])
def test_matrices(target, m, k, n):
    """The data of two products, of which one has weights that are given."""
    rng = np.random.default_rng(m)
    feeds = {"x": bytes_of(rng, m, k), "v": bytes_of(rng, k, n)}
    w = bytes_of(rng, k, n)
    nodes = [helper.make_node("MatMulInteger", ["x", "w"], ["a"]), helper.make_node("MatMulInteger", ["x", "v"], ["b"])]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value(name, TensorProto.INT8, array.shape) for name, array in feeds.items()],
                              [value(name, TensorProto.INT32, None) for name in "ab"],
                              [numpy_helper.from_array(w, "w")])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    a, b = strata.compile(model, target=target).run(feeds)
    np.testing.assert_array_equal(a, feeds["x"].astype(np.int32) @ w)
    np.testing.assert_array_equal(b, feeds["x"].astype(np.int32) @ feeds["v"])
