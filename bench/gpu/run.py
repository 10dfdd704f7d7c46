"""Tests and times compiled models on a GPU: python run.py [FOLDER]  (made by prepare.py; the one of this file).

Needs Python, NumPy (and ml_dtypes for bfloat16) and NVIDIA's driver. Where torch with CUDA or ONNX Runtime with its
CUDA provider are installed, both sides take turns on inputs in the GPU's memory, every call is waited for, and a ratio
is the median of theirs over ours: above one, Strata is faster. --driver=FILE takes another driver, the emulator's.
"""

import argparse
import ctypes
import json
import os
import statistics
import sys
import time
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


def find_torch():
    try:
        import torch
    except ImportError:
        return None, "torch is not installed: nothing is compared with cuBLAS, torch or torch.compile"
    if not torch.cuda.is_available():
        return None, "torch has no CUDA device: nothing is compared with cuBLAS, torch or torch.compile"
    return torch, ""


def find_onnxruntime():
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
        "matmul_tf32": torch.matmul,
        "matmul_int8": torch._int_mm,
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
    }.get(kind)


def torch_network(torch, path, device="cuda"):
    """The network that an exporter has kept at `path`, on the device."""
    from torch.export.passes import move_to_device_pass

    return move_to_device_pass(torch.export.load(path), device).module()


def torch_peers(torch, folder, entry, inputs):
    """{name: function without arguments that ends when the GPU is done and gives the results}"""
    program = folder / f"{entry['name']}.pt2"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = entry["kind"].endswith("tf32")
    if entry["kind"] == "network":
        function = torch_network(torch, program) if program.exists() else None
        given = [torch.from_numpy(np.ascontiguousarray(x)).cuda() for x in inputs]
    else:
        function = torch_function(torch, entry["kind"])
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

    peers = {"torch": waited(function), "torch.compile": waited(torch.compile(function))}
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


def read(folder, entry):
    arrays = np.load(folder / f"{entry['name']}.npz")
    inputs = [arrays[f"i{i}"].view(dtype_of(d["dtype"])).reshape(d["shape"]) for i, d in enumerate(entry["inputs"])]
    return inputs, arrays["expected"] if "expected" in arrays else None


def test(runtime, folder, entries):
    """Prints the table of families and element types; how many are wrong."""
    dtypes = list(dict.fromkeys(entry["dtype"] for entry in entries))
    families = list(dict.fromkeys(entry["family"] for entry in entries))
    print("largest error against NumPy\n" + " " * 34 + "".join(f"{dtype:>9}" for dtype in dtypes))
    wrong = []
    for family in families:
        cells = dict.fromkeys(dtypes, ".")
        for entry in [e for e in entries if e["family"] == family]:
            inputs, want = read(folder, entry)
            try:
                session = Session(runtime, folder / f"{entry['name']}.so", on_device=False)
                results = session.run([tensor_of(x) for x in inputs])
                got = to_numpy(runtime, results[0])
                release(results)
                session.close()
            except RuntimeError as error:
                cells[entry["dtype"]] = "FAILED"
                wrong.append(f"{entry['name']}: {error}")
                continue
            if want.dtype.kind == "f":
                error = np.abs(got.astype(np.float64) - want).max() / max(1.0, np.abs(want).max())
            else:
                error = int((got != want.astype(got.dtype)).sum())
            right = error <= entry["tolerance"]
            cells[entry["dtype"]] = ("equal" if error == 0 else f"{error:.0e}") if right else "WRONG"
            if not right:
                wrong.append(f"{entry['name']}: largest error {error:.2e}")
        print(f"{family:34}" + "".join(f"{cell:>9}" for cell in cells.values()), flush=True)
    print(*wrong, sep="\n")
    return len(wrong)


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
    """Of the first result, beside PyTorch's."""
    want = (results[0] if isinstance(results, (tuple, list)) else results).cpu().numpy()
    session = Session(runtime, path, on_device=False)
    found = session.run([tensor_of(x) for x in inputs])
    error = np.abs(to_numpy(runtime, found[0]) - want).max() / max(1.0, np.abs(want).max())
    release(found)
    session.close()
    return f"error {error:.0e}"


def benchmark(runtime, driver, folder, entry, torch, onnxruntime, seconds):
    inputs, _ = read(folder, entry)
    addresses = [driver.upload(x) for x in inputs]
    on_device = [tensor_of(x, a.value, runtime.device) for x, a in zip(inputs, addresses)]
    session = Session(runtime, folder / f"{entry['name']}.so", on_device=True)
    functions = {"strata": lambda: release(session.run(on_device))}
    if torch:
        functions |= torch_peers(torch, folder, entry, inputs)
    if onnxruntime and entry["kind"] == "network":
        functions |= onnxruntime_peer(onnxruntime, folder / f"{entry['name']}.onnx", inputs)
    error = ""
    if entry["kind"] == "network" and "torch" in functions:
        error = network_error(runtime, folder / f"{entry['name']}.so", inputs, functions["torch"]())
    times = measure(functions, seconds)
    own = times.pop("strata")
    rate = f"{entry['flops'] / own / 1e12:8.1f} TFLOP/s" if entry["flops"] else f"{entry['bytes'] / own / 1e9:8.0f} GB/s" if entry["bytes"] else ""
    ratios = "  ".join(f"{name} {other / own:.2f}" for name, other in times.items())
    print(f"{entry['name']:28}{own * 1e3:11.3f} ms {rate or error:18} {ratios}", flush=True)
    session.close()
    for address in addresses:
        driver.free(address)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent)
    parser.add_argument("--driver", default=os.environ.get("STRATA_CUDA_DRIVER", "libcuda.so.1"), metavar="FILE")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--filter", default="", help="only what has this in its name")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each timing (2)")
    arguments = parser.parse_args()
    os.environ["STRATA_CUDA_DRIVER"] = arguments.driver
    entries = [e for e in json.loads((arguments.folder / "index.json").read_text()) if arguments.filter in e["name"]]
    driver = Driver(arguments.driver, arguments.device)
    runtime = Runtime(arguments.folder, arguments.device)
    print(f"device {arguments.device}: {driver.name}\n")
    wrong = test(runtime, arguments.folder, [e for e in entries if e["kind"] == "test"])
    torch, why_not = find_torch()
    onnxruntime, why_not_either = find_onnxruntime()
    print(*filter(None, ["", why_not, why_not_either]), sep="\n")
    print(f"\n{'median of calls':28}{'strata':>14} {'':18} their time / ours")
    failed = 0
    for entry in entries:
        if entry["kind"] == "test":
            continue
        try:
            benchmark(runtime, driver, arguments.folder, entry, torch, onnxruntime, arguments.seconds)
        except RuntimeError as error:
            failed += 1
            print(f"{entry['name']:28} FAILED: {error}", flush=True)
    print(f"{len(entries)} models, {wrong} wrong, {failed} failed")
    return 1 if wrong or failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
