"""Products of 8-bit integers, which are exact: against NumPy's of 64 bits, for each of the machine's vectors, with the
numbers for which sums of 16 bits would not do."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from support.combinations import every_other
from support.targets import TARGETS

TYPES = {"u": np.uint8, "s": np.int8}


def _values(rng, kind, shape):
    """Random, but for some of the first dimension, which are the largest and the smallest number alone."""
    limits = np.iinfo(TYPES[kind])
    values = rng.integers(limits.min, limits.max, shape, TYPES[kind], endpoint=True)
    values[::3] = limits.max
    values[1::4] = limits.min
    return values


def _check(op, values, zeros, expected, target, constant=True, behind=(), shapes=None, **attributes):
    """Of the node, and of those `behind` it, which go on from "p"."""
    def info(name, array):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    stored = {"az": zeros[0], "bz": zeros[1]} | ({"b": values["b"]} if constant else {})
    stored |= {name: np.array(shape, np.int64) for name, shape in (shapes or {}).items()}
    inputs = {name: value for name, value in values.items() if name not in stored}
    node = helper.make_node(op, ["a", "b", "az", "bz"], ["p" if behind else "y"], **attributes)
    output = helper.make_tensor_value_info("y", TensorProto.INT32, expected.shape)
    graph = helper.make_graph(
        [node, *behind], "whole", [info(name, value) for name, value in inputs.items()], [output],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in stored.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    compiled = strata.compile(model, target=target)
    for _ in range(2):
        np.testing.assert_array_equal(compiled.run(inputs)[0], expected)


def _zeros(rng, kinds):
    return [TYPES[kind](rng.integers(0, 127)) for kind in kinds]


@every_other("size, kinds, target", [(1, 64, 40), (19, 3, 8), (20, 130, 33), (67, 515, 96), (200, 256, 31)],
             ["us", "ss", "uu", "su"], TARGETS)  # fmt: skip
def test_matmul(size, kinds, target):
    m, k, n = size
    rng = np.random.default_rng(m * k * n)
    a, b = _values(rng, kinds[0], (m, k)), np.ascontiguousarray(_values(rng, kinds[1], (n, k)).T)
    zeros = _zeros(rng, kinds)
    expected = (a.astype(np.int64) - zeros[0]) @ (b.astype(np.int64) - zeros[1])
    _check("MatMulInteger", {"a": a, "b": b}, zeros, expected.astype(np.int32), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kinds", ["us", "ss", "uu", "su"])
def test_heads(kinds, target):
    """Rows of one product that are parts of its columns, each with weights of its own."""
    rng = np.random.default_rng(6)
    a, b = _values(rng, kinds[0], (1, 1, 192)), np.ascontiguousarray(_values(rng, kinds[1], (160, 192)).T)
    expected = (a.astype(np.int64) @ b.astype(np.int64)).reshape(1, 5, 1, 32)
    behind = [
        helper.make_node("Reshape", ["p", "heads"], ["r"]),
        helper.make_node("Transpose", ["r"], ["y"], perm=[0, 2, 1, 3]),
    ]
    zeros = [TYPES[kind](0) for kind in kinds]
    _check("MatMulInteger", {"a": a, "b": b}, zeros, expected.astype(np.int32), target,
           behind=behind, shapes={"heads": (1, 1, 5, 32)})  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kinds", ["us", "uu"])
def test_given_in_each_run(kinds, target):
    rng = np.random.default_rng(5)
    a, b = _values(rng, kinds[0], (70, 129)), np.ascontiguousarray(_values(rng, kinds[1], (72, 129)).T)
    expected = a.astype(np.int64) @ b.astype(np.int64)
    _check("MatMulInteger", {"a": a, "b": b}, [TYPES[kind](0) for kind in kinds], expected.astype(np.int32), target,
           constant=False)  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kinds", ["us", "ss"])
@pytest.mark.parametrize("channels, size, filters, kernel, stride",
                         [(3, 13, 24, 3, 2), (16, 9, 40, 1, 1), (20, 11, 33, 3, 1), (64, 7, 64, 3, 1)])  # fmt: skip
def test_conv(channels, size, filters, kernel, stride, kinds, target):
    rng = np.random.default_rng(channels * size)
    pad = kernel // 2
    a = _values(rng, kinds[0], (size, size, 1, channels)).transpose(2, 3, 0, 1).copy()
    b = _values(rng, kinds[1], (filters, channels, kernel, kernel))
    zeros = _zeros(rng, kinds)
    x = np.pad(a.astype(np.int64) - zeros[0], ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (2, 3))[:, :, ::stride, ::stride]
    expected = np.einsum("nchwij,fcij->nfhw", windows, b.astype(np.int64) - zeros[1])
    _check("ConvInteger", {"a": a, "b": b}, zeros, expected.astype(np.int32), target,
           pads=[pad] * 4, strides=[stride] * 2)  # fmt: skip
