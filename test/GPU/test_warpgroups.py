"""Products by warpgroups (wgmma) from bulk copies (TMA) on the emulated GPU, against NumPy."""

import re
import subprocess

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper
from support.combinations import every_other
from support.emulator import use_emulator
from support.library import BIN

from GPU.assembler import PTXAS, ptx, resources
from GPU.families import model, tensor, wide
from GPU.products import (
    CONVOLUTIONS,
    RAGGED,
    TILES,
    batched,
    check,
    convolution,
    factor,
    gemm,
    integers,
    operand,
    quantized_convolution,
    quantized_model,
    quantized_product,
)
from GPU.test_tensor_cores import INTEGERS

CHIP = "sm_90a"
HALVES = ["float16", "bfloat16"]


def precision(kind):
    return "tf32" if kind == "tf32" else "f32"


def compile_for_gpu(proto, kind=None):
    return strata.compile(proto, gpu=f"cuda:{CHIP}", gpu_format=use_emulator(), threads=1, precision=precision(kind))


def run(proto, inputs, kind=None):
    return compile_for_gpu(proto, kind).run(inputs)[0]


def products(proto, kind=None, chip=CHIP):
    """What of the tensor cores the kernels use."""
    text = ptx(proto, chip, f"--precision={precision(kind)}")
    return set(re.findall(r"wgmma\.mma_async[\w.]+|mma\.sync[\w.]+", text))


def uses_warpgroups(proto, kind=None):
    names = products(proto, kind)
    assert names, "no tensor cores"
    return all(name.startswith("wgmma") for name in names)


