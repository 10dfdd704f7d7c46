"""NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss."""

import numpy as np
from Conformance.table import Case, array, cases


def likelihood(x, target, weight=None, reduction="mean", ignore_index=None):
    """x [N, C, ...], target [N, ...]"""
    ignored = np.zeros(target.shape, bool) if ignore_index is None else target == ignore_index
    safe = np.where(ignored, 0, target).astype(np.int64)
    own = np.ones(target.shape) if weight is None else weight[safe]
    own = np.where(ignored, 0, own)
    loss = -np.where(ignored, 0, np.take_along_axis(x, safe[:, None], 1)[:, 0]) * own
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.sum() / own.sum()


def log_softmax(x):
    x = x - x.max(axis=1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=1, keepdims=True))


FORMS = {
    "matrix": ((4, 3), {}),
    "none": ((4, 3), {"reduction": "none"}),
    "sum": ((4, 3), {"reduction": "sum"}),
    "line": ((2, 3, 4), {}),
    "plane_none": ((2, 3, 2, 4), {"reduction": "none"}),
    "volume_sum": ((2, 3, 2, 2, 2), {"reduction": "sum"}),
    "ignored": ((4, 3, 3), {"ignore_index": 1}),
    "ignored_none": ((4, 3, 3), {"ignore_index": 1, "reduction": "none"}),
    "ignored_negative": ((4, 3, 3), {"ignore_index": -5}),
    "ignored_above": ((4, 3, 3), {"ignore_index": 10, "reduction": "sum"}),
    "batch0": ((0, 3), {"reduction": "none"}),
    "batch0_sum": ((0, 3, 2), {"reduction": "sum"}),
    "one": ((1, 1), {}),
}


@cases("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def losses(op, version, types, draw):
    t, index = types["T"], types["Tind"]
    # Every step of the function body rounds.
    more = {"rtol": 2**-5, "atol": 2**-7} if t == "bfloat16" else {}
    softmax = op == "SoftmaxCrossEntropyLoss"

    def expected(a, both=False):
        def compute(x, target, weight=None):
            scores = log_softmax(x) if softmax else x
            loss = likelihood(scores, target, weight, **a)
            return (loss, scores) if both else loss

        return compute

    for name, (shape, a) in FORMS.items():
        every = name in ("matrix", "plane_none", "ignored", "batch0")
        if not every and (t != "float" or version < 13):
            continue
        x, weight = draw(shape, t), draw(shape[1:2], t, 0.25, 2)
        target = draw((shape[0], *shape[2:]), index, 0, shape[1])
        if a.get("ignore_index", 0) not in range(shape[1]):
            target.reshape(-1)[::3] = a["ignore_index"]
        yield Case(name, [x, target], a, expected=expected(a), **more)
        yield Case(f"{name}_weights", [x, target, weight], a, expected=expected(a), **more)
        if softmax and name in ("matrix", "plane_none", "ignored", "batch0"):
            yield Case(f"{name}_scores", [x, target, weight], a, outputs=2, expected=expected(a, True), **more)
    if softmax:
        # Large scores: exp of them overflows.
        far = array([[1000, 990, 0], [-1000, -1001, -1000.5]], t)
        yield Case("large", [far, array([1, 2], index)], outputs=2, expected=expected({}, True), **more)
