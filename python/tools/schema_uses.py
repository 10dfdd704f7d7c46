"""One valid use of every operator schema, as MLIR text or as an ONNX model: what tests round-trip and break.

A use has every input and result of the schema but the few that exclude each other, tensors of unknown rank, and the
required attributes only.
"""

import copy
import dataclasses

from generate_onnx_dialect import DOMAINS, RENAMES, formal_types, parse_type
from onnx import TensorProto, TypeProto, defs, helper

ELEMENTS = {
    "float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "i1", "string": "!onnx.string",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32",
    "uint64": "ui64", "int4": "i4", "uint4": "ui4", "int2": "i2", "uint2": "ui2", "complex64": "complex<f32>",
    "complex128": "complex<f64>", "float8e4m3fn": "f8E4M3FN", "float8e4m3fnuz": "f8E4M3FNUZ", "float8e5m2": "f8E5M2",
    "float8e5m2fnuz": "f8E5M2FNUZ", "float8e8m0": "!onnx.f8E8M0", "float6e2m3": "!onnx.f6E2M3",
    "float6e3m2": "!onnx.f6E3M2", "float4e2m1": "!onnx.f4E2M1",
}  # fmt: skip
PREFERRED = ["tensor(float)", "tensor(int64)", "tensor(int32)", "tensor(uint8)", "tensor(bool)", "tensor(string)"]

FLOAT_TENSOR = helper.make_tensor("", TensorProto.FLOAT, [], [1.0])
FLOAT_VECTOR = helper.make_tensor("", TensorProto.FLOAT, [1], [1.0])

# Required attributes whose values the specification restricts, by attribute name and kind or by operator and name.
ATTRIBUTES = {
    ("equation", "STRING"): "i->i", ("direction", "STRING"): "LEFT", ("to", "STRING"): "FLOAT",
    ("TfIdfVectorizer", "mode"): "TF", ("TreeEnsemble", "leaf_weights"): FLOAT_VECTOR,
    ("TreeEnsemble", "nodes_splits"): FLOAT_VECTOR, ("TfIdfVectorizer", "ngram_counts"): [0],
    ("TfIdfVectorizer", "ngram_indexes"): [0],
}  # fmt: skip
KINDS = {
    "INT": 1, "FLOAT": 1.0, "STRING": "a", "INTS": [1, 1], "FLOATS": [1.0], "STRINGS": ["a"],
    "TENSOR": helper.make_tensor("", TensorProto.INT64, [1], [1]),
    "TYPE_PROTO": helper.make_tensor_type_proto(TensorProto.FLOAT, None),
}  # fmt: skip
# Optional attributes without which the use would be invalid.
NEEDED = {
    "Constant": {"value": FLOAT_TENSOR}, "Mod": {"fmod": 1}, "BatchNormalization": {"training_mode": 1},
    "LabelEncoder": {"keys_floats": [1.0], "values_floats": [1.0]},
    "CategoryMapper": {"cats_int64s": [1], "cats_strings": ["a"]},
    "LinearRegressor": {"coefficients": [1.0]}, "Imputer": {"imputed_value_floats": [1.0]},
    "TfIdfVectorizer": {"pool_int64s": [1]}, "DictVectorizer": {"int64_vocabulary": [1]},
    "LinearClassifier": {"classlabels_ints": [1]}, "TreeEnsembleClassifier": {"classlabels_int64s": [1]},
    "SVMClassifier": {"classlabels_ints": [1], "coefficients": [1.0], "rho": [0.0]},
    "SVMRegressor": {"coefficients": [1.0], "rho": [0.0]},
}  # fmt: skip
# Optional inputs that exclude others, or that the bodies do not take.
LEFT_OUT = {("Attention", "nonpad_kv_seqlen"), ("SequenceMap", "additional_inputs")}
# How many values the variadic parameter has, where one is too few.
VARIADIC = {("Momentum", "inputs"): 3, ("Momentum", "outputs"): 2, ("Adam", "inputs"): 4, ("Adam", "outputs"): 3,
            ("Adagrad", "inputs"): 3, ("Adagrad", "outputs"): 2}  # fmt: skip


