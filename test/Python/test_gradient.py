"""Gradients against central differences of the same function in NumPy."""

import numpy as np
import onnx.parser
import pytest
import strata

SHAPES = {"a": (3, 4), "b": (4,), "m": (4, 2), "t": (2, 4), "s": ()}


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


# What is differentiated, as ONNX's text and in NumPy: by all of its inputs.
FUNCTIONS = {
    "Abs": ("y = Abs (a)", lambda a: np.abs(a)),
    "Add": ("y = Add (a, b)", lambda a, b: a + b),
    "Cast": ("f = Cast <to = 1> (a) y = Cast <to = 11> (f)", lambda a: a),
    "Cos": ("y = Cos (a)", np.cos),
    "Div": ("y = Div (b, a)", lambda b, a: b / a),
    "Erf": ("y = Erf (a)", lambda a: np.vectorize(__import__("math").erf)(a)),
    "Exp": ("y = Exp (a)", np.exp),
    "Expand": ("i = Constant <value_ints = [3, 4]> () y = Expand (b, i)", lambda b: np.broadcast_to(b, (3, 4))),
    "Flatten": ("y = Flatten <axis = 0> (a)", lambda a: a.reshape(1, -1)),
    "Gemm": ("y = Gemm <alpha = 0.5, beta = 2.0> (a, m, s)", lambda a, m, s: 0.5 * a @ m + 2 * s),
    "Gemm_transposed": ("y = Gemm <transA = 1, transB = 1, alpha = 3.0> (m, t2)", lambda m, t2: 3 * m.T @ t2.T),
    "Gemm_transB": ("y = Gemm <transB = 1> (a, t)", lambda a, t: a @ t.T),
    "Gemm_transA": ("y = Gemm <transA = 1> (m, w)", lambda m, w: m.T @ w),
    "Identity": ("y = Identity (a)", lambda a: a),
    "Log": ("p = Mul (a, a) y = Log (p)", lambda a: np.log(a * a)),
    "LogSoftmax": ("y = LogSoftmax <axis = 0> (a)", lambda a: np.log(softmax(a, 0))),
    "MatMul": ("y = MatMul (a, m)", lambda a, m: a @ m),
    "MatMul_batch": ("y = MatMul (a, n)", lambda a, n: a @ n),
    "Mul": ("y = Mul (a, b)", lambda a, b: a * b),
    "Mul_scalar": ("y = Mul (s, a)", lambda s, a: s * a),
    "Mul_self": ("y = Mul (a, a)", lambda a: a * a),
    "Neg": ("y = Neg (a)", lambda a: -a),
    "Pow": ("p = Abs (a) y = Pow (p, b)", lambda a, b: np.abs(a) ** b),
    "Reciprocal": ("y = Reciprocal (a)", lambda a: 1 / a),
    "ReduceMean": ("y = ReduceMean <keepdims = 0> (a, axis)", lambda a: a.mean(1)),
    "ReduceMean_all": ("y = ReduceMean <keepdims = 0> (a)", lambda a: a.mean()),
    "ReduceSum": ("q = ReduceSum (a, axis) y = Mul (q, a)", lambda a: a.sum(1, keepdims=True) * a),
    "Relu": ("y = Relu (a)", lambda a: np.maximum(a, 0)),
    "Reshape": ("i = Constant <value_ints = [2, -1]> () y = Reshape (a, i)", lambda a: a.reshape(2, -1)),
    "Sigmoid": ("y = Sigmoid (a)", lambda a: 1 / (1 + np.exp(-a))),
    "Sin": ("y = Sin (a)", np.sin),
    "Softmax": ("y = Softmax (a)", lambda a: softmax(a, -1)),
    "Softplus": ("y = Softplus (a)", lambda a: np.log1p(np.exp(a))),
    "Sqrt": ("p = Abs (a) y = Sqrt (p)", lambda a: np.sqrt(np.abs(a))),
    "Sub": ("y = Sub (b, a)", lambda b, a: b - a),
    "Sum": ("y = Sum (a, b, s, a)", lambda a, b, s: 2 * a + b + s),
    "Tanh": ("y = Tanh (a)", np.tanh),
    "Transpose": ("y = Transpose <perm = [1, 0]> (a)", lambda a: a.T),
    "Unsqueeze": ("u = Unsqueeze (a, axis) y = Squeeze (u, axis)", lambda a: a),
    "Where": ("zero = Constant <value = double {0.0}> () c = Less (a, zero) y = Where (c, a, b)",
              lambda a, b: np.where(a < 0, a, b)),
}
SHAPES |= {"t2": (5, 4), "w": (4, 3), "n": (5, 4, 2)}


