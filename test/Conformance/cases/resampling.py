"""Operators that read between elements: resizing, sampling at a grid, putting blocks back into an image."""

import itertools

import numpy as np
from Conformance.table import Case, array, cases, is_complex, is_float

DATA = {"wide": False}
# Sixteen products of elements up to 4 that may cancel.
LOOSE = {"double": 1e-12, "float": 1e-5, "float16": 1e-2, "bfloat16": 0.1}
REALS = ("float", "double", "float16", "bfloat16")


# Positions in the input of the elements of the result, by coordinate_transformation_mode.
POSITIONS = {
    "asymmetric": lambda i, scale, old, new: i / scale,
    "half_pixel": lambda i, scale, old, new: (i + 0.5) / scale - 0.5,
    "pytorch_half_pixel": lambda i, scale, old, new: (i + 0.5) / scale - 0.5 if new > 1 else i * 0,
    "align_corners": lambda i, scale, old, new: i * (old - 1) / (new - 1) if new > 1 else i * 0,
    "half_pixel_symmetric": lambda i, scale, old, new: old / 2 * (1 - new / (scale * old)) + (i + 0.5) / scale - 0.5,
}
ROUNDING = {
    "floor": np.floor, "ceil": np.ceil, "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
}  # fmt: skip


def nearest(x, scales, sizes, coordinates, rounding):
    for axis, (scale, size) in enumerate(zip(scales, sizes)):
        if scale == 1 and size == x.shape[axis]:
            continue
        at = ROUNDING[rounding](POSITIONS[coordinates](np.arange(size), scale, x.shape[axis], size))
        x = np.take(x, np.clip(at, 0, x.shape[axis] - 1).astype(np.int64), axis)
    return x


def linear(x, scales, sizes, coordinates):
    for axis, (scale, size) in enumerate(zip(scales, sizes)):
        at = np.clip(POSITIONS[coordinates](np.arange(size), scale, x.shape[axis], size), 0, x.shape[axis] - 1)
        low = np.floor(at).astype(np.int64)
        part = (at - low).reshape(-1, *[1] * (x.ndim - axis - 1))
        x = np.take(x, low, axis) * (1 - part) + np.take(x, np.minimum(low + 1, x.shape[axis] - 1), axis) * part
    return x


def cubic(x, scales, sizes, coordinates, a=-0.75):
    for axis, (scale, size) in enumerate(zip(scales, sizes)):
        if scale == 1:
            continue
        at = POSITIONS[coordinates](np.arange(size), scale, x.shape[axis], size)
        low, result = np.floor(at).astype(np.int64), 0
        for tap in (-1, 0, 1, 2):
            d = np.abs(at - low - tap)
            near, far = ((a + 2) * d - (a + 3)) * d * d + 1, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
            weight = np.where(d <= 1, near, far).reshape(-1, *[1] * (x.ndim - axis - 1))
            result = result + weight * np.take(x, np.clip(low + tap, 0, x.shape[axis] - 1), axis)
        x = result
    return x


def rounded(scales):
    """As the operand holds them."""
    return np.float32(scales).astype(np.float64)


def scaled(shape, scales):
    return [int(np.floor(n * np.float32(s))) for n, s in zip(shape, scales)]


@cases("Upsample")
def upsample(op, version, types, draw):
    element = types["T"]
    forms = [("nearest", (1, 1, 2, 3), [1, 1, 2, 3], "nearest")]
    if element in REALS:
        forms += [("linear", (1, 2, 2, 3), [1, 1, 2, 3], "linear")]
    if element in ("float", "string"):
        forms += [
            ("same", (1, 1, 2, 2), [1, 1, 1, 1], "nearest"),
            ("fraction", (1, 1, 4, 4), [1, 1, 1.5, 1.25], "nearest"),
        ]
        if version > 1:
            forms += [("three", (2, 2, 3), [2, 1, 2], "nearest"), ("vector", (4,), [2.5], "nearest")]
    for name, dims, scales, mode in forms:

        def expected(x, *_, scales=scales, mode=mode):
            sizes = scaled(x.shape, scales)
            if mode == "nearest":
                return nearest(x, scales, sizes, "asymmetric", "floor")
            return linear(x, scales, sizes, "asymmetric")

        x, wide = draw(dims, element), mode == "linear"
        if version == 1:
            attributes = {"height_scale": float(scales[2]), "width_scale": float(scales[3])}
            attributes |= {"mode": "bilinear"} if mode == "linear" else {}
            yield Case(name, [x], attributes, expected=expected, wide=wide)
            continue
        attributes = {"mode": mode} if mode != "nearest" or name == "three" else {}
        if version == 7:
            yield Case(name, [x], attributes | {"scales": [float(s) for s in scales]}, expected=expected, wide=wide)
        else:
            yield Case(name, [x, array(scales, "float")], attributes, constants=[1], expected=expected, wide=wide)


