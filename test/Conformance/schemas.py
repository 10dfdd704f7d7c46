"""ONNX's schemas: the live ones, the element types that each lists, and types as text, protos and NumPy dtypes.

A type is written as ONNX writes it, but for tensors, which are their element type alone: "float", "seq(float)",
"optional(seq(int4))", "map(int64,float)". A cell is (domain, operator, since-version, type variable, type).
"""

import functools
import re

import numpy as np
from onnx import TensorProto, defs, helper

NEWEST = defs.onnx_opset_version()


def short(text):
    return re.sub(r"tensor\((\w+)\)", r"\1", text).replace(" ", "")


@functools.cache
def live():
    """{(domain, op, since-version): schema} of all that are not deprecated."""
    schemas = [s for s in defs.get_all_schemas_with_history() if not s.deprecated]
    return {(s.domain or "ai.onnx", s.name, s.since_version): s for s in sorted(schemas, key=order)}


def order(schema):
    return schema.domain, schema.since_version, schema.name


@functools.cache
def history(domain, op):
    """The schemas of an operator, oldest first."""
    return sorted((s for k, s in live().items() if k[:2] == (domain, op)), key=order)


@functools.cache
def variables(key):
    """{type variable: [types]} of a schema."""
    return {c.type_param_str: [short(t) for t in c.allowed_type_strs] for c in live()[key].type_constraints}


def cells():
    return [(*key, variable, t) for key in live() for variable, types in variables(key).items() for t in types]


def formal(parameters, index):
    """The formal parameter of the argument `index`; a variadic one takes all from its place on."""
    return parameters[min(index, len(parameters) - 1)]


def is_heterogeneous(parameter):
    return parameter.option == defs.OpSchema.FormalParameterOption.Variadic and not parameter.is_homogeneous


def type_of_formal(parameter, types):
    """The type that an assignment gives to a formal parameter."""
    return types.get(parameter.type_str) or short(parameter.type_str)


def code(element):
    """TensorProto's number of an element type."""
    return getattr(TensorProto, element.upper())


def dtype(element):
    return np.dtype(object) if element == "string" else np.dtype(helper.tensor_dtype_to_np_dtype(code(element)))


def bits(element):
    """The width of an element."""
    below = re.match(r"(?:float|u?int)([246])(?!\d)", element)
    return int(below[1]) if below else 8 * dtype(element).itemsize


@functools.cache
def _names():
    names = {n.lower() for n, _ in TensorProto.DataType.items()} - {"undefined", "string"}
    return {dtype(n): n for n in names}


def element_of(array):
    """The element type of an array."""
    array = np.asarray(array)
    return "string" if array.dtype.kind in "OSU" else _names()[array.dtype]


def type_of(value):
    """The type of a value; empty lists and None do not tell theirs."""
    if isinstance(value, (list, tuple)):
        return f"seq({type_of(value[0])})" if len(value) else None
    if isinstance(value, dict):
        keys, values = (element_of(np.array(list(part))) for part in (value.keys(), value.values()))
        return f"map({keys},{values})"
    return None if value is None else element_of(value)


def type_proto(text, shape=None):
    """The TypeProto of a type; `shape` is that of a tensor, or of a sequence's elements."""
    if inside := re.fullmatch(r"seq\((.*)\)", text):
        return helper.make_sequence_type_proto(type_proto(inside[1], shape))
    if inside := re.fullmatch(r"optional\((.*)\)", text):
        return helper.make_optional_type_proto(type_proto(inside[1], shape))
    if inside := re.fullmatch(r"map\((\w+),(.*)\)", text):
        return helper.make_map_type_proto(code(inside[1]), type_proto(inside[2]))
    return helper.make_tensor_type_proto(code(text), shape)
