"""Products of dequantized operands, which are computed with integers, and quotients, which are computed as products."""

import ml_dtypes
import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from support.combinations import every_other
from support.targets import has


def model_of(nodes, inputs, weights, results):
    def values(arrays):
        return [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in arrays.items()
        ]

    constants = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "dequantized", values(inputs), results, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def dequantized(name, axis=None):
    operands = [name, f"{name}_scale", f"{name}_zero"]
    return helper.make_node("DequantizeLinear", operands, [f"{name}_real"], **({} if axis is None else {"axis": axis}))


def real(q, scale, zero, axis):
    shape = [-1 if i == axis else 1 for i in range(q.ndim)] if np.ndim(scale) else ()
    return (q.astype(np.float64) - zero.astype(np.float64).reshape(shape)) * scale.astype(np.float64).reshape(shape)


#: What may be left of a result in f32, a few roundings, and in halves, one.
ROUNDING = {np.float32: 1e-6, np.float16: 5e-4, ml_dtypes.bfloat16: 4e-3}


@pytest.mark.parametrize("element", ROUNDING)
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("kind", [np.uint8, np.int8])
@pytest.mark.parametrize("operator", ["MatMul", "Gemm", "Gemm^T", "Conv"])
def test_products(operator, kind, per_channel, element):
    rng = np.random.default_rng(len(operator))
    low, high = np.iinfo(kind).min, np.iinfo(kind).max + 1
    x_shape, w_shape, axis, attrs = {
        "MatMul": ((2, 19, 70), (70, 40), 1, {}),
        "Gemm": ((19, 70), (70, 40), 1, {"alpha": 0.5, "beta": 2.0}),
        "Gemm^T": ((19, 70), (40, 70), 0, {"transB": 1}),
        "Conv": ((2, 6, 9, 9), (20, 6, 3, 3), 0, {"pads": [1, 1, 1, 1]}),
    }[operator]
    x, w = rng.integers(low, high, x_shape).astype(kind), rng.integers(-128, 128, w_shape).astype(np.int8)
    channels = w_shape[axis]
    weights = {
        "w": w,
        "x_scale": np.array(0.037, element),
        "x_zero": np.array(rng.integers(low, high), kind),
        "w_scale": np.asarray(rng.random(channels if per_channel else ()) * 0.01 + 0.001, element),
        "w_zero": np.zeros(channels if per_channel else (), np.int8),
        "b": rng.standard_normal(channels).astype(element),
    }
    name = operator.removesuffix("^T")
    operands = ["x_real", "w_real"] + (["b"] if name != "MatMul" else [])
    nodes = [dequantized("x"), dequantized("w", axis), helper.make_node(name, operands, ["y"], **attrs)]
    left = real(x, weights["x_scale"], weights["x_zero"], None)
    right = real(w, weights["w_scale"], weights["w_zero"], axis)
    if name == "Conv":
        left = np.pad(left, [(0, 0), (0, 0), (1, 1), (1, 1)])
        windows = np.lib.stride_tricks.sliding_window_view(left, (3, 3), axis=(2, 3))
        want = np.einsum("nchwij,fcij->nfhw", windows, right) + weights["b"].astype(np.float64).reshape(-1, 1, 1)
    else:
        want = attrs.get("alpha", 1) * (left @ (right.T if "transB" in attrs else right))
        if name == "Gemm":
            want = want + attrs.get("beta", 1) * weights["b"].astype(np.float64)
    result = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(np.dtype(element)), want.shape)
    [y] = strata.compile(model_of(nodes, {"x": x}, weights, [result])).run({"x": x})
    # The sums have no roundings.
    assert np.abs(y.astype(np.float64) - want).max() <= ROUNDING[element] * np.abs(want).max()


def transposed_convolution(x, w, strides, dilations, pads, output_padding):
    """By its definition: each element of x adds a kernel to the result."""
    (n, _, *sizes), (_, filters, *kernel) = x.shape, w.shape
    full = [(size - 1) * s + (k - 1) * d + 1 + extra
            for size, k, s, d, extra in zip(sizes, kernel, strides, dilations, output_padding)]  # fmt: skip
    y = np.zeros((n, filters, *full))
    for at in np.ndindex(*sizes):
        for tap in np.ndindex(*kernel):
            place = tuple(i * s + k * d for i, k, s, d in zip(at, tap, strides, dilations))
            y[(slice(None), slice(None), *place)] += x[(slice(None), slice(None), *at)] @ w[(..., *tap)]
    rank = len(sizes)
    return y[(..., *(slice(low, size - high) for low, high, size in zip(pads[:rank], pads[rank:], full)))]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("kind, per_channel, element", [
    (np.uint8, True, np.float32), (np.int8, False, np.float32), (np.uint8, False, np.float16)])  # fmt: skip
