"""Imports models, exports them again, and compares what comes out with what went in.

    round_trip.py strata-translate MODEL...     the models
    round_trip.py strata-translate --suite      every model of ONNX's own backend suite

Two models are equal if they have the same graphs, nodes, attributes, constants, names, opsets and metadata; how a tensor
is encoded and the order of attributes do not count. Declared types may become more precise. Each model that comes out
passes onnx's checker.
"""
import os
import subprocess
import sys
import tempfile
import warnings

import numpy
import onnx
from onnx import AttributeProto, numpy_helper


def tensor(t):
    if t.data_type == onnx.TensorProto.STRING:
        return ("string", tuple(t.dims), tuple(t.string_data))
    array = numpy_helper.to_array(t)
    return (t.data_type, array.shape, array.tobytes())


def sparse(t):
    return (tuple(t.dims), tensor(t.values), tensor(t.indices))


def attribute(a):
    kinds = AttributeProto
    value = {
        kinds.FLOAT: lambda: numpy.float32(a.f).tobytes(), kinds.INT: lambda: a.i, kinds.STRING: lambda: a.s,
        kinds.TENSOR: lambda: tensor(a.t), kinds.GRAPH: lambda: graph(a.g), kinds.SPARSE_TENSOR: lambda: sparse(a.sparse_tensor),
        kinds.TYPE_PROTO: lambda: a.tp.SerializeToString(), kinds.FLOATS: lambda: numpy.float32(a.floats).tobytes(),
        kinds.INTS: lambda: tuple(a.ints), kinds.STRINGS: lambda: tuple(a.strings),
        kinds.TENSORS: lambda: tuple(map(tensor, a.tensors)), kinds.TYPE_PROTOS: lambda: tuple(t.SerializeToString() for t in a.type_protos),
    }[a.type]()  # yapf: disable
    return (a.name, a.type, value)


def metadata(entries):
    return tuple(sorted((e.key, e.value) for e in entries))


def trimmed(names):
    names = list(names)
    while names and not names[-1]:
        names.pop()
    return tuple(names)


def node(n):
    return ("node", n.domain if n.domain != "ai.onnx" else "", n.op_type, n.name, trimmed(n.input), trimmed(n.output),
            tuple(sorted(map(attribute, n.attribute), key=lambda a: a[0])), n.doc_string, metadata(n.metadata_props))


def graph(g, top=False):
    """A graph without the types of its inputs and outputs."""
    return (g.name, tuple(i.name for i in g.input), tuple(o.name for o in g.output),
            tuple(sorted((t.name, ) + tensor(t) for t in g.initializer)),
            tuple(sorted((t.values.name, ) + sparse(t) for t in g.sparse_initializer)), tuple(map(node, g.node)),
            metadata(g.metadata_props), g.doc_string)


def fits(declared, written):
    """True if the written type says at least what the declared one says."""
    if not declared.WhichOneof("value"):
        return True
    if declared.WhichOneof("value") != written.WhichOneof("value"):
        return False
    if declared.HasField("sequence_type"):
        return fits(declared.sequence_type.elem_type, written.sequence_type.elem_type)
    if declared.HasField("optional_type"):
        return fits(declared.optional_type.elem_type, written.optional_type.elem_type)
    if not declared.HasField("tensor_type"):
        return declared == written
    a, b = declared.tensor_type, written.tensor_type
    if a.elem_type != b.elem_type or (a.HasField("shape") and not b.HasField("shape")):
        return False
    if not a.HasField("shape"):
        return True
    return len(a.shape.dim) == len(b.shape.dim) and all(
        not x.HasField("dim_value") or x.dim_value in (-1, y.dim_value) for x, y in zip(a.shape.dim, b.shape.dim))


def differences(before, after):
    found = []
    a, b = graph(before.graph), graph(after.graph)
    for name, x, y in zip(("name", "inputs", "outputs", "initializers", "sparse initializers", "nodes", "metadata", "doc string"), a, b):
        if x == y:
            continue
        if isinstance(x, tuple) and len(x) == len(y):
            x, y = next((p, q) for p, q in zip(x, y) if p != q)
        found.append(f"{name}: {str(x)[:600]}\n   became {str(y)[:600]}")
    for what in ("input", "output"):
        for x, y in zip(getattr(before.graph, what), getattr(after.graph, what)):
            if not fits(x.type, y.type):
                found.append(f"type of {what} {x.name}: {x.type} became {y.type}")
    opsets = lambda m: sorted({(o.domain if o.domain != "ai.onnx" else "", o.version) for o in m.opset_import})
    for what, value in (("opset imports", opsets), ("metadata", lambda m: metadata(m.metadata_props)),
                        ("IR version", lambda m: m.ir_version), ("doc string", lambda m: m.doc_string)):
        if value(before) != value(after):
            found.append(f"{what}: {value(before)} became {value(after)}")
    return found


def suite_models(folder):
    import glob
    from onnx.backend.test.case.node import collect_testcases
    warnings.simplefilter("ignore")
    for case in collect_testcases(None):
        path = os.path.join(folder, case.name + ".onnx")
        with open(path, "wb") as file:
            file.write(case.model.SerializeToString())
        yield path
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    yield from sorted(glob.glob(os.path.join(data, "light", "*.onnx")))
    for kind in ("pytorch-converted", "pytorch-operator", "simple"):
        yield from sorted(glob.glob(os.path.join(data, kind, "*", "model.onnx")))


def main():
    tool, *paths = sys.argv[1:]
    failures = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in (suite_models(folder) if paths == ["--suite"] else paths):
            name = os.path.basename(path) if not path.endswith("model.onnx") else path.split(os.sep)[-2]
            out = os.path.join(folder, "out.onnx")
            run = subprocess.run([tool, "--round-trip-onnx", path, "-o", out], capture_output=True, text=True)
            problems = []
            if run.returncode != 0:
                problems = [f"exit code {run.returncode}: {run.stderr}"]
            else:
                before, after = onnx.load(path), onnx.load(out)
                problems = differences(before, after)
                try:
                    onnx.checker.check_model(after)
                except onnx.checker.ValidationError as error:
                    try:
                        onnx.checker.check_model(before)
                        problems.append(f"the checker says: {error}")
                    except onnx.checker.ValidationError:
                        pass  # What came in was not valid either.
            if problems:
                failures += 1
                print(f"{name}:")
                for problem in problems:
                    print("  " + problem)
            else:
                passed += 1
    print(f"{passed} models came back as they were, {failures} did not")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
