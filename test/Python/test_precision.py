"""precision="bf16": products of operands rounded to bf16, summed in f32; "f16": weights that few rows read, rounded to
f16. The rest, and everything by default, in f32."""

import ml_dtypes
import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from support.targets import has

needs_bf16 = pytest.mark.skipif(not has("avx512_bf16"), reason="this CPU has no AVX512-BF16")


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


# Whole tiles; one row; rows, lanes and pairs left over; an odd reduction; more than the cache holds; weights that are
# packed part by part.
SIZES = [(64, 64, 64), (1, 256, 1000), (49, 96, 40), (17, 100, 50), (7, 66, 16), (33, 35, 17), (300, 1024, 512),
         (50, 4098, 8200)]  # fmt: skip


@needs_bf16
def test_an_image_that_a_convolution_and_a_product_read():
    w, v = values(32, 32, 1, 1) / 6, values(48, 32, seed=1) / 6
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Conv", ["r", "w"], ["c"]),
        helper.make_node("MatMul", ["r", "v"], ["p"]),
        helper.make_node("Concat", ["c", "p"], ["y"], axis=3),
    ]
    proto = model(nodes, {"x": [1, 32, 48, 48]}, [1, 32, 48, 80], {"w": w, "v": v})
    x = values(1, 32, 48, 48, seed=2)
    r = rounded(np.maximum(x, 0))
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    check(y[..., :48], np.einsum("oc,nchw->nohw", rounded(w[..., 0, 0]), r))
    check(y[..., 48:], r @ rounded(v))


@needs_bf16
@pytest.mark.parametrize("m, k, n", SIZES)
def test_products(m, k, n):
    proto, w, b = product(m, k, n)
    x = values(m, k, seed=2)
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    check(y, rounded(x) @ rounded(w) + b)


@needs_bf16
@pytest.mark.parametrize("operator", ["MatMul", "Conv"])
def test_models_of_f16(operator):
    """Their products, too, are of bf16; what is not a product keeps f16's bits."""
    shapes = {"MatMul": [(100, 96), (96, 80), (80,)], "Conv": [(1, 32, 20, 20), (48, 32, 3, 3), (48, 1, 1)]}
    x, w, b = (values(*shape, seed=seed).astype(np.float16) for seed, shape in enumerate(shapes[operator]))
    nodes = [helper.make_node(operator, ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
    constants = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT16, x.shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT16, None)]
    graph = helper.make_graph(nodes, "halves", inputs, outputs, constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def expected(x, w):
        if operator == "MatMul":
            return x @ w + b
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
        return np.einsum("nchwij,fcij->nfhw", windows, w) + b

    exact, halves = expected(x.astype(np.float64), w.astype(np.float64)), expected(rounded(x), rounded(w))
    last = 6e-4 * np.abs(exact).max()  # of f16
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    assert np.abs(y - halves).max() <= last < np.abs(y - exact).max()
    [y] = strata.compile(proto).run({"x": x})
    assert np.abs(y - exact).max() <= last


@needs_bf16
def test_heads():
    """Rows of one product that are parts of its columns, each with weights of its own."""
    w, x = values(768, 256), values(1, 1, 768, seed=1)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Reshape", ["p", "shape"], ["r"]),
        helper.make_node("Transpose", ["r"], ["y"], perm=[0, 2, 1, 3]),
    ]
    proto = model(nodes, {"x": [1, 1, 768]}, [1, 4, 1, 64], {"w": w, "shape": np.array([1, 1, 4, 64])})
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    check(y, (rounded(x) @ rounded(w)).reshape(1, 4, 1, 64))


@needs_bf16
@pytest.mark.parametrize("k, n", [(96, 40), (2048, 100)])
def test_symbolic_rows(k, n):
    proto, w, b = product(0, k, n, symbolic=True)
    compiled = strata.compile(proto, precision="bf16")
    for rows in (1, 15, 16, 17, 31, 32, 33, 40, 48, 49, 0, 300):
        x = values(rows, k, seed=rows)
        [y] = compiled.run({"x": x})
        if rows:
            check(y, rounded(x) @ rounded(w) + b)


