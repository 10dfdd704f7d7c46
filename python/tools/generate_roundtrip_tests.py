#!/usr/bin/env python3
"""Writes one lit file per opset version with one use of every operator version that it introduced.

    generate_roundtrip_tests.py [--check] [TEST_DIR]

The files freeze names, operands, required attributes and graphs of all versioned ops, in text and in bytecode.
"""
import argparse
import collections
import pathlib
import sys

from onnx import defs

from generate_onnx_dialect import DOMAINS, PINNED, RENAMES, formal_types, parse_type

Option = defs.OpSchema.FormalParameterOption
ELEMENTS = {
    "float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "i1", "string": "!onnx.string",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32",
    "uint64": "ui64",
}  # yapf: disable
PREFERRED = ["tensor(float)", "tensor(int64)", "tensor(int32)", "tensor(uint8)", "tensor(bool)", "tensor(string)"]

# Required attributes whose values the specification restricts, by attribute name and kind or by operator and name.
ATTRIBUTES = {
    ("equation", "STRING"): '"i->i"', ("direction", "STRING"): '"LEFT"', ("to", "STRING"): '"FLOAT"',
    ("TfIdfVectorizer", "mode"): '"TF"',
}  # yapf: disable
KINDS = {
    "INT": "1 : i64", "FLOAT": "1.0 : f32", "STRING": '"a"', "INTS": "array<i64: 1, 1>", "FLOATS": "array<f32: 1.0>",
    "STRINGS": '["a"]', "TENSOR": "dense<1> : tensor<1xi64>", "TYPE_PROTO": "tensor<*xf32>",
}  # yapf: disable
# Optional attributes without which the use would be invalid.
NEEDED = {
    "Constant": 'value = dense<1.0> : tensor<f32>', "Mod": "fmod = 1 : i64", "BatchNormalization": "training_mode = 1 : i64",
    "LabelEncoder": "keys_floats = array<f32: 1.0>, values_floats = array<f32: 1.0>",
    "CategoryMapper": 'cats_int64s = array<i64: 1>, cats_strings = ["a"]',
}  # yapf: disable
# Optional inputs that exclude others.
LEFT_OUT = {("Attention", "nonpad_kv_seqlen")}


def mlir_type(text):
    kind, element = parse_type(text)
    if kind in ("map", "seqMap"):
        key, value = element.split("_")
        inner = f"!onnx.map<{ELEMENTS[key]}, {ELEMENTS[value]}>"
        return f"!onnx.seq<{inner}>" if kind == "seqMap" else inner
    tensor = f"tensor<*x{ELEMENTS[element]}>"
    return {"tensor": tensor, "seq": f"!onnx.seq<{tensor}>", "optional": f"!onnx.optional<{tensor}>",
            "optionalSeq": f"!onnx.optional<!onnx.seq<{tensor}>>"}[kind]  # yapf: disable


def choose(types):
    for text in PREFERRED:
        if text in types:
            return text
    return min(t for t in types if parse_type(t)[1].split("_")[0] in ELEMENTS)


def graph(schema, name):
    """A body of one value for the graph attributes of the control flow operators."""
    value = "tensor<*xf32>"
    if schema.name == "Loop":
        return (f"graph {{\n  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: {value}):\n"
                f"    onnx.Yield %c, %v : tensor<i1>, {value}\n  }}")
    if schema.name in ("Scan", "SequenceMap"):
        return f"graph {{\n  ^bb0(%a: {value}):\n    onnx.Yield %a : {value}\n  }}"
    return f"graph {{\n    onnx.Yield %outer : {value}\n  }}"


def render(schema):
    types = {}

    def type_of(formal):
        allowed = formal_types(schema, formal)
        return types.setdefault(formal.type_str, mlir_type(choose(allowed)))

    inputs = [(f"%arg{i}", type_of(f)) for i, f in enumerate(schema.inputs) if (schema.name, f.name) not in LEFT_OUT]
    results = [type_of(f) for f in schema.outputs]
    if schema.name == "Optional" and not inputs[0][1].startswith("!"):
        results = [f"!onnx.optional<{inputs[0][1]}>"]
    regions = [graph(schema, n) if a.required else "graph {\n  }" for n, a in sorted(schema.attributes.items())
               if a.type.name == "GRAPH"]
    arguments = list(inputs)
    if schema.name == "If":
        arguments.append(("%outer", "tensor<*xf32>"))
    attributes = [f"{RENAMES.get((schema.name, 'attr', n), n)} = "
                  f"{ATTRIBUTES.get((schema.name, n)) or ATTRIBUTES.get((n, a.type.name), KINDS.get(a.type.name))}"
                  for n, a in sorted(schema.attributes.items()) if a.required and a.type.name != "GRAPH"]
    needed = NEEDED.get(schema.name, "")
    if needed.split(" ")[0] in schema.attributes and not attributes:
        attributes.append(needed)
    op = f"onnx.{DOMAINS[schema.domain]}{schema.name}_{schema.since_version}"
    lhs = ", ".join(f"%{i}" for i in range(len(results)))
    lines = [f"// CHECK-LABEL: @{schema.name}(", f"// CHECK: {op}("]
    lines.append(f"func.func @{schema.name}({', '.join(f'{n}: {t}' for n, t in arguments)}) {{")
    lines.append("  " + (f"{lhs} = " if lhs else "") + f"{op}({', '.join(n for n, _ in inputs)})" +
                 (" {" + ", ".join(attributes) + "}" if attributes else "") + "".join(" " + r for r in regions) +
                 f" : ({', '.join(t for _, t in inputs)}) -> " +
                 (results[0] if len(results) == 1 else f"({', '.join(results)})"))
    lines += ["  return", "}"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files, write nothing")
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("test_dir", nargs="?", type=pathlib.Path, default=root / "test/Dialect/ONNX/IR/opset")
    args = parser.parse_args()
    by_version = collections.defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        by_version[schema.domain or "ai.onnx", schema.since_version].append(schema)
    stale = []
    for (domain, version), schemas in sorted(by_version.items()):
        text = (f"// Generated by python/tools/generate_roundtrip_tests.py from onnx {PINNED}. Do not edit.\n"
                "// RUN: strata-opt %s -o %t.mlir\n"
                "// RUN: FileCheck %s --input-file=%t.mlir\n"
                "// RUN: strata-opt %t.mlir | diff %t.mlir -\n"
                "// RUN: strata-opt %s --emit-bytecode -o %t.mlirbc\n"
                "// RUN: strata-opt %t.mlirbc | diff %t.mlir -\n\n" +
                "\n".join(render(s) for s in sorted(schemas, key=lambda s: s.name)))
        path = args.test_dir / f"{domain}-{version}.mlir"
        if not path.exists() or path.read_text() != text:
            stale.append(str(path))
            if not args.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    print(f"{sum(map(len, by_version.values()))} uses in {len(by_version)} files")
    if args.check and stale:
        sys.exit("out of date: " + ", ".join(stale))


if __name__ == "__main__":
    main()
