"""Small networks as PyTorch's exporters wrote them (bench/export_models.py --small), filled with random weights."""

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

FOLDER = Path(__file__).parents[1] / "Models" / "Inputs"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.onnx")))

# Sizes of symbolic dimensions; `total` counts the cached positions and the new ones.
SIZES = ({"batch": 1, "seq": 16, "past": 16, "total": 32}, {"batch": 3, "seq": 5, "past": 9, "total": 14})


def is_dynamic(model):
    return any(dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim)


def load(name, seed=0):
    """The network with numbers in its emptied tensors: those of a layer that keeps the size of what goes through."""
    model = onnx.load(FOLDER / f"{name}.onnx")
    rng = np.random.default_rng(seed)
    for tensor in model.graph.initializer:
        shape = tuple(tensor.dims)
        if tensor.raw_data or tensor.float_data or tensor.data_type != onnx.TensorProto.FLOAT or 0 in shape:
            continue
        fan_in = np.prod(shape[1:]) if len(shape) > 2 else max(shape)
        array = rng.standard_normal(shape, np.float32) * np.float32(np.sqrt(1.5 / fan_in))
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return model


def inputs(model, sizes, seed=1):
    """Inputs by name: pixels and states are normal, tokens are below 1000, positions follow the cached ones."""
    rng = np.random.default_rng(seed)
    arrays = {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        shape = [dim.dim_value or sizes[dim.dim_param] for dim in tensor.shape.dim]
        if value.name == "attention_mask":
            array = np.ones(shape, np.int64)
        elif value.name == "position_ids":
            array = np.arange(sizes["past"], sizes["past"] + shape[1])[None]
        elif tensor.elem_type == onnx.TensorProto.INT64:
            array = rng.integers(0, 1000, shape)
        else:
            array = rng.standard_normal(shape, np.float32)
        arrays[value.name] = array
    return arrays
