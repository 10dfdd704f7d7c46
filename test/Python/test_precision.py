"""precision="bf16": products of operands rounded to bf16, summed in f32; the rest, and everything by default, in f32."""

import ml_dtypes
import numpy as np

import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def has_tiles():
    with open("/proc/cpuinfo") as file:
        flags = file.read()
    return all(f" {name}" in flags for name in ("amx_tile", "amx_bf16", "avx512_bf16"))


needs_tiles = pytest.mark.skipif(not has_tiles(), reason="this CPU has no AMX")


def model(nodes, inputs, output, weights):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def rounded(array):
    return array.astype(ml_dtypes.bfloat16).astype(np.float64)


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def check(found, expected):
    # The products are exact; the sums are f32's in another order.
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


def product(m, k, n, symbolic=False):
    w, b = values(k, n) / np.sqrt(k).astype(np.float32), values(n, seed=1)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
    rows = "rows" if symbolic else m
    return model(nodes, {"x": [rows, k]}, [rows, n], {"w": w, "b": b}), w, b


# Whole tiles; one row; rows, lanes and pairs left over; an odd reduction; more than the cache holds.
SIZES = [(64, 64, 64), (1, 256, 1000), (49, 96, 40), (17, 100, 50), (7, 66, 16), (33, 35, 17), (300, 1024, 512)]


@needs_tiles
@pytest.mark.parametrize("m, k, n", SIZES)
def test_products(m, k, n):
    proto, w, b = product(m, k, n)
    x = values(m, k, seed=2)
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    check(y, rounded(x) @ rounded(w) + b)


@needs_tiles
def test_symbolic_rows():
    proto, w, b = product(0, 96, 40, symbolic=True)
    compiled = strata.compile(proto, precision="bf16")
    for rows in (1, 15, 16, 17, 40, 0, 300):
        x = values(rows, 96, seed=rows)
        [y] = compiled.run({"x": x})
        if rows:
            check(y, rounded(x) @ rounded(w) + b)


@needs_tiles
@pytest.mark.parametrize(
    "channels, size, filters, kernel, attributes",
    [
        (64, 14, 64, 3, {"pads": [1, 1, 1, 1]}),
        (3, 20, 16, 7, {"strides": [2, 2], "pads": [3, 3, 3, 3]}),
        (32, 7, 48, 3, {"pads": [1, 1, 1, 1]}),
        (40, 9, 24, 1, {"strides": [2, 2]}),
        (64, 12, 32, 1, {}),
        (32, 10, 64, 3, {"group": 2}),
        (16, 21, 16, 3, {"dilations": [2, 2]}),
    ],
)
def test_convolutions(channels, size, filters, kernel, attributes):
    w = values(filters, channels // attributes.get("group", 1), kernel, kernel)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], **attributes),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    b, x = values(filters, seed=1), values(2, channels, size, size, seed=2)
    proto = model(nodes, {"x": list(x.shape)}, [2, filters, None, None], {"w": w, "b": b})
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    exact = model(nodes, {"x": list(x.shape)}, [2, filters, None, None], {"w": rounded(w).astype(np.float32), "b": b})
    [expected] = ReferenceEvaluator(exact).run(None, {"x": rounded(x).astype(np.float32)})
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@needs_tiles
def test_only_products_are_rounded():
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"]),
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Transpose", ["x"], ["t"]),
        helper.make_node("MatMul", ["t", "square"], ["q"]),
        helper.make_node("Add", ["p", "q"], ["y"]),
    ]
    w, x = values(64, 64), values(64, 64, seed=1)
    proto = model(nodes, {"x": [64, 64]}, [64, 64], {"w": w})
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    exact = x.astype(np.float64)
    check(y, rounded(x) @ rounded(w) + exact.T @ (exact * exact))


def test_default_is_f32():
    proto, w, b = product(20, 64, 32)
    x = values(20, 64, seed=2)
    for options in ({}, {"precision": "f32"}):
        [y] = strata.compile(proto, **options).run({"x": x})
        check(y, x.astype(np.float64) @ w + b)


def test_refusals():
    proto, _, _ = product(4, 64, 32)
    with pytest.raises(strata.CompileError, match="precision is 'f32', 'bf16' or 'tf32', not 'f16'"):
        strata.compile(proto, precision="f16")
    with pytest.raises(strata.CompileError, match="needs a CPU with amx-bf16"):
        strata.compile(proto, precision="bf16", target="x86-64-v3")
    with pytest.raises(strata.CompileError, match="precision 'tf32' needs an NVIDIA GPU as the target"):
        strata.compile(proto, precision="tf32")
