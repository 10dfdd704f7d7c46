"""Models as exporters leave them: ranks that depend on sizes, wrong declarations, sizes without names. ONNX Runtime
computes what is expected."""

import numpy as np
import onnx
import onnxruntime
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(3)


def declare(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def make_model(nodes, inputs, outputs, **constants):
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "loose", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)


def check(model, compiled, **inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    want = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, inputs)
    for got, expected in zip(compiled.run(inputs), want, strict=True):
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def numbers(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def test_squeeze_of_unknown_sizes():
    model = make_model([helper.make_node("Squeeze", ["x"], ["y"])], [declare("x", ["n", 1, "m"])],
                       [helper.make_empty_tensor_value_info("y")])  # fmt: skip
    compiled = strata.compile(model)
    check(model, compiled, x=numbers(4, 1, 3))
    for shape in (1, 1, 3), (1, 1, 1):
        with pytest.raises(strata.RunError, match="removes dimensions of size 1, after which the result has not the 2"):
            compiled.run({"x": numbers(*shape)})
    # A version for a known size has the same rank, or there is none.
    check(model, strata.compile(model, specialize=[{"n": 4}]), x=numbers(4, 1, 3))
    with pytest.raises(strata.RunError, match="removes dimensions of size 1"):
        strata.compile(model, specialize=[{"n": 1}]).run({"x": numbers(1, 1, 3)})
    with pytest.raises(strata.CompileError, match="there can be no version for n=1, m=3"):
        strata.compile(model, specialize=[{"n": 1, "m": 3}])
    # A declared rank does not count where its sizes are not known, but counts where they are.
    model = make_model([helper.make_node("Squeeze", ["x"], ["y"])], [declare("x", ["n", 3])], [declare("y", ["k"])])
    check(model, strata.compile(model), x=numbers(4, 3))
    model = make_model([helper.make_node("Squeeze", ["x"], ["s"]), helper.make_node("Add", ["s", "one"], ["y"])],
                       [declare("x", ["n", 1])], [declare("y", [])], one=np.float32(1))  # fmt: skip
    compiled = strata.compile(model)
    check(model, compiled, x=numbers(1, 1))
    with pytest.raises(strata.RunError):
        compiled.run({"x": numbers(2, 1)})


def squeeze_if_one(value, axis, result):
    """What PyTorch's exporter makes of squeeze(axis) of an unknown size."""
    branches = {}
    for name, operator, operands in (("then", "Squeeze", [value, axis]), ("else", "Identity", [value])):
        node = helper.make_node(operator, operands, [f"{result}_{name}"])
        output = helper.make_empty_tensor_value_info(f"{result}_{name}")
        branches[name + "_branch"] = helper.make_graph([node], name, [], [output])
    nodes = [helper.make_node("Shape", [value], [f"{result}_shape"]),
             helper.make_node("Gather", [f"{result}_shape", axis], [f"{result}_size"]),
             helper.make_node("Equal", [f"{result}_size", "one"], [f"{result}_is_one"])]  # fmt: skip
    return [*nodes, helper.make_node("If", [f"{result}_is_one"], [result], f"squeeze_{result}", **branches)]


def test_branch_that_nothing_can_follow():
    """A voice detector's recurrent cell: one step of time, of unknown length to the exporter."""
    nodes = [*squeeze_if_one("x", "last", "step"), helper.make_node("Unsqueeze", ["step", "first"], ["steps"]),
             helper.make_node("LSTM", ["steps", "w", "r"], ["", "h"], hidden_size=5),
             *squeeze_if_one("h", "first", "flat"), helper.make_node("Unsqueeze", ["flat", "last"], ["features"]),
             helper.make_node("Conv", ["features", "filter"], ["y"])]  # fmt: skip
    weights = {"w": numbers(1, 20, 3), "r": numbers(1, 20, 5), "filter": numbers(2, 5, 1)}
    axes = {"one": np.array([1]), "first": np.array([0]), "last": np.array([-1])}
    model = make_model(nodes, [declare("x", ["batch", 3, "time"])], [helper.make_empty_tensor_value_info("y")],
                       **weights, **axes)  # fmt: skip
    compiled = strata.compile(model)
    for batch in 1, 4:
        check(model, compiled, x=numbers(batch, 3, 1))
    with pytest.raises(strata.RunError, match="step_then: the size of a removed dimension is not 1"):
        compiled.run({"x": numbers(1, 3, 2)})
    # An image alone would lose its first dimension; ONNX Runtime refuses it, too.
    nodes = [*squeeze_if_one("x", "first", "images"), helper.make_node("Conv", ["images", "filter"], ["y"])]
    model = make_model(nodes, [declare("x", ["batch", 5, "n"])], [helper.make_empty_tensor_value_info("y")],
                       **weights, **axes)  # fmt: skip
    compiled = strata.compile(model)
    check(model, compiled, x=numbers(2, 5, 7))
    with pytest.raises(strata.RunError, match="squeeze_images.*takes its then_branch, which what follows does not allow"):
        compiled.run({"x": numbers(1, 5, 7)})


def test_wrong_declarations():
    model = make_model([helper.make_node("Transpose", ["x"], ["y"], perm=[1, 0])], [declare("x", ["?", "?"])],
                       [declare("y", [3, 3, 3])])  # fmt: skip
    compiled = strata.compile(model)
    assert [output.shape for output in compiled.outputs] == [(None, None)]
    [y] = compiled.run({"x": np.arange(6, dtype=np.float32).reshape(2, 3)})
    np.testing.assert_array_equal(y, [[0, 3], [1, 4], [2, 5]])


@pytest.mark.parametrize("start", [np.float32(0), np.zeros((1, 2, 1), np.float32)])
def test_ranks_that_a_loop_changes(start):
    """PaddlePaddle's: a condition and a number that become one element, a result that has its rank only in the body."""
    body = [helper.make_node("Constant", [], ["one"], value_ints=[1]),
            helper.make_node("Add", ["k", "one"], ["next"]), helper.make_node("Less", ["next", "n"], ["again"]),
            helper.make_node("Cast", ["next"], ["factor"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["x", "factor"], ["scaled"])]  # fmt: skip
    inputs = [declare("number", [], TensorProto.INT64), declare("goes", [], TensorProto.BOOL),
              declare("k", [], TensorProto.INT64), declare("unread", [])]  # fmt: skip
    outputs = [declare("again", [], TensorProto.BOOL), declare("next", [], TensorProto.INT64),
               declare("scaled", ["rows", 3])]  # fmt: skip
    nodes = [helper.make_node("Less", ["zero", "n"], ["go"]),
             helper.make_node("Loop", ["most", "go", "zero", "unset"], ["last", "found"],
                              body=helper.make_graph(body, "body", inputs, outputs)),
             helper.make_node("Softmax", ["found"], ["y"])]  # fmt: skip
    model = make_model(nodes, [declare("x", ["rows", 3]), declare("n", [], TensorProto.INT64)],
                       [declare("y", ["rows", 3]), helper.make_empty_tensor_value_info("last")], most=2**62,
                       zero=np.int64(0), unset=start)  # fmt: skip
    compiled = strata.compile(model)
    check(model, compiled, x=numbers(2, 3), n=np.array(3))
    with pytest.raises(strata.RunError, match="has no iteration, but a result whose rank is that of one"):
        compiled.run({"x": numbers(2, 3), "n": np.array(0)})


def test_wrong_element_types():
    model = make_model([helper.make_node("Relu", ["x"], ["y"])], [declare("x", [2])], [declare("y", [2], TensorProto.INT64)])
    with pytest.raises(strata.CompileError, match="output 'y' is declared as 'tensor<2xi64>', but is 'tensor<2xf32>'"):
        strata.compile(model)
    assert onnx.checker.check_model(model) is None  # Not what the checker looks at.
