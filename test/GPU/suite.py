"""ONNX's backend suite on the GPU that STRATA_CUDA_DRIVER names, or the emulated one: how many cases are right, and in
how many of them the GPU has something to do.

    python test/GPU/suite.py [--filter REGEX] [--slice I/N]     runs all cases, or the I-th of N parts
    python test/GPU/suite.py --update                           and writes the figures in docs/gpu.md

Outcomes are those of test/Suite/run.py; one that it does not allow on the CPU is a failure here. A case whose kernels
are all computed when the model is compiled, or kept on the host, has no kernel."""

import argparse
import ctypes
import re
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from Suite.backends import BACKENDS
from Suite.cases import load_cases
from Suite.pool import run_all
from Suite.run import LIST, RANDOM, TOLERANCES, problem, read_checks, read_list, read_tolerances, run_case
from support.emulator import library, use_emulator

PAGE = Path(__file__).parents[2] / "docs/gpu.md"
LINE = re.compile(r"^ONNX's backend suite: .*$", re.M)
SECONDS = 300


def count_kernels():
    """Kernels that this process has started so far; -1 where the driver does not tell."""
    started = getattr(ctypes.CDLL(str(library())), "strata_emulator_kernels", None)
    return started() if started and use_emulator() == "bitcode" else -1


def sentence(counts, without):
    total = sum(counts.values())
    others = ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items()) if outcome != "pass") or "none is wrong"
    return f"ONNX's backend suite: {counts['pass']} of {total} cases pass, {others}; {without} of them have no kernel."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", metavar="REGEX", help="only the cases whose name matches")
    parser.add_argument("--slice", default="0/1", metavar="I/N", help="the I-th of N parts, from 0 on")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes (1)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"for one case ({SECONDS})")
    parser.add_argument("--update", action="store_true", help=f"write the figures in docs/{PAGE.name}")
    options = parser.parse_args()
    part, parts = map(int, options.slice.split("/"))
    if options.update and (options.filter or parts > 1):
        sys.exit("--update is for the whole suite")
    start = time.monotonic()
    cases = [case for case in load_cases() if re.search(options.filter, case.name)][part::parts]
    listed, checks, tolerances = read_list(LIST), read_checks(RANDOM), read_tolerances(TOLERANCES)

    def run(index):
        case, before = cases[index], count_kernels()
        outcome, details = run_case(case, BACKENDS["cuda"], *tolerances.get(case.name, (0.0, 0.0)), checks.get(case.name))
        return outcome, details, count_kernels() - before

    # The long ones last: whoever waits sees the others meanwhile.
    order = sorted(range(len(cases)), key=lambda i: cases[i].kind == "real")
    counts, without, problems, done = Counter(), 0, 0, 0
    for index, (outcome, details, *kernels) in run_all(run, order, options.jobs, options.seconds):
        counts[outcome] += 1
        without += kernels == [0]
        done += 1
        found = problem(cases[index].name, outcome, details, listed)
        if found and "still in" not in found:
            problems += 1
            print(f"{cases[index].name}: {found}", flush=True)
        if done % 200 == 0:
            print(f"{done}/{len(cases)}", flush=True)
    print(sentence(counts, without))
    print(f"{time.monotonic() - start:.0f} s, {problems} problems")
    text = PAGE.read_text()
    if options.update and not problems:
        PAGE.write_text(LINE.sub(lambda _: sentence(counts, without), text))
    elif not options.filter and parts == 1 and not problems and sentence(counts, without) not in text:
        problems += 1
        print(f"docs/{PAGE.name} says otherwise: run with --update")
    return 1 if problems or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
