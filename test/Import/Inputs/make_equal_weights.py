"""Writes a model that has some weights several times, and the inputs and outputs of a run of it.

make_equal_weights.py FOLDER
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(0)
w = rng.integers(-3, 4, (96, 96)).astype(np.float32)
# Differs from w where nobody looks who takes samples.
almost = w.copy()
almost[20, 5] += 1
# The same numbers in another field of the message, in another type, and under other dimensions.
listed = helper.make_tensor("listed", TensorProto.FLOAT, w.shape, w.ravel())
counts = w.astype(np.int32)
same_bits = w.view(np.int32)


def initializers(*named):
    return [tensor if isinstance(tensor, TensorProto) else numpy_helper.from_array(tensor, name)
            for name, tensor in named]  # fmt: skip


def branch(name, operator):
    """x * a weight of its own, which both branches have; one that reads it transposed makes its own copy of it."""
    nodes = [helper.make_node("MatMul", ["sum", f"{name}_w"], [f"{name}_product"]),
             helper.make_node(operator, [f"{name}_product"], [name])]  # fmt: skip
    value = helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 96])
    return helper.make_graph(nodes, name, [], [value], initializers((f"{name}_w", w.T.copy())))


nodes = [
    helper.make_node("MatMul", ["x", "first"], ["a"]),
    helper.make_node("MatMul", ["x", "second"], ["b"]),
    helper.make_node("MatMul", ["x", "listed"], ["c"]),
    helper.make_node("MatMul", ["x", "almost"], ["d"]),
    helper.make_node("Sum", ["a", "b", "c", "d"], ["sum"]),
    helper.make_node("If", ["condition"], ["e"], then_branch=branch("yes", "Neg"), else_branch=branch("no", "Abs")),
    helper.make_node("Reshape", ["flat", "square"], ["flat_square"]),
    helper.make_node("Cast", ["counts"], ["cast"], to=TensorProto.FLOAT),
    helper.make_node("BitCast", ["same_bits"], ["floats"], to=TensorProto.FLOAT),
    helper.make_node("Sum", ["flat_square", "cast", "floats"], ["other"]),
    helper.make_node("MatMul", ["e", "other"], ["y"]),
]
weights = initializers(
    ("first", w), ("second", w), ("listed", listed), ("almost", almost), ("counts", counts), ("same_bits", same_bits),
    ("flat", w.ravel()), ("square", np.array([96, 96]))
)  # fmt: skip
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 96])
condition = helper.make_tensor_value_info("condition", TensorProto.BOOL, [])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 96])
graph = helper.make_graph(nodes, "g", [x, condition], [y], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 26)], ir_version=10)
onnx.save(model, folder / "model.onnx")
feeds = {"x": rng.integers(-3, 4, (3, 96)).astype(np.float32)}
np.save(folder / "x.npy", feeds["x"])
for chosen in (False, True):
    np.save(folder / f"condition-{int(chosen)}.npy", np.array(chosen))
    # All numbers are small integers: every order of summation gives the same.
    (result,) = ReferenceEvaluator(model).run(None, {**feeds, "condition": np.array(chosen)})
    np.save(folder / f"y-{int(chosen)}.npy", result)
