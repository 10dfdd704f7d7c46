"""Products of few rows with matrices that the cache has no room for: parts of them are read side by side."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper


def product(rows, weights):
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])], "few",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, weights.shape[0]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, weights.shape[1]])],
        [numpy_helper.from_array(weights, "w")])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


# Parts of equal length or none; columns that fill no block.
@pytest.mark.parametrize("cpu, threads", [("", 1), ("", 2), ("sapphirerapids", 1)])
@pytest.mark.parametrize("depth, columns", [(1026, 700), (4096, 300), (516, 2001)])
@pytest.mark.parametrize("precision, tolerance", [("f32", 1e-5), ("f16", 1e-3)])
def test_products(monkeypatch, cpu, threads, depth, columns, precision, tolerance):
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    rng = np.random.default_rng(depth)
    weights = rng.standard_normal((depth, columns), np.float32)
    some = strata.compile(product("rows", weights), threads=threads, precision=precision)
    for rows in (1, 2, 3, 6):
        x = rng.standard_normal((rows, depth), np.float32)
        want = np.maximum(x.astype(np.float64) @ weights.astype(np.float64), 0)
        known = strata.compile(product(rows, weights), threads=threads, precision=precision)
        for compiled in known, some:
            [y] = compiled.run({"x": x})
            np.testing.assert_allclose(y, want, rtol=0, atol=tolerance * np.abs(want).max())


# Matrices that are given in each run and lie along the terms of the sums: from memory or not, in four equal parts or
# not, once or for each of a batch, read by so many rows that they are copied or not.
@pytest.mark.parametrize("cpu", ["", "sapphirerapids"])
@pytest.mark.parametrize(
    "shape", [(2048, 512), (2050, 512), (9001, 64), (301, 1500), (3, 1024, 300), (4, 40, 64), (1, 900, 640)]
)
def test_given_matrices(monkeypatch, cpu, shape):
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    rng = np.random.default_rng(shape[-1])
    matrix = rng.standard_normal(shape, np.float32)
    axes = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    for rows in (1, 4, 13, 40):
        x = rng.standard_normal((*shape[:-2], rows, shape[-1]), np.float32)
        graph = helper.make_graph(
            [helper.make_node("Transpose", ["w"], ["t"], perm=axes), helper.make_node("MatMul", ["x", "t"], ["p"]),
             helper.make_node("Relu", ["p"], ["y"])], "given",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape),
             helper.make_tensor_value_info("w", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, (*x.shape[:-1], shape[-2]))])  # fmt: skip
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        want = np.maximum(x.astype(np.float64) @ matrix.astype(np.float64).transpose(axes), 0)
        [y] = strata.compile(proto).run({"x": x, "w": matrix})
        np.testing.assert_allclose(y, want, rtol=0, atol=1e-5 * np.abs(want).max())
