"""3x3 convolutions by minimal filtering: images that tiles do not divide, any batch, what is fused with them."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import strata

RNG = np.random.default_rng(0)


def convolution(channels, filters, height, width, residual):
    weights = RNG.standard_normal((filters, channels, 3, 3)).astype(np.float32)
    bias = RNG.standard_normal(filters).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1])]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", channels, height, width])]
    if residual:
        inputs.append(helper.make_tensor_value_info("r", TensorProto.FLOAT, ["n", filters, height, width]))
        nodes.append(helper.make_node("Add", ["c", "r"], ["s"]))
    nodes.append(helper.make_node("Relu", ["s" if residual else "c"], ["y"]))
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", filters, height, width])
    constants = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")]
    model = helper.make_model(
        helper.make_graph(nodes, "g", inputs, [output], constants), opset_imports=[helper.make_opsetid("", 18)]
    )
    return model, weights, bias


def reference(x, weights, bias, r):
    """In double precision, from the definition."""
    n, _, height, width = x.shape
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    y = np.zeros((n, len(weights), height, width)) + bias.astype(np.float64)[:, None, None]
    for i in range(3):
        for j in range(3):
            part = padded[:, :, i : i + height, j : j + width]
            y += np.einsum("fc,nchw->nfhw", weights[:, :, i, j].astype(np.float64), part)
    return np.maximum(y + r, 0)


@pytest.mark.parametrize("size", [(32, 64, 30, 27), (64, 32, 14, 14), (48, 96, 17, 56)], ids=str)
@pytest.mark.parametrize("residual", [False, True], ids=["relu", "add-relu"])
def test_convolution(size, residual):
    channels, filters, height, width = size
    model, weights, bias = convolution(*size, residual)
    compiled = {way: strata.compile(model, winograd=way, threads=2) for way in (True, False)}
    for n in (1, 2):
        x = RNG.standard_normal((n, channels, height, width)).astype(np.float32)
        r = RNG.standard_normal((n, filters, height, width)).astype(np.float32) if residual else np.float32(0)
        expected = reference(x, weights, bias, r)
        feeds = {"x": x, "r": r} if residual else {"x": x}
        for way, bound in ((True, 1e-5), (False, 1e-6)):
            [y] = compiled[way].run(feeds)
            assert np.abs(y - expected).max() <= bound * np.abs(expected).max()
