"""Runs every live schema of ONNX at every element type that it lists, and compares with independent oracles.

Cases come from the tables in cases/ (see table.py), expected outputs from oracles.py. Cases of one version are put
into one model until something in it fails; then it is divided until each failure stands alone. The exit status is 1
if a case fails, or a cell without a case is not in open.txt (which only shrinks: --update takes out what is covered).
"""

import argparse
import importlib
import itertools
import json
import os
import re
import sys
import time
import zlib
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from Conformance import compare, models, oracles, report, schemas
from Conformance.table import enumerate_cases
from Suite.pool import run_all

MODES = ("static", "dynamic")
BATCH = 24
SECONDS = 300


def load_tables():
    for file in sorted((HERE / "cases").glob("*.py")):
        importlib.import_module(f"Conformance.cases.{file.stem}")


def is_newest(case):
    return schemas.history(*case.key[:2])[-1].since_version == case.key[2]


def level(case, dynamic):
    """Optimised code takes long to make: older versions, which become the newest first, have it in one form alone."""
    return 0 if dynamic and not is_newest(case) else 3


def run_model(members, dynamic):
    """[(outcome, details)] of the cases of one model, or None where they must run apart."""
    import strata

    single = len(members) == 1
    version = members[0][0].key[2]
    model, feeds = models.build([(case, expected) for case, expected, _ in members], version, dynamic)
    try:
        compiled = strata.compile(model, threads=1, advance_seeds=True, opt_level=level(members[0][0], dynamic))
        outputs = [compiled.run(feeds) for _ in range(members[0][0].runs if single else 1)]
    except Exception as error:  # a refusal and an error of the run are failures like any other
        return [("failed", f"{type(error).__name__}: {' '.join(str(error).split())[:600]}")] if single else None
    results, start = [], 0
    for case, expected, oracle in members:
        own = [run[start : start + sum(models.flags(case))] for run in outputs]
        start += sum(models.flags(case))
        found = case.check(case.inputs, own) if case.check else compare.wrong(case, expected, own[0])
        results.append(("failed", f"{oracle}: {found}") if found else ("passed", oracle))
    return results


def run_task(cases, task):
    """{(case index, mode): (outcome, details, cells) or None for "apart"} of a task (indices, modes)."""
    indices, modes = task
    results, members, expected_of = {}, [], {}
    for index in indices:
        case = cases[index]
        try:
            expected, oracle = (None, "statistics") if case.check else oracles.expected_outputs(case)
            cells = models.used_cells(case, expected)
        except (oracles.NoOracle, TypeError, ValueError) as error:
            results |= {(index, mode): ("no oracle", str(error), ()) for mode in modes}
            continue
        expected_of[index] = cells
        members.append((index, (case, expected, oracle)))
    for mode in modes:
        groups = [[]]
        for index, member in members:
            if mode == "dynamic" and member[0].dynamic is not True:
                results[index, mode] = ("none", str(member[0].dynamic), ())
            elif member[0].check:
                groups.append([(index, member)])
            else:
                groups[0].append((index, member))
        for group in filter(None, groups):
            outcomes = run_model([member for _, member in group], mode == "dynamic")
            for place, (index, _) in enumerate(group):
                results[index, mode] = (*outcomes[place], sorted(expected_of[index])) if outcomes else None
    return results


def batched(items, size):
    items = tuple(items)
    return [items[start : start + size] for start in range(0, len(items), size)]


def batches(cases):
    def kind(i):
        domain, _, version = cases[i].key
        return domain, version, is_newest(cases[i])

    order = sorted(range(len(cases)), key=lambda i: (*kind(i), cases[i].key[1], i))
    for _, group in itertools.groupby(order, key=kind):
        for part in batched(group, BATCH):
            yield (part, MODES)


def run_cases(cases, jobs, tell):
    """{(case index, mode): (outcome, details, cells)}"""
    results, tasks = {}, list(batches(cases))
    while tasks:
        apart = {}
        for (indices, modes), found in run_all(lambda task: run_task(cases, task), tasks, jobs, SECONDS):
            if isinstance(found, tuple):  # the process ended
                if len(indices) == 1 and len(modes) == 1:
                    found = {(indices[0], modes[0]): ("crashed", found[1], ())}
                else:
                    found = dict.fromkeys(itertools.product(indices, modes))
            failed = {}
            for (index, mode), result in found.items():
                if result is None:
                    failed.setdefault(mode, []).append(index)
                else:
                    results[index, mode] = result
            for mode, members in failed.items():
                half = max(1, len(members) // 4)
                for part in batched(members, half):
                    apart[part, (mode,)] = None
            tell(len(results))
        tasks = list(apart)
    return results


def collect():
    """(all cases, {cell: why there is none})"""
    load_tables()
    cases, missing = [], {}
    for key in schemas.live():
        found, lacking = enumerate_cases(key)
        cases += found
        missing |= {(*key, *pair): reason for pair, reason in lacking.items()}
    names = [case.id for case in cases]
    assert len(set(names)) == len(names), f"not unique: {[n for n, c in Counter(names).items() if c > 1][:9]}"
    return cases, missing


def sampled(cases, n):
    """About an n-th of the cases, fixed, and at least one of every schema."""
    kept, seen = [], set()
    for case in sorted(cases, key=lambda case: zlib.crc32(case.id.encode())):
        if case.key not in seen or zlib.crc32(case.id.encode()) % n == 0:
            kept.append(case)
        seen.add(case.key)
    return kept


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", action="store_true", help="prove the steps between versions (--steps --help)")
    parser.add_argument("--filter", metavar="REGEX", help="only the cases whose name (Op-version/types/case) matches")
    parser.add_argument("--sample", type=int, metavar="N", help="only about an N-th of the cases, always the same")
    parser.add_argument("--update", action="store_true", help="take the cells that are covered out of open.txt")
    parser.add_argument("--results", metavar="FILE", help="write every case's outcome as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes (default: all cores)")
    parser.add_argument("--verbose", action="store_true", help="print every case")
    return parser.parse_args(arguments)


def main(arguments):
    if "--steps" in arguments:
        from Conformance import steps

        return steps.main([argument for argument in arguments if argument != "--steps"])
    options = parse(arguments)
    start = time.monotonic()
    cases, missing = collect()
    if options.filter:
        cases = [case for case in cases if re.search(options.filter, case.id)]
    if options.sample:
        cases = sampled(cases, options.sample)
    print(f"{len(cases)} cases, {len(MODES)} forms, {options.jobs} workers", flush=True)

    def tell(done):
        if sys.stdout.isatty():
            print(f"{done}/{len(cases) * len(MODES)}", end="\r", flush=True)

    results = run_cases(cases, options.jobs, tell)
    whole = not options.filter and not options.sample
    lines, problems = report.summary(cases, results, missing, whole, options.update)
    print(*lines, sep="\n")
    if options.verbose:
        for (index, mode), (outcome, details, _) in sorted(results.items()):
            print(f"{outcome:9} {cases[index].id} {mode}: {details}")
    print(f"{time.monotonic() - start:.0f} s, {len(problems)} problems")
    failed = 1 if problems or not (cases or options.sample) else 0
    if options.results:
        records = [
            {"name": name, "kind": outcome, "details": details, "problem": problems.pop(name, None)}
            for name, outcome, details in ((f"{cases[i].id} {m}", *r[:2]) for (i, m), r in sorted(results.items()))
        ]
        records += [{"name": n, "kind": "open", "details": t, "problem": t} for n, t in problems.items()]
        Path(options.results).write_text(json.dumps({"cases": records}, indent=1))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
