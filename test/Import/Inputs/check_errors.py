"""Gives the importer models with one mistake each: it must exit with 1, say what is wrong and where, and write nothing.

    check_errors.py strata-translate FOLDER
"""
import os
import re
import shutil
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CASES = []


def case(expected, file="model.onnx"):
    """Registers a maker of a model file; `expected` is a regular expression for the only line of output."""

    def register(make):
        CASES.append((make.__name__, make, expected, file))
        return make

    return register


def text(expected, source, name):
    CASES.append((name, lambda folder: source.encode(), expected, "model.onnxtxt"))


def graph_text(name, expected, body, inputs="float[2] x", outputs="float[2] y", opsets='"" : 17', rest=""):
    text(expected, f"<ir_version: 8, opset_import: [{opsets}]>\ng ({inputs}) => ({outputs}) {{ {body} }}\n{rest}", name)


def model(nodes=None, inputs=None, outputs=None, initializers=(), opset=17, ir=8, **fields):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph(nodes if nodes is not None else [helper.make_node("Relu", ["x"], ["y"], name="r")], "g",
                              inputs if inputs is not None else [x], outputs if outputs is not None else [y], initializers,
                              **fields)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)


def with_tensor(tensor):
    return model([helper.make_node("Identity", ["w"], ["z"])], [], [], [tensor])


# --- Files -----------------------------------------------------------------------------------------------------------
@case(r"model.onnx: is empty")
def empty_file(folder):
    return b""


@case(r"model.onnx: is a directory, not a file")
def directory(folder):
    os.mkdir(os.path.join(folder, "model.onnx"))


@case(r"model.onnx: cannot be opened: No such file or directory")
def missing_file(folder):
    pass


@case(r"model.onnx: is not an ONNX model: byte 0: no protobuf field begins with this byte")
def not_protobuf(folder):
    return b"\x7fELF not a model at all"


@case(r"model.onnx: is not an ONNX model: byte \d+: field \d+ of a model has another encoding")
def another_message(folder):
    # A TensorProto begins with its dimensions: field 1, packed or not.
    return b"\x0a\x02\x01\x02" + b"x" * 10


@case(r"model.onnx: is a Git LFS pointer, not the model itself: fetch the file with `git lfs pull`")
def lfs_pointer(folder):
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"


@case(r"model.onnx: is not an ONNX model: byte \d+: the file is truncated: a field of \d+ bytes begins, \d+ bytes are left")
def truncated(folder):
    return model().SerializeToString()[:-20]


@case(r"model.onnx: has no graph: it is not an ONNX model")
def no_graph(folder):
    return onnx.ModelProto(ir_version=8).SerializeToString()


def field(number, content):
    """A protobuf field of bytes, by hand: protobuf for Python does not write messages this deep."""
    size, out = len(content), bytearray([number << 3 | 2])
    while size >= 0x80:
        out.append(size & 0x7f | 0x80)
        size >>= 7
    return bytes(out) + bytes([size]) + content


@case(r"model.onnx: is not an ONNX model: byte \d+: messages are nested deeper than 300 levels")
def nested_messages(folder):
    message = b""
    for _ in range(200):
        message = field(1, field(5, field(6, message)))
    return b"\x08\x08" + field(7, message)


@case(r"graph 'g': (node 0 \(If-16\): attribute 'then_branch': graph 't': ){64}.*graphs are nested deeper than 64 levels")
def nested_graphs(folder):
    output = helper.make_tensor_value_info("v", TensorProto.FLOAT, [2]).SerializeToString()
    node = helper.make_node("Relu", ["x"], ["v"]).SerializeToString()
    for _ in range(70):
        branch = field(2, b"t") + field(1, node) + field(12, output)
        attribute = field(1, b"then_branch") + field(6, branch) + b"\xa0\x01\x05"  # type = GRAPH
        node = helper.make_node("If", ["c"], ["v"]).SerializeToString() + field(5, attribute)
    whole = model(inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
                          helper.make_tensor_value_info("c", TensorProto.BOOL, [])], nodes=[]).SerializeToString()
    return whole + field(7, field(1, node))


