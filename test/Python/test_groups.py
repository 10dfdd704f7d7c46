"""Convolutions in groups of few filters, several of which share vectors: against sums in double precision."""

import ml_dtypes
import numpy as np
import pytest
import strata
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from support.combinations import every_other
from support.targets import BYTE_TARGETS, TARGETS, has

# Groups, channels and filters of one, image, kernel, steps, dilations, zeros around.
CASES = [
    (32, 4, 4, (14, 14), (3, 3), (1, 1), (1, 1), 1), (32, 8, 8, (7, 7), (3, 3), (1, 1), (1, 1), 1),
    (13, 8, 8, (9, 28), (3, 3), (1, 1), (1, 1), 1), (6, 8, 8, (11, 13), (3, 3), (2, 2), (1, 1), 1),
    (5, 4, 4, (8, 9), (3, 3), (1, 2), (1, 1), 1), (3, 4, 4, (6, 31), (1, 5), (1, 1), (1, 2), 4),
    (16, 2, 2, (7, 15), (3, 3), (1, 1), (1, 1), 0), (9, 2, 2, (5, 6), (2, 2), (1, 1), (1, 1), 1),
    (4, 1, 4, (6, 8), (3, 3), (1, 1), (1, 1), 1), (8, 3, 4, (5, 17), (3, 3), (1, 1), (1, 1), 1),
    (8, 16, 4, (6, 6), (3, 3), (1, 1), (1, 1), 1), (4, 5, 8, (4, 20), (3, 1), (1, 1), (1, 1), 1),
    (32, 4, 4, (5, 6), (1, 1), (1, 1), (1, 1), 0), (2, 8, 8, (3, 3), (3, 3), (1, 1), (1, 1), 1),
    (7, 4, 4, (4, 12), (3, 3), (1, 3), (1, 1), 1), (12, 6, 8, (5, 9), (3, 9), (1, 1), (1, 1), 4),
    (3, 12, 4, (3, 10), (3, 3), (1, 1), (2, 2), 2), (11, 3, 3, (6, 6), (3, 3), (1, 1), (1, 1), 1),
]  # fmt: skip


def draw(case, seed, kinds):
    """Data of two images, channels last, and weights, in the types of `kinds`."""
    groups, channels, filters, image, kernel, *_ = case
    rng = np.random.default_rng(seed)
    shapes = (2, *image, groups * channels), (groups * filters, channels, *kernel)
    if np.issubdtype(kinds[0], np.floating):
        return [rng.standard_normal(shape).astype(kind) for shape, kind in zip(shapes, kinds, strict=True)]
    limits = [np.iinfo(kind) for kind in kinds]
    return [
        rng.integers(limit.min, limit.max, shape, kind, endpoint=True)
        for shape, limit, kind in zip(shapes, limits, kinds, strict=True)
    ]


def model(case, x, w, operator="Conv", zero=None, batch=2):
    """The convolution between transpositions, so that its channels come last, with a bias behind."""
    groups, channels, filters, image, kernel, strides, dilations, pad = case
    result = np.dtype(np.int32) if operator == "ConvInteger" else x.dtype
    constants = {"w": w, "b": (np.arange(groups * filters) % 7).astype(result)}
    if zero is not None:
        constants["z"] = np.array(zero, x.dtype)
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]),
        helper.make_node(operator, ["t", "w"] + ["z"] * (zero is not None), ["c"], name="convolution", group=groups,
                         kernel_shape=kernel, strides=strides, dilations=dilations, pads=[pad] * 4),
        helper.make_node("Transpose", ["c"], ["u"], perm=[0, 2, 3, 1]),
        helper.make_node("Add", ["u", "b"], ["y"]),
    ]  # fmt: skip
    types = [helper.np_dtype_to_tensor_dtype(np.dtype(kind)) for kind in (x.dtype, result)]
    graph = helper.make_graph(
        nodes, "groups",
        [helper.make_tensor_value_info("x", types[0], [batch, *x.shape[1:]])],
        [helper.make_tensor_value_info("y", types[1], None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def expected(case, x, w):
    x, w = x.astype(np.float64), w.astype(np.float64)
    [y] = ReferenceEvaluator(model(case, x, w)).run(None, {"x": x})
    return y


@every_other("seed, target", range(len(CASES)), TARGETS)
def test_f32(seed, target):
    case = CASES[seed]
    x, w = draw(case, seed, (np.float32, np.float32))
    # The number of images may be the run's.
    proto = model(case, x, w, batch=["n", 2][seed % 2])
    [y] = strata.compile(proto, threads=1 + seed % 2, target=target).run([x])
    wanted = expected(case, x, w)
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=2e-6 * np.abs(wanted).max())


# Each group is a convolution of its own.
WIDE = [
    (2, 16, 24, (9, 14), (3, 3), (1, 1), (1, 1), 1), (3, 20, 16, (12, 31), (3, 3), (1, 1), (2, 2), 2),
    (16, 16, 16, (7, 7), (3, 3), (1, 1), (1, 1), 0), (4, 48, 48, (14, 14), (3, 3), (1, 1), (1, 1), 1),
    (17, 48, 50, (6, 9), (3, 3), (1, 1), (1, 1), 1), (2, 32, 16, (13, 11), (5, 5), (1, 1), (1, 1), 2),
    (3, 24, 33, (8, 40), (1, 3), (1, 1), (1, 1), 1), (2, 16, 16, (10, 10), (2, 2), (1, 1), (1, 1), 1),
    (2, 64, 64, (5, 5), (7, 7), (1, 1), (1, 1), 3),
]  # fmt: skip


@every_other("seed, target", range(len(WIDE)), TARGETS)
def test_wide_groups(seed, target):
    x, w = draw(WIDE[seed], seed, (np.float32, np.float32))
    proto = model(WIDE[seed], x, w, batch=["n", 2][seed % 2])
    [y] = strata.compile(proto, threads=1 + seed % 2, target=target).run([x])
    wanted = expected(WIDE[seed], x, w)
    np.testing.assert_allclose(y, wanted, atol=2e-5 * np.abs(wanted).max())


@pytest.mark.skipif(not has("avx512_bf16"), reason="this CPU has no AVX512-BF16")
@pytest.mark.parametrize("seed, case", list(enumerate(CASES)), ids=str)
def test_bf16(seed, case):
    """Of numbers that bf16 has, products are exact."""
    x, w = (array.astype(ml_dtypes.bfloat16).astype(np.float32) for array in draw(case, seed, (np.float32, np.float32)))
    [y] = strata.compile(model(case, x, w), precision="bf16").run([x])
    wanted = expected(case, x, w)
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=2e-6 * np.abs(wanted).max())


@every_other("seed, types", range(len(CASES)), [("uint8", "int8", None), ("int8", "int8", None),
                                                ("uint8", "uint8", None), ("uint8", "int8", 3)])  # fmt: skip
def test_bytes(seed, types):
    case, data, weights, zero = CASES[seed], *map(np.dtype, types[:2]), types[2]
    x, w = draw(case, seed, (data, weights))
    target = BYTE_TARGETS[(seed + zero if zero else seed) % len(BYTE_TARGETS)]
    [y] = strata.compile(model(case, x, w, "ConvInteger", zero), target=target).run([x])
    np.testing.assert_array_equal(y, expected(case, x.astype(np.int32) - (zero or 0), w))