def resize_10(op, version, types, draw):
    """Its coordinates are o / scale; the nearest element is the one below to enlarge, and the one above to shrink."""
    element = types["T"]
    forms = [
        ("enlarge", (1, 1, 2, 3), [1, 1, 2, 1.5], "nearest", "floor"),
        ("shrink", (1, 1, 4, 6), [1, 1, 0.5, 0.6], "nearest", "ceil"),
    ]
    if element in REALS:
        forms += [("linear", (1, 1, 3, 4), [1, 1, 1.7, 0.6], "linear", None)]
    for name, dims, scales, mode, rounding in forms:

        def expected(x, scales, mode=mode, rounding=rounding):
            scales = scales.astype(np.float64)
            sizes = scaled(x.shape, scales)
            if mode == "nearest":
                return nearest(x, scales, sizes, "asymmetric", rounding)
            return linear(x, scales, sizes, "asymmetric")

        operands = [draw(dims, element), array(scales, "float")]
        yield Case(
            name,
            operands,
            {"mode": mode},
            constants=[1] if name != "shrink" else [],
            fixed=[1] if name == "shrink" else [],
            expected=expected,
            wide=mode == "linear",
        )


@cases("Resize")
def resize(op, version, types, draw):
    if version == 10:
        yield from resize_10(op, version, types, draw)
        return
    element, region = types["T1"], types["T2"]
    none = array([], region) if version == 11 else None
    absent = array([], "float") if version == 11 else None

    def case(name, dims, attributes, scales=None, sizes=None, roi=None, **more):
        given = none if roi is None else array(roi, region)
        operands = [draw(dims, element), given, absent if scales is None else array(scales, "float")]
        operands += [] if sizes is None else [array(sizes)]
        like = [operands[0], None if roi is None else given, None if scales is None else operands[2], *operands[3:]]
        fixed = [1] if roi is None and none is not None else []
        fixed += [2] if scales is None and absent is not None else []
        constants = ([] if roi is None else [1]) + ([] if scales is None else [2]) + ([] if sizes is None else [3])
        extra = {"like": (like, attributes)} if "expected" not in more else {}
        return Case(name, operands, attributes, constants=constants, fixed=fixed, **extra, **more)

    moves = [("half_pixel", "round_prefer_floor", [1, 2, 1.7])]
    if element in ("float", "string"):
        coordinates = ["asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners"]
        coordinates += ["half_pixel_symmetric"] if version >= 19 else []
        moves = [(c, r, s) for c, r in itertools.product(coordinates, ROUNDING) for s in ([1, 2, 1.7], [1, 0.7, 0.6])]
        moves = [m for i, m in enumerate(moves) if i % 11 == 0 or element == "float"]
    for number, (mode, rounding, scales) in enumerate(moves):
        exact = rounded(scales)

        def expected(x, *_, mode=mode, rounding=rounding, scales=exact):
            sizes = scaled(x.shape, scales)
            if mode == "align_corners":  # the exact, not the rounded length, decides
                for axis, (scale, size) in enumerate(zip(scales, sizes)):
                    length = scale * x.shape[axis]
                    at = np.arange(size) * (x.shape[axis] - 1) / (length - 1) if length != 1 else np.zeros(size)
                    x = np.take(x, np.clip(ROUNDING[rounding](at), 0, x.shape[axis] - 1).astype(np.int64), axis)
                return x
            return nearest(x, scales, sizes, mode, rounding)

        attributes = {"coordinate_transformation_mode": mode, "nearest_mode": rounding}
        # Even lengths: the middle of odd ones lies on an element or between two but for rounding.
        yield case(f"nearest{number}", (1, 6, 4), attributes, scales, expected=expected, **DATA)

    def to_sizes(x, *_):
        return nearest(x, [1, 7 / 3, 2 / 5], [1, 7, 2], "half_pixel", "round_prefer_floor")

    yield case("nearest_sizes", (1, 3, 5), {}, sizes=[1, 7, 2], expected=to_sizes, **DATA)
    if element not in REALS:
        return
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 1.5}
    roi = [0, 0.25, -0.25, 1, 0.75, 1.25]
    yield case("crop_linear", (1, 4, 5), crop | {"mode": "linear"}, sizes=[1, 3, 6], roi=roi)
    yield case("crop_nearest", (1, 4, 5), crop, sizes=[1, 3, 6], roi=roi)
    yield case("linear", (2, 3, 4), {"mode": "linear"}, [1, 1.7, 0.6])

    def by_four(x, *_):
        scales = np.float32([1, 1, 1.7, 0.8]).astype(np.float64)
        return cubic(x, scales, scaled(x.shape, scales), "half_pixel")

    yield case("cubic", (1, 1, 4, 5), {"mode": "cubic"}, [1, 1, 1.7, 0.8], expected=by_four, atol=LOOSE[element])
    if element != "float":
        return
    for mode, coordinates in itertools.product(("linear", "cubic"), POSITIONS):
        if version >= 19 or coordinates != "half_pixel_symmetric":
            attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
            yield case(f"{mode}_{coordinates}", (1, 1, 4, 5), attributes, [1, 1, 2, 0.6], atol=1e-5)
            yield case(f"{mode}_{coordinates}_sizes", (1, 1, 4, 5), attributes, sizes=[1, 1, 7, 3], atol=1e-5)
    yield case(
        "cubic_exclude", (1, 1, 4, 4), {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5}, [1, 1, 2, 0.75]
    )
    yield case(
        "linear_to_one",
        (1, 1, 4, 4),
        {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"},
        sizes=[1, 1, 1, 1],
    )
    if version < 18:
        return
    for mode in ("linear", "cubic"):
        yield case(f"{mode}_antialias", (1, 1, 7, 8), {"mode": mode, "antialias": 1}, [1, 1, 0.4, 0.75])
        yield case(f"{mode}_antialias_sizes", (1, 1, 7, 8), {"mode": mode, "antialias": 1}, sizes=[1, 1, 3, 9])
    for policy in ("not_larger", "not_smaller"):
        attributes = {"keep_aspect_ratio_policy": policy, "axes": [2, 1], "mode": "linear"}
        yield case(f"{policy}", (1, 4, 6, 1), attributes, sizes=[7, 9])
    yield case("axes", (1, 4, 6, 2), {"axes": [-2, 1], "mode": "linear"}, [0.6, 2])


@cases("Col2Im")
def col2im(op, version, types, draw):
    element = types["T"]
    # Strings are added by concatenation; here no two share a place, and each place has one.
    forms = [("plain", (5, 5), (2, 3), {})] if element != "string" else [("apart", (4, 6), (2, 3), {"strides": [2, 3]})]
    if element in ("float", "bool"):
        forms += [
            ("strides", (5, 5), (2, 2), {"strides": [2, 3]}),
            ("pads", (4, 5), (2, 3), {"pads": [1, 0, 0, 2]}),
            ("dilations", (6, 6), (2, 2), {"dilations": [2, 3]}),
            ("cube", (3, 4, 3), (1, 2, 2), {"strides": [1, 2, 1]}),
            ("all", (7, 6), (2, 3), {"strides": [2, 1], "pads": [1, 1, 2, 0], "dilations": [2, 1]}),
        ]
    for name, image, block, attributes in forms:
        rank = len(image)
        strides, dilations = attributes.get("strides", [1] * rank), attributes.get("dilations", [1] * rank)
        pads = attributes.get("pads", [0] * 2 * rank)
        counts = [
            (image[i] + pads[i] + pads[rank + i] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1
            for i in range(rank)
        ]

        def expected(x, *_, given=(rank, image, block, strides, dilations, pads, counts)):
            rank, image, block, strides, dilations, pads, counts = given
            channels = x.shape[1] // int(np.prod(block))
            parts = x.reshape(x.shape[0], channels, *block, *counts)
            result = np.full((x.shape[0], channels, *image), "" if x.dtype == object else 0, x.dtype)
            for inside in np.ndindex(*block):
                for which in np.ndindex(*counts):
                    at = tuple(which[i] * strides[i] + inside[i] * dilations[i] - pads[i] for i in range(rank))
                    if all(0 <= a < n for a, n in zip(at, image)):
                        result[(..., *at)] += parts[(slice(None), slice(None), *inside, *which)]
            return result

        x = draw((2, 2 * int(np.prod(block)), int(np.prod(counts))), element)
        yield Case(name, [x, array(image), array(block)], attributes, constants=[1, 2], expected=expected)


@cases("AffineGrid")
def affine_grid(op, version, types, draw):
    for name, theta, size in (
        ("plane", (2, 2, 3), [2, 3, 4, 5]),
        ("space", (1, 3, 4), [1, 2, 2, 3, 4]),
        ("one", (1, 2, 3), [1, 1, 1, 1]),
    ):
        for corners in (0, 1) if name != "one" else (0,):

            def expected(theta, size, corners=corners):
                axes = []
                for n in size[2:]:
                    steps = np.arange(n)
                    axes.append((2 * steps / max(n - 1, 1) - 1) if corners else (2 * steps + 1) / n - 1)
                points = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(size[2:])], -1)
                return np.einsum("...k,njk->n...j", points, theta)

            operands = [draw(theta, types["T1"], -1, 1), array(size)]
            yield Case(
                f"{name}_corners{corners}",
                operands,
                {"align_corners": corners},
                constants=[1],
                expected=expected,
                rtol=2**-6 if types["T1"] == "bfloat16" else None,
                atol=2**-7 if types["T1"] == "bfloat16" else 1e-3 if types["T1"] == "float16" else None,
            )


