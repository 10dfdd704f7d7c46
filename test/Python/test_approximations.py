"""exp, softmax, sigmoid, expm1, erf, tanh, log, log1p, Mish and pow of f32 over their whole range, in vectors and in the
scalars that are left, and the powers of LRN, against double precision; exponentials of f64 against the 64 bits that
x86 has."""

import math

import numpy as np
import onnx.parser
import pytest
import strata
from support.targets import TARGETS

#: Not all have an instruction for x y + z.
every_target = pytest.mark.parametrize("target", TARGETS)


def run(operator, x, target):
    shape = ",".join(map(str, x.shape))
    text = (
        f'<ir_version: 10, opset_import: ["" : 22]> g (float[{shape}] x) => (float[{shape}] y) {{ y = {operator} (x) }}'
    )
    return strata.compile(onnx.parser.parse_model(text), threads=1, target=target).run({"x": x})[0]


def units(actual, expected):
    """The largest error in units of the last place of the result."""
    return (np.abs(actual - expected) / np.spacing(np.abs(expected).astype(np.float32)).astype(np.float64)).max()


@every_target
def test_exp(target):
    x = np.linspace(-103.9, 88.72, 200_003).astype(np.float32)  # subnormal results included
    assert units(run("Exp", x, target), np.exp(x.astype(np.float64))) < (1.2 if target == "x86-64" else 1)
    special = np.float32([-np.inf, -1e30, -105, -0.0, 0, 88.73, 1e30, np.inf, np.nan])
    np.testing.assert_array_equal(run("Exp", special, target), [0, 0, 0, 1, 1, np.inf, np.inf, np.inf, np.nan])


