"""Plans for other CPUs, with their instructions emulated, on this machine."""

import math
import os
import subprocess

import ml_dtypes
import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from support.library import BIN

INSTRUCTIONS = {
    ("sapphirerapids", "bf16"): "x86.tdpbf16ps",
    ("sapphirerapids", "integers"): "x86.tdpb",
    ("sapphirerapids", "int8"): "x86.tdpb",
    ("znver4", "bf16"): "x86.avx512bf16.dpbf16ps",
    ("znver4", "integers"): "x86.avx512.vpdpbusd",
    ("skylake-avx512", "integers"): "x86.avx512.pmaddw.d",
}


def model(nodes, inputs, result, weights):
    def value(name, array):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    graph = helper.make_graph(
        nodes, "g", [value(name, array) for name, array in inputs.items()],
        [helper.make_tensor_value_info("y", result, None)],
        [tensor if isinstance(tensor, TensorProto) else numpy_helper.from_array(tensor, name)
         for name, tensor in weights.items()])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def check_instructions(proto, folder, cpu, what, *options):
    """That code for the CPU itself has the instructions that are emulated."""
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    command = [BIN / "strata-compile", path, f"--mcpu={cpu}", "--emit=llvm", "-o", "-", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert INSTRUCTIONS[cpu, what] in done.stdout


# Whole tiles; rows, lanes and steps left over; several blocks of each.
SIZES = [(64, 64, 64), (49, 96, 40), (17, 100, 50), (130, 300, 200)]


@pytest.mark.parametrize("cpu", ["sapphirerapids", "znver4"])
@pytest.mark.parametrize("m, k, n", SIZES)
def test_halves(monkeypatch, tmp_path, cpu, m, k, n):
    rng = np.random.default_rng(m)
    x, w = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    proto = model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": x}, TensorProto.FLOAT, {"w": w})
    check_instructions(proto, tmp_path, cpu, "bf16", "--precision=bf16")
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    want = np.matmul(*(array.astype(ml_dtypes.bfloat16).astype(np.float64) for array in (x, w)))
    np.testing.assert_allclose(y, want, rtol=0, atol=2e-6 * np.abs(want).max())


@pytest.mark.parametrize("cpu", ["sapphirerapids", "znver4"])
@pytest.mark.parametrize("size, kernel, stride", [(13, 3, 2), (13, 1, 2), (9, 3, 1), (3, 1, 1)])
def test_images_of_a_symbolic_number(monkeypatch, cpu, size, kernel, stride):
    """Rows of a tile are pixels, however many images there are."""
    rng = np.random.default_rng(size)
    w = rng.standard_normal((40, 36, kernel, kernel), np.float32)
    attributes = {"strides": [stride] * 2, "pads": [kernel // 2] * 4}
    node = helper.make_node("Conv", ["x", "w"], ["y"], **attributes)
    proto = model([node], {"x": np.empty((1, 36, size, size), np.float32)}, TensorProto.FLOAT, {"w": w})
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    compiled = strata.compile(proto, precision="bf16")
    for count in (1, 3, 17):
        x = rng.standard_normal((count, 36, size, size), np.float32)
        exact = [array.astype(ml_dtypes.bfloat16).astype(np.float64) for array in (x, w)]
        [want] = ReferenceEvaluator(node).run(None, dict(zip("xw", exact)))
        np.testing.assert_allclose(compiled.run({"x": x})[0], want, rtol=0, atol=2e-6 * np.abs(want).max())


@pytest.mark.parametrize("cpu", ["sapphirerapids", "znver4", "skylake-avx512"])
@pytest.mark.parametrize("left", [np.uint8, np.int8])
@pytest.mark.parametrize("right", [np.uint8, np.int8])
@pytest.mark.parametrize("m, k, n", SIZES)
def test_integers(monkeypatch, tmp_path, cpu, left, right, m, k, n):
    """All signs, and numbers of all sizes: what saturated would be seen."""
    rng = np.random.default_rng(m)
    x, w = (rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
            for kind, shape in ((left, (m, k)), (right, (k, n))))  # fmt: skip
    proto = model([helper.make_node("MatMulInteger", ["x", "w"], ["y"])], {"x": x}, TensorProto.INT32, {"w": w})
    check_instructions(proto, tmp_path, cpu, "integers")
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    [y] = strata.compile(proto).run({"x": x})
    np.testing.assert_array_equal(y, x.astype(np.int64) @ w.astype(np.int64))


@pytest.mark.parametrize("bits, block, zero", [(4, 32, None), (4, 16, 8), (4, 128, 3), (4, 32, "each"), (8, 32, None),
                                               (8, 64, 128), (8, 256, 100), (8, 32, "each")])  # fmt: skip
def test_weights_of_few_bits(monkeypatch, tmp_path, bits, block, zero):
    """Rows that fill a tile of the matrix unit, that are left over, and that are too few, known and unknown; and so
    many that both operands become bf16, of small blocks."""
    rng = np.random.default_rng(bits)
    k, n, lowest = 768, 48, 0 if zero else -(1 << (bits - 1))
    codes = rng.integers(lowest, lowest + (1 << bits), (k // block, block, n))
    zeros = rng.integers(0, 1 << bits, (k // block, 1, n)) if zero == "each" else np.full((k // block, 1, n), zero or 0)
    scales = (0.5 + rng.random((k // block, 1, n))).astype(np.float32) / 16
    kind = {4: (TensorProto.INT4, TensorProto.UINT4), 8: (TensorProto.INT8, TensorProto.UINT8)}[bits][bool(zero)]
    tensor = lambda name, array: helper.make_tensor(name, kind, (array.size // n, n), array.ravel().tolist())
    weights = {"w": tensor("w", codes), "s": scales.reshape(-1, n)} | ({"z": tensor("z", zeros)} if zero else {})
    nodes = [helper.make_node("DequantizeLinear", list(weights), ["r"], axis=0, block_size=block),
             helper.make_node("MatMul", ["x", "r"], ["y"])]  # fmt: skip
    exact = ((codes - zeros) * scales.astype(np.float64)).reshape(k, n)
    halves = exact.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
    monkeypatch.setenv("STRATA_EMULATE_CPU", "sapphirerapids")
    for rows in (1, 5, 16, 33, 140, "m"):
        proto = model(nodes, {"x": np.empty((1, k), np.float32)}, TensorProto.FLOAT, weights)
        size = proto.graph.input[0].type.tensor_type.shape.dim[0]
        if rows == "m":
            size.dim_param = rows
            check_instructions(proto, tmp_path, "sapphirerapids", "int8", "--precision=int8")
        else:
            size.dim_value = rows
        become_halves = rows == 140 and block <= 32
        if become_halves:
            check_instructions(proto, tmp_path, "sapphirerapids", "bf16", "--precision=int8")
        compiled = strata.compile(proto, precision="int8")
        for m in (1, 4, 7, 16, 35) if rows == "m" else (rows,):
            x = rng.standard_normal((m, k), np.float32)
            if become_halves:
                want = x.astype(ml_dtypes.bfloat16).astype(np.float64) @ halves
                np.testing.assert_allclose(compiled.run({"x": x})[0], want, rtol=0, atol=2e-6 * np.abs(want).max())
                continue
            # Data are rounded to 127 steps of the largest of a block, or of a part of it.
            parts = x.reshape(m, -1, min(block, 128))
            largest = np.abs(parts).max(-1, keepdims=True)
            steps = np.rint(parts * (np.float32(127) / largest)) * (largest * np.float32(1 / 127)).astype(np.float64)
            want = steps.reshape(m, k) @ exact
            np.testing.assert_allclose(compiled.run({"x": x})[0], want, rtol=0, atol=3e-6 * np.abs(want).max())


def test_gelu(monkeypatch):
    """What is rounded to bf16 takes a shorter polynomial, off by less than a thirtieth of that rounding."""
    one = np.eye(64, dtype=np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Gelu", ["a"], ["b"]),
             helper.make_node("MatMul", ["b", "w"], ["y"])]  # fmt: skip
    x = np.concatenate([np.linspace(-12, 12, 64 * 60), [0, -0.0, 1e4, -1e4, 1e38, -1e38, 3e-39, np.inf],
                        np.logspace(-30, 3, 28), -np.logspace(-30, 3, 28)])  # fmt: skip
    x = x.astype(ml_dtypes.bfloat16).astype(np.float32).reshape(-1, 64)
    proto = model(nodes, {"x": x}, TensorProto.FLOAT, {"w": one})
    monkeypatch.setenv("STRATA_EMULATE_CPU", "sapphirerapids")
    finite = np.where(np.isinf(x), 0, x)
    [y] = strata.compile(proto, precision="bf16").run({"x": finite})
    want = np.vectorize(lambda x: x / 2 * math.erfc(-x / math.sqrt(2)))(finite.astype(np.float64))
    np.testing.assert_allclose(y, want, rtol=2**-8, atol=7e-5)


@pytest.mark.parametrize(
    "cpu, text", [("znver4", "runs in the process that compiles it"), ("z80", "unknown CPU 'z80'")]
)
def test_refusals(tmp_path, cpu, text):
    x = np.zeros((2, 2), np.float32)
    path = tmp_path / "model.onnx"
    path.write_bytes(model([helper.make_node("Neg", ["x"], ["y"])], {"x": x}, 1, {}).SerializeToString())
    done = subprocess.run([BIN / "strata-compile", path, "-o", tmp_path / "model.so"], capture_output=True, text=True,
                          env={**os.environ, "STRATA_EMULATE_CPU": cpu})  # fmt: skip
    assert done.returncode == 1 and text in done.stderr
    assert not (tmp_path / "model.so").exists()
