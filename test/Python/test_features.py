"""ArrayFeatureExtractor and Binarizer of ai.onnx.ml beside NumPy."""

import numpy as np
import onnx.parser
import pytest
import strata

NAMES = {np.float32: "float", np.float64: "double", np.int32: "int32", np.int64: "int64"}


def run(body, inputs, outputs):
    declared = ", ".join(f"{NAMES[x.dtype.type]}[{','.join('d' + str(i) for i in range(x.ndim))}] {name}"
                         for name, x in inputs.items())
    text = f'<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]> g ({declared}) => ({outputs} z) {{ {body} }}'
    model = onnx.parser.parse_model(text.replace("d0", "a").replace("d1", "b"))
    return strata.compile(model, threads=1).run(inputs)[0]


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("shape", [(6,), (4, 6), (2, 6)])
@pytest.mark.parametrize("indices", [[3], [5, 0, 0], [[1, 2]]])
def test_extractor(dtype, shape, indices):
    x, y = np.arange(np.prod(shape)).reshape(shape).astype(dtype), np.array(indices)
    model = onnx.helper.make_model(
        onnx.helper.make_graph([onnx.helper.make_node("ArrayFeatureExtractor", ["x", "y"], ["z"], domain="ai.onnx.ml")], "g",
                               [onnx.helper.make_tensor_value_info("x", onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape),
                                onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT64, y.shape)],
                               [onnx.helper.make_tensor_value_info("z", onnx.helper.np_dtype_to_tensor_dtype(x.dtype), None)]),
        opset_imports=[onnx.helper.make_opsetid("ai.onnx.ml", 3), onnx.helper.make_opsetid("", 17)], ir_version=8)
    compiled = strata.compile(model, threads=1)
    expected = x[..., y.ravel()]
    np.testing.assert_array_equal(compiled.run([x, y])[0], expected[None] if x.ndim == 1 else expected)
    with pytest.raises(strata.RunError, match="an index is out of range"):
        compiled.run([x, np.full_like(y, 6)])


@pytest.mark.parametrize("dtype, values, threshold", [
    (np.float32, [-1, 0, 0.5, 0.75, np.nan, np.inf], 0.5),
    (np.float64, [-1, 0, 0.5, 0.75, np.nan, -np.inf], 0.5),
    (np.int32, [-3, -2, 0, 1, 2**31 - 1, -2**31], -2.5),
    (np.int64, [-1, 0, 1, 2, 2**63 - 1, -2**63], 1.0),
    (np.int32, [-2**31, 0, 2**31 - 1], 1e20),
    (np.int64, [-2**63, 0, 2**63 - 1], -1e30),
])
def test_binarizer(dtype, values, threshold):
    x = np.array(values, dtype)
    z = run(f"z = ai.onnx.ml.Binarizer <threshold = {threshold!r}> (x)", {"x": x}, f"{NAMES[dtype]}[a]")
    assert z.dtype == dtype
    np.testing.assert_array_equal(z, [1 if value > threshold else 0 for value in values])
