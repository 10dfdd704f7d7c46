"""Normalizations, and Dropout."""

import numpy as np
from Conformance import schemas
from Conformance.table import Case, array, cases

NARROW = ("float16", "bfloat16")
SINGLE, ALPHA = float(np.float32(0.9)), float(np.float32(0.0001))  # attributes are floats


def per_channel(values, x):
    return values.reshape(-1, *[1] * (x.ndim - 2)) if x.ndim > 1 else values


def batch_normalization(x, scale, bias, mean, var, epsilon=1e-5, momentum=SINGLE, training=False, spatial=True):
    """y, or with `training` (y, running mean, running variance)."""
    given = mean, var
    if training:
        axes = tuple(i for i in range(x.ndim) if i != 1) if spatial else (0,)
        mean, var = x.mean(axis=axes), x.var(axis=axes)
    place = (lambda v: per_channel(v, x)) if spatial else (lambda v: v)
    y = (x - place(mean)) / np.sqrt(place(var) + epsilon) * place(scale) + place(bias)
    if not training:
        return y
    batch = (mean, var) if training == "saved" else ()
    return y, *(old * momentum + new * (1 - momentum) for old, new in zip(given, (mean, var))), *batch


def tolerance(element):
    """Sums of squares and roots of them: some units more than a single operation."""
    return {"atol": 2e-6} if element == "float" else {}


@cases("BatchNormalization")
def batch(op, version, types, draw):
    parameter = types.get("T1", types["T"])
    statistic = types.get("T2", types.get("U", types["T"]))
    t = types["T"]

    def operands(shape, count=None):
        own = shape[1:2] if count is None else count
        own = own or (1,)
        return [
            draw(shape, t),
            draw(own, parameter),
            draw(own, parameter),
            draw(own, statistic),
            draw(own, statistic, 0.2, 3),
        ]

    legacy = {"consumed_inputs": [0, 0, 0, 1, 1]} if version == 1 else {}
    test = legacy | ({"is_test": 1} if version < 7 else {})
    more = tolerance(t)
    for name, shape in (
        ("plane", (2, 3, 4, 5)),
        ("matrix", (4, 3)),
        ("volume", (1, 2, 2, 3, 2)),
        ("batch0", (0, 3, 2)),
        ("vector", (5,)),
    ):
        if (t == "float" or name in ("plane", "batch0")) and (name != "vector" or version >= 9):
            yield Case(name, operands(shape), test, expected=batch_normalization, **more)
    epsilon = test | {"epsilon": 0.0625}
    yield Case(
        "epsilon", operands((2, 3, 4)), epsilon, expected=lambda *v: batch_normalization(*v, epsilon=0.0625), **more
    )
    if version < 9:
        a = test | {"spatial": 0}
        yield Case(
            "per_element",
            operands((2, 3, 4), (3, 4)),
            a,
            expected=lambda *v: batch_normalization(*v, spatial=False),
            **more,
        )
    mode = legacy | ({"training_mode": 1} if version >= 14 else {})
    for name, shape, momentum in (("training", (2, 3, 4, 5), SINGLE), ("training_matrix", (6, 2), 0.625)):
        a = mode | ({} if momentum == SINGLE else {"momentum": momentum})

        def expected(*v, m=momentum):
            return batch_normalization(*v, momentum=m, training=True)

        yield Case(name, operands(shape), a, outputs=3, expected=expected, **more)
    if version < 14:

        def expected(*v):
            return batch_normalization(*v, training="saved")

        yield Case("saved", operands((4, 3, 2)), mode, outputs=5, expected=expected, **more)
    if version < 9:

        def expected(*v):
            return batch_normalization(*v, training="saved", spatial=False)

        yield Case(
            "saved_per_element",
            operands((4, 3, 2), (3, 2)),
            mode | {"spatial": 0},
            outputs=5,
            expected=expected,
            **more,
        )


