"""Where the extreme element is, with ties and NaN, along rows that are lanes of vectors and along other dimensions."""

import ml_dtypes
import numpy as np
import pytest
import strata
from onnx import helper

RNG = np.random.default_rng(5)
DTYPES = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"]


def compute(operator, x, shape, **attributes):
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    inputs, output = [helper.make_tensor_value_info("x", kind, shape)], helper.make_empty_tensor_value_info("y")
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"], **attributes)], "positions", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
    return strata.compile(model, threads=1).run({"x": x})[0]


@pytest.mark.parametrize("shape", [(7, 37), (33, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_of_types(dtype, shape):
    check(dtype, shape, axis=1)


@pytest.mark.parametrize("shape", [(1, 4097), (5, 16), (3, 128), (2, 19, 21)])
def test_of_shapes(shape):
    for axis in range(len(shape)):
        check("float32", shape, axis)
    # The length of the rows is data, too.
    x = RNG.integers(-2, 3, shape)
    np.testing.assert_array_equal(compute("ArgMax", x, [None] * len(shape), axis=-1, keepdims=0), np.argmax(x, -1))


def check(dtype, shape, axis):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = RNG.integers(0 if dtype.kind == "u" else -2, 3, shape).astype(dtype)
    first = np.expand_dims(np.argmax(x, axis), axis)
    last = shape[axis] - 1 - np.expand_dims(np.argmin(np.flip(x, axis), axis), axis)
    np.testing.assert_array_equal(compute("ArgMax", x, shape, axis=axis), first)
    np.testing.assert_array_equal(compute("ArgMin", x, shape, axis=axis, select_last_index=1), last)
    if dtype.kind not in "ui":
        ones = np.zeros_like(x)
        np.put_along_axis(ones, first, 1, axis)
        np.testing.assert_array_equal(compute("Hardmax", x, shape, axis=axis), ones)


@pytest.mark.parametrize("length", [3, 16, 70])
def test_of_nan_and_infinity(length):
    x = RNG.standard_normal((8, length)).astype(np.float32)
    x[1, -1], x[2, 0], x[3] = np.nan, np.nan, np.nan
    x[4], x[5], x[6, 1], x[7, 2] = -np.inf, np.inf, np.inf, -np.inf
    x[1, 1] = np.inf
    for operator, find in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        np.testing.assert_array_equal(compute(operator, x, x.shape, axis=1, keepdims=0), find(x, 1))
        last = length - 1 - find(x[:, ::-1], 1)
        np.testing.assert_array_equal(compute(operator, x, x.shape, axis=1, keepdims=0, select_last_index=1), last)
