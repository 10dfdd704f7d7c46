#!/usr/bin/env python3
"""Strata beside ONNX Runtime and OpenVINO: small models, the light networks of the onnx package, exported networks.

    ./dev bench                       everything; some seconds for a small model, about a minute for a network
    ./dev bench --quick               the most telling cases, in about three minutes
    ./dev bench --filter matmul       the cases with this in their names (a regular expression)
    ./dev bench export [NAME ...]     makes the exported networks (bench/export_models.py), with PyTorch

Every runtime lives in a process of its own, pinned to one core if it has one thread. They take turns, a slice of time
each, in every round; a time is the median over the rounds of the medians of the slices, and a ratio the median over the
rounds of Strata's median over that of the best peer of the same precision, so that slow drift of the machine cancels.
Rounds that other processes disturbed are repeated, and more are made where a ratio is uncertain by more than 2 %.
Outputs are compared with those of ONNX Runtime without graph optimisations, of integer operators with those of ONNX's
reference evaluator: the largest difference over the largest value. A peer that is off by a tenth is shown, but is not
the best one. The machine's limits are measured in the same run.

Results are added to those of earlier runs (--results) and shown on a page (--page), a part of which this program
writes, with plots beside it.
"""

import argparse
import hashlib
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import cases
import limits
import numpy as np
import page
from runtimes import NAMES, PEERS, Worker

ROOT = Path(__file__).resolve().parents[1]

# --- Compiling, once per case and precision.

# A process starts with its parent's peak as its own: commands are started by a process that holds nothing.
_MEASURE = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - start, usage.ru_maxrss * 1024)
sys.exit(status != 0)
"""


def _measured(command):
    """Runs a command: seconds, and its peak resident set in bytes."""
    done = subprocess.run([sys.executable, "-S", "-c", _MEASURE, *map(str, command)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-600:])
    seconds, peak = done.stdout.split()
    return {"seconds": float(seconds), "peak": int(peak)}


class Compiler:
    def __init__(self, folder):
        import strata

        self.folder, self.bin = folder, Path(strata.__file__).parents[2] / "bin"
        tool = self.bin / "strata-compile"
        parts = [tool, *sorted(self.bin.parent.glob("lib/*.so*"))]
        self.version = hashlib.sha256(repr([p.stat().st_mtime_ns for p in parts]).encode()).hexdigest()[:12]
        self.refused = {precision: why for precision in ("bf16", "int8") if (why := self._refusal(tool, precision))}
        self.precisions = {"f32", "bf16", "int8"} - self.refused.keys()

    def _refusal(self, tool, precision):
        """What strata-compile says of a precision that this CPU has no instructions for; else nothing."""
        probe = self.folder / "precision.mlir"
        probe.write_text("func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> { return %x : tensor<1xf32> }\n")
        command = [tool, probe, "--emit=obj", "-o", probe.with_suffix(".o"), f"--precision={precision}"]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stderr.strip() if done.returncode else None

    def compile(self, model, precision):
        """(library, {seconds, peak}), from an earlier run if neither the model nor the compiler has changed."""
        library = self.folder / f"{model.stem}-{precision}.so"
        known = library.with_suffix(".json")
        stamp = f"{self.version} {model.stat().st_mtime_ns}"
        if known.exists() and (facts := json.loads(known.read_text())).pop("stamp") == stamp:
            return library, facts
        option = [] if precision == "f32" else [f"--precision={precision}"]
        # The time is to be the compiler's, not the disk's.
        with model.open("rb") as source, open(os.devnull, "wb") as nowhere:
            shutil.copyfileobj(source, nowhere, 1 << 24)
        facts = _measured([self.bin / "strata-compile", model, "-o", library, *option])
        known.write_text(json.dumps({"stamp": stamp, **facts}))
        return library, facts

    def check(self, model, library, expected):
        """The errors of the ways of running a model that are not timed: strata-run, of the model and of the library."""
        result = self.folder / "checked.npz"
        errors = {}
        for way, what in (("jit", model), ("library", library)):
            _measured([self.bin / "strata-run", what, f"--input={model.with_suffix('.npz')}", f"--output={result}",
                       "--quiet"])  # fmt: skip
            errors[way] = difference(expected, result)
        return errors


def difference(expected, actual):
    """The largest one over all outputs, over the largest value of the output; infinite where they do not match."""
    worst = 0.0
    with np.load(expected) as wants, np.load(actual) as haves:
        for want, have in zip(wants.values(), haves.values(), strict=True):
            finite = np.isfinite(want)
            if want.shape != have.shape or want.dtype != have.dtype or (finite != np.isfinite(have)).any():
                return float("inf")
            want, have = want[finite].astype(np.float64), have[finite].astype(np.float64)
            if want.size:
                worst = max(worst, np.abs(want - have).max() / max(np.abs(want).max(), 1e-30))
    return float(worst)


# --- Timing.


def _busy_seconds(pids):
    """CPU seconds so far: of the whole machine, stolen ones too, without those of these processes."""
    tick = os.sysconf("SC_CLK_TCK")
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    ours = 0
    for pid in pids:
        ours += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
    return (user + nice + system + irq + softirq + steal - ours) / tick


# A ratio that is known less well than this is measured for more rounds, if they take no longer than this.
PRECISE, PATIENCE = 0.02, 30  # PATIENCE in seconds


def compared(rounds, rivals):
    """The fastest of the rivals, and Strata's times over its own, round by round; None and [] if there is none."""
    medians = {name: statistics.median(times[name] for times in rounds) for name in rivals if name in rounds[0]}
    if "strata" not in rounds[0] or not medians:
        return None, []
    best = min(medians, key=medians.get)
    return best, [times["strata"] / times[best] for times in rounds]


