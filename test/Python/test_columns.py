"""Columns made images, beside a sum written from the specification."""

import itertools

import numpy as np
import pytest
import strata
from onnx import helper

RNG = np.random.default_rng(3)


def model(x, image, block, **attributes):
    nodes = [helper.make_node("Constant", [], ["image"], value_ints=image),
             helper.make_node("Constant", [], ["block"], value_ints=block),
             helper.make_node("Col2Im", ["x", "image", "block"], ["y"], **attributes)]  # fmt: skip
    inputs = [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)]
    graph = helper.make_graph(nodes, "columns", inputs, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def images(x, image, block, strides, dilations, pads):
    """The specification's sum, of one column after the other."""
    rank, channels = len(image), x.shape[1] // np.prod(block)
    padded = np.zeros((x.shape[0], channels, *(n + pads[i] + pads[rank + i] for i, n in enumerate(image))), x.dtype)
    counts = [(n - (k - 1) * d - 1) // s + 1
              for n, k, d, s in zip(padded.shape[2:], block, dilations, strides)]  # fmt: skip
    columns = x.reshape(x.shape[0], channels, *block, *counts)
    for k in itertools.product(*map(range, block)):
        for at in itertools.product(*map(range, counts)):
            place = tuple(a * s + i * d for a, s, i, d in zip(at, strides, k, dilations))
            padded[(slice(None), slice(None), *place)] += columns[(slice(None), slice(None), *k, *at)]
    return padded[(slice(None), slice(None), *(slice(pads[i], pads[i] + n) for i, n in enumerate(image)))]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(
    "image, block, strides, dilations, pads",
    [
        ([7], [3], [1], [1], [0, 0]),
        ([9, 19], [3, 2], [1, 1], [1, 1], [0, 0, 0, 0]),
        ([8, 21], [2, 3], [2, 3], [1, 1], [0, 0, 0, 0]),  # Blocks side by side.
        ([8, 9], [3, 3], [2, 1], [1, 2], [1, 2, 0, 1]),
        ([5, 6, 7], [2, 3, 2], [1, 2, 1], [2, 1, 1], [1, 0, 0, 0, 1, 2]),
        ([4, 4], [1, 1], [3, 3], [1, 1], [0, 0, 0, 0]),  # Elements that no column has.
    ],
)
def test_images_of_columns(dtype, image, block, strides, dilations, pads):
    rank = len(image)
    counts = [(n + pads[i] + pads[rank + i] - (block[i] - 1) * dilations[i] - 1) // strides[i] + 1
              for i, n in enumerate(image)]  # fmt: skip
    x = (100 * RNG.standard_normal((2, 5 * np.prod(block), np.prod(counts)))).astype(dtype)
    proto = model(x, image, block, strides=strides, dilations=dilations, pads=pads)
    expected = images(x, image, block, strides, dilations, pads)
    for threads in (1, 2):
        (actual,) = strata.compile(proto, threads=threads).run({"x": x})
        # The order of the sum is the specification's: every bit is equal.
        np.testing.assert_array_equal(actual, expected)
