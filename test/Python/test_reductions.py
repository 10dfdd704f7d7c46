"""Reductions over outer and middle dimensions of tensors that no cache holds, at sizes that leave rests, against NumPy in
double precision."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper

FUNCTIONS = {"ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape, axis, dynamic", [((4096, 1024), 0, ()), ((1003, 777), 0, ()), ((2, 515, 2050), 1, ()),
                                                  ((700, 1030), 0, (0,)), ((32, 196, 768), 1, ()), ((130, 70, 64), 0, (0, 1))])  # fmt: skip
def test_outer(shape, axis, dynamic, threads):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    nodes = [helper.make_node(name, ["x", "axes"], [name], keepdims=0) for name in FUNCTIONS]
    dims = [f"d{i}" if i in dynamic else size for i, size in enumerate(shape)]
    graph = helper.make_graph(
        nodes, "reductions", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in FUNCTIONS],
        [numpy_helper.from_array(np.array([axis]), "axes")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    for function, y in zip(FUNCTIONS.values(), strata.compile(model, threads=threads).run({"x": x})):
        np.testing.assert_allclose(y, function(x.astype(np.float64), axis=axis), rtol=1e-5, atol=2e-4)


@pytest.mark.parametrize("type", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("length", [5, 16, 32, 100])
@pytest.mark.parametrize("op, function", [("ReduceMax", np.max), ("ReduceMin", np.min)])
def test_a_nan_anywhere_in_a_row(op, function, length, type):
    """In each lane of a row, alone and beside infinities; rows of these, and of one number, too."""
    x = np.random.default_rng(0).standard_normal((2 * length + 3, length)).astype(type)
    for i in range(length):
        x[i, i] = x[length + i, i] = np.nan
        x[length + i, (i + 1) % length] = np.inf * (-1) ** i
    x[-3], x[-2], x[-1] = np.inf, -np.inf, -7
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "axes"], ["y"], keepdims=0)],
        "g",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(np.array([1]), "axes")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    np.testing.assert_array_equal(strata.compile(proto).run([x])[0], function(x, axis=1))
