"""Transposes, which are done square by square in registers: sizes that leave rests, every width of element."""

import itertools

import numpy as np
import pytest
from onnx import TensorProto, helper

import strata

SHAPES = [(17, 33), (64, 50), (3, 100), (100, 3), (2, 19, 37), (1, 14, 14, 24)]
TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int8": TensorProto.INT8, "bool": TensorProto.BOOL}


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
