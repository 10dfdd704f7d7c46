"""Proves the steps between versions: each operator's from one version to the next, and back.

Every case of the older version (static form) is converted to the opset with which the next version begins, and every
case of the newer one to the opset before. The converted model must pass ONNX's checker with full check and give the
outputs that the oracle gives for the case at its own version: in Strata, and in ONNX Runtime or the reference
implementation, where one of them can run it and is right about the case itself. Upwards nothing may be refused but what
docs/version-steps.md lists; downwards a refusal must name the node and the reason. --update writes the page.
"""

import argparse
import dataclasses
import json
import os
import re
import sys
import time
import zlib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import numpy as np
import onnx
from Conformance import compare, models, oracles, schemas, steps_report
from Conformance.run import load_tables
from Conformance.table import enumerate_cases
from onnx import defs
from Suite.evaluators import EVALUATORS, Unable, guarded
from Suite.pool import run_all

BATCH = 16
SECONDS = 240


def add_deprecated():
    """Cases of a version that is deprecated, but whose operator lives on."""
    key = ("ai.onnx", "GroupNormalization", 18)
    schemas.live()[key] = defs.get_schema(key[1], key[2], "")


def refusal_of_checker(proto):
    try:
        onnx.checker.check_model(proto, full_check=True)
    except Exception as error:
        return " ".join(str(error).split())[:300]


def convert(model, domain, opset):
    """The converted model; raises strata.CompileError, or AssertionError where it is not what was asked for."""
    import strata

    converted = strata.convert_opset(model, f"{domain}:{opset}")
    proto = onnx.ModelProto.FromString(converted)
    opsets = {entry.domain or "ai.onnx": entry.version for entry in proto.opset_import}
    assert opsets[domain] == opset, f"the opset is {opsets[domain]}"
    found = refusal_of_checker(proto)
    # Some bodies of functions do not pass ONNX's inference themselves.
    assert not found or refusal_of_checker(onnx.ModelProto.FromString(model)), f"the checker: {found}"
    return converted, proto


def evaluate(name, evaluator, case, model, feeds):
    outputs = evaluator(model)(list(feeds.values()))
    if name == "reference":  # which computes floats of 16 bits in 32, here and there
        types = models.output_types(case, outputs)
        outputs = [oracles.rounded(value, text) for value, text in zip(outputs, types)]
    return outputs


def independent(case, expected, original, feeds, converted, alone):
    """The evaluator that gives the expected outputs of the converted model, or "strata" if none can run it; raises
    AssertionError if none does, but one that is right about the case itself gives others. `alone`: something crashed
    with this case; if an evaluator did, that one cannot run it."""
    against = None
    for name, evaluator in EVALUATORS.items():
        evaluator = guarded(evaluator) if alone else evaluator
        try:
            found = compare.wrong(case, expected, evaluate(name, evaluator, case, converted, feeds))
            if not found:
                return name
            if compare.wrong(case, expected, evaluate(name, evaluator, case, original, feeds)):
                continue
        except (Unable, TypeError, KeyError, ValueError):
            continue
        against = against or f"{name}: {found}"
    if against:
        raise AssertionError(against)
    return "strata"


def loosened(case, expected):
    """The case with a tolerance for several operators that each round to 16 bits: what cancels has the error of its
    terms."""
    bits = {"float16": 11, "bfloat16": 8}
    outputs = [value for value in expected if getattr(value, "dtype", None) is not None and value.dtype.name in bits]
    if not outputs:
        return case
    epsilon = 2.0 ** -min(bits[value.dtype.name] for value in outputs)
    sizes = [np.abs(value[np.isfinite(value)].astype(np.float64)).max(initial=1) for value in outputs]
    return dataclasses.replace(case, atol=max(case.atol or 0, 8 * epsilon * max(sizes)))


def prove(members, opset, alone=False):
    """[(outcome, by whom or why, operators)] of [(case, expected)] of one version, converted in one model; None to try
    them apart."""
    import strata

    domain, op, version = members[0][0].key
    single = len(members) == 1
    try:
        original, feeds = models.build(members, version)
        converted, proto = convert(original.SerializeToString(), domain, opset)
        run = strata.compile(converted, threads=1, opt_level=1, advance_seeds=True).run
        case = members[0][0]
        outputs = [run(feeds) for _ in range(case.runs if single else 1)]
        if case.check:
            found = case.check(case.inputs, outputs)
            return [("failed", found, "") if found else ("proven", "statistics", "")]
        forms = sorted({node.op_type for node in proto.graph.node})
        members = [(loosened(case, expected) if forms != [op] else case, expected) for case, expected in members]
        start = 0
        for case, expected in members:
            count = sum(models.flags(case))
            if found := compare.wrong(case, expected, outputs[0][start : start + count]):
                raise AssertionError(f"Strata: {found}")
            start += count
    except Exception as error:
        if not single:
            return None
        text = " ".join(str(error).split())[:600]
        refused = isinstance(error, strata.CompileError) and re.search(r"cannot be (down|up)graded|cannot be conv|is deprecated", text)
        return [("refused" if refused else "failed", text, "")]
    results = []
    for case, expected in members:
        try:
            if not single:
                original, feeds = models.build([(case, expected)], version)
                converted, proto = convert(original.SerializeToString(), domain, opset)
            by = independent(case, expected, original.SerializeToString(), feeds, converted, alone)
            results.append(("proven", by, " ".join(forms)))
        except Exception as error:
            results.append(("failed", " ".join(str(error).split())[:600], ""))
    return results


