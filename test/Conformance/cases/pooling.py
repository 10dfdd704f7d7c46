"""Pools over windows and over everything."""

import numpy as np
from Conformance import schemas
from Conformance.cases.windows import allowed, average_pool, lp_pool, max_pool
from Conformance.table import Case, array, cases, is_float

# name: (shape, attributes); those in EVERY with all types, the others with float alone.
FORMS = {
    "line": ((2, 2, 7), {"kernel_shape": [3]}),
    "strided": ((2, 3, 6, 7), {"kernel_shape": [3, 2], "strides": [2, 3]}),
    "volume": ((1, 2, 4, 5, 6), {"kernel_shape": [2, 2, 3], "strides": [1, 2, 2]}),
    "padded": ((1, 2, 5, 6), {"kernel_shape": [3, 3], "pads": [1, 0, 2, 1], "strides": [2, 1]}),
    "larger_than_data": ((1, 2, 2, 3), {"kernel_shape": [4, 5], "pads": [1, 2, 1, 2]}),
    "one": ((1, 1, 1, 1), {"kernel_shape": [1, 1]}),
    "same_upper": ((1, 2, 5, 6), {"kernel_shape": [2, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    "same_lower": ((1, 2, 5, 6), {"kernel_shape": [2, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER"}),
    "same_by_one": ((1, 1, 4, 5), {"kernel_shape": [4, 3], "auto_pad": "SAME_LOWER"}),
    "same_gaps": ((1, 1, 7), {"kernel_shape": [2], "strides": [3], "auto_pad": "SAME_UPPER"}),
    "valid": ((1, 2, 5, 6), {"kernel_shape": [2, 3], "strides": [2, 2], "auto_pad": "VALID"}),
    "dilated": ((1, 2, 7, 8), {"kernel_shape": [3, 2], "dilations": [2, 3], "pads": [1, 1, 1, 2]}),
    "same_dilated": (
        (1, 1, 7, 8), {"kernel_shape": [3, 2], "dilations": [2, 3], "strides": [2, 1], "auto_pad": "SAME_UPPER"}
    ),
    "ceil": ((1, 2, 6, 7), {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1}),
    "ceil_padded": ((1, 2, 5, 6), {"kernel_shape": [3, 2], "strides": [3, 2], "pads": [1, 0, 1, 1], "ceil_mode": 1}),
    "ceil_behind_data": (
        (1, 1, 3, 4), {"kernel_shape": [2, 2], "strides": [2, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1}
    ),
    "ceil_dilated": ((1, 1, 8, 9), {"kernel_shape": [2, 3], "strides": [2, 3], "dilations": [3, 2], "ceil_mode": 1}),
    "ceil_one_window": ((1, 2, 7, 6), {"kernel_shape": [10, 8], "strides": [10, 5], "ceil_mode": 1}),
    "ceil_one_padded": (
        (1, 1, 5, 4), {"kernel_shape": [9, 12], "strides": [9, 8], "pads": [1, 2, 1, 1], "ceil_mode": 1}
    ),
    "ceil_far_beyond": ((1, 2, 7, 7), {"kernel_shape": [1280, 1280], "strides": [1280, 1280], "ceil_mode": 1}),
    "batch0": ((0, 2, 5, 5), {"kernel_shape": [2, 2]}),
    "channels0": ((2, 0, 5, 5), {"kernel_shape": [2, 2]}),
}  # fmt: skip
EVERY = {"strided", "padded", "batch0"}
# At versions other than the newest: what their attributes mean.
OLD = EVERY | {"same_upper", "same_lower", "valid", "dilated", "ceil_padded", "ceil_behind_data"}


def forms(op, version, element):
    newest = version == schemas.history("ai.onnx", op)[-1].since_version
    for name, (shape, attributes) in FORMS.items():
        wanted = name in EVERY or (element == "float" and (newest or name in OLD))
        if wanted and allowed(op, version, attributes):
            yield name, shape, attributes


@cases("MaxPool")
def maxima(op, version, types, draw):
    element = types["T"]
    flags = [1, 1] if version >= 8 else [1]

    def pooled(a):
        return lambda x: max_pool(x, **a)[: len(flags)] if len(flags) == 2 else max_pool(x, **a)[0]

    for name, shape, a in forms(op, version, element):
        # Few values, so that there are ties.
        x = (
            array(np.round(draw(shape, "float", -3, 3)), element)
            if is_float(element)
            else draw(shape, element, -128, 255)
        )
        yield Case(name, [x], a, outputs=flags, expected=pooled(a))
        if version >= 8 and name in ("strided", "volume", "padded", "line"):
            column = a | {"storage_order": 1}
            yield Case(f"{name}_column_major", [x], column, outputs=flags, expected=pooled(column))
    special = {"kernel_shape": [2, 1], "strides": [2, 1]}
    yield Case(
        "special", [draw((1, 1, 6, 4), element, special=True)], special, expected=lambda x: max_pool(x, **special)[0]
    )
    if is_float(element):
        # Padding is below everything, negative infinity included.
        low, a = array(np.full((1, 1, 3), -np.inf), element), {"kernel_shape": [2], "pads": [1, 1]}
        yield Case("infinite", [low], a, outputs=flags, expected=pooled(a))
    else:
        low, a = (
            array(np.full((1, 1, 3), -128 if element == "int8" else 0), element),
            {"kernel_shape": [2], "pads": [1, 1]},
        )
        yield Case("lowest", [low], a, outputs=flags, expected=pooled(a))


@cases("AveragePool")
def averages(op, version, types, draw):
    element = types["T"]
    for name, shape, a in forms(op, version, element):
        x = draw(shape, element)
        yield Case(name, [x], a, expected=lambda x, a=a: average_pool(x, **a))
        if version >= 7 and a.get("pads", a.get("auto_pad", "").startswith("SAME")):
            counted = a | {"count_include_pad": 1}
            yield Case(f"{name}_with_padding", [x], counted, expected=lambda x, a=counted: average_pool(x, **a))
    special = {"kernel_shape": [2, 1], "strides": [2, 1]}
    x = array([[[[1, np.nan, np.inf, -np.inf], [2, 1, 1, 1], [np.inf, 0, np.inf, 0], [-np.inf, -0.0, 0, 1]]]], element)
    yield Case("special", [x], special, expected=lambda x: average_pool(x, **special))


@cases("LpPool")
def norms(op, version, types, draw):
    element, number = types["T"], float if version == 1 else int
    for name, shape, a in forms(op, version, element):
        for p in (None, 1, 3) if name in ("strided", "padded") else (None,):
            given = a if p is None else a | {"p": number(p)}
            yield Case(f"{name}_p{p or ''}", [draw(shape, element)], given, expected=lambda x, a=given: lp_pool(x, **a))
    if version == 1:
        yield Case("whole", [draw((2, 3, 4, 5), element)], expected=lp_pool, dynamic="the kernel is the data's shape")


@cases("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def everywhere(op, version, types, draw):
    element = types["T"]

    def whole(x, p=2):
        axes = tuple(range(2, x.ndim))
        if op == "GlobalAveragePool":
            return x.mean(axis=axes, keepdims=True)
        return (
            x.max(axis=axes, keepdims=True)
            if op == "GlobalMaxPool"
            else (np.abs(x) ** p).sum(axes, keepdims=True) ** (1 / p)
        )

    for name, shape in (("line", (2, 3, 4)), ("plane", (2, 3, 4, 5)), ("volume", (1, 2, 2, 3, 2)),
                        ("one", (1, 1, 1, 1)), ("batch0", (0, 3, 4, 5)), ("channels0", (2, 0, 4, 5))):  # fmt: skip
        yield Case(name, [draw(shape, element)], expected=whole)
    if op == "GlobalLpPool":
        for p in (1, 3):
            a = {"p": float(p) if version == 1 else p}
            yield Case(f"p{p}", [draw((2, 3, 4, 5), element)], a, expected=lambda x, p=p: whole(x, p))
    else:
        x = array([[[1, np.nan], [np.inf, 0], [-np.inf, -np.inf], [np.inf, -np.inf]]], element)
        yield Case("special", [x], expected=whole)


@cases("MaxUnpool")
def unpooled(op, version, types, draw):
    element = types["T1"]

    def scattered(shape, values, indices):
        result = np.zeros(int(np.prod(shape)), values.dtype)
        result[indices.ravel()] = values.ravel()
        return result.reshape(shape)

    for name, shape, a in (
        ("plane", (2, 2, 4, 6), {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("line", (1, 2, 7), {"kernel_shape": [3], "strides": [2]}),
        ("unit_strides", (1, 1, 4, 4), {"kernel_shape": [2, 2]}),
        ("volume", (1, 2, 2, 4, 2), {"kernel_shape": [2, 2, 1], "strides": [2, 2, 1]}),
        ("padded", (1, 1, 4, 4), {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ("batch0", (0, 2, 4, 6), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ):
        # No window's maximum is another's, so that nothing is written twice.
        x = array(np.argsort(draw.random.random(int(np.prod(shape)))).reshape(shape), element)
        if name == "unit_strides":
            indices = np.arange(9).reshape(1, 1, 3, 3)[..., ::-1].copy()
            values = draw((1, 1, 3, 3), element)
        else:
            values, indices = max_pool(x.astype(np.float64), **a)
            values = array(values, element)
        full = tuple(
            (size - 1) * stride + k - before - after
            for size, stride, k, before, after in zip(
                values.shape[2:], a.get("strides", [1] * 3), a["kernel_shape"],
                a.get("pads", [0] * 6)[: len(shape) - 2], a.get("pads", [0] * 6)[len(shape) - 2 :],
            )
        )  # fmt: skip

        def expected(v, i, s=(*shape[:2], *full)):
            return scattered(s, v, i)

        yield Case(name, [values, indices.astype(np.int64)], a, expected=expected)
    values, indices = draw((1, 1, 2, 2), element), np.array([[[[5, 7], [13, 15]]]])
    larger = np.array([1, 1, 5, 5])
    yield Case(
        "output_shape", [values, indices, larger], {"kernel_shape": [2, 2], "strides": [2, 2]}, constants=[2],
        # Indices are those of the smallest output.
        expected=lambda v, i, s: np.pad(scattered((1, 1, 4, 4), v, i), [(0, 0), (0, 0), (0, 1), (0, 1)]),
    )  # fmt: skip
