"""docs/random-numbers.md in NumPy: what the random operators must give, bit for bit. Written from the page and the paper,
not from the compiler."""

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
MASK = np.uint64(0xFFFFFFFF)


def philox4x32(counter, key):
    """Ten rounds. `counter`: four arrays (or numbers) of 32-bit words; `key`: two. Returns four arrays of uint64."""
    c = [np.asarray(word, np.uint64) for word in counter]
    k = [int(word) for word in key]
    for _ in range(10):
        product0, product1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (product1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]),
            product1 & MASK,
            (product0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]),
            product0 & MASK,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def float_key(seed):
    """The key of an operator whose attribute `seed` is a float: its bits as float32."""
    return int(np.float32(seed).view(np.uint32))


def integer_key(seed):
    """The key of Dropout's `seed`: 64 bits, two's complement."""
    return seed % 2**64


def derived_key(key, run=0, node=0xFFFFFFFF, evaluation=0):
    """The key of a node without a seed (`key` is the session's seed), or of an advanced seed."""
    out = philox4x32((run & 0xFFFFFFFF, run >> 32, node, evaluation), (key & 0xFFFFFFFF, key >> 32))
    return int(out[1]) << 32 | int(out[0])


def blocks(key, count):
    index = np.arange(count, dtype=np.uint64)
    return philox4x32((index & MASK, index >> np.uint64(32), 0, 0), (key & 0xFFFFFFFF, key >> 32))


def unit(high, low):
    return high.astype(np.float64) * 2.0**-32 + (low >> np.uint64(11)).astype(np.float64) * 2.0**-53


def uniform(key, count):
    words = blocks(key, count)
    return unit(words[0], words[1])


def logarithm(x):
    bits = x.view(np.int64)
    exponent = (bits - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52)
    mantissa = (bits - (exponent << np.int64(52))).view(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    total = np.full_like(z, 2.0 / 23)
    for k in range(10, -1, -1):
        total = total * z + 2.0 / (2 * k + 1)
    return exponent.astype(np.float64) * 0.6931471805599453 + s * total


def cosine(high, low):
    moved = (high + np.uint64(0x20000000)) & MASK
    quarter = moved >> np.uint64(30)
    r = (moved & np.uint64(0x3FFFFFFF)).astype(np.float64) * 2.0**-30 + low.astype(np.float64) * 2.0**-51
    a = (r - 0.5) * 1.5707963267948966
    z = a * a

    def series(first):
        factors = [1.0]
        for k in range(1, 9):
            n = 2 * k + first
            factors.append(factors[-1] * (n - 1) * n)
        total = np.full_like(z, 1.0 / factors[8])
        for k in range(7, -1, -1):
            total = total * z + (-1.0 if k % 2 else 1.0) / factors[k]
        return total

    value = np.where(quarter & np.uint64(1), a * series(1), series(0))
    return np.where((quarter + np.uint64(1)) & np.uint64(2), -value, value)


def normal(key, count):
    words = blocks(key, count)
    radius = np.sqrt(-2.0 * logarithm(unit(words[0], words[1]) + 2.0**-53))
    return radius * cosine(words[2], words[3] >> np.uint64(11))


def rounded(x, dtype):
    """float64 to a narrower type, once."""
    if dtype == BFLOAT16:
        near = x.astype(np.float32)  # to odd first: rounding twice is rounding once then
        bits = near.view(np.uint32)
        back = near.astype(np.float64)
        bits = bits - (np.abs(back) > np.abs(x)).astype(np.uint32)
        return (bits | (back != x).astype(np.uint32)).view(np.float32).astype(BFLOAT16)
    with np.errstate(over="ignore", under="ignore"):
        return x.astype(dtype)


def bounds(low, high, dtype):
    """The smallest number of a type that is at least low, the largest one below high."""
    low, high = np.float32(low), np.float32(high)

    def neighbour(x, up):
        return np.nextafter(x, np.array(np.inf if up else -np.inf, dtype))

    first, last = np.array(low).astype(dtype), np.array(high).astype(dtype)
    if first.astype(np.float64) < low:
        first = neighbour(first, True)
    while last.astype(np.float64) >= high:
        last = neighbour(last, False)
    return first.astype(np.float64), last.astype(np.float64)


def uniform_in(key, count, low, high, dtype):
    if low == high:
        return np.full(count, np.float32(low)).astype(dtype)
    x = uniform(key, count) * (float(np.float32(high)) - float(np.float32(low))) + float(np.float32(low))
    return rounded(np.clip(x, *bounds(low, high, np.dtype(dtype))), np.dtype(dtype))


def normal_with(key, count, mean, scale, dtype):
    return rounded(normal(key, count) * float(np.float32(scale)) + float(np.float32(mean)), np.dtype(dtype))


def dropout(data, ratio, key):
    """(output, mask) in training mode; `ratio` as float64."""
    mask = uniform(key, data.size).reshape(data.shape) >= ratio
    compute = np.float64 if data.dtype == np.float64 else np.float32
    scale = compute(1.0 / (1.0 - float(ratio)))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = data.astype(compute) * scale
    return np.where(mask, narrowed(scaled, data.dtype), np.zeros((), data.dtype)), mask


def narrowed(x, dtype):
    """float32 (float64) to the type of the data; the types of 8 bits saturate."""
    if dtype.itemsize == 1:
        largest = float(ml_dtypes.finfo(dtype).max)
        x = np.where(np.isnan(x), x, np.clip(x, -largest, largest))
    with np.errstate(over="ignore"):
        return x.astype(dtype)
