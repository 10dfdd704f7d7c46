"""Compiles what bench/gpu/run.py tests and times, on a machine that needs no GPU.

    python bench/gpu/prepare.py -o gpu-bench [--target cuda:sm_90a] [MODEL.onnx ...]

The folder holds everything: shared objects with the kernels inside, inputs and expected outputs, the runtime, run.py.
Beside kernels of every family, products and attention by warpgroups it takes networks. Their inputs are those of MODEL.npz, else
drawn at random (symbolic dimensions are --dim NAME=SIZE, else 1); with MODEL.pt2 beside them, which
`bench/export_models.py --program` writes, run.py compares them with PyTorch, too. With --gpu-format=bitcode --small it is for the emulator.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))

from GPU.attentions import warpgroup_attentions  # noqa: E402
from GPU.families import FAMILIES, TOLERANCE, tolerance_of  # noqa: E402
from GPU.products import ERROR, warpgroup_products  # noqa: E402

TYPES = {"float": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


def model(op, shapes, result, dtype, attributes=None, nodes=None, constants=(), result_dtype=None):
    """One operator on inputs of these shapes; `nodes` in its place, as (operator, inputs, outputs, attributes)."""
    element = getattr(TensorProto, dtype.upper())
    result_element = getattr(TensorProto, (result_dtype or dtype).upper())
    nodes = nodes or [(op, list(shapes), ["y"], attributes or {})]
    graph = helper.make_graph(
        [helper.make_node(o, i, out, name=f"{o.lower()}_{n}", **a) for n, (o, i, out, a) in enumerate(nodes)], op,
        [helper.make_tensor_value_info(name, element, shape) for name, shape in shapes.items()],
        [helper.make_tensor_value_info("y", result_element, result)],
        [numpy_helper.from_array(value, name) for name, value in constants])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)


def timed(small):
    """(name, kind, element type, model, floating point operations, bytes read and written) of each timing. What a peer
    needs beside the inputs, it takes from the model's constants."""
    size = 64 if small else None
    for n in [size] if small else [4096, 8192]:
        for dtype in TYPES:
            yield f"matmul_{n}_{dtype}", "matmul", dtype, model("MatMul", {"a": [n, n], "b": [n, n]}, [n, n], dtype), 2 * n**3, None
        yield f"matmul_{n}_tf32", "matmul_tf32", "float", model("MatMul", {"a": [n, n], "b": [n, n]}, [n, n], "float"), 2 * n**3, None
        yield f"matmul_{n}_int8", "matmul_int8", "int8", model(
            "MatMulInteger", {"a": [n, n], "b": [n, n]}, [n, n], "int8", result_dtype="int32"
        ), 2 * n**3, None  # fmt: skip
    n, batch = (64, 2) if small else (1024, 64)
    for dtype in ("float16", "bfloat16"):
        # Many products, sizes that fill no tile, and what follows a product.
        yield f"matmul_batched_{dtype}", "matmul", dtype, model(
            "MatMul", {"a": [batch, n, n], "b": [batch, n, n]}, [batch, n, n], dtype
        ), 2 * batch * n**3, None  # fmt: skip
        rows, columns, depth = (72, 136, 72) if small else (4000, 4104, 4056)
        yield f"matmul_ragged_{dtype}", "matmul", dtype, model(
            "MatMul", {"a": [rows, depth], "b": [depth, columns]}, [rows, columns], dtype
        ), 2 * rows * columns * depth, None  # fmt: skip
        rows, columns, depth = (64, 64, 64) if small else (8192, 4096, 1024)
        nodes = [("Gemm", ["x", "w", "b"], ["p"], {"transB": 1}), ("Relu", ["p"], ["y"], {})]
        yield f"linear_{dtype}", "linear", dtype, model(
            "linear", {"x": [rows, depth], "w": [columns, depth], "b": [columns]}, [rows, columns], dtype, nodes=nodes
        ), 2 * rows * columns * depth, None  # fmt: skip
    for dtype in TYPES:
        # A layer of a residual network; its filter is known when it is compiled.
        batch, channels, side = (1, 64, 8) if small else (32, 256, 28)
        filters = np.random.default_rng(0).standard_normal((channels, channels, 3, 3)).astype(TYPES[dtype]) / 48
        shape = [batch, channels, side, side]
        nodes = [("Conv", ["x", "w"], ["y"], {"pads": [1, 1, 1, 1]})]
        flops = 2 * batch * side**2 * channels**2 * 9
        for suffix in ("", "_tf32") if dtype == "float" else ("",):
            yield f"convolution_{dtype}{suffix}", f"convolution{suffix}", dtype, model(
                "conv", {"x": shape}, shape, dtype, nodes=nodes, constants=[("w", filters.astype(TYPES[dtype]))]
            ), flops, None  # fmt: skip
    for dtype in TYPES:
        width = np.dtype(TYPES[dtype]).itemsize
        rows, columns = (8, 64) if small else (16384, 4096)
        moved = rows * columns * width
        yield f"softmax_{dtype}", "softmax", dtype, model("Softmax", {"x": [rows, columns]}, [rows, columns], dtype), None, 2 * moved
        yield f"layer_norm_{dtype}", "layer_norm", dtype, model(
            "LayerNormalization", {"x": [rows, columns], "scale": [columns], "bias": [columns]}, [rows, columns], dtype
        ), None, 2 * moved  # fmt: skip
        yield f"log_softmax_{dtype}", "log_softmax", dtype, model("LogSoftmax", {"x": [rows, columns]}, [rows, columns], dtype), None, 2 * moved
        yield f"rms_norm_{dtype}", "rms_norm", dtype, model(
            "RMSNormalization", {"x": [rows, columns], "scale": [columns]}, [rows, columns], dtype
        ), None, 2 * moved  # fmt: skip
        axes = [("axes", np.array([1]))]
        yield f"sum_{dtype}", "sum", dtype, model(
            "sum", {"x": [rows, columns]}, [rows, 1], dtype, nodes=[("ReduceSum", ["x", "axes"], ["y"], {})], constants=axes
        ), None, moved  # fmt: skip
        chain = [("Mul", ["x", "y0"], ["p"], {}), ("Add", ["p", "z"], ["q"], {}), ("Relu", ["q"], ["y"], {})]
        yield f"elementwise_{dtype}", "elementwise", dtype, model(
            "chain", {"x": [rows, columns], "y0": [rows, columns], "z": [rows, columns]}, [rows, columns], dtype, nodes=chain
        ), None, 4 * moved  # fmt: skip
        shape = [1, 2, 16, 16] if small else [8, 16, 2048, 64]
        flops = 4 * shape[0] * shape[1] * shape[2] ** 2 * shape[3]
        yield f"attention_{dtype}", "attention", dtype, model(
            "Attention", {"q": shape, "k": shape, "v": shape}, shape, dtype
        ), flops, None  # fmt: skip
        # Four heads share their keys; then the next token's query alone, which reads all keys and values once, of eight
        # sequences and of one: their keys are divided among blocks.
        for name, queries, kv in (("attention_grouped", shape[2], shape),
                                  ("attention_decode", 1, [1, 2, 640, 16] if small else shape),
                                  ("attention_decode_one", 1, [1, 1, 1100, 32] if small else [1, 8, 16384, 128])):  # fmt: skip
            q = [kv[0], 4 * kv[1], queries, kv[3]]
            moved = 2 * int(np.prod(kv)) * width if queries == 1 else None
            flops = None if moved else 4 * q[0] * q[1] * queries * kv[2] * kv[3]
            yield f"{name}_{dtype}", name, dtype, model("Attention", {"q": q, "k": kv, "v": kv}, q, dtype), flops, moved