text(r"model.onnxtxt: is not a model in ONNX's text syntax: \[ParseError at position \(line: 1 column: \d+\)\].*",
     "<ir_version: 8 opset_import>", "text_syntax")


# --- The model ---------------------------------------------------------------------------------------------------------
@case(r"model.onnx: has IR version 2; the known ones are 3 to 14")
def old_ir(folder):
    return model(ir=2)


@case(r"model.onnx: has IR version 99; the known ones are 3 to 14")
def new_ir(folder):
    return model(ir=99)


@case(r"model.onnx: imports no operator set")
def no_opset(folder):
    m = model()
    del m.opset_import[:]
    return m


@case(r"model.onnx: imports both opset 17 and 18 of 'ai.onnx'")
def two_opsets(folder):
    m = model()
    m.opset_import.append(helper.make_opsetid("ai.onnx", 18))
    return m


@case(r"model.onnx: imports opset -1 of 'ai.onnx'; versions begin at 1")
def negative_opset(folder):
    return model(opset=-1)


@case(r"model.onnx: metadata key 'k' occurs twice")
def metadata_twice(folder):
    m = model()
    for value in "ab":
        m.metadata_props.add(key="k", value=value)
    return m


# --- Operators ---------------------------------------------------------------------------------------------------------
graph_text("unknown_operator", r"graph 'g': node 0 \(Reluu\): 'ai.onnx' has no such operator", "y = Reluu (x)")
graph_text("unknown_operator_newer", r"graph 'g': node 0 \(Gulp\): 'ai.onnx' has no such operator up to opset 28, "
           r"the newest known; the model imports opset 40", "y = Gulp (x)", opsets='"" : 40')
# Of a newer opset, known operators are what they are in the newest known one, no more.
for _name, _expected, _body in (
    ("attribute", r"node 0 \(Relu-14\): has no attribute 'slope'; it has none", "y = Relu <slope = 0.5> (x)"),
    ("input", r"node 0 \(Relu-14\): has 2 inputs; the operator's input is 'X'", "y = Relu (x, x)"),
    ("output", r"node 0 \(Relu-14\): has 2 outputs; the operator's output is 'Y'", "y, z = Relu (x)"),
    ("kind", r"node 0 \(Softmax-13\): attribute 'axis' failed to satisfy constraint: 64-bit signless integer attribute",
     "y = Softmax <axis = [0]> (x)"),
    ("value", r"node 0 \(Gelu-20\): approximate is 'cubic', but must be none or tanh", 'y = Gelu <approximate = "cubic"> (x)'),
    ("element_type", r"node 0 \(Cast-28\): to = 77 .*is no element type", "y = Cast <to = 77> (x)"),
    ("domain", r"node 0 \(ai.onnx.ml::Stump\): 'ai.onnx.ml' has no such operator up to opset 5, the newest known; the model "
     r"imports opset 9", "y = ai.onnx.ml.Stump (x)"),
):
    graph_text("newer_" + _name, "graph 'g': " + _expected, _body, opsets='"" : 29, "ai.onnx.ml" : 9')
graph_text("newer_operand_type", r"graph 'g': node 0 \(Relu-14\): operand #0 'X' must be a tensor of .* but is tensor\(bool\)",
           "y = Relu (x)", inputs="bool[2] x", outputs="bool[2] y", opsets='"" : 29')
graph_text("operator_too_new", r"graph 'g': node 0 'n' \(Gelu\): the operator begins with opset 20 of 'ai.onnx', the model "
           r"imports opset 17", "[n] y = Gelu (x)")
graph_text("deprecated", r"graph 'g': node 0 \(Upsample-10\): the operator is deprecated since opset 10 and not part of "
           r"opset 17", "y = Upsample (x, x)")
