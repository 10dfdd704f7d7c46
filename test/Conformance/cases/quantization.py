"""Between floats and quantized integers, and products of the latter."""

import numpy as np
from Conformance import schemas
from Conformance.table import Case, array, cases, is_float, is_integer, limits

FLOAT8 = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")
WIDE = {"wide": False}  # the type of an operand tells what the operation is done in


def spread(values, x, axis, block):
    """A scale or zero point as it meets the elements of x: of all, of one index of the axis, or of a block of them."""
    values = np.asarray(values)
    if values.size == 1 and values.ndim < 2:
        return values.reshape(())
    if not block:
        return values.reshape(-1, *[1] * (x.ndim - axis % x.ndim - 1))
    return np.repeat(values, block, axis=axis)[tuple(slice(n) for n in x.shape)]


def saturated(values, element, saturate=True):
    """Doubles as an element type."""
    kind, (least, most) = schemas.dtype(element), limits(element)
    if is_integer(element):
        return np.clip(values, least, most).astype(np.int64).astype(kind)
    if saturate or element not in FLOAT8:
        values = np.where(np.isnan(values), values, np.clip(values, least, most))
    # float8 is rounded once: by way of a float, which has more than twice the digits and two.
    return values.astype(np.float32).astype(kind)


def quantize(element, precision, axis=1, block=0, saturate=True):
    def compute(x, scale, zero=None):
        scale = spread(scale, x, axis, block)
        # Operands and quotient have the precision; None is exact.
        own = schemas.dtype(precision or "double")
        x64, scale64 = (v.astype(own).astype(np.float64) for v in (x, scale))
        quotient = (x64 / scale64).astype(own).astype(np.float64)
        if is_integer(element):
            quotient = np.rint(quotient)
        if zero is not None:
            quotient = quotient + spread(zero, x, axis, block).astype(np.float64)
        return saturated(quotient, element, saturate)

    return compute


def dequantize(axis=1, block=0):
    def compute(x, scale, zero=None):
        x64 = x.astype(np.float64)
        if zero is not None:
            x64 = x64 - spread(zero, x, axis, block).astype(np.float64)
        return x64 * spread(scale, x, axis, block).astype(np.float64)

    return compute


def scales(draw, shape, element):
    if element == "int32":
        return draw(shape, element, 1, 4)
    if element == "float8e8m0":
        return draw(shape, element, -2, 2)
    return draw(shape, element, 0.25, 2)


def forms(version):
    """(name, shape of x, shape of the scale, attributes)"""
    yield "tensor", (3, 8), (), {}
    yield "empty", (0, 3), (), {}
    yield "scalar", (), (), {}
    if version >= 13:
        yield "axis", (2, 3, 4), (3,), {}
        yield "axis_last", (3, 4), (4,), {"axis": -1}
        yield "one_scale", (5,), (1,), {"axis": 0}
        yield "empty_axis", (0, 3, 2), (3,), {}
    if version >= 21:
        yield "blocked", (2, 5, 3), (2, 3, 3), {"axis": 1, "block_size": 2}
        yield "blocked_first", (6, 2), (2, 2), {"axis": 0, "block_size": 3}
        yield "blocked_negative", (2, 4), (2, 2), {"axis": -1, "block_size": 2}


