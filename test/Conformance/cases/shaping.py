"""Operators that give a tensor another shape, or tell its shape, and leave its elements as they are."""

import numpy as np
from Conformance.table import Case, array, cases

DATA = {"wide": False}


@cases("Identity")
def identity(op, version, types, draw):
    element = types.get("T") or types["V"]
    plain = element.removeprefix("optional(").removesuffix(")") if element.startswith("optional(") else element
    x = draw((2, 3), plain, special=plain in ("float", "double", "float16", "bfloat16", "int8", "int64", "bool"))
    yield Case("matrix", [x], expected=lambda x: x, **DATA)
    if element in ("float", "string", "int4"):
        yield Case("scalar", [draw((), element)], expected=lambda x: x, **DATA)
        yield Case("empty", [draw((0, 3), element)], expected=lambda x: x, **DATA)
    if element in ("optional(float)", "optional(seq(string))"):
        yield Case("none", [None], expected=lambda x: x, **DATA)
    if element in ("seq(float)", "seq(string)"):
        ragged = [draw((2, 3), element[4:-1]), draw((4,), element[4:-1]), draw((), element[4:-1])]
        yield Case("ragged", [ragged], expected=lambda x: x, **DATA)
        yield Case("empty", [[]], expected=lambda x: x, **DATA)


@cases("Shape")
def shape(op, version, types, draw):
    x = draw((2, 0, 4, 3), types["T"])
    if version < 15 or types["T"] in ("float", "string"):
        yield Case("all", [x], expected=lambda x: array(x.shape), **DATA)
    if types["T"] in ("float", "string"):
        yield Case("scalar", [draw((), types["T"])], expected=lambda x: array([]), **DATA)
    if version >= 15:
        ranges = [(1, None), (-3, -1), (0, 9), (-9, 2), (3, 1), (2, 2)] if types["T"] == "float" else [(-3, -1)]
        for start, end in ranges:
            attributes = {"start": start} | ({} if end is None else {"end": end})

            def expected(x, start=start, end=end):
                return array(x.shape[start:end])

            yield Case(f"from{start}_to{end}", [x], attributes, expected=expected, **DATA)


@cases("Size")
def size(op, version, types, draw):
    for name, dims in (("matrix", (2, 3)), ("scalar", ()), ("empty", (3, 0))):
        if name == "matrix" or types["T"] in ("float", "string", "int2"):
            yield Case(name, [draw(dims, types["T"])], expected=lambda x: array(x.size), **DATA)


@cases("Reshape")
def reshape(op, version, types, draw):
    element = types["T"]
    forms = [("split", (2, 3, 4), (4, -1, 2))]
    if element == "float":
        forms += [
            ("flat", (2, 3, 4), (-1,)), ("copied", (2, 3, 4), (0, 0, 2, 2)), ("copied_rest", (2, 3, 4), (0, -1)),
            ("from_scalar", (), (1, 1)), ("empty", (2, 0, 3), (3, 0)),
            ("ones", (6,), (1, 2, 1, 3)), ("same", (2, 3), (2, 3)),
        ]  # fmt: skip
        if version >= 5:
            forms.append(("to_scalar", (1, 1), ()))

    for name, dims, target in forms:
        x = draw(dims, element)
        sizes = [dims[i] if n == 0 else n for i, n in enumerate(target)]

        def expected(x, *_, sizes=sizes):
            return x.reshape(sizes)

        if version < 5:
            yield Case(name, [x], {"shape": list(target), "consumed_inputs": [0]}, expected=expected, **DATA)
            continue
        yield Case(name, [x, array(target)], fixed=[1], expected=expected, **DATA)
        if element in ("float", "string"):
            yield Case(f"{name}_run_time", [x, array(target)], constants=[1], expected=expected, **DATA)
    if version >= 14 and element in ("float", "int8"):
        for name, dims, target in (("zero", (0, 3), (3, 0)), ("zero_first", (2, 0), (0, 7, 1))):

            def expected(x, _, target=target):
                return x.reshape(target)

            yield Case(f"allow_{name}", [draw(dims, element), array(target)], {"allowzero": 1}, fixed=[1],
                       expected=expected, **DATA)  # fmt: skip