graph_text("unknown_domain", r"graph 'g': node 0 \(com.acme::Foo\): its domain 'com.acme' is not among the opset imports",
           "y = com.acme.Foo (x)")
graph_text("unknown_ml_operator", r"graph 'g': node 0 \(ai.onnx.ml::Foo\): 'ai.onnx.ml' has no such operator",
           "y = ai.onnx.ml.Foo (x)", opsets='"" : 17, "ai.onnx.ml" : 3')
_UNTYPED = (r"the operator is not known, nor does the model declare the type of its output 'a' \(value_info\); operators of "
            r"the domain '%s' are not part of ONNX; the model can define this one as a function of its own \(a FunctionProto\)")
graph_text("untyped_custom", r"graph 'g': node 0 \(com.acme::Foo-1\): " + _UNTYPED % "com.acme",
           "a = com.acme.Foo (x) y = Relu (a)", opsets='"" : 17, "com.acme" : 1')
graph_text("untyped_of_another_runtime", r"graph 'g': node 0 'add' \(com.microsoft::QLinearAdd-1\): " + _UNTYPED % "com.microsoft" +
           r", or be exported without it: .*quant_format=QuantFormat.QDQ.*",
           "[add] a = com.microsoft.QLinearAdd (x) y = Relu (a)", opsets='"" : 17, "com.microsoft" : 1')
graph_text("too_many_inputs", r"graph 'g': node 0 \(Relu-14\): has 2 inputs; the operator's input is 'X'", "y = Relu (x, x)")
graph_text("too_few_inputs", r"graph 'g': node 0 'c' \(Conv-11\): has 1 input; the operator's inputs are 'X', 'W' and optionally 'B'", "[c] y = Conv (x)")
graph_text("too_few_variadic", r"graph 'g': node 0 \(Concat-13\): has 0 inputs; the operator's input is one or more of 'inputs'",
           "y = Concat <axis = 0> ()")
graph_text("too_many_outputs", r"graph 'g': node 0 \(Relu-14\): has 2 outputs; the operator's output is 'Y'", "y, z = Relu (x)")
graph_text("absent_required", r"graph 'g': node 0 \(Conv-11\): input #1 'W' may not be absent; the operator's inputs are 'X', 'W' and optionally 'B'", "y = Conv (x, , x)")
graph_text("undefined_value", r"graph 'g': node 0 'r' \(Relu-14\): input 'q' is not defined in this graph or one around it",
           "[r] y = Relu (q)")
graph_text("undefined_in_branch",
           r"graph 'g': node 0 \(If-16\): attribute 'then_branch': graph 't': node 0 \(Abs-13\): input 'q' is not defined in "
           r"this graph or one around it",
           "y = If (c) <then_branch = t () => (float[2] a) { a = Abs (q) }, else_branch = e () => (float[2] b) { b = Abs (x) }>",
           inputs="float[2] x, bool c")
graph_text("undefined_output", r"graph 'g': output 0 'y': is not defined", "z = Relu (x)")
graph_text("defined_twice", r"graph 'g': node 1 \(Relu-14\): value 'y' is defined twice", "y = Relu (x) y = Relu (x)")
graph_text("input_defined_again", r"graph 'g': node 0 \(Relu-14\): value 'x' is defined twice", "x = Relu (x) y = Relu (x)")
graph_text("inputs_twice", r"graph 'g': input 'x': value 'x' is defined twice", "y = Relu (x)", inputs="float[2] x, float[2] x")
graph_text("outputs_twice", r"graph 'g': output 'y': occurs twice", "y = Relu (x)", outputs="float[2] y, float[2] y")
graph_text("cycle", r"graph 'g': the nodes form a cycle: 'p' needs node 1 \(Neg\) needs 'p'",
           "[p] a = Add (x, b) b = Neg (a) y = Relu (b)")
