"""Convolutions with few filters, and products with few columns: vectors hold terms of one sum."""

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper

CPUS = ["", "sapphirerapids"]


def model(nodes, shape, weights):
    graph = helper.make_graph(
        nodes, "few", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(proto, *inputs):
    compiled = strata.compile(proto, winograd=False)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    for x in inputs:
        [want] = session.run(None, {"x": x})
        [y] = compiled.run({"x": x})
        assert y.shape == want.shape
        np.testing.assert_allclose(y, want, rtol=0, atol=3e-6 * np.abs(want).max(initial=1e-30))


# Channels that fill no vector; rows left over of a tile, and fewer than one; borders that some rows of a tile read.
CONVOLUTIONS = [
    (64, (9, 14), 3, {"pads": [1, 1, 1, 1]}),
    (37, (9, 8), 3, {"pads": [1, 1, 1, 1]}),
    (16, (11, 3), 3, {}),
    (33, (17, 35), 5, {"strides": [2, 2], "pads": [2, 2, 2, 2]}),
    (40, (12, 19), 3, {"dilations": [2, 2], "pads": [2, 2, 2, 2]}),
    (48, (20, 1), (3, 1), {"pads": [1, 0, 1, 0]}),
    (64, (7, 24), 2, {}),
    (64, (1, 50), (1, 7), {"pads": [0, 3, 0, 3]}),
]


@pytest.mark.parametrize("filters", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("number", range(len(CONVOLUTIONS)))
def test_convolutions(monkeypatch, filters, number):
    channels, size, kernel, attributes = CONVOLUTIONS[number]
    monkeypatch.setenv("STRATA_EMULATE_CPU", CPUS[(filters // 2 + number) % len(CPUS)])
    rng = np.random.default_rng(channels + filters)
    w = rng.standard_normal((filters, channels, *np.broadcast_to(kernel, 2)), np.float32)
    weights = {"w": w / np.sqrt(w[0].size).astype(np.float32), "b": rng.standard_normal(filters, np.float32)}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], **attributes), helper.make_node("Tanh", ["c"], ["y"])]
    x = rng.standard_normal((2, channels, *size), np.float32)
    check(model(nodes, x.shape, weights), x)


@pytest.mark.parametrize("cpu", CPUS)
def test_symbolic_sizes(monkeypatch, cpu):
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((3, 32, 3, 3), np.float32)}
    proto = model([helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)], ["n", 32, "h", "w"], weights)
    check(proto, *(rng.standard_normal((n, 32, h, w), np.float32) for n, h, w in [(1, 4, 5), (3, 17, 8), (2, 1, 1)]))


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("rows", [1, 3, 8, 37, "rows"])
@pytest.mark.parametrize("terms, columns", [(512, 2), (100, 3), (1000, 4), (768, 1)])
def test_products(monkeypatch, cpu, rows, terms, columns):
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    rng = np.random.default_rng(terms)
    weights = {"w": rng.standard_normal((terms, columns), np.float32)}
    proto = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [rows, terms], weights)
    check(proto, *(rng.standard_normal((n, terms), np.float32) for n in ((1, 5, 40, 0) if rows == "rows" else (rows,))))


@pytest.mark.parametrize("stride, filters", [(2, 1), (2, 2), (4, 1)])
def test_transposed_convolutions(stride, filters):
    rng = np.random.default_rng(filters)
    weights = {"w": rng.standard_normal((64, filters, 2 * stride, 2 * stride), np.float32)}
    pads = [stride // 2] * 4
    nodes = [helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[stride, stride], pads=pads)]
    x = rng.standard_normal((1, 64, 13, 21), np.float32)
    check(model(nodes, x.shape, weights), x)


def test_both_given():
    """Rows that share the other operand's vectors, neither of which is constant."""
    rng = np.random.default_rng(0)
    nodes = [helper.make_node("Transpose", ["v"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["x", "t"], ["y"])]
    for rows, columns, terms in [(1, 9, 64), (13, 3, 70), (5, 2, 129)]:
        graph = helper.make_graph(
            nodes, "given", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, terms]),
                             helper.make_tensor_value_info("v", TensorProto.FLOAT, [columns, terms])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])  # fmt: skip
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        x, v = (rng.standard_normal((n, terms), np.float32) for n in (rows, columns))
        [y] = strata.compile(proto).run({"x": x, "v": v})
        want = x.astype(np.float64) @ v.astype(np.float64).T
        np.testing.assert_allclose(y, want, rtol=0, atol=2e-6 * np.abs(want).max())


# What is left of columns and filters is a part of a vector beside full ones, or narrower vectors.
@pytest.mark.parametrize("columns", [13, 21, 29, 40, 43, 54, 72, 90, 117, 250])
def test_last_columns(columns):
    rng = np.random.default_rng(columns)
    weights = {"w": rng.standard_normal((37, columns), np.float32), "b": rng.standard_normal(columns, np.float32)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["s"]),
             helper.make_node("Relu", ["s"], ["y"])]  # fmt: skip
    for rows in (1, 5, 33):
        x = rng.standard_normal((rows, 37), np.float32)
        check(model(nodes, x.shape, weights), x)
    image = {"w": rng.standard_normal((columns, 16, 3, 3), np.float32), "b": weights["b"]}
    x = rng.standard_normal((1, 16, 9, 11), np.float32)
    check(model([helper.make_node("Conv", ["x", "w", "b"], ["c"], strides=[2, 2]),
                 helper.make_node("Add", ["c", "c"], ["y"])], x.shape, image), x)  # fmt: skip
