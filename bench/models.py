#!/usr/bin/env python3
"""Whole networks: outputs against ONNX Runtime's in three ways, compile time, memory, and time beside ONNX Runtime.

    python bench/models.py [--threads N[,N]] [--rounds N] [--seconds S] [--no-time] MODEL.onnx|light ...

MODEL.npz beside a model holds its inputs; without it they are random. `light` stands for the nine networks of the onnx
package, with random weights. Per network:
  compile       seconds strata-compile takes to make the shared library
  peak          its largest resident set, in MB and over the size of the weights
  JIT, .so, Py  the largest difference from ONNX Runtime's outputs (graph optimisations off), over the largest value of
                that output: by strata-run, by strata-run of the shared library, and by the Python package
  ms            median time of a run for Strata and for ONNX Runtime, and the ratio of the two

The two runtimes live in processes of their own and take turns, a slice of time each, in every round; the ratio is the
median over the rounds of one's median over the other's, so that slow drift of the machine cancels.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test")]


# --- Workers: `python models.py --worker ort|strata FILE INPUTS THREADS`; a line in, a line out.


def _session(path, threads, optimise=True):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    if not optimise:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def worker(kind, path, inputs, threads):
    with np.load(inputs) as file:
        feeds = {name: file[name] for name in file.files}
    if kind == "ort":
        session = _session(path, threads)
        known = {value.name for value in session.get_inputs()}
        feeds = {name: array for name, array in feeds.items() if name in known}

        def run():
            session.run(None, feeds)
    else:
        import strata

        model = strata.load(path, threads=threads)
        arrays = [feeds[value.name] for value in model.inputs]

        def run():
            model(*arrays)

    for _ in range(3):
        run()
    print("ready", flush=True)
    for line in sys.stdin:
        end, times = time.perf_counter() + float(line), []
        run()
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(json.dumps(times), flush=True)


class Worker:
    def __init__(self, kind, path, inputs, threads):
        command = [sys.executable, __file__, "--worker", kind, str(path), str(inputs), str(threads)]
        if threads == 1:
            command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *command]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n", f"the worker for {kind} failed"

    def slice(self, seconds):
        print(seconds, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def race(model, library, inputs, threads, rounds, seconds):
    """(median of Strata, median of ONNX Runtime, median ratio), in seconds."""
    workers = [Worker("strata", library, inputs, threads), Worker("ort", model, inputs, threads)]
    times, ratios = ([], []), []
    for number in range(rounds):
        medians = [0.0, 0.0]
        for i in (0, 1) if number % 2 else (1, 0):
            slice_times = workers[i].slice(seconds)
            times[i].extend(slice_times)
            medians[i] = statistics.median(slice_times)
        ratios.append(medians[0] / medians[1])
    for each in workers:
        each.close()
    return statistics.median(times[0]), statistics.median(times[1]), statistics.median(ratios)


# --- One network.


def random_inputs(model):
    rng = np.random.default_rng(0)
    feeds = {}
    for value in _session(model, 1).get_inputs():
        shape = [size if isinstance(size, int) and size > 0 else 1 for size in value.shape]
        if value.type != "tensor(float)":
            raise SystemExit(f"{model}: input {value.name} is a {value.type}; give {model.with_suffix('.npz').name}")
        feeds[value.name] = rng.standard_normal(shape, np.float32)
    return feeds


def difference(expected, actual):
    """The largest one over all outputs, relative to the largest value of the output; infinite where they do not match."""
    worst = 0.0
    for want, have in zip(expected, actual, strict=True):
        finite = np.isfinite(want)
        if want.shape != have.shape or want.dtype != have.dtype or (finite != np.isfinite(have)).any():
            return float("inf")
        want, have = want[finite].astype(np.float64), have[finite].astype(np.float64)
        if want.size:
            worst = max(worst, np.abs(want - have).max() / max(np.abs(want).max(), 1e-30))
    return float(worst)


# A process starts with its parent's peak as its own: commands are started by a process that holds nothing.
MEASURE = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - start, usage.ru_maxrss * 1024)
sys.exit(status != 0)
"""