def tile(proto, kind=None):
    """(threads, columns) of the only kernel."""
    text = ptx(proto, CHIP, f"--precision={precision(kind)}")
    [columns] = {int(n) for n in re.findall(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)", text)}
    return int(re.search(r"maxntid (\d+)", text)[1]), columns


def emulated():
    if use_emulator() != "bitcode":
        pytest.skip("of the emulator alone")


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
@pytest.mark.parametrize("size", [(128, 128, 192), RAGGED], ids=["whole", "ragged"])
def test_gemm(kind, transposed, size):
    """Lines in shared memory are rows with their steps, or steps with their rows."""
    proto, inputs, want = gemm(kind, *size, int("a" in transposed), int("b" in transposed))
    assert uses_warpgroups(proto)
    check(run(proto, inputs), want, kind)


@pytest.mark.parametrize("kind, depth, transposed", [("float16", 32, ""), ("float16", 32, "b"), ("bfloat16", 24, ""),
                                                     ("bfloat16", 24, "b"), ("tf32", 16, "b")])  # fmt: skip
def test_short_reductions(kind, depth, transposed):
    """Lines of 64 bytes; of those that are steps, of which there are as few, 128."""
    proto, inputs, want = gemm(kind, 200, 136, depth, transposed_b=int(bool(transposed)))
    assert uses_warpgroups(proto, kind)
    check(run(proto, inputs, kind), want, kind)


def test_other_gpus_have_no_warpgroups():
    proto, _, _ = gemm("float16", 128, 128, 192)
    assert products(proto, chip="sm_90") == {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}


@pytest.mark.parametrize("size", [(128, 128, 96), RAGGED], ids=["whole", "ragged"])
def test_tf32(size):
    """Copies round; elements of 32 bits are not transposed: rows have their steps on both sides."""
    proto, inputs, want = gemm("tf32", *size, transposed_b=1)
    assert uses_warpgroups(proto, "tf32")
    check(run(proto, inputs, "tf32"), want, "tf32")
    assert not uses_warpgroups(gemm("tf32", *size)[0], "tf32")


def test_constants_of_tf32():
    """Constant matrices are brought in the order of the steps when the model is loaded."""
    x, w = operand("tf32", (130, 96)), operand("tf32", (96, 72), 1)
    proto = model([("MatMul", ["x", "w"], ["p"], {}), ("Relu", ["p"], ["r"], {})], {"x": ["n", 96]}, {"r": ["n", 72]},
                  "float", [("w", w)])  # fmt: skip
    assert uses_warpgroups(proto, "tf32")
    check(run(proto, [x], "tf32"), np.maximum(factor(x, "tf32") @ factor(w, "tf32"), 0), "tf32")


def test_what_many_rows_use_is_transposed():
    """Of tf32 and bytes, whose columns are neighbours; where it would be read less than a thousand times, it is not."""
    proto, inputs, want = gemm("tf32", 1024, 72, 96)
    assert uses_warpgroups(proto, "tf32")
    check(run(proto, inputs, "tf32"), want, "tf32")
    assert not uses_warpgroups(gemm("tf32", 1023, 72, 96)[0], "tf32")
    x, y = integers("int8", (1024, 128)), integers("int8", (128, 80))
    proto = quantized_model("MatMulInteger", x, [1024, 80], {}, ["y"])
    proto.graph.input.append(helper.make_tensor_value_info("y", TensorProto.INT8, [128, 80]))
    assert uses_warpgroups(proto)
    np.testing.assert_array_equal(run(proto, [x, y]), x.astype(np.int32) @ y.astype(np.int32))


@pytest.mark.parametrize("right", ["int8", "uint8"])
@pytest.mark.parametrize("left", ["int8", "uint8"])
@pytest.mark.parametrize("size", [(128, 128, 256), (200, 136, 336)], ids=["whole", "ragged"])
def test_bytes(left, right, size, tmp_path):
    m, n, k = size
    x, y = integers(left, (m, k)), integers(right, (n, k))
    extensions = {"int8": "extsi", "uint8": "extui"}
    text = INTEGERS.format(m=m, n=n, left=left, right=right, x=f"{m}x{k}", y=f"{n}x{k}", xs="i, k", ys="j, k",
                           ext_x=extensions[left], ext_y=extensions[right])  # fmt: skip
    (tmp_path / "m.mlir").write_text(text)
    command = [BIN / "strata-compile", "m.mlir", f"--target=cuda:{CHIP}", "--emit=kernels", "--gpu-format=ptx"]
    subprocess.run([*command, "-o", "m.ptx"], cwd=tmp_path, check=True)
    short = {"int8": "s8", "uint8": "u8"}
    assert f"k32.s32.{short[left]}.{short[right]} " in (tmp_path / "m.ptx").read_text()
    np.testing.assert_array_equal(run(tmp_path / "m.mlir", [x, y]), x.astype(np.int32) @ y.T.astype(np.int32))


@pytest.mark.parametrize("left, right", [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8")])
def test_products_of_quantized_operators(left, right):
    proto, inputs, want = quantized_product(left, right, 130, 80, 272)
    assert uses_warpgroups(proto)
    np.testing.assert_array_equal(run(proto, inputs), want)


@pytest.mark.parametrize("name", TILES)
def test_tiles(name):
    batch, rows, columns, shape = TILES[name]
    proto, inputs, want = batched("float16", batch, rows, columns, 64)
    assert uses_warpgroups(proto) and tile(proto) == shape
    check(run(proto, inputs), want, "float16")


@pytest.mark.parametrize("kind", HALVES)
def test_dynamic_sizes(kind):
    """Tensor maps are made when the sizes are known; however many rows there are, strides are multiples of 16 bytes."""
    proto = model([("MatMul", ["x", "y"], ["p"], {}), ("Add", ["p", "p"], ["r"], {})],
                  {"x": ["n", "m", 64], "y": ["n", 64, 136]}, {"r": ["n", "m", 136]}, kind)  # fmt: skip
    assert uses_warpgroups(proto)
    compiled = compile_for_gpu(proto)
    for batch, rows in [(2, 35), (1, 300), (3, 1), (2, 0)]:
        x, y = tensor(kind, (batch, rows, 64)), tensor(kind, (batch, 64, 136), 1)
        [got] = compiled.run([x, y])
        want = 2 * (factor(x, kind) @ factor(y, kind))
        check(got, want, kind) if rows else np.testing.assert_equal(got.shape, want.shape)


def test_rows_of_two_unknown_sizes():
    """They are one loop: short sequences share a tile."""
    nodes = [("MatMul", ["x", "w"], ["p"], {}), ("Add", ["p", "b"], ["q"], {}), ("Add", ["q", "z"], ["r"], {})]
    w, b = tensor("float16", (64, 128), 1), tensor("float16", (128,), 2)
    proto = model(nodes, {"x": ["n", "m", 64], "z": ["n", "m", 128]}, {"r": ["n", "m", 128]}, "float16",
                  [("w", w), ("b", b)])  # fmt: skip
    assert uses_warpgroups(proto) and "bulk.tensor.3d" not in ptx(proto, CHIP)
    compiled = compile_for_gpu(proto)
    for batch, rows in [(5, 33), (1, 200), (300, 1)]:
        x, z = tensor("float16", (batch, rows, 64), 3), tensor("float16", (batch, rows, 128), 4)
        check(compiled.run([x, z])[0], factor(x, "float16") @ factor(w, "float16") + wide(b) + wide(z), "float16")


def test_a_reduction_of_dynamic_length():
    proto = model([("Gemm", ["x", "y"], ["r"], {"transA": 1})], {"x": ["k", 64], "y": ["k", 72]}, {"r": [64, 72]},
                  "float16")  # fmt: skip
    assert uses_warpgroups(proto)
    compiled = compile_for_gpu(proto)
    for depth in (200, 64, 3, 0):
        x, y = tensor("float16", (depth, 64)), tensor("float16", (depth, 72), 1)
        [got], want = compiled.run([x, y]), factor(x, "float16").T @ factor(y, "float16")
        check(got, want, "float16") if depth else np.testing.assert_array_equal(got, want)


ON_WARPS = {
    "strides": ((64, 72), (72, 68)),
    "unknown strides": (("m", "k"), ("k", 128)),
    "short": ((128, 16), (16, 128)),
    "few rows": ((20, 128), (128, 256)),
}


@pytest.mark.parametrize("shapes", ON_WARPS.values(), ids=ON_WARPS)
def test_what_stays_on_warps(shapes):
    """Strides that are no multiples of 16 bytes, reductions that leave half of a stage empty, few rows."""
    x, y = shapes
    proto = model([("MatMul", ["x", "y"], ["r"], {})], {"x": list(x), "y": list(y)}, {"r": [x[0], y[1]]}, "float16")
    assert not uses_warpgroups(proto)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", HALVES)
def test_order_of_threads_and_copies(kind, seed, monkeypatch):
    """Copies arrive at any time, threads go on in any order; there are more stages to copy than places for them."""
    emulated()
    monkeypatch.setenv("STRATA_EMULATOR_ORDER", str(seed))
    proto, inputs, want = gemm(kind, 200, 136, 640, transposed_b=seed % 2)
    check(run(proto, inputs), want, kind)


def test_graphs_keep_tensor_maps():
    """A recorded kernel has the tensor maps of its buffers; with other inputs it is recorded again."""
    proto = model([("MatMul", ["x", "y"], ["p"], {}), ("MatMul", ["p", "y"], ["r"], {})],
                  {"x": ["n", 128], "y": [128, 128]}, {"r": ["n", 128]}, "float16")  # fmt: skip
    compiled = compile_for_gpu(proto)
    for rows in (96, 96, 96, 40, 96, 96):
        x, y = tensor("float16", (rows, 128), rows), tensor("float16", (128, 128), 1)
        y /= np.float16(8)
        first = (factor(x, "float16") @ factor(y, "float16")).astype(np.float16)
        check(compiled.run([x, y])[0], factor(first, "float16") @ factor(y, "float16"), "float16")


def test_a_tensor_that_cannot_be_described(monkeypatch):
    emulated()
    proto, inputs, _ = gemm("float16", 128, 128, 192)
    monkeypatch.setenv("STRATA_EMULATOR_FAIL", "tensor map")
    with pytest.raises(strata.RunError, match="gemm_0, relu_1: the driver cannot describe a tensor to its kernel"):
        run(proto, inputs)


# --- Convolutions: a tile's rows are a box of pixels


@every_other("kind, name", HALVES, CONVOLUTIONS)
def test_convolution(kind, name):
    proto, inputs, want = convolution(kind, *CONVOLUTIONS[name])
    assert uses_warpgroups(proto)
    check(run(proto, inputs), want, kind)


@pytest.mark.parametrize("name", ["strides", "pixels"])
def test_convolution_of_tf32(name):
    proto, inputs, want = convolution("tf32", *CONVOLUTIONS[name])
    assert uses_warpgroups(proto, "tf32")
    check(run(proto, inputs, "tf32"), want, "tf32")


def test_convolution_with_few_channels_stays_on_warps():
    """Most of a stage would be empty."""
    assert not uses_warpgroups(convolution("float16", 1, 3, (30, 30), 64, (7, 7))[0])


def test_convolution_of_unknown_length_stays_on_warps():
    """Whether pixels and the window overlap in memory, only the run tells."""
    x, w = tensor("float16", (2, 64, 90)), tensor("float16", (64, 64, 3), 1)
    proto = model([("Conv", ["x", "w"], ["r"], {})], {"x": [2, 64, "n"]}, {"r": [2, 64, "m"]}, "float16", [("w", w)])
    assert not uses_warpgroups(proto)
    windows = np.lib.stride_tricks.sliding_window_view(factor(x, "float16"), 3, 2)
    check(run(proto, [x]), np.einsum("ncxi,fci->nfx", windows, factor(w, "float16"), optimize=True), "float16")


def test_a_quantized_convolution():
    proto, inputs, want = quantized_convolution(2, 128, 72, 80)
    assert uses_warpgroups(proto)
    np.testing.assert_array_equal(run(proto, inputs), want)


@pytest.mark.parametrize("seed", range(2))
def test_order_in_a_convolution(seed, monkeypatch):
    emulated()
    monkeypatch.setenv("STRATA_EMULATOR_ORDER", str(seed))
    proto, inputs, want = convolution("float16", *CONVOLUTIONS["strides"])
    check(run(proto, inputs), want, "float16")


# --- The emulator sees what is broken


def run_changed(tmp_path, change, made=None):
    """A product whose kernel is changed on its way; it has more steps than stages, and several tiles a block."""
    emulated()
    proto, inputs, want = made or gemm("float16", 256, 256, 1024)
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    command = [BIN / "strata-compile", "m.onnx", f"--target=cuda:{CHIP}", "--compile-to=gpu", "-o", "m.mlir"]
    subprocess.run(command, cwd=tmp_path, check=True)
    text = (tmp_path / "m.mlir").read_text()
    changed = change(text)
    assert (changed == text) == (change is unchanged)
    (tmp_path / "m.mlir").write_text(changed)
    return run(tmp_path / "m.mlir", inputs), want


def unchanged(text):
    return text


def test_an_unchanged_kernel(tmp_path):
    got, want = run_changed(tmp_path, unchanged)
    check(got, want, "float16")


def without(pattern, count=0):
    return lambda text: re.sub(rf"(?m)^.*{pattern}.*\n", "", text, count=count)


def replaced(pattern, by, count=0):
    return lambda text: re.sub(pattern, by, text, count=count)


BROKEN = {
    "no fence of registers": without(r"nvvm\.wgmma\.fence"),
    "no fence of barriers": without(r"nvvm\.fence\.mbarrier\.init"),
    "no wait at the end": without(r"nvvm\.wgmma\.wait\.group\.sync\.aligned 0"),
    "too late a wait": replaced(r"(wgmma\.wait\.group\.sync\.aligned) 1", r"\1 2"),
    "no wait for the copies": without(r"nvvm\.mbarrier\.try_wait\.parity", 2),
    "a wait for the wrong phase": replaced(r"iter_args\((%\w+ = %c0_i32, %\w+ = %c)1_i32\)", r"iter_args(\g<1>0_i32)"),
    "another swizzle of the copies": replaced(r"%c3, %c2, %c2,", "%c2, %c2, %c2,"),
    "another swizzle of the products": replaced(str((1 << 62) | (64 << 32) | (1 << 16)),
                                                str((2 << 62) - (1 << 64) | (64 << 32) | (1 << 16))),
    "too small an alignment": replaced("alignment = 1024", "alignment = 512"),
    "fewer bytes expected": replaced(r"(%c)16384(_i32 = arith\.constant) 16384", r"\g<1>16384\2 8192"),
    "too little shared memory": replaced(r"(%c\d+_i32 = arith\.constant) 114800 ", r"\1 114688 "),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_shows(what, tmp_path):
    try:
        got, want = run_changed(tmp_path, BROKEN[what])
    except strata.RunError:
        return
    with pytest.raises(AssertionError, match="largest error"):
        check(got, want, "float16")


def test_a_missing_barrier_shows_in_some_order(tmp_path, monkeypatch):
    """Threads use the mbarriers before they are made."""
    failed = 0
    for seed in range(4):
        monkeypatch.setenv("STRATA_EMULATOR_ORDER", str(seed))
        try:
            run_changed(tmp_path, without(r"gpu\.barrier"))
        except strata.RunError:
            failed += 1
    assert failed


# --- The vendor's assembler


@pytest.mark.skipif(not PTXAS, reason="no ptxas")
@pytest.mark.parametrize("transposed", ["", "ab"])
@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("size", [(4096, 4096, 1024), (4096, 200, 1024), (1001, 1000, 1024), (256, 256, 1024), (64, 16384, 64)])
def test_registers(kind, size, transposed):
    proto = gemm(kind, *size, int("a" in transposed and size[0] % 8 == 0), int("b" in transposed))[0]
    [kernel] = resources(proto, CHIP)
    assert kernel["spilled"] == 0 and not kernel["serialized"], kernel
