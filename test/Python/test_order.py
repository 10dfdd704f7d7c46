"""TopK and NonMaxSuppression on many elements, against NumPy and ONNX Runtime."""

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
import strata
from onnx import parser

TOP_K = """
<ir_version: 10, opset_import: ["" : 24]>
m ({type}[3, n, 2] x, int64[1] k) => ({type}[3, m, 2] y, int64[3, m, 2] i) {{ y, i = TopK<axis = 1, largest = {largest}>(x, k) }}
"""
SUPPRESSION = """
<ir_version: 8, opset_import: ["" : 13]>
m (float[2, n, 4] b, float[2, 3, n] s, int64 k, float o, float t) => (int64[m, 3] y) {{
  y = NonMaxSuppression<center_point_box = {centers}>(b, s, k, o, t)
}}
"""
TYPES = {"float": np.float32, "double": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "int8": np.int8,
         "uint8": np.uint8, "int64": np.int64, "uint64": np.uint64}  # fmt: skip


def draw(dtype, n, generator):
    """Few different values, the extremes among them: many are equal."""
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        pool = np.array([limits.min, limits.min + 1, 0, 1, 7, limits.max - 1, limits.max], dtype)
    else:
        pool = np.array([-np.inf, -2, -0.0, 0.0, 0.5, 3, np.inf, np.nan]).astype(dtype)
    return generator.choice(pool, (3, n, 2))


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("name", TYPES)
def test_the_first_of_equal_ones_comes_first(name, largest):
    model = strata.compile(parser.parse_model(TOP_K.format(type=name, largest=largest)))
    generator = np.random.default_rng(1)
    for n, k in [(1000, 1), (1000, 300), (777, 777), (5, 0), (20000, 17)]:
        x = draw(TYPES[name], n, generator)
        values, indices = model.run([x, np.array([k])])
        # A stable sort; NaN is above every number, and zeros are equal.
        wide = x if np.issubdtype(x.dtype, np.integer) else x.astype(np.float64)
        ranks = np.unique(wide, return_inverse=True)[1].reshape(x.shape).astype(np.int64)
        order = np.argsort(-ranks if largest else ranks, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(indices, order)
        expected = np.take_along_axis(x, order, axis=1)
        np.testing.assert_array_equal(values.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("n", [15, 16, 17, 18, 33, 40, 100])
def test_many_rows_of_few(n):
    """Elements are looked at in steps of 16 behind the first k: better ones are in each place of a step."""
    model = strata.compile(parser.parse_model(TOP_K.format(type="float", largest=1)))
    generator = np.random.default_rng(n)
    for k in (1, 2, 15):
        for _ in range(20):
            x = generator.permuted(np.broadcast_to(np.arange(n, dtype=np.float32)[:, None], (3, n, 2)), axis=1)
            values, indices = model.run([x, np.array([k])])
            np.testing.assert_array_equal(values, np.broadcast_to(np.arange(n - 1, n - 1 - k, -1)[:, None], (3, k, 2)))
            np.testing.assert_array_equal(np.take_along_axis(x, indices, axis=1), values)


@pytest.mark.parametrize("centers", [0, 1])
def test_boxes_are_those_of_onnx_runtime(centers):
    text = SUPPRESSION.format(centers=centers)
    model = strata.compile(parser.parse_model(text))
    oracle = onnxruntime.InferenceSession(parser.parse_model(text).SerializeToString())
    generator = np.random.default_rng(2)
    for n, k, overlap, least in [(3000, 100, 0.5, 0.1), (500, 10**12, 0.3, -1.0), (64, 0, 0.5, 0), (1, 5, 0, 2)]:
        boxes = generator.random((2, n, 4), np.float32) * 10
        scores = generator.integers(0, 200, (2, 3, n)).astype(np.float32) / 200
        feeds = {"b": boxes, "s": scores, "k": np.array(k), "o": np.float32(overlap), "t": np.float32(least)}
        expected = oracle.run(None, {name: np.asarray(value) for name, value in feeds.items()})[0]
        np.testing.assert_array_equal(model.run(feeds)[0], expected)


@pytest.mark.parametrize("spread", [3, 100, 3000])
def test_many_boxes_are_those_of_onnx_runtime(spread):
    """So many that they are looked for where they lie; some with sides of zero, some far away, many equal."""
    text = SUPPRESSION.format(centers=0)
    model = strata.compile(parser.parse_model(text))
    oracle = onnxruntime.InferenceSession(parser.parse_model(text).SerializeToString())
    generator = np.random.default_rng(3)
    n = 4000
    corner = generator.random((2, n, 2), np.float32) * spread
    size = generator.integers(0, 20, (2, n, 2)).astype(np.float32)
    size[:, :3] = 1e30
    boxes = np.concatenate([corner, corner + size], 2)
    boxes[:, 1000:1100] = boxes[:, :1]
    scores = generator.integers(0, 200, (2, 3, n)).astype(np.float32) / 200
    least = np.array(-1, np.float32)
    for k, overlap in [(10**6, 0.0), (10**6, 0.5), (700, 0.9), (10**6, 1.0)]:
        feeds = {"b": boxes, "s": scores, "k": np.array(k), "o": np.array(overlap, np.float32), "t": least}
        np.testing.assert_array_equal(model.run(feeds)[0], oracle.run(None, feeds)[0])


def test_boxes_with_no_number_overlap_with_none():
    model = strata.compile(parser.parse_model(SUPPRESSION.format(centers=0)))
    n = 3000
    boxes = np.tile(np.array([0, 0, 1, 1], np.float32), (2, n, 1))
    boxes[:, ::2, 1] = np.nan
    boxes[:, 1::2] += np.arange(n // 2, dtype=np.float32)[:, None]
    boxes[:, 1001, 2:] = np.inf
    scores = np.tile(np.arange(n, 0, -1, dtype=np.float32), (2, 3, 1))
    feeds = {"b": boxes, "s": scores, "k": np.array(n), "o": np.array(0, np.float32), "t": np.array(0, np.float32)}
    # The infinite box touches all of a lower score, but what they have in common is nothing of it.
    expected = [[b, c, i] for b in range(2) for c in range(3) for i in range(n)]
    np.testing.assert_array_equal(model.run(feeds)[0], expected)
