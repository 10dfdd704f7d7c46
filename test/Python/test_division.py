"""Quotients and remainders of vectors and of the elements behind them, beside NumPy's: every bit of them."""

import numpy as np
import pytest
import strata
from onnx import helper

RNG = np.random.default_rng(11)
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def compute(operator, x, y, **attributes):
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    inputs = [helper.make_tensor_value_info(name, kind, value.shape) for name, value in (("x", x), ("y", y))]
    node = helper.make_node(operator, ["x", "y"], ["z"], **attributes)
    graph = helper.make_graph([node], "division", inputs, [helper.make_empty_tensor_value_info("z")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return strata.compile(model).run({"x": x, "y": y})[0]


def pairs(dtype):
    """Ends, small divisors, multiples and what is next to them, anything."""
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.min + 1, 0, 1, 2, 3, info.max // 2, info.max - 1, info.max], dtype)
    if info.min < 0:
        ends = np.append(ends, np.array([-1, -2, -3], dtype))
    x, y = [np.tile(ends, len(ends))], [np.repeat(ends, len(ends))]
    anything = RNG.integers(info.min, info.max, 4001, dtype, endpoint=True)
    small = RNG.integers(max(info.min, -9), 9, 4001, dtype, endpoint=True)
    divisors = np.where(RNG.random(4001) < 0.5, anything >> (info.bits // 2), small).astype(dtype)
    with np.errstate(all="ignore"):
        multiples = (divisors * (anything >> (info.bits // 2))).astype(dtype)
    for dividends in (anything, multiples, multiples - dtype(1), multiples + dtype(1)):
        x.append(dividends)
        y.append(divisors)
    return np.concatenate(x).astype(dtype), np.concatenate(y).astype(dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype):
    x, y = pairs(np.dtype(dtype).type)
    # 0 where nothing is defined; the lowest integer by -1 wraps.
    with np.errstate(all="ignore"):
        rest = np.where(y == 0, 0, np.fmod(x, y)).astype(dtype)
        quotient = np.where(y == 0, 0, (x - rest) // y).astype(dtype)
        floored = np.where(y == 0, 0, np.mod(x, y)).astype(dtype)
    np.testing.assert_array_equal(compute("Div", x, y), quotient)
    np.testing.assert_array_equal(compute("Mod", x, y, fmod=1), rest)
    np.testing.assert_array_equal(compute("Mod", x, y), floored)


def check_remainder(x, y):
    with np.errstate(all="ignore"):
        expected = np.fmod(x, y)
    actual = compute("Mod", x, y, fmod=1)
    same = actual.view(f"u{x.itemsize}") == expected.view(f"u{x.itemsize}")
    wrong = np.flatnonzero(~(same | (np.isnan(actual) & np.isnan(expected))))
    assert wrong.size == 0, (x[wrong[:3]], y[wrong[:3]], actual[wrong[:3]], expected[wrong[:3]])


every_float = pytest.mark.parametrize("dtype", ["float32", "float64"])


@every_float
def test_remainders_of_any_floats(dtype):
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    x, y = RNG.integers(0, np.iinfo(bits).max, (2, 100003), bits, endpoint=True).view(dtype)
    check_remainder(x, y)


@every_float
def test_remainders_near_multiples(dtype):
    y = RNG.standard_normal(50001).astype(dtype)
    for most in (2, 100, 2**24, 2**28, 2**40, 2**51, 2**53, 2**62):
        x = RNG.integers(1, most, y.size).astype(dtype) * y
        for dividends in (x, np.nextafter(x, np.zeros_like(x)), np.nextafter(x, 2 * x)):
            check_remainder(dividends, y)


@every_float
def test_remainders_of_edges(dtype):
    info = np.finfo(dtype)
    tiny, least, most = info.smallest_subnormal, info.tiny, info.max
    edges = np.array([0, 1, 2**28 - 1, 2**28, tiny, 3 * tiny, least, most, np.inf, np.nan, most / 3, 2.0**51, 2 - 1e-7])
    edges = np.concatenate([edges, -edges]).astype(dtype)
    check_remainder(np.tile(edges, edges.size), np.repeat(edges, edges.size))
    check_remainder(edges[:7], edges[9:2:-1])  # Less than a vector.
