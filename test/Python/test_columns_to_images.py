"""Col2Im: blocks that overlap, that touch, that leave gaps, of every stride and dilation, against the definition."""

import itertools

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(3)
CASES = {
    # image, block, strides, dilations, pads
    "every position": ((9, 10), (3, 3), (1, 1), (1, 1), (0, 0, 0, 0)),
    "two groups": ((10, 14), (4, 4), (2, 2), (1, 1), (1, 1, 1, 1)),
    "patches": ((12, 15), (4, 5), (4, 5), (1, 1), (0, 0, 0, 0)),
    "patches and a rest": ((14, 17), (4, 5), (4, 5), (1, 1), (0, 0, 0, 0)),
    "gaps": ((11, 13), (2, 3), (4, 5), (1, 1), (0, 0, 0, 0)),
    "no whole groups": ((11, 12), (3, 5), (2, 3), (1, 1), (0, 2, 1, 0)),
    "dilated": ((11, 12), (2, 4), (2, 2), (3, 1), (1, 0, 2, 1)),
    "one side": ((12, 9), (4, 3), (2, 2), (1, 1), (0, 0, 0, 0)),
    "a line": ((20,), (6,), (3,), (1,), (1, 2)),
    "a volume": ((6, 5, 7), (2, 3, 2), (2, 1, 2), (1, 1, 1), (0, 1, 0, 0, 0, 1)),
}


def fold(x, image, block, strides, dilations, pads):
    rank = len(image)
    padded = [image[i] + pads[i] + pads[rank + i] for i in range(rank)]
    blocks = [(padded[i] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
    columns = x.reshape(x.shape[0], -1, *block, *blocks)
    y = np.zeros((x.shape[0], columns.shape[1], *padded), x.dtype)
    for at in itertools.product(*(range(size) for size in block)):
        place = tuple(slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, n, s in zip(at, dilations, blocks, strides))
        y[(slice(None), slice(None), *place)] += columns[(slice(None), slice(None), *at)]
    return y[(slice(None), slice(None), *(slice(pads[i], pads[i] + image[i]) for i in range(rank)))]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
@pytest.mark.parametrize("name", CASES)
def test_columns_to_images(name, dtype, known):
    image, block, strides, dilations, pads = CASES[name]
    rank = len(image)
    count = np.prod([(image[i] + pads[i] + pads[rank + i] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1
                     for i in range(rank)])  # fmt: skip
    x = RNG.integers(-9, 9, (2, 3 * np.prod(block), count)).astype(dtype)
    node = helper.make_node("Col2Im", ["x", "i", "b"], ["y"], strides=strides, dilations=dilations, pads=pads)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    inputs = [helper.make_tensor_value_info("x", kind, x.shape if known else [None] * 3)]
    feeds, weights = {"x": x}, [numpy_helper.from_array(np.array(block), "b")]
    if known:
        weights.append(numpy_helper.from_array(np.array(image), "i"))
    else:
        inputs.append(helper.make_tensor_value_info("i", TensorProto.INT64, [rank]))
        feeds["i"] = np.array(image)
    graph = helper.make_graph([node], "columns", inputs, [helper.make_empty_tensor_value_info("y")], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    np.testing.assert_array_equal(
        strata.compile(model, threads=1).run(feeds)[0], fold(x, image, block, strides, dilations, pads)
    )