@cases("Flatten")
def flatten(op, version, types, draw):
    element, x = types["T"], draw((2, 3, 4), types["T"])
    axes = [1] if element not in ("float", "string", "uint4") else [None, 0, 1, 2, 3]
    if version >= 11 and element == "float":
        axes += [-3, -2, -1]
    for axis in axes:

        def expected(x, axis=1 if axis is None else axis):
            return x.reshape(int(np.prod(x.shape[:axis])), -1)

        yield Case(f"axis{axis}", [x], {} if axis is None else {"axis": axis}, expected=expected, **DATA)
    if element == "float":
        yield Case("empty", [draw((2, 0, 3), element)], expected=lambda x: x.reshape(2, 0), **DATA)
        if version >= 9:
            yield Case("scalar", [draw((), element)], {"axis": 0}, expected=lambda x: x.reshape(1, 1), **DATA)


@cases("Squeeze")
def squeeze(op, version, types, draw):
    element = types["T"]
    forms = [("some", (1, 3, 1, 2), (0, 2))]
    if element in ("float", "string"):
        forms += [
            ("all", (1, 3, 1), None),
            ("empty", (0, 1), (1,)),
            ("to_scalar", (1, 1), (0, 1)),
            ("unsorted", (1, 2, 1), (2, 0)),
            ("none", (2, 3), None),
        ]
        if version >= 11:
            forms.append(("negative", (1, 3, 1, 2), (-2,)))
    for name, dims, axes in forms:
        x, dynamic = draw(dims, element), True if axes is not None else "which dimensions are 1 decides the rank"

        def expected(x, *_, axes=axes):
            return np.squeeze(x, axes)

        if version < 13:
            yield Case(
                name, [x], {} if axes is None else {"axes": list(axes)}, expected=expected, dynamic=dynamic, **DATA
            )
        elif axes is None:
            yield Case(name, [x], expected=expected, dynamic=dynamic, **DATA)
        else:
            yield Case(name, [x, array(axes)], fixed=[1], expected=expected, dynamic=dynamic, **DATA)


@cases("Unsqueeze")
def unsqueeze(op, version, types, draw):
    element = types["T"]
    forms = [("some", (3, 2), (0, 3))]
    if element in ("float", "string"):
        forms += [("scalar", (), (0, 1)), ("empty", (0,), (1,)), ("middle", (2, 3), (1,))]
        if version >= 11:
            forms.append(("unsorted", (3, 2), (3, 0)))
            forms.append(("negative", (3, 2), (-1, -3)))
    for name, dims, axes in forms:
        x = draw(dims, element)

        def expected(x, *_, axes=axes):
            return np.expand_dims(x, axes)

        if version < 13:
            yield Case(name, [x], {"axes": list(axes)}, expected=expected, **DATA)
        else:
            yield Case(name, [x, array(axes)], fixed=[1], expected=expected, **DATA)


@cases("Transpose")
def transpose(op, version, types, draw):
    element = types["T"]
    forms = [("rotated", (2, 3, 5), (2, 0, 1))]
    if element in ("float", "string", "int4"):
        forms += [
            ("reversed", (2, 3, 5), None),
            ("matrix", (7, 3), (1, 0)),
            ("empty", (0, 3), (1, 0)),
            ("same", (2, 3), (0, 1)),
            ("scalar", (), None),
            ("four", (2, 3, 1, 5), (0, 2, 3, 1)),
        ]
    for name, dims, perm in forms:

        def expected(x, perm=perm):
            return np.transpose(x, perm)

        attributes = {} if perm is None else {"perm": list(perm)}
        yield Case(name, [draw(dims, element)], attributes, expected=expected, **DATA)


