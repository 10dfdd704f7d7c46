"""The models of ai.onnx.ml: linear ones, support vector machines, trees. The oracles are written from the text, and
where it is silent from what ONNX Runtime and onnx.reference have in common.
"""

import numpy as np
from Conformance import schemas
from Conformance.table import Case, array, cases, is_float
from onnx import helper, numpy_helper
from onnx.reference.ops.aionnxml._common_classifier import compute_probit, compute_softmax_zero

ML = "ai.onnx.ml"
INTEGERS, WORDS = [7, -3, 2**40, 0, 5], ["b", "", "\N{SNOWMAN}", "a", "zz"]


def softmax(scores):
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def softmax_zero(scores):
    return np.array([compute_softmax_zero(row.copy()) for row in scores]).reshape(scores.shape)


def probit(p):
    return (p - 0.5) * np.inf if p in (0, 1) else compute_probit(p)


TRANSFORMS = {"NONE": lambda s: s, "SOFTMAX": softmax, "LOGISTIC": lambda s: 1 / (1 + np.exp(-s)), "SOFTMAX_ZERO": softmax_zero,
              "PROBIT": lambda s: np.vectorize(probit, otypes=[float])(s)}  # fmt: skip


def single(values):
    """Attributes are of single precision."""
    return np.asarray(values, np.float32).astype(np.float64)


def transforms(element):
    """The transforms to test with an element type, and the scale of scores that are probabilities to them."""
    for name in TRANSFORMS if element == "float" else ("NONE",):
        yield name, 0.05 if name == "PROBIT" else 1.0


def labels(element, count, integer_name):
    if element == "string":
        return {"classlabels_strings": [w.encode() for w in WORDS[:count]]}, array(WORDS[:count], "string")
    return {integer_name: INTEGERS[:count]}, np.array(INTEGERS[:count])


def classified(scores, names, transform, top=None):
    top = scores.argmax(1) if top is None else top
    return names[top], TRANSFORMS[transform](scores)


@cases("LinearRegressor", domain=ML)
def linear_regressor(op, version, types, draw):
    x = draw((5, 3), types["T"], -3, 4)
    for transform, scale in transforms(types["T"]):
        for targets in (1, 3):
            weights, start = draw((targets, 3), "float") * np.float32(scale), draw((targets,), "float", 0.3, 0.7)

            def expected(x, weights=weights, start=start, transform=transform):
                return TRANSFORMS[transform](x.astype(np.float64) @ single(weights).T + single(start))

            attributes = {"targets": targets, "coefficients": weights.ravel().tolist(), "intercepts": start.tolist(),
                          "post_transform": transform}  # fmt: skip
            yield Case(f"{transform}_{targets}", [x], attributes, expected=expected, rtol=1e-4, atol=1e-5)
    yield Case("no_rows", [x[:0]], {"coefficients": [1.0, 2.0, 3.0]}, expected=lambda x: np.zeros((0, 1)))


@cases("LinearClassifier", domain=ML, pairs=True)
def linear_classifier(op, version, types, draw):
    x = draw((5, 3), types["T1"], -3, 4)
    for transform, scale in transforms(types["T1"]):
        weights, start = draw((3, 3), "float") * np.float32(scale), draw((3,), "float", 0.3, 0.7)
        given, names = labels(types["T2"], 3, "classlabels_ints")

        def expected(x, weights=weights, start=start, transform=transform, names=names):
            return classified(x.astype(np.float64) @ single(weights).T + single(start), names, transform)

        attributes = {"coefficients": weights.ravel().tolist(), "intercepts": start.tolist(), "post_transform": transform}
        yield Case(transform, [x], {**attributes, **given, "multi_class": 1}, 2, expected=expected, rtol=1e-4, atol=1e-5)
    given, names = labels(types["T2"], 2, "classlabels_ints")

    def pair(x):
        s = x.astype(np.float64) @ single([[1], [-2], [0.5]]) + single(0.1)
        return classified(np.concatenate([-s, s], 1), names, "LOGISTIC")

    attributes = {"coefficients": [1.0, -2.0, 0.5], "intercepts": [0.1], "post_transform": "LOGISTIC", **given}
    yield Case("one_score", [x], attributes, 2, expected=pair)


KERNELS = {"LINEAR": (0, 0, 0), "POLY": (0.5, 0.25, 3), "RBF": (0.7, 0, 0), "SIGMOID": (0.4, -0.1, 0)}


