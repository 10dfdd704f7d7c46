"""The runtimes, each in a process of its own that takes commands: lines of JSON in, lines of JSON out."""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class OnnxRuntime:
    def __init__(self, model, feeds, threads, optimise=True):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        level = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = level.ORT_ENABLE_ALL if optimise else level.ORT_DISABLE_ALL
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        # Its fastest way from Python: inputs and outputs that are bound once.
        self.binding = self.session.io_binding()
        known = {value.name for value in self.session.get_inputs()}
        for name, array in feeds.items():
            if name in known:
                self.binding.bind_cpu_input(name, array)
        for value in self.session.get_outputs():
            self.binding.bind_output(value.name, "cpu")

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        return self.binding.copy_outputs_to_cpu()


class Evaluator:
    """ONNX's reference evaluator."""

    def __init__(self, model, feeds):
        from onnx.reference import ReferenceEvaluator

        self.evaluator, self.feeds = ReferenceEvaluator(model), feeds

    def run(self):
        self.results = self.evaluator.run(None, self.feeds)

    def outputs(self):
        return self.results


def reference(model, feeds, threads):
    """What all outputs are compared with. On machines whose vectors have no products of bytes ONNX Runtime's integer
    operators saturate sums of two products at 16 bits."""
    import onnx

    sys.path.append(str(Path(__file__).resolve().parents[1] / "test"))
    from support.peers import INTEGER_OPERATORS

    graph = onnx.load(model, load_external_data=False).graph
    if any(node.op_type in INTEGER_OPERATORS for node in graph.node):
        return Evaluator(model, feeds)
    # Threads that add to the same elements (ScatterND) lose sums at times.
    return OnnxRuntime(model, feeds, 1, optimise=False)


class OpenVino:
    """With its own precision: bf16 where the machine has instructions for it."""

    precision = None

    def __init__(self, model, feeds, threads):
        import openvino

        options = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
        if self.precision:
            options["INFERENCE_PRECISION_HINT"] = self.precision
        compiled = openvino.Core().compile_model(model, "CPU", options)
        self.request, self.feeds = compiled.create_infer_request(), feeds
        for port in compiled.inputs:
            array = next(feeds[name] for name in port.names if name in feeds)
            self.request.set_tensor(port, openvino.Tensor(array, shared_memory=True))
        self.count = len(compiled.outputs)

    def run(self):
        self.request.infer()

    def outputs(self):
        return [self.request.get_output_tensor(i).data.copy() for i in range(self.count)]


class OpenVinoF32(OpenVino):
    precision = "f32"


class Strata:
    """The shared library that strata-compile made."""

    def __init__(self, library, feeds, threads):
        import strata

        self.model = strata.load(library, threads=threads)
        self.arrays = [feeds[value.name] for value in self.model.inputs]

    def run(self):
        self.results = None  # as a bound output, which the next run overwrites
        self.results = self.model(*self.arrays)

    def outputs(self):
        return self.results


class StrataModel(Strata):
    """A model that the process compiles itself."""

    options = {}

    def __init__(self, model, feeds, threads):
        import strata

        self.model = strata.compile(model, threads=threads, **self.options)
        self.arrays = [feeds[value.name] for value in self.model.inputs]


class StrataBf16(StrataModel):
    options = {"precision": "bf16"}


RUNTIMES = {"reference": reference, "onnxruntime": OnnxRuntime, "openvino": OpenVinoF32,
            "openvino_default": OpenVino, "strata": Strata, "strata_model": StrataModel,
            "strata_bf16": StrataBf16}  # fmt: skip
# The peers of a precision: those that compute as exactly.
PEERS = {
    "f32": ("onnxruntime", "openvino"),
    "bf16": ("openvino_default",),
    "int8": ("onnxruntime", "openvino_default"),
}
NAMES = {"strata": "Strata", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO f32",
         "openvino_default": "OpenVINO default"}  # fmt: skip


def serve(name, threads):
    """The worker's side."""
    import numpy as np

    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the runtimes print
    if threads == 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    runtime = None
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        try:
            if command == "load":
                runtime = None
                base = _memory("VmRSS")
                model, inputs, outputs = arguments
                with np.load(inputs) as file:
                    feeds = {key: file[key] for key in file.files}
                start = time.perf_counter()
                runtime = RUNTIMES[name](model, feeds, threads)
                seconds = time.perf_counter() - start
                runtime.run()
                np.savez(outputs, *runtime.outputs())
                reply = seconds
            elif command == "memory":
                reply = _memory("VmHWM") - base
            else:
                reply = _times(runtime.run, *arguments)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(reply), file=replies)


def _memory(kind):
    """Bytes of this process."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(kind))


def _times(run, seconds):
    """Median of the runs of a slice of time, after one that is not timed."""
    run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Worker:
    def __init__(self, name, threads):
        self.name, self.threads, self.process = name, threads, None

    def ask(self, *command):
        if not self.process or self.process.poll() is not None:
            self.log = tempfile.TemporaryFile("w+")
            program = [sys.executable, __file__, self.name, str(self.threads)]
            self.process = subprocess.Popen(
                program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True
            )
        print(json.dumps(command), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if line:
            reply = json.loads(line)
            if not isinstance(reply, dict):
                return reply
            raise RuntimeError(reply["error"])
        self.log.seek(0)
        raise RuntimeError(f"the process of {NAMES.get(self.name, self.name)} ended: {self.log.read()[-300:].strip()}")

    def rest(self, limit=0.5):
        """Waits until none of its threads runs: a pool's spin for a while behind the work, on the next one's cores."""
        start, quiet = time.monotonic(), 0
        while quiet < 5 and time.monotonic() - start < limit:
            time.sleep(0.001)
            quiet = 0 if self._runs() else quiet + 1

    def _runs(self):
        for stat in Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):  # a thread that has ended
                if stat.read_text().rsplit(")", 1)[1].split()[0] == "R":
                    return True
        return False

    def close(self):
        if self.process:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
            self.process.wait()
            self.process = None


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
