"""Outputs of independent implementations."""

import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator
from support.targets import HAS_VNNI

INTEGER_OPERATORS = {"ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"}


def onnxruntime_outputs(path, feeds):
    """ONNX Runtime's outputs for inputs by name; without its graph optimisations, which change rounding."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    known = {value.name for value in session.get_inputs()}
    return session.run(None, {name: array for name, array in feeds.items() if name in known})


def exact_outputs(path, feeds):
    """The same; of integer operators the reference evaluator's where this CPU's vectors have no products of bytes: ONNX
    Runtime then adds two products in 16 bits, which saturate."""
    outputs = onnxruntime_outputs(path, feeds)
    if HAS_VNNI:
        return outputs
    model = onnx.load(path)
    if not INTEGER_OPERATORS & {node.op_type for node in model.graph.node}:
        return outputs
    if any(attribute.name == "direction" and attribute.s == b"reverse" for node in model.graph.node
           for attribute in node.attribute if node.op_type in ("RNN", "GRU", "LSTM")):  # fmt: skip
        raise ValueError("the reference evaluator leaves what goes backwards in the order of its steps")
    return ReferenceEvaluator(model).run(None, feeds)
