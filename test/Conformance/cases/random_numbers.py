"""Operators with random results: what is drawn is compared with its distribution, and two runs must differ.

Every bound below is beyond five standard deviations of what it bounds: by chance less than once in a million runs.
"""

import numpy as np
from Conformance import schemas
from Conformance.table import Case, array, cases

MANY = 20000


def elements(run):
    return np.asarray(run[0]).astype(np.float64).reshape(-1)


def uniform(low, high, shape):
    def check(inputs, runs):
        for run in runs:
            x = elements(run)
            if run[0].shape != shape:
                return f"has the shape {run[0].shape}, not {shape}"
            if x.size and (x.min() < low or x.max() > high):
                return f"{x.min()} to {x.max()} are outside [{low}, {high})"
            if x.size < MANY:
                continue
            unit = (x - low) / (high - low)
            found = np.histogram(unit, 16, (0, 1))[0] / x.size * 16
            if np.abs(found - 1).max() > 6 * np.sqrt(16 / x.size) + 0.03:
                return f"the sixteenths of the interval have the frequencies {found}"
            if abs(np.corrcoef(unit[:-1], unit[1:])[0, 1]) > 6 / np.sqrt(x.size):
                return "neighbours are correlated"
        if x.size >= MANY and np.array_equal(elements(runs[0]), elements(runs[1])):
            return "two runs give the same"
        return None

    return check


def normal(mean, scale, shape):
    def check(inputs, runs):
        for run in runs:
            x = (elements(run) - mean) / scale
            if run[0].shape != shape:
                return f"has the shape {run[0].shape}, not {shape}"
            if x.size < MANY:
                continue
            bound = 6 / np.sqrt(x.size)
            moments = [x.mean(), x.var() - 1, (x**3).mean(), (x**4).mean() - 3]
            if any(abs(m) > b for m, b in zip(moments, (bound + 0.01, 1.5 * bound + 0.01, 4 * bound, 10 * bound))):
                return f"mean, variance - 1, skewness and excess are {moments}"
            if abs(np.corrcoef(x[:-1], x[1:])[0, 1]) > bound:
                return "neighbours are correlated"
        if x.size >= MANY and np.array_equal(elements(runs[0]), elements(runs[1])):
            return "two runs give the same"
        return None

    return check


DISTRIBUTIONS = {
    "Normal": (normal, ("mean", "scale"), (0.0, 1.0), (2.0, 0.5)),
    "Uniform": (uniform, ("low", "high"), (0.0, 1.0), (-3.0, 5.0)),
}


@cases("RandomNormal", "RandomUniform")
def random(op, version, types, draw):
    check, names, default, other = DISTRIBUTIONS[op.removeprefix("Random")]
    code = schemas.code(types["T"])
    yield Case("default", [], {"shape": [100, 200], "dtype": code}, check=check(*default, (100, 200)), runs=2)
    attributes = dict(zip(names, other)) | {"shape": [100, 10, 20], "dtype": code, "seed": 3.0}
    yield Case("other", [], attributes, check=check(*other, (100, 10, 20)), runs=2)
    if types["T"] == "float":
        yield Case("empty", [], {"shape": [0, 3]}, check=check(*default, (0, 3)), runs=2)
        yield Case("untyped", [], {"shape": [MANY]}, check=check(*default, (MANY,)), runs=2)


@cases("RandomNormalLike", "RandomUniformLike")
def random_like(op, version, types, draw):
    check, names, default, other = DISTRIBUTIONS[op.removeprefix("Random").removesuffix("Like")]
    x = draw((100, 200), types["T1"])
    yield Case(
        "other",
        [x],
        dict(zip(names, other)) | {"dtype": schemas.code(types["T2"])},
        check=check(*other, x.shape),
        runs=2,
    )
    if types["T1"] == types["T2"]:
        yield Case("default", [x], check=check(*default, x.shape), runs=2)
    if types["T1"] == "float":
        yield Case("empty", [x[:0]], {"dtype": schemas.code(types["T2"])}, check=check(*default, (0, 200)), runs=2)


@cases("Bernoulli")
def bernoulli(op, version, types, draw):
    chances = np.array([0.0, 0.25, 0.5, 0.9, 1.0])

    def check(inputs, runs):
        p = inputs[0].astype(np.float64)
        for run in runs:
            y = np.asarray(run[0]).astype(np.float64)
            if y.shape != p.shape or not np.isin(y, (0, 1)).all():
                return f"is not 0 and 1 alone in the shape {p.shape}"
            for row, chance in zip(y, p):
                if abs(row.mean() - chance[0]) > 6 * np.sqrt(chance[0] * (1 - chance[0]) / row.size):
                    return f"of probability {chance[0]} there are {row.mean()}"
        return "two runs give the same" if np.array_equal(runs[0][0], runs[1][0]) else None

    x = array(np.repeat(chances[:, None], 8000, 1), types["T1"])
    yield Case("probabilities", [x], {"dtype": schemas.code(types["T2"])}, check=check, runs=2)
    if types["T1"] == types["T2"]:
        yield Case("like", [x], check=check, runs=2)
        empty = lambda inputs, runs: None if runs[0][0].shape == (0, 3) else "has another shape"  # noqa: E731
        yield Case("empty", [x[:0, :3]], check=empty)


@cases("Multinomial")
def multinomial(op, version, types, draw):
    logits = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 2.0, -8.0], [-3.0, -3.0, 5.0, 5.0]])

    def check(inputs, runs):
        for run in runs:
            if run[0].shape != (3, 30000) or run[0].min() < 0 or run[0].max() > 3:
                return f"{run[0].min()} to {run[0].max()} in the shape {run[0].shape}"
            for row, weights in zip(run[0], np.exp(inputs[0].astype(np.float64))):
                chances = weights / weights.sum()
                found = np.bincount(row, minlength=4) / row.size
                if np.any(np.abs(found - chances) > 6 * np.sqrt(chances * (1 - chances) / row.size) + 1e-4):
                    return f"probabilities {chances}, found {found}"
        return "two runs give the same" if np.array_equal(runs[0][0], runs[1][0]) else None

    attributes = {"sample_size": 30000, "dtype": schemas.code(types["T2"])}
    yield Case("rows", [array(logits, types["T1"])], attributes, check=check, runs=2)
    if types["T2"] == "int32":

        def single(inputs, runs):
            return (
                None if runs[0][0].shape == (3, 1) and runs[0][0].dtype == np.int32 else "is not int32 of shape (3, 1)"
            )

        yield Case("default", [array(logits, types["T1"])], check=single)