class Folder:
    def __init__(self, path, arguments):
        self.path, self.arguments, self.futures = path, arguments, []
        self.pool = ThreadPoolExecutor(arguments.jobs)
        path.mkdir(parents=True, exist_ok=True)

    def compile(self, name, source, target, *options):
        """Whether the compiler takes it; else its reason is printed."""
        command = [ROOT / "build/dev/bin/strata-compile", source, f"--target={target}",
                   f"--gpu-format={self.arguments.gpu_format}", f"--mcpu={self.arguments.cpu}", *options, "-o", self.path / f"{name}.so"]  # fmt: skip
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        (self.path / f"{name}.h").unlink(missing_ok=True)
        print(f"{name}: {'compiled' if done.returncode == 0 else done.stderr.strip()}", flush=True)
        return done.returncode == 0

    def add(self, *arguments, **about):
        self.futures.append(self.pool.submit(self.prepare, *arguments, **about))

    def prepare(self, name, proto, inputs, expected=None, target=None, **about):
        """The model's entry in the index, or None if the compiler refuses it."""
        entry, source = None, self.path / f"{name}.onnx"
        onnx.save(proto, source)
        tf32 = about["kind"].endswith("tf32") or about["dtype"] == "tf32"
        if self.compile(name, source, target or self.arguments.target, *(["--precision=tf32"] if tf32 else [])):
            # NumPy's files know no bfloat16: bytes, with the type beside them.
            given = {f"i{i}": x for i, x in enumerate(inputs)}
            if about["kind"].startswith("convolution"):
                given["filters"] = numpy_helper.to_array(proto.graph.initializer[0])
                about["filters"] = {"dtype": str(given["filters"].dtype), "shape": list(given["filters"].shape)}
            arrays = {name: np.ascontiguousarray(x).view(np.uint8).reshape(-1) for name, x in given.items()}
            if expected is not None:
                arrays["expected"] = expected
            np.savez(self.path / f"{name}.npz", **arrays)
            described = [{"dtype": str(x.dtype), "shape": list(x.shape)} for x in inputs]
            entry = {"name": name, "inputs": described, **about}
        if about["kind"] != "network":
            source.unlink()
        return entry


