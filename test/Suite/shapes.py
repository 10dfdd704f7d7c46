"""Compares the types that Strata infers with those of onnx.shape_inference, dimension by dimension.

    shapes.py [--filter REGEX] [--every N] [MODEL.onnx ...]

For every case of the backend suite and every network of test/Models/Inputs (or the models given), as it is and with every
dimension of its inputs made symbolic, each value of the main graph counts as
    both    a dimension that both know (or a symbol that both have)
    ours    one that only Strata knows
    theirs  one that only ONNX knows
    contradictions  two different numbers
and the outputs' shapes are compared with the expected outputs of the cases. Exit status 1 if ONNX knows something that
Strata does not (other than in less_precise.txt), or anything contradicts.
"""

import argparse
import os
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import onnx
from Suite.cases import load_cases
from Suite.inferred import by_onnx, by_strata, stripped
from Suite.pool import run_all
from support import exports

COLUMNS = ("values", "both", "ours", "theirs", "contradictions")


def compare(ours, theirs):
    """(counts, what is amiss) for the shapes of two inferences of one model."""
    counts, amiss = Counter(), []
    for name, their in theirs.items():
        own = ours.get(name, "other")
        counts["values"] += 1
        if their is None or own == "other":
            continue
        if own is None:
            counts["theirs"] += max(1, len(their))
            amiss.append(f"'{name}': no rank, but {their}")
            continue
        if len(own) != len(their):
            counts["contradictions"] += 1
            amiss.append(f"'{name}': {own} contradicts {their}")
            continue
        for a, b in zip(own, their):
            if b is None:
                counts["ours"] += a is not None
            elif isinstance(a, int) and isinstance(b, int) and a != b:
                counts["contradictions"] += 1
                amiss.append(f"'{name}': {own} contradicts {their}")
            elif isinstance(a, int) or a == b:
                counts["both"] += 1
            else:
                counts["theirs"] += 1
                amiss.append(f"'{name}': {own}, but {their}")
    # Values whose rank only Strata knows.
    for name, own in ours.items():
        if own not in (None, "other") and theirs.get(name) is None:
            counts["ours"] += sum(d is not None for d in own)
    return counts, amiss


def contradicted(ours, graph, expected):
    """Outputs whose real shape is another than the inferred one."""
    for value, array in zip(graph.output, expected):
        own = ours.get(value.name, "other")
        if own in (None, "other") or not hasattr(array, "shape"):
            continue
        if len(own) != len(array.shape) or any(isinstance(a, int) and a != b for a, b in zip(own, array.shape)):
            yield f"'{value.name}' is {own}, but the run makes it {list(array.shape)}"


def examine(task):
    """("done", (counts, amiss)) of a model in one form."""
    name, source, symbolic = task
    is_case = not isinstance(source, (str, Path))
    if is_case:
        proto = onnx.ModelProto.FromString(source.model())
    else:
        proto = onnx.load(source) if isinstance(source, Path) else exports.load(source)
    model = stripped(proto, symbolic)
    theirs = by_onnx(model)
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model.SerializeToString())
        file.flush()
        ours, message = by_strata(file.name)
    if ours is None:
        # A shape that must be known there is not, or the model is invalid for all dimensions but its own.
        return "done", (Counter(refused=1), [f"refused: {message}"])
    counts, amiss = compare(ours, theirs or {})
    counts["unknown to ONNX"] += theirs is None
    if is_case and not symbolic:
        for _, expected in source.data_sets()[:1]:
            found = list(contradicted(ours, model.graph, expected))
            counts["contradictions"] += len(found)
            amiss += found
    return "done", (counts, amiss)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", metavar="REGEX", help="only the models whose name matches")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th case of the suite")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("models", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    start = time.monotonic()
    sources = [(path.stem, path) for path in options.models] or [(name, name) for name in exports.NAMES]
    if not options.models:
        sources += [(case.name, case) for case in load_cases()[:: options.every]]
    tasks = [(name, source, symbolic) for name, source in sources for symbolic in (False, True)
             if re.search(options.filter or "", name)]  # fmt: skip
    listed = (HERE / "less_precise.txt").read_text().splitlines() if (HERE / "less_precise.txt").exists() else []
    listed = dict(line.split(": ", 1) for line in listed if line and not line.startswith("#"))
    totals, problems = {False: Counter(), True: Counter()}, {}
    run = lambda i: examine(tasks[i])
    for i, (outcome, details) in run_all(run, list(range(len(tasks))), options.jobs, 120):
        name, _, symbolic = tasks[i]
        form = f"{name} ({'symbolic' if symbolic else 'as it is'})"
        if outcome == "crashed":
            problems[form] = [f"crashed: {details}"]
            continue
        counts, amiss = details
        totals[symbolic].update(counts)
        totals[symbolic]["models"] += 1
        if amiss and name not in listed:
            problems[form] = amiss
    for form, amiss in sorted(problems.items()):
        print(f"{form}: " + "; ".join(amiss[:4]) + (f"; {len(amiss) - 4} more" if len(amiss) > 4 else ""))
    columns = ("models", *COLUMNS, "refused", "unknown to ONNX")
    print(f"{'inputs':10}" + "".join(f"{column:>16}" for column in columns))
    for symbolic, counts in totals.items():
        print(f"{'symbolic' if symbolic else 'as is':10}" + "".join(f"{counts[column]:>16}" for column in columns))
    print(f"{time.monotonic() - start:.0f} s, {len(problems)} problems")
    return 1 if problems or not tasks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
