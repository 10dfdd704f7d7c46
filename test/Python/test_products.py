"""Products of matrices and convolutions, in every tile: full ones, what is left over, copied and packed operands, for
each of the machine's vector lengths. The oracle is NumPy in double precision."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from support.targets import TARGETS


def _model(op, shapes, constant, output, **attributes):
    rng = np.random.default_rng(len(shapes[0]) + sum(shapes[0]) + 7 * sum(shapes[1]))
    values = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    names = ["a", "b", "c"][: len(values)]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
        for name, value in zip(names, values)
        if name not in constant
    ]
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], **attributes)], "products", inputs,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)],
        [numpy_helper.from_array(value, name) for name, value in zip(names, values) if name in constant],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model, dict(zip(names, values)), {k: v for k, v in zip(names, values) if k not in constant}


def _check(model, feeds, expected, reduction, target=None, threads=1):
    compiled = strata.compile(model, target=target, threads=threads, winograd=False)
    for _ in range(2):  # buffers are used again
        actual = compiled.run(feeds)[0]
        assert actual.shape == expected.shape
        # Rounding errors of a sum of n products of numbers of the order of one.
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6 + 4e-7 * reduction)


SIZES = [(1, 300, 300), (50, 1, 20000), (1, 1, 1), (5, 130, 200), (6, 64, 64), (7, 80, 95), (13, 257, 130),
         (49, 300, 136), (50, 128, 1000), (131, 70, 331), (300, 520, 96), (700, 1024, 72)]  # fmt: skip


@pytest.mark.parametrize("constant", ["", "b", "a"])
@pytest.mark.parametrize("m, k, n", SIZES)
def test_matmul(m, k, n, constant):
    model, values, feeds = _model("MatMul", [(m, k), (k, n)], constant, (m, n))
    expected = values["a"].astype(np.float64) @ values["b"]
    _check(model, feeds, expected, k, threads=2)


@pytest.mark.parametrize("target", TARGETS[1:])
@pytest.mark.parametrize("constant", ["", "b"])
@pytest.mark.parametrize("m, k, n", [(7, 80, 95), (50, 300, 336), (131, 70, 331)])
def test_matmul_of_other_targets(m, k, n, constant, target):
    model, values, feeds = _model("MatMul", [(m, k), (k, n)], constant, (m, n))
    _check(model, feeds, values["a"].astype(np.float64) @ values["b"], k, target)


@pytest.mark.parametrize("constant", ["", "b"])
@pytest.mark.parametrize("transpose", [(0, 1), (1, 0), (1, 1)])
def test_transposed(transpose, constant):
    m, k, n = 61, 150, 210
    shapes = [(k, m) if transpose[0] else (m, k), (n, k) if transpose[1] else (k, n), (n,)]
    model, values, feeds = _model(
        "Gemm", shapes, constant, (m, n), transA=transpose[0], transB=transpose[1], alpha=0.5, beta=2.0
    )
    a, b, c = (values[name].astype(np.float64) for name in "abc")
    expected = 0.5 * (a.T if transpose[0] else a) @ (b.T if transpose[1] else b) + 2 * c
    _check(model, feeds, expected, k)


@pytest.mark.parametrize("shape", [(3, 40, 64, 300), (2, 128, 64, 128), (4, 9, 200, 75)])
@pytest.mark.parametrize("shared", [False, True])
def test_batches(shape, shared):
    batch, m, k, n = shape
    model, values, feeds = _model("MatMul", [(batch, m, k), (k, n) if shared else (batch, k, n)], "", (batch, m, n))
    _check(model, feeds, values["a"].astype(np.float64) @ values["b"], k, threads=2)


@pytest.mark.parametrize("rows", [7, 300, None])
@pytest.mark.parametrize("threads", [1, 2])
def test_deep_products(rows, threads):
    """So deep that they are computed in parts, each of which adds to the sums of the one before."""
    rng = np.random.default_rng(4)
    w, bias = rng.standard_normal((20001, 200)).astype(np.float32), rng.standard_normal(200).astype(np.float32)
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["g"]), helper.make_node("Relu", ["g"], ["y"])]
    graph = helper.make_graph(
        nodes, "deep", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows or "n", 20001])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows or "n", 200])],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(bias, "b")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for count in [rows] if rows else (1, 301):
        x = rng.standard_normal((count, 20001)).astype(np.float32)
        _check(model, {"x": x}, np.maximum(x.astype(np.float64) @ w + bias, 0), 20001, threads=threads)


def test_symbolic_rows():
    model, values, _ = _model("MatMul", [(90, 260), (260, 200)], "", (90, 200))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    compiled = strata.compile(model, threads=2)
    for rows in (1, 5, 6, 7, 90):
        a = values["a"][:rows]
        actual = compiled.run({"a": a, "b": values["b"]})[0]
        np.testing.assert_allclose(actual, a.astype(np.float64) @ values["b"], rtol=0, atol=1e-4)


CONVOLUTIONS = [  # data, filters, kernel, stride, padding
    ((1, 32, 14, 14), 70, 1, 1, 0), ((2, 64, 9, 7), 96, 3, 1, 1), ((1, 3, 33, 30), 64, 7, 2, 3),
    ((1, 128, 7, 7), 64, 3, 1, 1), ((1, 48, 20, 20), 33, 3, 2, 0),
]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("data, filters, kernel, stride, padding", CONVOLUTIONS)
def test_convolution(data, filters, kernel, stride, padding, target):
    height, width = ((size + 2 * padding - kernel) // stride + 1 for size in data[2:])
    model, values, feeds = _model(
        "Conv", [data, (filters, data[1], kernel, kernel), (filters,)], "bc", (data[0], filters, height, width),
        strides=[stride, stride], pads=[padding] * 4, kernel_shape=[kernel, kernel],
    )  # fmt: skip
    expected = ReferenceEvaluator(model).run(None, feeds)[0]
    _check(model, feeds, expected, data[1] * kernel * kernel, target)


# Matrices that are given in each run, of more than half of the first-level cache: copied in blocks of lanes, for rows that
# make several tiles. With lanes that fill no vector or no block, and batches of either operand that share the other one.
GIVEN = [
    ((101, 203), (203, 57)),
    ((2, 40, 128), (2, 128, 64)),
    ((4, 1, 61, 64), (1, 3, 64, 130)),
    ((4, 1, 20, 64), (1, 3, 64, 130)),
    ((3, 1, 7, 300), (300, 33)),
    ((50, 90), (90, 1001)),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("left, right", GIVEN)
def test_given_matrices(target, left, right):
    node = helper.make_node("MatMul", ["a", "b"], ["y"])
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, s) for name, s in (("a", left), ("b", right))]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    proto = helper.make_model(helper.make_graph([node], "given", inputs, [output]),
                              opset_imports=[helper.make_opsetid("", 17)], ir_version=8)  # fmt: skip
    compiled = strata.compile(proto, target=target)
    rng = np.random.default_rng(7)

    def somewhere(shape):
        """Of an array that begins four bytes behind a line of the cache."""
        flat = np.zeros(np.prod(shape) + 32, np.float32)
        first = (-(flat.ctypes.data // 4) % 16) + 1
        array = flat[first : first + np.prod(shape)].reshape(shape)
        array[...] = rng.standard_normal(shape)
        return array

    for _ in range(2):
        a, b = somewhere(left), somewhere(right)
        want = a.astype(np.float64) @ b.astype(np.float64)
        [y] = compiled.run({"a": a, "b": b})
        np.testing.assert_allclose(y, want, rtol=0, atol=2e-6 * np.abs(want).max())


@pytest.mark.parametrize("precision", ["f32", "int8"])
def test_dequantized_weights_of_no_terms(precision):
    weights = [helper.make_tensor("w", TensorProto.INT4, (0, 32), []),
               numpy_helper.from_array(np.ones((0, 32), "f"), "s")]  # fmt: skip
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["r"], axis=0, block_size=32),
             helper.make_node("MatMul", ["x", "r"], ["y"])]  # fmt: skip
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, ["m", 0])],
                              [value("y", TensorProto.FLOAT, ["m", 32])], weights)  # fmt: skip
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    [y] = strata.compile(proto, precision=precision).run({"x": np.zeros((3, 0), "f")})
    np.testing.assert_array_equal(y, np.zeros((3, 32)))
