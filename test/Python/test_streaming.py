"""Results that are larger than a cache are written past it, in whole lines: the elements at their ends, and those whose
rows begin within a line, which are not."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import strata


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(4096, 4096), (4099, 4097), (4096, 4112)])
def test_large_results(shape, threads):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    nodes = [helper.make_node("Add", ["x", "x"], ["sum"]), helper.make_node("Transpose", ["x"], ["turned"], perm=[1, 0])]
    graph = helper.make_graph(
        nodes, "streaming", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("sum", "turned")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    total, turned = strata.compile(model, threads=threads).run({"x": x})
    np.testing.assert_array_equal(total, x + x)
    np.testing.assert_array_equal(turned, x.T)