@cases("QuantizeLinear")
def to_quantized(op, version, types, draw):
    x_type = types["T1"]
    target = types.get("T3", types["T2"])
    scale_type = types["T2"] if version >= 23 else types["T1"] if version >= 19 else "float"
    own = {"int32": None, "float8e8m0": "float"}.get(scale_type, scale_type)

    def operands(shape, scale_shape):
        if x_type == "int32":
            x = draw(shape, x_type, -60, 60)
        else:
            x = draw(shape, x_type, *((-20, 20) if limits(target)[1] < 100 else (-200, 300)))
        s = scales(draw, scale_shape, scale_type)
        low, high = limits(target)
        zero = (
            draw(scale_shape, target, max(low, -3), min(high, 9))
            if is_integer(target)
            else array(np.zeros(scale_shape), target)
        )
        return [x, s, zero]

    for name, shape, scale_shape, a in forms(version):
        if name not in ("tensor", "axis", "blocked", "empty") and (
            x_type != "float" or target not in ("uint8", "int4", "float8e5m2")
        ):
            continue
        place = {"axis": a.get("axis", 1), "block": a.get("block_size", 0)}
        inputs = operands(shape, scale_shape)
        expected = quantize(target, own, **place)
        yield Case(name, inputs, a, constants=[1, 2], expected=expected, **WIDE)
        if target == "uint8":
            yield Case(f"{name}_default", inputs[:2], a, constants=[1], expected=expected, **WIDE)
        elif version >= 21 and name in ("tensor", "blocked"):
            typed = a | {"output_dtype": schemas.code(target)}
            yield Case(f"{name}_output_dtype", inputs[:2], typed, constants=[1], expected=expected, **WIDE)
    # Halves, the bounds and beyond, and infinities.
    low, high = limits(target)
    edges = [
        0,
        0.5,
        1.5,
        2.5,
        -0.5,
        -1.5,
        -2.5,
        0.25,
        low,
        low - 0.5,
        low - 1,
        high,
        high + 0.4,
        high + 0.5,
        high + 1,
        3 * high,
    ]
    if x_type != "int32":
        edges += [np.inf, -np.inf]
    if is_float(target):
        edges += [0.75, 1.25, 2.25, 5, 7, 11, 13, 0.0625, 0.03125] + (
            [np.nan] if target in FLOAT8 and x_type != "int32" else []
        )
    with np.errstate(all="ignore"):
        x = array(np.clip(edges, -(2.0**31), 2.0**31 - 256) if x_type == "int32" else edges, x_type)
    one, zero = array(np.ones(()), scale_type), array(np.zeros(()), target)
    yield Case("edges", [x, one, zero], expected=quantize(target, own), **WIDE)
    if version >= 19 and target in FLOAT8:
        yield Case(
            "unsaturated", [x, one, zero], {"saturate": 0}, expected=quantize(target, own, saturate=False), **WIDE
        )
    if version >= 23 and x_type == "float":
        inputs = operands((3, 5), ())
        for precision in ("float", "float16", "bfloat16"):
            a = {"precision": schemas.code(precision)}
            yield Case(f"precision_{precision}", inputs, a, expected=quantize(target, precision), **WIDE)


@cases("DequantizeLinear")
def from_quantized(op, version, types, draw):
    source = types.get("T1", types.get("T"))
    scale_type = types["T2"] if version >= 19 else "float"
    target = types["T3"] if version >= 23 else scale_type
    typed = {"output_dtype": schemas.code(target)} if target != scale_type else {}
    low, high = limits(source)
    # What 16 bits cannot hold is a matter of overflow, not of the formula.
    low, high = max(low, -3000), min(high, 3000)

    for name, shape, scale_shape, a in forms(version):
        if name not in ("tensor", "axis", "blocked") and source not in ("uint8", "int4", "float8e5m2"):
            continue
        x = draw(shape, source, low, high, special=is_integer(source) and target != "float16" and name == "tensor")
        s = scales(draw, scale_shape, scale_type)
        place = {"axis": a.get("axis", 1), "block": a.get("block_size", 0)}
        if name == "tensor" or source == "int32" or target == "float":
            yield Case(name, [x, s], typed | a, constants=[1], expected=dequantize(**place), **WIDE)
        if source != "int32" and not name.startswith("empty"):
            zero = (
                draw(scale_shape, source, max(low, -4), min(high, 9))
                if is_integer(source)
                else array(np.zeros(scale_shape), source)
            )
            yield Case(f"{name}_zero", [x, s, zero], typed | a, constants=[1, 2], expected=dequantize(**place), **WIDE)
    if is_float(source):
        everything = np.arange(2 ** {"float4e2m1": 4, "float6e2m3": 6, "float6e3m2": 6}.get(source, 8), dtype=np.uint8)
        yield Case(
            "every_number",
            [everything.view(schemas.dtype(source)), array(1, scale_type)],
            typed,
            expected=dequantize(),
            **WIDE,
        )


@cases("DynamicQuantizeLinear")
def dynamically(op, version, types, draw):
    def expected(x):
        f = np.float32
        low, high = min(x.min(), f(0)), max(x.max(), f(0))
        scale = f(high - low) / f(255)
        zero = np.clip(np.rint(-low / scale), 0, 255)
        return np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8), scale, zero.astype(np.uint8)

    for name, x in (
        ("both_signs", draw((3, 4))),
        ("positive", draw((2, 3, 2), "float", 1, 3)),
        ("negative", draw((6,), "float", -5, -2)),
        ("one", array(-3.5, "float")),
        ("wide", array([1e30, -1e-30, 3e29], "float")),
        ("ties", array([-1, 0, 254, 0.5, 1.5, 2.5], "float")),
    ):
        yield Case(name, [x], outputs=3, expected=expected, **WIDE)


