"""Linear and support vector models of ai.onnx.ml beside ONNX Runtime, ONNX's evaluator and NumPy."""

import numpy as np
import pytest
import strata
from onnx import TensorProto
from onnx.reference.ops.aionnxml._common_classifier import compute_probit
from support import ml

DTYPES = [np.float32, np.float64, np.int32, np.int64]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
COMBINATIONS = [(np.float32, t) for t in TRANSFORMS] + [(np.float64, "PROBIT"), (np.int32, "LOGISTIC"), (np.int64, "NONE")]
CLASSES = {"y": TensorProto.INT64, "z": TensorProto.FLOAT}
NAMED = {"y": TensorProto.STRING, "z": TensorProto.FLOAT}
SCORES = {"z": TensorProto.FLOAT}
RNG = np.random.default_rng(5)


def rows(dtype, features, count=6):
    x = RNG.normal(size=(count, features)) * (1 if np.dtype(dtype).kind == "f" else 3)
    x[0] = 0
    return x.astype(dtype)


def weights(count, scale=1.0):
    return (RNG.normal(size=count) * scale).astype(np.float32).tolist()


def check(op, x, outputs, oracle=ml.run_ort, rtol=2e-5, atol=2e-6, **attributes):
    proto = ml.model(op, {"x": x}, outputs, **attributes)
    actual = ml.run(proto, {"x": x})
    ml.equal(actual, oracle(proto, {"x": x}), rtol, atol)
    return actual