def compile_gradient(inputs, body, y="loss", xs=None, zs=(), values=None, results=None):
    """A model of the inputs' gradients of `y`, all numbers double."""
    declared = ", ".join(f"double{list(SHAPES[name])} {name}" for name in inputs)
    outputs = [f"d{i}" for i in range(len(xs or inputs))]
    quoted = lambda names: "[" + ", ".join(f'"{name}"' for name in names) + "]"
    zs_attribute = f", zs = {quoted(zs)}" if zs else ""
    text = f"""<ir_version: 10, opset_import: ["" : 22, "ai.onnx.preview.training" : 1]>
    g ({declared}) => ({', '.join(f'double[*] {name}' for name in results or outputs)}) {{
      axis = Constant <value_ints = [1]> ()
      {body}
      {', '.join(outputs)} = ai.onnx.preview.training.Gradient <xs = {quoted(xs or inputs)}{zs_attribute}, y = "{y}">
        ({', '.join(values or [*(xs or inputs), *zs])})
    }}""".replace("double[*]", "double").replace("double[]", "double")
    model = onnx.parser.parse_model(text)
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return strata.compile(model, threads=1)


def differences(function, arguments, index, step=1e-6):
    """The derivative of the weighted sum of `function` with respect to one argument."""

    def loss(x):
        y = np.asarray(function(*arguments[:index], x, *arguments[index + 1:]))
        return (y * weights(y.shape)).sum()

    x, out = arguments[index], np.zeros(arguments[index].shape)
    for at in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][at] += step
        moved[1][at] -= step
        out[at] = (loss(moved[0]) - loss(moved[1])) / (2 * step)
    return out


def weights(shape):
    """Of the elements of y: different ones, so that a swapped element shows."""
    return np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rule(name):
    body, function = FUNCTIONS[name]
    inputs = list(function.__code__.co_varnames[:function.__code__.co_argcount]) if hasattr(function, "__code__") else ["a"]
    random = np.random.default_rng(7)
    arguments = [np.asarray(random.uniform(0.3, 1.7, SHAPES[i]) * random.choice([-1, 1], SHAPES[i])) for i in inputs]
    if name in ("Softmax", "LogSoftmax", "Cast"):
        arguments = [x.astype(np.float32).astype(np.float64) for x in arguments]
    shape = np.asarray(function(*arguments)).shape
    factors = ", ".join(repr(float(w)) for w in weights(shape).flat)
    dims = ",".join(map(str, shape))
    body += f" factors = Constant <value = double[{dims}] {{{factors}}}> () product = Mul (y, factors)"
    body += " loss = ReduceSum <keepdims = 0> (product)"
    if shape == ():
        body = body.replace("double[]", "double")
    results = compile_gradient(inputs, body).run(dict(zip(inputs, arguments)))
    for i, result in enumerate(results):
        # Cast goes through float: its derivative is 1, which differences of rounded numbers do not show.
        np.testing.assert_allclose(result, differences(function, arguments, i), rtol=1e-6, atol=1e-8)


def test_second_derivative():
    x = np.linspace(-1, 1, 12).reshape(3, 4)
    body = """z = Sin (a) first = ai.onnx.preview.training.Gradient <xs = ["a"], y = "z"> (a)"""
    (result,) = compile_gradient(["a"], body, y="first").run({"a": x})
    np.testing.assert_allclose(result, -np.sin(x), rtol=1e-12)


def test_at_other_values():
    """d(a·b)/da at a = s·b, b = a + b is a + b; the graph's own a and b count for nothing."""
    a, b = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    body = "y = Mul (a, b) loss = Exp (y) u = Neg (b) v = Add (b, b)"
    (result,) = compile_gradient(["a", "b"], body, xs=["a"], zs=["b"], values=["a", "v"]).run({"a": a, "b": b / 100})
    np.testing.assert_allclose(result, np.exp(a * b / 50) * b / 50, rtol=1e-12)


def test_same_value_for_two_names():
    a = np.arange(12.0).reshape(3, 4)
    SHAPES["a2"] = (3, 4)
    body = "p = Mul (a2, a2) loss = Mul (a, p)"
    results = compile_gradient(["a", "a2"], body, values=["a", "a"]).run({"a": a, "a2": a + 1})
    np.testing.assert_allclose(results[0], a * a)
    np.testing.assert_allclose(results[1], 2 * a * a)


def test_independent():
    (da, db) = compile_gradient(["a", "b"], "loss = Exp (a)").run({"a": np.ones((3, 4)), "b": np.ones(4)})
    np.testing.assert_array_equal(db, np.zeros(4))


@pytest.mark.parametrize("body, message", [
    ("loss = CumSum (a, axis0)", r"Gradient.*|'onnx.CumSum_14' op cannot be differentiated: there is no rule"),
    ("other = Exp (a)", "no value before it is named 'loss'"),
])
def test_refused(body, message):
    body = "axis0 = Constant <value_int = 0> () " + body
    with pytest.raises(strata.CompileError, match=message):
        compile_gradient(["a"], body)
