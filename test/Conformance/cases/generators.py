"""Operators that make tensors: constants, ranges, windows."""

import math

import numpy as np
from Conformance import schemas
from Conformance.table import Case, array, cases, is_float, is_integer, limits
from onnx import helper, numpy_helper

DATA = {"wide": False}


@cases("Constant")
def constant(op, version, types, draw):
    element = types["T"]
    forms = [("tensor", (2, 3))]
    if element in ("float", "string", "int4"):
        forms += [("scalar", ()), ("empty", (0, 2)), ("one", (1,))]
    for name, dims in forms:
        special = element in ("float", "double", "int64", "float16") and name == "tensor"
        value = draw(dims, element, special=special)
        yield Case(name, [], {"value": numpy_helper.from_array(value)}, expected=lambda value=value: value, **DATA)
    if version >= 12 and element in ("float", "int64", "string"):
        given = {"float": [1.5, -2.0, 3e38], "int64": [-(2**63), 7, 2**63 - 1], "string": ["", "naïve", "b"]}[element]
        attribute = {"float": "value_float", "int64": "value_int", "string": "value_string"}[element]
        yield Case("one_attribute", [], {attribute: given[1]}, expected=lambda: array(given[1], element), **DATA)
        yield Case("list_attribute", [], {f"{attribute}s": given}, expected=lambda: array(given, element), **DATA)
    if version in (11, 13, 25) and element in ("float", "int64"):
        for name, dims, places in (
            ("flat", (3, 4), [1, 5, 11]),
            ("pairs", (3, 4), [[0, 1], [1, 1], [2, 3]]),
            ("no_values", (2, 2), []),
        ):
            stored = draw((len(places),), element, 1, 4)
            sparse = helper.make_sparse_tensor(
                numpy_helper.from_array(stored), numpy_helper.from_array(array(places)), list(dims)
            )

            def expected(dims=dims, places=places, stored=stored):
                result = np.zeros(dims, stored.dtype)
                for place, value in zip(places, stored):
                    result[np.unravel_index(place, dims) if isinstance(place, int) else tuple(place)] = value
                return result

            yield Case(f"sparse_{name}", [], {"sparse_value": sparse}, expected=expected, **DATA)


@cases("ConstantOfShape")
def constant_of_shape(op, version, types, draw):
    element = types["T2"]
    value = draw((1,), element, 1, 4)

    def filled(value):
        return lambda shape: np.full([int(n) for n in shape], value[0], value.dtype)

    forms = [("matrix", [2, 3])]
    if element in ("float", "bool", "int8"):
        forms += [("scalar", []), ("empty", [2, 0, 3]), ("vector", [5])]
    for name, shape in forms:
        attributes = {"value": numpy_helper.from_array(value)}
        yield Case(name, [array(shape)], attributes, constants=[0], expected=filled(value), **DATA)
    if element == "float":
        yield Case("default", [array([3])], constants=[0], expected=filled(np.zeros(1, np.float32)), **DATA)
        for number, extreme in enumerate(draw.special("float") if version >= 25 else ()):
            attributes = {"value": numpy_helper.from_array(np.array([extreme]))}
            yield Case(
                f"extreme{number}",
                [array([2])],
                attributes,
                constants=[0],
                expected=filled(np.array([extreme])),
                **DATA,
            )
    if is_integer(element) and version in (9, 25):
        for extreme in limits(element):
            held = array([extreme], element)
            yield Case(
                f"is{extreme}",
                [array([2])],
                {"value": numpy_helper.from_array(held)},
                constants=[0],
                expected=filled(held),
                **DATA,
            )


@cases("Range")
def ranges(op, version, types, draw):
    element = types["T"]
    forms = [("up", 1, 10, 2), ("down", 10, -3, -4), ("none", 3, 3, 1), ("wrong_way", 3, 9, -1), ("one", 0, 1, 5)]
    if is_float(element):
        forms += [("fractions", 0.5, 3, 0.25), ("inexact", 0, 1, 0.125), ("uneven", -1, 2.25, 0.5)]
    else:
        least, most = limits(element)
        forms += [
            ("top", most - 5, most, 2),
            ("bottom", least + 5, least, -2),
            ("far", least // 2, most // 2, most // 4),
        ]
    if element in ("float16", "bfloat16"):
        forms.append(("long", 0, 64, 0.25))
    for name, start, limit, delta in forms:

        def expected(*_, start=start, limit=limit, delta=delta):
            if is_float(element):
                return start + np.arange(max(math.ceil((limit - start) / delta), 0), dtype=np.float64) * delta
            return np.array(range(start, limit, delta), object).astype(schemas.dtype(element))

        yield Case(
            name, [array(v, element) for v in (start, limit, delta)], constants=[0, 1, 2], expected=expected, **DATA
        )
    if version >= 27 and element in ("float16", "bfloat16"):
        # 257 has no bfloat16: summed in that type, 256 would stay where it is.
        def wanted(*_):
            return 254 + np.arange(20, dtype=np.float64)

        operands = [array(v, element) for v in (254, 274, 1)]
        yield Case("stashed", operands, {"stash_type": 1}, constants=[0, 1, 2], expected=wanted, **DATA)


WINDOWS = {"HannWindow": (0.5, 0.5, 0), "HammingWindow": (25 / 46, 21 / 46, 0), "BlackmanWindow": (0.42, 0.5, 0.08)}


@cases(*WINDOWS)
def windows(op, version, types, draw):
    element = types["T2"]
    a, b, c = WINDOWS[op]
    forms = [(10, 1), (7, 0)] if element != "float" else [(10, 1), (7, 0), (1, 1), (2, 0), (64, 1), (65, 0)]
    for size, periodic in forms:
        if not is_float(element) and (size, periodic) != (10, 1):
            continue
        if not is_float(element) and op == "BlackmanWindow":
            size = 9  # without the peak, whose three summands make 1 but for rounding

        def expected(_, size=size, periodic=periodic):
            angle = 2 * np.pi * np.arange(size) / (size if periodic else size - 1)
            window = a - b * np.cos(angle) + c * np.cos(2 * angle)
            return window if is_float(element) else np.trunc(np.round(window, 6)).astype(schemas.dtype(element))

        attributes = {"output_datatype": schemas.code(element), "periodic": periodic}
        # The function's body computes in float.
        yield Case(
            f"{size}_periodic{periodic}",
            [array(size, types["T1"])],
            attributes,
            constants=[0],
            expected=expected,
            atol=2**-7 if element == "bfloat16" else 1e-3 if element == "float16" else 1e-6,
        )


@cases("MelWeightMatrix")
def mel_weights(op, version, types, draw):
    ints, reals, element = types["T1"], types["T2"], types["T3"]

    def case(name, bands, length, rate, low, high):
        operands = [array(v, ints) for v in (bands, length, rate)] + [array(v, reals) for v in (low, high)]
        return Case(name, operands, {"output_datatype": schemas.code(element)}, constants=[0, 1, 2], atol=1e-6)

    yield case("small", 8, 16, 8192, 0, 4096)
    if element == "float":
        yield case("wide", 20, 256, 16000, 64, 7680)
        yield case("few", 2, 32, 8000, 128, 2048)
