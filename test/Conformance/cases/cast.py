"""Cast and CastLike between all pairs of types, and BitCast."""

import numpy as np
from Conformance import schemas
from Conformance.casting import FLOAT8, cast, reinterpreted, source_values
from Conformance.table import Case, array, cases

SELDOM = "older versions of Cast and CastLike: static shapes only, but for float"


def casting(version, source, target):
    """(name, input, attributes, expected)"""
    x = source_values(source, target)

    def expected(**options):
        return lambda x, *_: cast(x, source, target, **options)

    yield "values", x, {}, expected()
    if version >= 19 and target in FLOAT8 | {"float8e8m0"} and source in ("float", "double", "float16", "bfloat16"):
        positive = x if target in FLOAT8 else x[~(x == 0)]
        yield "not_saturated", positive, {"saturate": 0}, expected(saturate=False)
        if target == "float8e8m0":
            for mode in ("up", "down", "nearest"):
                yield (
                    mode,
                    positive[np.isfinite(positive.astype(np.float64))],
                    {"round_mode": mode},
                    expected(mode=mode),
                )
    if source == "float" or target == "float":
        yield "scalar", x[:1].reshape(()), {}, expected()
        yield "empty", x[:0].reshape(0, 2), {}, expected()


@cases("Cast", "CastLike", pairs=True)
def casts(op, version, types, draw):
    source, target = types["T1"], types["T2"]
    if "string" in (source, target) and "bool" in (source, target):
        return  # no text says how
    newest = version == schemas.history("ai.onnx", op)[-1].since_version
    for name, x, attributes, expected in casting(version, source, target):
        dynamic = True if newest or "float" in (source, target) else SELDOM
        if op == "CastLike":
            like = array(np.zeros(1) if target == "string" else np.ones(2), target)
            yield Case(name, [x, like], attributes, expected=expected, wide=False, dynamic=dynamic)
            continue
        to = schemas.code(target)
        to = target.upper() if version == 1 else to
        yield Case(name, [x], {"to": to, **attributes}, expected=expected, wide=False, dynamic=dynamic)


@cases("BitCast", pairs=True)
def bit_cast(op, version, types, draw):
    source, target = types["T1"], types["T2"]
    to = {"to": schemas.code(target)}
    if schemas.bits(source) != schemas.bits(target):
        return
    if schemas.bits(source) < 8:
        codes = np.arange(2 ** schemas.bits(source), dtype=np.uint8)
        result = reinterpreted(codes, target)
        yield Case("codes", [reinterpreted(codes, source)], to, expected=lambda _: result, wide=False)
        return
    x = array([0, 1, 1], "bool").view(np.uint8) if "bool" in (source, target) else draw((3,), "int8").repeat(16)
    x = np.ascontiguousarray(x).view(schemas.dtype(source))

    def expected(x):
        return np.atleast_1d(x).view(schemas.dtype(target)).reshape(x.shape)

    yield Case("plain", [x], to, expected=expected, wide=False)
    yield Case("scalar", [x[1]], to, expected=expected, wide=False)
    yield Case("empty", [x[:0]], to, expected=expected, wide=False)
