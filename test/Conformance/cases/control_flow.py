"""If, Loop, Scan and SequenceMap. Their bodies swap and delay values, which every type can be; some also compute."""

import numpy as np
from Conformance import schemas
from Conformance.table import Case, cases
from onnx import helper, numpy_helper

UNTOLD = "without an iteration nothing tells the sizes of what is stacked"
DATA = {"wide": False, "homogeneous": True}
SIMPLE = ("float", "string", "seq(float)", "seq(string)", "optional(float)", "optional(seq(float))")


def info(name, text, shape=None):
    return helper.make_value_info(name, schemas.type_proto(text, shape))


def graph(nodes, inputs, outputs, constants=()):
    """A body: `inputs` and `outputs` are (name, type) pairs."""
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants]
    return helper.make_graph(nodes, "body", [info(*i) for i in inputs], [info(*o) for o in outputs], initializers)


def value_of(text, draw):
    if text.startswith("optional("):
        return value_of(text[9:-1], draw)
    if text.startswith("seq("):
        return [draw((2, n), text[4:-1]) for n in (1, 3)]
    return draw((2, 3), text)


@cases("If")
def conditional(op, version, types, draw):
    text = types["V"]
    a, b = value_of(text, draw), value_of(text, draw)
    if text.startswith("optional("):
        b = None
    branches = {
        "then_branch": graph([], [], [("captured0", text), ("captured1", text)]),
        "else_branch": graph([], [], [("captured1", text), ("captured0", text)]),
    }
    for name, condition in (("true", True), ("false", False)):
        if name == "true" or text in SIMPLE:
            result = (a, b) if condition else (b, a)
            yield Case(
                name,
                [np.array(condition)],
                branches,
                2,
                captured=[(a, text), (b, text)],
                expected=lambda _, r=result: r,
                **DATA,
            )
    if text == "float":
        nodes = {"then_branch": "Exp", "else_branch": "Tanh"}
        computing = {
            key: graph([helper.make_node(op, ["captured0"], ["r"])], [], [("r", text)]) for key, op in nodes.items()
        }
        x = draw((3, 4), "float")
        for condition, function in ((True, np.exp), (False, np.tanh)):
            yield Case(f"computes_{condition}", [np.array([condition])[0]], computing, captured=[(x, text)],
                       expected=lambda _, f=function: f(x.astype(np.float64)), **DATA)  # fmt: skip
        apart = {
            "then_branch": graph([helper.make_node("Transpose", ["captured0"], ["r"])], [], [("r", text)]),
            "else_branch": graph([helper.make_node("Abs", ["captured0"], ["r"])], [], [("r", text)]),
        }
        for condition, result in ((True, x.T), (False, np.abs(x))):
            yield Case(
                f"shapes_{condition}",
                [np.array(condition)],
                apart,
                captured=[(x, text)],
                expected=lambda _, r=result: r,
                **DATA,
            )


def count(value):
    return np.array(value, np.int64)


@cases("Loop")
def loop(op, version, types, draw):
    text = types["V"]
    a, b = value_of(text, draw), value_of(text, draw)
    if text.startswith("optional("):
        b = None
    elif text.startswith("seq("):
        b = [draw((2, n), text[4:-1]) for n in (2, 5)]
    plain = "(" not in text
    inputs = [("i", "int64"), ("on", "bool"), ("x", text), ("y", text)]
    body = graph([], inputs, [("on", "bool"), ("y", text), ("x", text)] + ([("x", text)] if plain else []))
    for name, trips, condition in (("three", 3, True), ("none", 0, True), ("never", 3, False), ("two", 2, None)):
        if name != "three" and text not in SIMPLE:
            continue
        runs = 0 if condition is False else trips
        result = (a, b) if runs % 2 == 0 else (b, a)
        if plain:
            seen = [(a, b)[i % 2] for i in range(runs)]
            result += (np.stack(seen) if seen else np.zeros((0, *a.shape), a.dtype),)
        operands = [count(trips), None if condition is None else np.array(condition), a, b]
        yield Case(name, operands, {"body": body}, len(result), constants=[0], expected=lambda *_, r=result: r,
                   dynamic=UNTOLD if plain and not runs else True, **DATA)  # fmt: skip
    if text == "float" and version >= 11:  # Less has integers from opset 9 on
        yield from computing_loops(draw)


def computing_loops(draw):
    x = draw((3,), "float")
    # Doubles until a sum is reached; without a trip count, and with one.
    nodes = [
        helper.make_node("Add", ["x", "x"], ["twice"]),
        helper.make_node("Less", ["i", "last"], ["go"]),
    ]
    body = graph(nodes, [("i", "int64"), ("on", "bool"), ("x", "float")],
                 [("go", "bool"), ("twice", "float"), ("twice", "float")], [("last", count(4))])  # fmt: skip
    for name, trips, runs in (("condition", None, 5), ("condition_first", 9, 5), ("count_first", 2, 2)):
        result = (x * 2.0**runs, np.stack([x * 2.0 ** (i + 1) for i in range(runs)]))
        operands = [None if trips is None else count(trips), np.array(True), x]
        yield Case(name, operands, {"body": body}, 2, expected=lambda *_, r=result: r, **DATA)
    # A value that grows.
    body = graph(
        [helper.make_node("Concat", ["x", "captured0"], ["longer"], axis=0)],
        [("i", "int64"), ("on", "bool"), ("x", "float", [None])],
        [("on", "bool"), ("longer", "float", [None])],
    )
    yield Case("grows", [count(3), None, x], {"body": body}, captured=[(x[:2], "float")],
               expected=lambda *_: np.concatenate([x, *[x[:2]] * 3]), **DATA)  # fmt: skip
    yield Case("captures", [count(4), np.array(True), x], {"body": graph(
        [helper.make_node("Mul", ["x", "captured0"], ["z"])], [("i", "int64"), ("on", "bool"), ("x", "float")],
        [("on", "bool"), ("z", "float")])}, captured=[(np.float32([2, -1, 0.5]), "float")],
        expected=lambda *_: x * np.float64([16, 1, 0.0625]), **DATA)  # fmt: skip


