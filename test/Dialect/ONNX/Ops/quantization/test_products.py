"""Products of 8-bit integers in many shapes, types and zero points, against NumPy's sums of 64-bit integers."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from support.targets import BYTE_TARGETS

KINDS = {"u8": np.uint8, "s8": np.int8}
PAIRS = [(left, right) for left in KINDS for right in KINDS]


def cells(count):
    """(target, number): every number for a third of the targets, or one of them."""
    targets = len(BYTE_TARGETS)
    return [(target, number) for number in range(count) for target in range(number % min(3, targets), targets, 3)]


def draw(rng, shape, kind):
    info = np.iinfo(kind)
    values = rng.integers(info.min, info.max + 1, shape).astype(kind)
    # The corners: what saturates between two steps, or wraps, is seen.
    return np.where(rng.random(shape) < 0.3, rng.choice([info.min, info.max], shape), values).astype(kind)


def model_of(node, inputs, weights, result, shape, dynamic=False):
    """One node; `inputs` are given in each run, `weights` are constants."""
    graph = helper.make_graph(
        [node],
        "products",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype),
                [f"{name}{i}" for i in range(array.ndim)] if dynamic else array.shape,
            )
            for name, array in inputs.items()
        ],
        [helper.make_tensor_value_info("y", result, [None] * len(shape) if dynamic else shape)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def run(target, node, operands, constant, expected, result, dynamic=False):
    inputs = {name: array for name, array in operands.items() if name not in constant}
    weights = {name: array for name, array in operands.items() if name in constant}
    model = strata.compile(
        model_of(node, inputs, weights, result, expected.shape, dynamic), threads=2, target=BYTE_TARGETS[target]
    )
    [y] = model.run(inputs)
    np.testing.assert_array_equal(y, expected)


def wide(array):
    return np.asarray(array).astype(np.int64)


def product(a, b, za=0, zb=0):
    za, zb = wide(za), wide(zb)
    return (wide(a) - (za[:, None] if za.ndim == 1 else za)) @ (wide(b) - zb)


MATRICES = [
    # Whole tiles, parts of them, one row, one column, depths that are no multiple of 4, large ones.
    (64, 64, 64), (33, 70, 50), (1, 128, 96), (1, 67, 5), (7, 3, 1), (5, 1, 17), (16, 4, 15), (40, 130, 33),
    (100, 257, 47), (2, 1030, 130), (130, 64, 16), (300, 40, 8),
    # Pieces of sixteen, and lanes enough to share the sums of a row.
    (49, 96, 80), (130, 208, 101),
]  # fmt: skip


@pytest.mark.parametrize("target,number", cells(len(MATRICES)))
def test_matmul_integer(target, number):
    """Every form of the zero points, every other one in one size, with another pair of types each time."""
    m, k, n = MATRICES[number]
    rng = np.random.default_rng(m * k * n)
    for form, (rows, columns, constant, dynamic) in enumerate((
        (None, None, ("b",), False),
        ((), None, ("b", "za"), True),
        ((), (), ("b",), False),
        ((m,), (n,), ("b", "zb"), False),
        (None, 128, ("b", "zb"), False),
        ((), (n,), (), True),
        ((), (), (), False),
        (None, None, (), False),
    )):  # fmt: skip
        if (form + number) % 2:
            continue
        left, right = (KINDS[kind] for kind in PAIRS[(number + form + target // 2) % 4])
        a, b = draw(rng, (m, k), left), draw(rng, (k, n), right)
        za = None if rows is None else draw(rng, rows, left)
        zb = None if columns is None else draw(rng, columns, right)
        if columns == 128:
            zb = np.array(128 if right == np.uint8 else -128, right)
        operands = {"a": a, "b": b} | {name: z for name, z in (("za", za), ("zb", zb)) if z is not None}
        node = helper.make_node(
            "MatMulInteger", [name if name in operands else "" for name in ("a", "b", "za", "zb")], ["y"]
        )
        expected = product(a, b, 0 if za is None else za, 0 if zb is None else zb).astype(np.int32)
        run(target, node, operands, constant, expected, TensorProto.INT32, dynamic)


@pytest.mark.parametrize("target,number", cells(4))
def test_seven_bits(target, number):
    """Weights whose products with unsigned data fit 16 bits in pairs, by vectors that saturate there, and one beyond."""
    rng = np.random.default_rng(number)
    m, k, n = ((50, 64, 80), (17, 36, 19), (3, 100, 64), (200, 7, 33))[number]
    for left, right, most in ((np.uint8, np.int8, 64), (np.int8, np.uint8, 127)):
        a, least = draw(rng, (m, k), left), 0 if right == np.uint8 else -most
        b = np.clip(draw(rng, (k, n), right).astype(int), least, most)
        a[: m // 2] = np.where(b[:, 0] > 0, np.iinfo(left).max, np.iinfo(left).min)  # the largest sums
        for beyond in (0, 1):
            b[:2, :] = most + beyond
            operands = {"a": a, "b": b.astype(right)}
            node = helper.make_node("MatMulInteger", list(operands), ["y"])
            run(target, node, operands, ("b",), product(a, b).astype(np.int32), TensorProto.INT32)


def test_batches(target=0):
    rng = np.random.default_rng(0)
    for left, right in (((3, 5, 8), (3, 8, 7)), ((2, 1, 33, 36), (5, 36, 20)), ((4, 40, 64), (64, 32)),
                        ((36,), (36, 20)), ((2, 9, 36), (36,)),
                        ((2, 3, 70, 66), (3, 66, 50)), ((2, 64, 100), (2, 100, 60))):  # fmt: skip
        a, b = draw(rng, left, np.uint8), draw(rng, right, np.int8)
        operands = {"a": a, "b": b, "za": np.array(7, np.uint8), "zb": np.array(-3, np.int8)}
        node = helper.make_node("MatMulInteger", list(operands), ["y"])
        expected = ((wide(a) - 7) @ (wide(b) + 3)).astype(np.int32)
        for constant in ((), ("b", "za", "zb")):
            run(target, node, operands, constant, expected, TensorProto.INT32)


def requantized(sums, factor, zero, kind):
    """The scale as one float, the product rounded to float, then to even."""
    real = (sums.astype(np.float32) * np.asarray(factor, np.float32)).astype(np.float64)
    info = np.iinfo(kind)
    return np.clip(np.rint(real) + float(zero), info.min, info.max).astype(kind)


@pytest.mark.parametrize("target,number", cells(4))
def test_qlinear_matmul(target, number):
    pair = PAIRS[number]
    rng = np.random.default_rng(3)
    for (m, k, n), per_column, result in (
        ((64, 128, 96), False, np.uint8),
        ((37, 45, 50), True, np.int8),
        ((1, 64, 33), True, np.uint8),
    ):
        a, b = draw(rng, (m, k), KINDS[pair[0]]), draw(rng, (k, n), KINDS[pair[1]])
        za, zb = draw(rng, (), a.dtype), draw(rng, (n,) if per_column else (), b.dtype)
        a_scale = np.float32(0.02)
        b_scale = (rng.random(n) * 0.01 if per_column else np.array(0.01)).astype(np.float32)
        y_scale, zy = np.float32(k * 0.3), np.array(3, result)
        operands = {
            "a": a,
            "sa": np.array(a_scale),
            "za": za,
            "b": b,
            "sb": b_scale,
            "zb": zb,
            "sy": np.array(y_scale),
            "zy": zy,
        }
        node = helper.make_node("QLinearMatMul", list(operands), ["y"])
        factor = (a_scale * b_scale).astype(np.float32) / y_scale
        expected = requantized(product(a, b, za, zb), factor, zy, result)
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(result))
        for constant in (tuple(operands)[1:], ("b",), ()):
            run(target, node, operands, constant, expected, kind)


def convolution(x, w, pads, strides, group):
    """Plain sums of products; x is centered, and padded with zeros."""
    x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    kh, kw = w.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), axis=(2, 3))[:, :, :: strides[0], :: strides[1]]
    n, c, oh, ow = windows.shape[:4]
    windows = windows.reshape(n, group, c // group, oh, ow, kh, kw)
    filters = w.reshape(group, -1, *w.shape[1:])
    return np.einsum("ngchwij,gfcij->ngfhw", windows, filters).reshape(n, -1, oh, ow)


CONVOLUTIONS = [
    # x, w, pads, strides, group
    ((1, 16, 12, 12), (24, 16, 3, 3), (1, 1, 1, 1), (1, 1), 1),
    ((2, 3, 19, 17), (20, 3, 7, 7), (3, 3, 3, 3), (2, 2), 1),
    ((1, 64, 9, 9), (33, 64, 1, 1), (0, 0, 0, 0), (1, 1), 1),
    ((1, 24, 11, 10), (24, 1, 3, 3), (1, 0, 1, 2), (1, 1), 24),
    ((1, 8, 10, 10), (16, 4, 3, 3), (1, 1, 1, 1), (2, 1), 2),
    ((1, 7, 8, 8), (5, 7, 2, 3), (0, 0, 0, 0), (1, 1), 1),
    # Taps and channels of a line together: of pairs, of groups of four, and up to the last element of the image.
    ((1, 3, 19, 18), (20, 3, 7, 7), (3, 3, 3, 3), (2, 2), 1),
    ((2, 3, 16, 16), (70, 3, 4, 4), (0, 0, 0, 0), (4, 4), 1),
    ((1, 3, 9, 6), (17, 3, 3, 5), (1, 0, 1, 2), (2, 2), 1),
    # A few pixels, whose groups of four filters are lanes of as many vectors.
    ((1, 8, 2, 1), (16, 2, 3, 3), (1, 1, 1, 1), (1, 1), 4),
    ((1, 64, 2, 2), (16, 16, 3, 3), (1, 1, 1, 1), (1, 1), 4),
]  # fmt: skip


@pytest.mark.parametrize("target,number", cells(len(CONVOLUTIONS)))
def test_convolutions(target, number):
    x_shape, w_shape, pads, strides, group = CONVOLUTIONS[number]
    rng = np.random.default_rng(x_shape[1])
    attrs = {"pads": pads, "strides": strides, "group": group}
    for count, (shape, constant) in enumerate(
        ((None, ("w", "zw")), ((), ("w", "zx")), (w_shape[:1], ("w",)), ((), ()))
    ):
        left, right = (KINDS[kind] for kind in PAIRS[(number + count + target // 2) % 4])
        x, w, zx = draw(rng, x_shape, left), draw(rng, w_shape, right), draw(rng, (), left)
        zw = np.array(128 if right == np.uint8 else 0, right) if shape is None else draw(rng, shape, right)
        filters = (-1, 1, 1, 1)
        sums = convolution(
            wide(x) - wide(zx),
            wide(w) - wide(zw).reshape(filters) if zw.ndim else wide(w) - wide(zw),
            pads,
            strides,
            group,
        )
        operands = {"x": x, "w": w, "zx": zx, "zw": zw}
        node = helper.make_node("ConvInteger", list(operands), ["y"], kernel_shape=w_shape[2:], **attrs)
        run(target, node, operands, constant, sums.astype(np.int32), TensorProto.INT32)
        if (count + number) % 2:
            continue
        # Quantized again, with a bias and a scale for each filter.
        channels = (-1, 1, 1)
        bias = rng.integers(-3000, 3000, w_shape[0]).astype(np.int32)
        sw = (rng.random(w_shape[0]) * 0.02 + 0.001).astype(np.float32)
        sx, sy, zy = np.float32(0.03), np.float32(0.7), np.array(5, np.uint8)
        expected = requantized(sums + wide(bias).reshape(channels), ((sx * sw) / sy).reshape(channels), zy, np.uint8)
        operands = {
            "x": x,
            "sx": np.array(sx),
            "zx": zx,
            "w": w,
            "sw": sw,
            "zw": zw,
            "sy": np.array(sy),
            "zy": zy,
            "b": bias,
        }
        node = helper.make_node("QLinearConv", list(operands), ["y"], kernel_shape=w_shape[2:], **attrs)
        run(target, node, operands, (*constant, "sx", "sw", "sy", "zy", "b"), expected, TensorProto.UINT8)
