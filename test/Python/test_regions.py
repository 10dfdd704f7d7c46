"""Regions that pool as many samples as they are large, at sizes of networks, against ONNX Runtime: every bit."""

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import helper

RNG = np.random.default_rng(1)
X = RNG.standard_normal((2, 37, 30, 41)).astype(np.float32)
# Some of them reach beyond the image, some are less than an element large.
BOXES = np.sort(RNG.uniform(-5, 50, (40, 2, 2)), axis=1).astype(np.float32).reshape(40, 4)
BOXES[::9, 2:] = BOXES[::9, :2]
WHICH = RNG.integers(0, 2, 40)


def check(operator, feeds, **attributes):
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
              for name, value in feeds.items()]  # fmt: skip
    graph = helper.make_graph([helper.make_node(operator, list(feeds), ["y"], **attributes)], "regions", inputs,
                              [helper.make_empty_tensor_value_info("y")])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(strata.compile(model, threads=2).run(feeds)[0], session.run(None, feeds)[0])


@pytest.mark.parametrize("transformation", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align(transformation, ratio):
    check("RoiAlign", {"x": X, "boxes": BOXES, "which": WHICH}, output_height=5, output_width=3, sampling_ratio=ratio,
          coordinate_transformation_mode=transformation, spatial_scale=0.8)  # fmt: skip


def test_max_roi_pool():
    boxes = np.concatenate([WHICH[:, None], np.floor(BOXES)], 1).astype(np.float32)
    check("MaxRoiPool", {"x": X, "boxes": boxes}, pooled_shape=[5, 3], spatial_scale=0.7)
