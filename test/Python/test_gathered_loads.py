"""Bodies that read each lane's element at a place of its own, or backwards: against NumPy and ONNX Runtime, in rows of
whole vectors, of some, and of less than one."""

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import helper, numpy_helper
from support.combinations import every_other

RNG = np.random.default_rng(11)
ELEMENTS = [np.float32, np.float64, np.float16, np.int64, np.int32, np.int8, np.uint16, np.bool_]
SIZES = [5, 16, 37, 130]
TARGETS = [None, "haswell", "x86-64"]


def data(element, *shape):
    return RNG.integers(0, 2, shape).astype(bool) if element is np.bool_ else RNG.integers(-100, 100, shape).astype(element)


def model(node, feeds, dynamic=False, opset=22):
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype),
                                      [size if size == 2 or not dynamic else f"{name}{i}"
                                       for i, size in enumerate(value.shape)])
        for name, value in feeds.items()
    ]  # fmt: skip
    kind = helper.np_dtype_to_tensor_dtype(feeds["x"].dtype)
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", kind, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def run(proto, feeds, target=None):
    return strata.compile(proto, target=target).run(feeds)[0]


@every_other("element, size, target", ELEMENTS, SIZES, TARGETS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_gathers(element, size, target, dynamic):
    x = data(element, 3, 19)
    along = RNG.integers(-19, 19, size)
    feeds = {"x": x, "i": along}
    node = helper.make_node("Gather", ["x", "i"], ["y"], axis=1)
    np.testing.assert_array_equal(run(model(node, feeds, dynamic), feeds, target), x[:, along])

    each = RNG.integers(-19, 19, (3, size))
    feeds = {"x": x, "i": each}
    node = helper.make_node("GatherElements", ["x", "i"], ["y"], axis=1)
    expected = np.take_along_axis(x, each % 19, 1)
    np.testing.assert_array_equal(run(model(node, feeds, dynamic), feeds, target), expected)

    pairs = np.stack([RNG.integers(-3, 3, size), RNG.integers(-19, 19, size)], 1)
    feeds = {"x": x, "i": pairs}
    node = helper.make_node("GatherND", ["x", "i"], ["y"])
    np.testing.assert_array_equal(run(model(node, feeds, dynamic), feeds, target), x[pairs[:, 0], pairs[:, 1]])


@every_other("element, size, target", ELEMENTS, SIZES, TARGETS)
def test_backwards(element, size, target):
    x = data(element, 3, size)
    feeds = {"x": x, "a": np.array([-1]), "b": np.array([-1000]), "c": np.array([1]), "d": np.array([-1])}
    node = helper.make_node("Slice", ["x", "a", "b", "c", "d"], ["y"])
    np.testing.assert_array_equal(run(model(node, feeds), feeds, target), x[:, ::-1])

    if element in (np.float32, np.float64, np.int64, np.int32):  # with one that is read the other way
        parts = [numpy_helper.from_array(feeds[name], name) for name in "abcd"]
        nodes = [node, helper.make_node("Add", ["y", "x"], ["z"])]
        kind = helper.np_dtype_to_tensor_dtype(x.dtype)
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", kind, x.shape)],
                                  [helper.make_tensor_value_info("z", kind, None)], parts)  # fmt: skip
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
        np.testing.assert_array_equal(run(proto, {"x": x}, target), x[:, ::-1] + x)


@every_other("element, target", ELEMENTS, TARGETS)
def test_sequences_turned(element, target):
    x = data(element, 4, 70)
    lengths = np.array([70, 1, 33, 64])
    feeds = {"x": x, "l": lengths}
    node = helper.make_node("ReverseSequence", ["x", "l"], ["y"], batch_axis=0, time_axis=1)
    expected = x.copy()
    for row, length in zip(expected, lengths):
        row[:length] = row[:length][::-1].copy()
    np.testing.assert_array_equal(run(model(node, feeds), feeds, target), expected)


@every_other("mode, target, dynamic", ["nearest", "linear", "cubic"], TARGETS, [False, True])
def test_sizes_changed(mode, target, dynamic):
    x = RNG.standard_normal((1, 3, 23, 29)).astype(np.float32)
    feeds = {"x": x, "s": np.array([1, 3, 41, 67])}
    node = helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode=mode, coordinate_transformation_mode="align_corners")
    proto = model(node, feeds)
    [expected] = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, feeds)
    if dynamic:
        for i, dim in enumerate(proto.graph.input[0].type.tensor_type.shape.dim):
            dim.dim_param = f"x{i}"
    np.testing.assert_allclose(run(proto, feeds, target), expected, rtol=1e-5, atol=1e-5)


@every_other("element, mode, padding, target", [np.float32, np.float64], ["linear", "nearest"],
             ["zeros", "border", "reflection"], TARGETS)  # fmt: skip
def test_points_of_small_images(element, mode, padding, target):
    """Many images of one channel with a few rows of points each, which are counted as one row."""
    x = RNG.standard_normal((5, 1, 12, 9)).astype(element)
    grid = RNG.uniform(-1.5, 1.5, (5, 7, 7, 2)).astype(element)
    grid[0, 0, 0] = [np.nan, np.inf]
    feeds = {"x": x, "g": grid}
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding, align_corners=1)
    found = run(model(node, feeds), feeds, target)
    grid[0, 0, 0] = -3 if padding == "zeros" else 0  # nothing is said of such a point, but that it harms no other
    [expected] = onnxruntime.InferenceSession(model(node, feeds).SerializeToString()).run(None, feeds)
    found[0, :, 0, 0] = expected[0, :, 0, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_places_that_only_the_run_tells_are_checked():
    feeds = {"x": np.arange(40, dtype=np.float32).reshape(2, 20), "i": np.array([3] * 30 + [20])}
    node = helper.make_node("Gather", ["x", "i"], ["y"], axis=1)
    with pytest.raises(Exception, match="index"):
        run(model(node, feeds), feeds)
