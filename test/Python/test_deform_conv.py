"""Convolutions of columns that are read at offsets, of few channels and of vectors of them, beside ONNX Runtime."""

import numpy as np
import onnxruntime
import strata
from onnx import helper
from support.combinations import every_other

RNG = np.random.default_rng(3)


def model(feeds, dynamic, **attributes):
    shapes = {name: [None if dynamic and name != "w" and i != 1 else n for i, n in enumerate(x.shape)]
              for name, x in feeds.items()}  # fmt: skip
    inputs = [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    node = helper.make_node("DeformConv", [*feeds], ["y"], **attributes)
    graph = helper.make_graph([node], "offsets", inputs, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


@every_other("counts, mask, dynamic",
             # channels, filters, groups, groups of offsets
             [(3, 4, 1, 1), (8, 5, 1, 1), (24, 6, 2, 1), (32, 9, 1, 2), (32, 8, 4, 4), (18, 4, 2, 2)],
             [False, True], [False, True])  # fmt: skip
def test_offsets(counts, mask, dynamic):
    channels, filters, group, offset_group = counts
    size, kernel, pads, strides, dilations = (11, 9), (3, 2), [1, 2, 0, 1], [2, 1], [1, 2]
    out = [(n + pads[i] + pads[2 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1
           for i, n in enumerate(size)]  # fmt: skip
    positions = offset_group * kernel[0] * kernel[1]
    feeds = {
        "x": RNG.standard_normal((2, channels, *size)),
        "w": RNG.standard_normal((filters, channels // group, *kernel)),
        "o": 2 * RNG.standard_normal((2, 2 * positions, *out)),
        "b": RNG.standard_normal(filters),
    }
    if mask:
        feeds["m"] = RNG.random((2, positions, *out))
    feeds = {name: value.astype(np.float32) for name, value in feeds.items()}
    proto = model(feeds, dynamic, group=group, offset_group=offset_group, pads=pads, strides=strides,
                  dilations=dilations, kernel_shape=kernel)  # fmt: skip
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    one, two = (strata.compile(proto, threads=threads).run(feeds)[0] for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, session.run(None, feeds)[0], rtol=1e-4, atol=1e-4)