graph_text("self_cycle", r"graph 'g': the nodes form a cycle: node 0 \(Neg\) needs node 0 \(Neg\)", "y = Neg (y)")
graph_text("cycle_through_branch", r"graph 'g': the nodes form a cycle: node 0 \(If\) needs node 1 \(Neg\) needs node 0 \(If\)",
           "a = If (c) <then_branch = t () => (float[2] p) { p = Abs (b) }, else_branch = e () => (float[2] q) { q = Abs (x) }>"
           " b = Neg (a) y = Relu (b)", inputs="float[2] x, bool c")
graph_text("wrong_input_type", r"graph 'g': node 0 \(Relu-14\): operand #0 'X' must be a tensor of .*", "y = Relu (s)",
           inputs="string[2] s", outputs="string[2] y")
graph_text("different_types", r"graph 'g': node 0 'a' \(Add-14\): .*tensor\(int64\).*tensor\(float\).*", "[a] y = Add (x, i)",
           inputs="float[2] x, int64[2] i")
graph_text("wrong_output_type", r"graph 'g': node 0 \(Relu-14\): output 'y' is declared as 'tensor<2xi64>', but is 'tensor<2xf32>'",
           "y = Relu (x)", outputs="int64[2] y")
graph_text("wrong_passed_through", r"graph 'g': output 1 'x': is declared as 'tensor<2xi64>', but is 'tensor<2xf32>'",
           "y = Relu (x)", outputs="float[2] y, int64[2] x")
graph_text("undeclared_type", r"graph 'g': output 0 'q': is not defined", "y = Relu (x)", outputs="q")

# --- Attributes --------------------------------------------------------------------------------------------------------
graph_text("unknown_attribute", r"graph 'g': node 0 \(Elu-6\): has no attribute 'beta'; it has 'alpha'",
           "y = Elu <beta = 1.0> (x)")
graph_text("attribute_kind", r"graph 'g': node 0 'e' \(Elu-6\): .*attribute 'alpha' failed to satisfy constraint: 32-bit float "
           r"attribute", "[e] y = Elu <alpha = 1> (x)")
graph_text("attribute_missing", r"graph 'g': node 0 \(Concat-13\): requires attribute 'axis'", "y = Concat (x, x)")
graph_text("attribute_twice", r"graph 'g': node 0 \(Elu-6\): attribute 'alpha': occurs twice",
           "y = Elu <alpha = 1.0, alpha = 2.0> (x)")
graph_text("reserved_attribute", r"graph 'g': node 0 \(Clip-13\): attribute 'operandSegmentSizes': is not an attribute of the "
           r"operator", "y = Clip <operandSegmentSizes = [1, 0, 0]> (x)")
graph_text("reference_outside", r"graph 'g': node 0 \(Elu-6\): attribute 'alpha': refers to the attribute 'a' of a function, but "
           r"is not in one", "y = Elu <alpha : float = @a> (x)")
graph_text("graph_wanted", r"graph 'g': node 0 \(If-16\): attribute 'then_branch': is not a graph",
           "y = If <then_branch = 1> (c)", inputs="bool c")


@case(r"graph 'g': node 0 'n' \(Elu-6\): attribute 'alpha': has neither a kind nor a value")
def attribute_without_value(folder):
    m = model([helper.make_node("Elu", ["x"], ["y"], name="n")])
    m.graph.node[0].attribute.add(name="alpha")
    return m


# --- Functions ---------------------------------------------------------------------------------------------------------
FUNCTION = '<domain: "f", opset_import: ["" : 17, "f" : 1]>\n'
graph_text("recursion", r"graph 'g': node 0 \(f::F\): function 'F': node 0 \(f::F\): function 'F' calls itself", "y = f.F (x)",
           opsets='"" : 17, "f" : 1', rest=FUNCTION + "F (a) => (b) { b = f.F (a) }")