def measured(command):
    """Runs a command; seconds and its peak resident set in bytes."""
    command = [sys.executable, "-S", "-c", MEASURE, *map(str, command)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-600:])
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)


def weights(path):
    import onnx

    model = onnx.load(path)
    return sum(len(t.raw_data) or t.ByteSize() for t in model.graph.initializer)


def compare(model, inputs, bin_folder, folder):
    import strata

    with np.load(inputs) as file:
        feeds = {name: file[name] for name in file.files}
    session = _session(model, 2, optimise=False)
    known = {value.name for value in session.get_inputs()}
    expected = session.run(None, {name: array for name, array in feeds.items() if name in known})
    del session

    library, result = folder / "model.so", folder / "outputs.npz"
    row = {"weights": weights(model)}
    row["compile"], row["peak"] = measured([bin_folder / "strata-compile", model, "-o", library])

    def by_tool(what):
        measured([bin_folder / "strata-run", what, f"--input={inputs}", f"--output={result}", "--quiet"])
        with np.load(result) as file:
            return [file[name] for name in file.files]

    row["jit"] = difference(expected, by_tool(model))
    row["so"] = difference(expected, by_tool(library))
    compiled = strata.compile(model)
    row["python"] = difference(expected, compiled.run({v.name: feeds[v.name] for v in compiled.inputs}))
    return row, library


def light_models(folder):
    import onnx
    from support import light

    for name in light.NAMES:
        path = folder / f"light_{name}.onnx"
        onnx.save(light.with_random_weights(name), path)
        yield path
        path.unlink()


HEAD = f"{'network':26} {'weights':>8} {'compile':>8} {'peak MB':>8} {'over':>5} {'JIT':>8} {'.so':>8} {'Py':>8}"


def main():
    if sys.argv[1:2] == ["--worker"]:
        return worker(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--threads", default="1,2", help="numbers of threads to time (1,2)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.7, help="length of a slice (0.7)")
    parser.add_argument("--no-time", action="store_true", help="only compare outputs, compile time and memory")
    parser.add_argument("--json", type=Path, help="write the rows there")
    options = parser.parse_args()
    counts = [] if options.no_time else [int(n) for n in options.threads.split(",")]
    import strata

    bin_folder = Path(strata.__file__).parents[2] / "bin"
    print(HEAD + "".join(f" {f'ms {n}T':>8} {'ORT':>8} {'ratio':>6}" for n in counts), flush=True)
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        # A light network's file lives for its turn only.
        paths = (p for m in options.models for p in (light_models(folder) if m == "light" else [Path(m)]))
        for path in paths:
            inputs = path.with_suffix(".npz")
            if not inputs.exists():
                inputs = folder / "inputs.npz"
                np.savez(inputs, **random_inputs(path))
            try:
                row, library = compare(path, inputs, bin_folder, folder)
            except Exception as error:
                print(f"{path.stem:26} FAILED: {str(error)[:300]}", flush=True)
                failed = True
                continue
            print(f"{path.stem:26} {row['weights'] / 1e6:8.1f} {row['compile']:8.1f} {row['peak'] / 1e6:8.0f} "
                  f"{row['peak'] / max(row['weights'], 1):5.2f} {row['jit']:8.1e} {row['so']:8.1e} {row['python']:8.1e}",
                  end="", flush=True)  # fmt: skip
            failed |= max(row["jit"], row["so"], row["python"]) > 1e-4
            for count in counts:
                ours, theirs, ratio = race(path, library, inputs, count, options.rounds, options.seconds)
                row[f"threads{count}"] = {"strata": ours, "onnxruntime": theirs, "ratio": ratio}
                print(f" {ours * 1e3:8.2f} {theirs * 1e3:8.2f} {ratio:6.2f}", end="", flush=True)
            print(flush=True)
            rows.append({"model": path.stem, **row})
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