def kernel_values(kernel, x, vectors):
    gamma, offset, degree = single(KERNELS[kernel])
    dots = x @ vectors.T
    if kernel == "RBF":
        return np.exp(-gamma * ((x[:, None] - vectors) ** 2).sum(-1))
    if kernel == "LINEAR":
        return dots
    return np.tanh(gamma * dots + offset) if kernel == "SIGMOID" else (gamma * dots + offset) ** degree


@cases("SVMRegressor", domain=ML)
def svm_regressor(op, version, types, draw):
    x = draw((5, 3), types["T"], -2, 3)
    vectors, weights = draw((4, 3), "float", -1, 1), draw((4,), "float")
    model = {"support_vectors": vectors.ravel().tolist(), "coefficients": weights.tolist(), "n_supports": 4, "rho": [0.25]}
    for kernel, parameters in KERNELS.items():
        def expected(x, kernel=kernel):
            return (kernel_values(kernel, x.astype(np.float64), single(vectors)) @ single(weights) + 0.25)[:, None]

        attributes = {**model, "kernel_type": kernel, "kernel_params": [float(p) for p in parameters]}
        yield Case(kernel, [x], attributes, expected=expected, rtol=1e-4, atol=1e-4)
        yield Case(f"{kernel}_one_class", [x], {**attributes, "one_class": 1}, expected=lambda x, e=expected: np.where(e(x) > 0, 1.0, -1.0))
    yield Case("transform", [x], {**attributes, "post_transform": "LOGISTIC"}, rtol=1e-4, atol=1e-5,
               expected=lambda x: TRANSFORMS["LOGISTIC"](expected(x)))  # fmt: skip
    yield Case("no_vectors", [x], {"coefficients": [1.0, -2.0, 0.5], "rho": [0.25]},
               expected=lambda x: (x.astype(np.float64) @ [1, -2, 0.5] + 0.25)[:, None])  # fmt: skip


def couple(r):
    """Class probabilities of pairwise ones, by libsvm's iteration (which stops early)."""
    k = len(r)
    q = np.where(np.eye(k) > 0, np.diag((r**2).sum(0)), -r.T * r)
    p = np.full(k, 1 / k)
    for _ in range(max(100, k)):
        product = q @ p
        total = p @ product
        if abs(product - total).max() < 0.005 / k:
            break
        for t in range(k):
            step = (total - product[t]) / q[t, t]
            p[t] += step
            total = (total + step * (step * q[t, t] + 2 * product[t])) / (1 + step) ** 2
            product = (product + step * q[t]) / (1 + step)
            p /= 1 + step
    return p


@cases("SVMClassifier", domain=ML, pairs=True)
def svm_classifier(op, version, types, draw):
    x = draw((6, 3), types["T1"], -2, 3)
    for classes, counts, kernel, transform, given_p in (
        (2, [2, 1], "RBF", "NONE", False), (2, [1, 2], "LINEAR", "LOGISTIC", True), (3, [2, 0, 2], "POLY", "NONE", False),
        (4, [1, 2, 1, 1], "SIGMOID", "SOFTMAX", False), (4, [1, 1, 1, 1], "RBF", "NONE", True),
    ):  # fmt: skip
        total, pairs = sum(counts), [(i, j) for i in range(classes) for j in range(i + 1, classes)]
        vectors, weights = draw((total, 3), "float", -1, 1), draw((classes - 1, total), "float")
        rho, a, b = (draw((len(pairs),), "float", *r) for r in ((-0.3, 0.3), (-2, -1), (-0.2, 0.2)))
        given, names = labels(types["T2"], classes, "classlabels_ints")

        def expected(x, classes=classes, counts=counts, kernel=kernel, transform=transform, given_p=given_p, pairs=pairs,
                     vectors=vectors, weights=weights, rho=rho, a=a, b=b, names=names):  # fmt: skip
            k, owner, w = kernel_values(kernel, x.astype(np.float64), single(vectors)), np.repeat(range(classes), counts), single(weights)
            s = np.stack([k @ np.where(owner == i, w[j - 1], np.where(owner == j, w[i], 0)) + single(rho[p])
                          for p, (i, j) in enumerate(pairs)], 1)  # fmt: skip
            votes = np.zeros((len(x), classes))
            for p, (i, j) in enumerate(pairs):
                votes[:, i] += s[:, p] > 0
                votes[:, j] += s[:, p] <= 0
            scores = np.concatenate([-s, s], 1) if classes == 2 else s
            if given_p:
                first = np.clip(1 / (1 + np.exp(s * single(a) + single(b))), 1e-7, 1 - 1e-7)
                scores = np.empty((len(x), classes))
                for n, row in enumerate(first):
                    r = np.zeros((classes, classes))
                    for p, (i, j) in enumerate(pairs):
                        r[i, j], r[j, i] = row[p], 1 - row[p]
                    scores[n] = couple(r)
            return classified(scores, names, transform, votes.argmax(1))

        attributes = {"support_vectors": vectors.ravel().tolist(), "coefficients": weights.ravel().tolist(), "rho": rho.tolist(),
                      "vectors_per_class": counts, "kernel_type": kernel, "kernel_params": [float(p) for p in KERNELS[kernel]],
                      "post_transform": transform, **given}  # fmt: skip
        if given_p:
            attributes |= {"prob_a": a.tolist(), "prob_b": b.tolist()}
        yield Case(f"{classes}_{kernel}_{transform}", [x], attributes, 2, expected=expected, rtol=1e-4, atol=1e-4)
    weights = draw((3, 3), "float")
    given, names = labels(types["T2"], 3, "classlabels_ints")
    yield Case("no_vectors", [x], {"coefficients": weights.ravel().tolist(), "rho": [0.5], **given}, 2, rtol=1e-4, atol=1e-5,
               expected=lambda x: classified(x.astype(np.float64) @ single(weights).T + 0.5, names, "NONE"))  # fmt: skip