@cases("Scan")
def scan(op, version, types, draw):
    text = types["V"]
    # The state is what was scanned before.
    body = graph([], [("state", text, [2]), ("x", text, [2])], [("x", text, [2]), ("state", text, [2])])
    if version == 8:
        yield from batched_scan(text, body, draw)
        return
    state, data = draw((2,), text), draw((4, 2), text)
    forms = [("delay", {})]
    if text in SIMPLE:
        forms += [("backward", {"scan_input_directions": [1]}), ("output_backward", {"scan_output_directions": [1]}),
                  ("axes", {"scan_input_axes": [1], "scan_output_axes": [1]}), ("empty", {})]  # fmt: skip
        if version >= 11:
            forms.append(("negative_axes", {"scan_input_axes": [-1], "scan_output_axes": [-1]}))
    for name, attributes in forms:
        rows = list(data[:0] if name == "empty" else data)
        given = np.stack(rows, 1) if "axes" in name else data[:0] if name == "empty" else data
        rows = rows[::-1] if name == "backward" else rows
        seen = [state, *rows][: len(rows)]
        seen = seen[::-1] if name == "output_backward" else seen
        result = np.stack(seen, 1 if "axes" in name else 0) if seen else data[:0]
        final = rows[-1] if rows else state
        yield Case(name, [state, given], {"num_scan_inputs": 1, "body": body} | attributes, 2,
                   expected=lambda *_, r=(final, result): r, dynamic=True if rows else UNTOLD, **DATA)  # fmt: skip
    if text in ("float", "double"):
        nodes = [helper.make_node("Add", ["sum", "x"], ["both"]), helper.make_node("Mul", ["x", "z"], ["product"])]
        body = graph(
            nodes,
            [("sum", text, [2]), ("x", text, [2]), ("z", text, [2])],
            [("both", text, [2]), ("product", text, [2])],
        )
        other = draw((4, 2), text)
        yield Case("computes", [state, data, other], {"num_scan_inputs": 2, "body": body}, 2, homogeneous=True,
                   expected=lambda s, x, z: (s + x.sum(0), x * z))  # fmt: skip


def batched_scan(text, body, draw):
    """Version 8: every operand has a batch dimension in front, and each entry may have a length of its own."""
    state, data = draw((3, 2), text), draw((3, 4, 2), text)
    for name, lengths, backward in (
        ("delay", None, 0), ("lengths", [4, 1, 2], 0), ("backward", None, 1), ("lengths_backward", [2, 4, 3], 1),
    ):  # fmt: skip
        if name != "delay" and text not in SIMPLE:
            continue
        finals, scanned = state.copy(), np.zeros_like(data)
        if text == "string":
            scanned[...] = ""
        for i in range(3):
            n = 4 if lengths is None else lengths[i]
            rows = list(data[i][:n][::-1] if backward else data[i][:n])
            finals[i] = rows[-1]
            scanned[i, :n] = np.stack([state[i], *rows][:n])
        operands = [None if lengths is None else np.array(lengths, np.int64), state, data]
        attributes = {"num_scan_inputs": 1, "body": body} | ({"directions": [1]} if backward else {})
        if lengths is None:
            yield Case(name, operands, attributes, 2, expected=lambda *_, r=(finals, scanned): r, **DATA)
            continue

        def check(inputs, runs, lengths=lengths, finals=finals, scanned=scanned):
            # What is behind a sequence's length is undefined.
            own = runs[0][1].shape == scanned.shape and np.array_equal(runs[0][0], finals)
            same = own and all(np.array_equal(runs[0][1][i, :n], scanned[i, :n]) for i, n in enumerate(lengths))
            return None if same else f"expected {finals} and {scanned}, got {runs[0]}"

        yield Case(name, operands, attributes, 2, check=check, homogeneous=True)


@cases("SequenceMap")
def sequence_map(op, version, types, draw):
    text, other = types["S"], types["V"]
    element = text[4:-1]
    own = [draw((2, n), element) for n in (1, 3)]
    body = graph([helper.make_node("Identity", ["x"], ["y"])], [("x", element)], [("y", element)])
    if text == "seq(float)":
        yield Case("alone", [own], {"body": body}, expected=lambda x: x, **DATA)
        body = graph(
            [helper.make_node("Transpose", ["x"], ["y"])],
            [("x", element, [None, None])],
            [("y", element, [None, None])],
        )
        yield Case("transposed", [own], {"body": body}, expected=lambda x: [v.T for v in x], **DATA)
        yield Case(
            "empty", [[]], {"body": body}, expected=lambda x: x, dynamic="its elements' rank is not known", **DATA
        )
    if other not in (text, element):
        return
    # A sequence gives an element to each, a tensor is given as it is.
    more = [draw((3, n), element) for n in (4, 2)] if other == text else draw((3, 2), element)
    nodes = [helper.make_node("Identity", ["x"], ["first"]), helper.make_node("Identity", ["v"], ["second"])]
    body = graph(nodes, [("x", element), ("v", element)], [("second", element), ("first", element)])
    result = (more if other == text else [more, more], own)
    yield Case("two", [own, more], {"body": body}, 2, expected=lambda *_: result, **DATA)
