"""Sampled images of few channels and of vectors of them, beside ONNX Runtime (two dimensions) and ONNX's evaluator."""

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from support.combinations import every_other

RNG = np.random.default_rng(7)


def model(x, grid, dynamic, **attributes):
    def shape(name, value):
        return [f"{name}{i}" if dynamic and i != 1 else size for i, size in enumerate(value.shape)]

    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape("x", x)),
              helper.make_tensor_value_info("g", TensorProto.FLOAT, [f"g{i}" for i in range(grid.ndim)] if dynamic
                                            else grid.shape)]  # fmt: skip
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    node = helper.make_node("GridSample", ["x", "g"], ["y"], **attributes)
    graph = helper.make_graph([node], "sample", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def check(x, grid, expected, dynamic=False, **attributes):
    proto = model(x, grid, dynamic, **attributes)
    feeds = {"x": x, "g": grid}
    (actual,) = strata.compile(proto).run(feeds)
    np.testing.assert_allclose(actual, expected(proto, feeds), rtol=1e-4, atol=1e-4)


def ort(proto, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def evaluator(proto, feeds):
    return ReferenceEvaluator(proto).run(None, feeds)[0]


@every_other("channels, mode, padding", [3, 8, 21], ["linear", "nearest", "cubic"], ["zeros", "border", "reflection"])
def test_images(channels, mode, padding):
    x = RNG.standard_normal((2, channels, 9, 7)).astype(np.float32)
    grid = RNG.uniform(-1.4, 1.4, (2, 5, 6, 2)).astype(np.float32)
    # At the border ONNX Runtime reads other taps of a cubic than the specification says.
    oracle = evaluator if (mode, padding) == ("cubic", "border") else ort
    for align in (0, 1):
        for dynamic in (False, True):
            check(x, grid, oracle, dynamic, mode=mode, padding_mode=padding, align_corners=align)


@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_volumes(mode):
    x = RNG.standard_normal((1, 9, 4, 5, 3)).astype(np.float32)
    grid = RNG.uniform(-1.2, 1.2, (1, 2, 3, 4, 3)).astype(np.float32)
    check(x, grid, evaluator, mode=mode)


def test_few_points_of_a_large_image():
    x = RNG.standard_normal((1, 16, 40, 40)).astype(np.float32)
    grid = RNG.uniform(-1, 1, (1, 1, 5, 2)).astype(np.float32)
    check(x, grid, ort)
