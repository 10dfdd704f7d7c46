"""Products of few rows, or of a number of them that only the run tells: every number of tiles, and every remainder."""

import math

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from support.combinations import every_other
from support.targets import TARGETS

rng = np.random.default_rng(11)


def model(features, columns, dtype=np.float32, extra=(), function="Relu", rows="rows"):
    w = rng.standard_normal((features, columns)).astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node(function, ["p"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", kind, [*extra, rows, features])],
        [helper.make_tensor_value_info("y", kind, [*extra, rows, columns])],
        [numpy_helper.from_array(w, "w")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return proto, w


# One panel of weights and many, columns that do not fill vectors, weights beyond the second-level cache.
@pytest.mark.parametrize("features, columns", [(64, 64), (33, 40), (256, 1024), (130, 70), (1024, 2048)])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_number_of_rows(features, columns, threads):
    proto, w = model(features, columns)
    compiled = strata.compile(proto, threads=threads)
    for rows in [*range(0, 40), 63, 100]:
        x = rng.standard_normal((rows, features)).astype(np.float32)
        want = np.maximum(x.astype(np.float64) @ w.astype(np.float64), 0)
        np.testing.assert_allclose(compiled.run([x])[0], want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64"])
def test_other_vectors(target):
    proto, w = model(70, 50)
    compiled = strata.compile(proto, target=target)
    for rows in range(0, 30):
        x = rng.standard_normal((rows, 70)).astype(np.float32)
        np.testing.assert_allclose(compiled.run([x])[0], np.maximum(x @ w, 0), rtol=1e-4, atol=1e-4)


def gelu(x):
    x = x.astype(np.float64)
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


@every_other("rows, target, threads", [1, 13, 15, 17, 29, 50, 99, 197, 395], TARGETS, [1, 2])
def test_known_rows_and_a_long_function_of_sums(rows, target, threads):
    """Shared out to tiles; 395 of 768 numbers are walked in blocks that stay in the cache."""
    features = 768 if rows == 395 else 40
    proto, w = model(features, 70, function="Gelu", rows=rows)
    x = rng.standard_normal((rows, features)).astype(np.float32) * 0.2
    [y] = strata.compile(proto, threads=threads, target=target).run([x])
    np.testing.assert_allclose(y, gelu(x.astype(np.float64) @ w), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_a_long_function_of_a_product_of_what_is_given(target):
    """The first rows copy the right-hand side, the others read the copy."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Gelu", ["p"], ["y"])]
    shapes = {"x": [50, 300], "w": [300, 512]}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [50, 512])],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    x, w = (rng.standard_normal(shape).astype(np.float32) * 0.2 for shape in shapes.values())
    [y] = strata.compile(proto, target=target).run([x, w])
    np.testing.assert_allclose(y, gelu(x.astype(np.float64) @ w), rtol=1e-4, atol=1e-5)


def test_rows_of_a_known_and_an_unknown_number():
    proto, w = model(64, 96, extra=(5,))
    compiled = strata.compile(proto)
    for rows in range(0, 20):
        x = rng.standard_normal((5, rows, 64)).astype(np.float32)
        np.testing.assert_allclose(compiled.run([x])[0], np.maximum(x @ w, 0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("operator, gates, states", [("LSTM", 4, 2), ("GRU", 3, 1), ("RNN", 1, 1)])
def test_recurrences_of_any_batch(operator, gates, states):
    """Both directions of some steps, beside ONNX Runtime."""
    onnxruntime = pytest.importorskip("onnxruntime")
    hidden, features = 48, 32
    weights = {
        "w": rng.standard_normal((2, gates * hidden, features)).astype(np.float32) * 0.2,
        "r": rng.standard_normal((2, gates * hidden, hidden)).astype(np.float32) * 0.2,
        "b": rng.standard_normal((2, 2 * gates * hidden)).astype(np.float32) * 0.2,
    }
    outputs = ["y", "h", "c"][: 1 + states]
    node = helper.make_node(operator, ["x", "w", "r", "b"], outputs, hidden_size=hidden, direction="bidirectional")
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["steps", "batch", features])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    for known in (None, 7):
        if known:
            graph.input[0].type.tensor_type.shape.dim[0].dim_value = known
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
        compiled = strata.compile(proto)
        for batch in [*range(1, 10), 13, 17]:
            x = rng.standard_normal((7, batch, features)).astype(np.float32)
            for got, want in zip(compiled.run([x]), session.run(None, {"x": x})):
                np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-5)
