"""Small models by family of kernels, and what NumPy says of them."""

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOATS = {"float": np.float32, "double": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
INTEGERS = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16, "int32": np.int32,
            "uint32": np.uint32, "int64": np.int64, "uint64": np.uint64}  # fmt: skip
TYPES = {**FLOATS, **INTEGERS}
# What one rounding to the type may lose.
TOLERANCE = {"float": 2e-6, "double": 1e-14, "float16": 2e-3, "bfloat16": 2e-2}


def tensor(dtype, shape, seed=0):
    """Numbers small enough that no family overflows."""
    random = np.random.default_rng(seed)
    if dtype in FLOATS:
        return random.standard_normal(shape).astype(FLOATS[dtype])
    return random.integers(1, 4, shape).astype(INTEGERS[dtype])


def model(nodes, inputs, outputs, dtype, constants=()):
    """A model of these nodes (operator, inputs, outputs, attributes); shapes by name, a string is a symbolic size."""
    element = getattr(TensorProto, dtype.upper())
    graph = helper.make_graph(
        [helper.make_node(op, ins, outs, name=f"{op.lower()}_{i}", **attributes)
         for i, (op, ins, outs, attributes) in enumerate(nodes)],
        "g",
        [helper.make_tensor_value_info(name, element, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, element, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in constants],
    )  # fmt: skip
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
    proto.ir_version = 10
    return proto


def wide(value):
    return value.astype(np.float64) if value.dtype.kind in "fV" else value


def elementwise(dtype):
    """A chain with broadcasts: x * y + z over rows of an odd length."""
    x, y, z = tensor(dtype, (3, 5, 37)), tensor(dtype, (37,), 1), tensor(dtype, (5, 1), 2)
    proto = model([("Mul", ["x", "y"], ["p"], {}), ("Add", ["p", "z"], ["r"], {})],
                  {"x": [3, 5, 37], "y": [37], "z": [5, 1]}, {"r": [3, 5, 37]}, dtype)  # fmt: skip
    return proto, [x, y, z], (wide(x) * wide(y) + wide(z))


def large(dtype):
    """Threads load 16 bytes at once."""
    x, y = tensor(dtype, (257, 256)), tensor(dtype, (257, 256), 1)
    proto = model([("Add", ["x", "y"], ["r"], {})], {"x": [257, 256], "y": [257, 256]}, {"r": [257, 256]}, dtype)
    return proto, [x, y], wide(x) + wide(y)


def dynamic(dtype):
    x, y = tensor(dtype, (7, 19)), tensor(dtype, (7, 1), 1)
    proto = model([("Sub", ["x", "y"], ["r"], {})], {"x": ["n", "m"], "y": ["n", 1]}, {"r": ["n", "m"]}, dtype)
    return proto, [x, y], wide(x) - wide(y)


def transpose(dtype):
    x = tensor(dtype, (4, 9, 33))
    proto = model([("Transpose", ["x"], ["r"], {"perm": [2, 0, 1]})], {"x": [4, 9, 33]}, {"r": [33, 4, 9]}, dtype)
    return proto, [x], x.transpose(2, 0, 1)


def gather(dtype):
    x, index = tensor(dtype, (6, 11)), np.array([5, 0, 3, 3, -1], np.int64)
    proto = model([("Gather", ["x", "i"], ["r"], {"axis": 0})], {"x": [6, 11]}, {"r": [5, 11]}, dtype, [("i", index)])
    return proto, [x], x[index]


def sum_of_rows(dtype):
    """Neighbouring threads share a row."""
    x = tensor(dtype, (9, 1000))
    proto = model([("ReduceSum", ["x", "axes"], ["r"], {"keepdims": 0})], {"x": [9, 1000]}, {"r": [9]}, dtype,
                  [("axes", np.array([1]))])  # fmt: skip
    return proto, [x], wide(x).sum(1)


def maximum_of_columns(dtype):
    """Neighbouring threads have neighbouring columns."""
    x = tensor(dtype, (200, 45))
    proto = model([("ReduceMax", ["x", "axes"], ["r"], {"keepdims": 0})], {"x": [200, 45]}, {"r": [45]}, dtype,
                  [("axes", np.array([0]))])  # fmt: skip
    return proto, [x], wide(x).max(0)


def softmax(dtype):
    x = tensor(dtype, (5, 130))
    proto = model([("Softmax", ["x"], ["r"], {"axis": -1})], {"x": ["n", 130]}, {"r": ["n", 130]}, dtype)
    e = np.exp(wide(x) - wide(x).max(1, keepdims=True))
    return proto, [x], e / e.sum(1, keepdims=True)


def layer_norm(dtype):
    x, scale, bias = tensor(dtype, (6, 96)), tensor(dtype, (96,), 1), tensor(dtype, (96,), 2)
    proto = model([("LayerNormalization", ["x", "s", "b"], ["r"], {})], {"x": [6, 96], "s": [96], "b": [96]},
                  {"r": [6, 96]}, dtype)  # fmt: skip
    wx = wide(x)
    normal = (wx - wx.mean(1, keepdims=True)) / np.sqrt(wx.var(1, keepdims=True) + np.float32(1e-5))
    return proto, [x, scale, bias], normal * wide(scale) + wide(bias)


def attention(dtype):
    """Heads of queries share keys, which have a bias; no length fills a tile."""
    q, k, v = tensor(dtype, (2, 4, 37, 24)), tensor(dtype, (2, 2, 75, 24), 1), tensor(dtype, (2, 2, 75, 24), 2)
    bias = tensor(dtype, (37, 75), 3)
    shapes = {"q": [2, 4, "m", 24], "k": [2, 2, "n", 24], "v": [2, 2, "n", 24], "b": ["m", "n"]}
    proto = model([("Attention", list(shapes), ["r"], {})], shapes, {"r": [2, 4, "m", 24]}, dtype)
    proto.opset_import[0].version = 23
    scores = wide(q) @ np.repeat(wide(k), 2, 1).swapaxes(-1, -2) / np.sqrt(24) + wide(bias)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return proto, [q, k, v, bias], e / e.sum(-1, keepdims=True) @ np.repeat(wide(v), 2, 1)


def matmul(dtype):
    """With a fused bias and activation, no size a multiple of a tile."""
    x, w, b = tensor(dtype, (70, 45)), tensor(dtype, (45, 83), 1), tensor(dtype, (83,), 2)
    proto = model([("MatMul", ["x", "w"], ["p"], {}), ("Add", ["p", "b"], ["q"], {}), ("Max", ["q", "b"], ["r"], {})],
                  {"x": ["m", 45]}, {"r": ["m", 83]}, dtype, [("w", w), ("b", b)])  # fmt: skip
    return proto, [x], np.maximum(wide(x) @ wide(w) + wide(b), wide(b))


def wide_matmul(dtype):
    """Strides are multiples of 16 bytes, and there are as many columns as the largest tiles want."""
    x, w, b = tensor(dtype, (70, 64)), tensor(dtype, (64, 4096), 1), tensor(dtype, (4096,), 2)
    proto = model([("MatMul", ["x", "w"], ["p"], {}), ("Add", ["p", "b"], ["r"], {})], {"x": ["m", 64]},
                  {"r": ["m", 4096]}, dtype, [("w", w), ("b", b)])  # fmt: skip
    return proto, [x], wide(x) @ wide(w) + wide(b)


def batched_matmul(dtype):
    x, y = tensor(dtype, (3, 33, 20)), tensor(dtype, (3, 20, 65), 1)
    proto = model([("MatMul", ["x", "y"], ["r"], {})], {"x": [3, 33, 20], "y": [3, 20, 65]}, {"r": [3, 33, 65]}, dtype)
    return proto, [x, y], wide(x) @ wide(y)


def convolution(dtype):
    x, w = tensor(dtype, (2, 5, 9, 10)), tensor(dtype, (19, 5, 3, 3), 1)
    proto = model([("Conv", ["x", "w"], ["r"], {"strides": [2, 1], "pads": [1, 1, 1, 1]})], {"x": [2, 5, 9, 10]},
                  {"r": [2, 19, 5, 10]}, dtype, [("w", w)])  # fmt: skip
    padded = np.pad(wide(x), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2]
    return proto, [x], np.einsum("nchwij,fcij->nfhw", windows, wide(w))


def host_and_device(dtype):
    """Sizes come from the host, sorting stays there: buffers go back and forth."""
    x = tensor(dtype, (50,))
    proto = model([("Mul", ["x", "x"], ["s"], {}), ("TopK", ["s", "k"], ["v", "i"], {}), ("Sqrt", ["v"], ["r"], {})],
                  {"x": ["n"]}, {"r": [4]}, dtype, [("k", np.array([4]))])  # fmt: skip
    return proto, [x], np.sort(np.abs(wide(x)))[::-1][:4]


def error_of(got, want, dtype):
    """The largest error, beside the largest element where that is more than one; of integers, how many differ."""
    if dtype not in TOLERANCE:
        return int((got != want.astype(got.dtype)).sum())
    return float(np.abs(got.astype(np.float64) - want).max() / max(1.0, np.abs(want).max()))


def tolerance_of(want, dtype):
    return TOLERANCE.get(dtype, 0) * max(1, np.sqrt(want.size) / 50)


ALL, FLOAT = list(TYPES), list(FLOATS)
MATRIX = ["float", "double", "float16", "bfloat16", "int32", "uint32", "int64", "uint64"]
FAMILIES = {
    elementwise: ALL,
    large: ALL,
    dynamic: ALL,
    transpose: ALL,
    gather: ALL,
    sum_of_rows: ["float", "double", "float16", "bfloat16", "int32", "uint32", "int64", "uint64"],
    maximum_of_columns: ["float", "double", "float16", "bfloat16", "int8", "uint8", "int32", "uint32", "int64",
                         "uint64"],
    softmax: FLOAT,
    layer_norm: FLOAT,
    attention: FLOAT,
    matmul: MATRIX,
    wide_matmul: ["float16", "bfloat16"],
    batched_matmul: MATRIX,
    convolution: ["float", "double", "float16"],
    host_and_device: ["float", "double"],
}  # fmt: skip
