"""RNN, GRU and LSTM, step by step."""

import numpy as np
from Conformance import schemas
from Conformance.cases.windows import allowed
from Conformance.table import Case, array, cases

ACTIVATIONS = {
    "Relu": lambda x, a, b: np.maximum(x, 0), "Tanh": lambda x, a, b: np.tanh(x),
    "Sigmoid": lambda x, a, b: 1 / (1 + np.exp(-x)), "Affine": lambda x, a, b: a * x + b,
    "LeakyRelu": lambda x, a, b: np.where(x >= 0, x, a * x), "ThresholdedRelu": lambda x, a, b: np.where(x >= a, x, 0),
    "ScaledTanh": lambda x, a, b: a * np.tanh(b * x), "HardSigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "Elu": lambda x, a, b: np.where(x >= 0, x, a * np.expm1(np.minimum(x, 0))),
    "Softsign": lambda x, a, b: x / (1 + np.abs(x)), "Softplus": lambda x, a, b: np.logaddexp(x, 0),
}  # fmt: skip
# Which of alpha and beta a function has, and what they are by default (those of the operators of the name).
PARAMETERS = {
    "Affine": (None, None), "LeakyRelu": (0.01,), "ThresholdedRelu": (1.0,), "ScaledTanh": (None, None),
    "HardSigmoid": (0.2, 0.5), "Elu": (1.0,),
}  # fmt: skip
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


def functions(op, a):
    """The activation functions of all directions; alpha and beta are consumed in order."""
    count = 2 if a.get("direction") == "bidirectional" else 1
    alphas, betas = list(a.get("activation_alpha", [])), list(a.get("activation_beta", []))
    made, size = [], len(DEFAULTS[op])
    for place, name in enumerate(a.get("activations") or DEFAULTS[op] * count):
        # The cell in front of LSTM's last function is not clipped: so in ONNX Runtime, and the text can be read so.
        clip = None if place % size == 2 else a.get("clip")
        own = PARAMETERS.get(name, ())
        alpha = (alphas.pop(0) if alphas else own[0]) if own else None
        beta = (betas.pop(0) if betas else own[1]) if len(own) > 1 else None

        def function(x, name=name, alpha=alpha, beta=beta, clip=clip):
            return ACTIVATIONS[name](x if clip is None else np.clip(x, -clip, clip), alpha, beta)

        made.append(function)
    return [made[i * size : (i + 1) * size] for i in range(count)]


def step(op, a, functions, x, h, c, w, r, bias, peep):
    """(h, c) after a step."""
    gates = GATES[op]
    wb, rb = np.split(bias, 2)
    W, R, Wb, Rb = (np.split(v, gates) for v in (w, r, wb, rb))

    def product(i, state=h):
        return x @ W[i].T + state @ R[i].T + Wb[i] + Rb[i]

    f, g = functions[0], functions[min(1, len(functions) - 1)]
    if op == "RNN":
        return f(product(0)), c
    if op == "GRU":
        z, reset = f(product(0)), f(product(1))
        if a.get("linear_before_reset"):
            candidate = g(x @ W[2].T + reset * (h @ R[2].T + Rb[2]) + Wb[2])
        else:
            candidate = g(product(2, reset * h))
        return (1 - z) * candidate + z * h, c
    pi, po, pf = np.split(peep, 3)
    i = f(product(0) + pi * c)
    forget = 1 - i if a.get("input_forget") else f(product(2) + pf * c)
    c = forget * c + i * g(product(3))
    return f(product(1) + po * c) * functions[2](c), c


def recurrent(op, a):
    """The function of the operator's inputs: Y, Y_h and for LSTM Y_c."""

    def compute(x, w, r, bias=None, lengths=None, initial_h=None, initial_c=None, peepholes=None):
        if a.get("layout"):
            x = x.swapaxes(0, 1)
            initial_h, initial_c = (v if v is None else v.swapaxes(0, 1) for v in (initial_h, initial_c))
        steps, batch, directions, hidden = x.shape[0], x.shape[1], w.shape[0], r.shape[2]
        ys, last = np.zeros((steps, directions, batch, hidden)), np.zeros((2, directions, batch, hidden))
        for d, own in enumerate(functions(op, a)):
            b = np.zeros(2 * GATES[op] * hidden) if bias is None else bias[d]
            p = np.zeros(3 * hidden) if peepholes is None else peepholes[d]
            backward = d == 1 or a.get("direction") == "reverse"
            for n in range(batch):
                h = np.zeros(hidden) if initial_h is None else initial_h[d, n]
                c = np.zeros(hidden) if initial_c is None else initial_c[d, n]
                length = steps if lengths is None else lengths[n]
                for t in reversed(range(length)) if backward else range(length):
                    h, c = step(op, a, own, x[t, n], h, c, w[d], r[d], b, p)
                    ys[t, d, n] = h
                last[:, d, n] = h, c
        if a.get("layout"):
            ys, last = ys.transpose(2, 0, 1, 3), last.swapaxes(1, 2)
        return (ys, last[0], last[1])[: 3 if op == "LSTM" else 2]

    return compute