@pytest.mark.parametrize("filters", [5, 20])
@pytest.mark.parametrize("kernel, stride, attrs", [
    ([3, 3], 1, {"pads": [1, 0, 1, 2]}),
    ([4, 4], 2, {"pads": [1, 1, 1, 1]}),
    ([3, 2], 2, {"pads": [1, 0, 1, 0], "output_padding": [1, 0]}),
    ([1, 1], 2, {}),  # most phases have no taps
    ([3, 3], 2, {"dilations": [2, 2]}),
    ([5], 3, {"pads": [2, 1]}),
])  # fmt: skip
def test_transposed_convolutions(kernel, stride, attrs, filters, kind, per_channel, element, symbolic):
    rng = np.random.default_rng(filters)
    rank, low, high = len(kernel), np.iinfo(kind).min, np.iinfo(kind).max + 1
    x = rng.integers(low, high, (2, 6, 7, 5)[: 2 + rank]).astype(kind)
    w = rng.integers(-128, 128, (6, filters, *kernel)).astype(np.int8)
    channels = filters if per_channel else ()
    weights = {
        "w": w,
        "x_scale": np.array(0.037, element),
        "x_zero": np.array(rng.integers(low, high), kind),
        "w_scale": np.asarray(rng.random(channels) * 0.01 + 0.001, element),
        "w_zero": np.zeros(channels, np.int8),
        "b": rng.standard_normal(filters).astype(element),
    }
    attributes = {"strides": [stride] * rank, "dilations": [1] * rank, "pads": [0] * 2 * rank,
                  "output_padding": [0] * rank, **attrs}  # fmt: skip
    want = transposed_convolution(real(x, weights["x_scale"], weights["x_zero"], None),
                                  real(w, weights["w_scale"], weights["w_zero"], 1), **attributes)  # fmt: skip
    want = want + weights["b"].astype(np.float64).reshape(-1, *[1] * rank)
    nodes = [dequantized("x"), dequantized("w", 1),
             helper.make_node("ConvTranspose", ["x_real", "w_real", "b"], ["y"], **attributes)]  # fmt: skip
    result = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(np.dtype(element)), None)
    model = model_of(nodes, {"x": x}, weights, [result])
    if symbolic:
        for i, dim in enumerate(model.graph.input[0].type.tensor_type.shape.dim):
            if i != 1:
                dim.dim_param = f"d{i}"
    [y] = strata.compile(model).run({"x": x})
    assert np.abs(y.astype(np.float64) - want).max() <= ROUNDING[element] * np.abs(want).max()