def sampled_nearest(x, grid, corners, padding):
    """Without interpolation: the nearest element, halves to the even one."""
    spatial = x.shape[2:]
    result = np.zeros(x.shape[:2] + grid.shape[1:-1], x.dtype)
    for at in np.ndindex(grid.shape[:-1]):
        places, inside = [], True
        for n, c in zip(spatial, np.float64(grid[at])[::-1]):
            place = int(np.rint((c + 1) / 2 * (n - 1) if corners else ((c + 1) * n - 1) / 2))
            if padding == "border":
                place = min(max(place, 0), n - 1)
            inside &= 0 <= place < n
            places.append(place)
        if inside:
            result[(at[0], slice(None), *at[1:])] = x[(at[0], slice(None), *places)]
        elif x.dtype == object:
            result[(at[0], slice(None), *at[1:])] = ""
    return result


def sampled_linear(x, grid):
    """Between the four elements around, zeros outside."""
    data, result = x.astype(np.float64), np.zeros(x.shape[:2] + grid.shape[1:-1], np.float64)
    for at in np.ndindex(grid.shape[:-1]):
        column, row = (((c + 1) * n - 1) / 2 for c, n in zip(np.float64(grid[at]), x.shape[:1:-1]))
        for i, j in itertools.product(
            (int(np.floor(row)), int(np.floor(row)) + 1), (int(np.floor(column)), int(np.floor(column)) + 1)
        ):
            if 0 <= i < x.shape[2] and 0 <= j < x.shape[3]:
                weight = (1 - abs(row - i)) * (1 - abs(column - j))
                result[(at[0], slice(None), *at[1:])] += weight * data[at[0], :, i, j]
    return np.trunc(result).astype(x.dtype)


