"""What evaluates a model in Strata's place: ONNX Runtime and the onnx package's reference implementation.

An evaluator is a function from a serialised model to a function from inputs to outputs; both raise Unable where it has
no word to say: the runtime has no kernel or no such opset, or the reference is known to be wrong.
"""

import ctypes
import os
import pickle
import signal
import tempfile
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(4)
warnings.simplefilter("ignore")

# Element types that ONNX Runtime's Python interface takes and gives as bytes.
_RAW = {
    np.dtype(dtype): number
    for dtype, number in (
        (ml_dtypes.bfloat16, TensorProto.BFLOAT16),
        (ml_dtypes.float8_e4m3fn, TensorProto.FLOAT8E4M3FN),
        (ml_dtypes.float8_e4m3fnuz, TensorProto.FLOAT8E4M3FNUZ),
        (ml_dtypes.float8_e5m2, TensorProto.FLOAT8E5M2),
        (ml_dtypes.float8_e5m2fnuz, TensorProto.FLOAT8E5M2FNUZ),
    )
}
_DTYPES = {number: dtype for dtype, number in _RAW.items()}

# The reference computes what the newest version means: below these versions of the operators, that is something else.
_CHANGED = {
    "Softmax": 13, "LogSoftmax": 13, "Hardmax": 13, "Resize": 11, "Upsample": 11, "RoiAlign": 16, "OneHot": 11,
    "ConvTranspose": 11, "MaxPool": 22, "AveragePool": 22, "LpPool": 22, "GroupNormalization": 21, "Dropout": 12,
    "BatchNormalization": 14, "Scan": 9, "PRelu": 7, "Selu": 6, "Split": 2, "Cast": 6,
}  # fmt: skip


class Unable(Exception):
    """The evaluator cannot say what the model computes."""


def operators(graph):
    """Nodes of a graph and of the graphs within."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                yield from operators(inner)


def _to_runtime(array):
    if isinstance(array, np.ndarray) and array.dtype in _RAW:
        words = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(words, _RAW[array.dtype])
    if isinstance(array, np.ndarray):
        return onnxruntime.OrtValue.ortvalue_from_numpy(array)
    raise Unable("the Python interface takes no such value")


def _from_runtime(value):
    if not value.is_tensor() or value.element_type() not in _DTYPES:
        return value.numpy()
    dtype, shape = _DTYPES[value.element_type()], value.shape()
    data = ctypes.string_at(value.data_ptr(), int(np.prod(shape)) * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape)


def _deviation(model):
    """Where ONNX Runtime is known to compute something else than the specification's old versions say."""
    if b"Clip" not in model and b"LabelEncoder" not in model:
        return None
    proto = onnx.ModelProto.FromString(model)
    opsets = {entry.domain: entry.version for entry in proto.opset_import}
    given = {value.name: value.type.tensor_type.elem_type for value in (*proto.graph.input, *proto.graph.value_info)}
    for node in operators(proto.graph):
        half = given.get(node.input[0] if node.input else "") == TensorProto.FLOAT16
        if node.op_type == "Clip" and opsets.get("", 0) < 12 and half and sum(map(bool, node.input)) < 3:
            return "Clip of float16 is computed in float, whose largest number as the bound lets infinity through"
        keys = [key for attribute in node.attribute if attribute.name == "keys_floats" for key in attribute.floats]
        if node.op_type == "LabelEncoder" and opsets.get("ai.onnx.ml", 0) < 4 and np.isnan(keys).any():
            return "LabelEncoder does not find NaN, which is compared bit by bit below version 4"
    return None


def runtime(model):
    """ONNX Runtime, without its optimisations, which change rounding."""
    if reason := _deviation(model):
        raise Unable(reason)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise Unable(str(error)) from None
    names = [value.name for value in session.get_inputs()]

    def run(inputs):
        try:
            if all(isinstance(i, np.ndarray) and i.dtype not in _RAW for i in inputs) and not any(
                any(text in value.type for text in ("bfloat16", "float8")) for value in session.get_outputs()
            ):
                return session.run(None, dict(zip(names, inputs)))
            if any(isinstance(i, list) for i in inputs):
                return session.run(None, {n: i for n, i in zip(names, inputs) if i is not None})
            values = {name: _to_runtime(array) for name, array in zip(names, inputs)}
            return [_from_runtime(value) for value in session.run_with_ort_values(None, values)]
        except Exception as error:
            raise Unable(str(error)) from None

    return run


def reference(model):
    proto = onnx.ModelProto.FromString(model)
    opset = {entry.domain: entry.version for entry in proto.opset_import}.get("", 0)
    for node in operators(proto.graph):
        if node.domain == "" and opset < _CHANGED.get(node.op_type, 0):
            raise Unable(f"{node.op_type} means something else at opset {opset}")
    try:
        evaluator = ReferenceEvaluator(proto)
    except Exception as error:
        raise Unable(str(error)) from None

    def run(inputs):
        try:
            return evaluator.run(None, dict(zip(evaluator.input_names, inputs)))
        except Exception as error:
            raise Unable(str(error)) from None

    return run


EVALUATORS = {"runtime": runtime, "reference": reference}


def guarded(evaluator):
    """The evaluator in a process of its own for every call: one that crashes is Unable."""

    def apart(model):
        def run(inputs):
            with tempfile.TemporaryFile() as file:
                child = os.fork()
                if child == 0:
                    try:
                        found = evaluator(model)(inputs)
                    except Exception as error:
                        found = Unable(str(error))
                    pickle.dump(found, file)
                    file.flush()
                    os._exit(0)
                status = os.waitpid(child, 0)[1]
                if os.WIFSIGNALED(status):
                    raise Unable(f"it ended by {signal.Signals(os.WTERMSIG(status)).name}")
                file.seek(0)
                found = pickle.load(file)
            if isinstance(found, Unable):
                raise found
            return found

        return run

    return apart
