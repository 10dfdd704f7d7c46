"""Reductions over outer and middle dimensions of tensors that no cache holds, at sizes that leave rests, against NumPy in
double precision."""

import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FUNCTIONS = {"ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape, axis, dynamic", [((4096, 1024), 0, ()), ((1003, 777), 0, ()), ((2, 515, 2050), 1, ()),
                                                  ((700, 1030), 0, (0,)), ((32, 196, 768), 1, ()), ((130, 70, 64), 0, (0, 1))])  # fmt: skip
def test_outer(shape, axis, dynamic, threads):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    nodes = [helper.make_node(name, ["x", "axes"], [name], keepdims=0) for name in FUNCTIONS]
    dims = [f"d{i}" if i in dynamic else size for i, size in enumerate(shape)]
    graph = helper.make_graph(
        nodes, "reductions", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in FUNCTIONS],
        [numpy_helper.from_array(np.array([axis]), "axes")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    for function, y in zip(FUNCTIONS.values(), strata.compile(model, threads=threads).run({"x": x})):
        np.testing.assert_allclose(y, function(x.astype(np.float64), axis=axis), rtol=1e-5, atol=2e-4)


@pytest.mark.parametrize("type", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("length", [5, 16, 32, 100])
@pytest.mark.parametrize("op, function", [("ReduceMax", np.max), ("ReduceMin", np.min)])
def test_a_nan_anywhere_in_a_row(op, function, length, type):
    """In each lane of a row, alone and beside infinities; rows of these, and of one number, too."""
    x = np.random.default_rng(0).standard_normal((2 * length + 3, length)).astype(type)
    for i in range(length):
        x[i, i] = x[length + i, i] = np.nan
        x[length + i, (i + 1) % length] = np.inf * (-1) ** i
    x[-3], x[-2], x[-1] = np.inf, -np.inf, -7
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "axes"], ["y"], keepdims=0)],
        "g",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(np.array([1]), "axes")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    np.testing.assert_array_equal(strata.compile(proto).run([x])[0], function(x, axis=1))


@pytest.mark.parametrize("dtype", ["float", "double", "int32", "int64"])
@pytest.mark.parametrize("size", [7, 14, 30, 47, 100])
def test_rows_that_fill_no_vectors(size, dtype):
    """What is left of a row behind its full vectors, of known and of unknown size, with NaN and infinities in it."""
    rng = np.random.default_rng(size)
    kind = np.dtype({"float": "f4", "double": "f8"}.get(dtype, dtype))
    x = rng.integers(-50, 50, (9, size)).astype(kind)
    if kind.kind == "f":
        x = (x / 16).astype(kind)
        x[1, -1], x[2, -1], x[3, 0], x[4, -2] = np.nan, np.inf, -np.inf, -np.inf
    for operator in ("Sum", "Max", "Min", "Prod", "L1", "SumSquare", "LogSumExp", "Mean"):
        if kind.kind == "i" and operator in ("LogSumExp", "Mean"):
            continue
        data = np.where(x > 1, 1, x).astype(kind) if operator == "Prod" else x
        for shape in (f"[9, {size}]", "[n, m]"):
            text = f"g ({dtype}{shape} x) => ({dtype}[k] y) <int64[1] axes = {{1}}> {{ y = Reduce{operator}<keepdims=0>(x, axes) }}"
            proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]>\n{text}')
            with np.errstate(all="ignore"):
                (expected,) = ReferenceEvaluator(proto).run(None, {"x": data})
            np.testing.assert_allclose(strata.compile(proto, threads=1).run([data])[0], expected, rtol=1e-5, atol=1e-5)


def test_long_sums():
    """Of equal terms, as dead channels have them, a growing sum is rounded to the same side each time."""
    channels = np.random.default_rng(1).uniform(0.1, 1, (2, 24)).astype(np.float32)
    x = np.broadcast_to(channels[:, :, None, None], (2, 24, 120, 160))
    columns = np.broadcast_to(channels[0], (20000, 24))
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], group=24, pads=[1, 1, 1, 1]),
             helper.make_node("GlobalAveragePool", ["c"], ["pooled"]),
             helper.make_node("ReduceSumSquare", ["c"], ["squares"], axes=[2, 3]),
             helper.make_node("ReduceMean", ["columns"], ["mean"], axes=[0]),
             helper.make_node("ReduceMean", ["x"], ["rows"], axes=[1, 2, 3])]  # fmt: skip
    weights = np.zeros((24, 1, 3, 3), np.float32)
    weights[:, :, 1, 1] = 1
    for sizes in (x.shape, columns.shape), ((2, 24, None, None), (None, 24)):
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                  for name, shape in zip(["x", "columns"], sizes)]  # fmt: skip
        outputs = [helper.make_empty_tensor_value_info(name) for name in ("pooled", "squares", "mean", "rows")]
        graph = helper.make_graph(nodes, "sums", inputs, outputs, [numpy_helper.from_array(weights, "w")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
        results = strata.compile(model, threads=1).run({"x": x, "columns": columns})
        exact = x.astype(np.float64)
        wanted = [exact.mean((2, 3), keepdims=True), (exact**2).sum((2, 3), keepdims=True),
                  columns.astype(np.float64).mean(0, keepdims=True), exact.mean((1, 2, 3), keepdims=True)]  # fmt: skip
        for got, expected in zip(results, wanted, strict=True):
            np.testing.assert_allclose(got, expected, rtol=5e-6)