@cases("InstanceNormalization")
def instance(op, version, types, draw):
    t = types["T"]

    def expected(x, scale, bias, epsilon=1e-5):
        axes = tuple(range(2, x.ndim))
        centred = x - x.mean(axis=axes, keepdims=True)
        return centred / np.sqrt(x.var(axis=axes, keepdims=True) + epsilon) * per_channel(scale, x) + per_channel(
            bias, x
        )

    legacy = {"consumed_inputs": [0, 0, 0]} if version == 1 else {}
    for name, shape in (
        ("plane", (2, 3, 4, 5)),
        ("line", (2, 2, 6)),
        ("volume", (1, 2, 2, 3, 2)),
        ("batch0", (0, 2, 3, 3)),
        ("one", (2, 3, 1)),
    ):
        inputs = [draw(shape, t), draw(shape[1:2], t), draw(shape[1:2], t)]
        yield Case(name, inputs, legacy, expected=expected, **tolerance(t))
    yield Case(
        "epsilon", inputs, legacy | {"epsilon": 0.5}, expected=lambda *v: expected(*v, epsilon=0.5), **tolerance(t)
    )


def normalized(x, axes, epsilon=1e-5):
    mean, var = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(var + epsilon), mean, 1 / np.sqrt(var + epsilon)


def picked(function, which):
    """The function's results of the place (or places)."""
    return lambda *values: function(*values)[which]


@cases("LayerNormalization", pairs=True)
def layer(op, version, types, draw):
    t, stash = types["T"], types["U"]
    code = {"stash_type": schemas.code(stash)} if stash != "float" else {}

    def expected(axis, epsilon=1e-5):
        def compute(x, scale, bias=0):
            y, mean, deviation = normalized(x, tuple(range(axis % x.ndim, x.ndim)), epsilon)
            return y * scale + bias, mean, deviation

        return compute

    # What is computed in bfloat16 has its precision, whatever the result's type.
    more = {"rtol": 2**-5, "atol": 2**-5} if stash == "bfloat16" else tolerance(t)
    if t == "double":  # stage one is computed in float
        more = {"rtol": 1e-5, "atol": 2e-6} if stash == "float" else more
    for name, shape, axis, parameters in (
        ("last", (2, 3, 8), -1, (8,)), ("middle", (2, 3, 4, 2), 2, (4, 2)), ("whole", (3, 4), 0, (3, 4)),
        ("negative", (2, 3, 4), -2, (3, 4)), ("broadcast", (2, 3, 4), 1, (1, 4)), ("scalar", (2, 5), 1, (1,)),
        ("empty", (0, 4), -1, (4,)),
    ):  # fmt: skip
        if (t, stash) != ("float", "float") and name not in ("last", "empty"):
            continue
        x, scale, bias = draw(shape, t), draw(parameters, t), draw(parameters, t)
        a = code | ({} if axis == -1 else {"axis": axis})
        yield Case(name, [x, scale, bias], a, expected=picked(expected(axis), 0), **more)
        yield Case(f"{name}_statistics", [x, scale], a, outputs=3, expected=expected(axis), **more)
        if t == "float":
            yield Case(
                f"{name}_deviation",
                [x, scale],
                a,
                outputs=[1, 0, 1],
                expected=picked(expected(axis), slice(None, None, 2)),
                **more,
            )
    a = code | {"epsilon": 0.25}
    yield Case("epsilon", [draw((3, 4), t), draw((4,), t)], a, expected=lambda *v: expected(-1, 0.25)(*v)[0], **more)
    # A mean far from zero: the variance must not be computed as a difference of squares.
    far = array(np.array([[1000, 1001, 999, 1000.5]]) if t not in NARROW else [[100, 101, 99, 100.5]], t)
    if stash == "float":
        yield Case("far", [far, array([1, 1, 1, 1], t)], expected=lambda *v: expected(-1)(*v)[0], **more)


