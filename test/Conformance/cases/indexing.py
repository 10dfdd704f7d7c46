"""Operators that read and write elements at places that are data."""

import numpy as np
from Conformance.table import Case, array, cases, is_complex, is_float

DATA = {"wide": False}
THOROUGH = ("float", "string")


@cases("Gather")
def gather(op, version, types, draw):
    element, index = types["T"], types["Tind"]
    forms = [("axis1", (2, 4), [[0, 3], [2, 2]], 1)]
    if element in THOROUGH:
        forms += [
            ("axis0", (4, 2), [3, 0, 3], 0),
            ("scalar", (3, 2), 2, 0),
            ("vector", (3,), 1, 0),
            ("none", (3, 2), np.zeros((0,)), 0),
            ("last", (2, 1, 3), [1], -1),
        ]
        if version >= 11:
            forms += [("negative", (4, 2), [-1, -4, 0], 0)]
    for name, dims, indices, axis in forms:
        operands = [draw(dims, element), array(indices, index)]

        def expected(x, i, axis=axis):
            return np.take(x, i.astype(np.int64), axis)

        yield Case(name, operands, {"axis": axis} if axis else {}, expected=expected, **DATA)


@cases("GatherElements")
def gather_elements(op, version, types, draw):
    element, index = types["T"], types["Tind"]
    forms = [("axis1", (2, 3), [[0, 2, -1, 1], [1, 1, -3, 0]], 1)]
    if element in THOROUGH:
        forms += [("axis0", (3, 2), [[2, -3], [0, 1]], 0), ("negative_axis", (2, 2, 2), [[[1, 0]], [[0, 1]]], -2),
                  ("none", (3, 2), np.zeros((0, 2)), 0)]  # fmt: skip
    for name, dims, indices, axis in forms:

        def expected(x, i, axis=axis):
            i = i.astype(np.int64)
            places = list(np.indices(i.shape))
            places[axis] = i
            return x[tuple(places)]

        operands = [draw(dims, element), array(indices, index)]
        yield Case(name, operands, {"axis": axis} if axis else {}, expected=expected, **DATA)


@cases("GatherND")
def gather_nd(op, version, types, draw):
    element = types["T"]
    forms = [("slices", (2, 3, 2), [[0, 1], [-1, 2], [1, -3]], 0)]
    if element in THOROUGH:
        forms += [("elements", (2, 3), [[[0, 0]], [[1, 2]]], 0), ("rows", (3, 2), [[2], [0], [0]], 0),
                  ("vector", (2, 3), [1, 1], 0), ("none", (2, 3), np.zeros((0, 2)), 0)]  # fmt: skip
        if version >= 12:
            forms += [("batch", (2, 3, 2), [[1], [2]], 1), ("batches", (2, 2, 3), [[[0], [2]], [[1], [-1]]], 2)]
    for name, dims, indices, batch in forms:

        def expected(x, i, batch=batch):
            result = [np.asarray(x[at][tuple(np.moveaxis(i[at], -1, 0))]) for at in np.ndindex(x.shape[:batch])]
            return np.stack(result).reshape((*x.shape[:batch], *result[0].shape))

        operands = [draw(dims, element), array(indices)]
        yield Case(name, operands, {"batch_dims": batch} if batch else {}, constants=[1], expected=expected, **DATA)


FUNCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def reductions(op, version, element, introduced):
    """(name, function or None) of the reductions that the version has, for a type."""
    yield "none", None
    if version < introduced[0] or element in ("string", "bool") or is_complex(element):
        return
    names = ["add", "mul"] + (["max", "min"] if version >= introduced[1] else [])
    for name in names:
        if element in ("float", "int8", "bfloat16", "uint64"):
            yield name, FUNCTIONS[name]


