"""One node of ai.onnx.ml as a model, and what Strata and ONNX Runtime make of it."""

import numpy as np
import strata
from onnx import TensorProto, helper


def model(op, inputs, outputs, version=3, **attributes):
    """`inputs`: arrays by name; `outputs`: element types by name (ranks are inferred)."""
    def info(name, array):
        kind = TensorProto.STRING if array.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, kind, [f"{name}{i}" for i in range(array.ndim)])

    node = helper.make_node(op, list(inputs), list(outputs), name="the_node", domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph([node], "g", [info(*item) for item in inputs.items()],
                              [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()])
    opsets = [helper.make_opsetid("ai.onnx.ml", version), helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def run(proto, inputs):
    return strata.compile(proto, threads=1).run(inputs)


def run_ort(proto, inputs):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def run_reference(proto, inputs):
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(proto).run(None, inputs)


def equal(actual, expected, rtol=1e-5, atol=1e-6):
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected):
        e = np.asarray(e)
        assert a.shape == e.shape
        if e.dtype.kind in "OSU":
            assert a.tolist() == e.tolist()
        else:
            np.testing.assert_allclose(a, e, rtol, atol)