def mlir_type(text):
    kind, element = parse_type(text)
    if kind in ("map", "seqMap"):
        key, value = element.split("_")
        inner = f"!onnx.map<{ELEMENTS[key]}, {ELEMENTS[value]}>"
        return f"!onnx.seq<{inner}>" if kind == "seqMap" else inner
    tensor = f"tensor<*x{ELEMENTS[element]}>"
    return {"tensor": tensor, "seq": f"!onnx.seq<{tensor}>", "optional": f"!onnx.optional<{tensor}>",
            "optionalSeq": f"!onnx.optional<!onnx.seq<{tensor}>>"}[kind]  # fmt: skip


def onnx_type(text):
    kind, element = parse_type(text)
    data_type = lambda name: getattr(TensorProto, name.upper())
    if kind in ("map", "seqMap"):
        key, value = element.split("_")
        proto = TypeProto()
        proto.map_type.key_type = data_type(key)
        proto.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(data_type(value), None))
        return helper.make_sequence_type_proto(proto) if kind == "seqMap" else proto
    tensor = helper.make_tensor_type_proto(data_type(element), None)
    sequence = helper.make_sequence_type_proto(tensor)
    return {"tensor": tensor, "seq": sequence, "optional": helper.make_optional_type_proto(tensor),
            "optionalSeq": helper.make_optional_type_proto(sequence)}[kind]  # fmt: skip


def choose(types):
    for text in PREFERRED:
        if text in types:
            return text
    return min(t for t in types if parse_type(t)[1].split("_")[0] in ELEMENTS)


def mlir_attribute(value):
    """The attribute of the onnx dialect for a value as onnx.helper.make_attribute takes it."""
    if isinstance(value, TensorProto):
        text = "1.0" if value.data_type == TensorProto.FLOAT else "1"
        shape = "".join(f"{d}x" for d in value.dims)
        return f"dense<{text}> : tensor<{shape}{'f32' if value.data_type == TensorProto.FLOAT else 'i64'}>"
    if isinstance(value, TypeProto):
        return "tensor<*xf32>"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        if isinstance(value[0], str):
            return "[" + ", ".join(f'"{v}"' for v in value) + "]"
        return f"array<{'f32' if isinstance(value[0], float) else 'i64'}: {', '.join(map(str, value))}>"
    return f"{value} : f32" if isinstance(value, float) else f"{value} : i64"


def mlir_graph(op):
    """A body of one value for the graph attributes of the control flow operators."""
    value = "tensor<*xf32>"
    if op == "Loop":
        return (f"graph {{\n  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: {value}):\n"
                f"    onnx.Yield %c, %v : tensor<i1>, {value}\n  }}")  # fmt: skip
    if op in ("Scan", "SequenceMap"):
        return f"graph {{\n  ^bb0(%a: {value}):\n    onnx.Yield %a : {value}\n  }}"
    return f"graph {{\n    onnx.Yield %outer : {value}\n  }}"


def onnx_graph(op):
    """The same as a GraphProto."""
    value = lambda name, element, shape=None: helper.make_tensor_value_info(name, element, shape)
    copied = [helper.make_node("Identity", ["v" if op != "If" else "outer"], ["r"])]
    result, one = value("r", TensorProto.FLOAT), value("v", TensorProto.FLOAT)
    if op == "Loop":
        copied.append(helper.make_node("Identity", ["c"], ["d"]))
        inputs = [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []), one]
        return helper.make_graph(copied, "body", inputs, [value("d", TensorProto.BOOL, []), result])
    return helper.make_graph(copied, "body", [] if op == "If" else [one], [result])


