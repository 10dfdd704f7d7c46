"""Clip, Where, and the functions of any number of tensors."""

import numpy as np
from Conformance.table import Case, array, cases, limits


@cases("Clip")
def clip(op, version, types, draw):
    element = types["T"]

    def expected(x, low=None, high=None):
        low, high = (limit if given is None else given for limit, given in zip(limits(element), (low, high)))
        x = np.where(x < low, np.asarray(low).astype(x.dtype), x)
        return np.where(x > high, np.asarray(high).astype(x.dtype), x)

    x = draw((3, 6), element, special=True)
    low, high = (array(np.array(v), element) for v in ((1, 3) if element.startswith("u") else (-2, 2)))
    if version < 11:
        legacy = {"consumed_inputs": [0]} if version < 6 else {}
        yield Case("default", [draw((3, 4), element)], legacy, expected=lambda x: x)
        for name, bounds in {"both": {"min": -2.0, "max": 1.5}, "min": {"min": 0.5}, "max": {"max": -0.5}}.items():
            yield Case(name, [draw((3, 4), element)], {**legacy, **bounds},
                       expected=lambda x, b=bounds: expected(x, b.get("min"), b.get("max")))  # fmt: skip
        yield Case("empty", [x[:0]], {"min": 0.0}, expected=lambda x: x)
        return
    yield Case("both", [x, low, high], constants=[1, 2], expected=expected)
    yield Case("min", [x, low], constants=[1], expected=expected)
    yield Case("max", [x, None, high], constants=[2], expected=expected)
    yield Case("neither", [x], expected=expected)
    yield Case("scalar", [x[1, 1], low, high], expected=expected)
    yield Case("empty", [x[:, :0], low, high], expected=expected)
    if version >= 12:  # 11 does not say
        yield Case("crossed", [x, high, low], expected=expected)


@cases("Where")
def where(op, version, types, draw):
    element = types["T"]
    for name, shapes in {
        "same": ((2, 3), (2, 3), (2, 3)), "broadcast": ((2, 1), (3,), (1, 1)), "scalar": ((), (2, 3), ()),
        "scalars": ((), (), ()), "empty": ((0, 1), (3,), (1, 3)), "left": ((3,), (2, 1), (4, 1, 1)),
    }.items():  # fmt: skip
        inputs = [draw(shapes[0], "bool"), draw(shapes[1], element), draw(shapes[2], element)]
        yield Case(name, inputs, expected=np.where)


FOLDS = {"Min": np.minimum, "Max": np.maximum, "Sum": np.add, "Mean": np.add}


@cases(*FOLDS)
def folds(op, version, types, draw):
    element = types["T"]

    def expected(*inputs):
        result = inputs[0]
        for value in inputs[1:]:
            result = FOLDS[op](result, value)
        return result / len(inputs) if op == "Mean" else result

    def legacy(count):
        return {"consumed_inputs": [0] * count} if version < 6 else {}

    special = op in ("Min", "Max")
    for count in (1, 2, 3):
        inputs = [draw((3, 6), element, special=special and i == 1) for i in range(count)]
        yield Case(f"{count}", inputs, legacy(count), expected=expected)
    yield Case("empty", [draw((0, 2), element), draw((0, 2), element)], legacy(2), expected=expected)
    if version >= 8:
        shapes = ((2, 1, 3), (4, 1), ())
        yield Case("broadcast", [draw(shape, element) for shape in shapes], expected=expected)
        yield Case("scalars", [draw((), element), draw((), element)], expected=expected)


@cases("Det")
def det(op, version, types, draw):
    element, tolerance = types["T"], {"rtol": 2**-5, "atol": 1e-2} if "16" in types["T"] else {}
    for name, shape in {
        "one": (1, 1),
        "plain": (3, 3),
        "batch": (2, 1, 4, 4),
        "empty": (0, 2, 2),
        "nothing": (2, 0, 0),
    }.items():
        yield Case(name, [draw(shape, element)], expected=lambda x: np.asarray(np.linalg.det(x)), **tolerance)
    yield Case("singular", [array([[1, 2], [2, 4]], element)], expected=lambda x: np.asarray(0.0), atol=1e-6)
    yield Case("pivot", [array([[0, 1], [2, 0]], element)], expected=lambda x: np.asarray(-2.0), **tolerance)