graph_text("function_inputs", r"graph 'g': node 0 \(f::F\): has 2 inputs and 1 outputs, the function takes at most 1 and gives 1",
           "y = f.F (x, x)", opsets='"" : 17, "f" : 1', rest=FUNCTION + "F (a) => (b) { b = Abs (a) }")
graph_text("function_attribute", r"graph 'g': node 0 \(f::F\): attribute 'q': is not an attribute of function 'F'",
           "y = f.F <q = 1> (x)", opsets='"" : 17, "f" : 1', rest=FUNCTION + "F (a) => (b) { b = Abs (a) }")
graph_text("function_reference", r"graph 'g': node 0 \(f::F\): function 'F': node 0 \(Elu-6\): attribute 'alpha': is of kind "
           r"FLOAT, but 'q' that it refers to is of kind INT", "y = f.F <q = 1> (x)", opsets='"" : 17, "f" : 1',
           rest=FUNCTION + "F <q> (a) => (b) { b = Elu <alpha : float = @q> (a) }")
graph_text("function_does_not_capture", r"graph 'g': node 0 \(f::F\): function 'F': node 0 \(Abs-13\): input 'x' is not defined "
           r"in this graph or one around it", "y = f.F (x)", opsets='"" : 17, "f" : 1',
           rest=FUNCTION + "F (a) => (b) { b = Abs (x) }")
graph_text("function_opset", r"graph 'g': node 0 \(f::F\): function 'F': node 0 \(Abs\): its domain 'ai.onnx' is not among the "
           r"opset imports", "y = f.F (x)", opsets='"" : 17, "f" : 1',
           rest='<domain: "f", opset_import: ["f" : 1]>\nF (a) => (b) { b = Abs (a) }')


@case(r"graph 'g': node \d+ .*: the model has more than 1000000 nodes")
def exploding_functions(folder):
    functions, opsets = [], [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    for i in range(40):
        callee = ("Abs", "") if i == 0 else (f"F{i - 1}", "f")
        nodes = [helper.make_node(callee[0], ["a"], ["b"], domain=callee[1]), helper.make_node(callee[0], ["b"], ["c"], domain=callee[1])]
        functions.append(helper.make_function("f", f"F{i}", ["a"], ["c"], nodes, opsets))
    m = model([helper.make_node("F39", ["x"], ["y"], domain="f")])
    m.opset_import.append(opsets[1])
    m.functions.extend(functions)
    return m


# --- Types -------------------------------------------------------------------------------------------------------------
@case(r"graph 'g': input 'x': has no type")
def input_without_type(folder):
    return model(inputs=[onnx.ValueInfoProto(name="x")])


@case(r"graph 'g': input 'x': element type 99 is not one of ONNX's \(1 to 28\)")
def unknown_element_type(folder):
    return model(inputs=[helper.make_tensor_value_info("x", 99, [2])])


@case(r"graph 'g': input 'x': dimension 1 is -7")
def negative_dimension(folder):
    return model(inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, -7])])


@case(r"graph 'g': input 'x': a tensor with more than 2\^63 elements")
def huge_input(folder):
    return model(inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, [2**40, 2**40])])


@case(r"graph 'g': input 'x': a type nested deeper than 32 levels")
def nested_type(folder):
    info = onnx.ValueInfoProto(name="x")
    t = info.type
    for _ in range(40):
        t = t.sequence_type.elem_type
    t.tensor_type.elem_type = 1
    return model(inputs=[info])


@case(r"graph 'g': input 'x': opaque type 'd::n' is not supported")
def opaque_type(folder):
    info = onnx.ValueInfoProto(name="x")
    info.type.opaque_type.domain, info.type.opaque_type.name = "d", "n"
    return model(inputs=[info])


# --- Tensors -----------------------------------------------------------------------------------------------------------
def tensor(data_type=TensorProto.FLOAT, dims=(2, ), name="w", **fields):
    return TensorProto(name=name, data_type=data_type, dims=dims, **fields)