def softmax(s):
    powers = np.exp(s - s.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def exact_linear(proto, inputs):
    a = {i.name: i for i in proto.graph.node[0].attribute}
    targets = a["targets"].i
    sums = inputs["x"].astype(np.float64) @ np.array(a["coefficients"].floats, np.float64).reshape(targets, -1).T
    sums += np.array(a["intercepts"].floats, np.float64)
    with np.errstate(all="ignore"):
        return [{"NONE": lambda s: s, "SOFTMAX": softmax, "SOFTMAX_ZERO": softmax, "LOGISTIC": lambda s: 1 / (1 + np.exp(-s)),
                 "PROBIT": np.vectorize(compute_probit)}[a["post_transform"].s.decode()](sums)]  # fmt: skip


@pytest.mark.parametrize("dtype, transform", COMBINATIONS)
def test_linear_regressor(dtype, transform):
    x = rows(dtype, 3)
    for targets in (1, 4):
        attributes = dict(targets=targets, coefficients=weights(3 * targets, 0.05 if transform == "PROBIT" else 1),
                          intercepts=np.linspace(0.2, 0.7, targets).tolist(), post_transform=transform)  # fmt: skip
        check("LinearRegressor", x, SCORES, oracle=exact_linear, **attributes)
        if dtype == np.float32 and (targets > 1 or transform in ("NONE", "PROBIT")):  # it leaves out the others of one score
            check("LinearRegressor", x, SCORES, atol=2e-3 if transform == "PROBIT" else 2e-6, **attributes)  # f32 around 1/2
    (z,) = ml.run(ml.model("LinearRegressor", {"x": x[0]}, SCORES, coefficients=[1.0, 2.0, 3.0]), {"x": x[0]})
    np.testing.assert_array_equal(z, [[0]])


@pytest.mark.parametrize("dtype, transform", COMBINATIONS)
def test_linear_classifier(dtype, transform):
    x = rows(dtype, 3)
    common = dict(coefficients=weights(9, 0.05 if transform == "PROBIT" else 1), intercepts=[0.3, 0.5, 0.0],
                  post_transform=transform, multi_class=1)  # fmt: skip
    if transform == "NONE":
        check("LinearClassifier", x, CLASSES, classlabels_ints=[7, -3, 2**40], **common)
    check("LinearClassifier", x, NAMED, atol=2e-3 if transform == "PROBIT" else 2e-6,
          classlabels_strings=["a", "", "Grün"], **common)  # fmt: skip
    check("LinearClassifier", x[2], CLASSES, classlabels_ints=[1, 2, 3], coefficients=common["coefficients"], intercepts=[0.0, 0.0, 1.0])


@pytest.mark.parametrize("transform", TRANSFORMS[:4])
def test_one_score_for_two_labels(transform):
    x = rows(np.float32, 2)
    attributes = dict(coefficients=[1.0, -2.0], intercepts=[0.1], classlabels_ints=[5, 9], post_transform=transform)
    y, z = check("LinearClassifier", x, CLASSES, oracle=ml.run_reference, **attributes)
    np.testing.assert_array_equal(y, ml.run_ort(ml.model("LinearClassifier", {"x": x}, CLASSES, **attributes), {"x": x})[0])
    assert z.shape == (6, 2)


def test_ties_are_for_the_first_class():
    x = np.zeros((2, 1), np.float32)
    y, _ = check("LinearClassifier", x, CLASSES, coefficients=[1.0, 2.0, 3.0], intercepts=[0.5, 1.0, 1.0], classlabels_ints=[3, 2, 1])
    assert y.tolist() == [2, 2]


def test_zeros_stay_zero_and_probit_is_the_quantile_function():
    x = np.array([[0, 0, 0], [0, 1, -1]], np.float32)
    eye = np.eye(3, dtype=np.float32).ravel().tolist()
    (z,) = ml.run(ml.model("LinearRegressor", {"x": x}, SCORES, coefficients=eye, targets=3, post_transform="SOFTMAX_ZERO"), {"x": x})
    np.testing.assert_allclose(z, [[0.5] * 3, [0, 1 / (1 + np.exp(-2)), np.exp(-2) / (1 + np.exp(-2))]], 1e-6)
    p = np.array([[0, 0.1, 0.5], [0.975, 1, 1.5]], np.float32)
    (z,) = ml.run(ml.model("LinearRegressor", {"x": p}, SCORES, coefficients=eye, targets=3, post_transform="PROBIT"), {"x": p})
    np.testing.assert_allclose(z, [[-np.inf, -1.2815516, 0], [1.9599640, np.inf, np.nan]], 3e-3)


KERNELS = {"LINEAR": [0.0, 0.0, 0.0], "POLY": [0.5, 0.25, 3.0], "RBF": [0.7, 0.0, 0.0], "SIGMOID": [0.4, -0.1, 0.0]}


def exact_regressor(proto, x):
    a = {i.name: i for i in proto.graph.node[0].attribute}
    vectors = np.array(a["support_vectors"].floats, np.float64).reshape(a["n_supports"].i, -1)
    kernel, (gamma, offset, degree) = a["kernel_type"].s.decode(), a["kernel_params"].floats or (0, 0, 0)
    x, dots = x.astype(np.float64), x.astype(np.float64) @ vectors.T
    values = {"LINEAR": lambda: dots, "POLY": lambda: (gamma * dots + offset) ** degree,
              "RBF": lambda: np.exp(-gamma * ((x[:, None] - vectors) ** 2).sum(-1)),
              "SIGMOID": lambda: np.tanh(gamma * dots + offset)}[kernel]()  # fmt: skip
    return values @ np.array(a["coefficients"].floats, np.float64)[:, None] + a["rho"].floats[0]


@pytest.mark.parametrize("dtype, kernel", [(np.float32, k) for k in KERNELS] + list(zip(DTYPES[1:], list(KERNELS)[1:])))
def test_svm_regressor(dtype, kernel):
    x = rows(dtype, 3)
    attributes = dict(coefficients=weights(4), support_vectors=weights(12), n_supports=4, rho=[0.5], kernel_type=kernel,
                      kernel_params=KERNELS[kernel])  # fmt: skip
    proto = ml.model("SVMRegressor", {"x": x}, SCORES, **attributes)
    expected = exact_regressor(proto, x)
    ml.equal(ml.run(proto, {"x": x}), [expected], 1e-4, 1e-5)
    if dtype == np.float32:
        ml.equal(ml.run_ort(ml.model("SVMRegressor", {"x": x}, SCORES, **attributes), {"x": x}),
                 [expected], 1e-4, 1e-5)  # fmt: skip
    (inside,) = ml.run(ml.model("SVMRegressor", {"x": x}, SCORES, one_class=1, **attributes), {"x": x})
    np.testing.assert_array_equal(inside, np.where(expected > 0, 1, -1))
    (z,) = ml.run(ml.model("SVMRegressor", {"x": x}, SCORES, post_transform="LOGISTIC", **attributes), {"x": x})
    np.testing.assert_allclose(z, 1 / (1 + np.exp(-expected)), 1e-4)


def test_svm_regressor_without_vectors():
    x = rows(np.float32, 3)
    check("SVMRegressor", x, SCORES, coefficients=[1.0, 2.0, -1.0], rho=[0.25], kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0])


