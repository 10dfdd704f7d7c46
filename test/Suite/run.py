"""Runs ONNX's backend suite and compares its outcome with the checked-in list of what is not supported.

Every case ends as one of
  pass         outputs equal the expected ones within the suite's tolerances, or, for the cases of random.txt, whose
               expected outputs come from another random generator, are what the operator's definition says (drawn.py)
  unsupported  compiling refused the model with a diagnostic that names an operator, an input or an output of it
  wrong        different outputs, an error at run time, or a refusal that names nothing
  crashed      the process ended, or gave no answer in time

unsupported.txt only shrinks: a case in it that passes, or an unsupported case that is not in it, is a failure, as is
every wrong or crashed case.
"""

import argparse
import importlib.util
import json
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from Suite import drawn
from Suite.backends import BACKENDS, Unsupported
from Suite.cases import KINDS, load_cases
from Suite.pool import run_all
from Suite.report import PAGE, support_page
from support.compare import difference

LIST = HERE / "unsupported.txt"
RANDOM = HERE / "random.txt"
TOLERANCES = HERE / "tolerances.txt"
SECONDS = 180
OUTCOMES = ("pass", "unsupported", "wrong", "crashed")


def read_list(file):
    """Lines of `case: reason`; # starts a comment line."""
    lines = file.read_text().splitlines() if file.exists() else []
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def culprits(model):
    """How a diagnostic may name what it refuses in a serialised model: its operators (those in subgraphs and functions
    too), with or without version, and its inputs and outputs in quotes. As a regular expression."""
    import onnx

    names = set()

    def visit(nodes):
        for node in nodes:
            names.add(node.op_type)
            for attribute in node.attribute:
                for graph in (attribute.g, *attribute.graphs):
                    visit(graph.node)

    proto = onnx.ModelProto.FromString(model)
    visit(proto.graph.node)
    for function in proto.functions:
        visit(function.node)
    values = {value.name for value in (*proto.graph.input, *proto.graph.output)}
    return rf"\b({'|'.join(map(re.escape, names))})(_\d+)?\b|'({'|'.join(map(re.escape, values))})'"


def read_checks(file):
    """The name of the check in drawn.py by case, from lines of `case: check, reason`."""
    return {name: text.split(",")[0] for name, text in read_list(file).items()}


def read_tolerances(file):
    """(relative, absolute) by case, from lines of `case: tolerance, reason` or `case: absolute tolerance, reason`."""
    fields = {name: text.split(",")[0].split() for name, text in read_list(file).items()}
    return {name: (0.0, float(f[1])) if f[0] == "absolute" else (float(f[0]), 0.0) for name, f in fields.items()}


def run_case(case, backend, rtol=0.0, atol=0.0, check=None):
    """(outcome, details) of one case; `rtol` and `atol` widen the suite's own tolerances, `check` is the one of drawn.py
    for a case whose outputs are drawn at random."""
    model = case.model()
    try:
        run = backend(model)
    except Unsupported as error:
        text = " ".join(str(error).split())
        named = re.search(culprits(model), text)
        return ("unsupported", text) if named else ("wrong", f"refused without naming what: {text}")
    for inputs, expected in case.data_sets():
        try:
            if check:
                if found := drawn.difference(check, run, inputs, expected):
                    return "wrong", found
                continue
            outputs = run(inputs)
        except Exception as error:  # whatever a backend raises is a wrong result here
            return "wrong", f"{type(error).__name__}: {' '.join(str(error).split())}"
        if found := difference(expected, outputs, max(case.rtol, rtol), max(case.atol, atol)):
            return "wrong", found
    return "pass", ""


def problem(name, outcome, details, listed):
    """What is amiss with the case, in words, or None."""
    if outcome in ("wrong", "crashed"):
        return f"{outcome}: {details}"
    if outcome == "unsupported" and name not in listed:
        return f"unsupported, but not in {LIST.name} (which only shrinks): {details}"
    if outcome == "pass" and name in listed:
        return f"passes, but is still in {LIST.name}: run `./dev suite --update`"
    return None