#      0          where NaN goes to the true branch at node 1 alone
#    1   2(leaf)
#  3   4(both leaves)
TREE = {"nodes_treeids": [0] * 5, "nodes_nodeids": [0, 1, 2, 3, 4], "nodes_featureids": [0, 1, 0, 0, 0],
        "nodes_values": [0.5, -1.0, 0.0, 0.0, 0.0], "nodes_truenodeids": [1, 3, 0, 0, 0], "nodes_falsenodeids": [2, 4, 0, 0, 0],
        "nodes_missing_value_tracks_true": [0, 1, 0, 0, 0]}  # fmt: skip
COMPARE = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal, "BRANCH_GT": np.greater,
           "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}  # fmt: skip
MODES = list(COMPARE)
VOTES = {2: [(0, 1.5), (1, -0.5)], 3: [(1, 2.0)], 4: [(2, -1.0), (0, 0.25)]}  # (target, weight) at each leaf


def forest(stem, first, second):
    """Two trees of the same shape with other modes."""
    trees = {name: values * 2 for name, values in TREE.items()}
    trees["nodes_treeids"] = [0] * 5 + [1] * 5
    trees["nodes_modes"] = [*first, "LEAF", "LEAF", "LEAF", *second, "LEAF", "LEAF", "LEAF"]
    votes = [(tree, leaf, *vote) for tree in (0, 1) for leaf, own in VOTES.items() for vote in own]
    names = (f"{stem}_{n}" for n in ("treeids", "nodeids", "ids", "weights"))
    return trees | {name: list(values) for name, values in zip(names, zip(*votes))}


def reached(x, modes):
    """The leaf of each row."""
    def holds(node, row):
        value = row[TREE["nodes_featureids"][node]]
        if value != value:
            return TREE["nodes_missing_value_tracks_true"][node]
        return COMPARE[modes[node]](value, TREE["nodes_values"][node])

    return [2 if not holds(0, row) else 3 if holds(1, row) else 4 for row in x]


def vote(x, first, second, how="SUM"):
    result = np.zeros((len(x), 3))
    for n, leaves in enumerate(zip(reached(x, first), reached(x, second))):
        for target in range(3):
            own = [w for leaf in leaves for t, w in VOTES[leaf] if t == target]
            result[n, target] = {"SUM": sum(own), "AVERAGE": sum(own) / 2, "MIN": min(own, default=0), "MAX": max(own, default=0)}[how]
    return result


def tree_rows(element):
    values = [[a, b] for a in (-2, 0, 0.5, 3) for b in (-1, 0, 4)]
    if is_float(element):
        values += [[np.nan, 0], [0, np.nan], [np.inf, -np.inf]]
    return array(values, element)


