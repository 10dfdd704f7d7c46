"""Convolutions, of floats and of quantized integers."""

import numpy as np
from Conformance.cases.windows import convolution, transposed_convolution
from Conformance.table import Case, array, cases

# name: (shape of X, shape of W, attributes); with all types those in EVERY.
FORMS = {
    "plane": ((2, 3, 6, 5), (4, 3, 3, 2), {}),
    "line": ((2, 2, 7), (3, 2, 3), {"strides": [2], "kernel_shape": [3]}),
    "volume": ((1, 2, 4, 4, 5), (2, 2, 2, 1, 3), {"strides": [1, 2, 1]}),
    "pointwise": ((2, 5, 3, 3), (4, 5, 1, 1), {}),
    "padded": ((1, 2, 5, 6), (3, 2, 3, 3), {"pads": [1, 0, 2, 3], "strides": [2, 1]}),
    "larger_than_data": ((1, 2, 2, 3), (2, 2, 4, 5), {"pads": [1, 2, 1, 2]}),
    "same_upper": ((1, 2, 5, 6), (3, 2, 2, 4), {"strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    "same_lower": ((1, 2, 5, 6), (3, 2, 2, 4), {"strides": [2, 3], "auto_pad": "SAME_LOWER"}),
    "same_gaps": ((1, 1, 7), (1, 1, 1), {"strides": [3], "auto_pad": "SAME_UPPER"}),
    "valid": ((1, 2, 5, 6), (3, 2, 2, 4), {"strides": [2, 2], "auto_pad": "VALID"}),
    "dilated": ((1, 2, 7, 8), (2, 2, 3, 2), {"dilations": [2, 3], "pads": [1, 1, 1, 2]}),
    "same_dilated": ((1, 1, 7, 8), (1, 1, 3, 2), {"dilations": [2, 3], "auto_pad": "SAME_LOWER"}),
    "groups": ((2, 4, 5, 5), (6, 2, 3, 3), {"group": 2}),
    "depthwise": ((1, 4, 6, 5), (4, 1, 3, 3), {"group": 4, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    "multiplied": ((1, 3, 5, 5), (6, 1, 2, 2), {"group": 3, "dilations": [2, 1]}),
    "batch0": ((0, 2, 5, 5), (3, 2, 3, 3), {}),
    "filters0": ((1, 2, 5, 5), (0, 2, 3, 3), {}),
}
EVERY = {"plane", "groups", "batch0", "padded"}
# At versions other than the newest.
OLD = EVERY | {"same_upper", "same_lower", "valid", "dilated", "larger_than_data"}


def forms(table, version, newest, element, old=OLD):
    for name, form in table.items():
        if name in EVERY or (element == "float" and (version == newest or name in old)):
            yield name, *form


@cases("Conv")
def convolutions(op, version, types, draw):
    element = types["T"]
    for name, shape, filters, a in forms(FORMS, version, 22, element):
        x, w, bias = draw(shape, element), draw(filters, element), draw(filters[:1], element)

        def expected(x, w, b=None, a=a):
            return convolution(x, w, b, **a)

        # The kernel's size must be known: by the weights, or by kernel_shape.
        yield Case(name, [x, w], a, expected=expected, fixed=[1], atol=1e-5 if element == "float" else None)
        if name in ("plane", "groups", "padded", "pointwise", "batch0"):
            yield Case(
                f"{name}_bias",
                [x, w, bias],
                a | {"kernel_shape": filters[2:]},
                constants=[1, 2],
                expected=expected,
                atol=1e-5 if element == "float" else None,
            )
    x = array([[[np.nan, 1, 2, np.inf, 3, -np.inf, 0, 1]]], element)
    yield Case("special", [x, array([[[1, 2]]], element)], fixed=[1], expected=convolution)


TRANSPOSED = {
    "plane": ((2, 3, 3, 4), (3, 2, 3, 2), {}),
    "line": ((2, 2, 4), (2, 3, 3), {"strides": [2], "kernel_shape": [3]}),
    "volume": ((1, 2, 2, 3, 2), (2, 2, 2, 1, 3), {"strides": [1, 2, 2]}),
    "padded": ((1, 2, 4, 3), (2, 2, 3, 3), {"pads": [1, 0, 2, 1], "strides": [2, 3]}),
    "output_padding": ((1, 2, 3, 3), (2, 1, 3, 3), {"strides": [3, 2], "output_padding": [2, 1]}),
    "same_upper": ((1, 1, 3, 4), (1, 2, 3, 4), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    "same_lower": ((1, 1, 3, 4), (1, 2, 3, 4), {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
    "valid": ((1, 1, 3, 4), (1, 2, 3, 4), {"strides": [2, 1], "auto_pad": "VALID"}),
    "output_shape": ((1, 1, 3, 4), (1, 2, 3, 3), {"strides": [2, 2], "output_shape": [6, 8]}),
    "output_shape_upper": (
        (1, 1, 3, 4), (1, 2, 3, 3), {"strides": [2, 2], "output_shape": [6, 8], "auto_pad": "SAME_UPPER"}
    ),
    "output_shape_lower": (
        (1, 1, 3, 4), (1, 2, 3, 3), {"strides": [2, 2], "output_shape": [6, 8], "auto_pad": "SAME_LOWER"}
    ),
    "dilated": ((1, 2, 3, 4), (2, 2, 2, 3), {"dilations": [3, 2], "strides": [1, 2], "pads": [1, 1, 0, 1]}),
    "groups": ((2, 4, 3, 3), (4, 3, 2, 2), {"group": 2, "strides": [2, 2]}),
    "depthwise": ((1, 3, 3, 4), (3, 1, 3, 3), {"group": 3, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    "gaps": ((1, 1, 3, 3), (1, 1, 1, 2), {"strides": [3, 4]}),
    "batch0": ((0, 2, 3, 3), (2, 2, 2, 2), {}),
}  # fmt: skip
# What version 1 says otherwise, without effect.
CHANGED = {"same_upper", "same_lower", "output_shape", "output_shape_upper", "output_shape_lower"}


@cases("ConvTranspose")
def transposed_convolutions(op, version, types, draw):
    element = types["T"]
    for name, shape, filters, a in forms(TRANSPOSED, version, 22, element, CHANGED):
        x, w = draw(shape, element), draw(filters, element)
        bias = draw((filters[1] * a.get("group", 1),), element)

        def expected(x, w, b=None, a=a):
            return transposed_convolution(x, w, b, **a)

        atol = 1e-5 if element == "float" else None  # sums of a few dozen products, some of which cancel
        yield Case(name, [x, w], a, fixed=[1], expected=expected, atol=atol)
        if name in ("plane", "groups", "padded", "output_padding"):
            a = a | {"kernel_shape": filters[2:]}
            yield Case(f"{name}_bias", [x, w, bias], a, constants=[1, 2], expected=expected, atol=atol)


def wide(value):
    return value.astype(np.int64)


@cases("ConvInteger", pairs=True)
def integer_convolutions(op, version, types, draw):
    def expected(a):
        def compute(x, w, zero=0, w_zero=None):
            w_zero = np.zeros(1, np.int64) if w_zero is None else wide(np.reshape(w_zero, -1))
            shifted = wide(w) - w_zero.reshape(-1, 1, 1, 1)
            return convolution(wide(x) - wide(np.asarray(zero)), shifted, **a).astype(np.int32)

        return compute

    for name, shape, filters, a in ((n, *form) for n, form in FORMS.items()):
        usual = (types["T1"], types["T2"]) == ("uint8", "int8")
        if name not in ("plane", "groups") and not (usual and name in (*EVERY, "same_lower", "dilated", "pointwise")):
            continue
        x, w = draw(shape, types["T1"], -128, 255), draw(filters, types["T2"], -128, 255)
        zero, w_zero = draw((), types["T1"], 1, 9), draw((), types["T2"], 1, 9)
        yield Case(name, [x, w], a, fixed=[1], expected=expected(a))
        if name in ("plane", "groups", "padded"):
            yield Case(f"{name}_zero", [x, w, zero], a, fixed=[1], constants=[2], expected=expected(a))
            yield Case(f"{name}_zeros", [x, w, zero, w_zero], a, fixed=[1], constants=[2, 3], expected=expected(a))
            per_filter = draw(filters[:1], types["T2"], -5, 9)
            yield Case(f"{name}_per_filter", [x, w, zero, per_filter], a, fixed=[1], expected=expected(a))


def quantized(y, scale, zero, kind):
    """Saturated y / scale + zero, halves to even, in double."""
    info = np.iinfo(kind)
    return np.clip(np.rint(y / scale) + zero, info.min, info.max).astype(kind)


@cases("QLinearConv", pairs=True)
def quantized_convolutions(op, version, types, draw):
    kind = array(0, types["T3"]).dtype

    def expected(a):
        def compute(x, xs, xz, w, ws, wz, ys, yz, bias=None):
            filters = (-1, *[1] * (w.ndim - 1))
            shifted = wide(w) - (wide(wz).reshape(filters) if np.ndim(wz) else wide(wz))
            sums = convolution(wide(x) - wide(xz), shifted, None if bias is None else wide(bias), **a)
            scale = xs * (ws.reshape(-1, *[1] * (x.ndim - 2)) if np.ndim(ws) else ws)
            return quantized(sums * scale, ys, int(yz), kind)

        return compute

    # Powers of two as scales: the quotients are exact in every order of evaluation, ties included.
    for name, shape, filters, a in ((n, *form) for n, form in FORMS.items()):
        usual = tuple(types.values())[:3] in (("uint8", "int8", "uint8"), ("int8", "int8", "int8"))
        if name != "groups" and not (usual and name in (*EVERY, "line", "same_upper", "dilated", "pointwise")):
            continue
        x, w = draw(shape, types["T1"], -128, 255), draw(filters, types["T2"], -9, 9)
        scales = [array(2.0**-3, "float"), array(2.0**-4, "float"), array(2.0**-2, "float")]
        zeros = [draw((), types[t], 1, 9) for t in ("T1", "T2", "T3")]
        inputs = [x, scales[0], zeros[0], w, scales[1], zeros[1], scales[2], zeros[2]]
        yield Case(name, inputs, a, fixed=[3], constants=[1, 2, 4, 5, 6, 7], expected=expected(a))
        if name in ("plane", "groups"):
            count = filters[0]
            inputs[4], inputs[5] = (
                array(2.0 ** -(np.arange(count) % 3 + 3), "float"),
                draw((count,), types["T2"], -4, 4),
            )
            bias = draw((count,), "int32", -500, 500)
            yield Case(f"{name}_per_filter", inputs, a, fixed=[3, 4, 5], expected=expected(a))
            yield Case(f"{name}_bias", [*inputs, bias], a, fixed=[3, 4, 5, 8], expected=expected(a))


def sampled(plane, y, x):
    """Linear interpolation of an image, zero outside."""
    result = 0.0
    for at, fy in ((int(np.floor(y)), 1 - (y - np.floor(y))), (int(np.floor(y)) + 1, y - np.floor(y))):
        for along, fx in ((int(np.floor(x)), 1 - (x - np.floor(x))), (int(np.floor(x)) + 1, x - np.floor(x))):
            if 0 <= at < plane.shape[0] and 0 <= along < plane.shape[1]:
                result += fy * fx * plane[at, along]
    return result


def deformed(a):
    def compute(x, w, offset, bias=None, mask=None):
        strides, dilations, pads = a.get("strides", [1, 1]), a.get("dilations", [1, 1]), a.get("pads", [0] * 4)
        groups, kernel, out = a.get("offset_group", 1), w.shape[2:], offset.shape[2:]
        offset = offset.reshape(x.shape[0], groups, *kernel, 2, *out)
        mask = np.ones((x.shape[0], groups, *kernel, *out)) if mask is None else mask.reshape(-1, groups, *kernel, *out)
        # The samples, as an image on which the kernel moves by its own size.
        spread = np.zeros((*x.shape[:2], out[0] * kernel[0], out[1] * kernel[1]), x.dtype)
        for n, c, p, q, i, j in np.ndindex(*x.shape[:2], *out, *kernel):
            g = c * groups // x.shape[1]
            y = p * strides[0] - pads[0] + i * dilations[0] + offset[n, g, i, j, 0, p, q]
            along = q * strides[1] - pads[1] + j * dilations[1] + offset[n, g, i, j, 1, p, q]
            spread[n, c, p * kernel[0] + i, q * kernel[1] + j] = sampled(x[n, c], y, along) * mask[n, g, i, j, p, q]
        return convolution(spread, w, bias, strides=list(kernel), group=a.get("group", 1))

    return compute


@cases("DeformConv")
def deformable_convolutions(op, version, types, draw):
    element = types["T"]
    for name, shape, filters, out, a in (
        ("plane", (1, 2, 5, 5), (3, 2, 2, 2), (4, 4), {}),
        (
            "padded",
            (2, 2, 4, 5),
            (2, 2, 3, 3),
            (2, 5),
            {"pads": [1, 1, 1, 1], "strides": [2, 1], "kernel_shape": [3, 3]},
        ),
        ("dilated", (1, 1, 6, 6), (2, 1, 2, 2), (4, 3), {"dilations": [2, 3]}),
        ("groups", (1, 4, 4, 4), (4, 2, 2, 2), (3, 3), {"group": 2}),
        ("offset_groups", (1, 4, 4, 4), (2, 4, 2, 2), (3, 3), {"offset_group": 2}),
        ("batch0", (0, 2, 5, 5), (3, 2, 2, 2), (4, 4), {}),
    ):
        if element != "float" and name not in ("plane", "groups"):
            continue
        elements, groups = int(np.prod(filters[2:])), a.get("offset_group", 1)
        x, w = draw(shape, element), draw(filters, element)
        offset = draw((shape[0], 2 * groups * elements, *out), element, -2, 2)
        mask = draw((shape[0], groups * elements, *out), element, 0, 1)
        bias = draw(filters[:1], element)
        more = {"expected": deformed(a), "fixed": [1]} | ({"atol": 1e-5} if element == "float" else {})
        yield Case(name, [x, w, offset], a, **more)
        yield Case(f"{name}_masked", [x, w, offset, None, mask], a, **more)
        yield Case(f"{name}_biased", [x, w, offset, bias, mask], a, constants=[3], **more)