def uncertainty(ratios):
    """The standard error of the median, that of a normal distribution with these quartiles: 1.2533 standard deviations
    over the root of the number, where the quartiles are 1.349 standard deviations apart. 0 if there are too few."""
    if len(ratios) < 3:
        return 0.0
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return 1.2533 * (high - low) / 1.349 / math.sqrt(len(ratios))


def race(workers, rounds, seconds, rivals=(), between=None):
    """[(CPUs that other processes kept busy, {runtime: median})] of each round, in which turns go in both orders.
    `between` is called behind each, and is none of them.

    Rounds that others disturb are repeated, three times as many at most; the least disturbed ones count. So many are
    made, too, until the ratio to the best of the rivals is precise.
    """
    pids = [os.getpid(), *(worker.process.pid for worker in workers)]
    result, enough = [], None

    def kept():
        quiet = sum(foreign < 0.1 for foreign, _ in result)
        return sorted(result, key=lambda pair: pair[0])[: max(rounds, quiet)]

    def is_settled():
        nonlocal enough
        if sum(foreign < 0.1 for foreign, _ in result) < rounds:
            return False
        enough = enough or time.monotonic()
        ratios = compared([medians for _, medians in kept()], rivals)[1]
        return uncertainty(ratios) <= PRECISE or time.monotonic() > enough + PATIENCE

    while len(result) < 3 * rounds and not is_settled():
        medians, busy, start = {}, _busy_seconds(pids), time.monotonic()
        for worker in workers[:: 1 if len(result) % 2 else -1]:
            medians[worker.name] = worker.ask("time", seconds)
            worker.rest()
        foreign = (_busy_seconds(pids) - busy) / (time.monotonic() - start)
        result.append((foreign, medians))
        if between:
            between()
    return kept()


# Off by more than this, of the largest value of an output, a peer's products of integers are others: it is no rival. (A
# few steps of a quantisation are far below. What floats decide, such as the order of a detector's boxes, may differ.)
WRONG = 0.1


