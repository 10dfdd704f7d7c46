"""Writes a model whose weights, large enough for resources, have names that are no identifiers of MLIR.

make_named_weights.py MODEL
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NAMES = ["onnx::Add_4418", "7", "$x", ".x", "a b/c", "gr\u00f6\u00dfe", "a_b_c"]
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1000])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1000])
values = ["x", *[f"sum{i}" for i in range(len(NAMES) - 1)], "y"]
nodes = [helper.make_node("Add", [values[i], name], [values[i + 1]]) for i, name in enumerate(NAMES)]
weights = [numpy_helper.from_array(np.arange(i, 1000 + i, dtype=np.float32), n) for i, n in enumerate(NAMES)]
graph = helper.make_graph(nodes, "g", [x], [y], weights)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), sys.argv[1])