def random_input(value, sizes):
    tensor = value.type.tensor_type
    shape = [d.dim_value or sizes.get(d.dim_param, 1) for d in tensor.shape.dim]
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    random = np.random.default_rng(0)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 2 if dtype == bool else 100, shape).astype(dtype)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("-o", dest="output", type=Path, required=True)
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--gpu-format", default="auto")
    parser.add_argument("--cpu", default="x86-64-v3", help="of the host that runs it (x86-64-v3)")
    parser.add_argument("--small", action="store_true", help="sizes for the emulator")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only what has this in its name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at once (one for each CPU)")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE")
    arguments = parser.parse_args()
    folder = Folder(arguments.output, arguments)
    for family, dtypes in FAMILIES.items():
        for dtype in dtypes:
            name = f"test_{family.__name__}_{dtype}"
            if re.search(arguments.filter, name):
                proto, inputs, want = family(dtype)
                want = want.astype(np.float64) if dtype in TOLERANCE else want
                folder.add(name, proto, inputs, expected=want, kind="test", family=family.__name__, dtype=dtype,
                           tolerance=float(tolerance_of(want, dtype)))  # fmt: skip
    for family, dtype, proto, inputs, want in chain(warpgroup_products(arguments.small), warpgroup_attentions()):
        name = f"test_{family}_{dtype}"
        if re.search(arguments.filter, name):
            # How copies round halves to tf32 is not specified.
            folder.add(name, proto, inputs, expected=want, kind="test", family=family, dtype=dtype,
                       tolerance=1e-3 if dtype == "tf32" else ERROR.get(dtype, 0))  # fmt: skip
    random = np.random.default_rng(0)
    for name, kind, dtype, proto, flops, moved in timed(arguments.small):
        if re.search(arguments.filter, name):
            shapes = [[d.dim_value for d in v.type.tensor_type.shape.dim] for v in proto.graph.input]
            if dtype == "int8":
                inputs = [random.integers(-128, 128, s, np.int8) for s in shapes]
            else:
                inputs = [random.standard_normal(s, dtype=np.float32).astype(TYPES[dtype]) for s in shapes]
            folder.add(name, proto, inputs, kind=kind, dtype=dtype, flops=flops, bytes=moved)
            by_warpgroups = kind.startswith("matmul") or (kind in ("attention", "attention_grouped") and dtype != "float")
            if by_warpgroups and arguments.target.endswith("sm_90a"):
                # The same by warps, for the ratio of the two.
                folder.add(f"{name}_warps", proto, inputs, target="cuda:sm_90", kind=kind, dtype=dtype, flops=flops,
                           bytes=moved)  # fmt: skip
    sizes = {name: int(size) for name, size in (text.split("=") for text in arguments.dim)}
    for path in arguments.models:
        proto = onnx.load(path)
        constants = {tensor.name for tensor in proto.graph.initializer}
        values = [value for value in proto.graph.input if value.name not in constants]
        given = np.load(path.with_suffix(".npz")) if path.with_suffix(".npz").exists() else {}
        inputs = [given[v.name] if v.name in given else random_input(v, sizes) for v in values]
        folder.add(path.stem, proto, inputs, kind="network", dtype="float", flops=None, bytes=None)
        if path.with_suffix(".pt2").exists():
            shutil.copy(path.with_suffix(".pt2"), folder.path)
    entries = [entry for entry in (future.result() for future in folder.futures) if entry]
    (folder.path / "index.json").write_text(json.dumps(entries, indent=1))
    shutil.copy(ROOT / "build/dev/lib/libstrata_runtime.so", folder.path)
    shutil.copy(Path(__file__).with_name("run.py"), folder.path)
    print(f"{len(entries)} models in {folder.path}")


if __name__ == "__main__":
    main()
