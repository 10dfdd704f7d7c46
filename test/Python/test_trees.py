"""TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble beside ONNX Runtime and trees walked in Python."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper
from support import ml
from support.combinations import every_other

DTYPES = [np.float32, np.float64, np.int32, np.int64]
MODES = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal, "BRANCH_GT": np.greater,
         "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}  # fmt: skip
SCORES = {"y": TensorProto.FLOAT}
CLASSES = {"y": TensorProto.INT64, "z": TensorProto.FLOAT}


def grow(rng, trees, depth, features, stem, targets, votes, modes=tuple(MODES), ends=0.2):
    """Attributes of random trees; `votes` of each leaf, for the tree's target if it is None. Trees end at a level with
    the probability `ends`."""
    a = {f"nodes_{n}": [] for n in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
                                     "missing_value_tracks_true")}  # fmt: skip
    a |= {f"{stem}_{n}": [] for n in ("treeids", "nodeids", "ids", "weights")}

    def node(tree, level, counter):
        own = counter.pop()
        counter.append(own + 1)
        at = len(a["nodes_nodeids"])
        leaf = level == 0 or (level < depth and rng.random() < ends)
        for name, value in (("treeids", tree), ("nodeids", own), ("featureids", int(rng.integers(features))),
                            ("values", float(rng.integers(-2, 3)) / 2), ("truenodeids", 0), ("falsenodeids", 0),
                            ("modes", "LEAF" if leaf else str(rng.choice(modes))),
                            ("missing_value_tracks_true", int(rng.integers(2)))):  # fmt: skip
            a[f"nodes_{name}"].append(value)
        if leaf:
            own_targets = [tree % targets] if votes is None else rng.choice(targets, min(votes, targets), replace=False)
            for target in own_targets:
                for name, value in (("treeids", tree), ("nodeids", own), ("ids", int(target)),
                                    ("weights", float(np.float32(rng.normal())))):  # fmt: skip
                    a[f"{stem}_{name}"].append(value)
        else:
            a["nodes_truenodeids"][at] = node(tree, level - 1, counter)
            a["nodes_falsenodeids"][at] = node(tree, level - 1, counter)
        return own

    for tree in range(trees):
        node(7 - tree, 0 if tree == 2 else depth, [0])
    return a


def leaves(a, row):
    """(tree, node) of each tree's leaf."""
    where = {key: i for i, key in enumerate(zip(a["nodes_treeids"], a["nodes_nodeids"]))}
    for tree in dict.fromkeys(a["nodes_treeids"]):
        node = 0
        while (mode := a["nodes_modes"][i := where[tree, node]]) != "LEAF":
            x = row[a["nodes_featureids"][i]]
            holds = a["nodes_missing_value_tracks_true"][i] if np.isnan(x) else MODES[mode](x, a["nodes_values"][i])
            node = a["nodes_truenodeids"][i] if holds else a["nodes_falsenodeids"][i]
        yield tree, node


def scores(a, stem, x, targets, how="SUM", base=0.0):
    result = np.zeros((len(x), targets))
    for n, row in enumerate(x):
        votes = [[] for _ in range(targets)]
        reached = list(leaves(a, row))
        for tree, node, target, weight in zip(*(a[f"{stem}_{k}"] for k in ("treeids", "nodeids", "ids", "weights"))):
            if (tree, node) in reached:
                votes[target].append(weight)
        for target, own in enumerate(votes):
            result[n, target] = {"SUM": sum, "AVERAGE": lambda v: sum(v) / len(reached), "MIN": lambda v: min(v, default=0),
                                 "MAX": lambda v: max(v, default=0)}[how](own)  # fmt: skip
    return result + base


def rows(rng, dtype, count=16, features=3):
    x = rng.integers(-3, 4, (count, features)) / (2 if np.dtype(dtype).kind == "f" else 1)
    x = x.astype(dtype)
    if x.dtype.kind == "f":
        x[::5, 1] = np.nan
    return x