def svm(classes, vectors, **more):
    count, pairs = sum(vectors), classes * (classes - 1) // 2
    return dict(coefficients=weights(count * (classes - 1)), support_vectors=weights(3 * count), vectors_per_class=vectors,
                rho=weights(pairs, 0.3), kernel_params=[0.7, 0.1, 2.0], **more)  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes, vectors", [(2, [2, 3]), (3, [2, 0, 3]), (5, [1, 2, 1, 3, 1])])
@pytest.mark.parametrize("probabilities", [False, True])
def test_svm_classifier(kernel, classes, vectors, probabilities):
    x = rows(np.float32, 3, 9)
    attributes = svm(classes, vectors, kernel_type=kernel)
    if probabilities:
        pairs = classes * (classes - 1) // 2
        attributes |= dict(prob_a=np.linspace(-2, -1, pairs).tolist(), prob_b=np.linspace(-0.2, 0.2, pairs).tolist())
    labels = {"classlabels_ints": [5, -9, 7, 0, 3][:classes]}
    _, z = check("SVMClassifier", x, CLASSES, rtol=1e-4, atol=1e-5, **attributes, **labels)
    assert z.shape[1] == (classes if probabilities or classes == 2 else classes * (classes - 1) // 2)
    names = {"classlabels_strings": list("abcde")[:classes]}
    if kernel == "RBF":  # ONNX Runtime leaves out the other transforms of one score
        for transform in TRANSFORMS[1:4] if classes > 2 or probabilities else ["LOGISTIC"]:
            check("SVMClassifier", x, NAMED, rtol=1e-4, atol=1e-5, post_transform=transform, **attributes, **names)


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_svm_classifier_types(dtype):
    check("SVMClassifier", rows(dtype, 3), CLASSES, rtol=1e-3, atol=1e-4, classlabels_ints=[5, 9, 7], kernel_type="RBF", **svm(3, [1, 2, 2]))


@pytest.mark.parametrize("transform", TRANSFORMS[:4])
def test_svm_classifier_without_vectors(transform):
    check("SVMClassifier", rows(np.float32, 2), CLASSES, coefficients=weights(6), rho=[0.1, 0.7, 0.9], kernel_type="LINEAR",
          kernel_params=[0.0] * 3, classlabels_ints=[5, 9, 7], post_transform=transform)  # fmt: skip


def test_symbolic_sizes_and_errors_of_the_run():
    x = rows(np.float32, 3)
    model = strata.compile(ml.model("LinearClassifier", {"x": x}, CLASSES, coefficients=weights(6), classlabels_ints=[1, 2], intercepts=[0.0, 0.0]))
    assert model.run([x[:0]])[1].shape == (0, 2)
    with pytest.raises(strata.RunError, match="the input does not have a feature for each coefficient"):
        model.run([x[:, :2].copy()])