@dataclasses.dataclass
class Use:
    """Types are as ONNX spells them; None for what is absent. Attributes have the names of the op in the dialect."""

    schema: object
    inputs: list
    results: list
    attributes: dict
    graphs: list  # (name, whether it is there)

    @property
    def op(self):
        return f"onnx.{DOMAINS[self.schema.domain]}{self.schema.name}_{self.schema.since_version}"

    def copy(self):
        return Use(self.schema, list(self.inputs), list(self.results), dict(self.attributes), list(self.graphs))

    def mlir(self, name=None):
        """A function around the op. An attribute whose value is a tuple is (the MLIR text, the ONNX value)."""
        needs_outer = self.schema.name == "If"
        arguments = [(f"%arg{i}", mlir_type(t)) for i, t in enumerate(self.inputs) if t]
        if needs_outer:
            arguments.append(("%outer", "tensor<*xf32>"))
        attributes = [f"{key} = {value[0] if isinstance(value, tuple) else mlir_attribute(value)}"
                      for key, value in self.attributes.items()]  # fmt: skip
        operands = ", ".join(f"%arg{i}" if t else "none" for i, t in enumerate(self.inputs))
        types = ", ".join(mlir_type(t) if t else "none" for t in self.inputs)
        results = [mlir_type(t) if t else "none" for t in self.results]
        lhs = ", ".join(f"%{i}" for i in range(sum(t is not None for t in self.results)))
        graphs = [mlir_graph(self.schema.name) if there else "graph {\n  }" for _, there in self.graphs]
        return (f"func.func @{name or self.schema.name}({', '.join(f'{n}: {t}' for n, t in arguments)}) {{\n  " +
                (f"{lhs} = " if lhs else "") + f"{self.op}({operands})" +
                (" {" + ", ".join(attributes) + "}" if attributes else "") + "".join(" " + g for g in graphs) +
                f" : ({types}) -> " + (results[0] if len(results) == 1 else f"({', '.join(results)})") +
                "\n  return\n}\n")  # fmt: skip

    def model(self):
        """A model of the node, which is called `use`."""
        schema = self.schema
        inputs = [f"x{i}" if t else "" for i, t in enumerate(self.inputs)]
        outputs = [f"y{i}" if t else "" for i, t in enumerate(self.results)]
        node = helper.make_node(schema.name, inputs, outputs, name="use", domain=schema.domain)
        renamed = {ours: theirs for (op, kind, theirs), ours in RENAMES.items() if op == schema.name and kind == "attr"}
        for name, value in self.attributes.items():
            value = value[1] if isinstance(value, tuple) else value
            node.attribute.append(helper.make_attribute(renamed.get(name, name), value))
        for name, there in self.graphs:
            if there:
                node.attribute.append(helper.make_attribute(name, onnx_graph(schema.name)))
        info = lambda names, types: [helper.make_value_info(n, onnx_type(t)) for n, t in zip(names, types) if t]
        graph = helper.make_graph([node], "g", info(inputs, self.inputs), info(outputs, self.results))
        opsets = [helper.make_opsetid(schema.domain, schema.since_version)]
        if schema.name == "If":
            graph.input.append(helper.make_tensor_value_info("outer", TensorProto.FLOAT, None))
        if schema.domain:
            opsets.append(helper.make_opsetid("", 13))
        return helper.make_model(graph, opset_imports=opsets, ir_version=13)


def valid_use(schema):
    types = {}

    def type_of(formal):
        return types.setdefault(formal.type_str, choose(formal_types(schema, formal)))

    def types_of(formals):
        kept = [f for f in formals if (schema.name, f.name) not in LEFT_OUT]
        return [type_of(f) for f in kept for _ in range(VARIADIC.get((schema.name, f.name), 1))]

    inputs, results = types_of(schema.inputs), types_of(schema.outputs)
    if schema.name == "Optional" and inputs[0].startswith("tensor"):
        results = [f"optional({inputs[0]})"]
    graphs = [(n, a.required) for n, a in sorted(schema.attributes.items()) if a.type.name == "GRAPH"]
    attributes = {}
    for name, attr in sorted(schema.attributes.items()):
        kind = attr.type.name
        if attr.required and kind != "GRAPH":
            value = ATTRIBUTES.get((schema.name, name)) or ATTRIBUTES.get((name, kind), KINDS[kind])
            attributes[RENAMES.get((schema.name, "attr", name), name)] = copy.deepcopy(value)
    needed = NEEDED.get(schema.name, {})
    if needed.keys() <= schema.attributes.keys():
        attributes.update(needed)
    return Use(schema, inputs, results, attributes, graphs)


def all_schemas():
    return sorted(defs.get_all_schemas_with_history(), key=lambda s: (s.domain, s.name, s.since_version))
