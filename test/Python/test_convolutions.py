"""Convolutions whose kernels reach far into the padding, against ONNX Runtime."""

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper


def model(x, w, **attributes):
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def compare(x, w, **attributes):
    proto = model(x, w, **attributes)
    expected = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})[0]
    np.testing.assert_allclose(strata.compile(proto).run([x])[0], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_taps_in_the_padding(seed):
    generator = np.random.default_rng(seed)
    rank = int(generator.integers(1, 4))
    kernel, dilations, strides, pads, sizes = [], [], [], [], []
    for _ in range(rank):
        size, k, d = int(generator.integers(1, 7)), int(generator.integers(1, 5)), int(generator.integers(1, 9))
        low, high = (int(p) for p in generator.integers(0, 20, 2))
        high += max(0, (k - 1) * d + 1 - size - low - high)
        kernel.append(k)
        dilations.append(d)
        strides.append(int(generator.integers(1, 4)))
        pads.append((low, high))
        sizes.append(size)
    group = int(generator.integers(1, 3))
    x = generator.standard_normal((2, 2 * group, *sizes), np.float32)
    w = generator.standard_normal((3 * group, 2, *kernel), np.float32)
    compare(x, w, dilations=dilations, strides=strides, group=group, pads=[p[0] for p in pads] + [p[1] for p in pads])


@pytest.mark.parametrize("dilation", [1, 2, 3, 6, 7, 8, 30])
def test_dilations_of_segmentation_networks(dilation):
    generator = np.random.default_rng(0)
    x = generator.standard_normal((1, 8, 7, 7), np.float32)
    w = generator.standard_normal((16, 8, 3, 3), np.float32)
    compare(x, w, dilations=[dilation] * 2, pads=[dilation] * 4)


def test_infinite_weights_meet_zeros():
    x = np.ones((1, 1, 3, 3), np.float32)
    w = np.full((1, 1, 3, 3), np.inf, np.float32)
    assert np.isnan(strata.compile(model(x, w, dilations=[4, 4], pads=[4] * 4)).run([x])[0]).all()
