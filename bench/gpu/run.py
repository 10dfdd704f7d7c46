"""Tests and times compiled models on a GPU: python run.py [FOLDER]  (made by prepare.py; the one of this file).

Needs Python, NumPy (and ml_dtypes for bfloat16) and NVIDIA's driver. Where torch with CUDA or ONNX Runtime with its
CUDA provider are installed, both sides take turns on inputs in the GPU's memory, every call is waited for, and a ratio
is the median of theirs over ours: above one, Strata is faster. --driver=FILE takes another driver, the emulator's.

Models run in processes of their own: one whose kernel faults or does not end counts as failed, and the next one goes on.
"""

import argparse
import contextlib
import ctypes
import json
import os
import queue
import re
import select
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

CODES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
         "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16}  # fmt: skip
NAMES = {code: name for name, code in CODES.items()}


def dtype_of(name):
    if name != "bfloat16":
        return np.dtype(name)
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


# --- The runtime (Runtime/strata.h)


class Tensor(ctypes.Structure):
    pass


Tensor._fields_ = [
    ("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
    ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Tensor))), ("owner", ctypes.c_void_p),
    ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
]  # fmt: skip


class SessionOptions(ctypes.Structure):
    _fields_ = [("threads", ctypes.c_int32), ("has_seed", ctypes.c_int32), ("seed", ctypes.c_uint64),
                ("memory_limit", ctypes.c_uint64), ("profile", ctypes.c_int32), ("advance_seeds", ctypes.c_int32),
                ("has_device", ctypes.c_int32), ("device", ctypes.c_int32), ("device_results", ctypes.c_int32)]  # fmt: skip


class Runtime:
    def __init__(self, folder, device):
        self.device = device
        self.library = ctypes.CDLL(str(folder / "libstrata_runtime.so"), ctypes.RTLD_GLOBAL)
        self.library.strata_last_error.restype = ctypes.c_char_p
        self.library.strata_model_num_outputs.restype = ctypes.c_size_t
        self.library.strata_model_num_outputs.argtypes = [ctypes.c_void_p]

    def check(self, failed):
        if failed:
            raise RuntimeError(self.library.strata_last_error().decode())


class Session:
    """A model with its session; results stay on the GPU where `on_device`."""

    def __init__(self, runtime, path, on_device):
        self.runtime, library = runtime, runtime.library
        self.model, self.session = ctypes.c_void_p(), ctypes.c_void_p()
        runtime.check(library.strata_model_load(str(path).encode(), ctypes.byref(self.model)))
        options = SessionOptions(threads=0, has_device=1, device=runtime.device, device_results=on_device)
        runtime.check(library.strata_session_create(self.model, ctypes.byref(options), ctypes.byref(self.session)))
        self.outputs = library.strata_model_num_outputs(self.model)

    def run(self, inputs):
        """The results as tensors; whoever calls releases them."""
        array, results = (Tensor * max(1, len(inputs)))(*inputs), (Tensor * self.outputs)()
        library = self.runtime.library
        self.runtime.check(library.strata_session_run(
            self.session, array, ctypes.c_size_t(len(inputs)), results, ctypes.c_size_t(self.outputs)))  # fmt: skip
        return results

    def close(self):
        self.runtime.library.strata_session_free(self.session)
        self.runtime.library.strata_model_free(self.model)


def release(results):
    for result in results:
        result.release(ctypes.byref(result))


def tensor_of(array, address=None, device=0):
    shape = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
    return Tensor(data=address or array.ctypes.data, dtype=CODES[str(array.dtype)], rank=array.ndim, shape=shape,
                  device_type=2 if address else 1, device_id=device)  # fmt: skip


def to_numpy(runtime, result):
    shape = [result.shape[i] for i in range(result.rank)]
    array = np.empty(shape, dtype_of(NAMES[result.dtype]))
    runtime.check(runtime.library.strata_result_read(ctypes.byref(result), ctypes.c_void_p(array.ctypes.data)))
    return array