@cases("Tile")
def tile(op, version, types, draw):
    element = types["T"]
    if version < 6:  # one axis, given as tensors of the data's type
        for axis, count in ((0, 2), (1, 3), (1, 0)):

            def expected(x, count_, axis_, axis=axis, count=count):
                return np.concatenate([x] * count, axis) if count else x[:, :0]

            operands = [draw((2, 3), element), array(count, element), array(axis, element)]
            yield Case(f"axis{axis}_times{count}", operands, constants=[1, 2], expected=expected, **DATA)
        return
    forms = [("both", (2, 3), (2, 3))]
    if element in ("float", "string"):
        forms += [("once", (2, 3), (1, 1)), ("none", (2, 3), (0, 2)), ("empty", (0, 3), (2, 2)), ("scalar", (), ()),
                  ("vector", (3,), (4,))]  # fmt: skip
    for name, dims, repeats in forms:
        operands = [draw(dims, element), array(repeats)]
        yield Case(name, operands, constants=[1], expected=lambda x, r: np.tile(x, r), **DATA)


@cases("Expand")
def expand(op, version, types, draw):
    element = types["T"]
    forms = [("both", (3, 1), (2, 1, 4))]
    if element in ("float", "string"):
        forms += [
            ("narrower", (3, 4), (4,)),
            ("ones", (3, 4), (1, 1)),
            ("scalar", (), (2, 2)),
            ("to_empty", (1, 3), (0, 3)),
            ("empty", (0, 1), (1, 2)),
            ("nothing", (2,), ()),
        ]
    for name, dims, target in forms:
        operands = [draw(dims, element), array(target)]

        joint = np.broadcast_shapes(dims, target)

        def expected(x, _, result=joint):
            return np.broadcast_to(x, result)

        yield Case(name, operands, constants=[1], expected=expected, **DATA)


@cases("Trilu")
def trilu(op, version, types, draw):
    element = types["T"]

    def expected(x, k=0, upper=1):
        rows, columns = np.indices(x.shape[-2:])
        kept = columns - rows >= int(k) if upper else columns - rows <= int(k)
        zero = array(np.zeros(()), element) if element != "string" else array("", element)
        return np.where(kept, x, zero)

    forms = [("upper", (2, 3, 4), None, 1), ("lower", (3, 3), 1, 0)]
    if element == "float":
        forms += [("k", (4, 5), k, upper) for k in (-9, -2, -1, 2, 9) for upper in (0, 1)]
        forms += [("empty", (0, 3), None, 1), ("batch", (0, 2, 2), -1, 0)]
    for name, dims, k, upper in forms:
        operands = [draw(dims, element)] + ([] if k is None else [array(k)])

        def wanted(x, k=0, upper=upper):
            return expected(x, k, upper)

        label = f"{name}{k}_upper{upper}" if name == "k" else name
        yield Case(label, operands, {"upper": upper}, constants=[1] if k is not None else [], expected=wanted, **DATA)


@cases("EyeLike")
def eye_like(op, version, types, draw):
    from Conformance import schemas

    for name, dims, k in (("tall", (5, 3), -2), ("wide", (3, 5), 1), ("square", (3, 3), 0))[
        : 3 if types["T2"] == "float" else 1
    ]:

        def expected(x, k=k):
            return array(np.eye(*x.shape, k=k), types["T2"])

        attributes = {"dtype": schemas.code(types["T2"])} | ({"k": k} if k else {})
        yield Case(name, [draw(dims, types["T1"])], attributes, expected=expected, **DATA)
    if types["T1"] == types["T2"]:
        yield Case("like", [draw((2, 3), types["T1"])], expected=lambda x: array(np.eye(2, 3), types["T2"]), **DATA)
    if types["T1"] == "float":
        for name, dims, k in (("outside", (2, 2), 5), ("below", (2, 2), -5), ("empty", (0, 3), 0)):

            def expected(x, k=k):
                return array(np.eye(*x.shape, k=k), types["T2"])

            yield Case(
                name, [draw(dims, "float")], {"dtype": schemas.code(types["T2"]), "k": k}, expected=expected, **DATA
            )
