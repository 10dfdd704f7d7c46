"""Functions of constants have the bits that they have of numbers that a run is given."""

import numpy as np
import onnx.parser
import pytest
import strata

FUNCTIONS = ["Exp", "Log", "Erf", "Tanh", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh",
             "Atanh", "Sigmoid", "Softplus", "Mish", "Elu", "Selu", "Celu", "Gelu", "Swish"]  # fmt: skip

#: Shapes of the operand and the result, and what is computed; F is each of some functions.
PROGRAMS = {
    "number": ("", "", "y = F (c)"),
    "chain": ("1", "1", "a = F (c) b = Mul (a, c) d = Exp (b) y = Tanh (d)"),
    "broadcast": ("1", "7", "a = F (c) y = Add (a, x)"),
    "expanded": ("1", "5", "s = Constant <value_ints = [5]> () e = Expand (c, s) y = F (e)"),
    "sum": ("5", "", "a = F (c) y = ReduceSum <keepdims = 0> (a)"),
    "logarithm of a sum": ("5", "", "y = ReduceLogSumExp <keepdims = 0> (c)"),
    "softmax": ("5", "5", "a = F (c) y = Softmax (a)"),
    "power": ("1", "1", "a = Abs (c) y = Pow (a, c)"),
    "running sum": ("1", "1", "i = Constant <value_int = 0> () s = CumSum (c, i) y = F (s)"),
    "range": ("", "n", "o = Constant <value_float = 1.0> () l = Add (c, o) e = Range (c, l, o) y = F (e)"),
    "condition": ("1", "7", "b = Less (x, c) a = F (c) y = Where (b, a, x)"),
    "branch": (
        "1",
        "1",
        """t = Constant <value = bool {1}> () y = If (t) <then_branch = t () => (float[1] p) { p = F (c) },
        else_branch = e () => (float[1] q) { q = Neg (c) }>""",
    ),
}


def compiled(operand, result, body, constant=None, **options):
    c = f"float[{operand}] c" if operand else "float c"
    inputs, constants = (f", {c}", "") if constant is None else ("", f"<{c} = {{{constant}}}>")
    y = f"float[{result}] y" if result else "float y"
    text = f'<ir_version: 10, opset_import: ["" : 24]> g (float[7] x{inputs}) => ({y}) {constants} {{ {body} }}'
    return strata.compile(onnx.parser.parse_model(text), threads=1, **options)


def check(operand, result, body, numbers, **options):
    x = np.linspace(-1, 1, 7, dtype=np.float32)
    shape = [int(d) for d in operand.split(",") if d]
    given = compiled(operand, result, body, **options)
    for number in numbers:
        c = np.full(shape, number, np.float32)
        constant = ", ".join(f"{v:.9g}" for v in c.ravel())
        folded = compiled(operand, result, body, constant=constant, **options).run({"x": x})[0]
        assert folded.tobytes() == given.run({"x": x, "c": c})[0].tobytes(), number


def numbers(function, count):
    rng = np.random.default_rng(FUNCTIONS.index(function))
    return rng.uniform(0.05, 0.95, count).astype(np.float32) + np.float32(function == "Acosh")


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("target", [None, "x86-64"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions(function, target, size):
    c = numbers(function, 12)  # libm gives other bits for some of a dozen
    outputs = ", ".join(f"float[{size}] y{i}" for i in range(c.size))
    constants = ", ".join(f"float[{size}] c{i} = {{{', '.join([f'{v:.9g}'] * size)}}}" for i, v in enumerate(c))
    body = " ".join(f"y{i} = {function} (c{i})" for i in range(c.size))
    text = f'<ir_version: 10, opset_import: ["" : 24]> g () => ({outputs}) <{constants}> {{ {body} }}'
    folded = strata.compile(onnx.parser.parse_model(text), threads=1, target=target).run({})
    given = compiled(str(size), str(size), f"y = {function} (c)", target=target)
    for number, result in zip(c, folded, strict=True):
        run = given.run({"x": np.zeros(7, np.float32), "c": np.full(size, number)})[0]
        assert result.tobytes() == run.tobytes(), number


@pytest.mark.parametrize("function", ["Tanh", "Sin", "Acosh"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program, function):
    operand, result, body = PROGRAMS[program]
    check(operand, result, body.replace("F (", f"{function} ("), numbers(function, 6))


def test_without_optimisation():
    check("1", "1", "a = Tanh (c) y = Sin (a)", numbers("Tanh", 6), opt_level=0)