class Driver:
    """CUDA's driver, to bring inputs to the GPU's memory and to ask for its name."""

    def __init__(self, name, device):
        self.cuda = ctypes.CDLL(name)
        context, handle = ctypes.c_void_p(), ctypes.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(handle), device)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
        self.call("cuCtxSetCurrent", context)
        text = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", text, 128, handle)
        self.name = text.value.decode()

    def call(self, name, *arguments):
        if code := getattr(self.cuda, name)(*arguments):
            raise RuntimeError(f"{name} failed with CUDA's error {code}")

    def upload(self, array):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, array.nbytes)))
        self.call("cuMemcpyHtoDAsync_v2", address, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), None)
        self.call("cuStreamSynchronize", None)
        return address

    def free(self, address):
        self.call("cuMemFree_v2", address)


# --- What we are compared with


def find_torch(peers):
    if "torch" not in peers:
        return None, ""
    try:
        import torch
    except ImportError:
        return None, "torch is not installed: nothing is compared with cuBLAS, torch or torch.compile"
    if not torch.cuda.is_available():
        return None, "torch has no CUDA device: nothing is compared with cuBLAS, torch or torch.compile"
    return torch, ""


def find_onnxruntime(peers):
    if "onnxruntime" not in peers:
        return None, ""
    try:
        import onnxruntime
    except ImportError:
        return None, "ONNX Runtime is not installed: networks are not compared with it"
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        return None, "ONNX Runtime has no CUDA provider: networks are not compared with it"
    return onnxruntime, ""


def torch_function(torch, kind):
    functional = torch.nn.functional
    grouped = lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)  # noqa: E731
    return {
        "matmul": torch.matmul,
        "matmul_int8": torch._int_mm,
        "convolution": lambda x, w: functional.conv2d(x, w, padding=1),
        "linear": lambda x, w, b: torch.relu(functional.linear(x, w, b)),
        "softmax": lambda x: torch.softmax(x, -1),
        "log_softmax": lambda x: torch.log_softmax(x, -1),
        "rms_norm": lambda x, s: functional.rms_norm(x, x.shape[-1:], s, 1e-5),
        "sum": lambda x: x.sum(-1, keepdim=True),
        "layer_norm": lambda x, s, b: functional.layer_norm(x, x.shape[-1:], s, b),
        "elementwise": lambda x, y, z: torch.relu(x * y + z),
        "attention": functional.scaled_dot_product_attention,
        "attention_grouped": grouped,
        "attention_decode": grouped,
        "attention_decode_one": grouped,
    }.get(kind.removesuffix("_tf32"))


def torch_network(torch, path, device="cuda"):
    """The network that an exporter has kept at `path`, on the device."""
    from torch.export.passes import move_to_device_pass

    return move_to_device_pass(torch.export.load(path), device).module()


def torch_peers(torch, folder, entry, inputs, wanted):
    """{name: function without arguments that ends when the GPU is done and gives the results}"""
    program = folder / f"{entry['name']}.pt2"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = entry["kind"].endswith("tf32")
    if entry["kind"] == "network":
        function = torch_network(torch, program) if program.exists() else None
        given = [torch.from_numpy(np.ascontiguousarray(x)).cuda() for x in inputs]
    else:
        function = torch_function(torch, entry["kind"])
        if "filters" in entry:
            arrays = np.load(folder / f"{entry['name']}.npz")
            inputs = [*inputs, stored(arrays, "filters", entry["filters"])]
        kind = {"float16": torch.float16, "bfloat16": torch.bfloat16, "int8": torch.int8}.get(entry["dtype"], torch.float32)
        given = [torch.from_numpy(np.ascontiguousarray(x).astype(np.float32)).cuda().to(kind) for x in inputs]
    if not function:
        return {}

    def waited(f):
        def run():
            with torch.no_grad():
                results = f(*given)
            torch.cuda.synchronize()
            return results

        return run

    peers = {"torch": waited(function)}
    if "torch.compile" in wanted:
        peers["torch.compile"] = waited(torch.compile(function))
    if entry["kind"] == "elementwise":
        peers["copy"] = waited(lambda x, *_: x.clone())
    return peers


def onnxruntime_peer(onnxruntime, path, inputs):
    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(str(path), providers=["CUDAExecutionProvider"])
    binding = session.io_binding()
    for value, array in zip(session.get_inputs(), inputs):
        binding.bind_ortvalue_input(value.name, onnxruntime.OrtValue.ortvalue_from_numpy(array, "cuda", 0))
    for value in session.get_outputs():
        binding.bind_output(value.name, "cuda")

    def run():
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()

    return {"onnxruntime": run}