@cases("GroupNormalization")
def group(op, version, types, draw):
    t = types["T"]

    def expected(groups, epsilon=1e-5):
        def compute(x, scale, bias):
            if x.size == 0:
                return x
            y = normalized(x.reshape(x.shape[0], groups, -1), (2,), epsilon)[0].reshape(x.shape)
            return y * per_channel(scale, x) + per_channel(bias, x)

        return compute

    more = {"rtol": 1e-5, "atol": 2e-6} if t == "double" else tolerance(t)  # stage one is computed in float
    for name, shape, groups in (
        ("plane", (2, 4, 3, 3), 2),
        ("line", (2, 6, 5), 3),
        ("one", (2, 4, 3), 1),
        ("each", (1, 3, 4, 2), 3),
        ("batch0", (0, 4, 3), 2),
    ):
        inputs = [draw(shape, t), draw(shape[1:2], t), draw(shape[1:2], t)]
        yield Case(name, inputs, {"num_groups": groups}, expected=expected(groups), **more)
        if name == "plane":
            a = {"num_groups": groups, "epsilon": 0.125}
            yield Case("epsilon", inputs, a, expected=expected(groups, 0.125), **more)
            if t in NARROW:
                a = {"num_groups": groups, "stash_type": schemas.code(t)}
                yield Case("stash", inputs, a, expected=expected(groups), rtol=2**-5, atol=2**-5)


@cases("RMSNormalization", pairs=True)
def root_mean_square(op, version, types, draw):
    t, v = types["T"], types["V"]

    def expected(axis, epsilon=1e-5):
        def compute(x, scale):
            axes = tuple(range(axis % x.ndim, x.ndim))
            return x / np.sqrt((x**2).mean(axis=axes, keepdims=True) + epsilon) * scale

        return compute

    # The result of stage one is cast to T, so to its precision, before it is scaled.
    more = (
        {"rtol": 2**-6}
        if t == "bfloat16"
        else {"rtol": 2**-9}
        if t == "float16"
        else {"rtol": 1e-5}
        if v == "double"
        else tolerance(t)
    )
    for name, shape, axis, parameters in (
        ("last", (2, 3, 8), -1, (8,)), ("middle", (2, 3, 4, 2), 2, (4, 2)), ("whole", (3, 4), 0, (3, 4)),
        ("negative", (2, 3, 4), -2, (3, 4)), ("broadcast", (2, 3, 4), 1, (1, 4)), ("empty", (0, 4), -1, (4,)),
    ):  # fmt: skip
        if (t != "float" or v != "float") and name not in ("last", "empty"):
            continue
        a = {} if axis == -1 else {"axis": axis}
        yield Case(name, [draw(shape, t), draw(parameters, v)], a, expected=expected(axis), **more)
    yield Case("epsilon", [draw((3, 4), t), draw((4,), v)], {"epsilon": 0.25}, expected=expected(-1, 0.25), **more)


@cases("MeanVarianceNormalization")
def mean_variance(op, version, types, draw):
    t = types["T"]

    def expected(axes=(0, 2, 3)):
        def compute(x):
            mean = x.mean(axis=axes, keepdims=True)
            deviation = np.sqrt((x**2).mean(axis=axes, keepdims=True) - mean**2)
            return (x - mean) / (deviation + 1e-9)

        return compute

    more = {"rtol": 1e-4, "atol": 1e-5} if t == "float" else {}  # a difference of squares, as the function body says
    yield Case("plane", [draw((2, 3, 4, 5), t)], expected=expected(), **more)
    yield Case("axes", [draw((2, 3, 4), t)], {"axes": [0, 2]}, expected=expected((0, 2)), **more)
    yield Case("one_axis", [draw((3, 6), t)], {"axes": [1]}, expected=expected((1,)), **more)
    yield Case("negative", [draw((2, 3, 4), t)], {"axes": [-1, -3]}, expected=expected((-1, -3)), **more)


