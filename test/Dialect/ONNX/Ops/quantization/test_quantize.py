"""Quantised numbers of any size, between two integers too, beside the formula in NumPy, and ONNX Runtime's."""

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import helper, numpy_helper, parser
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(5)


def model(operator, inputs, constants, outputs=1):
    values = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
              for n, x in inputs.items()]  # fmt: skip
    names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(operator, [*inputs, *constants], names)
    graph = helper.make_graph([node], "quantise", values, [helper.make_empty_tensor_value_info(n) for n in names],
                              [numpy_helper.from_array(x, n) for n, x in constants.items()])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def numbers(scale):
    """Halves of the scale and what is next to them, ends, anything."""
    halves = (np.arange(-700, 700, dtype=np.float32) * np.float32(0.5)).astype(np.float32) * scale
    far = np.array([0, -0.0, 1e-45, 1e30, 3.4e38, np.inf, np.nan], np.float32)
    anything = (200 * scale * RNG.standard_normal(5003)).astype(np.float32)
    x = [
        halves,
        np.nextafter(halves, np.float32(np.inf)),
        np.nextafter(halves, np.float32(-np.inf)),
        far,
        -far,
        anything,
    ]
    return np.concatenate(x).astype(np.float32)


@pytest.mark.parametrize("scale", [0.02, 0.3, 1.0, 7.77, 1e-12, 3e15, 1e-30])
@pytest.mark.parametrize("dtype, zero", [("uint8", 0), ("uint8", 128), ("uint8", 255), ("int8", 0), ("int8", -128),
                                         ("int8", 5), ("int16", -7), ("uint16", 40000)])  # fmt: skip
def test_scales(scale, dtype, zero):
    scale, zero, info = np.float32(scale), np.array(zero, dtype), np.iinfo(dtype)
    x = numbers(scale)
    with np.errstate(all="ignore"):
        quotient = np.rint(x / scale).astype(np.float64) + float(zero)
    expected = np.nan_to_num(np.clip(quotient, info.min, info.max), nan=info.min).astype(dtype)
    feeds, constants = {"x": x}, {"s": np.array(scale), "z": zero}
    (known,) = strata.compile(model("QuantizeLinear", feeds, constants)).run(feeds)
    np.testing.assert_array_equal(known, expected)
    feeds |= constants
    (given,) = strata.compile(model("QuantizeLinear", feeds, {})).run(feeds)
    np.testing.assert_array_equal(given, expected)


def test_any_scale():
    for scale in np.exp(RNG.uniform(-20, 20, 40)).astype(np.float32):
        near = np.float32(np.arange(-3, 300) - 0.5) * scale
        steps = [near]
        for _ in range(5):
            steps = [np.nextafter(steps[0], np.float32(-np.inf)), *steps, np.nextafter(steps[-1], np.float32(np.inf))]
        feeds = {"x": np.concatenate(steps)}
        constants = {"s": np.array(scale), "z": np.array(3, np.uint8)}
        (y,) = strata.compile(model("QuantizeLinear", feeds, constants), threads=1).run(feeds)
        np.testing.assert_array_equal(y, np.clip(np.rint(feeds["x"] / scale) + 3, 0, 255).astype(np.uint8))


@pytest.mark.parametrize("size", [1, 7, 64, 1027])
def test_scales_of_data(size):
    for factor, shift in ((1, 0), (100, 1000), (1e-3, -5), (0, 0), (1, 1e6)):
        feeds = {"x": (factor * RNG.standard_normal(size) + shift).astype(np.float32)}
        proto = model("DynamicQuantizeLinear", feeds, {}, outputs=3)
        if not feeds["x"].any():  # The scale is 0: nothing is defined but that.
            assert strata.compile(proto).run(feeds)[1] == 0
            continue
        session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
        for actual, expected in zip(strata.compile(proto).run(feeds), session.run(None, feeds)):
            np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("mode", ["reflect", "edge", "constant"])
@pytest.mark.parametrize("channels", [3, 16])
def test_behind_borders_and_repeated_pixels(mode, channels):
    """Numbers that are moved and then quantised, with another scale than they had, or none: exactly the reference's."""
    body = f"""
        <ir_version: 10, opset_import: ["": 21]>
        g (float[1,{channels},9,7] x, uint8[1,{channels},9,7] q) => (uint8[1,{2 * channels},22,18] y)
        <float s = {{0.031}}, uint8 z = {{117}}, float t = {{0.043}}, uint8 u = {{90}}, float[4] f = {{1, 1, 2, 2}},
         int64[8] p = {{0, 0, 2, 1, 0, 0, 2, 3}}, float v = {{0.7}}>
        {{ r = Relu(x) d = DequantizeLinear(q, t, u) a = Add(d, r) c = Concat<axis = 1>(d, a)
           l = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(c, , f)
           b = Pad<mode = "{mode}">(l, p, v) y = QuantizeLinear(b, s, z) }}"""
    proto = parser.parse_model(body)
    feeds = {"x": RNG.standard_normal((1, channels, 9, 7)).astype(np.float32),
             "q": RNG.integers(0, 256, (1, channels, 9, 7)).astype(np.uint8)}  # fmt: skip
    (expected,) = ReferenceEvaluator(proto).run(None, feeds)
    (y,) = strata.compile(proto).run(feeds)
    np.testing.assert_array_equal(y, expected)