@cases("GridSample")
def grid_sample(op, version, types, draw):
    element, coordinates = types["T1"], types["T2"]
    names = {"linear": "bilinear", "cubic": "bicubic"} if version == 16 else {}
    grid = draw((1, 3, 4, 2), coordinates, -1.3, 1.3)

    for corners, padding in (
        itertools.product((0, 1), ("zeros", "border")) if element in ("float", "string") else ((1, "zeros"),)
    ):

        def expected(x, grid, corners=corners, padding=padding):
            return sampled_nearest(x, grid, corners, padding)

        attributes = {"mode": "nearest", "align_corners": corners, "padding_mode": padding}
        yield Case(
            f"nearest_{padding}_corners{corners}",
            [draw((1, 2, 4, 5), element), grid],
            attributes,
            expected=expected,
            **DATA,
        )
    if element in ("string", "bool") or is_complex(element):
        return

    def case(name, mode, x, grid, **attributes):
        own = attributes | {"mode": names.get(mode, mode)}
        return Case(
            name,
            [x, grid],
            own,
            like=([x, grid], attributes | {"mode": mode}),
            rtol=1e-4 if element == "float" else None,
            atol={"bfloat16": 0.1, "float16": 0.02}.get(element, 1e-5),
        )

    x = draw((1, 2, 4, 5), element)
    if not is_float(element):  # computed in floating point, and rounded towards zero
        if version >= 22 and coordinates == "double":
            yield Case("linear", [x, grid], {"mode": "linear"}, expected=sampled_linear, **DATA)
        return
    yield case("linear", "linear", x, grid)
    yield case("cubic", "cubic", x, grid, align_corners=1)
    if element != "float":
        return
    for mode, padding, corners in itertools.product(
        ("linear", "cubic", "nearest"), ("zeros", "border", "reflection"), (0, 1)
    ):
        far = draw((1, 3, 2, 2), coordinates, -3, 3)
        yield case(f"{mode}_{padding}{corners}", mode, x, far, padding_mode=padding, align_corners=corners)
    if version >= 20:
        yield case("volume", "linear", draw((2, 1, 3, 4, 2), element), draw((2, 2, 1, 3, 3), coordinates, -1.2, 1.2))
        yield case("line", "linear", draw((2, 1, 5), element), draw((2, 3, 1), coordinates, -1.2, 1.2))