def weights_of_few_bits(operator, kind, zero, block, rng, terms=96, columns=40, element=np.float32):
    """A product's weights: the nodes that make and use them, the constants, and the real numbers, [terms, columns].

    block: None: one scale; 1: one per column; else of so many terms.
    """
    bits, low = int(kind[-1]), 0 if kind[0] == "u" else -(2 ** (int(kind[-1]) - 1))
    w = rng.integers(low, low + 2**bits, (terms, columns))
    rows = [() if block is None else (columns,) if block == 1 else (terms // block, columns)][0]
    scales = np.asarray(rng.random(rows) * 0.01 + 0.001, element)
    highest = low + 2**bits - 1
    zeros = rng.integers(low, highest + 1, rows) if zero == "any" else np.full(rows, min(zero or 0, highest))
    spread = (lambda v: np.repeat(v, block, axis=0)) if block and block > 1 else lambda v: v
    real = (w - spread(zeros)) * spread(scales.astype(np.float64))
    name, transposed = operator.split()[0].removesuffix("^T"), operator.endswith("^T")
    attributes = {} if block is None else {"axis": int(not transposed)} if block == 1 else {
        "axis": int(transposed), "block_size": block}  # fmt: skip
    if transposed:
        w, scales, zeros = w.T, scales.T, zeros.T
    integers = [("w", w)] + ([("w_zero", zeros)] if zero is not None else [])
    data_type = getattr(TensorProto, kind.upper())
    constants = [helper.make_tensor(n, data_type, v.shape, v.ravel().tolist()) for n, v in integers]
    constants.append(numpy_helper.from_array(scales.copy(), "scale"))
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale"] + [n for n, _ in integers[1:]], ["real"], **attributes),
        helper.make_node(name, ["x", "real"], ["y"], **({"transB": 1} if operator == "Gemm^T" else {})),
    ]
    if operator == "MatMul^T":
        nodes[1:1] = [helper.make_node("Transpose", ["real"], ["turned"], perm=[1, 0])]
        nodes[-1].input[1] = "turned"
    return nodes, constants, real


@every_other("operator, kind, zero_block, element",
             ["MatMul", "MatMul of a row", "MatMul of 40", "MatMul^T", "Gemm", "Gemm^T"],
             ["int8", "uint8", "int4", "uint4"],
             [(None, None), ("any", 1), (128, 16), ("any", 24), (None, 16)], list(ROUNDING))  # fmt: skip
def test_narrow_weights(operator, kind, zero_block, element):
    """Floats times weights of few bits: in one tile of rows, and in several, which share what is dequantized."""
    zero, block = zero_block
    rng = np.random.default_rng(len(operator))
    shapes = {"MatMul": (2, 3, 96), "MatMul^T": (2, 96), "MatMul of a row": (96,), "MatMul of 40": (40, 96)}
    x = rng.standard_normal(shapes.get(operator, (5, 96))).astype(element)
    nodes, constants, real = weights_of_few_bits(operator, kind, zero, block, rng, element=element)
    y = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(x.dtype), None)
    model = model_of(nodes, {"x": x}, {}, [y])
    model.graph.initializer.extend(constants)
    [y] = strata.compile(model).run({"x": x})
    want = x.astype(np.float64) @ real
    assert np.abs(y.astype(np.float64) - want).max() <= 2 * ROUNDING[element] * np.abs(want).max()


@pytest.mark.parametrize("columns", [64, 70, 300])
@pytest.mark.parametrize("kind, zero, block", [
    ("int4", None, 32), ("uint4", "any", 32), ("int8", "any", 32), ("int8", None, 1), ("uint8", 128, 1)])  # fmt: skip
def test_narrow_weights_of_symbolic_rows(kind, zero, block, columns):
    """The run tells how many rows there are: few are computed in one tile, more share a panel."""
    rng = np.random.default_rng(columns)
    nodes, constants, real = weights_of_few_bits("MatMul", kind, zero, block, rng, columns=columns)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "rows", 96])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "symbolic", [x], [y], constants)
    model = strata.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10))
    for shape in (1, 1), (1, 3), (2, 2), (1, 5), (3, 7), (1, 64), (0, 3), (1, 200):
        data = rng.standard_normal((*shape, 96)).astype(np.float32)
        [result] = model.run({"x": data})
        want = data.astype(np.float64) @ real
        assert result.shape == want.shape
        assert np.abs(result - want).max(initial=0) <= 2e-6 * np.abs(want).max(initial=1e-30)


@pytest.mark.parametrize("rows", [1, 2, 40, "rows"])
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_few_columns_of_narrow_weights(columns, rows):
    """The rows of a single column are what lies side by side."""
    rng = np.random.default_rng(columns)
    nodes, constants, real = weights_of_few_bits("MatMul", "int8", "any", 32, rng, columns=columns)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 96])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "columns", [x], [y], constants)
    model = strata.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10))
    data = rng.standard_normal((40 if rows == "rows" else rows, 96)).astype(np.float32)
    [result] = model.run({"x": data})
    want = data.astype(np.float64) @ real
    assert np.abs(result - want).max() <= 2e-6 * np.abs(want).max()


def test_sums_of_weights_beside_others():
    """Sums of columns are kept where a zero point is not known; those of other weights start from the same zeros."""
    rng = np.random.default_rng(3)
    x, q, zero = rng.integers(0, 256, (33, 17)), rng.integers(0, 256, (33, 7)), 100
    v, w = rng.integers(-128, 128, (17, 80)), rng.integers(-128, 128, (7, 80))
    weights = {"v": v.astype(np.int8), "w": w.astype(np.int8), "q_zero": np.uint8(121), "w_zero": np.int8(0),
               "q_scale": np.float32(0.5), "w_scale": np.float32(0.25)}  # fmt: skip
    nodes = [helper.make_node("MatMulInteger", ["x", "v", "x_zero"], ["sums"]), dequantized("w"), dequantized("q"),
             helper.make_node("MatMul", ["q_real", "w_real"], ["y"])]  # fmt: skip
    feeds = {"x": x.astype(np.uint8), "x_zero": np.array(zero, np.uint8), "q": q.astype(np.uint8)}
    results = [helper.make_tensor_value_info(name, kind, None)
               for name, kind in (("sums", TensorProto.INT32), ("y", TensorProto.FLOAT))]  # fmt: skip
    sums, y = strata.compile(model_of(nodes, feeds, weights, results)).run(feeds)
    np.testing.assert_array_equal(sums, (x - zero) @ v)
    np.testing.assert_array_equal(y, (q - 121) @ w / 8)


