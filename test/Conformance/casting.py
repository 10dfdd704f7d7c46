"""What a cast gives, by the text of Cast: small types by a table of their values, the others by Python's numbers."""

import functools
import math

import numpy as np
from Conformance import schemas
from Conformance.table import array, is_float, is_integer, limits

FLOAT8 = {"float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"}
SMALL = {"float4e2m1": 4, "float6e2m3": 6, "float6e3m2": 6, "float8e8m0": 8} | dict.fromkeys(FLOAT8, 8)


@functools.cache
def finite_codes(element):
    """[(value, code)] of the finite values of zero or above, in order."""
    codes = np.arange(2 ** SMALL[element], dtype=np.uint8)
    values = codes.view(schemas.dtype(element)).astype(np.float64)
    pairs = {float(v): int(c) for v, c in zip(values, codes) if np.isfinite(v) and not np.signbit(v)}
    return sorted(pairs.items())


def to_small(value, element, saturate=True):
    """The nearest value, of two the one with the even code; beyond the greatest that or what saturate=0 says.

    Before version 24, Cast's table had NaN for infinities saturated to the FNUZ types. No implementation did that, and
    24 corrected it: all versions are taken to mean the same.
    """
    magnitude, table = abs(value), finite_codes(element)
    greatest, step = table[-1][0], table[-1][0] - table[-2][0]
    beyond = magnitude > greatest + step / 2 or (magnitude == greatest + step / 2 and table[-1][1] % 2 == 1)
    if beyond:
        if saturate or element not in FLOAT8:
            return math.copysign(greatest, value)
        return math.copysign(math.inf, value) if element == "float8e5m2" else math.nan
    best = min(table, key=lambda pair: (abs(pair[0] - magnitude), pair[1] % 2))[0]
    return math.copysign(best, value)


def to_e8m0(value, saturate=True, mode="up"):
    """Powers of two from 2^-127 to 2^127."""
    least, most = 2.0**-127, 2.0**127
    if math.isnan(value):
        return math.nan
    if value > most or value < least:
        if not saturate:
            return math.nan
        return most if value > most else least
    exponent = math.floor(math.log2(value))
    low = 2.0**exponent
    if value == low:
        return low
    if mode == "up" or (mode == "nearest" and value >= 1.5 * low):
        return 2 * low
    return low


def cast_one(value, source, target, saturate, mode):
    """One element, a Python number or string, as one of the target."""
    if source == "string":
        value = float(value) if is_float(target) else int(value)
    if target == "string":
        return shortest(value, source)
    if target == "bool":
        return value != 0
    if is_integer(target):
        least, most = limits(target)
        return (int(value) - least) % (most - least + 1) + least
    value = float(value)
    if target == "float8e8m0":
        return to_e8m0(value, saturate, mode)
    if target in SMALL:
        return value if math.isnan(value) else to_small(value, target, saturate)
    return value


def shortest(value, source):
    """The shortest text that is read as the same number of the type."""
    if source in ("float", "double", "float16"):
        return str(array(value, source)[()])
    return str(value)


def numbers(x, source):
    """The elements as Python's numbers or strings."""
    if source == "string":
        return x.reshape(-1).tolist()
    wide = x.reshape(-1)
    if is_float(source):
        return [float(v) for v in wide.astype(np.float64)]
    return [bool(v) if source == "bool" else int(v) for v in wide]


def cast(x, source, target, saturate=True, mode="up"):
    values = [cast_one(v, source, target, saturate, mode) for v in numbers(x, source)]
    if target == "string":
        return array(np.array(values, object).reshape(x.shape), target)
    with np.errstate(all="ignore"):
        return np.array(values, object if is_integer(target) else None).astype(schemas.dtype(target)).reshape(x.shape)


def has_meaning(value, source, target):
    """Whether the text says what becomes of the element: out of range is not defined for integers."""
    if source == "string" or target == "string":
        return True
    if source == target:
        return not is_float(source) or not math.isinf(value)  # whether that saturates
    if is_float(source) and is_integer(target):
        least, most = limits(target)
        return math.isfinite(value) and least <= math.trunc(value) <= most
    if target == "float8e8m0":
        return math.isnan(value) or value >= 0
    if target in ("float4e2m1", "float6e2m3", "float6e3m2"):
        return math.isfinite(value)
    return True


def reinterpreted(codes, element):
    """Bytes as elements of a type of 8 bits or fewer, in whose array each takes a byte."""
    bits = schemas.bits(element)
    if element.startswith("int"):
        codes = codes.astype(np.int64)
        return array(np.where(codes >= 2 ** (bits - 1), codes - 2**bits, codes), element)
    return array(codes, element) if element.startswith("uint") else codes.view(schemas.dtype(element))


def source_values(source, target):
    """All values of a small type, and otherwise what is worth testing."""
    if target == "string":
        if source in SMALL:
            return array([0.5, 2], source)
        return array([0.5, -2.25, 100.5, 314.15625] if is_float(source) else [3, 0, 100, 7], source)
    if source == "string":
        texts = ["3", "0", "-7", "100"] if not target.startswith("u") else ["3", "0", "7", "100"]
        if is_float(target):
            texts = ["3.5", "-0.25", "1e-2", "1E2", "inf", "-INF", "+Inf", "NaN", "-1"]
        texts = [t for t in texts if target not in SMALL or t in ("3.5", "1E2")]
        return array(texts, source)
    if source == "bool":
        return array([0, 1], source)
    if source in SMALL or schemas.bits(source) <= 8:
        codes = np.arange(2 ** schemas.bits(source), dtype=np.uint8)
        values = reinterpreted(codes, source)
    elif is_integer(source):
        plain = [0, 1, 2, 3, 100, 127, 128, 200, 255, 256, 1000, 32767, 32768, 40000, 65535, 65536]
        values = array(np.array([v for v in plain if v <= limits(source)[1]] + list(limits(source)), object), source)
        if limits(source)[0] < 0:
            values = np.concatenate([values, array([-1, -2, -3, -100, -129], source)])
    else:
        plain = [0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.5, 3.3, 5.1, 6.9, 100, 250, 440, 460, 463, 470, 1e-3, 0.07, 2e-5]
        values = np.concatenate([array([*plain, 61000, 1e5, 1e30, np.nan, np.inf, -np.inf, -300], source)])
    kept = [has_meaning(v, source, target) for v in numbers(values, source)]
    return values[np.array(kept, bool)]
