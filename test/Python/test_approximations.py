"""exp, expm1, erf and pow of f32 over their whole range, in vectors and in the scalars that are left, and the powers of LRN,
against double precision."""

import math

import numpy as np
import onnx.parser
import pytest
import strata


def run(operator, x):
    text = f'<ir_version: 10, opset_import: ["" : 22]> g (float[{x.size}] x) => (float[{x.size}] y) {{ y = {operator} (x) }}'
    return strata.compile(onnx.parser.parse_model(text), threads=1).run({"x": x})[0]


def units(actual, expected):
    """The largest error in units of the last place of the result."""
    return (np.abs(actual - expected) / np.spacing(np.abs(expected).astype(np.float32)).astype(np.float64)).max()


def test_exp():
    x = np.linspace(-103.9, 88.72, 200_003).astype(np.float32)  # subnormal results included
    assert units(run("Exp", x), np.exp(x.astype(np.float64))) < 1
    special = np.float32([-np.inf, -1e30, -105, -0.0, 0, 88.73, 1e30, np.inf, np.nan])
    np.testing.assert_array_equal(run("Exp", special), [0, 0, 0, 1, 1, np.inf, np.inf, np.inf, np.nan])


def test_expm1():
    """Of what is below zero, which is where operators have it: Elu with the factor 1 is the function itself."""
    x = -np.concatenate([np.linspace(0, 20, 200_003)[1:], np.geomspace(1e-45, 1, 20_000)]).astype(np.float32)
    assert units(run("Elu", x), np.expm1(x.astype(np.float64))) < 2
    special = np.float32([-np.inf, -1e30, -26, -1e-45, -0.0, 0, np.inf, np.nan])
    np.testing.assert_array_equal(run("Elu", special), np.float32([-1, -1, -1, -1e-45, -0.0, 0, np.inf, np.nan]))


def test_erf():
    x = np.concatenate([np.linspace(-6, 6, 100_003), np.geomspace(1e-38, 1, 1000)]).astype(np.float32)
    y, expected = run("Erf", x), np.array([math.erf(v) for v in x])
    np.testing.assert_allclose(y, expected, rtol=3e-7, atol=1e-45)
    assert np.abs(y).max() <= 1
    special = np.float32([-np.inf, -0.0, 0, np.inf, np.nan])
    np.testing.assert_array_equal(run("Erf", special), [-1, 0, 0, 1, np.nan])


def power(x, exponent):
    text = f"""<ir_version: 10, opset_import: ["" : 22]> g (float[{x.size}] x, float[{x.size}] e) => (float[{x.size}] y)
        {{ y = Pow (x, e) }}"""
    return strata.compile(onnx.parser.parse_model(text), threads=1).run({"x": x, "e": exponent})[0]


def test_pow():
    rng = np.random.default_rng(0)
    n = 200_003
    signs = rng.choice([-1, 1], n)
    bits = rng.integers(1, 0x7F800000, n, dtype=np.int32).view(np.float32)  # every magnitude, subnormal ones too
    near = (1 + rng.uniform(-1, 1, n) * 2.0 ** rng.integers(-23, 0, n)).astype(np.float32)
    with np.errstate(all="ignore"):
        # Results over the whole range, subnormal and infinite ones too.
        results = rng.uniform(-152, 130, n)
        cases = [(v, (results / np.log2(v.astype(np.float64))).astype(np.float32)) for v in (bits, near)]
        cases.append((signs.astype(np.float32) * bits, rng.integers(-9, 10, n).astype(np.float32)))
        cases.append((rng.uniform(0, 10, n).astype(np.float32), rng.uniform(-4, 4, n).astype(np.float32)))
        for x, exponent in cases:
            actual, expected = power(x, exponent), np.power(x.astype(np.float64), exponent.astype(np.float64))
            rounded = expected.astype(np.float32)
            finite = np.isfinite(rounded) & np.isfinite(actual)
            # At the border of infinity either neighbour will do.
            border = np.isfinite(rounded) != np.isfinite(actual)
            np.testing.assert_allclose(np.abs(expected[border]), 2.0**128, rtol=2.0**-23)
            np.testing.assert_array_equal(actual[~finite & ~border], rounded[~finite & ~border])
            assert units(actual[finite], expected[finite]) < 1.1
            np.testing.assert_array_equal(np.signbit(actual[finite]), np.signbit(expected[finite]))


def test_pow_of_special_numbers():
    numbers = [0, 1e-45, 1e-38, 0.5, 1, np.nextafter(np.float32(1), 2), 1.5, 2, 3, 2.0**23 + 1, 2.0**24 - 1, 2.0**24, 3e38]
    numbers = np.float32([*numbers, np.inf, np.nan])
    numbers = np.concatenate([numbers, -numbers])
    x, exponent = (v.ravel() for v in np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), exponent.astype(np.float64)).astype(np.float32)
    for actual in (power(x, exponent), np.concatenate([power(x[i : i + 1], exponent[i : i + 1]) for i in range(0, 900, 61)])):
        reference = expected if actual.size == expected.size else expected[0:900:61]
        np.testing.assert_allclose(actual, reference, rtol=2.0**-22, atol=2.0**-149)
        kept = ~np.isnan(reference)
        np.testing.assert_array_equal(np.signbit(actual[kept]), np.signbit(reference[kept]))


@pytest.mark.parametrize("exponent", [-2, -1, -0.5, 0, 0.5, 1, 2, 3, 0.3, 2.5])
def test_pow_of_a_constant(exponent):
    x = np.concatenate([np.geomspace(1e-12, 1e12, 1001), [0, np.inf, np.nan]]).astype(np.float32)
    x = np.concatenate([x, -x])
    text = f"""<ir_version: 10, opset_import: ["" : 22]> g (float[{x.size}] x) => (float[{x.size}] y)
        <float[1] e = {{{float(exponent)}}}> {{ y = Pow (x, e) }}"""
    actual = strata.compile(onnx.parser.parse_model(text), threads=1).run({"x": x})[0]
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), np.full(x.size, np.float32(exponent), np.float64))
    np.testing.assert_allclose(actual, expected, rtol=2.5e-7)


@pytest.mark.parametrize("beta", [0.5, 0.6, 0.75, 1.0, 2.0])
@pytest.mark.parametrize("alpha, bias", [(1e-4, 1.0), (3.0, 0.0), (-0.01, 2.0)])
def test_powers_of_lrn(beta, alpha, bias):
    x = np.random.default_rng(0).standard_normal((2, 37, 5, 7)).astype(np.float32)
    text = f"""<ir_version: 10, opset_import: ["" : 22]> g (float[2,37,5,7] x) => (float[2,37,5,7] y)
        {{ y = LRN <size = 5, alpha = {alpha}, beta = {beta}, bias = {float(bias)}> (x) }}"""
    actual = strata.compile(onnx.parser.parse_model(text), threads=1).run({"x": x})[0]
    squares = np.pad(x.astype(np.float64) ** 2, ((0, 0), (2, 2), (0, 0), (0, 0)))
    sums = sum(squares[:, i : i + 37] for i in range(5))
    np.testing.assert_allclose(actual, x / (bias + alpha / 5 * sums) ** beta, rtol=2e-6)