FORMS = {
    "plain": {},
    "reverse": {"direction": "reverse"},
    "bidirectional": {"direction": "bidirectional"},
    "clip": {"clip": 0.25},
    "batch_first": {"layout": 1},
    "batch_first_both": {"layout": 1, "direction": "bidirectional"},
    "after_reset": {"linear_before_reset": 1},
    "after_reset_both": {"linear_before_reset": 1, "direction": "bidirectional"},
    "coupled": {"input_forget": 1},
}


def chosen(op):
    """Attributes with every activation function, at each place; their parameters where they have such."""
    count, names = len(DEFAULTS[op]), list(ACTIVATIONS)
    for at, name in enumerate(names):
        own = [names[(at + i) % len(names)] for i in range(count)]
        a = {"activations": own}
        if alphas := [0.25 + 0.125 * i for i, n in enumerate(own) if n in PARAMETERS]:
            a["activation_alpha"] = alphas
        if betas := [0.25 - 0.5 * i for i, n in enumerate(own) if len(PARAMETERS.get(n, ())) > 1]:
            a["activation_beta"] = betas
        yield f"by_{name}", a
        if op == "RNN" and all(None not in PARAMETERS.get(n, ()) for n in own):
            yield f"by_{name}_defaults", {"activations": own}
    first, second = ["LeakyRelu", "Tanh", "Elu"], ["HardSigmoid", "Softsign", "Relu"]
    yield "by_direction", {
        "direction": "bidirectional", "activations": first[:count] + second[:count],
        "activation_alpha": [0.125, 0.75, 0.375] if count == 3 else [0.125, 0.375], "activation_beta": [0.625],
    }  # fmt: skip


@cases("RNN", "GRU", "LSTM")
def networks(op, version, types, draw):
    t, gates = types["T"], GATES[op]
    newest = version == schemas.history("ai.onnx", op)[-1].since_version
    legacy = {"output_sequence": 1} if version < 7 else {}
    outputs = 3 if op == "LSTM" else 2
    # Rounding of each step's state to the type adds up.
    more = {
        "float16": {"rtol": 2**-7, "atol": 2**-9},
        "bfloat16": {"rtol": 2**-4, "atol": 2**-6},
        "float": {"atol": 2e-6},
    }.get(t, {})

    def operands(a, steps=4, batch=3, features=2, hidden=3):
        directions = 2 if a.get("direction") == "bidirectional" else 1
        state = (batch, directions, hidden) if a.get("layout") else (directions, batch, hidden)
        x = draw((batch, steps, features) if a.get("layout") else (steps, batch, features), t, -1, 1)
        w, r = (draw((directions, gates * hidden, n), t, -1, 1) for n in (features, hidden))
        lengths = array([steps, max(steps - 2, 1), max(steps - 1, 1)][:batch], "int32")
        bias = draw((directions, 2 * gates * hidden), t, -1, 1)
        own = [draw(state, t, -1, 1)]
        if op == "LSTM":
            own += [draw(state, t, -1, 1), draw((directions, 3 * hidden), t, -1, 1)]
        return [x, w, r, bias, lengths, *own]

    def case(name, a, inputs, flags=outputs, **rest):
        compute = recurrent(op, a)
        if flags != outputs:
            whole = compute

            def compute(*v):
                return tuple(y for y, kept in zip(whole(*v), flags) if kept)

        size = {} if name.endswith("least") else {"hidden_size": 3}
        return Case(name, inputs, legacy | size | a, outputs=flags, expected=compute, **more, **rest)

    def forms():
        for name, a in FORMS.items():
            every = name in ("plain", "bidirectional")
            if allowed(op, version, a) and (
                every or (t == "float" and (newest or name not in ("reverse", "after_reset_both")))
            ):
                yield name, a
        if t == "float" and newest:
            yield from chosen(op)

    for name, a in forms():
        inputs = operands(a)
        yield case(name, a, inputs if not name.startswith("by_") else inputs[:4])
        if name in ("plain", "batch_first") or (newest and t == "float" and name == "bidirectional"):
            yield case(f"{name}_least", a, inputs[:3])
            if op == "LSTM" and t == "float" and newest:
                yield case(f"{name}_without_peepholes", a, inputs[:-1])
                yield case(f"{name}_cell_alone", a, [*inputs[:3], None, None, None, *inputs[6:]])
            if t == "float" and newest:
                yield case(f"{name}_state", a, [*inputs[:3], None, None, inputs[5]], [0, 1] + [0] * (op == "LSTM"))
                yield case(f"{name}_sequence", a, inputs[:4], [1] + [0] * (outputs - 1))
    yield case("batch0", {}, operands({}, batch=0))
    if t == "float":
        yield case("steps0", {}, operands({}, steps=0)[:4])
        yield case("steps1", {"direction": "reverse"}, operands({"direction": "reverse"}, steps=1))