def rivals_of(peers, errors):
    """The peers whose outputs are right, and {peer: error} of the others."""
    wrong = {name: errors[name] for name in peers if errors.get(name, 0) > WRONG}
    return [name for name in peers if name not in wrong], wrong


def summarised(race, peers, errors):
    """Milliseconds of each runtime, the best peer whose outputs are right, Strata's ratio to it and how uncertain that
    is."""
    if not race[0][1]:
        return {"ms": {}}
    rounds = [medians for _, medians in race]
    medians = {name: statistics.median(each[name] for each in rounds) for name in NAMES if name in rounds[0]}
    result = {"ms": {name: median * 1e3 for name, median in medians.items()}}
    result["foreign"] = statistics.median(foreign for foreign, _ in race)
    rivals, wrong = rivals_of(peers, errors)
    if wrong:
        result["wrong"] = wrong
    best, ratios = compared(rounds, rivals)
    if best:
        result |= {"best": best, "ratio": statistics.median(ratios), "uncertainty": uncertainty(ratios)}
    return result


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = options.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.compiler = Compiler(self.folder)
        self.workers = {}
        self.results = json.loads(options.results.read_text()) if options.results.exists() else {}
        self.results.setdefault("cases", {})
        self.deadline = time.monotonic() + options.budget

    def worker(self, name, threads):
        return self.workers.setdefault((name, threads), Worker(name, threads))

    def close(self, threads=None):
        for key in [key for key in self.workers if threads in (None, key[1])]:
            self.workers.pop(key).close()

    def save(self):
        self.options.results.parent.mkdir(parents=True, exist_ok=True)
        self.options.results.write_text(json.dumps(self.results, indent=1) + "\n")

    def expected(self, model):
        """The reference's outputs, from an earlier run if the model has not changed."""
        path = self.folder / f"{model.stem}-expected.npz"
        if not path.exists() or path.stat().st_mtime < model.stat().st_mtime:
            self.worker("reference", 0).ask("load", str(model), str(model.with_suffix(".npz")), str(path))
            self.close(0)  # it holds the model
        return path

    def prepare(self, name, model):
        """What does not depend on the number of threads, and is not timed."""
        case = self.results["cases"].setdefault(name, {})
        case["work"] = cases.work_of(model)
        expected = self.expected(model)
        for precision in self.precisions(case["work"]):
            library, facts = self.compiler.compile(model, precision)
            entry = case.setdefault(precision, {})
            entry["compile"] = facts
            if self.options.check:
                entry["check"] = self.compiler.check(model, library, expected)
                print("  ".join(f"{way} {error:.1e}" for way, error in entry["check"].items()), flush=True)
        return expected

    def precisions(self, work):
        """int8 for weights that are dequantized, which both peers multiply with bytes, the others for other models; f32
        for all where the CPU has no products of bytes."""
        can = self.compiler.precisions
        narrow = work.get("narrow", False) and "int8" in can
        return [p for p in self.options.precision if p in can and (p == "int8") == narrow]

    def measure(self, name, model, expected, precision, threads):
        library, _ = self.compiler.compile(model, precision)
        inputs, outputs = str(model.with_suffix(".npz")), self.folder / "outputs.npz"
        workers, errors, failures = [], {}, {}
        is_large = model.stat().st_size > 1 << 20
        for runtime in ("strata", *PEERS[precision]):
            worker = self.worker(runtime, threads)
            if is_large:
                worker.close()  # memory is that of a process that has had no other model
            try:
                worker.ask("load", str(library if runtime == "strata" else model), inputs, str(outputs))
                errors[runtime] = difference(expected, outputs)
                workers.append(worker)
            except (RuntimeError, OSError) as error:
                failures[runtime] = str(error)
                worker.close()
        known, work = dict(self.results["limits"][str(threads)]), self.results["cases"][name]["work"]
        # Clocks go up and down with what the machine does and how warm it is: the peak is that of the same time.
        kind, peaks, between = limits.compute_kind(known, work, precision), [], None
        if limits.compute_seconds(known, work, precision) > limits.transfer_seconds(known, work):
            def between():
                peaks.append(limits.rate(limits.build(self.folder), kind, threads, seconds=self.options.seconds / 2))
        before = self.distance(threads)
        off = errors if work["int8"] else {}
        rivals = rivals_of(PEERS[precision], off)[0]
        turns = race(workers, self.options.rounds, self.options.seconds, rivals, between)
        result = summarised(turns, PEERS[precision], off)
        if before:
            result["apart"] = max(before, self.distance(threads))
        if peaks:
            known[kind] = statistics.median(peaks)
        result["error"] = errors
        if is_large:
            result["memory"] = {worker.name: worker.ask("memory") for worker in workers}
        if failures:
            result["failed"] = failures
        least = limits.least_seconds(known, work, precision)
        if least and least > 1e-6 and "strata" in result["ms"]:
            result["of limit"] = least * 1e3 / result["ms"]["strata"]
        self.results["cases"][name][precision][str(threads)] = result
        return result

    def distance(self, threads):
        """Nanoseconds from one core to another at this moment; None for one thread, or one core."""
        return limits.distance(limits.build(self.folder)) if threads > 1 else None

    def limits(self):
        facts = machine()
        if facts["cpu"] != self.results.get("machine", facts)["cpu"]:
            raise SystemExit(f"{self.options.results} has results of another machine: give another file (--results)")
        self.results["machine"] = facts
        program = limits.build(self.folder)
        for threads in map(str, self.options.threads):
            known = self.results.setdefault("limits", {}).get(threads)
            if not (known and self.options.missing):
                self.results["limits"][threads] = limits.best(known, limits.measure(program, int(threads)))

    def wanted(self, case):
        """The measurements of a case that are to be made: with --missing those that it has not, or not undisturbed."""

        def is_settled(run):
            return self.options.missing and run.get("foreign", 1) < 0.3 and not page.are_apart(run)

        return [
            (precision, threads)
            for threads in self.options.threads
            for precision in self.precisions(case["work"])
            if not is_settled(case.get(precision, {}).get(str(threads), {}))
        ]

    def run(self, chosen):
        for precision in set(self.options.precision) - self.compiler.precisions:
            print(f"precision {precision} is left out: {self.compiler.refused[precision]}")
        if not self.options.prepare:
            self.limits()
        failed = False
        for name, path in chosen:
            have = self.results["cases"].get(name)
            if time.monotonic() > self.deadline or (have and not self.wanted(have)):
                continue
            try:
                model = path()
                expected = self.prepare(name, model)
                case = self.results["cases"][name]
                for precision, threads in () if self.options.prepare else self.wanted(case):
                    result = self.measure(name, model, expected, precision, threads)
                    failed |= is_wrong(result, precision, case["work"])
                    print(line(name, precision, threads, result), flush=True)
            except Exception as error:
                print(f"{name}: FAILED: {str(error)[:400]}", flush=True)
                failed = True
            if not self.options.prepare:
                self.save()
        self.close()
        return failed