@cases("Scatter", "ScatterElements")
def scatter_elements(op, version, types, draw):
    element, index = types["T"], types["Tind"]
    forms = [("axis1", (2, 4), [[0, 3], [2, 1]], 1)]
    if element in THOROUGH:
        forms += [("axis0", (3, 2), [[2, 0]], 0), ("none", (3, 2), np.zeros((0, 2)), 0)]
    if version >= 11 and op != "Scatter":
        forms += [("negative", (2, 4), [[-1, -4], [-2, -3]], -1)]

    for reduction, function in reductions(op, version, element, (16, 18)):
        chosen = [*forms, ("duplicates", (2, 3), [[1, 1, 1], [0, 2, 0]], 1)] if function else forms
        for name, dims, indices, axis in chosen:

            def expected(x, i, updates, axis=axis, function=function):
                i = i.astype(np.int64)
                places = list(np.indices(i.shape))
                places[axis] = i
                x = x.copy()
                if function is None:
                    x[tuple(places)] = updates
                else:
                    function.at(x, tuple(places), updates)
                return x

            indices = array(indices, index)
            operands = [draw(dims, element), indices, draw(indices.shape, element)]
            attributes = ({"axis": axis} if axis else {}) | ({"reduction": reduction} if function else {})
            yield Case(f"{name}_{reduction}", operands, attributes, expected=expected, wide=function is not None)


@cases("ScatterND")
def scatter_nd(op, version, types, draw):
    element = types["T"]
    forms = [("slices", (3, 2, 2), [[0, 1], [-1, 0]])]
    if element in THOROUGH:
        forms += [
            ("elements", (2, 3), [[[0, 0]], [[1, 2]]]),
            ("rows", (3, 2), [[2], [0]]),
            ("none", (2, 3), np.zeros((0, 2))),
        ]
    for reduction, function in reductions(op, version, element, (16, 18)):
        for name, dims, indices in [*forms, ("duplicates", (3, 2), [[1], [1], [0]])] if function else forms:

            def expected(x, i, updates, function=function):
                places, x = tuple(np.moveaxis(i, -1, 0)), x.copy()
                if function is None:
                    x[places] = updates
                else:
                    function.at(x, places, updates)
                return x

            indices = array(indices)
            data = draw(dims, element)
            updates = draw(indices.shape[:-1] + data.shape[indices.shape[-1] :], element)
            attributes = {"reduction": reduction} if function else {}
            yield Case(
                f"{name}_{reduction}",
                [data, indices, updates],
                attributes,
                expected=expected,
                wide=function is not None,
            )


@cases("OneHot")
def one_hot(op, version, types, draw):
    indices, depth, element = types["T1"], types["T2"], types["T3"]
    unsigned = indices.startswith("u")
    plain = [[0, 2], [3, 1]] if unsigned else [[0, 2], [-1, 1]] if version >= 11 else [[0, 2], [3, 1]]
    outside = [4, 0, 9] if unsigned else [4, 0, -5, -1] if version >= 11 else [4, -1, 0, -3]
    forms = [("last", plain, None), ("first", outside, 0)]
    if element == "float" or indices == "float":
        forms += [("middle", plain, 1), ("scalar", 2, None), ("empty", np.zeros((0, 2)), None)]
        if version >= 11:
            forms += [("negative_axis", plain, -2)]
    if is_float(indices):
        forms.append(("fractions", [0.5, 1.75, 2.0], None))
    for name, given, axis in forms:

        def expected(i, depth, pair, axis=axis):
            n = int(np.asarray(depth).reshape(()))
            i = i.astype(np.int64)
            i = np.where(i < 0, i + n, i) if version >= 11 else i
            hot = np.expand_dims(i, -1 if axis is None else axis)
            at = -1 if axis is None else axis
            shape = [1] * hot.ndim
            shape[at] = n
            return np.where(hot == np.arange(n).reshape(shape), pair[1], pair[0])

        amount = array(4 if name != "first" else [4], depth)
        operands = [array(given, indices), amount, draw((2,), element)]
        yield Case(name, operands, {} if axis is None else {"axis": axis}, constants=[1], expected=expected, **DATA)


@cases("NonZero")
def non_zero(op, version, types, draw):
    element = types["T"]
    for name, dims in (("matrix", (3, 4)), ("vector", (9,)), ("cube", (2, 1, 3)), ("empty", (0, 2)), ("one", (1,))):
        if name == "matrix" or element in THOROUGH:
            x = draw(dims, element, -2, 2)
            if element != "string":
                x = np.where(draw(dims, "bool"), x, array(0, element))
            yield Case(name, [x], expected=lambda x: np.array(np.nonzero(x), np.int64), **DATA)
    if is_float(element):
        special = array([np.nan, 0.0, -0.0, np.inf, 1.0], element)
        yield Case("special", [special], expected=lambda x: np.array(np.nonzero(x), np.int64), **DATA)