@cases("LRN")
def local_response(op, version, types, draw):
    t = types["T"]

    def expected(size, alpha=ALPHA, beta=0.75, bias=1.0):
        def compute(x):
            sums = np.zeros_like(x)
            for c in range(x.shape[1]):
                low, high = max(0, c - (size - 1) // 2), min(x.shape[1] - 1, c + -(-(size - 1) // 2))
                sums[:, c] = (x[:, low : high + 1] ** 2).sum(axis=1)
            return x / (bias + alpha / size * sums) ** beta

        return compute

    for name, shape, a in (
        ("odd", (2, 5, 3, 4), {"size": 3}), ("even", (1, 6, 2, 2), {"size": 4}), ("wide", (1, 3, 2, 2), {"size": 9}),
        ("given", (2, 5, 3, 3), {"size": 3, "alpha": 0.5, "beta": 1.5, "bias": 2.0}),
        ("one", (1, 3, 4, 4), {"size": 1, "alpha": 1.0}),
        ("line", (2, 4, 5), {"size": 3, "alpha": 1.0}), ("batch0", (0, 4, 2, 2), {"size": 3}),
    ):  # fmt: skip
        yield Case(name, [draw(shape, t)], a, expected=expected(**a))


@cases("LpNormalization")
def unit_norm(op, version, types, draw):
    t = types["T"]

    def expected(axis=-1, p=2):
        def compute(x):
            norm = (np.abs(x) ** p).sum(axis=axis, keepdims=True) ** (1 / p)
            return np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm))

        return compute

    for name, shape, a in (
        ("last", (2, 3, 4), {}),
        ("one", (3, 4), {"p": 1}),
        ("first", (3, 4), {"axis": 0}),
        ("negative", (2, 3, 2), {"axis": -2, "p": 1}),
        ("empty", (0, 3), {}),
    ):
        yield Case(name, [draw(shape, t)], a, expected=expected(**a))
    # The specification of 22 says what a norm of zero gives; before it did not.
    if version >= 22:
        yield Case("zeros", [array([[0, 0, 0], [3, 0, 4]], t)], expected=expected())


@cases("Dropout")
def dropout(op, version, types, draw):
    t = types["T"]
    x = draw((3, 4, 5), t, special=True)
    legacy = {"consumed_inputs": [0]} if version == 1 else {}
    test = legacy | ({"is_test": 1} if version < 7 else {})
    # The mask is of type T before version 10.
    mask_of = (lambda x: np.ones(x.shape, bool)) if version >= 10 else (lambda x: np.ones(x.shape, np.float64))
    wide = t in ("float", "double", "float16", "bfloat16")
    same, both = {"expected": lambda x, *_: x, "wide": wide}, {"expected": lambda x, *_: (x, mask_of(x)), "wide": wide}
    for name, value in (("inference", x), ("scalar", draw((), t)), ("empty", draw((0, 3), t))):
        yield Case(name, [value], test, **same)
        if version >= 7:  # of before, the mask of test mode is not said
            yield Case(f"{name}_mask", [value], test, outputs=2, **both)
    if version < 12:
        yield Case("ratio", [x], test | {"ratio": 0.25}, **same)
    else:
        ratio, off = array(0.25, types["T1"]), np.array(False)
        yield Case("ratio", [x, ratio], {"seed": 3}, constants=[1], outputs=2, **both)
        yield Case("off", [x, ratio, off], constants=[1, 2], outputs=2, **both)
    if 7 <= version < 12 or "float8" in t:
        return

    # Training: of many elements about `ratio` are dropped, the others scaled, and the mask tells which.
    def check(ratio):
        def wrong(inputs, runs):
            data, first = inputs[0].astype(np.float64), None
            for output, mask in runs:
                kept = np.asarray(mask).astype(np.float64) != 0
                share = 1 - kept.mean()
                if abs(share - ratio) > 0.04:
                    return f"{share:.3f} of the elements were dropped, not {ratio}"
                want = np.where(kept, data / (1 - ratio), 0)
                if not np.allclose(np.asarray(output).astype(np.float64), want, rtol=2**-7):
                    return "an element that was kept is not its operand / (1 - ratio), or a dropped one not 0"
                if ratio and first is not None and np.array_equal(kept, first):
                    return "two runs dropped the same elements"
                first = kept
            return None

        return wrong

    many = draw((50, 100), t, 1, 4)
    for ratio in (0.5, 0.25, 0.0) if t == "float" else (0.5,):
        if version < 12:
            yield Case(f"training{ratio}", [many], legacy | {"ratio": ratio}, outputs=2, check=check(ratio), runs=2)
        else:
            inputs = [many, array(ratio, types["T1"]), np.array(True)]
            yield Case(f"training{ratio}", inputs, constants=[1, 2], outputs=2, check=check(ratio), runs=2)