@needs_bf16
@pytest.mark.parametrize(
    "channels, size, filters, kernel, attributes",
    [
        (64, 14, 64, 3, {"pads": [1, 1, 1, 1]}),
        (3, 20, 16, 7, {"strides": [2, 2], "pads": [3, 3, 3, 3]}),
        (32, 7, 48, 3, {"pads": [1, 1, 1, 1]}),
        (40, 9, 24, 1, {"strides": [2, 2]}),
        (32, 9, 21, 3, {}),
        (32, 9, 43, 1, {}),
        (64, 9, 15, 3, {"strides": [2, 2]}),
        (64, 8, 5, 3, {"pads": [1, 1, 1, 1]}),
        (64, 12, 32, 1, {}),
        (32, 10, 64, 3, {"group": 2}),
        (16, 21, 16, 3, {"dilations": [2, 2]}),
        (32, 17, 40, 3, {"pads": [1, 1, 1, 1]}),
        (32, 19, 32, 3, {}),
        (32, 35, 32, 5, {"pads": [2, 2, 2, 2]}),
        (16, 17, 16, (1, 7), {"pads": [0, 3, 0, 3]}),
        (16, 18, 16, 3, {"strides": [1, 2], "pads": [1, 1, 1, 1]}),
        (256, 9, 40, 3, {"pads": [1, 1, 1, 1]}),
        (320, 20, 32, 3, {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
        (208, 19, 32, 3, {"dilations": [2, 2], "pads": [2, 2, 2, 2]}),
        (2048, 12, 40, 3, {"pads": [1, 1, 1, 1]}),
    ],
)
def test_convolutions(channels, size, filters, kernel, attributes):
    w = values(filters, channels // attributes.get("group", 1), *np.broadcast_to(kernel, 2))
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], **attributes),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    b, x = values(filters, seed=1), values(2, channels, size, size, seed=2)
    proto = model(nodes, {"x": list(x.shape)}, [2, filters, None, None], {"w": w, "b": b})
    [y] = strata.compile(proto, precision="bf16", winograd=False).run({"x": x})
    exact = model(nodes, {"x": list(x.shape)}, [2, filters, None, None], {"w": rounded(w).astype(np.float32), "b": b})
    [expected] = ReferenceEvaluator(exact).run(None, {"x": rounded(x).astype(np.float32)})
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@needs_bf16
@pytest.mark.skipif(has("amx_bf16"), reason="tiles of bf16 are faster")
def test_winograd_stays_in_f32():
    """Where it takes less time than dot products of bf16; the product behind it is rounded."""
    nodes = [
        helper.make_node("Conv", ["x", "v"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["c", "w"], ["y"]),
    ]
    v, w, x = values(64, 64, 3, 3), values(64, 64, 1, 1, seed=1), values(1, 64, 56, 56, seed=2)
    proto = model(nodes, {"x": list(x.shape)}, list(x.shape), {"v": v, "w": w})
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    between = conv_reference(x, v, 1)
    error = np.abs(y - conv_reference(rounded(between).astype(np.float32), rounded(w).astype(np.float32), 0))
    # An element that is nearly between two of bf16 may be rounded to the other one.
    assert error.max() < 1e-3 * np.abs(y).max() and np.median(error) < 1e-5 * np.abs(y).max()


@needs_bf16
@pytest.mark.parametrize("size", [7, 17])
def test_long_activation(size):
    """Rows two by two, in lines that begin and end within a tile."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Erf", ["c"], ["e"]),
        helper.make_node("HardSwish", ["e"], ["y"]),
    ]
    w, x = values(32, 32, 3, 3), values(1, 32, size, size, seed=1)
    proto = model(nodes, {"x": list(x.shape)}, list(x.shape), {"w": w})
    [y] = strata.compile(proto, precision="bf16", winograd=False).run({"x": x})
    exact = model(nodes, {"x": list(x.shape)}, list(x.shape), {"w": rounded(w).astype(np.float32)})
    [expected] = ReferenceEvaluator(exact).run(None, {"x": rounded(x).astype(np.float32)})
    np.testing.assert_allclose(y, expected, rtol=0, atol=2e-5)


# Whole blocks; rows, lanes and pairs left over; the right-hand side as it is and transposed; batches.
GIVEN = [
    ((64, 64), (64, 64), False),
    ((50, 100), (100, 50), False),
    ((49, 67), (67, 90), False),
    ((300, 512), (512, 96), False),
    ((64, 64), (64, 64), True),
    ((70, 66), (66, 100), True),
    ((3, 80, 64), (3, 64, 48), False),
    ((2, 3, 50, 64), (2, 3, 64, 197), True),
    ((2, 50, 197), (2, 197, 64), False),
    ((5, 60, 96), (96, 64), False),
]


@needs_bf16
@pytest.mark.parametrize("left, right, transposed", GIVEN)
def test_both_given(left, right, transposed):
    a, b = values(*left), values(*right, seed=1)
    order = [*range(b.ndim - 2), b.ndim - 1, b.ndim - 2]
    nodes = [helper.make_node("MatMul", ["a", "b"], ["y"])]
    feeds = {"a": a, "b": b}
    if transposed:
        nodes = [
            helper.make_node("Transpose", ["t"], ["b"], perm=order),
            helper.make_node("MatMul", ["a", "b"], ["y"]),
        ]
        feeds = {"a": a, "t": np.ascontiguousarray(b.transpose(order))}
    expected = rounded(a) @ rounded(b)
    proto = model(nodes, {name: list(value.shape) for name, value in feeds.items()}, list(expected.shape), {})
    [y] = strata.compile(proto, precision="bf16").run(feeds)
    check(y, expected)


@needs_bf16
@pytest.mark.parametrize("size", [16, 24, 48, 80])
@pytest.mark.parametrize("keys", [77, 96, 100, 196, 384])
def test_attention(size, keys):
    """Products in one loop over rows, of which a matrix unit would take differently many terms at once; keys that are
    whole blocks of the unit's, and keys that are filled up to such."""
    q, k, v = (values(2, 2, keys, size, seed=seed) for seed in range(3))
    nodes = [
        helper.make_node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "t"], ["s"]),
        helper.make_node("Softmax", ["s"], ["p"]),
        helper.make_node("MatMul", ["p", "v"], ["y"]),
    ]
    feeds = {"q": q, "k": k, "v": v}
    proto = model(nodes, {name: list(value.shape) for name, value in feeds.items()}, list(q.shape), {})
    [y] = strata.compile(proto, precision="bf16").run(feeds)
    [expected] = ReferenceEvaluator(proto).run(None, feeds)
    assert np.abs(y - expected).max() < 3e-2 * np.abs(expected).max()