TENSORS = {
    "raw_size": (r"raw_data has 7 bytes, the type 'tensor<2xf32>' needs 8", tensor(raw_data=b"1234567")),
    "raw_too_long": (r"raw_data has 5000 bytes, the type 'tensor<2xf32>' needs 8", tensor(raw_data=b"1" * 5000)),
    "raw_packed_size": (r"raw_data has 3 bytes, the type 'tensor<7xi4>' needs 4",
                        tensor(TensorProto.INT4, [7], raw_data=b"123")),
    "field_size": (r"float_data has 3 numbers, the type 'tensor<2xf32>' needs 2", tensor(float_data=[1, 2, 3])),
    "field_large_size": (r"float_data has 3000 numbers, the type 'tensor<2xf32>' needs 2", tensor(float_data=[1] * 3000)),
    "no_data": (r"float_data has 0 numbers, the type 'tensor<2xf32>' needs 2", tensor()),
    "wrong_field": (r"is of type float, whose elements are in float_data or raw_data, but has int64_data",
                    tensor(int64_data=[1, 2])),
    "two_fields": (r"has both raw_data and float_data", tensor(raw_data=b"12345678", float_data=[1, 2])),
    "undefined_type": (r"element type 0 is not one of ONNX's \(1 to 28\)", tensor(0)),
    "unknown_type": (r"element type 29 is not one of ONNX's \(1 to 28\)", tensor(29)),
    "negative_dim": (r"dimension 0 is -2", tensor(dims=[-2])),
    "overflow": (r"a tensor with more than 2\^63 elements", tensor(dims=[2**40, 2**40])),
    "bits_overflow": (r"a tensor with more than 2\^63 bits", tensor(dims=[2**60])),
    "huge_without_data": (r"float_data has 0 numbers, the type 'tensor<1099511627776xf32>' needs 1099511627776",
                          tensor(dims=[2**40])),
    "raw_strings": (r"strings cannot be raw_data", tensor(TensorProto.STRING, raw_data=b"ab")),
    "bool_value": (r"element 1 of type bool is 2, not 0 or 1", tensor(TensorProto.BOOL, raw_data=b"\x01\x02")),
    "bool_number": (r"element 0 of type bool is 2", tensor(TensorProto.BOOL, int32_data=[2, 0])),
    "int8_range": (r"element 1 is 300, which has more than 8 bits", tensor(TensorProto.INT8, int32_data=[1, 300])),
    "uint32_range": (r"element 0 is 4294967296, which has more than 32 bits",
                     tensor(TensorProto.UINT32, uint64_data=[2**32, 0])),
    "float6_range": (r"element 0 of type float6e2m3 is 64", tensor(TensorProto.FLOAT6E2M3, int32_data=[64, 0])),
    "segment": (r"tensors in segments are not supported", tensor(segment=TensorProto.Segment(begin=0, end=1))),
}
for _name, (_expected, _tensor) in TENSORS.items():
    CASES.append(("tensor_" + _name, lambda folder, t=_tensor: with_tensor(t), r"graph 'g': initializer 'w': " + _expected,
                  "model.onnx"))


@case(r"graph 'g': initializer '': has no name")
def unnamed_initializer(folder):
    return with_tensor(tensor(name="", raw_data=b"12345678"))


@case(r"graph 'g': initializer 'w': value 'w' is defined twice")
def initializer_twice(folder):
    m = with_tensor(tensor(raw_data=b"12345678"))
    m.graph.initializer.append(m.graph.initializer[0])
    return m


@case(r"graph 'g': input 'w': is declared as 'tensor<3xf32>', but its initializer is 'tensor<2xf32>'")
def initializer_of_other_type(folder):
    m = with_tensor(tensor(raw_data=b"12345678"))
    m.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [3]))
    return m


