"""Convolutions of small images with much padding, whose taps in the padding are left out, against the definition; and
borders that repeat elements, beside NumPy's."""

import itertools

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, parser
from onnx.reference import ReferenceEvaluator
from support.targets import has

import strata

RNG = np.random.default_rng(0)


def reference(x, w, pads, strides, dilations, group):
    """In double precision, tap by tap."""
    rank = x.ndim - 2
    low, high = pads[:rank], pads[rank:]
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *zip(low, high)])
    sizes = [(padded.shape[2 + i] - dilations[i] * (w.shape[2 + i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
    y = np.zeros((x.shape[0], w.shape[0], *sizes))
    weights = w.astype(np.float64).reshape(group, -1, *w.shape[1:])
    for tap in itertools.product(*(range(k) for k in w.shape[2:])):
        at = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, sizes, strides))
        part = padded[(slice(None), slice(None), *at)].reshape(x.shape[0], group, -1, *sizes)
        y += np.einsum("gfc,ngc...->ngf...", weights[(..., *tap)], part).reshape(y.shape)
    return y


CASES = {
    # channels, filters, group, size, kernel, pads, strides, dilations
    "3x3": (32, 64, 1, (7, 7), (3, 3), (1, 1, 1, 1), (1, 1), (1, 1)),
    "dilation 12": (16, 32, 1, (14, 14), (3, 3), (12, 12, 12, 12), (1, 1), (12, 12)),
    "stride 2": (16, 48, 1, (9, 8), (5, 5), (2, 2, 2, 2), (2, 2), (1, 1)),
    "stride and dilation": (8, 40, 1, (10, 11), (3, 3), (4, 3, 3, 4), (3, 2), (2, 3)),
    "uneven": (16, 32, 1, (6, 5), (4, 3), (3, 0, 0, 2), (1, 1), (1, 1)),
    "more padding than data": (16, 32, 1, (3, 4), (3, 3), (5, 5, 6, 6), (1, 1), (2, 2)),
    "one column": (16, 32, 1, (8, 1), (5, 1), (2, 0, 2, 0), (1, 1), (1, 1)),
    "one row": (16, 32, 1, (1, 9), (3, 3), (1, 1, 1, 1), (1, 1), (1, 1)),
    "depthwise": (32, 32, 32, (14, 14), (5, 5), (2, 2, 2, 2), (1, 1), (1, 1)),
    "groups": (32, 64, 4, (7, 7), (3, 3), (1, 1, 1, 1), (1, 1), (1, 1)),
    "one dimension": (16, 32, 1, (9,), (5,), (4, 4), (1,), (2,)),
    "three dimensions": (8, 32, 1, (4, 5, 6), (3, 3, 3), (1, 2, 1, 1, 2, 1), (1, 1, 1), (1, 2, 1)),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", CASES)
def test_convolution(case, threads):
    channels, filters, group, size, kernel, pads, strides, dilations = CASES[case]
    w = RNG.standard_normal((filters, channels // group, *kernel)).astype(np.float32)
    attributes = dict(pads=pads, strides=strides, dilations=dilations, group=group)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"], **attributes), helper.make_node("Relu", ["c"], ["y"])],
        "padding",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", channels, *size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    compiled = strata.compile(model, winograd=False, threads=threads)
    for n in (1, 3):
        x = RNG.standard_normal((n, channels, *size)).astype(np.float32)
        expected = np.maximum(reference(x, w, pads, strides, dilations, group), 0)
        [y] = compiled.run({"x": x})
        assert y.shape == expected.shape
        assert np.abs(y - expected).max() <= 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
@pytest.mark.parametrize(
    "pads",
    [
        [(0, 0), (3, 2), (1, 4)],
        [(2, 1), (0, 0), (0, 3)],
        [(9, 20), (1, 1), (30, 25)],
        [(0, 0), (-1, 2), (3, -2)],
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_repeated_borders(mode, pads, known):
    x = RNG.integers(0, 100, (3, 6, 7)).astype(np.float32)
    expected = np.pad(x[:, max(-pads[1][0], 0) :, : 7 + min(pads[2][1], 0)], np.maximum(pads, 0), mode)
    amounts = np.array(pads).T.ravel()
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape if known else [None] * 3)]
    if not known:
        inputs.append(helper.make_tensor_value_info("p", TensorProto.INT64, [6]))
    graph = helper.make_graph([helper.make_node("Pad", ["x", "p"], ["y"], mode=mode)], "borders", inputs,
                              [helper.make_empty_tensor_value_info("y")],
                              [numpy_helper.from_array(amounts, "p")] if known else [])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    feeds = {"x": x} if known else {"x": x, "p": amounts}
    np.testing.assert_array_equal(strata.compile(model, threads=1).run(feeds)[0], expected)


BETWEEN = """<ir_version: 9, opset_import: ["" : 18]>
between (float[1, 8, %s] x, float[%d, 8, 3, 3] v, float[24, %d, 3, 3] w) => (float[1, 24, r, s] y) {
  a = Conv <pads = [1, 1, 1, 1]> (x, v)
  b = Relu (a)
  scales = Constant <value_floats = [1.0, 1.0, %s]> ()
  c = Resize <mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"> (b, "", scales)
  pads = Constant <value_ints = [0, 0, 2, 1, 0, 0, 1, 3]> ()
  d = Pad <mode = "%s"> (c, pads)
  y = Conv (d, w)
}"""


@pytest.mark.parametrize("precision, tolerance", [("f32", 1e-5), ("bf16", 2e-2)])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("mode, channels, scales", [("reflect", 32, "2.0, 2.0"), ("edge", 3, "2.0, 2.0"),
                                                    ("wrap", 32, "1.0, 1.0"), ("reflect", 16, "1.0, 3.0")])  # fmt: skip
def test_between_convolutions(mode, channels, scales, known, precision, tolerance):
    if precision == "bf16" and not has("avx512_bf16"):
        pytest.skip("this CPU has no AVX512-BF16")
    model = parser.parse_model(BETWEEN % ("6, 7" if known else "h, w", channels, channels, scales, mode))
    feeds = {}
    for value in list(model.graph.input):
        shape = [dim.dim_value or size for dim, size in zip(value.type.tensor_type.shape.dim, (1, 8, 6, 7))]
        feeds[value.name] = RNG.standard_normal(shape).astype(np.float32)
        if value.name != "x":
            model.graph.initializer.append(numpy_helper.from_array(feeds[value.name], value.name))
            model.graph.input.remove(value)
    [expected] = ReferenceEvaluator(model).run(None, {"x": feeds["x"]})
    [y] = strata.compile(model, precision=precision).run({"x": feeds["x"]})
    assert y.shape == expected.shape
    assert np.abs(y - expected).max() <= tolerance * np.abs(expected).max()