multiplies_bytes = has("avx_vnni") or has("avx512_vnni") or (has("avx2") and not has("avx512vl"))
needs_byte_products = pytest.mark.skipif(not multiplies_bytes, reason="this CPU's vectors do not multiply bytes")


def error_of_rounded_data(x, real, size):
    """What it changes at most that data is rounded to 8 bits, in blocks of `size`."""
    blocks = np.abs(x.astype(np.float64)).reshape(*x.shape[:-1], x.shape[-1] // size, size)
    return np.repeat(blocks.max(-1) / 127 / 2, size, axis=-1) @ np.abs(real)


@needs_byte_products
@every_other("rows, kind, zero_block", ["few", "some"], ["int8", "uint8", "int4", "uint4"], [
    (None, None), (128, None), ("any", 1), (128, 16), (None, 32), ("any", 32), ("any", 192), (128, 256)])  # fmt: skip
def test_data_in_bytes(rows, kind, zero_block):
    """With precision="int8", the data of such weights is rounded to 8 bits, in blocks of at most 128 terms."""
    zero, block = zero_block
    operators = {"few": ("MatMul", "MatMul of a row"), "some": ("MatMul of 40", "Gemm^T")}
    operator = operators[rows][(len(kind) + (block or 0) // 16) % 2]
    rng = np.random.default_rng(len(operator))
    terms = 768
    shapes = {"MatMul": (2, 3, terms), "MatMul^T": (2, terms), "MatMul of a row": (terms,), "MatMul of 40": (40, terms)}
    x = rng.standard_normal(shapes.get(operator, (5, terms))).astype(np.float32)
    x[..., 5] *= 50
    nodes, constants, real = weights_of_few_bits(operator, kind, zero, block, rng, terms=terms, columns=75)
    model = model_of(nodes, {"x": x}, {}, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model.graph.initializer.extend(constants)
    [y] = strata.compile(model, precision="int8").run({"x": x})
    want = x.astype(np.float64) @ real
    size = {None: 32, 1: 96 if zero == "any" else 32, 192: 96, 256: 128}.get(block, block)
    most = error_of_rounded_data(x, real, size)
    error = np.abs(y - want)
    assert (error <= 1.001 * most + 1e-6 * np.abs(want).max()).all()
    assert error.max() > 1e-4 * np.abs(want).max()


@needs_byte_products
@pytest.mark.parametrize("columns", [64, 70, 300])
@pytest.mark.parametrize("kind, zero, block", [("int4", None, 32), ("uint4", "any", 128), ("int8", "any", 32)])
def test_data_in_bytes_of_symbolic_rows(kind, zero, block, columns):
    rng = np.random.default_rng(columns)
    nodes, constants, real = weights_of_few_bits("MatMul", kind, zero, block, rng, terms=256, columns=columns)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "rows", 256])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "symbolic", [x], [y], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    model = strata.compile(model, precision="int8")
    for shape in (1, 1), (1, 3), (2, 2), (1, 5), (3, 7), (0, 3), (1, 200):
        data = rng.standard_normal((*shape, 256)).astype(np.float32)
        [result] = model.run({"x": data})
        want = data.astype(np.float64) @ real
        assert result.shape == want.shape
        most = error_of_rounded_data(data, real, block)
        assert (np.abs(result - want) <= 1.001 * most + 1e-6 * np.abs(want).max(initial=0)).all()


@pytest.mark.parametrize("precision", ["f32", pytest.param("int8", marks=needs_byte_products)])
def test_bytes_of_four_bits_with_zero_points_of_eight(precision):
    """Weights that fit four bits, zero points that do not."""
    rng = np.random.default_rng(7)
    x, w = rng.standard_normal((3, 64)).astype(np.float32), rng.integers(-8, 8, (64, 24)).astype(np.int8)
    zeros, scales = rng.integers(-128, 128, (2, 24)).astype(np.int8), (rng.random((2, 24)) + 0.5).astype(np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale", "zero"], ["real"], axis=0, block_size=32),
        helper.make_node("MatMul", ["x", "real"], ["y"]),
    ]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    model = model_of(nodes, {"x": x}, {"w": w, "scale": scales, "zero": zeros}, [result])
    [y] = strata.compile(model, precision=precision).run({"x": x})
    real = (w - np.repeat(zeros.astype(np.float64), 32, 0)) * np.repeat(scales, 32, 0)
    most = error_of_rounded_data(x, real, 32) if precision == "int8" else 0
    want = x.astype(np.float64) @ real
    assert (np.abs(y - want) <= 1.001 * most + 2e-6 * np.abs(want).max()).all()


@needs_byte_products
def test_data_that_is_no_number():
    """Rows with a NaN or an infinity have no results that are numbers; others, and rows of zeros, do."""
    rng = np.random.default_rng(0)
    nodes, constants, real = weights_of_few_bits("MatMul", "int4", None, 32, rng)
    x = rng.standard_normal((6, 96)).astype(np.float32)
    x[1, 40], x[2, 3], x[3, 95], x[4] = np.nan, np.inf, -np.inf, 0
    x[5] *= 1e-42  # subnormal
    model = model_of(nodes, {"x": x}, {}, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model.graph.initializer.extend(constants)
    [y] = strata.compile(model, precision="int8").run({"x": x})
    assert np.isnan(y[1:4]).all()
    np.testing.assert_array_equal(y[4], 0)
    assert np.abs(y[0] - x[0].astype(np.float64) @ real).max() <= error_of_rounded_data(x[:1], real, 32).max()
    assert np.abs(y[5]).max() <= 1e-38


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_narrow_column(shape):
    """One scale is a number, whatever its rank: the product of two vectors has none."""
    x, w = np.linspace(-1, 2, 16, dtype=np.float32), np.arange(-8, 8, dtype=np.int8)[:, None]
    attributes = {"axis": 0, "block_size": 16} if len(shape) == 2 else {}
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale", "zero"], ["real"], **attributes),
        helper.make_node("MatMul", ["x", "real"], ["y"]),
    ]
    weights = {"w": w, "scale": np.full(shape, 0.25, np.float32), "zero": np.full(shape, 3, np.int8)}
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    [y] = strata.compile(model_of(nodes, {"x": x}, weights, [result])).run({"x": x})
    np.testing.assert_allclose(y, x.astype(np.float64) @ ((w - 3.0) * 0.25), rtol=1e-6)


@pytest.mark.parametrize("constant", [True, False])
def test_quotients(constant):
    """What is quantized is the quotient of f32, rounded once, in every case, ties among them."""
    rng = np.random.default_rng(0)
    scales = np.concatenate([
        (rng.random(300) + 0.5).astype(np.float32) * np.float32(2.0) ** rng.integers(-30, 30, 300).astype(np.float32),
        np.float32([1, 0.5, 3, 1e-38, 1e-45, 3e38, 0.1, np.inf]),
    ]).astype(np.float32)  # fmt: skip
    with np.errstate(all="ignore"):
        # Quotients around halves, where one bit decides.
        halves = rng.integers(-140, 140, (len(scales), 400)) + 0.5
        x = (halves * scales[:, None].astype(np.float64)).astype(np.float32)
        x = np.nextafter(x, rng.choice([-np.inf, np.inf, 0], x.shape).astype(np.float32))
        x[:, :3] = [0, np.inf, -np.inf]
        quotient = x / scales[:, None]
        want = np.clip(np.where(np.isnan(quotient), -128, np.rint(quotient)), -128, 127).astype(np.int8)
    weights = {"scale": scales, "zero": np.zeros(len(scales), np.int8)}
    inputs = {"x": x} if constant else {"x": x} | weights
    node = helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["y"], axis=0)
    result = helper.make_tensor_value_info("y", TensorProto.INT8, x.shape)
    [y] = strata.compile(model_of([node], inputs, weights if constant else {}, [result])).run(inputs)
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_quotients_of_sums(kind):
    """All sums of two dequantised numbers: each quotient is that of f32, rounded once."""
    rng = np.random.default_rng(1)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    a, b = np.meshgrid(*[np.arange(low, high + 1).astype(kind)] * 2)
    for _ in range(4):
        scales = (rng.random(3) + 0.5).astype(np.float32) * np.float32(2.0) ** rng.integers(-9, 9, 3).astype(np.float32)
        scales[2] = scales[:2].sum() * np.float32(0.7)
        zeros = rng.integers(low, high + 1, 3).astype(kind)
        weights = {}
        for name, scale, zero in zip("aby", scales, zeros):
            weights |= {f"{name}_scale": scale, f"{name}_zero": np.array(zero)}
        nodes = [
            dequantized("a"),
            dequantized("b"),
            helper.make_node("Add", ["a_real", "b_real"], ["s"]),
            helper.make_node("QuantizeLinear", ["s", "y_scale", "y_zero"], ["y"]),
        ]
        real = [(q.astype(np.int32) - zero).astype(np.float32) * scale for q, zero, scale in zip((a, b), zeros, scales)]
        quotient = np.rint((real[0] + real[1]) / scales[2])
        assert quotient.dtype == np.float32
        want = np.clip(quotient + zeros[2].astype(np.float32), low, high).astype(kind)
        result = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(np.dtype(kind)), a.shape)
        [y] = strata.compile(model_of(nodes, {"a": a, "b": b}, weights, [result])).run({"a": a, "b": b})
        np.testing.assert_array_equal(y, want)