def run_task(cases, task):
    """[(case index, outcome, details, operators)]"""
    indices, opset, alone = task
    results, members = [], []
    for index in indices:
        case = cases[index]
        try:
            members.append((index, (case, None if case.check else oracles.expected_outputs(case)[0])))
        except (oracles.NoOracle, TypeError, ValueError) as error:
            results.append((index, "no oracle", str(error), ""))

    def attempt(group):
        found = prove([member for _, member in group], opset, alone)
        if found is None:
            for part in (group[: len(group) // 2], group[len(group) // 2 :]):
                attempt(part)
        else:
            results.extend((index, *result) for (index, _), result in zip(group, found))

    for group in ([m for m in members if not m[1][0].check], *([m] for m in members if m[1][0].check)):
        if group:
            attempt(group)
    return results


def parse(arguments):
    parser = argparse.ArgumentParser(prog="conformance --steps", description=__doc__)
    parser.add_argument("--filter", default="", metavar="REGEX", help="only the steps (Op-from-to) that match")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="about every N-th case, always the same ones")
    parser.add_argument("--direction", choices=("up", "down", "both"), default="both")
    parser.add_argument("--update", action="store_true", help="write docs/version-steps.md")
    parser.add_argument("--results", metavar="FILE", help="write every case's outcome as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes (default: all cores)")
    parser.add_argument("--verbose", action="store_true", help="print every step")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    start = time.monotonic()
    load_tables()
    add_deprecated()
    steps = [s for s in steps_report.every_step() if re.search(options.filter, f"{s[1]}-{s[2]}-{s[3]}")]
    cases, by_key, tasks, owner = [], {}, [], {}
    for domain, op, old, new in steps:
        for direction, version, opset in (("up", old, new), ("down", new, new - 1)):
            key = (domain, op, version)
            if options.direction not in ("both", direction) or key not in schemas.live():
                continue
            if key not in by_key:
                found = enumerate_cases(key)[0]
                kept = [c for i, c in enumerate(found) if i < 1 or zlib.crc32(c.id.encode()) % options.sample == 0]
                by_key[key] = range(len(cases), len(cases) + len(kept))
                cases += kept
            indices = by_key[key]
            for first in range(0, len(indices), BATCH):
                task = (tuple(indices[first : first + BATCH]), opset, False)
                tasks.append(task)
                owner[task] = (domain, op, old, new), direction
    print(f"{len(steps)} steps, {len(cases)} cases, {options.jobs} workers", flush=True)
    results = {}
    while tasks:
        again = []
        for task, found in run_all(lambda task: run_task(cases, task), tasks, options.jobs, SECONDS):
            if isinstance(found, tuple) and not task[2]:  # the process ended: which case was it?
                for index in task[0]:
                    again.append(((index,), task[1], True))
                    owner[again[-1]] = owner[task]
                continue
            if isinstance(found, tuple):
                found = [(task[0][0], "failed", found[1], "")]
            for index, *result in found:
                results[(*owner[task], cases[index].id)] = result
                if result[0] == "failed":
                    print(f"{owner[task][1]} {cases[index].id}: {result[1]}", flush=True)
        tasks = again
    lines, problems = steps_report.summary(steps, results, options.verbose, options.update)
    print(*lines, sep="\n")
    print(f"{time.monotonic() - start:.0f} s, {problems} problems")
    if options.results:
        kinds = {"proven": "passed", "refused": "passed"}
        records = [
            {"name": f"{steps_report.label(step)} {direction} {name}", "kind": kinds.get(outcome, outcome),
             "details": details, "problem": details if outcome == "failed" else None}
            for (step, direction, name), (outcome, details, _) in results.items()
        ]  # fmt: skip
        Path(options.results).write_text(json.dumps({"cases": records}, indent=1))
    return 1 if problems or not (results or options.sample) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
