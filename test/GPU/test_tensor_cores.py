"""Products on tensor cores, and in tiles without them, on the emulated GPU, against NumPy."""

import re
import subprocess

import numpy as np
import pytest
import strata
from support.emulator import use_emulator
from support.library import BIN

from GPU.assembler import PTXAS, ptx, resources
from GPU.families import model, tensor, wide
from GPU.products import (
    KINDS,
    check,
    element,
    factor,
    gemm,
    integers,
    quantized_convolution,
    quantized_product,
)


def compile_for_gpu(proto, kind=None):
    precision = "tf32" if kind == "tf32" else "f32"
    return strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1, precision=precision)


def run(proto, inputs, kind=None):
    return compile_for_gpu(proto, kind).run(inputs)[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
@pytest.mark.parametrize("size", [(40, 72, 56), (37, 45, 51)], ids=["aligned", "odd"])
def test_gemm(kind, transposed, size):
    """Rows, columns and steps do not fill the tile, but in whole chunks, or in no way."""
    proto, inputs, want = gemm(kind, *size, int("a" in transposed), int("b" in transposed))
    check(run(proto, inputs, kind), want, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_large_tiles(kind):
    """There are as many blocks as the large tile wants; it has borders, and the whole tile none."""
    x, y = tensor(element(kind), (129, 70, 24)), tensor(element(kind), (129, 24, 72), 1)
    proto = model([("MatMul", ["x", "y"], ["r"], {})], {"x": [129, 70, 24], "y": [129, 24, 72]}, {"r": [129, 70, 72]},
                  element(kind))  # fmt: skip
    check(run(proto, [x, y], kind), factor(x, kind) @ factor(y, kind), kind)


TRANSPOSED = """
func.func @main(%x: tensor<129x24x129xf32> {strata.name = "x"}, %y: tensor<129x24x24xf32> {strata.name = "y"})
    -> (tensor<129x129x24xf32> {strata.name = "r"}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<129x129x24xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<129x129x24xf32>) -> tensor<129x129x24xf32>
  %r = linalg.batch_matmul_transpose_a ins(%x, %y : tensor<129x24x129xf32>, tensor<129x24x24xf32>)
      outs(%init : tensor<129x129x24xf32>) -> tensor<129x129x24xf32>
  return %r : tensor<129x129x24xf32>
}
"""


def test_lines_of_single_elements(tmp_path):
    """A line of 128 rows that are copied one by one, in a tile of few columns."""
    x, y = tensor("float", (129, 24, 129)), tensor("float", (129, 24, 24), 1)
    (tmp_path / "m.mlir").write_text(TRANSPOSED)
    check(run(tmp_path / "m.mlir", [x, y], "tf32"), factor(x, "tf32").transpose(0, 2, 1) @ factor(y, "tf32"), "tf32")


@pytest.mark.parametrize("kind", KINDS)
def test_dynamic_sizes(kind):
    x, y = tensor(element(kind), (2, 35, 32)), tensor(element(kind), (2, 32, 50), 1)
    proto = model([("MatMul", ["x", "y"], ["p"], {}), ("Add", ["p", "p"], ["r"], {})],
                  {"x": ["n", "m", 32], "y": ["n", 32, "k"]}, {"r": ["n", "m", "k"]}, element(kind))  # fmt: skip
    check(run(proto, [x, y], kind), 2 * (factor(x, kind) @ factor(y, kind)), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("channels", [3, 16, 32])
def test_convolution(kind, channels):
    """Strides, dilations and padding; a tile of steps is of one place of the window, of several, of parts."""
    x, w = tensor(element(kind), (2, channels, 11, 9)), tensor(element(kind), (24, channels, 3, 2), 1)
    bias = tensor(element(kind), (24,), 2)
    proto = model([("Conv", ["x", "w", "b"], ["r"], {"strides": [2, 1], "dilations": [1, 2], "pads": [1, 0, 1, 1]})],
                  {"x": [2, channels, 11, 9]}, {"r": [2, 24, 6, 8]}, element(kind), [("w", w), ("b", bias)])  # fmt: skip
    padded = np.pad(factor(x, kind), ((0, 0), (0, 0), (1, 1), (0, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, :, :, ::2]
    want = np.einsum("nchwij,fcij->nfhw", windows, factor(w, kind)) + wide(bias)[:, None, None]
    check(run(proto, [x], kind), want, kind)


INTEGERS = """
module attributes {{strata.model = "m"}} {{
  func.func @main(%x: tensor<{x}xi8> {{strata.name = "x", strata.dtype = "{left}"}},
                  %y: tensor<{y}xi8> {{strata.name = "y", strata.dtype = "{right}"}})
      -> (tensor<{m}x{n}xi32> {{strata.name = "r", strata.dtype = "int32"}}) {{
    %zero = arith.constant 0 : i32
    %empty = tensor.empty() : tensor<{m}x{n}xi32>
    %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<{m}x{n}xi32>) -> tensor<{m}x{n}xi32>
    %r = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> ({xs})>, affine_map<(i, j, k) -> ({ys})>,
                                          affine_map<(i, j, k) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}}
        ins(%x, %y : tensor<{x}xi8>, tensor<{y}xi8>) outs(%init : tensor<{m}x{n}xi32>) {{
    ^bb0(%a: i8, %b: i8, %c: i32):
      %p = arith.{ext_x} %a : i8 to i32
      %q = arith.{ext_y} %b : i8 to i32
      %t = arith.muli %p, %q : i32
      %s = arith.addi %c, %t : i32
      linalg.yield %s : i32
    }} -> tensor<{m}x{n}xi32>
    return %r : tensor<{m}x{n}xi32>
  }}
}}
"""


@pytest.mark.parametrize("left, right, size, transposed", [
    ("int8", "int8", (64, 64, 64), False), ("uint8", "uint8", (40, 48, 80), True), ("int8", "int8", (37, 45, 51), True),
    ("int8", "uint8", (37, 45, 51), False), ("uint8", "int8", (37, 45, 51), False)])  # fmt: skip
def test_bytes(left, right, size, transposed, tmp_path):
    m, n, k = size
    x, y = integers(left, (m, k)), integers(right, (n, k) if transposed else (k, n))
    text = INTEGERS.format(m=m, n=n, left=left, right=right, x="x".join(map(str, x.shape)),
                           y="x".join(map(str, y.shape)), xs="i, k", ys="j, k" if transposed else "k, j", ext_x="extsi" if left == "int8" else "extui",
                           ext_y="extsi" if right == "int8" else "extui")  # fmt: skip
    (tmp_path / "m.mlir").write_text(text)
    want = x.astype(np.int32) @ (y.T if transposed else y).astype(np.int32)
    np.testing.assert_array_equal(run(tmp_path / "m.mlir", [x, y]), want)


def instructions(proto, chip="sm_80", *options):
    """What of the tensor cores the kernels of a model use."""
    return set(re.findall(r"mma\.sync[\w.]+", ptx(proto, chip, *options)))


@pytest.mark.parametrize("left, right", [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8")])
@pytest.mark.parametrize("size", [(64, 80, 96), (37, 45, 51)], ids=["aligned", "odd"])
def test_products_of_quantized_operators(left, right, size):
    proto, inputs, want = quantized_product(left, right, *size)
    assert any("m16n8k32" in name for name in instructions(proto)), instructions(proto)
    np.testing.assert_array_equal(run(proto, inputs), want)


def test_a_quantized_convolution():
    proto, inputs, want = quantized_convolution(1, 32, 24, 40)
    assert any("u8.s8" in name for name in instructions(proto)), instructions(proto)
    np.testing.assert_array_equal(run(proto, inputs), want)


@pytest.mark.parametrize("kind", ["float", "float16"])
@pytest.mark.parametrize("transposed", ["", "ab"])
@pytest.mark.parametrize("size", [(40, 72, 56), (37, 45, 51)], ids=["aligned", "odd"])
def test_tiles_of_other_vendors(kind, size, transposed, tmp_path):
    """AMD's kernels copy by loads and stores: they are executed as kernels of the emulated GPU, which has those, too."""
    proto, inputs, want = gemm(kind, *size, int("a" in transposed), int("b" in transposed))
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    command = [BIN / "strata-compile", "m.onnx", "--target=rocm:gfx90a", "--compile-to=gpu", "-o", "m.mlir"]
    subprocess.run(command, cwd=tmp_path, check=True)
    text = (tmp_path / "m.mlir").read_text()
    assert "workgroup(" in text and "cp.async" not in text and "mma" not in text
    (tmp_path / "m.mlir").write_text(text.replace("gfx90a", "sm_80"))
    check(run(tmp_path / "m.mlir", inputs), want, kind)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["float16", "float", "tf32"])
def test_order_of_threads_and_copies(kind, seed, monkeypatch):
    """Threads go on in another order, and copies arrive early or late: a missing barrier or wait shows."""
    if use_emulator() != "bitcode":
        pytest.skip("only the emulator can choose the order")
    monkeypatch.setenv("STRATA_EMULATOR_ORDER", str(seed))
    proto, inputs, want = gemm(kind, 72, 80, 200)
    check(run(proto, inputs, kind), want, kind)


def test_tensor_cores_for_f32_only_where_asked_for():
    proto, _, _ = gemm("float", 64, 64, 64)
    assert instructions(proto) == set()
    assert instructions(proto, "sm_80", "--precision=tf32") == {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"}


@pytest.mark.skipif(not PTXAS, reason="no ptxas")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
@pytest.mark.parametrize("kind", KINDS)
def test_registers_of_large_tiles(kind, chip):
    options = ["--precision=tf32"] if kind == "tf32" else []
    [kernel] = resources(gemm(kind, 2048, 2048, 512)[0], chip, *options)
    assert kernel["spilled"] == 0 and kernel["shared"] <= 48 << 10, kernel