# --- Tests and timings


def stored(arrays, name, described):
    return arrays[name].view(dtype_of(described["dtype"])).reshape(described["shape"])


def read(folder, entry):
    arrays = np.load(folder / f"{entry['name']}.npz")
    inputs = [stored(arrays, f"i{i}", described) for i, described in enumerate(entry["inputs"])]
    return inputs, arrays["expected"] if "expected" in arrays else None


def test(runtime, folder, entry):
    """The largest error, and whether it is too large."""
    inputs, want = read(folder, entry)
    session = Session(runtime, folder / f"{entry['name']}.so", on_device=False)
    results = session.run([tensor_of(x) for x in inputs])
    got = to_numpy(runtime, results[0])
    release(results)
    session.close()
    if want.dtype.kind == "f":
        error = float(np.abs(got.astype(np.float64) - want).max() / max(1.0, np.abs(want).max()))
    else:
        error = int((got != want.astype(got.dtype)).sum())
    return {"error": error, "wrong": not error <= entry["tolerance"]}


def measure(functions, seconds):
    """Median seconds of each, taking turns."""
    for function in functions.values():
        for _ in range(3):
            function()
    times, end = {name: [] for name in functions}, time.perf_counter() + seconds
    while time.perf_counter() < end or not all(len(t) >= 5 for t in times.values()):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def network_error(runtime, path, inputs, results):
    """Of the first result, beside PyTorch's, over its largest element."""
    want = (results[0] if isinstance(results, (tuple, list)) else results).cpu().numpy()
    session = Session(runtime, path, on_device=False)
    found = session.run([tensor_of(x) for x in inputs])
    error = np.abs(to_numpy(runtime, found[0]) - want).max() / (np.abs(want).max() or 1.0)
    release(found)
    session.close()
    return f"error {error:.0e}"


def benchmark(runtime, driver, folder, entry, peers, seconds):
    """The line of the table."""
    inputs, _ = read(folder, entry)
    addresses = [driver.upload(x) for x in inputs]
    on_device = [tensor_of(x, a.value, runtime.device) for x, a in zip(inputs, addresses)]
    session = Session(runtime, folder / f"{entry['name']}.so", on_device=True)
    functions = {"strata": lambda: release(session.run(on_device))}
    if torch := find_torch(peers)[0]:
        functions |= torch_peers(torch, folder, entry, inputs, peers)
    if entry["kind"] == "network" and (onnxruntime := find_onnxruntime(peers)[0]):
        functions |= onnxruntime_peer(onnxruntime, folder / f"{entry['name']}.onnx", inputs)
    error = ""
    if entry["kind"] == "network" and "torch" in functions:
        error = network_error(runtime, folder / f"{entry['name']}.so", inputs, functions["torch"]())
    times = measure(functions, seconds)
    own = times.pop("strata")
    rate = ""
    if entry["flops"]:
        rate = f"{entry['flops'] / own / 1e12:8.1f} TFLOP/s"
    elif entry["bytes"]:
        rate = f"{entry['bytes'] / own / 1e9:8.0f} GB/s"
    ratios = "  ".join(f"{name} {other / own:.2f}" for name, other in times.items())
    session.close()
    for address in addresses:
        driver.free(address)
    return {"line": f"{entry['name']:34}{own * 1e3:11.3f} ms {rate or error:18} {ratios}"}


# --- Processes


def work(arguments):
    """What a child does: for each name on standard input it writes what is found as a line of JSON."""
    entries = {entry["name"]: entry for entry in json.loads((arguments.folder / "index.json").read_text())}
    answers, sys.stdout = sys.stdout, sys.stderr
    driver, runtime = Driver(arguments.driver, arguments.device), Runtime(arguments.folder, arguments.device)
    for name in map(str.strip, sys.stdin):
        try:
            if entries[name]["kind"] == "test":
                answer = test(runtime, arguments.folder, entries[name])
            else:
                answer = benchmark(runtime, driver, arguments.folder, entries[name], arguments.peers, arguments.seconds)
        except Exception as error:  # of PyTorch's, too
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


