"""Outputs of independent implementations."""

import onnxruntime


def onnxruntime_outputs(path, feeds):
    """ONNX Runtime's outputs for inputs by name; without its graph optimisations, which change rounding."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    known = {value.name for value in session.get_inputs()}
    return session.run(None, {name: array for name, array in feeds.items() if name in known})