@every_target
def test_softmax(target):
    x = np.linspace(-80, 0, 16 * 20_001).astype(np.float32).reshape(-1, 16)
    x[:, 3] = 0  # the largest: the difference is exact
    y = run("Softmax", x, target).astype(np.float64)
    x = x.astype(np.float64)
    error = np.abs(y / y[:, 3:4] / np.exp(x) - 1)  # two of its units are of the products with one over the sum
    assert (error <= 2.0**-24 * (5 + np.abs(x) / 3)).all()
    least, inf = np.finfo(np.float32).min, np.inf
    rows = np.float32(
        [[least] * 5, [-inf, 1, 1, 1, least], [3e38, -3e38, 0, 1, 2], [1, -inf, -90, -1e30, -88], [1, 2, np.nan, 0, 0]]
    )
    expected = [[0.2] * 5, [0, 1 / 3, 1 / 3, 1 / 3, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [np.nan] * 5]
    np.testing.assert_allclose(run("Softmax", rows, target), expected, rtol=1e-6)


@every_target
def test_sigmoid(target):
    x = np.linspace(-87.33, 100, 400_003).astype(np.float32)  # results are normal
    assert units(run("Sigmoid", x, target), 1 / (1 + np.exp(-x.astype(np.float64)))) < 3.2
    special = np.float32([-np.inf, -1e30, -89.1, -0.0, 0, 88.73, 1e30, np.inf, np.nan])
    np.testing.assert_array_equal(run("Sigmoid", special, target), [0, 0, 0, 0.5, 0.5, 1, 1, 1, np.nan])


@every_target
@pytest.mark.parametrize(
    "operator, function, fused, separate", [("Erf", math.erf, 3e-7, 3.1e-7), ("Tanh", math.tanh, 3.2e-7, 3.6e-7)]
)
def test_erf_and_tanh(operator, function, fused, separate, target):
    x = np.concatenate([np.linspace(-10, 10, 200_003), np.geomspace(1e-38, 1, 1000)]).astype(np.float32)
    y, expected = run(operator, x, target), np.array([function(v) for v in x])
    np.testing.assert_allclose(y, expected, rtol=separate if target == "x86-64" else fused, atol=1e-45)
    assert np.abs(y).max() <= 1
    special = np.float32([-np.inf, -0.0, 0, 1e-45, np.inf, np.nan])
    result = run(operator, special, target)
    np.testing.assert_allclose(result, [-1, 0, 0, 1e-45, 1, np.nan], rtol=0, atol=1.5e-45)
    assert np.signbit(result[1])


@every_target
def test_log(target):
    x = np.arange(1, 0x7F800000, 10007, dtype=np.int32).view(np.float32)  # every magnitude, subnormal ones too
    x = np.concatenate([x, np.linspace(0.6, 1.5, 100_001, dtype=np.float32)])
    x = x[x != 1]
    assert units(run("Log", x, target), np.log(x.astype(np.float64))) < 0.9
    special = np.float32([-np.inf, -1, -1e-45, -0.0, 0, 1, np.inf, np.nan])
    expected = [np.nan, np.nan, np.nan, -np.inf, -np.inf, 0, np.inf, np.nan]
    np.testing.assert_array_equal(run("Log", special, target), expected)


@every_target
def test_expm1(target):
    """Elu below 0."""
    x = -np.concatenate([np.linspace(1e-3, 30, 200_003), np.geomspace(1e-44, 1, 1000)]).astype(np.float32)
    assert units(run("Elu", x, target), np.expm1(x.astype(np.float64))) < 1.3
    result = run("Elu", np.float32([-np.inf, -1e30, -0.0, np.nan]), target)
    np.testing.assert_array_equal(result, [-1, -1, 0, np.nan])


@every_target
@pytest.mark.parametrize(
    "operator, function, most",
    [("Exp", np.exp, 1), ("Tanh", np.tanh, 2.4), ("Elu", lambda x: np.where(x < 0, np.expm1(x), x), 1.2)],
)
def test_exponentials_of_doubles(operator, function, most, target):
    rng = np.random.default_rng(0)
    special = [
        0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        5e-324,
        -5e-324,
        709.782712893384,
        709.79,
        -745.13,
        -745.2,
        22,
        -22,
        1e300,
    ]
    x = np.concatenate([rng.uniform(-1, 1, 50_000), rng.uniform(-30, 30, 50_000), rng.uniform(-760, 720, 50_000),
                        rng.standard_normal(50_000) * 10.0 ** rng.uniform(-320, 3, 50_000), special])  # fmt: skip
    text = f"""<ir_version: 10, opset_import: ["" : 22]> g (double[{x.size}] x) => (double[{x.size}] y)
        {{ y = {operator} (x) }}"""
    actual = strata.compile(onnx.parser.parse_model(text), threads=1, target=target).run({"x": x})[0]
    with np.errstate(all="ignore"):
        exact = function(x.astype(np.longdouble))
        rounded = exact.astype(np.float64)
    kept = np.isfinite(rounded)
    np.testing.assert_array_equal(actual[~kept], rounded[~kept])
    error = np.abs(actual[kept] - exact[kept]) / np.spacing(np.abs(rounded[kept]))
    assert error.max() < (most + 0.3 if target == "x86-64" else most)
    np.testing.assert_array_equal(np.signbit(actual[kept]), np.signbit(rounded[kept]))


@every_target
def test_log1p(target):
    """Softplus of large numbers below 0, whose exponential is less than a unit of 1, and of others."""
    x = -np.linspace(0, 100, 200_003).astype(np.float32)
    expected = np.log1p(np.exp(x.astype(np.float64)))
    # One of the exponential, too.
    normal = expected > 2.0**-126
    assert units(run("Softplus", x, target)[normal], expected[normal]) < 2.7


@every_target
def test_mish(target):
    """As an operator and as it is written out, which are the same kernel."""
    x = np.linspace(-85, 100, 300_003).astype(np.float32)
    text = f"""<ir_version: 10, opset_import: ["" : 17]> g (float[{x.size}] x) => (float[{x.size}] y)
        {{ s = Softplus (x) t = Tanh (s) y = Mul (t, x) }}"""
    written = strata.compile(onnx.parser.parse_model(text), threads=1, target=target).run({"x": x})[0]
    np.testing.assert_array_equal(run("Mish", x, target), written)
    doubles = x.astype(np.float64)
    nonzero = x != 0
    assert units(written[nonzero], (doubles * np.tanh(np.logaddexp(doubles, 0)))[nonzero]) < 4.5
    special = np.float32([-1e30, -200, -0.0, 0, 200, 1e30, np.inf, np.nan])
    np.testing.assert_array_equal(run("Mish", special, target), np.where(special < 0, 0, special))


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
    numbers = [
        0,
        1e-45,
        1e-38,
        0.5,
        1,
        np.nextafter(np.float32(1), 2),
        1.5,
        2,
        3,
        2.0**23 + 1,
        2.0**24 - 1,
        2.0**24,
        3e38,
    ]
    numbers = np.float32([*numbers, np.inf, np.nan])
    numbers = np.concatenate([numbers, -numbers])
    x, exponent = (v.ravel() for v in np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), exponent.astype(np.float64)).astype(np.float32)
    for actual in (
        power(x, exponent),
        np.concatenate([power(x[i : i + 1], exponent[i : i + 1]) for i in range(0, 900, 61)]),
    ):
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
