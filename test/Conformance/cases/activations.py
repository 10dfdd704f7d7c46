"""Activations with parameters."""

import numpy as np
from Conformance.cases.unary import erf, legacy
from Conformance.table import Case, cases, is_float


def selu(x, alpha, gamma):
    return gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def gelu(x, approximate):
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + erf(x / np.sqrt(2)))


def single(value):
    return float(np.float32(value))


# Operator: ([defaults, other values], function), both as keyword arguments.
PARAMETERS = {
    "Celu": (
        [{"alpha": 1.0}, {"alpha": 2.5}],
        lambda x, alpha: np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(np.minimum(x, 0) / alpha)),
    ),
    "Elu": ([{"alpha": 1.0}, {"alpha": 0.5}], lambda x, alpha: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)),
    "HardSigmoid": (
        [{"alpha": 0.2, "beta": 0.5}, {"alpha": 0.5, "beta": 0.6}, {"alpha": -1.0, "beta": 0.25}],
        lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1),
    ),
    "LeakyRelu": ([{"alpha": 0.01}, {"alpha": -0.5}], lambda x, alpha: np.where(x < 0, alpha * x, x)),
    "Selu": ([{"alpha": 1.67326319, "gamma": 1.05070102}, {"alpha": 2.0, "gamma": 3.0}], selu),
    "ThresholdedRelu": ([{"alpha": 1.0}, {"alpha": -0.5}], lambda x, alpha: np.where(x > alpha, x, 0)),
    "Gelu": ([{"approximate": "none"}, {"approximate": "tanh"}], gelu),
    "Swish": ([{"alpha": 1.0}, {"alpha": 2.0}], lambda x, alpha: x / (1 + np.exp(-alpha * x))),
    "Shrink": (
        [{"bias": 0.0, "lambd": 0.5}, {"bias": 1.0, "lambd": 1.5}],
        lambda x, bias, lambd: np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0)),
    ),
}  # fmt: skip


@cases(*PARAMETERS)
def activations(op, version, types, draw):
    choices, function = PARAMETERS[op]
    if (op, version) == ("Selu", 1):
        choices = [{"alpha": 1.6732, "gamma": 1.0507}, *choices]
    element = types["T"]
    for number, parameters in enumerate(choices):
        values = {n: v if isinstance(v, str) else single(v) for n, v in parameters.items()}

        def expected(x, values=values):
            return function(x.astype(np.float64), **values)

        attributes = dict(legacy(op, version)) if number == 0 else {**legacy(op, version), **parameters}
        x = draw((3, 5), element, -3, 4)
        if is_float(element):
            x[0, :3] = [0, np.nan, 1]
        yield Case(f"{number}", [x], attributes, expected=expected)
    first = {n: v if isinstance(v, str) else single(v) for n, v in choices[0].items()}
    for name, shape in (("scalar", ()), ("empty", (2, 0))):
        yield Case(name, [draw(shape, element)], expected=lambda x: function(x.astype(np.float64), **first))


@cases("Relu")
def relu(op, version, types, draw):
    for name, shape in (("special", (3, 5)), ("scalar", ()), ("empty", (0,))):
        x = draw(shape, types["T"], special=True)
        yield Case(name, [x], legacy(op, version), expected=lambda x: np.where(x < 0, np.zeros_like(x), x))


@cases("PRelu")
def prelu(op, version, types, draw):
    def expected(x, slope):
        if version < 7 and slope.size > 1:  # one slope for each channel
            slope = slope.reshape(-1, *[1] * (x.ndim - 2))
        return np.where(x < 0, slope * x, x)

    x = draw((2, 3, 4), types["T"])
    shapes = (
        {"one": (1,), "channels": (3,)}
        if version < 7
        else {"one": (1,), "scalar": (), "last": (4,), "channels": (3, 1)}
    )
    attributes = {"consumed_inputs": [0, 0]} if version < 6 else {}
    for name, shape in shapes.items():
        yield Case(name, [x, draw(shape, types["T"])], attributes, expected=expected)
    if version < 7:
        yield Case("square", [draw((2, 3), types["T"]), draw((3,), types["T"])], expected=expected)
    yield Case("empty", [x[:0], draw((1,), types["T"])], expected=expected)


@cases("SwiGLU")
def swiglu(op, version, types, draw):
    def expected(alpha):
        return lambda a, b: a / (1 + np.exp(-alpha * a)) * b

    element = types["T"]
    yield Case("default", [draw((2, 3), element), draw((2, 3), element)], expected=expected(1))
    yield Case("alpha", [draw((2, 3), element), draw((2, 3), element)], {"alpha": 2.0}, expected=expected(2))
    yield Case("empty", [draw((0, 3), element), draw((0, 3), element)], expected=expected(1))
