"""ai.onnx.preview.training and ai.onnx.preview."""

import numpy as np
from Conformance import schemas
from Conformance.table import Case, Impossible, array, cases
from onnx import TensorProto, helper

TRAINING = "ai.onnx.preview.training"


def rate_and_count(types, count, rate=0.1):
    return [array(rate, types["T1"]), np.array(count)]


def single(value):
    """Attributes are of single precision."""
    return float(np.float32(value))


def per_tensor(groups, rule):
    """`rule(r, t, x, g, states...)` over the tensors; all new ones first, then all states of each kind."""

    def expected(r, t, *inputs):
        r, t, count = float(r), int(t), len(inputs) // groups
        results = [rule(r, t, *(v.astype(np.float64) for v in inputs[i::count])) for i in range(count)]
        return tuple(np.asarray(value) for kind in zip(*results) for value in kind)

    return expected


def adagrad(decay=0.0, epsilon=1e-6, norm=0.0):
    decay, epsilon, norm = single(decay), single(epsilon), single(norm)

    def rule(r, t, x, g, h):
        g = norm * x + g
        h = h + g * g
        return x - r / (1 + t * decay) * g / (np.sqrt(h) + epsilon), h

    return per_tensor(3, rule)


def adam(alpha=0.9, beta=0.999, epsilon=1e-6, norm=0.0, post=0.0):
    alpha, beta, epsilon, norm, post = map(single, (alpha, beta, epsilon, norm, post))

    def rule(r, t, x, g, v, h):
        g = norm * x + g
        v, h = alpha * v + (1 - alpha) * g, beta * h + (1 - beta) * g * g
        r = r * np.sqrt(1 - beta**t) / (1 - alpha**t) if t > 0 else r
        return (1 - post) * (x - r * v / (np.sqrt(h) + epsilon)), v, h

    return per_tensor(4, rule)


def momentum(alpha, beta, norm, mode):
    alpha, beta, norm = map(single, (alpha, beta, norm))

    def rule(r, t, x, g, v):
        g = norm * x + g
        v = alpha * v + (beta if t > 0 else 1) * g
        return x - r * (g + alpha * v if mode == "nesterov" else v), v

    return per_tensor(3, rule)


SHAPES = ((2, 3), (), (0, 4))


def tensors(draw, element, groups):
    """Three tensors, their gradients and states (which are not negative)."""
    return [abs(draw(shape, element)) if kind >= 2 else draw(shape, element) for kind in range(groups) for shape in SHAPES]


def optimizer(types, draw, groups, forms):
    inputs = tensors(draw, types["T3"], groups)
    for name, count, attributes, exact in forms:
        def expected(*values, exact=exact):
            return tuple(array(v, types["T3"]) for v in exact(*values))

        yield Case(name, [*rate_and_count(types, count), *inputs], attributes, 3 * (groups - 1), expected=expected, rtol=1e-5, atol=1e-6)
        yield Case(f"{name}_one", [*rate_and_count(types, count), *inputs[::3]], attributes, groups - 1, expected=expected,
                   rtol=1e-5, atol=1e-6)  # fmt: skip


@cases("Adagrad", domain=TRAINING, pairs=True)
def adagrad_cases(op, version, types, draw):
    yield from optimizer(types, draw, 3, (
        ("default", 0, {}, adagrad()),
        ("decay", 5, {"decay_factor": 0.1, "epsilon": 1e-3, "norm_coefficient": 0.01}, adagrad(0.1, 1e-3, 0.01)),
    ))  # fmt: skip


@cases("Adam", domain=TRAINING, pairs=True)
def adam_cases(op, version, types, draw):
    given = {"alpha": 0.95, "beta": 0.85, "epsilon": 1e-2, "norm_coefficient": 0.001, "norm_coefficient_post": 0.1}
    yield from optimizer(types, draw, 4, (
        ("first", 0, {}, adam()), ("later", 7, {}, adam()), ("given", 3, given, adam(0.95, 0.85, 1e-2, 0.001, 0.1)),
    ))  # fmt: skip


