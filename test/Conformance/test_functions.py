"""Operators that have both a function body and a lowering of their own: both give the same numbers.

The cases are those of the tables, in float: a few of each operator. The body is Strata's: the model is imported, every
operator that has a body is replaced by it (--onnx-expand-functions=all), and what comes out is exported and compiled.
"""

import subprocess
from pathlib import Path

import onnx
import pytest
import strata
from Conformance import compare, models, oracles, run, schemas
from Conformance.table import enumerate_cases
from support.library import BIN

PER_OPERATOR = 4
NONE_TO_COMPARE = {
    "Bernoulli": "random",
    "Range": "its body is a loop over a scalar count, and its lowering is held to the specification's tests",
}


def composites():
    """The newest version of every operator with a function body."""
    for (domain, op, version), schema in schemas.live().items():
        newest = schemas.history(domain, op)[-1].since_version == version
        if newest and (schema.has_function or schema.has_context_dependent_function):
            yield domain, op, version


def chosen(key):
    """A few cases in float, spread over the table's."""
    found = [case for case in enumerate_cases(key)[0] if not case.check and case.name != "special"]
    if key[1] == "Clip":  # an absent bound is the greatest finite number by the text, none by the body
        found = [case for case in found if len(case.inputs) == 3 and all(value is not None for value in case.inputs)]
    plain = [case for case in found if all(t in ("float", "bool", "int64") for t in case.types.values())] or found
    step = max(1, len(plain) // PER_OPERATOR)
    return plain[::step][:PER_OPERATOR]


def tool(name, *arguments):
    done = subprocess.run([BIN / name, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f"{name} {' '.join(map(str, arguments))}: {done.stderr[-2000:]}"


def expanded(module: Path, everything: bool):
    """The module with operators replaced by their bodies: all that have one, or those without a lowering alone."""
    result = module.with_name(f"expanded{everything}.mlir")
    expand = "--onnx-expand-functions" + ("=all" if everything else "")
    passes = ("--onnx-infer-shapes", "--onnx-upgrade-opset", "--onnx-infer-shapes", expand)
    tool("strata-opt", *passes, module, "-o", result)
    return result


@pytest.mark.parametrize("key", sorted(composites()), ids=lambda key: key[1])
def test_body_and_lowering_agree(key, tmp_path):
    run.load_tables()
    if reason := NONE_TO_COMPARE.get(key[1]):
        pytest.skip(reason)
    cases = chosen(key)
    if not cases:
        pytest.skip("the tables have no case of it")
    opset = schemas.NEWEST if key[0] == "ai.onnx" else key[2]
    members = [(case, oracles.expected_outputs(case)[0]) for case in cases]
    model, feeds = models.build(members, opset)
    onnx.save(model, tmp_path / "model.onnx")
    module, name = tmp_path / "model.mlir", f".{key[1]}_"
    tool("strata-translate", "--import-onnx", tmp_path / "model.onnx", "-o", module)
    if name not in expanded(module, everything=False).read_text():
        pytest.skip("it has no lowering but its body")
    bodies = expanded(module, everything=True)
    assert name not in bodies.read_text()
    tool("strata-translate", "--export-onnx", bodies, "-o", tmp_path / "bodies.onnx")
    body = onnx.load(tmp_path / "bodies.onnx")
    native = strata.compile(model, threads=1).run(feeds)
    composed = strata.compile(body, threads=1).run(dict(zip([i.name for i in body.graph.input], feeds.values())))
    start = 0
    for case, _ in members:
        own = slice(start, start + sum(models.flags(case)))
        start = own.stop
        found = compare.wrong(case, list(native[own]), composed[own])
        assert not found, f"{case.id}: {found}"
