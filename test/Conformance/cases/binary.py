"""Functions of two elements, with every broadcast there is: none, to both sides, by rank, and opset 1's by axis."""

import numpy as np
from Conformance import schemas
from Conformance.table import Case, array, cases, is_float, is_integer, limits

NO_INTEGER_ZERO = {"Div", "Mod"}


def divide(a, b):
    """Truncating for integers."""
    if a.dtype.kind == "f":
        return a / b
    quotient = np.floor_divide(a, b)
    remainder = a - quotient * b
    return quotient + ((remainder != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def shifted(a, b):
    return {}


FUNCTIONS = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": divide,
    "Equal": np.equal, "Less": np.less, "Greater": np.greater, "LessOrEqual": np.less_equal,
    "GreaterOrEqual": np.greater_equal, "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor,
    "BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor,
}  # fmt: skip
EXACT = {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"}
SHAPES = {
    "same": ((2, 3), (2, 3)), "right": ((2, 3, 4), (4,)), "left": ((1,), (2, 3)), "both": ((3, 1, 2), (4, 1)),
    "scalars": ((), ()), "scalar": ((2, 3), ()), "empty": ((0, 3), (1, 3)), "empty_broadcast": ((2, 0), (1,)),
}  # fmt: skip


def operands(op, element, shapes, draw, special=False):
    low = 1 if op in NO_INTEGER_ZERO and not is_float(element) else -4
    a, b = draw(shapes[0], element, special=special), draw(shapes[1], element, low, 5)
    if special and b.size >= a.size and element not in ("string", "bool") and low < 0:
        b = np.ascontiguousarray(draw(shapes[1], element, special=True)[..., ::-1])
    return [a, b]


def by_axis(function, axis):
    """Opsets 1 and 6: the second operand's shape is a piece of the first's, from `axis` on, or its end."""

    def expected(a, b):
        if axis is not None:
            b = b.reshape(b.shape + (1,) * (a.ndim - axis - b.ndim))
        return function(a, b)

    return expected


@cases(*FUNCTIONS)
def functions(op, version, types, draw):
    element, function = types["T"], FUNCTIONS[op]
    schema = schemas.live()["ai.onnx", op, version]
    legacy = {"consumed_inputs": [0, 0]} if "consumed_inputs" in schema.attributes else {}
    if "broadcast" in schema.attributes:
        yield Case("same", operands(op, element, ((3, 6), (3, 6)), draw, True), legacy, expected=function)
        yield Case("empty", operands(op, element, ((0, 2), (0, 2)), draw), expected=function)
        broadcast = {"broadcast": 1, **legacy}
        for name, shape, axis in (
            ("suffix", (3, 4), None), ("scalar", (), None), ("one", (1,), None), ("middle", (2, 3), 1),
            ("first", (2,), 0), ("negative", (3,), -2), ("ones_inside", (1, 4), 2),
        ):  # fmt: skip
            attributes = broadcast if axis is None else {**broadcast, "axis": axis}
            where = axis + 4 if axis is not None and axis < 0 else axis
            if name == "negative":
                where = 2
            shapes = ((2, 2, 3, 4), shape) if name == "middle" else ((2, 2, 3, 4), shape)
            yield Case(name, operands(op, element, shapes, draw), attributes, expected=by_axis(function, where))
        return
    wide = op not in EXACT
    for name, shapes in SHAPES.items():
        if element in ("float", "bool") or name in ("both", "scalar", "empty"):
            yield Case(name, operands(op, element, shapes, draw), expected=function, wide=wide)
    if element != "string":
        yield Case("special", operands(op, element, ((3, 6), (3, 6)), draw, True), expected=function, wide=wide)


@cases("Pow")
def power(op, version, types, draw):
    base, exponent = types["T"], types.get("T1", types["T"])
    if not is_float(base) and is_float(exponent):
        exponents = [0, 1, 2, 3]
    else:
        exponents = [0, 1, 2, 3] if not is_float(exponent) else [-1, 0.5, 2, 3]

    def expected(a, b):
        if is_integer(base):
            return np.power(a, b.astype(np.int64)) if a.dtype != np.uint64 else np.power(a, b.astype(np.uint64))
        return np.power(a, b.astype(np.float64))

    low = 1 if is_float(exponent) else -3
    x = draw((2, 4), base, low, 4)
    y = array(exponents, exponent)
    if "broadcast" in schemas.live()["ai.onnx", op, version].attributes:
        yield Case("same", [x[0], y], expected=expected)
        yield Case("suffix", [x, y], {"broadcast": 1}, expected=expected)
        yield Case("axis", [x, y[:2]], {"broadcast": 1, "axis": 0}, expected=by_axis(expected, 0))
        return
    if is_float(base) and is_float(exponent):
        nan, inf = np.nan, np.inf
        special = array([0, 0, -0.0, -1, inf, -inf, nan, 1, -2, -2, 2, 0.5, 1, nan, -8], base)
        powers = array([0, -1, -3, 0.5, 0, 3, 0, nan, 3, inf, inf, inf, inf, 1, 1 / 3], exponent)
        yield Case("special", [special, powers], expected=expected)
    yield Case("broadcast", [x, y], expected=expected)
    yield Case("left", [x[0, :1], y], expected=expected)
    yield Case("scalars", [x[0, 0].reshape(()), y[2].reshape(())], expected=expected)
    yield Case("empty", [draw((0, 4), base), y], expected=expected)


@cases("Mod")
def modulo(op, version, types, draw):
    element = types["T"]
    a = draw((3, 5), element, -9, 9)
    b = array(np.array([1, 2, 3, 4, 5]), element)
    if element not in ("uint8", "uint16", "uint32", "uint64"):
        b = array(np.array([-3, 2, 3, -4, 5]), element)
    yield Case("fmod", [a, b], {"fmod": 1}, expected=np.fmod)
    yield Case("fmod_scalar", [a, b[0].reshape(())], {"fmod": 1}, expected=np.fmod)
    if is_float(element):
        special = draw((20,), element, special=True)
        yield Case("fmod_special", [special, draw((20,), element, 1, 4)], {"fmod": 1}, expected=np.fmod)
        if version < 28:
            return
    yield Case("mod", [a, b], expected=np.mod)
    yield Case("empty", [draw((0, 5), element), b], expected=np.mod)
    if is_float(element):
        x = array([0.0, -0.0, np.inf, -np.inf, 3, -3, 3, -3, 5, np.nan, 1], element)
        y = array([2, 2, 2, 2, np.inf, np.inf, -np.inf, -np.inf, 0, 1, np.nan], element)
        yield Case("mod_special", [x, y], expected=np.mod)
    else:
        least, most = limits(element)
        if least < 0:
            minus = array([-1, -1, -1], element)
            for fmod in (0, 1):
                inputs = [array(np.array([least, most, 0], object), element), minus]
                yield Case(f"by_minus_one_{fmod}", inputs, {"fmod": fmod}, expected=lambda a, b: np.zeros_like(a))
        extremes = array(np.array([least, most, least, most, 0], object), element)
        divisors = array(np.array([2, 3, most, most, most], object), element)
        yield Case("extremes", [extremes, divisors], expected=np.mod)


@cases("BitShift")
def bit_shift(op, version, types, draw):
    element = types["T"]
    bits = 8 * schemas.dtype(element).itemsize
    x = draw((3, 4), element, -100, 100, special=True)
    by = array(np.array([0, 1, bits - 1, 3]), element)
    for direction, function in (("LEFT", np.left_shift), ("RIGHT", np.right_shift)):
        yield Case(direction.lower(), [x, by], {"direction": direction}, expected=function)
        yield Case(
            f"{direction.lower()}_scalar", [x[0, 0].reshape(()), by], {"direction": direction}, expected=function
        )
        if version >= 28:  # nothing but the sign is left
            far = array(np.array([bits, bits + 3, -1 if element.startswith("int") else 100, 127]), element)
            rest = (x < 0) & (direction == "RIGHT")
            fill = np.where(rest, array(-1, element), array(0, element)) if element.startswith("int") else x * 0
            yield Case(f"{direction.lower()}_far", [x, far], {"direction": direction}, expected=lambda *_, f=fill: f)
        yield Case(f"{direction.lower()}_empty", [x[:0], by], {"direction": direction}, expected=function)
