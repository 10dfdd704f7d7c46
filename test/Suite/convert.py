"""Converts models of ONNX's backend suite to older opsets, and compares what another runtime computes of them.

    convert.py strata-translate [--every N] [--filter TEXT] [--opsets 20,17,12,10,7] [--verbose]

Every N-th case is converted to each of the opsets that is older than its own. A conversion is refused, with a located
message, or its result passes onnx's checker, has only operators of that opset, and gives the case's outputs in ONNX Runtime
(where that has the operators). The last line counts.
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy
import onnx
import onnxruntime
from cases import load_cases

onnxruntime.set_default_logger_severity(4)
warnings.simplefilter("ignore")


def differs(expected, actual, rtol, atol):
    if isinstance(expected, list) or expected is None:
        return True
    if isinstance(actual, list) or expected.shape != actual.shape:
        return True
    if expected.dtype.kind in "OSU" or actual.dtype.kind in "OSU":
        return expected.astype(str).tolist() != actual.astype(str).tolist()
    return not numpy.allclose(expected.astype(numpy.float64) if expected.dtype.kind not in "c" else expected,
                              actual.astype(numpy.float64) if actual.dtype.kind not in "c" else actual,
                              rtol=rtol, atol=atol, equal_nan=True)


def outputs_of(model, feeds):
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception as error:  # no kernel for this operator, version or type; or an invalid model
        return None, str(error)
    try:
        return session.run(None, feeds), ""
    except Exception as error:
        return None, "at run time: " + str(error)


def convert(tool, case, opset, folder):
    """('equal' | 'refused' | 'not run' | 'WRONG', explanation)"""
    source, path = (os.path.join(folder, f"{case.name}-{opset}-{end}.onnx") for end in ("from", "to"))
    original = case.model()
    with open(source, "wb") as file:
        file.write(original)
    done = subprocess.run([tool, "--export-onnx", f"--opset={opset}", source, "-o", path], capture_output=True, text=True)
    if done.returncode != 0:
        if done.returncode != 1 or "error: " not in done.stderr or os.path.exists(path):
            return "WRONG", f"exit code {done.returncode}: {done.stderr[-500:]}"
        return "refused", done.stderr.strip().splitlines()[0]
    model = onnx.load(path)
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:
        return "WRONG", f"checker: {error}"
    imports = {entry.domain: entry.version for entry in model.opset_import}
    if imports[""] != opset:
        return "WRONG", f"opset {imports['']}"
    inputs, expected = case.data_sets()[0]
    if not all(isinstance(value, numpy.ndarray) for value in (*inputs, *expected)):
        return "not run", "no plain tensors"
    feeds = {value.name: array for value, array in zip(model.graph.input, inputs)}
    actual, why = outputs_of(model, feeds)
    if actual is None:
        # Its own model may not run there either.
        before, _ = outputs_of(onnx.load_from_string(original), feeds)
        return ("not run", why) if before is None or "NOT_IMPLEMENTED" in why or "Unsupported" in why else ("WRONG", "does not run: " + why[:300])
    for i, (a, b) in enumerate(zip(expected, actual)):
        if differs(a, numpy.asarray(b), max(case.rtol, 1e-3), max(case.atol, 1e-5)):
            before, _ = outputs_of(onnx.load_from_string(original), feeds)
            if before is not None and not differs(numpy.asarray(before[i]), numpy.asarray(b), 1e-4, 1e-6):
                return "equal", "the runtime differs from the suite before and after"
            if before is None:
                return "not run", "the runtime does not run the case itself"
            return "WRONG", f"output {i}: {numpy.asarray(b).ravel()[:6]}, expected {a.ravel()[:6]}"
    return "equal", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--opsets", default="20,17,12,10,7")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    cases = [c for c in load_cases() if c.kind != "real" and args.filter in c.name]
    # Random numbers are compared nowhere.
    cases = [c for c in cases if not any(word in c.name for word in ("bernoulli", "training_dropout", "dropout_random"))]
    jobs = []
    for case in cases[:: args.every]:
        own = {e.domain: e.version for e in onnx.load_from_string(case.model()).opset_import}.get("", 0)
        jobs += [(case, opset) for opset in map(int, args.opsets.split(",")) if opset < own]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: convert(args.tool, *job, folder), jobs)
        for (case, opset), (kind, why) in zip(jobs, results):
            counts[kind] += 1
            if kind == "WRONG" or args.verbose:
                print(f"{kind}: {case.name} to {opset}: {why}", flush=True)
    print(", ".join(f"{counts[kind]} {kind}" for kind in ("equal", "refused", "not run", "WRONG")))
    sys.exit(counts["WRONG"] != 0 or not counts["equal"])


if __name__ == "__main__":
    main()