def unique(x, axis, ordered):
    """Values, first places, places of each element among the values, counts."""
    flat = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    keys = [tuple(row.reshape(-1).tolist()) if axis is not None else (row,) for row in flat]
    numbers = [
        tuple((v.real, v.imag) if isinstance(v, (complex, np.complexfloating)) else v for v in key) for key in keys
    ]
    first = {}
    for place, key in enumerate(numbers):
        first.setdefault(key, place)
    order = sorted(first) if ordered else list(first)
    rank = {key: i for i, key in enumerate(order)}
    indices = np.array([first[key] for key in order], np.int64)
    inverse = np.array([rank[key] for key in numbers], np.int64)
    found = flat[indices] if axis is None else np.moveaxis(flat[indices], 0, axis)
    return found, indices, inverse, np.bincount(inverse, minlength=len(order)).astype(np.int64)


@cases("Unique")
def uniques(op, version, types, draw):
    element = types["T"]
    forms = [("flat", (3, 4), None, 1, 4), ("axis", (4, 2), 0, 1, 4), ("unsorted", (9,), None, 0, 4)]
    if element in THOROUGH:
        forms += [
            ("axis_unsorted", (2, 6), 1, 0, 4),
            ("negative_axis", (2, 6, 1), -2, 1, 4),
            ("values", (2, 5), None, 1, 1),
            ("counts", (8,), None, 1, [True, False, False, True]),
            ("one", (1,), None, 1, 4),
            ("empty", (0,), None, 1, 4),
        ]
    for name, dims, axis, ordered, outputs in forms:
        if is_complex(element):
            x = array(draw(dims, "int8", -1, 2) + 1j * draw(dims, "int8", 0, 2), element)
        else:
            x = draw(dims, element, -1, 2)
            if is_float(element):
                x = array(np.round(x.astype(np.float64)) + 0.0, element)

        def expected(x, axis=axis, ordered=ordered, outputs=outputs):
            kept = [True] * outputs if isinstance(outputs, int) else outputs
            return tuple(part for part, keep in zip(unique(x, axis, ordered), kept) if keep)

        attributes = ({} if axis is None else {"axis": axis}) | ({} if ordered else {"sorted": 0})
        yield Case(name, [x], attributes, outputs, expected=expected, **DATA)


@cases("TensorScatter")
def tensor_scatter(op, version, types, draw):
    element = types["T"]
    forms = [("circular", (2, 2, 4, 3), (2, 2, 2, 3), [3, 1], "circular", None)]
    if element in THOROUGH:
        forms += [
            ("linear", (2, 4, 3), (2, 2, 3), [2, 0], "linear", None),
            ("no_indices", (2, 4, 3), (2, 3, 3), None, "linear", None),
            ("axis", (2, 4, 1, 3), (2, 1, 1, 3), [3, 0], None, 1),
            ("last", (1, 2, 5), (1, 2, 3), [9], "circular", -1),
            ("nothing", (2, 4, 3), (2, 0, 3), [2, 0], "linear", None),
        ]
    for name, cache, update, indices, mode, axis in forms:

        def expected(past, update, indices=None, mode=mode, axis=-2 if axis is None else axis):
            present = past.copy()
            rows, new = np.moveaxis(present, axis, 1), np.moveaxis(update, axis, 1)
            for i in range(past.shape[0]):
                at = (0 if indices is None else int(indices[i])) + np.arange(new.shape[1])
                rows[i, at % rows.shape[1] if mode == "circular" else at] = new[i]
            return present

        operands = [draw(cache, element), draw(update, element)] + ([] if indices is None else [array(indices)])
        attributes = ({} if mode is None else {"mode": mode}) | ({} if axis is None else {"axis": axis})
        yield Case(name, operands, attributes, expected=expected, **DATA)
