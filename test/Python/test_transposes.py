"""Transposes, which are done square by square in registers: sizes that leave rests, every width of element."""

import itertools

import numpy as np
import pytest
from onnx import TensorProto, helper

import strata

SHAPES = [(17, 33), (64, 50), (3, 100), (100, 3), (2, 19, 37), (4, 53), (2, 67), (1, 14, 14, 24)]
TYPES = {
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "int8": TensorProto.INT8,
    "bool": TensorProto.BOOL,
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_transposes(kind, dynamic):
    rng = np.random.default_rng(0)
    nodes, inputs, outputs, feeds = [], [], [], {}
    for number, shape in enumerate(SHAPES):
        x = (rng.integers(0, 100, shape) % (2 if kind == "bool" else 100)).astype(kind)
        feeds[f"x{number}"] = x
        dims = [f"d{number}_{i}" for i in range(x.ndim)] if dynamic else shape
        inputs.append(helper.make_tensor_value_info(f"x{number}", TYPES[kind], dims))
        for perm in itertools.permutations(range(x.ndim)) if x.ndim < 4 else [(0, 2, 3, 1), (3, 2, 1, 0)]:
            name = f"y{number}_{''.join(map(str, perm))}"
            nodes.append(helper.make_node("Transpose", [f"x{number}"], [name], perm=perm))
            outputs.append(helper.make_tensor_value_info(name, TYPES[kind], None))
    graph = helper.make_graph(nodes, "transposes", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    compiled = strata.compile(model)
    for value, result in zip(compiled.outputs, compiled.run(feeds)):
        number, perm = value.name[1:].split("_")
        np.testing.assert_array_equal(result, feeds[f"x{number}"].transpose([int(i) for i in perm]), err_msg=value.name)


@pytest.mark.parametrize("kind", ["float32", "int32", "uint8"])
def test_repetitions(kind):
    """Enlarged images: vectors that are mixed with themselves."""
    x = np.random.default_rng(0).integers(0, 100, (2, 3, 13, 37)).astype(kind)
    for times in (2, 3, 4):
        node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode="nearest", nearest_mode="floor",
                                coordinate_transformation_mode="asymmetric")  # fmt: skip
        kinds = helper.np_dtype_to_tensor_dtype(x.dtype)
        scales = helper.make_tensor("s", TensorProto.FLOAT, [4], [1, 1, 1, times])
        graph = helper.make_graph([node], "repetitions", [helper.make_tensor_value_info("x", kinds, x.shape)],
                                  [helper.make_empty_tensor_value_info("y")], [scales])  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
        np.testing.assert_array_equal(strata.compile(model, threads=1).run({"x": x})[0], np.repeat(x, times, -1))
