"""Operators that put tensors together, take them apart, cut, pad and rearrange them."""

import numpy as np
from Conformance import schemas
from Conformance.table import Case, array, cases

DATA = {"wide": False}
# The types whose cases are more than one: where many forms are tried, and one that is moved in another way.
THOROUGH = ("float", "string")


@cases("Concat")
def concat(op, version, types, draw):
    element = types["T"]
    forms = [("axis1", [(2, 3), (2, 1), (2, 2)], 1)]
    if element in THOROUGH:
        forms += [
            ("axis0", [(2, 3), (1, 3)], 0),
            ("one", [(2, 3)], 1),
            ("empty", [(2, 0), (2, 3), (2, 0)], 1),
            ("vectors", [(3,), (1,)], 0),
            ("twelve", [(1, 2)] * 12, 0),
            ("all_empty", [(0, 2), (0, 2)], 0),
        ]
        if version >= 11:
            forms += [("negative", [(2, 3, 1), (2, 1, 1)], -2)]
    for name, shapes, axis in forms:
        parts = [draw(shape, element) for shape in shapes]
        yield Case(name, parts, {"axis": axis}, expected=lambda *x, axis=axis: np.concatenate(x, axis), **DATA)
    if version == 1:
        parts = [draw((2, 3), element), draw((2, 1), element)]
        yield Case("default", parts, expected=lambda *x: np.concatenate(x, 1), **DATA)


