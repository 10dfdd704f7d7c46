"""Trigonometric and hyperbolic functions of f32 and their inverses, over all magnitudes, against double precision."""

import numpy as np
import onnx.parser
import pytest
import strata
from support.targets import TARGETS

#: NumPy's function, and the largest error in units of the last place.
FUNCTIONS = {
    "Sin": (np.sin, 1.2), "Cos": (np.cos, 1.2), "Tan": (np.tan, 0.51),
    "Asin": (np.arcsin, 0.9), "Acos": (np.arccos, 1.1), "Atan": (np.arctan, 1.2),
    "Sinh": (np.sinh, 1.5), "Cosh": (np.cosh, 1.5),
    "Asinh": (np.arcsinh, 1.2), "Acosh": (np.arccosh, 1.6), "Atanh": (np.arctanh, 1.0),
}  # fmt: skip


def compiled(operator, size, constant=None, **options):
    x = "x" if constant is None else "c"
    initializer = "" if constant is None else f"<float[{size}] c = {{{', '.join(f'{v:.9g}' for v in constant)}}}>"
    text = f"""<ir_version: 10, opset_import: ["" : 22]> g (float[{size}] x) => (float[{size}] y) {initializer}
        {{ y = {operator} ({x}) }}"""
    return strata.compile(onnx.parser.parse_model(text), threads=1, **options)


def numbers():
    """Every 10007th f32, those around multiples of pi/2 and the borders of the polynomials; an odd number of them."""
    bits = np.arange(0, 1 << 32, 10007, dtype=np.uint64).astype(np.uint32).view(np.float32)
    special = np.float32(
        [0, 1e-45, 1e-38, 0.5, 0.69, 1, 2, 8, 65536, 89.41599, 89.416, 91, 3.4028235e38, np.inf, np.nan]
    )
    multiples = (np.arange(1, 50_000) * (np.pi / 2)).astype(np.float32)
    # The one of all f32 that is nearest to a multiple of pi/2.
    nearest = np.float32([16367173 * 2.0**72])
    some = np.concatenate([special, nearest, multiples])
    with np.errstate(over="ignore"):
        neighbours = [some, np.nextafter(some, np.float32(np.inf)), np.nextafter(some, np.float32(0))]
    x = np.concatenate([bits, *neighbours, *(-v for v in neighbours)])
    x = np.concatenate([x, np.float32([1])[: 1 - x.size % 2]])
    assert x.size % 2
    return x


def bits(x):
    """NaN has many."""
    return np.where(np.isnan(x), np.float32(np.nan), x).view(np.uint32)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("operator", FUNCTIONS)
def test_all_magnitudes(operator, target):
    function, limit = FUNCTIONS[operator]
    x = numbers()
    y = compiled(operator, x.size, target=target).run({"x": x})[0]
    with np.errstate(all="ignore"):
        expected = function(x.astype(np.float64))
        rounded = expected.astype(np.float32)
        finite = np.isfinite(rounded) & np.isfinite(y)
        np.testing.assert_array_equal(y[~finite], rounded[~finite])
        units = np.abs(y - expected)[finite] / np.spacing(np.abs(rounded[finite])).astype(np.float64)
    assert units.max() < limit, x[finite][units.argmax()]
    np.testing.assert_array_equal(np.signbit(y[finite]), np.signbit(rounded[finite]))


@pytest.mark.parametrize("operator", FUNCTIONS)
def test_lanes_do_not_matter(operator):
    """Scalars, vectors' tails, and lanes beside those with large arguments get the same bits."""
    x = np.float32(
        [0.3, 1e10, -2.5, 70000, 0.7, -1e-3, 1.5, 65535.99, np.inf, 0.9, -0.6, 3e38, 12.5, 1e-40, 0.99, 4.5, -40]
    )
    whole = compiled(operator, x.size).run({"x": x})[0]
    one = compiled(operator, 1)
    scalars = np.concatenate([one.run({"x": x[i : i + 1]})[0] for i in range(x.size)])
    np.testing.assert_array_equal(bits(scalars), bits(whole))
    turned = compiled(operator, x.size).run({"x": x[::-1].copy()})[0]
    np.testing.assert_array_equal(bits(turned[::-1]), bits(whole))


@pytest.mark.parametrize("operator", FUNCTIONS)
def test_constants(operator):
    """What is computed of constants has the bits of what is computed in a run."""
    x = np.linspace(-0.99, 0.99, 37, dtype=np.float32) + np.float32(2 if operator == "Acosh" else 0)
    folded = compiled(operator, x.size, constant=x).run({"x": x})[0]
    np.testing.assert_array_equal(bits(folded), bits(compiled(operator, x.size).run({"x": x})[0]))
