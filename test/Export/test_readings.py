"""Steps whose texts can be read in two ways: what Strata reads is what docs/conversion.md says, before and after."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).parents[1]))
from Suite.evaluators import reference, runtime

INF = float("inf")


def model(op, opset, inputs, output, **attributes):
    """One node; inputs are arrays, which are inputs of the graph, output its element type."""
    kind = lambda array: helper.np_dtype_to_tensor_dtype(array.dtype)
    values = [helper.make_tensor_value_info(f"x{i}", kind(x), x.shape) for i, x in enumerate(inputs)]
    node = helper.make_node(op, [v.name for v in values], ["y"], name="node", **attributes)
    graph = helper.make_graph([node], "g", values, [helper.make_tensor_value_info("y", output, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10).SerializeToString()


def converted(source, opset):
    result = strata.convert_opset(source, opset)
    onnx.checker.check_model(onnx.ModelProto.FromString(result), full_check=True)
    return result


def same(run, inputs, expected):
    [actual] = run(list(inputs))
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_array_equal(np.asarray(actual, np.float64), np.asarray(expected, np.float64))


def check_step(source, opset, inputs, expected, evaluator=runtime):
    """Before and after the step to `opset`, here and in an independent implementation of the newer version."""
    after = converted(source, opset)
    same(strata.compile(source).run, inputs, expected)
    same(strata.compile(after).run, inputs, expected)
    same(evaluator(after), inputs, expected)


INDICES = [np.array([-1, 0, 2, 3, -4]), np.array(3), np.array([0, 1], np.float32)]


def test_negative_indices_of_one_hot_name_nothing_up_to_version_9():
    expected = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    source = model("OneHot", 9, INDICES, TensorProto.FLOAT)
    check_step(source, 11, INDICES, expected)
    # ONNX Runtime counts them from the end there, too: the text does not.
    [wrapped] = runtime(source)(INDICES)
    assert wrapped[0].tolist() == [0, 0, 1]


def test_one_hot_goes_down_in_both_readings():
    expected = [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    source = model("OneHot", 11, INDICES, TensorProto.FLOAT)
    check_step(source, 9, INDICES, expected)


LINE = np.array([[[1, 2, 3]]], np.float32)
POOLS = [("MaxPool", 12, {}, [[[1, 3]]]), ("AveragePool", 19, {}, [[[1, 2.5]]]), ("LpPool", 18, {"p": 1}, [[[1, 5]]])]


@pytest.mark.parametrize("op, version, attributes, expected", POOLS)
def test_no_window_lies_in_the_padding_alone(op, version, attributes, expected):
    attributes = attributes | {"kernel_shape": [2], "strides": [2], "pads": [1, 1], "ceil_mode": 1}
    source = model(op, version, [LINE], TensorProto.FLOAT, **attributes)
    check_step(source, 22, [LINE], expected)
    same(runtime(source), [LINE], expected)


@pytest.mark.parametrize("op, version, attributes, expected", POOLS)
def test_pools_go_down_where_the_readings_agree(op, version, attributes, expected):
    attributes = attributes | {"kernel_shape": [2], "strides": [2], "ceil_mode": 1}
    dropping = model(op, 22, [LINE], TensorProto.FLOAT, pads=[1, 1], **attributes)
    with pytest.raises(strata.CompileError, match="ceil_mode also keeps windows in the padding alone"):
        strata.convert_opset(dropping, 21)
    agreeing = model(op, 22, [LINE], TensorProto.FLOAT, **attributes)
    expected = {"MaxPool": [[[2, 3]]], "AveragePool": [[[1.5, 3]]], "LpPool": [[[3, 3]]]}[op]
    check_step(agreeing, version, [LINE], expected)


SPREAD = [LINE, np.array([[[1, 10, 100]]], np.float32)]
ODD = [
    ({"output_shape": [6]}, [10, 102, 20, 203, 30, 300]),
    ({"output_shape": [6], "auto_pad": "SAME_LOWER"}, [10, 102, 20, 203, 30, 300]),
    ({"output_shape": [6], "auto_pad": "SAME_UPPER"}, [1, 10, 102, 20, 203, 30]),
    ({"auto_pad": "SAME_UPPER"}, [1, 10, 102, 20, 203, 30]),
    ({"auto_pad": "SAME_LOWER"}, [10, 102, 20, 203, 30, 300]),
]


@pytest.mark.parametrize("attributes, expected", ODD)
def test_odd_padding_of_conv_transpose_is_split_as_version_11_says(attributes, expected):
    for old, new in ((10, 11), (11, 10)):
        source = model("ConvTranspose", old, SPREAD, TensorProto.FLOAT, strides=[2], **attributes)
        check_step(source, new, SPREAD, [[expected]])


@pytest.mark.parametrize("dtype, most", [(ml_dtypes.float8_e4m3fnuz, 240), (ml_dtypes.float8_e5m2fnuz, 57344)])
def test_infinities_saturate_to_fnuz_at_every_version(dtype, most):
    inputs = [np.array([INF, -INF, np.nan, 1], np.float32)]
    to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    for old, new in ((19, 24), (23, 24), (24, 23), (24, 19)):
        source = model("Cast", old, inputs, to, to=to)
        check_step(source, new, inputs, [most, -most, np.nan, 1], reference)


def test_too_many_parts_in_a_branch_contradict_nothing():
    """ONNX's shape inference gives the last part a negative size, where our 0 would be a contradiction."""
    text = """<ir_version: 10, opset_import: ["" : 18]> g (int64[5] x, bool c) => (int64[n] y) {
      y = If (c) <then_branch = one () => (int64[k] a) { a, b, d, e = Split <num_outputs = 4> (x) },
                  else_branch = other () => (int64[k] z) { z = Identity (x) }>
    }"""
    x = np.arange(5)
    after = converted(onnx.parser.parse_model(text).SerializeToString(), 17)
    same(strata.compile(after).run, [x, np.array(True)], [0, 1])
    same(strata.compile(after).run, [x, np.array(False)], x)