def is_wrong(result, precision, work):
    """Strata has failed, or its outputs are off by more than rounding. Where integers are multiplied, results are rounded
    to one of some 256 steps, and a number between two of them may become either: such outputs are off by a few steps."""
    most = {"f32": 1e-4, "bf16": 3e-2, "int8": 6e-2}[precision]
    if work["int8"]:
        most = max(most, 3e-2)
    return "strata" in result.get("failed", {}) or result["error"].get("strata", 0) > most


def line(name, precision, threads, result):
    text = f"{name:44} {precision} {threads}T"
    for runtime, ms in result["ms"].items():
        text += f"  {NAMES[runtime]} {page.number(ms)} ms"
    if "ratio" in result:
        text += f"  ratio {result['ratio']:.2f} ± {result['uncertainty']:.2f}"
    if "of limit" in result:
        text += f"  {100 * result['of limit']:.0f} % of the limit"
    for runtime, bytes in result.get("memory", {}).items():
        text += f"  {NAMES[runtime]} {bytes / 1e6:.0f} MB"
    if page.are_apart(result):
        text += f"  (cores {result['apart']:.0f} ns apart)"
    if result.get("foreign", 0) > 0.1:
        text += f"  (disturbed: {result['foreign']:.1f} CPUs)"
    if "strata" in result["error"]:
        text += f"  error {result['error']['strata']:.0e}"
    for runtime, error in result.get("wrong", {}).items():
        text += f"  {NAMES[runtime]} is wrong by {error:.0%}"
    for runtime, why in result.get("failed", {}).items():
        text += f"\n   {NAMES[runtime]} failed: {why}"
    return text