def shifted(values, zero, rows):
    """values - zero, of all or of each row (or column) of a matrix."""
    zero = np.asarray(0 if zero is None else zero).astype(np.float64)
    if zero.ndim == 1:
        zero = zero[:, None] if rows else zero
    return values.astype(np.float64) - zero


SHAPES = {
    "matrices": ((3, 4), (4, 2)), "batches": ((2, 3, 4), (2, 4, 2)), "broadcast": ((2, 1, 3, 4), (3, 4, 2)),
    "vector_left": ((4,), (4, 2)), "vector_right": ((3, 4), (4,)), "empty": ((0, 4), (4, 2)),
    "inner0": ((3, 0), (0, 2)),
}  # fmt: skip


@cases("MatMulInteger", pairs=True)
def integer_product(op, version, types, draw):
    def expected(a, b, a_zero=0, b_zero=0):
        return (shifted(a, a_zero, True) @ shifted(b, b_zero, False)).astype(np.int32)

    for name, (left, right) in SHAPES.items():
        a, b = draw(left, types["T1"], -128, 255), draw(right, types["T2"], -128, 255)
        az, bz = draw((), types["T1"], 1, 99), draw((), types["T2"], 1, 99)
        yield Case(name, [a, b], expected=expected, **WIDE)
        if name in ("matrices", "broadcast"):
            yield Case(f"{name}_zero", [a, b, az], constants=[2], expected=expected, **WIDE)
            yield Case(f"{name}_zeros", [a, b, az, bz], expected=expected, **WIDE)
            yield Case(f"{name}_right_zero", [a, b, None, bz], constants=[3], expected=expected, **WIDE)
    a, b = draw((3, 4), types["T1"], -128, 255), draw((4, 2), types["T2"], -128, 255)
    yield Case(
        "by_row", [a, b, draw((3,), types["T1"], 0, 9), draw((2,), types["T2"], 0, 9)], expected=expected, **WIDE
    )
    most = [array(np.full(shape, limits(t)[1]), t) for shape, t in (((2, 300), types["T1"]), ((300, 2), types["T2"]))]
    yield Case("large", most, expected=expected, **WIDE)


@cases("QLinearMatMul")
def quantized_product(op, version, types, draw):
    t1, t2, t3, scale = types["T1"], types["T2"], types["T3"], types.get("TS", "float")

    def expected(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
        left, right = (np.asarray(v).astype(np.float64) for v in (a_scale, b_scale))
        left = left[:, None] if left.ndim == 1 and left.size > 1 else left
        product = (shifted(a, a_zero, True) * left) @ (shifted(b, b_zero, False) * right)
        y = product / float(y_scale)
        return saturated((np.rint(y) if is_integer(t3) else y) + float(y_zero), t3)

    def number(element):
        return draw((), element, 1, 4) if is_integer(element) else array(0, element)

    def operand(shape, element):
        return (
            draw(shape, element, -20, 40)
            if is_integer(element)
            else array(np.round(draw(shape, "float", -4, 4)), element)
        )

    # Powers of two: what is rounded is exact in every order of evaluation, ties included.
    def power(n, shape=()):
        return array(np.full(shape, 2.0**n), scale)

    for name, (left, right) in SHAPES.items():
        a, b = operand(left, t1), operand(right, t2)
        inputs = [a, power(-2), number(t1), b, power(-1), number(t2), power(1), number(t3)]
        yield Case(name, inputs, constants=[1, 2, 4, 5, 6, 7], expected=expected, **WIDE)
    a, b = operand((3, 4), t1), operand((4, 2), t2)
    rows, columns = array([0.5, 0.25, 1], scale), array([1, 0.125], scale)
    zeros = [array(np.arange(n) if is_integer(t) else np.zeros(n), t) for n, t in ((3, t1), (2, t2))]
    inputs = [a, rows, zeros[0], b, columns, zeros[1], power(1), number(t3)]
    yield Case("by_row", inputs, constants=[1, 2, 4, 5, 6, 7], expected=expected, **WIDE)
    inputs = [
        operand((2, 3, 4), t1),
        rows.reshape(1, 3, 1).repeat(2, 0),
        zeros[0].reshape(1, 3, 1).repeat(2, 0),
        operand((2, 4, 2), t2),
        columns.reshape(1, 1, 2).repeat(2, 0),
        zeros[1].reshape(1, 1, 2).repeat(2, 0),
        power(1),
        number(t3),
    ]
    yield Case("by_row_of_batches", inputs, expected=expected, **WIDE)
    # Beyond the bounds of the result.
    yield Case(
        "saturated",
        [a, power(2), number(t1), b, power(2), number(t2), power(-6), number(t3)],
        expected=expected,
        **WIDE,
    )
