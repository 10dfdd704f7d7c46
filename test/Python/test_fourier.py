"""Fourier transforms of all kinds of lengths beside NumPy's, in double precision: short primes, which are products with
the whole matrix, products of small factors, which are shorter transforms one after another, and longer primes and what
only the run tells, which are convolutions."""

import functools

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper
from support.combinations import every_other

RNG = np.random.default_rng(3)
LENGTHS = [(np.float64, n) for n in (1, 2, 36, 97, 194, 512, 1018, 4096)] + [(np.float32, n) for n in (7, 60, 400, 1021)]


def run(x, axis, length=None, dynamic=(), **attributes):
    shape = tuple(f"d{i}" if i in dynamic else size for i, size in enumerate(x.shape))
    return compiled(x.dtype, shape, axis, length, **attributes).run({"x": x})[0]


@functools.cache
def compiled(element, shape, axis, length, **attributes):
    dtype = helper.np_dtype_to_tensor_dtype(element)
    inputs = [helper.make_tensor_value_info("x", dtype, shape)]
    outputs = [helper.make_tensor_value_info("y", dtype, None)]
    constants = [helper.make_tensor("axis", TensorProto.INT64, [], [axis])]
    if length:
        constants.append(helper.make_tensor("length", TensorProto.INT64, [], [length]))
    node = helper.make_node("DFT", ["x", "length" if length else "", "axis"], ["y"], **attributes)
    graph = helper.make_graph([node], "fourier", inputs, outputs, constants)
    return strata.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10))


def expected(x, axis, length=None, inverse=0, onesided=0):
    axis %= x.ndim
    z = x[..., 0].astype(np.float64)
    if x.shape[-1] == 2:
        z = z + 1j * x[..., 1]
    if inverse and onesided:
        return np.fft.irfft(z, length or 2 * (x.shape[axis] - 1), axis)[..., None]
    z = (np.fft.ifft if inverse else np.fft.fft)(z, length, axis)
    if onesided:
        z = np.take(z, range(z.shape[axis] // 2 + 1), axis)
    return np.stack([z.real, z.imag], -1)


def check(x, axis, length=None, dynamic=(), **attributes):
    actual = run(x, axis, length, dynamic, **attributes)
    wanted = expected(x, axis, length, **attributes)
    assert actual.shape == wanted.shape and actual.dtype == x.dtype
    # Of the largest number; f32 is rounded once.
    tolerance = {np.float32: 1e-7, np.float64: 1e-13}[x.dtype.type] * (np.abs(wanted).max() + 1e-30)
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype, length", LENGTHS)
def test_lengths(dtype, length):
    for parts in (1, 2):
        x = RNG.standard_normal((3, length, parts)).astype(dtype)
        check(x, 1, inverse=parts - 1)
        check(x, 1, onesided=1)
        check(x[:, : length // 2 + 1], 1, length, inverse=1, onesided=1)


@pytest.mark.parametrize("length", [1, 2, 3, 64, 331])
def test_lengths_that_the_run_tells(length):
    x = RNG.standard_normal((3, length, 2))
    for inverse in (0, 1):
        check(x, 1, dynamic=(1,), inverse=inverse)
    check(x, 1, dynamic=(1,), onesided=1)
    check(x, 1, length + 3, dynamic=(1,), onesided=1)
    if length > 1:
        check(x, 1, dynamic=(1,), inverse=1, onesided=1)


@every_other("length, inner, dynamic", [12, 320], [1, 5], [(), (0, 2), (1,), (0, 1, 2)])
def test_axes(length, inner, dynamic):
    """Of tensors with elements behind the axis; and with sizes, the transform's among them, that only the run tells."""
    x = RNG.standard_normal((2, length, inner, 2)).astype(np.float32)
    check(x, 1, dynamic=dynamic, inverse=int(inner == 1))
    check(x, -3, dynamic=dynamic, onesided=1)
    check(np.swapaxes(x, 1, 2).copy(), 2, dynamic=dynamic)


@pytest.mark.parametrize("length", [50, 200])
@pytest.mark.parametrize("parts", [1, 2])
def test_other_lengths_than_the_signal(length, parts):
    """What is missing counts as zeros, what is beyond the length does not count."""
    for size in (48, 100, 384):
        x = RNG.standard_normal((2, size, parts)).astype(np.float32)
        check(x, 1, length)
        check(x, 1, length, onesided=1)
        check(x, 1, length, inverse=1)


@pytest.mark.parametrize("length", [16, 97, 250, 512])
def test_half_spectrum_back(length):
    x = RNG.standard_normal((2, length // 2 + 1, 2)).astype(np.float64)
    x[:, 0, 1] = 0
    if length % 2 == 0:
        x[:, -1, 1] = 0
    check(x, 1, length, inverse=1, onesided=1)