def update(results, listed, grow):
    """Rewrites the list: cases that pass leave it, new ones enter it only with `grow`."""
    kept = dict(listed)
    for name, (outcome, details) in results.items():
        if outcome == "unsupported" and (grow or name in listed):
            # The reason without the place in the file, which names only this run's buffer.
            kept[name] = re.sub(r"^.*?\berror: ", "", details)[:160]
        elif outcome == "pass":
            kept.pop(name, None)
    header = [line for line in LIST.read_text().splitlines() if line.startswith("#")] if LIST.exists() else []
    LIST.write_text("\n".join(header + [f"{name}: {kept[name]}" for name in sorted(kept)]) + "\n")
    print(f"{LIST.name}: {len(listed)} -> {len(kept)} cases")
    return kept


def is_current(cases, listed):
    return PAGE.exists() and PAGE.read_text() == support_page(cases, listed)


def table(cases, results):
    """Outcomes by kind of case, as lines of text."""
    counts = Counter((case.kind, results[case.name][0]) for case in cases)
    yield f"{'kind':20}{'cases':>7}" + "".join(f"{outcome:>13}" for outcome in OUTCOMES)
    for kind in (*KINDS, "all"):
        row = [sum(n for (k, o), n in counts.items() if kind in (k, "all") and o == outcome) for outcome in OUTCOMES]
        yield f"{kind:20}{sum(row):>7}" + "".join(f"{n:>13}" for n in row)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", metavar="REGEX", help="only the cases whose name matches")
    parser.add_argument("--update", action="store_true", help=f"take the cases that pass out of {LIST.name}")
    parser.add_argument("--grow", action="store_true", help="with --update: let cases enter the list")
    parser.add_argument("--results", metavar="FILE", help="write every case's outcome as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes (default: all cores)")
    parser.add_argument("--backend", choices=BACKENDS, default="strata", help="cuda: kernels on a GPU, or on the emulated one; onnxruntime checks the harness itself")
    parser.add_argument("--verbose", action="store_true", help="print every case")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    package = "strata" if options.backend == "cuda" else options.backend
    if not importlib.util.find_spec(package):
        sys.exit(f"this Python has no package {package}: run the suite by ./dev suite")
    start = time.monotonic()
    cases = [case for case in load_cases() if not options.filter or re.search(options.filter, case.name)]
    backend = BACKENDS[options.backend]
    listed, checks = read_list(LIST), read_checks(RANDOM)
    tolerances = read_tolerances(TOLERANCES)
    results, problems = {}, {}
    print(f"{len(cases)} cases, {options.jobs} workers", flush=True)
    # The long ones first, so that no worker is left alone with them at the end.
    order = sorted(range(len(cases)), key=lambda i: cases[i].kind != "real")
    run = lambda i: run_case(
        cases[i], backend, *tolerances.get(cases[i].name, (0.0, 0.0)), checks.get(cases[i].name)
    )
    for index, (outcome, details) in run_all(run, order, options.jobs, SECONDS):
        name = cases[index].name
        results[name] = (outcome, details)
        found = problem(name, outcome, details, listed)
        if found and not options.update:
            problems[name] = found
        if options.verbose or (found and not (options.update and outcome in ("pass", "unsupported"))):
            print(f"{name}: {found or outcome}", flush=True)
        if sys.stdout.isatty() or len(results) % 200 == 0:
            print(f"{len(results)}/{len(cases)}", end="\r" if sys.stdout.isatty() else "\n", flush=True)
    if not options.filter:
        for name in sorted({*listed, *checks, *tolerances} - results.keys()):
            problems[name] = f"{name} is listed, but is no case of the suite"
        if not problems and not options.update and not is_current(cases, listed):
            problems[PAGE.name] = f"docs/{PAGE.name} is not up to date: run `./dev suite --update`"
    print(*table(cases, results), sep="\n")
    print(*(f"{name}: {text}" for name, text in problems.items() if name not in results), sep="\n")
    if options.update:
        listed = update(results, listed, options.grow)
        PAGE.write_text(support_page(load_cases(), listed))
        problems = {n: r for n, r in results.items() if r[0] in ("wrong", "crashed")}
    print(f"{time.monotonic() - start:.0f} s, {len(problems)} problems")
    if options.results:
        records = [
            {"name": name, "kind": kind, "details": details, "problem": problems.get(name)}
            for name, (kind, details) in results.items()
        ]
        # Problems that belong to no case: names that no longer exist, a page that is not up to date.
        records += [
            {"name": name, "kind": "wrong", "details": text, "problem": text}
            for name, text in problems.items()
            if name not in results
        ]
        Path(options.results).write_text(json.dumps({"cases": records}, indent=1))
    return 1 if problems or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
