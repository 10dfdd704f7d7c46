"""Kernels of every family and element type, executed by the emulated GPU, against NumPy."""

import math
import os

import numpy as np
import onnx.parser
import pytest
import strata
from support.emulator import use_emulator

from GPU.families import FAMILIES, TYPES, error_of, model, tensor, tolerance_of

CASES = [pytest.param(family, dtype, id=f"{family.__name__}-{dtype}")
         for family, dtypes in FAMILIES.items() for dtype in dtypes]  # fmt: skip


def compile_for_gpu(proto):
    return strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1)


def check(got, want, dtype):
    assert got.shape == want.shape
    error = error_of(got, want, dtype)
    assert error <= tolerance_of(want, dtype), f"largest error {error:.2e}"


@pytest.mark.parametrize("family, dtype", CASES)
def test_family(family, dtype):
    proto, inputs, want = family(dtype)
    [got] = compile_for_gpu(proto).run(inputs)
    check(got, want, dtype)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", ["sum_of_rows", "softmax", "matmul"])
def test_order_of_threads(family, seed, monkeypatch):
    """Threads that are ready run in another order: a missing barrier shows."""
    if "STRATA_CUDA_DRIVER" in os.environ and use_emulator() != "bitcode":
        pytest.skip("only the emulator can choose the order")
    monkeypatch.setenv("STRATA_EMULATOR_ORDER", str(seed))
    proto, inputs, want = next(f for f in FAMILIES if f.__name__ == family)("float")
    [got] = compile_for_gpu(proto).run(inputs)
    check(got, want, "float")


FUNCTIONS = {"Exp": np.exp, "Log": np.log, "Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Asin": np.arcsin,
             "Acos": np.arccos, "Atan": np.arctan, "Sinh": np.sinh, "Cosh": np.cosh, "Tanh": np.tanh, "Asinh": np.arcsinh,
             "Acosh": np.arccosh, "Atanh": np.arctanh, "Sqrt": np.sqrt, "Erf": np.vectorize(math.erf),
             "Floor": np.floor, "Ceil": np.ceil, "Round": np.rint, "Abs": np.abs}  # fmt: skip


@pytest.mark.parametrize("function", ["Exp", "Tanh", "Log", "Sin", "Atan", "Acosh", "Sinh"])
def test_functions_of_constants(function):
    """The same bits as of numbers that a run is given, in polynomials and in the library's functions."""
    c = (np.random.default_rng(1).uniform(0.05, 0.95, 12) + (function == "Acosh")).astype(np.float32)

    def compiled(inputs, outputs, constants, body):
        text = f'<ir_version: 10, opset_import: ["" : 22]> g ({inputs}) => ({outputs}) {constants} {{ {body} }}'
        return compile_for_gpu(onnx.parser.parse_model(text))

    [given] = compiled("float[12] x", "float[12] y", "", f"y = {function} (x)").run({"x": c})
    numbers = range(c.size)
    folded = compiled(
        "float[9] x",
        ", ".join(f"float[9] y{i}" for i in numbers),
        f"<{', '.join(f'float[1] c{i} = {{{c[i]:.9g}}}' for i in numbers)}>",
        " ".join(f"f{i} = {function} (c{i}) y{i} = Add (x, f{i})" for i in numbers),
    ).run({"x": np.zeros(9, np.float32)})
    np.testing.assert_array_equal([result[0] for result in folded], given)


@pytest.mark.parametrize("dtype", ["float", "double"])
def test_functions(dtype):
    """All in one model; none is left to the host, where it would be right as well."""
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 700.0, 1e-30, 1e30, 123456.78, np.inf, -np.inf, np.nan]
    x = np.concatenate([special, np.random.default_rng(0).standard_normal(500) * 3]).astype(TYPES[dtype])
    nodes = [(op, ["x"], [op], {}) for op in FUNCTIONS] + [("Pow", ["x", "y"], ["Pow"], {}),
                                                          ("Mod", ["x", "y"], ["Mod"], {"fmod": 1})]  # fmt: skip
    proto = model(nodes, {"x": [len(x)], "y": [len(x)]}, {out: [len(x)] for _, _, [out], _ in nodes}, dtype)
    y = np.roll(x, 7)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        want = [f(wide) for f in FUNCTIONS.values()] + [np.power(wide, y), np.fmod(wide, y)]
        want = [w.astype(x.dtype) for w in want]
    for (op, *_), got, value in zip(nodes, compile_for_gpu(proto).run([x, y]), want):
        np.testing.assert_allclose(got, value, rtol=3e-6 if dtype == "float" else 2e-13, atol=1e-30, err_msg=op)


def test_runs_and_sessions_are_independent():
    proto, inputs, _ = next(f for f in FAMILIES if f.__name__ == "dynamic")("float")
    first, second = compile_for_gpu(proto), compile_for_gpu(proto)
    for rows in (7, 1, 64):
        x, y = tensor("float", (rows, 19), rows), tensor("float", (rows, 1), rows + 1)
        for compiled in (first, second, first):
            np.testing.assert_array_equal(compiled.run([x, y])[0], x - y)


def test_empty_tensors():
    proto, _, _ = next(f for f in FAMILIES if f.__name__ == "dynamic")("float")
    assert compile_for_gpu(proto).run([np.zeros((0, 19), "f"), np.zeros((0, 1), "f")])[0].shape == (0, 19)


def test_random_numbers_are_the_cpu_ones():
    nodes = [("RandomUniformLike", ["x"], ["u"], {"seed": 3.0}), ("RandomNormalLike", ["x"], ["n"], {"seed": 4.0}),
             ("Add", ["u", "n"], ["r"], {})]  # fmt: skip
    proto = model(nodes, {"x": [40, 50]}, {"u": [40, 50], "r": [40, 50]}, "float")
    x = np.zeros((40, 50), "f")
    for on_gpu, on_cpu in zip(compile_for_gpu(proto).run([x]), strata.compile(proto).run([x])):
        np.testing.assert_array_equal(on_gpu, on_cpu)
