"""exp and erf of f32 over their whole range, in vectors and in the scalars that are left, against double precision."""

import math

import numpy as np
import onnx.parser
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


def test_erf():
    x = np.concatenate([np.linspace(-6, 6, 100_003), np.geomspace(1e-38, 1, 1000)]).astype(np.float32)
    y, expected = run("Erf", x), np.array([math.erf(v) for v in x])
    np.testing.assert_allclose(y, expected, rtol=3e-7, atol=1e-45)
    assert np.abs(y).max() <= 1
    special = np.float32([-np.inf, -0.0, 0, np.inf, np.nan])
    np.testing.assert_array_equal(run("Erf", special), [-1, 0, 0, 1, np.nan])
