"""Transposed convolutions, whose phases are computed together or one by one, against ONNX Runtime."""

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper


def compare(x, w, **attributes):
    graph = helper.make_graph(
        [helper.make_node("ConvTranspose", ["x", "w"], ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    [expected] = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})
    [found] = strata.compile(proto).run([x])
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-6 * np.abs(expected).max())


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


# Fewer taps than phases; phases of one and of two taps; more padding than taps; what is added behind.
FORMS = [
    {"kernel": 4, "strides": 2, "pads": 1},
    {"kernel": 3, "strides": 2, "pads": 1, "output_padding": 1},
    {"kernel": 3, "strides": 2, "pads": 0},
    {"kernel": 2, "strides": 2, "pads": 0},
    {"kernel": 1, "strides": 2, "pads": 0, "output_padding": 1},
    {"kernel": 5, "strides": 2, "pads": 2, "output_padding": 1},
    {"kernel": 6, "strides": 2, "pads": 5, "output_padding": 0},
    {"kernel": 5, "strides": 3, "pads": 1},
    {"kernel": 2, "strides": 3, "pads": 0, "output_padding": 1},
    {"kernel": 7, "strides": 4, "pads": 2, "output_padding": 1},
]


@pytest.mark.parametrize("rank, filters", [(1, 16), (1, 33), (2, 3), (2, 33), (3, 3), (3, 16)])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(map(str, form.values())))
def test_phases(form, rank, filters):
    kernel, sizes = form["kernel"], [6, 5, 6][:rank]
    attributes = {name: [value] * rank for name, value in form.items() if name != "kernel"}
    attributes["pads"] *= 2
    compare(random(2, 8, *sizes), random(8, filters, *[kernel] * rank, seed=1), **attributes)


@pytest.mark.parametrize("seed", range(40))
def test_phases_of_each_dimension(seed):
    """Kernels, strides and padding by chance, with as much padding in front as behind, and without."""
    generator = np.random.default_rng(seed)
    sizes = [int(n) for n in generator.integers(3, 9, 2)]
    strides = [int(n) for n in generator.integers(1, 4, 2)]
    kernel = [int(n) for n in generator.integers(1, 7, 2)]
    low, high = ([int(generator.integers(0, k)) for k in kernel] for _ in range(2))
    extra = [int(generator.integers(0, s)) for s in strides]
    x, w = random(1, 4, *sizes, seed=seed), random(4, 16, *kernel, seed=seed + 1)
    compare(x, w, strides=strides, pads=low + high, output_padding=extra)