@pytest.mark.parametrize("version", [1, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_regressor(dtype, version):
    for how, votes, seed in (("SUM", 1, 1), ("AVERAGE", 3, 2), ("MIN", 1, 3), ("MAX", 2, 4)):
        rng = np.random.default_rng(seed)
        a, x = grow(rng, 4, 4, 3, "target", 3, votes), rows(rng, dtype)
        expected = scores(a, "target", x, 3, how, base := [0.5, -1.0, 2.0])
        proto = ml.model("TreeEnsembleRegressor", {"x": x}, SCORES, version, n_targets=3, aggregate_function=how, base_values=base, **a)
        ml.equal(ml.run(proto, {"x": x}), [expected])
        if dtype == np.float32 and "BRANCH_NEQ" not in a["nodes_modes"]:
            ml.equal(ml.run_ort(proto, {"x": x}), [expected])


def test_regressor_beside_onnx_runtime():
    rng = np.random.default_rng(3)
    a, x = grow(rng, 5, 4, 3, "target", 2, 1), np.nan_to_num(rows(rng, np.float32))
    for transform in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"):
        proto = ml.model("TreeEnsembleRegressor", {"x": x}, SCORES, n_targets=2, post_transform=transform, **a)
        ml.equal(ml.run(proto, {"x": x}), ml.run_ort(proto, {"x": x}))


def test_doubles():
    """Thresholds that only doubles tell apart."""
    x = np.array([[1 + 1e-12], [1 - 1e-12]])
    a = dict(nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[0] * 3, nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
             nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0],
             nodes_values_as_tensor=helper.make_tensor("v", TensorProto.DOUBLE, [3], [1.0, 0, 0]),
             target_weights_as_tensor=helper.make_tensor("w", TensorProto.DOUBLE, [2], [2.0, 3.0]))  # fmt: skip
    proto = ml.model("TreeEnsembleRegressor", {"x": x}, SCORES, n_targets=1, **a)
    ml.equal(ml.run(proto, {"x": x}), [[[3], [2]]])
    ml.equal(ml.run_ort(proto, {"x": x}), [[[3], [2]]])


@every_other("dtype, votes, modes", DTYPES, [None, 1, 3],
             [["BRANCH_LEQ"], ["BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_LEQ"]])  # fmt: skip
def test_orders(dtype, votes, modes):
    """Tests that are all made x <= split: as many trees as a group has and others, missing values that pass or do not,
    and splits at which nothing is smaller or nothing larger."""
    for trees, how, missing, seed in ((1, "SUM", None, 0), (4, "MAX", 0, 1), (9, "AVERAGE", 1, 2), (11, "MIN", None, 3)):
        rng = np.random.default_rng(seed)
        a, x = grow(rng, trees, 5, 3, "target", 2, votes, modes), rows(rng, dtype, 40)
        if missing is not None:
            a["nodes_missing_value_tracks_true"] = [missing] * len(a["nodes_modes"])
        if x.dtype.kind == "f":
            x[1::6, 2], x[2::6, 2], x[3::6, 0] = np.inf, -np.inf, -0.0
            for at, extreme in ((1, np.inf), (2, -np.inf), (3, -0.0)):
                a["nodes_values"][at::7] = [extreme] * len(a["nodes_values"][at::7])
        proto = ml.model("TreeEnsembleRegressor", {"x": x}, SCORES, n_targets=2, aggregate_function=how, **a)
        ml.equal(ml.run(proto, {"x": x}), [scores(a, "target", x, 2, how)])


@pytest.mark.parametrize("votes", [None, 1, 2])
def test_deep_trees_and_many_rows(votes):
    """Trees with leaves at all levels, and more rows than are computed together."""
    rng = np.random.default_rng(5)
    a, x = grow(rng, 5, 30, 6, "target", 2, votes, ["BRANCH_LEQ", "BRANCH_GT"], 0.45), rows(rng, np.float32, 2100, 6)
    proto = ml.model("TreeEnsembleRegressor", {"x": x}, SCORES, n_targets=2, **a)
    expected = scores(a, "target", x, 2)
    ml.equal(ml.run(proto, {"x": x}), [expected])
    model = strata.compile(proto, threads=2)
    for count in (0, 1, 1024, 1025, 2100):
        ml.equal(model.run([x[:count]]), [expected[:count]])


def test_many_targets_that_few_leaves_vote_for():
    rng = np.random.default_rng(6)
    a, x = grow(rng, 6, 7, 4, "target", 50000, 1, ["BRANCH_LT"]), rows(rng, np.float32, 12, 4)
    proto = ml.model("TreeEnsembleRegressor", {"x": x}, SCORES, n_targets=50000, **a)
    ml.equal(ml.run(proto, {"x": x}), [scores(a, "target", x, 50000)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("votes", [1, 3])
def test_classifier(dtype, votes):
    rng = np.random.default_rng(votes)
    a, x = grow(rng, 4, 4, 3, "class", 3, votes), np.nan_to_num(rows(rng, dtype))
    for transform, base in (("NONE", None), ("SOFTMAX", [0.25, 0.0, -1.0])):
        more = {"base_values": base} if base else {}
        proto = ml.model("TreeEnsembleClassifier", {"x": x}, CLASSES, classlabels_int64s=[4, -2, 9], post_transform=transform, **a, **more)
        y, z = ml.run(proto, {"x": x})
        exact = scores(a, "class", x, 3, base=base or 0.0)
        assert y.tolist() == [[4, -2, 9][i] for i in exact.astype(np.float32).argmax(1)]
        if transform == "SOFTMAX":
            exact = np.exp(exact) / np.exp(exact).sum(1, keepdims=True)
        np.testing.assert_allclose(z, exact, 1e-5, 1e-6)
        if dtype == np.float32:
            ml.equal([y, z], ml.run_ort(proto, {"x": x}))


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
def test_one_score_for_two_labels(transform):
    rng = np.random.default_rng(8)
    a, x = grow(rng, 4, 3, 3, "class", 1, 1), np.nan_to_num(rows(rng, np.float32))
    labels = {"classlabels_strings": ["no", "yes"]}
    outputs = {"y": TensorProto.STRING, "z": TensorProto.FLOAT}
    for base in ({}, {"base_values": [0.375]}):
        proto = ml.model("TreeEnsembleClassifier", {"x": x}, outputs, post_transform=transform, **a, **labels, **base)
        y, z = ml.run(proto, {"x": x})
        s = scores(a, "class", x, 1, base=base.get("base_values", 0.0))
        assert y.tolist() == np.where(s[:, 0] > 0, "yes", "no").tolist()
        if transform in ("NONE", "LOGISTIC"):  # ONNX Runtime leaves out the other transforms of one score
            ml.equal([y, z], ml.run_ort(proto, {"x": x}))
        else:
            np.testing.assert_allclose(z[:, 1], 1 / (1 + np.exp(-2 * s[:, 0])), 1e-5)
    a["class_weights"] = np.abs(a["class_weights"]).tolist()
    proto = ml.model("TreeEnsembleClassifier", {"x": x}, outputs, post_transform="NONE", **a, **labels)
    ml.equal(ml.run(proto, {"x": x}), ml.run_ort(proto, {"x": x}))


def test_ensemble_transforms_and_missing_values():
    x = np.array([[0.5], [np.nan], [2.0]], np.float32)
    common = dict(tree_roots=[0], nodes_featureids=[0], nodes_splits=helper.make_tensor("s", 1, [1], [1.0]),
                  nodes_modes=helper.make_tensor("m", TensorProto.UINT8, [1], [5]), nodes_truenodeids=[0], nodes_trueleafs=[1],
                  nodes_falsenodeids=[1], nodes_falseleafs=[1], leaf_targetids=[0, 1],
                  leaf_weights=helper.make_tensor("w", 1, [2], [0.25, 0.75]), n_targets=2)  # fmt: skip
    expected = np.array([[0.25, 0], [0, 0.75], [0.25, 0]])
    for tracks in (0, 1):
        votes = expected if tracks == 0 else np.array([[0.25, 0]] * 3)
        for number, transform in enumerate([lambda s: s, lambda s: np.exp(s) / np.exp(s).sum(1, keepdims=True),
                                            lambda s: 1 / (1 + np.exp(-s)), lambda s: (s != 0) * 1.0]):  # fmt: skip
            proto = ml.model("TreeEnsemble", {"x": x}, SCORES, 5, post_transform=number, nodes_missing_value_tracks_true=[tracks], **common)
            ml.equal(ml.run(proto, {"x": x}), [transform(votes)])
    probit = ml.model("TreeEnsemble", {"x": x}, SCORES, 5, post_transform=4, **common)
    ml.equal(ml.run(probit, {"x": x}), ml.run_ort(probit, {"x": x})[:0] + [[[-0.67457, -np.inf], [-np.inf, 0.67457], [-0.67457, -np.inf]]], 1e-4)


def test_features_that_are_not_there():
    rng = np.random.default_rng(1)
    a = grow(rng, 2, 3, 3, "target", 1, 1)
    x = rows(rng, np.float32)
    model = strata.compile(ml.model("TreeEnsembleRegressor", {"x": x}, SCORES, n_targets=1, **a), threads=1)
    assert model.run([x[:0]])[0].shape == (0, 1)
    with pytest.raises(strata.RunError, match="a node tests a feature that is not there"):
        model.run([x[:, :1].copy()])
