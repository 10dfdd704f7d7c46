"""The types that values of a model have, as Strata's importer and as ONNX's own shape inference see them.

A shape is a list of dimensions: a number, a symbolic name, or None for what is not known. Values whose rank is not known
have the shape None.
"""

import re
import subprocess
from pathlib import Path

import onnx
import strata
from onnx import shape_inference

TRANSLATE = Path(strata.__file__).parents[2] / "bin/strata-translate"
TYPES = re.compile(r"tensor<(?:\*|((?:(?:\?|\d+)x)*))[^<>#]*?(?:<[^<>]*>)?(?:, #onnx\.dims<([^>]*)>)?>")


def stripped(model, symbolic):
    """The model without what it says of its values' shapes. With `symbolic`, every dimension of an input has a name."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    graph = model.graph
    initialized = {tensor.name for tensor in graph.initializer}
    del graph.value_info[:]
    for value in graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    for i, value in enumerate(graph.input):
        if symbolic and value.name not in initialized and value.type.HasField("tensor_type"):
            for d, dim in enumerate(value.type.tensor_type.shape.dim):
                if not dim.dim_param:
                    dim.dim_param = f"in{i}_{d}"
    return model


def by_onnx(model):
    """{name: shape} of the values of the main graph, or None where ONNX refuses the model."""
    try:
        inferred = shape_inference.infer_shapes(model, strict_mode=False, data_prop=True)
    except Exception:  # noqa: BLE001  (whatever it raises)
        return None
    shapes = {}
    for value in (*inferred.graph.value_info, *inferred.graph.output):
        if not value.type.HasField("tensor_type"):
            continue
        tensor = value.type.tensor_type
        if not tensor.HasField("shape"):
            shapes[value.name] = None
            continue
        # Names that it makes up stand for what it does not know.
        made_up = lambda dim: dim.dim_param.startswith("unk__") or not dim.dim_param
        shapes[value.name] = [d.dim_value if d.HasField("dim_value") else None if made_up(d) else d.dim_param
                              for d in tensor.shape.dim]  # fmt: skip
    return shapes


def shape_of(text):
    """The shape in a type of the onnx dialect; "other" for what is no tensor."""
    match = TYPES.fullmatch(text)
    if not match:
        return "other"
    if match[1] is None:
        return None
    sizes = match[1].split("x")[:-1]
    names = re.findall(r'"([^"]*)"', match[2]) if match[2] else [""] * len(sizes)
    return [int(s) if s != "?" else n or None for s, n in zip(sizes, names)]


def _split(text):
    """Types of a list, whose own commas are inside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<(") - (c in ">)")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()] if text.strip() else parts


def by_strata(path, tool=TRANSLATE):
    """({name: shape}, None), or (None, the message) where the importer refuses the model."""
    done = subprocess.run([tool, "--import-onnx", "--elide-weights", "--locations", path], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1]
    shapes = {}
    for line in done.stdout.splitlines():
        if not re.match(r" {4}\S", line):
            continue
        match = re.search(r' -> (.*) loc\("(?:[^"\\]|\\.)*"\((?:fused\[)?(.*?)\]?\)\)$', line)
        if match:
            types = match[1][1:-1] if match[1].startswith("(") else match[1]
            names = re.findall(r'"((?:[^"\\]|\\.)*)"', match[2])
            shapes.update(zip(names, map(shape_of, _split(types))))
    return shapes, None
