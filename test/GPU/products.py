"""Models of products, and what NumPy says of them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from GPU.families import model, tensor, wide
from support.emulator import use_emulator

ERROR = {"float": 1e-6, "float16": 1e-3, "bfloat16": 8e-3, "tf32": 1e-6}
KINDS = list(ERROR)


def element(kind):
    return "float" if kind == "tf32" else kind


def operand(kind, shape, seed=0):
    """For tf32 no float in the middle between two: instructions round those away from zero, tensor copies to even."""
    x = tensor(element(kind), shape, seed)
    if kind == "tf32":
        bits = x.view(np.uint32)
        bits |= bits & 0x1FFF == 0x1000
    return x


def factor(x, kind):
    """What is multiplied, in f64: of tf32, floats with 11 significant bits, halves rounded away from zero."""
    if kind != "tf32":
        return wide(x)
    bits = (x.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return bits.view(np.float32).astype(np.float64)


def tolerance(kind):
    """Tensor cores cut off what lies below the last bit of a sum, which the emulator rounds: sums of f32 that 576
    products of tf32 go into are off by 1.6e-6 there, by 2.6e-7 here."""
    return 2e-6 if kind == "tf32" and use_emulator() != "bitcode" else ERROR[kind]


def check(got, want, kind):
    assert got.shape == want.shape
    error = np.abs(got.astype(np.float64) - want).max() / np.abs(want).max()
    assert error <= tolerance(kind), f"largest error {error:.2e}"


def gemm(kind, rows, columns, depth, transposed_a=0, transposed_b=0):
    a = operand(kind, (depth, rows) if transposed_a else (rows, depth))
    b = operand(kind, (columns, depth) if transposed_b else (depth, columns), 1)
    bias = tensor(element(kind), (columns,), 2)
    nodes = [("Gemm", ["a", "b", "c"], ["p"], {"transA": transposed_a, "transB": transposed_b}),
             ("Relu", ["p"], ["r"], {})]  # fmt: skip
    proto = model(
        nodes, {"a": list(a.shape), "b": list(b.shape), "c": [columns]}, {"r": [rows, columns]}, element(kind)
    )
    left, right = factor(a, kind), factor(b, kind)
    left, right = left.T if transposed_a else left, right.T if transposed_b else right
    return proto, [a, b, bias], np.maximum(left @ right + wide(bias), 0)


def batched(kind, batch, rows, columns, depth):
    x, y = operand(kind, (batch, rows, depth)), operand(kind, (batch, depth, columns), 1)
    proto = model([("MatMul", ["x", "y"], ["r"], {})], {"x": list(x.shape), "y": list(y.shape)},
                  {"r": [batch, rows, columns]}, element(kind))  # fmt: skip
    return proto, [x, y], factor(x, kind) @ factor(y, kind)


def convolution(kind, batch, channels, size, filters, window, strides=(1, 1), dilations=(1, 1), pads=(0, 0), group=1):
    """With a bias and a ReLU; the filter is known when it is compiled, the batch is a number or a name."""
    count = 3 if isinstance(batch, str) else batch
    x = operand(kind, (count, channels, *size))
    w = operand(kind, (filters, channels // group, *window), 1)
    bias = tensor(element(kind), (filters,), 2)
    padded = np.pad(factor(x, kind), ((0, 0), (0, 0), (pads[0], pads[0]), (pads[1], pads[1])))
    shape = [(n - 1) * d + 1 for n, d in zip(window, dilations)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, shape, (2, 3))
    windows = windows[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]
    parts = [np.einsum("nchwij,fcij->nfhw", data, part, optimize=True)
             for data, part in zip(np.split(windows, group, 1), np.split(factor(w, kind), group, 0))]  # fmt: skip
    want = np.maximum(np.concatenate(parts, 1) + wide(bias)[:, None, None], 0)
    attributes = {"strides": strides, "dilations": dilations, "pads": [*pads, *pads], "group": group}
    proto = model([("Conv", ["x", "w", "b"], ["p"], attributes), ("Relu", ["p"], ["r"], {})],
                  {"x": [batch, channels, *size]}, {"r": [batch, *want.shape[1:]]}, element(kind),
                  [("w", w), ("b", bias)])  # fmt: skip
    return proto, [x], want


def integers(dtype, shape):
    low, high = (-128, 128) if dtype == "int8" else (0, 256)
    return np.random.default_rng(0).integers(low, high, shape).astype(dtype)


def quantized(x, scale, zero, kind):
    limits = np.iinfo(kind)
    return np.clip(np.rint(x / np.float32(scale)) + zero, limits.min, limits.max).astype(kind)


def quantized_model(op, x, y_shape, constants, inputs, **attributes):
    kinds = {np.dtype("uint8"): TensorProto.UINT8, np.dtype("int8"): TensorProto.INT8}
    result = TensorProto.INT32 if op.endswith("Integer") else TensorProto.UINT8
    graph = helper.make_graph(
        [helper.make_node(op, ["x", *inputs], ["r"], name=op.lower(), **attributes)], "g",
        [helper.make_tensor_value_info("x", kinds[x.dtype], x.shape)],
        [helper.make_tensor_value_info("r", result, y_shape)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def quantized_convolution(batch, channels, filters, scale):
    """QLinearConv with windows of 3x3, padded; `scale` is the result's."""
    x, w = integers("uint8", (batch, channels, 12, 10)), integers("int8", (filters, channels, 3, 3))
    zx, zy, sx, sw, sy = np.uint8(7), np.uint8(10), np.float32(0.1), np.float32(0.02), np.float32(scale)
    names = ["sx", "zx", "w", "sw", "zw", "sy", "zy"]
    constants = {name: np.asarray(value) for name, value in zip(names, [sx, zx, w, sw, np.int8(0), sy, zy])}
    proto = quantized_model("QLinearConv", x, [batch, filters, 12, 10], constants, names, pads=[1, 1, 1, 1])
    padded = np.pad(x.astype(np.int32) - int(zx), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    sums = np.einsum("nchwij,fcij->nfhw", windows, w.astype(np.int32), optimize=True)
    return proto, [x], quantized(sums.astype("f") * (sx * sw / sy), 1, int(zy), "uint8")


def quantized_product(left, right, m, n, k):
    """Of a constant matrix, both with zero points."""
    x, w = integers(left, (m, k)), integers(right, (k, n))
    zx, zw = np.array(7, left), np.array(100 if right == "uint8" else 0, right)
    proto = quantized_model("MatMulInteger", x, [m, n], {"w": w, "zx": zx, "zw": zw}, ["w", "zx", "zw"])
    return proto, [x], (x.astype(np.int32) - int(zx)) @ (w.astype(np.int32) - int(zw))


# --- What warpgroups compute (test_warpgroups.py)

# Rows and columns that fill no tile, and a reduction that fills no stage.
RAGGED = (200, 136, 168)
# Of so many products that it is the best, each of the tiles: rows and columns of the product; its threads and columns.
TILES = {
    "64x64": (6, 64, 72, (256, 64)),
    "64x128": (128, 64, 128, (256, 128)),
    "64x256": (128, 64, 256, (256, 256)),
    "128x64": (128, 128, 64, (384, 64)),
    "128x128": (128, 128, 128, (384, 128)),
    "128x256": (128, 128, 256, (384, 256)),
    "256x128": (128, 256, 128, (384, 128)),
}
CONVOLUTIONS = {
    "plain": (2, 64, (16, 16), 64, (3, 3)),
    "padding": (2, 64, (16, 16), 64, (3, 3), (1, 1), (1, 1), (1, 1)),
    "strides": (2, 64, (16, 16), 64, (3, 3), (2, 2), (1, 1), (1, 1)),
    "dilations": (2, 128, (14, 14), 72, (3, 3), (1, 1), (2, 2), (2, 2)),
    "strides and dilations": (2, 64, (16, 16), 64, (3, 2), (3, 2), (2, 3), (1, 1)),
    "pixels": (2, 64, (14, 14), 128, (1, 1)),
    "strided pixels": (4, 64, (14, 14), 128, (1, 1), (2, 2)),
    "no whole stages": (3, 96, (7, 7), 64, (3, 3), (1, 1), (1, 1), (1, 1)),
    "one dimension": (2, 64, (1, 90), 64, (1, 5)),
    "wide strides": (4, 64, (1, 300), 64, (1, 8), (1, 7)),
    "strides wider than copies have": (64, 64, (1, 30), 64, (1, 10), (1, 9)),
    "few channels": (2, 32, (16, 16), 64, (3, 3), (1, 1), (1, 1), (1, 1)),
    "groups": (2, 128, (9, 9), 128, (3, 3), (1, 1), (1, 1), (1, 1), 2),
    "unknown batch": ("n", 64, (10, 9), 64, (3, 3), (1, 1), (1, 1), (1, 1)),
}


def warpgroup_products(small=False):
    """(name, kind, model, inputs, what NumPy says) of products in each way that warpgroups compute them."""
    for kind in ("float16", "bfloat16"):
        for transposed in ("", "a", "b", "ab"):
            found = gemm(kind, *RAGGED, int("a" in transposed), int("b" in transposed))
            yield f"gemm_{transposed or 'n'}", kind, *found
        for name, (batch, rows, columns, _) in TILES.items():
            yield f"tile_{name}", kind, *batched(kind, 1 if small else batch, rows, columns, 320)
        for name, sizes in CONVOLUTIONS.items():
            if sizes[0] != "n":
                yield f"convolution_{name.replace(' ', '_')}", kind, *convolution(kind, *sizes)
    yield "gemm_b", "tf32", *gemm("tf32", *RAGGED, transposed_b=1)
    for name in ("strides", "pixels"):
        yield f"convolution_{name}", "tf32", *convolution("tf32", *CONVOLUTIONS[name])
    for left in ("uint8", "int8"):
        for right in ("uint8", "int8"):
            yield f"quantized_{right}", left, *quantized_product(left, right, 130, 80, 272)
