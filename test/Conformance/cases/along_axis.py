"""Functions along one axis: Softmax and its kin, cumulative sums and products, TopK."""

import numpy as np
from Conformance.table import Case, array, cases, is_float


def softmax(x, axis):
    shifted = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return shifted / np.sum(shifted, axis=axis, keepdims=True)


def log_softmax(x, axis):
    shifted = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def hardmax(x, axis):
    if x.size == 0:
        return x
    place = np.expand_dims(np.argmax(x, axis=axis), axis)
    result = np.zeros_like(x)
    np.put_along_axis(result, place, 1, axis)
    return result


NORMALISED = {"Softmax": softmax, "LogSoftmax": log_softmax, "Hardmax": hardmax}


@cases(*NORMALISED)
def normalised(op, version, types, draw):
    element, function = types["T"], NORMALISED[op]

    def expected(axis):
        def along(x):
            if version >= 13:
                return function(x, axis)
            rows = int(np.prod(x.shape[:axis] if axis >= 0 else x.shape[: x.ndim + axis]))
            columns = int(np.prod(x.shape[axis:]))
            return function(x.reshape(rows, columns), 1).reshape(x.shape)

        return along

    x = draw((2, 3, 4), element)
    ties = array([[1, 2, 2], [3, 3, 3]], element)
    yield Case("default", [x], expected=expected(1 if version < 13 else -1))
    yield Case("first", [x], {"axis": 0}, expected=expected(0))
    yield Case("middle", [x], {"axis": 1}, expected=expected(1))
    yield Case("last", [x], {"axis": 2}, expected=expected(2))
    if version >= 11:
        yield Case("negative", [x], {"axis": -2}, expected=expected(-2))
    yield Case("ties", [ties], expected=expected(1))
    yield Case("large", [array([[60000, 60000, 0], [-60000, 0, -60000]], element)], expected=expected(1))
    yield Case("empty", [x[:0]], expected=expected(1 if version < 13 else -1))
    yield Case("nothing", [x[:, :0]], {"axis": 1}, expected=expected(1))
    if version >= 13:
        yield Case("vector", [x[0, 0]], {"axis": 0}, expected=expected(0))
    if op != "Hardmax":
        yield Case("masked", [array([[-np.inf, 1, 2], [3, -np.inf, -np.inf]], element)], expected=expected(1))


@cases("CumSum", "CumProd")
def cumulative(op, version, types, draw):
    element, index = types["T"], types["T2"]
    function = np.cumsum if op == "CumSum" else np.cumprod

    def expected(reverse=0, exclusive=0):
        def along(x, axis):
            axis = int(axis)
            x = np.flip(x, axis) if reverse else x
            if exclusive and x.shape[axis]:
                first = np.full_like(np.take(x, [0], axis), op == "CumProd")
                x = np.concatenate([first, np.take(x, range(x.shape[axis] - 1), axis)], axis)
            x = function(x, axis=axis, dtype=x.dtype)
            return np.flip(x, axis) if reverse else x

        return along

    x = draw((2, 3, 4), element, -2, 3)
    for axis in (0, 1, -1):
        yield Case(f"axis{axis}", [x, array(axis, index)], constants=[1], expected=expected())
    for reverse, exclusive in ((0, 1), (1, 0), (1, 1)):
        attributes = {"reverse": reverse, "exclusive": exclusive}
        yield Case(f"reverse{reverse}_exclusive{exclusive}", [x, array(1, index)], attributes, constants=[1],
                   expected=expected(**attributes))  # fmt: skip
    yield Case("empty", [x[:, :0], array(1, index)], constants=[1], expected=expected())
    yield Case("one", [x[:, :1], array(1, index)], {"exclusive": 1}, constants=[1], expected=expected(exclusive=1))


@cases("TopK")
def top_k(op, version, types, draw):
    element = types["T"]

    def make(name, x, k, axis=None, **attributes):
        def expected(x, *_):
            along = -1 if axis is None else axis
            # Of equal ones, the one with the lower index comes first.
            order = np.argsort(x, axis=along, kind="stable")
            if attributes.get("largest", 1):
                flipped = np.argsort(np.flip(x, along), axis=along, kind="stable")
                order = np.flip(x.shape[along] - 1 - flipped, along)
            order = np.take(order, range(k), along)
            return np.take_along_axis(x, order, along), order

        inputs = [x] if version < 10 else [x, np.array([k])]
        given = {} if axis is None else {"axis": axis}
        given |= {"k": k} if version < 10 else {}
        return Case(name, inputs, {**given, **attributes}, 2, constants=[1], expected=expected)

    x = draw((3, 4, 5), element, 0, 9)
    yield make("default", x, 3)
    yield make("first", x, 2, axis=0)
    yield make("all", x, 4, axis=1)
    yield make("none", x, 0, axis=1)
    yield make("ties", array([[1, 2, 2, 1, 2], [0, 0, 0, 0, 0]], element), 3)
    yield make("empty", x[:0], 1)
    if version >= 11:
        yield make("smallest", x, 2, axis=-2, largest=0)
        yield make("smallest_ties", array([[1, 2, 2, 1, 2], [0, 0, 0, 0, 0]], element), 4, largest=0)
    if not is_float(element):
        yield make("extremes", draw((2, 6), element, special=True), 4)
    else:
        yield make("infinite", array([[np.inf, 1, -np.inf, 2], [-np.inf, -np.inf, 0, -1]], element), 3)