def chunks(length, count):
    """As opset 18 splits: equal parts, the last one smaller."""
    size = -(-length // count)
    return [min(size, length - start) for start in range(0, length, size)]


@cases("Split")
def split(op, version, types, draw):
    element = types["T"]
    forms = [("lengths", (5, 2), [2, 3], 0), ("equal", (2, 6), 3, 1)]
    if element in THOROUGH:
        forms += [("default_axis", (4, 2), 2, None), ("zero", (3, 2), [0, 3], 0), ("one", (3,), [3], 0)]
        if version >= 11:
            forms += [("negative", (2, 4, 1), [1, 1, 2], -2)]
        if version >= 18:
            forms += [("uneven", (7,), 3, 0), ("uneven_axis", (2, 7), 4, -1), ("smaller", (4,), 3, 0)]
    for name, dims, lengths, axis in forms:
        if name == "smaller":
            lengths = 2
        x = draw(dims, element)
        at = axis or 0
        parts = lengths if isinstance(lengths, list) else chunks(dims[at], lengths)

        def expected(x, *_, parts=parts, at=at):
            return tuple(np.split(x, np.cumsum(parts)[:-1], at))

        attributes = {} if axis is None else {"axis": axis}
        given = [x]
        if isinstance(lengths, list) and version < 13:
            attributes["split"] = lengths
        elif isinstance(lengths, list):
            given.append(array(lengths))
        elif version >= 18:
            attributes["num_outputs"] = lengths
        yield Case(
            name, given, attributes, len(parts), constants=[1] if len(given) > 1 else [], expected=expected, **DATA
        )
    if version == 1:
        yield Case("input", [draw((5, 2), element), array([2, 3], element)], {"axis": 0}, 2, fixed=[1],
                   expected=lambda x, _: (x[:2], x[2:]), **DATA)  # fmt: skip


SLICES = {
    # name: shape, starts, ends, axes, steps
    "plain": ((4, 5), [1, 0], [3, 4], [0, 1], None),
    "backward": ((4, 5), [-1, 3], [-9, 0], [0, 1], [-1, -2]),
    "no_axes": ((4, 5), [1, 2], [9, 9], None, None),
    "one_axis": ((2, 3, 4), [1], [3], [2], None),
    "from_end": ((4, 5), [-3], [-1], [1], None),
    "extremes": ((4, 5), [-(2**31)], [2**31 - 1], [0], None),
    "nothing": ((4, 5), [3], [1], [0], None),
    "beyond": ((4, 5), [7], [9], [0], None),
    "empty": ((0, 5), [0], [3], [0], None),
    "steps": ((7, 3), [0], [7], [0], [3]),
    "all_backward": ((5,), [4], [-(2**31)], [0], [-1]),
    "large_step": ((5,), [1], [5], [0], [2**31 - 1]),
    "negative_axes": ((2, 3, 4), [1, 0], [3, 2], [-1, -3], [1, 1]),
    "unsorted": ((2, 3, 4), [1, 0], [3, 2], [2, 1], None),
}


def sliced(x, starts, ends, axes, steps):
    at = [slice(None)] * x.ndim
    for i, (start, end) in enumerate(zip(starts, ends)):
        at[axes[i] if axes is not None else i] = slice(int(start), int(end), int(steps[i]) if steps is not None else 1)
    return x[tuple(at)]


@cases("Slice")
def slices(op, version, types, draw):
    element, index = types["T"], types.get("Tind")
    for name, (dims, starts, ends, axes, steps) in SLICES.items():
        if element not in THOROUGH and name not in ("plain" if version < 10 else "backward", "from_end"):
            continue
        if (version == 1 and (steps or name == "negative_axes")) or (version == 10 and name == "negative_axes"):
            continue

        def expected(x, *_, given=(starts, ends, axes, steps)):
            return sliced(x, *given)

        x = draw(dims, element)
        if version == 1:
            attributes = {"starts": starts, "ends": ends} | ({} if axes is None else {"axes": axes})
            yield Case(name, [x], attributes, expected=expected, **DATA)
            continue
        operands = [None if given is None else array(given, index) for given in (starts, ends, axes, steps)]
        while operands[-1] is None:
            operands.pop()
        fixed = [3] if len(operands) > 2 and operands[2] is not None else []
        constants = [i + 1 for i, value in enumerate(operands) if value is not None and i != 2]
        yield Case(name, [x, *operands], constants=constants, fixed=fixed, expected=expected, **DATA)


def padded(x, pads, mode="constant", value=0):
    """`pads` is (before, after) for each axis; negative ones cut."""
    for axis, (before, after) in enumerate(pads):
        n = x.shape[axis]
        at = np.arange(-before, n + after)
        inside = (at >= 0) & (at < n)
        if mode == "edge":
            at = np.clip(at, 0, n - 1)
        elif mode == "wrap":
            at = at % max(n, 1)
        elif mode == "reflect":
            at = np.abs(at)
            at = np.where(at >= n, 2 * (n - 1) - at, at)
        result = np.empty((*x.shape[:axis], len(at), *x.shape[axis + 1 :]), x.dtype)
        result[...] = value
        places = (slice(None),) * axis
        if mode == "constant":
            result[(*places, inside)] = x[(*places, at[inside])]
        else:
            result[...] = x[(*places, at)]
        x = result
    return x


PADS = {
    # name: shape, pads by axis, mode
    "constant": ((2, 3), [(1, 2), (0, 1)], "constant"),
    "edge": ((2, 3), [(2, 0), (1, 3)], "edge"),
    "reflect": ((3, 4), [(2, 1), (0, 3)], "reflect"),
    "wrap": ((2, 3), [(1, 5), (4, 0)], "wrap"),
    "negative": ((3, 5), [(-1, 2), (1, -2)], "constant"),
    "negative_edge": ((3, 5), [(-1, 0), (2, -1)], "edge"),
    "none": ((2, 2), [(0, 0), (0, 0)], "constant"),
    "empty": ((0, 2), [(1, 1), (0, 1)], "constant"),
    "vector": ((3,), [(1, 1)], "constant"),
    "four": ((1, 2, 2, 3), [(0, 0), (0, 0), (1, 1), (2, 1)], "edge"),
}


@cases("Pad")
def pad(op, version, types, draw):
    element = types["T"]
    zero = array("" if element == "string" else 0, element) if element != "float8e8m0" else None
    filler = draw((), element, 1, 4)
    for name, (dims, pads, mode) in PADS.items():
        if (mode == "wrap" and version < 19) or (element not in THOROUGH and name != "edge"):
            continue
        x = draw(dims, element)
        order = [before for before, _ in pads] + [after for _, after in pads]
        attributes = {} if mode == "constant" else {"mode": mode}
        if version < 11:
            for value in (0.0, 1.5) if mode == "constant" else (0.0,):

                def expected(x, pads=pads, mode=mode, value=value):
                    return padded(x, pads, mode, value)

                own = attributes | {"paddings" if version == 1 else "pads": order} | ({"value": value} if value else {})
                yield Case(f"{name}{value or ''}", [x], own, expected=expected, **DATA)
            continue
        for fill in (None, filler) if mode == "constant" and element in THOROUGH else (filler,):

            def expected(x, *_, pads=pads, mode=mode, fill=zero if fill is None else fill):
                return padded(x, pads, mode, fill)

            operands = [x, array(order)] + ([] if fill is None else [fill])
            label = name if fill is not None else f"{name}_default"
            yield Case(
                label, operands, attributes, constants=[1, 2] if fill is not None else [1], expected=expected, **DATA
            )
    if version >= 18:
        index = types["Tind"]

        def expected(x, *_):
            return padded(x, [(1, 2), (0, 0), (3, 0)], "constant", filler)

        for name, axes, order in (("axes", [0, 2], [1, 3, 2, 0]), ("negative_axes", [-1, -3], [3, 1, 0, 2])):
            if name == "axes" or element in THOROUGH:
                operands = [draw((2, 3, 1), element), array(order), filler, array(axes, index)]
                yield Case(name, operands, constants=[1, 2], fixed=[3], expected=expected, **DATA)


@cases("CenterCropPad")
def center_crop_pad(op, version, types, draw):
    element = types["T"]
    zero = array("" if element == "string" else 0, element)
    forms = [("both", (5, 2, 4), [2, 5, 4], None)]
    if element in THOROUGH:
        forms += [("odd", (7, 3), [4, 8], None), ("axes", (5, 3, 4), [2, 6], [0, -1]), ("empty", (0, 3), [2, 1], None),
                  ("to_empty", (3, 2), [0, 2], None)]  # fmt: skip
    for name, dims, target, axes in forms:

        def expected(x, _, target=target, axes=axes):
            pads = [(0, 0)] * x.ndim
            for axis, size in zip(range(x.ndim) if axes is None else axes, target):
                more = size - x.shape[axis]
                before = more // 2 if more >= 0 else -(-more // 2)
                pads[axis] = (before, more - before)
            return padded(x, pads, "constant", zero)

        attributes = {} if axes is None else {"axes": axes}
        operands = [draw(dims, element), array(target, types["Tind"])]
        yield Case(name, operands, attributes, constants=[1], expected=expected, **DATA)


def regrouped(x, size, mode, to_space):
    n, c, h, w = x.shape
    if to_space:
        if mode == "DCR":
            parts = x.reshape(n, size, size, c // size**2, h, w).transpose(0, 3, 4, 1, 5, 2)
        else:
            parts = x.reshape(n, c // size**2, size, size, h, w).transpose(0, 1, 4, 2, 5, 3)
        return parts.reshape(n, c // size**2, h * size, w * size)
    parts = x.reshape(n, c, h // size, size, w // size, size)
    parts = parts.transpose(0, 3, 5, 1, 2, 4) if mode == "DCR" else parts.transpose(0, 1, 3, 5, 2, 4)
    return parts.reshape(n, c * size**2, h // size, w // size)


@cases("DepthToSpace", "SpaceToDepth")
def regroup(op, version, types, draw):
    element, to_space = types["T"], op == "DepthToSpace"
    modes = ["DCR", "CRD"] if "mode" in schemas.live()["ai.onnx", op, version].attributes else ["DCR"]
    forms = [("two", (2, 8, 2, 3) if to_space else (2, 2, 4, 6), 2)]
    if element in THOROUGH:
        forms += [("three", (1, 9, 2, 1) if to_space else (1, 1, 6, 3), 3), ("one", (1, 3, 2, 2), 1),
                  ("empty", (0, 4, 2, 2), 2)]  # fmt: skip
    for name, dims, size in forms:
        for mode in modes:

            def expected(x, size=size, mode=mode):
                return regrouped(x, size, mode, to_space)

            attributes = {"blocksize": size} | (
                {"mode": mode} if len(modes) > 1 and (mode != "DCR" or name == "three") else {}
            )
            yield Case(f"{name}_{mode}", [draw(dims, element)], attributes, expected=expected, **DATA)


@cases("ReverseSequence")
def reverse_sequence(op, version, types, draw):
    element = types["T"]
    forms = [("time_first", (4, 3), [4, 1, 3], 0, 1), ("batch_first", (3, 4, 2), [2, 4, 1], 1, 0)]
    if element in THOROUGH:
        forms += [("none", (0, 3), [0, 0, 0], 0, 1), ("zero", (3, 2), [0, 2], 0, 1)]
    for name, dims, lengths, time, batch in forms:

        def expected(x, lengths, time=time, batch=batch):
            y = np.moveaxis(x, (time, batch), (0, 1)).copy()
            for i, n in enumerate(lengths):
                y[:n, i] = y[:n, i][::-1]
            return np.moveaxis(y, (0, 1), (time, batch))

        attributes = {} if name == "zero" else {"time_axis": time, "batch_axis": batch}
        yield Case(name, [draw(dims, element), array(lengths)], attributes, expected=expected, **DATA)


@cases("Compress")
def compress(op, version, types, draw):
    element = types["T"]
    forms = [("axis1", (3, 4), [1, 0, 0, 1], 1)]
    if element in THOROUGH:
        forms += [
            ("flat", (2, 3), [0, 1, 1, 0, 0, 1], None),
            ("short", (3, 4), [0, 1], 0),
            ("flat_short", (2, 3), [1], None),
            ("nothing", (3, 2), [0, 0, 0], 0),
            ("empty", (0, 2), [], 0),
            ("all", (2, 2), [1, 1], 0),
        ]
        if version >= 11:
            forms += [("negative", (2, 3, 2), [1, 0, 1], -2)]
    for name, dims, condition, axis in forms:

        def expected(x, condition, axis=axis):
            return np.compress(condition, x, axis)

        operands = [draw(dims, element), np.array(condition, bool)]
        yield Case(name, operands, {} if axis is None else {"axis": axis}, expected=expected, **DATA)