def machine():
    info = Path("/proc/cpuinfo").read_text()
    flags = set(next((x.split(":")[1] for x in info.splitlines() if x.startswith(("flags", "Features"))), "").split())
    telling = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8", "asimd", "sve")
    return {
        "cpu": next(
            (x.split(":")[1].strip() for x in info.splitlines() if x.startswith("model name")), platform.machine()
        ),
        "cores": len(os.sched_getaffinity(0)),
        "features": [flag for flag in telling if flag in flags],
        "date": time.strftime("%Y-%m-%d"),
        "versions": {package: metadata.version(package) for package in ("onnxruntime", "openvino")},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(n) for n in text.split(",")]  # noqa: E731
    add = parser.add_argument
    add("--quick", action="store_true", help="the most telling cases, three short rounds")
    add("--filter", default="", metavar="REGEX", help="cases whose name has a match")
    add("--threads", type=numbers, default=[1, 2], help="numbers of threads (1,2)")
    add("--rounds", type=int, help="turns of each runtime (7)")
    add("--seconds", type=float, help="length of a turn (0.15)")
    add("--precision", type=lambda text: text.split(","), default=["f32", "bf16", "int8"],
        help="f32, bf16, int8 (all): int8 for weights that are dequantized, the others for other models")
    add("--models", type=Path, help="a folder of .onnx files with inputs beside them, .npz (.bench/models)")
    add("--check", action="store_true", help="also compare the outputs of strata-run, of the model and of the library")
    add("--prepare", action="store_true", help="only compile, and compute what outputs are compared with")
    add("--missing", action="store_true", help="only what --results does not have yet, or disturbed, or with cores apart")
    add("--budget", type=float, default=float("inf"), help="seconds after which no case is begun")
    add("--folder", type=Path, default=ROOT / ".bench" / "cases", help=argparse.SUPPRESS)
    add("--results", type=Path, default=ROOT / ".bench" / "results.json", help="raw results (.bench/results.json)")
    add("--page", type=Path, help="the Markdown page to write results into (of all cases: docs/performance.md)")
    add("--list", action="store_true", help="print the names of the cases")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 7)
    options.seconds = options.seconds or (0.05 if options.quick else 0.15)
    options.models = options.models or ROOT / ".bench" / "models"
    if not (options.page or options.quick or options.filter):
        options.page = ROOT / "docs" / "performance.md"
    if options.page and not options.page.exists():
        parser.error(f"no page {options.page}: it is one with the markers of docs/performance.md")
    if unknown := set(options.precision) - set(PEERS):
        parser.error(f"no precision {', '.join(sorted(unknown))}: f32, bf16 and int8")
    chosen = [(name, path) for name, path in cases.all_cases(options.folder, options.models, options.quick)
              if re.search(options.filter, name)]  # fmt: skip
    if options.list:
        print("\n".join(name for name, _ in chosen))
        return
    bench = Bench(options)
    failed = bench.run(chosen)
    if options.page and not options.prepare:
        page.write(options.page, bench.results)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