@needs_bf16
def test_only_products_are_rounded():
    """And of those only what many rows use."""
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"]),
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Transpose", ["x"], ["t"]),
        helper.make_node("MatMul", ["square", "t"], ["q"]),
        helper.make_node("Add", ["p", "q"], ["y"]),
    ]
    w, x = values(64, 40), values(40, 64, seed=1)
    proto = model(nodes, {"x": [40, 64]}, [40, 40], {"w": w})
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    exact = x.astype(np.float64)
    check(y, rounded(x) @ rounded(w) + (exact * exact) @ exact.T)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@needs_bf16
@pytest.mark.parametrize("batch", [1, 3, 20])
def test_recurrence(batch):
    """Products of each step, too: one with all weights, one with what the step before gave."""
    steps, size, hidden = 7, 40, 40
    w, r, bias = values(1, 4 * hidden, size) * 0.3, values(1, 4 * hidden, hidden, seed=1) * 0.3, values(1, 8 * hidden)
    nodes = [helper.make_node("LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=hidden)]
    proto = model(nodes, {"x": [steps, batch, size]}, [steps, 1, batch, hidden], {"w": w, "r": r, "b": bias})
    x = values(steps, batch, size, seed=2)
    [y] = strata.compile(proto, precision="bf16").run({"x": x})
    h = c = np.zeros((batch, hidden))
    for step in range(steps):
        gates = rounded(x[step]) @ rounded(w[0]).T + rounded(h.astype(np.float32)) @ rounded(r[0]).T
        i, o, f, g = np.split(gates + bias[0].reshape(2, -1).sum(0), 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        # Few states lie so near between two numbers of bf16 that f32 rounds them to the other one.
        error = np.abs(y[step, 0] - h)
        assert np.median(error) <= 1e-6 and error.max() <= 1e-3
        h = y[step, 0].astype(np.float64)


def convolved(x, w, pad):
    return conv_reference(x, w, pad).astype(np.float32)


def conv_reference(x, w, pad):
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], pads=[pad] * 4)]
    return ReferenceEvaluator(model(nodes, {"x": list(x.shape)}, None, {"w": w})).run(None, {"x": x})[0]


