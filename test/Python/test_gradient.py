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
# An image, two filters of two channels each, a bias; a batch of sequences.
SHAPES |= {"x": (2, 4, 5, 6), "f": (6, 2, 3, 2), "c": (6,), "k": (4,)}


def convolve(x, f, c):
    """Strides 2 and 1, dilations 1 and 2, pads 1, 0, 2, 1, two groups."""
    x = np.pad(x, [(0, 0), (0, 0), (1, 2), (0, 1)])
    out = np.zeros((2, 6, (x.shape[2] - 3) // 2 + 1, x.shape[3] - 2))
    for m, i, j in np.ndindex(out.shape[1:]):
        group = slice(m // 3 * 2, m // 3 * 2 + 2)
        out[:, m, i, j] = (x[:, group, 2 * i : 2 * i + 3, j : j + 3 : 2] * f[m]).sum((1, 2, 3)) + c[m]
    return out


def pool(x, reduce):
    """Windows of 2 by 3, strides 2 and 1."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 3), (2, 3))[:, :, ::2]
    return reduce(windows, (-1, -2))


def pool_padded(x):
    ones, x = (np.pad(v, [(0, 0), (0, 0), (1, 1), (0, 0)]) for v in (np.ones_like(x), x))
    return pool(x, np.sum) / pool(ones, np.sum)


def layer_norm(a, b):
    return (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5) * b


FUNCTIONS |= {
    "Asinh": ("y = Asinh (a)", np.arcsinh),
    "Atan": ("y = Atan (a)", np.arctan),
    "Asin": ("s = Sin (a) y = Asin (s)", lambda a: np.arcsin(np.sin(a))),
    "Acos": ("s = Cos (a) y = Acos (s)", lambda a: np.arccos(np.cos(a))),
    "Acosh": ("s = Cosh (a) y = Acosh (s)", lambda a: np.abs(a)),
    "Atanh": ("s = Tanh (a) y = Atanh (s)", lambda a: a),
    "Sinh": ("y = Sinh (a)", np.sinh),
    "Tan": ("h = Constant <value = double {0.5}> () p = Mul (a, h) y = Tan (p)", lambda a: np.tan(a / 2)),
    "Floor": ("f = Floor (a) y = Mul (f, a)", lambda a: np.floor(a) * a),
    "Concat": ("y = Concat <axis = -1> (a, t3, a)", lambda a, t3: np.concatenate([a, t3, a], -1)),
    "Concat_first": ("y = Concat <axis = 0> (a, t)", lambda a, t: np.concatenate([a, t])),
    "Split": ("p, q = Split <axis = 1, num_outputs = 2> (a) y = Sub (q, p)", lambda a: a[:, 2:] - a[:, :2]),
    "Split_one": ("p, q = Split <axis = 1, num_outputs = 2> (a) y = Exp (q)", lambda a: np.exp(a[:, 2:])),
    "Slice": ("s = Constant <value_ints = [2, 3]> () e = Constant <value_ints = [-9, 0]> () d = Constant <value_ints = [-2, -1]> () "
              "i = Constant <value_ints = [0, 1]> () y = Slice (a, s, e, i, d)", lambda a: a[2::-2, 3:0:-1]),
    "Gather": ("i = Constant <value_ints = [2, 0, -1]> () y = Gather (a, i)", lambda a: a[[2, 0, -1]]),
    "GatherElements": ("i = Constant <value = int64[2, 3] {0, 1, 2, 2, 2, 2}> () y = GatherElements (a, i)",
                       lambda a: np.take_along_axis(a[:, :3], np.array([[0, 1, 2], [2, 2, 2]]), 0)),
    "Tile": ("i = Constant <value_ints = [2, 3]> () y = Tile (a, i)", lambda a: np.tile(a, (2, 3))),
    "Pad": ("i = Constant <value_ints = [1, 0, -1, 2]> () v = Constant <value = double {3.5}> () y = Pad (a, i, v)",
            lambda a: np.pad(a, [(1, 0), (0, 2)], constant_values=3.5)[:-1]),
    "Pad_reflect": ("i = Constant <value_ints = [2, 1, 0, 2]> () y = Pad <mode = \"reflect\"> (a, i)",
                    lambda a: np.pad(a, [(2, 0), (1, 2)], "reflect")),
    "Trilu": ("y = Trilu <upper = 0> (a)", np.tril),
    "DepthToSpace": ("y = DepthToSpace <blocksize = 2> (x)",
                     lambda x: x.reshape(2, 2, 2, 1, 5, 6).transpose(0, 3, 4, 1, 5, 2).reshape(2, 1, 10, 12)),
    "ScatterElements": ("i = Constant <value = int64[1, 4] {2, 0, 1, 2}> () u = Unsqueeze (b, axis0) y = ScatterElements (a, i, u)",
                        lambda a, b: np.where(np.arange(3)[:, None] == [2, 0, 1, 2], b, a)),
    "Resize": ("i = Constant <value_ints = [6, 4]> () y = Resize (a, , , i)", lambda a: a.repeat(2, 0)),
    "Max": ("y = Max (a, b, s)", lambda a, b, s: np.maximum(np.maximum(a, b), s)),
    "Min": ("y = Min (a, b)", lambda a, b: np.minimum(a, b)),
    "Mean": ("y = Mean (a, b, s)", lambda a, b, s: (a + b + s) / 3),
    "Clip": ("l = Constant <value = double {-0.7}> () u = Constant <value = double {0.9}> () y = Clip (a, l, u)",
             lambda a: np.clip(a, -0.7, 0.9)),
    "ReduceMax": ("y = ReduceMax <keepdims = 0> (a, axis)", lambda a: a.max(1)),
    "ReduceMin_all": ("y = ReduceMin (a)", lambda a: a.min(keepdims=True)),
    "CumSum": ("i = Constant <value_int = 1> () y = CumSum <exclusive = 1> (a, i)", lambda a: np.cumsum(a, 1) - a),
    "Dropout": ("y = Dropout (a)", lambda a: a),
    "Einsum": ("y = Einsum <equation = \"ij, jk -> ki\"> (a, m)", lambda a, m: (a @ m).T),
    "Conv": ("y = Conv <group = 2, strides = [2, 1], dilations = [1, 2], pads = [1, 0, 2, 1]> (x, f, c)", convolve),
    "MaxPool": ("y = MaxPool <kernel_shape = [2, 3], strides = [2, 1]> (x)", lambda x: pool(x, np.max)),
    "AveragePool": ("y = AveragePool <kernel_shape = [2, 3], strides = [2, 1]> (x)", lambda x: pool(x, np.mean)),
    "AveragePool_padded": ("y = AveragePool <kernel_shape = [2, 3], strides = [2, 1], pads = [1, 0, 1, 0]> (x)", pool_padded),
    "GlobalAveragePool": ("y = GlobalAveragePool (x)", lambda x: x.mean((2, 3), keepdims=True)),
    "GlobalMaxPool": ("y = GlobalMaxPool (x)", lambda x: x.max((2, 3), keepdims=True)),
    "BatchNormalization": ("q = Constant <value = double[4] {0.5, -1.0, 0.0, 2.0}> () v = Constant <value = double[4] {1.0, 2.0, 0.5, 4.0}> () "
                           "y = BatchNormalization <epsilon = 0.25> (x, k, c4, q, v)",
                           lambda x, k, c4: ((x.swapaxes(1, 3) - [0.5, -1, 0, 2]) / np.sqrt(np.array([1, 2, 0.5, 4]) + 0.25) * k + c4).swapaxes(1, 3)),
    # Through function bodies.
    "Elu": ("y = Elu (a)", lambda a: np.where(a < 0, np.expm1(a), a)),
    "LeakyRelu": ("y = LeakyRelu <alpha = 0.25> (a)", lambda a: np.where(a < 0, a / 4, a)),
    "Softsign": ("y = Softsign (a)", lambda a: a / (1 + np.abs(a))),
    "Gelu": ("y = Gelu (a)", lambda a: a / 2 * (1 + np.vectorize(__import__("math").erf)(a / np.sqrt(2)))),
    "HardSwish": ("y = HardSwish (a)", lambda a: a * np.clip(a / 6 + 0.5, 0, 1)),
    "Mish": ("y = Mish (a)", lambda a: a * np.tanh(np.log1p(np.exp(a)))),
    "ReduceL2": ("y = ReduceL2 <keepdims = 0> (a, axis)", lambda a: np.sqrt((a**2).sum(1))),
    "ReduceLogSumExp": ("y = ReduceLogSumExp (a, axis)", lambda a: np.log(np.exp(a).sum(1, keepdims=True))),
    "LayerNormalization": ("y = LayerNormalization (a, b)", layer_norm),
}  # fmt: skip
SHAPES |= {"t3": (3, 2), "c4": (4,)}
SHAPES |= {"t2": (5, 4), "w": (4, 3), "n": (5, 4, 2)}


def compile_gradient(inputs, body, y="loss", xs=None, zs=(), values=None, results=None):
    """A model of the inputs' gradients of `y`, all numbers double."""
    declared = ", ".join(f"double{list(SHAPES[name])} {name}" for name in inputs)
    outputs = [f"d{i}" for i in range(len(xs or inputs))]
    quoted = lambda names: "[" + ", ".join(f'"{name}"' for name in names) + "]"
    zs_attribute = f", zs = {quoted(zs)}" if zs else ""
    text = f"""<ir_version: 13, opset_import: ["" : 26, "ai.onnx.preview.training" : 1]>
    g ({declared}) => ({', '.join(f'double[*] {name}' for name in results or outputs)}) {{
      axis = Constant <value_ints = [1]> ()
      axis0 = Constant <value_ints = [0]> ()
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
    rtol = 1e-4 if name == "LayerNormalization" else 1e-6  # its body computes in float
    for i, result in enumerate(results):
        # Cast goes through float: its derivative is 1, which differences of rounded numbers do not show.
        np.testing.assert_allclose(result, differences(function, arguments, i), rtol=rtol, atol=1e-8)


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
    ("loss = CumProd (a, zero)", r"'onnx.CumProd_26' op cannot be differentiated: there is no rule"),
    ("other = Exp (a)", "no value before it is named 'loss'"),
])
def test_refused(body, message):
    body = "zero = Constant <value_int = 0> () " + body
    with pytest.raises(strata.CompileError, match=message):
        compile_gradient(["a"], body)
