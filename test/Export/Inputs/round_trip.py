"""Imports models, exports them again, and compares what comes out with what went in.

    round_trip.py strata-translate MODEL...     the models
    round_trip.py strata-translate --suite      the models of ONNX's own backend suite, those that differ in more than
                                                numbers and shapes, and the networks that come with the onnx package
    round_trip.py strata-translate --made DIR   models made here, written to DIR
    round_trip.py --compare A B                 no import, only the comparison

Two models are equal if they have the same graphs, nodes, attributes, constants, names, opsets and metadata; how a tensor
is encoded and the order of attributes do not count. Declared types may become more precise. Each model that comes out
passes onnx's checker.
"""
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy
import onnx
import onnx.parser
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


def load(path):
    if path.endswith(".onnxtxt"):
        with open(path) as file:
            return onnx.parser.parse_model(file.read())
    return onnx.load(path)


def forms(graph, opset):
    """Which operators with which attributes, and which inputs and outputs, a graph has."""
    for n in graph.node:
        yield (n.domain, n.op_type, opset, tuple(sorted((a.name, a.type) for a in n.attribute)), tuple(map(bool, n.input)),
               tuple(map(bool, n.output)))
        for a in n.attribute:
            if a.type == AttributeProto.GRAPH:
                yield from forms(a.g, opset)


def suite_models(folder):
    import glob
    from onnx.backend.test.case.node import collect_testcases
    warnings.simplefilter("ignore")
    seen = set()
    for case in collect_testcases(None):
        types = tuple(i.type.tensor_type.elem_type for i in case.model.graph.input)
        new = {form + types for form in forms(case.model.graph, case.model.opset_import[0].version)} - seen
        if not new:
            continue
        seen |= new
        path = os.path.join(folder, case.name + ".onnx")
        with open(path, "wb") as file:
            file.write(case.model.SerializeToString())
        yield path
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    yield from sorted(glob.glob(os.path.join(data, "light", "*.onnx")))
    for kind in ("pytorch-converted", "pytorch-operator", "simple"):
        yield from sorted(glob.glob(os.path.join(data, kind, "*", "model.onnx")))


def made_models(folder):
    """What the suite does not have."""
    from onnx import TensorProto as T, helper
    info = helper.make_tensor_value_info

    def save(name, graph, ir=8, opset=17, **fields):
        model = helper.make_model(graph, ir_version=ir, opset_imports=[helper.make_opsetid("", opset)], **fields)
        path = os.path.join(folder, name + ".onnx")
        onnx.save(model, path)
        return path

    w = numpy_helper.from_array(numpy.arange(3, dtype=numpy.float32), "w")
    add = helper.make_node("Add", ["x", "w"], ["y"])
    x, y = info("x", T.FLOAT, ["n", 3]), info("y", T.FLOAT, ["n", 3])
    # Initializers as inputs: in IR version 3 all of them, in between the others.
    yield save("initializers-as-inputs", helper.make_graph([add], "g", [info("w", T.FLOAT, [3]), x], [y], [w]), ir=3, opset=7)
    yield save("default-input", helper.make_graph([add], "g", [x, info("w", T.FLOAT, [3])], [y], [w]))

    sparse = [
        helper.make_sparse_tensor(numpy_helper.from_array(numpy.array([1, 2], numpy.float32), "s0"),
                                  numpy_helper.from_array(numpy.array([1, 5])), [2, 3]),
        helper.make_sparse_tensor(numpy_helper.from_array(numpy.array([3, 4], numpy.float32), "s1"),
                                  numpy_helper.from_array(numpy.array([[0, 1], [1, 2]])), [2, 3]),
    ]
    yield save("sparse", helper.make_graph([helper.make_node("Add", ["s0", "s1"], ["y"])], "g", [],
                                           [info("y", T.FLOAT, [2, 3])], sparse_initializer=sparse))

    node = helper.make_node("Relu", ["x"], ["y"], name="r", doc_string="what r does")
    node.metadata_props.add(key="from", value="a line of code")
    graph = helper.make_graph([node], "g", [info("x", T.FLOAT, ["n", 3], doc_string="the input")], [y], doc_string="a graph")
    graph.metadata_props.add(key="k", value="v")
    graph.input[0].metadata_props.add(key="k", value="v")
    graph.input[0].type.denotation = "TENSOR"
    graph.quantization_annotation.add(tensor_name="x").quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    yield save("documented", graph, doc_string="a model", producer_name="p", producer_version="2", domain="d", model_version=7)

    kinds = [("float", 1.5), ("int", -3), ("string", b"\xff\x00"), ("floats", [1.0, 2.0]), ("ints", [1, 2]), ("strings", [b"a", b""]),
             ("tensor", w), ("sparse", sparse[0]), ("type", helper.make_tensor_type_proto(T.INT8, [2, "n"])),
             ("types", [helper.make_optional_type_proto(helper.make_tensor_type_proto(T.STRING, None))]), ("tensors", [w, w])]
    custom = helper.make_node("Foo", ["x", "", "x"], ["", "y"], domain="com.acme", **dict(kinds))
    custom.attribute.append(helper.make_attribute("body", helper.make_graph(
        [helper.make_node("Add", ["bx", "w"], ["by"])], "b", [info("bx", T.FLOAT, [3])], [info("by", T.FLOAT, [3])], [w])))
    model = helper.make_model(helper.make_graph([custom], "g", [x], [y]), ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)])
    onnx.save(model, os.path.join(folder, "custom.onnx"))
    yield os.path.join(folder, "custom.onnx")


# Operators whose result types cannot be inferred yet; nothing else may fail.
NOT_INFERRED = ("SequenceEmpty", "SequenceConstruct", "SplitToSequence", "RandomUniformLike")
# A Loop whose body makes a sequence of an optional one that it carries.
REFUSED = r"\(Loop-16\): carries a value of type optional"


def main():
    if sys.argv[1] == "--compare":
        before, after = map(load, sys.argv[2:4])
        found = differences(before, after)
        print("\n".join(found))
        return 1 if found else 0
    tool, *paths = sys.argv[1:]
    failures = passed = skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        if paths == ["--suite"]:
            paths = suite_models(folder)
        elif paths[0] == "--made":
            paths = made_models(paths[1])
        for path in paths:
            name = os.path.basename(path) if not path.endswith("model.onnx") else path.split(os.sep)[-2]
            out = os.path.join(folder, "out.onnx")
            run = subprocess.run([tool, "--round-trip-onnx", path, "-o", out], capture_output=True, text=True)
            problems = []
            not_inferred = r"\((%s)-\d+\): the type of output '.*' cannot be inferred" % "|".join(NOT_INFERRED)
            if re.search(f"{not_inferred}|{REFUSED}", run.stderr):
                skipped += 1
                continue
            if run.returncode != 0:
                problems = [f"exit code {run.returncode}: {run.stderr}"]
            else:
                before, after = load(path), onnx.load(out)
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
    print(f"{passed} models came back as they were, {failures} did not, {skipped} are not inferred yet")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
