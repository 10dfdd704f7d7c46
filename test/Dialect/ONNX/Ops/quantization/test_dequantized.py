"""Products of dequantized operands, which are computed with integers, and quotients, which are computed as products."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper


def model_of(nodes, inputs, weights, results):
    def values(arrays):
        return [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in arrays.items()
        ]

    constants = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "dequantized", values(inputs), results, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def dequantized(name, axis=None):
    operands = [name, f"{name}_scale", f"{name}_zero"]
    return helper.make_node("DequantizeLinear", operands, [f"{name}_real"], **({} if axis is None else {"axis": axis}))


def real(q, scale, zero, axis):
    shape = [-1 if i == axis else 1 for i in range(q.ndim)] if np.ndim(scale) else ()
    return (q.astype(np.float64) - zero.astype(np.float64).reshape(shape)) * scale.astype(np.float64).reshape(shape)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("kind", [np.uint8, np.int8])
@pytest.mark.parametrize("operator", ["MatMul", "Gemm", "Gemm^T", "Conv"])
def test_products(operator, kind, per_channel):
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
        "x_scale": np.float32(0.037),
        "x_zero": np.array(rng.integers(low, high), kind),
        "w_scale": (rng.random(channels if per_channel else ()) * 0.01 + 0.001).astype(np.float32),
        "w_zero": np.zeros(channels if per_channel else (), np.int8),
        "b": rng.standard_normal(channels).astype(np.float32),
    }
    name = operator.removesuffix("^T")
    operands = ["x_real", "w_real"] + (["b"] if name != "MatMul" else [])
    nodes = [dequantized("x"), dequantized("w", axis), helper.make_node(name, operands, ["y"], **attrs)]
    left = real(x, weights["x_scale"], weights["x_zero"], None)
    right = real(w, weights["w_scale"], weights["w_zero"], axis)
    if name == "Conv":
        left = np.pad(left, [(0, 0), (0, 0), (1, 1), (1, 1)])
        windows = np.lib.stride_tricks.sliding_window_view(left, (3, 3), axis=(2, 3))
        want = np.einsum("nchwij,fcij->nfhw", windows, right) + weights["b"].reshape(-1, 1, 1)
    else:
        want = attrs.get("alpha", 1) * (left @ (right.T if "transB" in attrs else right))
        if name == "Gemm":
            want = want + attrs.get("beta", 1) * weights["b"]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, want.shape)
    [y] = strata.compile(model_of(nodes, {"x": x}, weights, [result])).run({"x": x})
    # A few roundings; the sums have none.
    assert np.abs(y - want).max() <= 1e-6 * np.abs(want).max()


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