@cases("TreeEnsembleRegressor", domain=ML)
def tree_regressor(op, version, types, draw):
    x = tree_rows(types["T"])
    for count, how in enumerate(("SUM", "AVERAGE", "MIN", "MAX")):
        first, second = (MODES[count], MODES[5 - count]), (MODES[(count + 3) % 6], MODES[(count + 1) % 6])
        expected = lambda x, f=first, s=second, how=how: vote(x, f, s, how)  # noqa: E731
        attributes = {**forest("target", first, second), "aggregate_function": how, "n_targets": 3}
        yield Case(how, [x], attributes, expected=expected)
    for transform, _ in transforms(types["T"]):
        yield Case(f"base_{transform}", [x], {**attributes, "base_values": [0.5, -1.0, 0.25], "post_transform": transform},
                   expected=lambda x, t=transform: TRANSFORMS[t](expected(x) + [0.5, -1, 0.25]))  # fmt: skip
    if version >= 3:
        tensors = {f"{name}_as_tensor": numpy_helper.from_array(np.array(attributes[name])) for name in ("nodes_values", "target_weights")}
        kept = {name: value for name, value in attributes.items() if name not in ("nodes_values", "target_weights")}
        yield Case("tensors", [x], {**kept, **tensors}, expected=expected)
    yield Case("no_rows", [x[:0]], attributes, expected=lambda x: np.zeros((0, 3)))


@cases("TreeEnsembleClassifier", domain=ML, pairs=True)
def tree_classifier(op, version, types, draw):
    x = tree_rows(types["T1"])
    given, names = labels(types["T2"], 3, "classlabels_int64s")
    for count, (transform, _) in enumerate(transforms(types["T1"])):
        first, second = (MODES[count], MODES[5 - count]), (MODES[(count + 3) % 6], MODES[(count + 1) % 6])
        attributes = {**forest("class", first, second), "post_transform": transform, **given}
        expected = lambda x, f=first, s=second, t=transform: classified(vote(x, f, s) + [0.125, 0, 0], names, t)  # noqa: E731
        yield Case(transform, [x], {**attributes, "base_values": [0.125, 0.0, 0.0]}, 2, expected=expected)
    if version >= 3:
        name = "class_weights"
        tensor = numpy_helper.from_array(np.array(attributes.pop(name)))
        yield Case("tensor", [x], {**attributes, f"{name}_as_tensor": tensor}, 2,
                   expected=lambda x: classified(vote(x, first, second), names, transform))  # fmt: skip


@cases("TreeEnsemble", domain=ML)
def tree_ensemble(op, version, types, draw):
    element, targets = types["T"], 2
    kind = schemas.code(element)
    x = array([[a, b] for a in (-1, 0, 1, 2, np.nan) for b in (-1, 1, 3)], element)
    tensor = lambda values: helper.make_tensor("t", kind, [len(values)], values)  # noqa: E731
    weights = [0.5, -1.0, 2.0, 0.25]
    for mode, how, transform in ((0, 1, 0), (1, 0, 0), (2, 2, 0), (3, 3, 0), (4, 1, 1), (5, 1, 2), (6, 1, 3), (6, 1, 4), (5, 0, 0)):
        attributes = {
            "tree_roots": [0, 2], "nodes_featureids": [0, 1, 1], "nodes_modes": helper.make_tensor("m", 2, [3], [mode, 2, mode]),
            "nodes_splits": tensor([1.0, 1.0, 1.0]), "nodes_truenodeids": [1, 0, 2], "nodes_trueleafs": [0, 1, 1],
            "nodes_falsenodeids": [1, 3, 0], "nodes_falseleafs": [1, 1, 1], "nodes_missing_value_tracks_true": [0, 1, 1],
            "leaf_targetids": [0, 1, 0, 1], "leaf_weights": tensor(weights), "n_targets": targets,
            "aggregate_function": how, "post_transform": transform,
        }  # fmt: skip
        if mode == 6:
            attributes["membership_values"] = tensor([1.0, 2.0, np.nan, -1.0, 3.0, np.nan])

        def test(value, mode, tracks, members):
            if value != value:
                return tracks
            return value in members if mode == 6 else list(COMPARE.values())[mode](value, 1)

        def expected(x, mode=mode, how=how, transform=transform):
            result = np.zeros((len(x), targets))
            for n, (a, b) in enumerate(x.astype(np.float64)):
                first = (0 if test(b, 2, 1, ()) else 3) if test(a, mode, 0, (1, 2)) else 1
                second = 2 if test(b, mode, 1, (-1, 3)) else 0
                for target in range(targets):
                    own = [weights[leaf] for leaf in (first, second) if leaf % 2 == target]
                    result[n, target] = [sum(own) / 2, sum(own), min(own, default=0), max(own, default=0)][how]
            return TRANSFORMS[["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"][transform]](result)

        yield Case(f"mode{mode}_{how}_{transform}", [x], attributes, expected=expected)
    yield Case("no_rows", [x[:0]], attributes, expected=lambda x: np.zeros((0, targets)))
