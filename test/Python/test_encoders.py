"""LabelEncoder, OneHotEncoder and FeatureVectorizer of ai.onnx.ml."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, numpy_helper
from support import ml

DTYPES = [np.float32, np.float64, np.int16, np.int32, np.int64]


@pytest.mark.parametrize("dtype", DTYPES)
def test_labels_of_numbers(dtype):
    rng = np.random.default_rng(1)
    info = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    keys = np.concatenate([rng.permutation(np.arange(-300, 300)).astype(dtype), [info.min, info.max, 7, 7]]).astype(dtype)
    if dtype in (np.float32, np.float64):
        keys = np.concatenate([keys, np.array([np.inf, -np.inf, np.nan, -0.0, 0.5], dtype)])
    values = np.arange(len(keys), dtype=np.int64)
    x = np.concatenate([keys, np.array([1000, -1000, info.max - 1, 0], dtype)]).reshape(-1, 1)
    same = lambda a, b: a == b or (a != a and b != b)  # noqa: E731
    expected = [[max((i for i, key in enumerate(keys) if same(key, e)), default=-7)] for e in x[:, 0]]
    attributes = {"keys_tensor": numpy_helper.from_array(keys), "values_tensor": numpy_helper.from_array(values),
                  "default_tensor": numpy_helper.from_array(np.array([-7], np.int64))}  # fmt: skip
    (y,) = ml.run(ml.model("LabelEncoder", {"x": x}, {"y": TensorProto.INT64}, 4, **attributes), {"x": x})
    np.testing.assert_array_equal(y, expected)


def test_many_labels():
    rng = np.random.default_rng(2)
    keys = np.concatenate([rng.integers(-(2**63), 2**63 - 1, 20000), 1000 * np.arange(2000)])
    values = np.arange(len(keys))
    x = rng.permutation(np.concatenate([keys, keys + 1]))
    places = {key: i for i, key in enumerate(keys.tolist())}
    expected = [places.get(e, -1) for e in x.tolist()]
    attributes = {"keys_tensor": numpy_helper.from_array(keys), "values_tensor": numpy_helper.from_array(values),
                  "default_tensor": numpy_helper.from_array(np.array([-1]))}  # fmt: skip
    (y,) = ml.run(ml.model("LabelEncoder", {"x": x}, {"y": TensorProto.INT64}, 4, **attributes), {"x": x})
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("zeros", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, object])
def test_one_hot(dtype, zeros):
    categories = ["a", "", "Grün", "a"] if dtype is object else [5, -2, 2**40, 5]
    x = np.array([["a", "Grün"], ["", "a"]], object) if dtype is object else np.array([[5, -2], [-2, 5]]).astype(dtype)
    name = "cats_strings" if dtype is object else "cats_int64s"
    proto = ml.model("OneHotEncoder", {"x": x}, {"y": TensorProto.FLOAT}, zeros=zeros, **{name: categories})
    model = strata.compile(proto, threads=1)
    places = {key: i for i, key in enumerate(categories)}  # of equal categories the last one
    expected = np.eye(4)[[[places[e] for e in row] for row in x]]
    np.testing.assert_array_equal(model.run([x])[0], expected)
    x[1, 1] = "b" if dtype is object else 6
    if zeros:
        expected[1, 1] = 0
        np.testing.assert_array_equal(model.run([x])[0], expected)
        if dtype is not np.int32:
            ml.equal(model.run([x]), ml.run_ort(proto, {"x": x}))
    else:
        with pytest.raises(strata.RunError, match="an element is in no category"):
            model.run([x])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_vectorizer(dtype):
    x = {"a": np.arange(6).reshape(3, 2), "b": np.arange(3).reshape(3, 1) - 7, "c": np.zeros((3, 0))}
    x = {name: array.astype(dtype) for name, array in x.items()}
    proto = ml.model("FeatureVectorizer", x, {"y": TensorProto.FLOAT}, inputdimensions=[2, 1, 0])
    (y,) = ml.run(proto, x)
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, np.concatenate(list(x.values()), 1))
    one = {name: array[0] for name, array in x.items() if name != "c"}
    (y,) = ml.run(ml.model("FeatureVectorizer", one, {"y": TensorProto.FLOAT}), one)
    np.testing.assert_array_equal(y, [[0, 1, -7]])
    with pytest.raises(strata.RunError, match="the inputs have different numbers of rows"):
        ml.run(proto, x | {"b": x["b"][:2]})
    with pytest.raises(strata.RunError, match="input 1 has not the number of features that 'inputdimensions' says"):
        ml.run(proto, x | {"b": x["a"]})