class Child:
    """A process that works, anew after each failure: a fault leaves CUDA's context unusable."""

    def __init__(self, arguments):
        self.limit, self.process = arguments.limit, None
        self.command = [sys.executable, __file__, *sys.argv[1:], "--work"]

    def ask(self, entry):
        if not self.process:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with contextlib.suppress(BrokenPipeError):  # it has ended, which its answer says
            self.process.stdin.write(entry["name"] + "\n")
            self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], self.limit)[0]:
            answer = {"failed": f"it did not end within {self.limit:g} seconds"}
        else:
            line = self.process.stdout.readline()
            answer = json.loads(line) if line else {"failed": f"the process ended with status {self.process.wait()}"}
        if "failed" in answer:
            self.close()
        return answer

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def answers_of(entries, arguments, jobs):
    """What children find of each entry, in the order of entries."""
    children = queue.SimpleQueue()
    for _ in range(jobs):
        children.put(Child(arguments))

    def ask(entry):
        child = children.get()
        try:
            return child.ask(entry)
        finally:
            children.put(child)

    with ThreadPoolExecutor(jobs) as pool:
        yield from zip(entries, pool.map(ask, entries))
    for _ in range(jobs):
        children.get().close()


def print_tests(entries, arguments):
    """The table of families and element types; how many are wrong."""
    dtypes = list(dict.fromkeys(entry["dtype"] for entry in entries))
    families = list(dict.fromkeys(entry["family"] for entry in entries))
    cells, wrong = {}, []
    for entry, answer in answers_of(entries, arguments, arguments.jobs):
        if "failed" in answer:
            text = "FAILED"
            wrong.append(f"{entry['name']}: {answer['failed']}")
        else:
            text = "WRONG" if answer["wrong"] else "equal" if answer["error"] == 0 else f"{answer['error']:.0e}"
            if answer["wrong"]:
                wrong.append(f"{entry['name']}: largest error {answer['error']:.2e}, allowed {entry['tolerance']:.2e}")
        cells[entry["family"], entry["dtype"]] = text
    print("largest error against NumPy\n" + " " * 34 + "".join(f"{dtype:>9}" for dtype in dtypes))
    for family in families:
        print(f"{family:34}" + "".join(f"{cells.get((family, dtype), '.'):>9}" for dtype in dtypes))
    print(*wrong, sep="\n", flush=True)
    return len(wrong)


def print_timings(entries, arguments):
    """A line of each; how many failed."""
    print(*filter(None, ["", find_torch(arguments.peers)[1], find_onnxruntime(arguments.peers)[1]]), sep="\n")
    print(f"\n{'median of calls':34}{'strata':>14} {'':18} their time / ours")
    failed = 0
    for entry, answer in answers_of(entries, arguments, 1):
        failed += "failed" in answer
        print(answer.get("line") or f"{entry['name']:34} FAILED: {answer['failed']}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent)
    parser.add_argument("--driver", default=os.environ.get("STRATA_CUDA_DRIVER", "libcuda.so.1"), metavar="FILE")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--filter", default="", metavar="REGEX", help="only what has this in its name")
    parser.add_argument("--peers", default="torch,torch.compile,onnxruntime", help="divided by commas (%(default)s)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each timing (2)")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds that a model may take (120)")
    parser.add_argument("--jobs", type=int, default=4, help="processes that test at once (4)")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ["STRATA_CUDA_DRIVER"] = arguments.driver
    if arguments.work:
        return work(arguments)
    index = arguments.folder / "index.json"
    if not index.exists():
        parser.error(f"there is no {index}: prepare.py makes such folders")
    entries = [e for e in json.loads(index.read_text()) if re.search(arguments.filter, e["name"])]
    try:
        driver = Driver(arguments.driver, arguments.device)
    except (OSError, RuntimeError) as error:
        parser.error(f"no GPU by the driver {arguments.driver}: {error}")
    print(f"device {arguments.device}: {driver.name}\n", flush=True)
    tests, timings = [e for e in entries if e["kind"] == "test"], [e for e in entries if e["kind"] != "test"]
    wrong = print_tests(tests, arguments) if tests else 0
    failed = print_timings(timings, arguments) if timings else 0
    print(f"{len(entries)} models, {wrong} wrong, {failed} failed")
    return 1 if wrong or failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
