"""Records what TensorFlow's own CPU kernels give: python record_dequantize.py SEED COUNT > tensorflow_dequantize_random.json

The elements, ranges and results are written as hexadecimal bytes: what matters is each bit, of NaN and zero too.
"""

import json
import os
import sys

os.environ |= {"TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}

import numpy as np
import tensorflow as tf

TYPES = {"qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16, "qint32": np.int32}
ODD = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-40, 1e-38, 2.0**-126, 2.0**-119, 2.0**-111,
       1e-30, 3.4e38, -3.4e38, 6.0, 127.0, 255.0]  # fmt: skip


def bound(rng):
    choice = rng.integers(6)
    if choice == 0:
        return np.float32(ODD[rng.integers(len(ODD))])
    if choice == 1:
        return np.float32(rng.normal() * 10 ** rng.uniform(-45, 38))
    if choice == 2:
        return np.float32(rng.integers(-300, 300))
    if choice == 3:
        return np.frombuffer(rng.bytes(4), np.float32)[0]
    return np.float32(rng.normal() * 10)


def bounds(rng):
    """Mostly in order, sometimes equal or not in order."""
    low, high = bound(rng), bound(rng)
    choice = rng.integers(6)
    if choice == 0:
        return low, low
    return (high, low) if choice > 1 and low > high else (low, high)


def case(rng):
    kind = [*TYPES][rng.integers(len(TYPES))]
    mode = ["MIN_COMBINED", "MIN_FIRST", "SCALED"][rng.integers(3)]
    dtype = "bfloat16" if mode == "MIN_COMBINED" and rng.integers(2) else "float32"
    rank = int(rng.integers(0, 6))
    shape = [int(size) for size in rng.integers(0 if rng.integers(8) == 0 else 1, 3 if rank > 3 else 6, rank)]
    axis = int(rng.integers(rank)) if rank and rng.integers(2) else -int(rng.integers(1, 4))
    if axis >= 0 and mode == "MIN_FIRST":
        shape[axis] = 1
    limits = np.iinfo(TYPES[kind])
    elements = rng.integers(limits.min, int(limits.max) + 1, shape).astype(TYPES[kind]).reshape(-1)
    for value in (limits.min, limits.max, 0)[: len(elements) // 2]:
        elements[rng.integers(len(elements))] = value
    ranges = [bounds(rng) for _ in range(shape[axis] if axis >= 0 else 1)]
    low, high = (np.array([pair[i] for pair in ranges], np.float32) for i in range(2))
    return dict(qtype=kind, shape=shape, axis=axis, mode=mode, narrow_range=bool(rng.integers(2)), dtype=dtype), (
        elements.reshape(shape), low, high)  # fmt: skip


def main(seed, count):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        attributes, (elements, low, high) = case(rng)
        given = tf.bitcast(tf.constant(elements), getattr(tf, attributes["qtype"]))
        result = tf.raw_ops.Dequantize(
            input=given, min_range=low, max_range=high, mode=attributes["mode"], axis=attributes["axis"],
            narrow_range=attributes["narrow_range"], dtype=getattr(tf, attributes["dtype"]))  # fmt: skip
        hexadecimal = {"input": elements, "min_range": low, "max_range": high, "expected": result.numpy()}
        lines.append(json.dumps(attributes | {name: a.tobytes().hex() for name, a in hexadecimal.items()}))
    text = ",\n".join(lines)
    print(f'{{"tool": "tensorflow-cpu {tf.__version__}, its own kernels",\n"cases": [\n{text}\n]}}')


main(int(sys.argv[1]), int(sys.argv[2]))
