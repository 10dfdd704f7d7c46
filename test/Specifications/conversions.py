"""Converting models with strata-translate, for the tests of conversions."""

import subprocess
from pathlib import Path

import numpy as np
import onnx
import strata
from onnx import helper

TRANSLATE = Path(strata.__file__).parents[2] / "bin" / "strata-translate"


def schemas(operator, domain=""):
    """{version: schema} of an operator, ascending."""
    found = [s for s in onnx.defs.get_all_schemas_with_history() if s.name == operator and s.domain == domain]
    return {s.since_version: s for s in sorted(found, key=lambda s: s.since_version)}


def element_types(schema, output):
    formal = next(o for o in schema.outputs if o.name == output)
    return sorted(t.removeprefix("tensor(").removesuffix(")") for t in formal.types)


def data_type(name):
    """TensorProto.DataType of an element type as schemas spell it."""
    return getattr(onnx.TensorProto, name.upper())


def make_model(nodes, inputs, outputs, opset, domain=None, initializers=()):
    """A model of one graph; values are (name, element type, shape)."""
    value = lambda v: helper.make_tensor_value_info(v[0], data_type(v[1]), v[2])
    graph = helper.make_graph(nodes, "test", list(map(value, inputs)), list(map(value, outputs)), list(initializers))
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=max(4, helper.find_min_ir_version_for(imports[:1])))


def translate(model, folder, *opsets):
    """(the exported model or None, messages) of `strata-translate --export-onnx` with these --opset."""
    source, target = folder / "source.onnx", folder / "target.onnx"
    onnx.save(model, source)
    target.unlink(missing_ok=True)
    command = [TRANSLATE, "--export-onnx", *(f"--opset={opset}" for opset in opsets), source, "-o", target]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        assert done.returncode == 1, f"{done.returncode}: {done.stderr}"
        assert not target.exists(), "a refused conversion left a file"
        return None, done.stderr
    return onnx.load(target), done.stderr


def converted(model, folder, *opsets):
    """The converted model, which ONNX's checker accepts."""
    result, messages = translate(model, folder, *opsets)
    assert result is not None, messages
    onnx.checker.check_model(result, full_check=True)
    return result


def refusal(model, folder, *opsets):
    result, messages = translate(model, folder, *opsets)
    assert result is None, "the conversion was not refused"
    return messages


def versions_of(model, operator):
    """The since-versions of the operator's nodes in the model."""
    imports = {entry.domain: entry.version for entry in model.opset_import}
    known = schemas(operator)
    return {max(v for v in known if v <= imports[node.domain]) for node in model.graph.node if node.op_type == operator}


def run(model, inputs=None, seed=7):
    return strata.compile(model, opt_level=0, threads=1, seed=seed).run(inputs or {})


def same_bits(a, b):
    return len(a) == len(b) and all(
        x.dtype == y.dtype and x.shape == y.shape and np.ascontiguousarray(x).tobytes() == np.ascontiguousarray(y).tobytes()
        for x, y in zip(a, b)
    )