def convolved(x, w, pad):
    """Sums of integers, as floats that hold them."""
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,fcij->nfhw", windows, w.astype(np.float64))


@pytest.mark.parametrize("scales", [(4, 4, 4), (8, 4, 2)])
@pytest.mark.parametrize("kind, zero", [(np.uint8, 0), (np.uint8, 119), (np.int8, -7)])
def test_between_products(kind, zero, scales):
    """Pools, concatenations and residual additions of quantised values. Scales are powers of two, all sums exact."""
    rng = np.random.default_rng(zero + 10)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    first, pooled, last = (np.float32(scale) for scale in scales)
    weights = {"one": np.float32(1), "none": np.array(0, np.int8), "zero": np.array(zero, kind), "first": first,
               "pooled": pooled, "last": last}  # fmt: skip
    for name, shape in {"u": (48, 3, 3, 3), "v": (48, 48, 1, 1), "w": (16, 48, 3, 3)}.items():
        weights[name] = rng.integers(-3, 4, shape).astype(np.int8)
    nodes, names = [], {}

    def quantised(name, scale):
        nodes.append(helper.make_node("QuantizeLinear", [name, scale, "zero"], [name + "_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [name + "_q", scale, "zero"], [name + "_d"]))
        return name + "_d"

    def convolution(x, w, y, **attributes):
        if w not in names:
            names[w] = w + "_real"
            nodes.append(helper.make_node("DequantizeLinear", [w, "one", "none"], [names[w]]))
        nodes.append(helper.make_node("Conv", [x, names[w]], [y], **attributes))

    nodes.append(helper.make_node("DequantizeLinear", ["x", "one", "zero"], ["x_d"]))
    convolution("x_d", "u", "a", pads=[1, 1, 1, 1])
    pool = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    nodes.append(helper.make_node("MaxPool", [quantised("a", "first")], ["p"], **pool))
    p = quantised("p", "pooled")
    convolution(p, "v", "b")
    nodes.append(helper.make_node("Add", [quantised("b", "last"), p], ["s"]))
    nodes.append(helper.make_node("Relu", ["s"], ["r"]))
    r = quantised("r", "last")
    convolution(r, "w", "c", pads=[1, 1, 1, 1])
    nodes.append(helper.make_node("Concat", [quantised("c", "first"), r], ["y"], axis=1))
    nodes.append(helper.make_node("QuantizeLinear", ["y", "last", "zero"], ["z"]))

    def rounded(value, scale):
        return (np.clip(np.rint(value / scale) + zero, low, high) - zero) * scale

    x = rng.integers(low, high + 1, (2, 3, 15, 15)).astype(kind)
    a = rounded(convolved(x.astype(np.float64) - zero, weights["u"], 1), first)
    padded = np.pad(a, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    q = rounded(windows.max((4, 5)), pooled)
    b = rounded(convolved(q, weights["v"], 0), last)
    r = rounded(np.maximum(b + q, 0), last)
    c = rounded(convolved(r, weights["w"], 1), first)
    want = np.clip(np.rint(np.concatenate([c, r], 1) / last) + zero, low, high).astype(kind)
    result = helper.make_tensor_value_info("z", helper.np_dtype_to_tensor_dtype(np.dtype(kind)), want.shape)
    [z] = strata.compile(model_of(nodes, {"x": x}, weights, [result])).run({"x": x})
    np.testing.assert_array_equal(z, want)
