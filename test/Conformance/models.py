"""ONNX models of cases: several independent nodes in one, for the compiler, or one for an oracle."""

import numpy as np
from Conformance import schemas
from onnx import GraphProto, helper, numpy_helper


def input_types(case):
    """The type of each given input, None for an absent one."""
    parameters, types = schemas.live()[case.key].inputs, []
    for index, value in enumerate(case.inputs):
        parameter = schemas.formal(parameters, index)
        known = schemas.type_of(value)
        assigned = schemas.type_of_formal(parameter, case.types)
        if schemas.is_heterogeneous(parameter) and not case.homogeneous:
            assigned = known
        if known and known not in (assigned, assigned.removeprefix("optional(").removesuffix(")")):
            raise TypeError(f"{case.id}: input {index} is of {known}, not of {assigned}")
        types.append(None if value is None and not assigned.startswith("optional(") else assigned)
    return types


def flags(case):
    return [True] * case.outputs if isinstance(case.outputs, int) else list(case.outputs)


def output_types(case, expected=None):
    """The types of the outputs asked for; where the schema does not tell, those of the expected ones."""
    parameters, types = schemas.live()[case.key].outputs, []
    for index, asked in enumerate(flags(case)):
        if not asked:
            continue
        parameter = schemas.formal(parameters, index)
        text = schemas.type_of_formal(parameter, case.types)
        if schemas.is_heterogeneous(parameter) and not case.homogeneous:
            text = schemas.type_of(expected[len(types)]) if expected is not None else None
        types.append(text)
    return types


def shape_of(value, name, dynamic):
    """The shape of a tensor, or of every element of a sequence; None where nothing is known."""
    if isinstance(value, list):
        if len({np.ndim(item) for item in value}) != 1:
            return None
        symbolic = dynamic or len({item.shape for item in value}) > 1
        value = value[0]
    elif not isinstance(value, np.ndarray):
        return None
    else:
        symbolic = dynamic
    return [f"{name}_{axis}" for axis in range(value.ndim)] if symbolic else value.shape


def renamed(graph, names):
    """A subgraph that reads other values of its surroundings."""
    result = type(graph)()
    result.CopyFrom(graph)
    for node in result.node:
        node.input[:] = [names.get(name, name) for name in node.input]
    for output in result.output:
        output.name = names.get(output.name, output.name)
    return result


def used_cells(case, expected=None):
    """The cells that running the case executes: the types of its actual inputs and outputs, by type variable."""
    schema, found = schemas.live()[case.key], set()
    variables = schemas.variables(case.key)
    inputs = [(schemas.formal(schema.inputs, i), t) for i, t in enumerate(input_types(case)) if t]
    asked = [schemas.formal(schema.outputs, i) for i, flag in enumerate(flags(case)) if flag]
    for parameter, text in [*inputs, *zip(asked, output_types(case, expected))]:
        if text in variables.get(parameter.type_str, ()):
            found.add((*case.key, parameter.type_str, text))
    return found


def build(members, opset, dynamic=False, plain=False, attributes=None, inputs=None):
    """A model of [(case, expected outputs or None)] of one domain and version. Its inputs, by name, are `feeds`.

    dynamic     every dimension symbolic but those of the constants, which are inputs
    plain       all inputs are inputs of the graph
    attributes, inputs   in place of the (only) case's own
    """
    nodes, formals, results, constants, feeds = [], [], [], [], {}
    for number, (case, expected) in enumerate(members):
        values = case.inputs if inputs is None else inputs
        names = []
        given = input_types(case) if inputs is None else [None if v is None else schemas.type_of(v) for v in values]
        for index, (value, text) in enumerate(zip(values, given)):
            name = f"c{number}_x{index}" if text else ""
            names.append(name)
            if not text:
                continue
            constant = index in case.fixed or (index in case.constants and not dynamic)
            if constant and not plain and isinstance(value, np.ndarray):
                constants.append(numpy_helper.from_array(value, name))
                continue
            feeds[name] = value
            symbolic = dynamic and index not in case.constants  # the sizes of constants tell the ranks of others
            formals.append(helper.make_value_info(name, schemas.type_proto(text, shape_of(value, name, symbolic))))
        captured = {}
        for index, (value, text) in enumerate(case.captured):
            name = captured[f"captured{index}"] = f"c{number}_k{index}"
            feeds[name] = value
            formals.append(helper.make_value_info(name, schemas.type_proto(text, shape_of(value, name, dynamic))))
        kept = [f"c{number}_y{index}" if flag else "" for index, flag in enumerate(flags(case))]
        domain, op, _ = case.key
        node = helper.make_node(op, names, kept, name=f"c{number}", domain="" if domain == "ai.onnx" else domain)
        for name, value in (case.attributes if attributes is None else attributes).items():
            value = value(names) if callable(value) else value
            value = renamed(value, captured) if isinstance(value, GraphProto) else value
            node.attribute.append(helper.make_attribute(name, value))
        nodes.append(node)
        for name, text in zip(filter(None, kept), output_types(case, expected)):
            if text:
                results.append(helper.make_value_info(name, schemas.type_proto(text)))
            else:
                results.append(helper.make_empty_tensor_value_info(name))
    graph = helper.make_graph(nodes, "cases", formals, results, constants)
    domain = members[0][0].key[0]
    opsets = [helper.make_opsetid("" if domain == "ai.onnx" else domain, opset)]
    if domain != "ai.onnx":
        opsets.append(helper.make_opsetid("", schemas.NEWEST))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), feeds
