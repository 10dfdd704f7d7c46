"""What the tests of the random operators share: ONNX models of single nodes, run in every way there is."""

import itertools
import subprocess

import numpy as np
import onnx
import strata
from onnx import TensorProto, helper
from support.library import BIN

NAMES = {
    "float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "i1", "string": "!onnx.string",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32",
    "uint64": "ui64", "complex64": "complex<f32>", "complex128": "complex<f64>", "float8e4m3fn": "f8E4M3FN",
    "float8e4m3fnuz": "f8E4M3FNUZ", "float8e5m2": "f8E5M2", "float8e5m2fnuz": "f8E5M2FNUZ",
}  # fmt: skip


def code(name):
    """TensorProto's number of ONNX's name of an element type."""
    return getattr(TensorProto, name.upper())


def numpy_type(name):
    return np.dtype(helper.tensor_dtype_to_np_dtype(code(name)))


class Graph:
    """Collects nodes; `shape` of an input may have names of dimensions."""

    def __init__(self, opset):
        self.opset = opset
        self.nodes, self.inputs, self.outputs, self.constants, self.feeds = [], [], [], [], {}
        self.fresh = itertools.count()

    def input(self, name, dtype, shape):
        self.inputs.append(helper.make_tensor_value_info(name, code(dtype), shape))
        return name

    def constant(self, name, array):
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, dtypes, **attributes):
        """Adds a node whose results are outputs of the graph; returns their names."""
        names = [f"y{next(self.fresh)}" for _ in dtypes]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"node{len(self.nodes)}", **attributes))
        for name, dtype in zip(names, dtypes):
            # Without a shape: inference has to find it.
            self.outputs.append(helper.make_tensor_value_info(name, code(dtype), None))
        return names

    def model(self):
        graph = helper.make_graph(self.nodes, "graph", self.inputs, self.outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)

    def compile(self, **options):
        return strata.compile(self.model(), **options)

    def build(self, folder, **options):
        """By way of a compiled file."""
        onnx.save(self.model(), folder / "model.onnx")
        command = [BIN / "strata-compile", folder / "model.onnx", "--emit=lib", "-o", folder / "model.so"]
        subprocess.run(command, check=True, capture_output=True)
        return strata.load(folder / "model.so", **options)


def bits(array):
    """An array as unsigned integers, to compare every bit."""
    array = np.ascontiguousarray(array)
    return array.view(f"u{array.dtype.itemsize}") if array.dtype != bool else array


def same(actual, expected):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    np.testing.assert_array_equal(bits(actual), bits(expected))


def negatives(head, cases, tail):
    """Modules with a diagnostic each; `cases`: what comes before the line, the line, a part of the message."""
    return [f"{head}{before}// expected-error @+1 {{{{{text}}}}}\n{line}{tail}" for before, line, text in cases]


def opt(text, *flags, folder):
    """strata-opt on a text of several modules (`// -----` between them); its output."""
    path = folder / "ops.mlir"
    path.write_text(text)
    done = subprocess.run([BIN / "strata-opt", path, "--split-input-file", *flags], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