@case(r"graph 'g': node 0 'c' \(Constant-13\): attribute 'value': raw_data has 4 bytes, the type 'tensor<2xf32>' needs 8")
def constant_size(folder):
    return model([helper.make_node("Constant", [], ["y"], name="c", value=tensor(raw_data=b"1234"))])


# --- Sparse tensors ------------------------------------------------------------------------------------------------------
def sparse(values, indices, dims):
    m = with_tensor(tensor(raw_data=b"12345678"))
    del m.graph.initializer[:]
    m.graph.sparse_initializer.append(
        helper.make_sparse_tensor(numpy_helper.from_array(numpy.array(values, numpy.float32), "w"),
                                  numpy_helper.from_array(numpy.array(indices)), dims))
    return m


SPARSE = {
    "range": (r"index 6 of value 1 is out of range for 6 elements", lambda: sparse([1, 2], [0, 6], [2, 3])),
    "negative": (r"index -1 of value 0 is out of range for 6 elements", lambda: sparse([1, 2], [-1, 3], [2, 3])),
    "coordinate": (r"index 3 of value 0 is out of range for dimension 1 of size 3",
                   lambda: sparse([1], [[0, 3]], [2, 3])),
    "order": (r"indices are not in ascending order at value 1", lambda: sparse([1, 2], [3, 3], [2, 3])),
    "shape": (r"indices of a sparse tensor with 2 values and rank 2 have the shape \[2\] or \[2, 2\]",
              lambda: sparse([1, 2], [1, 2, 3], [2, 3])),
    "type": (r"indices of a sparse tensor are int64", lambda: sparse([1.0], numpy.array([1], numpy.int32), [2, 3])),
    "memory": (r"the sparse tensor stands for 'tensor<1048576x1048576x1024xf32>', more than this machine's memory",
               lambda: sparse([1], [5], [2**20, 2**20, 2**10])),
}
for _name, (_expected, _make) in SPARSE.items():
    CASES.append(("sparse_" + _name, lambda folder, m=_make: m(), r"graph 'g': sparse initializer 'w': " + _expected, "model.onnx"))


# --- External data -------------------------------------------------------------------------------------------------------
def external(entries, folder, size=16, tensors=1):
    with open(os.path.join(folder, "data.bin"), "wb") as file:
        file.write(bytes(range(size)))
    m = with_tensor(tensor(data_location=TensorProto.EXTERNAL))
    for key, value in entries.items():
        m.graph.initializer[0].external_data.add(key=key, value=str(value))
    return m


EXTERNAL = {
    "no_location": (r"external data without a location", {"offset": 0}),
    "missing": (r"external data file 'none.bin' cannot be opened: No such file or directory", {"location": "none.bin"}),
    "absolute": (r"external data file '/etc/passwd' is an absolute path; only files in the model's folder are read",
                 {"location": "/etc/passwd"}),
    "parent": (r"external data file '\.\./data.bin' leaves the model's folder by '\.\.'", {"location": "../data.bin"}),
    "hidden_parent": (r"external data file 'a/\.\./\.\./data.bin' leaves the model's folder by '\.\.'",
                      {"location": "a/../../data.bin"}),
    "negative_offset": (r"external data with the negative offset -4", {"location": "data.bin", "offset": -4}),
    "negative_length": (r"external data with the negative length -8", {"location": "data.bin", "length": -8}),
    "bad_number": (r"external data whose offset '0x10' is not a number", {"location": "data.bin", "offset": "0x10"}),
    "huge_number": (r"external data whose offset '99999999999999999999' is not a number",
                    {"location": "data.bin", "offset": "99999999999999999999"}),
    "beyond_end": (r"external data at offset 12 with 8 bytes lies beyond the end of 'data.bin', which has 16 bytes",
                   {"location": "data.bin", "offset": 12, "length": 8}),
    "overflowing": (r"external data at offset 8 with 9223372036854775800 bytes lies beyond the end of 'data.bin', which has "
                    r"16 bytes", {"location": "data.bin", "offset": 8, "length": 2**63 - 8}),
    "length": (r"external data has 4 bytes, the tensor's type needs 8", {"location": "data.bin", "length": 4}),
    "checksum": (r"external data file 'data.bin' has the SHA-1 digest 56178b86a57fac22899a9964185c2cc96e7da589, the model says "
                 r"(0f){20}", {"location": "data.bin", "length": 8, "checksum": "0F" * 20}),
    "bad_checksum": (r"external data whose checksum 'VheLhqV/rCKJmpl' is not a SHA-1 digest of 40 hexadecimal digits",
                     {"location": "data.bin", "length": 8, "checksum": "VheLhqV/rCKJmpl"}),
    "rest_of_file": (r"external data has 16 bytes, the tensor's type needs 8", {"location": "data.bin"}),
}
for _name, (_expected, _entries) in EXTERNAL.items():
    CASES.append(("external_" + _name, lambda folder, e=_entries: external(e, folder),
                  r"graph 'g': initializer 'w': " + _expected, "model.onnx"))