@needs_bf16
@pytest.mark.parametrize("channels, size", [(32, 12), (64, 7), (48, 20)])
def test_images_are_kept_rounded(channels, size):
    """Where a convolution reads them: additions, pools and concatenations read the same. Small integers: sums are exact."""
    nodes = [
        helper.make_node("Conv", ["x", "u"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("MaxPool", ["a"], ["m"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["m", "v"], ["b"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["b", "m"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("AveragePool", ["r"], ["p"], kernel_shape=[2, 2], pads=[0, 0, 1, 1], count_include_pad=1),
        helper.make_node("Concat", ["r", "p"], ["c"], axis=1),
        helper.make_node("Conv", ["c", "w"], ["d"]),
        helper.make_node("Add", ["c", "d"], ["y"]),
    ]
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, (2, 16, size, size)).astype(np.float32)
    u = rng.integers(-3, 4, (channels, 16, 3, 3)).astype(np.float32)
    v = rng.integers(-1, 2, (channels, channels, 3, 3)).astype(np.float32)
    w = rng.integers(-1, 2, (2 * channels, 2 * channels, 1, 1)).astype(np.float32)
    proto = model(nodes, {"x": list(x.shape)}, [2, 2 * channels, size, size], {"u": u, "v": v, "w": w})
    [y] = strata.compile(proto, precision="bf16", winograd=False).run({"x": x})

    a = convolved(x, u, 1)
    windows = np.lib.stride_tricks.sliding_window_view
    padded = np.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    m = rounded(windows(padded, (3, 3), (2, 3)).max((4, 5))).astype(np.float32)
    r = rounded(np.maximum(convolved(m, v, 1) + m, 0)).astype(np.float32)
    p = windows(np.pad(r, ((0, 0), (0, 0), (0, 1), (0, 1))), (2, 2), (2, 3)).mean((4, 5))
    c = np.concatenate([r, rounded(p).astype(np.float32)], 1)
    check(y, conv_reference(c, w, 0).astype(np.float64) + c)


def test_default_is_f32():
    proto, w, b = product(20, 64, 32)
    x = values(20, 64, seed=2)
    for options in ({}, {"precision": "f32"}):
        [y] = strata.compile(proto, **options).run({"x": x})
        check(y, x.astype(np.float64) @ w + b)


def test_refusals():
    proto, _, _ = product(4, 64, 32)
    with pytest.raises(strata.CompileError, match="precision is 'f32', 'bf16', 'f16', 'int8' or 'tf32', not 'f8'"):
        strata.compile(proto, precision="f8")
    with pytest.raises(strata.CompileError, match="needs a CPU with avx512bf16"):
        strata.compile(proto, precision="bf16", target="x86-64-v3")
    with pytest.raises(strata.CompileError, match="precision 'f16' needs a CPU whose vectors load f16"):
        strata.compile(proto, precision="f16", target="x86-64-v2")
    with pytest.raises(strata.CompileError, match="precision 'tf32' needs an NVIDIA GPU as the target"):
        strata.compile(proto, precision="tf32")


# Rows of at least a nearest cache of weights; weights that are transposed; several rows; columns left over.
FEW = [(1, 256, 1000, False), (1, 512, 300, True), (3, 384, 257, False), (15, 256, 512, True)]


def narrow_product(m, k, n, transposed):
    w = values(k, n) / np.sqrt(k).astype(np.float32)
    node = helper.make_node("Gemm", ["x", "w"], ["y"], transB=int(transposed))
    return model([node], {"x": [m, k]}, [m, n], {"w": np.ascontiguousarray(w.T) if transposed else w}), w


@pytest.mark.parametrize("m, k, n, transposed", FEW)
def test_weights_that_few_rows_read_are_f16(m, k, n, transposed):
    proto, w = narrow_product(m, k, n, transposed)
    x = values(m, k, seed=2)
    [y] = strata.compile(proto, precision="f16").run({"x": x})
    check(y, x.astype(np.float64) @ w.astype(np.float16).astype(np.float64))


def test_weights_that_many_rows_read_stay_f32():
    proto, w = narrow_product(16, 256, 512, False)
    x = values(16, 256, seed=2)
    [narrow] = strata.compile(proto, precision="f16").run({"x": x})
    [wide] = strata.compile(proto).run({"x": x})
    np.testing.assert_array_equal(narrow, wide)


@pytest.mark.parametrize("largest, is_narrow", [(65519.99, True), (65520, False), (np.inf, False), (np.nan, False)])
def test_weights_that_f16_does_not_hold_stay_f32(largest, is_narrow):
    proto, w = narrow_product(1, 256, 512, False)
    w[17, 3] = largest
    proto.graph.initializer[0].CopyFrom(numpy_helper.from_array(w, "w"))
    x = values(1, 256, seed=2)
    [y] = strata.compile(proto, precision="f16").run({"x": x})
    want = x.astype(np.float64) @ (w.astype(np.float16) if is_narrow else w).astype(np.float64)
    column = np.arange(512) == 3
    np.testing.assert_allclose(y[:, column], want[:, column], rtol=1e-6)
    check(y[:, ~column], want[:, ~column])


def test_the_state_of_a_loop_reads_f16():
    """An LSTM's own products have one row in each step."""
    steps, width = 5, 96
    w, r = values(1, 4 * width, 64) / 8, values(1, 4 * width, width, seed=1) / 10
    node = helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=width)
    x = values(steps, 1, 64, seed=2)
    proto = model([node], {"x": [steps, 1, 64]}, [steps, 1, 1, width], {"w": w, "r": r})
    [y] = strata.compile(proto, precision="f16").run({"x": x})
    for weights in proto.graph.initializer:
        array = numpy_helper.to_array(weights).astype(np.float16).astype(np.float32)
        weights.CopyFrom(numpy_helper.from_array(array, weights.name))
    [want] = ReferenceEvaluator(proto).run(None, {"x": x})
    np.testing.assert_allclose(y, want, rtol=0, atol=2e-6)
