"""Comparison of outputs with expected ones, by the rules of ONNX's backend suite."""

import numpy as np

# Element types that numpy.testing cannot compare: every value of theirs is a float32 (or an int32).
_AS_FLOAT = {
    "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
    "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
}  # fmt: skip
_AS_INT = {"int4", "uint4", "int2", "uint2"}
_BFLOAT16_RTOL = 2**-6  # two units in the last place, as the suite's own runner has it


def _comparable(array):
    name = array.dtype.name
    if name in _AS_FLOAT:
        return array.astype(np.float32)
    if name in _AS_INT:
        return array.astype(np.int32)
    if array.dtype.kind in "OSU":
        return array.astype(str)
    return array


def _difference(expected, actual, rtol, atol, where):
    if isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return f"{where}: expected a sequence of {len(expected)}, got {type(actual).__name__}"
        for i, (e, a) in enumerate(zip(expected, actual)):
            if found := _difference(e, a, rtol, atol, f"{where}[{i}]"):
                return found
        return None
    if expected is None or actual is None:
        return None if expected is actual else f"{where}: expected {expected!r}, got {actual!r}"
    expected, actual = np.asarray(expected), np.asarray(actual)
    if expected.shape != actual.shape:
        return f"{where}: expected shape {expected.shape}, got {actual.shape}"
    strings = expected.dtype.kind in "OSU" and actual.dtype.kind in "OSU"
    if expected.dtype != actual.dtype and not strings:
        return f"{where}: expected element type {expected.dtype}, got {actual.dtype}"
    if expected.dtype.name == "bfloat16":
        rtol = max(rtol, _BFLOAT16_RTOL)
    expected, actual = _comparable(expected), _comparable(actual)
    try:
        if expected.dtype.kind in "US":
            np.testing.assert_array_equal(actual, expected)
        else:
            np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)
    except AssertionError as error:
        return f"{where}: " + " ".join(str(error).split())[:400]
    return None


def difference(expected, actual, rtol, atol):
    """The first difference in words, or None where the outputs agree within `atol + rtol * |expected|`."""
    return _difference(list(expected), list(actual), rtol, atol, "outputs")
