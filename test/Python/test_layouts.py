"""What stands between convolutions computes with their channels last: products along other dimensions, and reductions
whose results are in another order; against NumPy in double precision."""

import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(0)


def run(nodes, x, weights, output, threads=1):
    graph = helper.make_graph(
        nodes, "layouts", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    [y] = strata.compile(onnx.shape_inference.infer_shapes(model), threads=threads).run({"x": x})
    return y


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def pointwise(x, w):
    return np.einsum("nchw,fc->nfhw", x, w[:, :, 0, 0].astype(np.float64))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("joints, channels, frames", [(25, 64, 30), (17, 40, 7), (5, 96, 1), (33, 7, 12)])
def test_products_of_joints(joints, channels, frames, threads):
    """Each joint becomes a sum of all joints, channel by channel, between convolutions over time."""
    x, graph = normal(2, 6, frames, joints), normal(3, joints, joints)
    weights = {"a": normal(3 * channels, 6, 3, 1), "b": normal(8, channels, 3, 1), "graph": graph,
               "shape": np.array([2, 3, channels, frames, joints])}  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "a"], ["c"], pads=[1, 0, 1, 0]),
        helper.make_node("Reshape", ["c", "shape"], ["parts"]),
        helper.make_node("Einsum", ["parts", "graph"], ["mixed"], equation="nkctv,kvw->nctw"),
        helper.make_node("Relu", ["mixed"], ["r"]),
        helper.make_node("Conv", ["r", "b"], ["y"], pads=[1, 0, 1, 0]),
    ]
    y = run(nodes, x, weights, "y", threads)

    def conv(x, w):
        padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (1, 1), (0, 0)])
        return sum(np.einsum("nctv,fc->nftv", padded[:, :, i : i + frames], w[:, :, i, 0]) for i in range(3))

    parts = conv(x, weights["a"]).reshape(2, 3, channels, frames, joints)
    want = conv(np.maximum(np.einsum("nkctv,kvw->nctw", parts, graph), 0), weights["b"])
    np.testing.assert_allclose(y, want, atol=1e-6 * np.abs(want).max())


@pytest.mark.parametrize("axis", [2, 3])
@pytest.mark.parametrize("op, function", [("ReduceMax", np.max), ("ReduceSum", np.sum), ("ReduceMean", np.mean)])
@pytest.mark.parametrize("channels", [16, 7, 130])
def test_reductions_behind_convolutions(channels, op, function, axis):
    """The channels are last in what is reduced, and in the middle of the result."""
    x = normal(2, 5, 33, 12)
    weights = {"w": normal(channels, 5, 1, 1), "u": normal(channels, channels, 1, 1), "axes": np.array([axis])}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Conv", ["r", "u"], ["d"]),
        helper.make_node(op, ["d", "axes"], ["y"], keepdims=0),
    ]
    y = run(nodes, x, weights, "y")
    want = function(pointwise(np.maximum(pointwise(x, weights["w"]), 0), weights["u"]), axis=axis)
    np.testing.assert_allclose(y, want, atol=2e-6 * np.abs(want).max())


@pytest.mark.parametrize("sizes", [(13, 11), (12, 16), (40, 41)])
@pytest.mark.parametrize("channels", [(3, 24, 40, 7), (30, 8, 30, 30)])
def test_chains_of_pixels(channels, sizes):
    """Convolutions of single pixels alone, with a residual around two of them: the channels move or stay."""
    first, inner, second, last = channels
    x = normal(3, first, *sizes)
    weights = {"v": normal(inner, first, 1, 1), "w": normal(second, inner, 1, 1), "u": normal(last, second, 1, 1)}
    nodes = [helper.make_node("Conv", ["x", "v"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("Conv", ["b", "w"], ["c"]), helper.make_node("Tanh", ["c"], ["d"]),
             *([helper.make_node("Add", ["d", "x"], ["e"])] if first == second else [helper.make_node("Neg", ["d"], ["e"])]),
             helper.make_node("Conv", ["e", "u"], ["y"])]  # fmt: skip
    middle = np.tanh(pointwise(np.maximum(pointwise(x, weights["v"]), 0), weights["w"]))
    want = pointwise(middle + x if first == second else -middle, weights["u"])
    for threads in 1, 2:
        np.testing.assert_allclose(run(nodes, x, weights, "y", threads), want, atol=3e-6 * np.abs(want).max())


def test_where_the_largest_lies():
    """Two results of one reduction, the second one an index."""
    x = normal(2, 5, 33, 12)
    weights = {"w": normal(24, 5, 1, 1), "u": normal(24, 24, 1, 1)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Conv", ["c", "u"], ["d"]),
             helper.make_node("ArgMax", ["d"], ["at"], axis=2, keepdims=0),
             helper.make_node("Cast", ["at"], ["y"], to=TensorProto.FLOAT)]  # fmt: skip
    y = run(nodes, x, weights, "y")
    np.testing.assert_array_equal(y, pointwise(pointwise(x, weights["w"]), weights["u"]).argmax(2))


@pytest.mark.parametrize("channels, length", [(64, 1024), (40, 101), (17, 66), (3, 50)])
def test_sums_with_what_lies_otherwise(channels, length):
    """A residual whose channels come first is added to a product with the channels last."""
    x = normal(2, channels, length)
    weights = {"w": normal(channels, channels, 3), "u": normal(channels, channels, 1)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1]), helper.make_node("Conv", ["c", "u"], ["d"]),
             helper.make_node("Add", ["d", "x"], ["s"]), helper.make_node("Conv", ["s", "w"], ["y"], pads=[1, 1])]  # fmt: skip
    y = run(nodes, x, weights, "y")

    def conv(x, w):
        padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (w.shape[2] // 2,) * 2])
        return sum(np.einsum("ncl,fc->nfl", padded[:, :, i : i + length], w[:, :, i]) for i in range(w.shape[2]))

    want = conv(conv(conv(x, weights["w"]), weights["u"]) + x, weights["w"])
    np.testing.assert_allclose(y, want, atol=2e-6 * np.abs(want).max())