@case(r"graph 'g': initializer 'w': external data file 'link.bin' is a symbolic link that leads out of the model's folder")
def external_link(folder):
    os.symlink("/etc/passwd", os.path.join(folder, "link.bin"))
    return external({"location": "link.bin"}, folder)


@case(r"graph 'g': initializer 'w': external data file 'sub/data.bin' is a symbolic link that leads out of the model's folder")
def external_folder_link(folder):
    os.mkdir(folder + "-outside")
    with open(folder + "-outside/data.bin", "wb") as file:
        file.write(b"12345678")
    os.symlink(folder + "-outside", os.path.join(folder, "sub"))
    return external({"location": "sub/data.bin"}, folder)


@case(r"graph 'g': initializer 'w': external data file 'sub' is not a regular file")
def external_folder(folder):
    os.mkdir(os.path.join(folder, "sub"))
    return external({"location": "sub"}, folder)


@case(r"graph 'g': initializer 'v': external data at offset 4 of 'data.bin' overlaps that of tensor 'w'")
def external_overlap(folder):
    m = external({"location": "data.bin", "offset": 0, "length": 8}, folder)
    other = tensor(name="v", data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "data.bin", "offset": 4, "length": 8}.items():
        other.external_data.add(key=key, value=str(value))
    m.graph.initializer.append(other)
    return m


@case(r"graph 'g': initializer 'w': has both external data and raw_data")
def external_and_raw(folder):
    m = external({"location": "data.bin", "length": 8}, folder)
    m.graph.initializer[0].raw_data = b"12345678"
    return m


def main():
    tool, root = sys.argv[1:3]
    shutil.rmtree(root, ignore_errors=True)
    failures = 0
    for name, make, expected, file in CASES:
        folder = os.path.join(root, name)
        os.makedirs(folder)
        content = make(folder)
        path, out = os.path.join(folder, file), os.path.join(folder, "out.mlir")
        if content is not None:
            with open(path, "wb") as stream:
                stream.write(content if isinstance(content, bytes) else content.SerializeToString())
        run = subprocess.run([tool, "--import-onnx", path, "-o", out], capture_output=True, text=True)
        lines = [line for line in run.stderr.splitlines() if not line.startswith("warning: ")]
        # `error: PATH: ...`, one line and no other error.
        wanted = re.compile(r"error: \S*?" + (expected if expected.startswith("model") else re.escape(file) + ": " + expected))
        problem = None
        if run.returncode != 1:
            problem = f"exit code {run.returncode}"
        elif len(lines) != 1 or not wanted.fullmatch(lines[0]):
            problem = "another message"
        elif os.path.exists(out):
            problem = "an output file was written"
        if problem:
            failures += 1
            print(f"{name}: {problem}\n  wanted: {wanted.pattern}\n  got:    " + "\n          ".join(lines[:8]))
    print(f"{len(CASES) - failures} of {len(CASES)} bad models got the right message")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