@cases("Momentum", domain=TRAINING, pairs=True)
def momentum_cases(op, version, types, draw):
    for mode in ("standard", "nesterov"):
        given = {"alpha": 0.95, "beta": 0.85, "norm_coefficient": 0.01, "mode": mode}
        expected = momentum(0.95, 0.85, 0.01, mode)
        yield from optimizer(types, draw, 3, ((f"{mode}_first", 0, given, expected), (f"{mode}_later", 4, given, expected)))


@cases("Gradient", domain=TRAINING)
def gradient(op, version, types, draw):
    # The derivative of a value by itself, beside which another one (of any type) is held.
    if types["T2"] not in ("float", "double", "float16"):
        yield Impossible("gradients are of real numbers")
        return
    x, z = draw((2, 3), types["T2"]), draw((2,), types["T1"])
    names = lambda *which: lambda inputs: [inputs[i] for i in which]  # noqa: E731
    yield Case("by_itself", [x, z], {"xs": names(0), "zs": names(1), "y": lambda inputs: inputs[0]},
               expected=lambda x, z: array(np.ones_like(x), types["T2"]))  # fmt: skip
    if types["T1"] == types["T2"]:
        yield Case("of_another", [x, z], {"xs": names(0, 1), "y": lambda inputs: inputs[1]}, 2,
                   expected=lambda x, z: (array(np.zeros_like(x), types["T2"]), array(np.ones_like(z), types["T1"])))  # fmt: skip


def attention(scale, score=None, prob=None):
    def expected(q, k, v):
        repeats = q.shape[1] // k.shape[1]
        k, v = (np.repeat(a, repeats, 1) for a in (k, v))
        scores = q @ k.swapaxes(-1, -2) * (scale or 1 / np.sqrt(q.shape[-1]))
        scores = score(scores) if score else scores
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        shares = powers / powers.sum(-1, keepdims=True)
        return (prob(shares) if prob else shares) @ v

    return expected


def one_node(op, element, *more):
    """A subgraph of the scores (or probabilities) and a constant."""
    kind = schemas.code(element)
    value = helper.make_tensor_value_info
    constants = [helper.make_tensor(f"c{i}", kind, [], [c]) for i, c in enumerate(more)]
    node = helper.make_node(op, ["scores", *(c.name for c in constants)], ["modified"])
    shape = ["b", "h", "l", "s"]
    return helper.make_graph([node], "mod", [value("scores", kind, shape)], [value("modified", kind, shape)], constants)


@cases("FlexAttention", domain="ai.onnx.preview")
def flex_attention(op, version, types, draw):
    element = types["T1"]
    q, k, v = draw((2, 4, 3, 8), element, -1, 1), draw((2, 4, 5, 8), element, -1, 1), draw((2, 4, 5, 6), element, -1, 1)
    precision = "double" if element == "double" else "float"  # of the softmax, and of the subgraphs
    loose = {"float16": (5e-3, 5e-3), "bfloat16": (4e-2, 4e-2)}.get(element, (1e-4, 1e-5))
    for name, inputs, attributes, expected in (
        ("default", [q, k, v], {}, attention(None)),
        ("scale", [q, k, v], {"scale": 0.5}, attention(0.5)),
        ("grouped", [q, k[:, :2], v[:, :2]], {}, attention(None)),
        ("score", [q, k, v], {"score_mod": one_node("Tanh", precision)}, attention(None, np.tanh)),
        ("prob", [q, k, v], {"prob_mod": one_node("Mul", precision, 0.5)}, attention(None, None, lambda p: p / 2)),
        ("double", [q, k, v], {"softmax_precision": TensorProto.DOUBLE}, attention(None)),
    ):  # fmt: skip
        yield Case(name, inputs, attributes, expected=expected, rtol=loose[0], atol=loose[1])
