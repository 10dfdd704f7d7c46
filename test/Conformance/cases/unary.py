"""Functions of each element alone."""

import numpy as np
from Conformance.table import Case, cases, is_float


def erf(x):
    import math

    return np.vectorize(math.erf, otypes=[np.float64])(x)


FUNCTIONS = {
    "Ceil": np.ceil, "Floor": np.floor, "Exp": np.exp, "Log": np.log, "Sqrt": np.sqrt, "Reciprocal": lambda x: 1 / x,
    "Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan,
    "Sinh": np.sinh, "Cosh": np.cosh, "Tanh": np.tanh, "Asinh": np.arcsinh, "Acosh": np.arccosh,
    "Atanh": np.arctanh, "Erf": erf, "Round": np.rint, "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Softplus": lambda x: np.logaddexp(x, 0), "Softsign": lambda x: x / (1 + np.abs(x)),
    "Mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}  # fmt: skip
# Where infinities and extremes are more than the formula above can say.
TAME = {"Softsign", "Mish", "HardSwish"}


def legacy(op, version):
    """Operators of before opset 6 may say which inputs they overwrite."""
    from Conformance import schemas

    return {"consumed_inputs": [0]} if "consumed_inputs" in schemas.live()["ai.onnx", op, version].attributes else {}


@cases(*FUNCTIONS)
def functions(op, version, types, draw):
    element, function = types["T"], FUNCTIONS[op]

    def expected(x):
        return function(x.astype(np.float64)) if is_float(element) else function(x)

    x = draw((4, 5), element, -3, 4, special=op not in TAME)
    yield Case("special", [x], legacy(op, version), expected=expected)
    yield Case("scalar", [draw((), element, 0.5, 1)], expected=expected)
    yield Case("empty", [draw((0, 3), element)], expected=expected)


def negated(x):
    return np.negative(x)  # wraps


@cases("Abs", "Neg", "Sign")
def arithmetic(op, version, types, draw):
    function = {"Abs": np.abs, "Neg": np.negative, "Sign": np.sign}[op]
    for name, shape in (("special", (3, 6)), ("scalar", ()), ("empty", (2, 0))):
        yield Case(name, [draw(shape, types["T"], special=True)], legacy(op, version), expected=function)


@cases("Not")
def logical_not(op, version, types, draw):
    for name, shape in (("plain", (3, 4)), ("scalar", ()), ("empty", (0,))):
        yield Case(name, [draw(shape, "bool")], expected=np.logical_not)


@cases("BitwiseNot")
def bitwise_not(op, version, types, draw):
    for name, shape in (("plain", (3, 4)), ("scalar", ()), ("empty", (0,))):
        yield Case(name, [draw(shape, types["T"], special=True)], expected=np.invert)


@cases("IsNaN", "IsInf")
def classes(op, version, types, draw):
    element = types["T1"]
    inf = element not in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2fnuz")
    x = draw((4, 5), element, special=True)
    yield Case(
        "special",
        [x],
        expected=(lambda x: x != x) if op == "IsNaN" else np.isinf if inf else lambda x: np.zeros(x.shape, bool),
        wide=False,
    )
    if op == "IsInf":
        for positive, negative in ((0, 1), (1, 0), (0, 0)):

            def expected(x, p=positive, n=negative):
                x = x.astype(np.float64)
                return ((x == np.inf) & bool(p)) | ((x == -np.inf) & bool(n)) & inf

            yield Case(
                f"positive{positive}_negative{negative}",
                [x],
                {"detect_positive": positive, "detect_negative": negative},
                expected=expected,
                wide=False,
            )
    yield Case("empty", [draw((0, 2), element)], expected=lambda x: np.zeros(x.shape, bool))
