"""Reductions, and the places of extremes."""

import numpy as np
from Conformance.table import Case, array, cases, is_float, is_integer

# Before a result of integers is put into its type, it is cut toward zero.
REDUCTIONS = {
    "ReduceSum": np.sum, "ReduceProd": np.prod, "ReduceMax": np.max, "ReduceMin": np.min,
    "ReduceMean": np.mean, "ReduceL1": lambda x, **a: np.sum(np.abs(x), **a),
    "ReduceL2": lambda x, **a: np.sqrt(np.sum(np.square(x), **a)),
    "ReduceSumSquare": lambda x, **a: np.sum(np.square(x), **a),
    "ReduceLogSum": lambda x, **a: np.log(np.sum(x, **a)),
    "ReduceLogSumExp": lambda x, axis, keepdims: np.logaddexp.reduce(x, axis, keepdims=keepdims),
}  # fmt: skip
LOGARITHMS = {"ReduceLogSum", "ReduceLogSumExp"}


@cases(*REDUCTIONS)
def reductions(op, version, types, draw):
    element, function = types["T"], REDUCTIONS[op]
    as_input = version >= (13 if op == "ReduceSum" else 18)
    low = 1 if op == "ReduceLogSum" else -3
    shape = (2, 3, 4)

    def result(axes, keepdims):
        def expected(x, *_):
            if element == "bool" or op in ("ReduceMax", "ReduceMin"):
                pass
            elif x.dtype.kind in "iu" and op in ("ReduceMean", "ReduceL2", *LOGARITHMS):
                x = x.astype(np.float64)
            chosen = None if axes is None else tuple(axes)
            if 0 in x.shape and op in ("ReduceMax", "ReduceMin"):
                return np.full(np.sum(np.ones(x.shape), axis=chosen, keepdims=keepdims).shape, identity(element, op))
            value = function(x, axis=chosen, keepdims=keepdims)
            return np.trunc(value) if is_integer(element) and value.dtype.kind == "f" else value

        return expected

    def make(name, x, axes, keepdims=None, **more):
        attributes = {} if keepdims is None else {"keepdims": int(keepdims)}
        inputs = [x]
        if axes is not None and as_input:
            inputs.append(np.array(axes, np.int64))
        elif axes is not None:
            attributes["axes"] = axes
        expected = result(axes, keepdims is None or keepdims)
        return Case(name, inputs, {**attributes, **more}, constants=[1], expected=expected)

    x = draw(shape, element, low, 4)
    yield make("all", x, None)
    yield make("axis", x, [1], keepdims=False)
    yield make("axes", x, [0, 2], keepdims=True)
    if version >= 11:
        yield make("negative", x, [-1], keepdims=False)
    yield make("one", x[:, :1], [1], keepdims=True)
    yield make("scalar", x[0, 0, 0], None)
    if op in ("ReduceSum", "ReduceProd") or (
        version >= 18 and (is_float(element) or op not in {"ReduceMean", *LOGARITHMS})
    ):
        yield make("empty_set", x[:, :0], [1], keepdims=False)
    yield make("empty", x[:0], [1], keepdims=True)
    if as_input:
        nothing = np.array([], np.int64)
        yield Case("noop", [x, nothing], {"noop_with_empty_axes": 1}, constants=[1], expected=noop(op))
        yield Case("empty_axes", [x, nothing], constants=[1], expected=result(None, True))
    if op in ("ReduceMax", "ReduceMin"):
        yield make("special", draw((3, 6), element, special=True), [1])
    elif is_float(element) and op not in LOGARITHMS:
        special = array([[1, np.nan, 2], [np.inf, 1, 2], [-np.inf, 1, 2]], element)
        yield make("special", special, [1])
    if op == "ReduceLogSumExp" and is_float(element):
        large = array([[10, 11, 12], [-10, -11, -12]], element)
        yield make("large", large * array(1000 if element in ("float", "double") else 10, element), [1])


def noop(op):
    """With noop_with_empty_axes and no axes, the elements go through the rest of the function alone."""
    return {
        "ReduceL1": lambda x, _: np.abs(x), "ReduceL2": lambda x, _: np.abs(x),
        "ReduceSumSquare": lambda x, _: np.square(x), "ReduceLogSum": lambda x, _: np.log(x),
    }.get(op, lambda x, _: x)  # fmt: skip


def identity(element, op):
    from Conformance.table import limits

    if element == "bool":
        return op == "ReduceMin"
    least, most = (-np.inf, np.inf) if is_float(element) else limits(element)
    return least if op == "ReduceMax" else most


@cases("ArgMax", "ArgMin")
def places(op, version, types, draw):
    element = types["T"]

    def result(axis=0, keepdims=True, last=False):
        def expected(x):
            find = np.argmax if op == "ArgMax" else np.argmin
            place = x.shape[axis] - 1 - find(np.flip(x, axis), axis=axis) if last else find(x, axis=axis)
            return np.expand_dims(place, axis) if keepdims else np.asarray(place)

        return expected

    x = draw((2, 3, 4), element, 0, 3)  # with ties
    yield Case("default", [x], expected=result())
    yield Case("axis", [x], {"axis": 2, "keepdims": 0}, expected=result(2, False))
    yield Case("one", [x[0, 0]], {"keepdims": 0}, expected=result(0, False))
    yield Case("empty", [x[:, :0]], {"axis": 0}, expected=result(0))
    if version >= 11:
        yield Case("negative", [x], {"axis": -2}, expected=result(-2))
    if version >= 12:
        yield Case("last", [x], {"axis": 1, "select_last_index": 1}, expected=result(1, True, True))
    if not is_float(element):
        extremes = np.concatenate([draw((2, 4), element, special=True)])
        yield Case("extremes", [extremes], {"axis": 1}, expected=result(1))
    else:
        yield Case("infinite", [array([[1, np.inf, -np.inf], [-np.inf, 2, -np.inf]], element)], {"axis": 1},
                   expected=result(1))  # fmt: skip
