"""Sequences and optionals."""

import numpy as np
from Conformance import schemas
from Conformance.table import Case, array, cases

DATA = {"wide": False}


def element_of(text):
    """What a sequence or optional holds."""
    return text[text.index("(") + 1 : -1]


def position(value, types):
    return None if value is None else array(value, types["I"])


@cases("SequenceEmpty")
def sequence_empty(op, version, types, draw):
    code = schemas.code(element_of(types["S"]))
    yield Case("typed", [], {"dtype": code}, expected=lambda: [], **DATA)
    if types["S"] == "seq(float)":
        yield Case("default", [], expected=lambda: [], **DATA)


@cases("SequenceConstruct")
def sequence_construct(op, version, types, draw):
    if types["S"] != f"seq({types['T']})":
        return
    parts = [draw((2, 3), types["T"]), draw((4,), types["T"]), draw((), types["T"])]
    yield Case("ragged", parts, expected=lambda *x: list(x), **DATA)
    yield Case("one", parts[:1], expected=lambda *x: list(x), **DATA)


@cases("SequenceInsert")
def sequence_insert(op, version, types, draw):
    if types["S"] != f"seq({types['T']})":
        return
    sequence, tensor = draw((2, 3), types["S"]), draw((2, 3), types["T"])
    places = (None, 0, -1, 2) if types["T"] in ("float", "string") else (1,)
    for place in places:

        def expected(s, t, p=None):
            s, at = list(s), len(s) if p is None else int(p)
            s.insert(at, t)
            return s

        operands = [sequence, tensor] + ([] if place is None else [position(place, types)])
        yield Case(f"at{place}", operands, expected=expected, **DATA)
    if types["T"] in ("float", "string"):
        yield Case("into_empty", [[], tensor], expected=lambda s, t: [t], **DATA)


@cases("SequenceErase")
def sequence_erase(op, version, types, draw):
    sequence = [draw((n, 2), element_of(types["S"])) for n in (1, 3, 2)]
    places = (None, 0, -3, 2) if types["S"] in ("seq(float)", "seq(string)") else (1,)
    for place in places:

        def expected(s, p=-1):
            return [x for i, x in enumerate(s) if i != int(p) % len(s)]

        yield Case(
            f"at{place}", [sequence] + ([] if place is None else [position(place, types)]), expected=expected, **DATA
        )


@cases("SequenceAt")
def sequence_at(op, version, types, draw):
    if types["S"] != f"seq({types['T']})":
        return
    sequence = [draw((n, 2), types["T"]) for n in (1, 3, 2)]
    for place in (0, -1, 2, -3) if types["T"] in ("float", "string") else (1,):
        yield Case(f"at{place}", [sequence, position(place, types)], expected=lambda s, p: s[int(p)], **DATA)


@cases("SequenceLength")
def sequence_length(op, version, types, draw):
    sequence = [draw((n, 2), element_of(types["S"])) for n in (1, 3, 2)]
    for length in (3, 0) if types["S"] in ("seq(float)", "seq(string)") else (3,):
        yield Case(f"of{length}", [sequence[:length]], expected=lambda s: np.array(len(s), np.int64), **DATA)


@cases("SplitToSequence")
def split_to_sequence(op, version, types, draw):
    element, index = types["T"], types["I"]
    if types["S"] != f"seq({element})":
        return

    def pieces(x, axis, lengths):
        return np.split(x, np.cumsum(lengths)[:-1], axis)

    forms = [("lengths", (5, 2), 0, [2, 0, 3])]
    if element in ("float", "string"):
        forms += [("size", (2, 5), 1, 2), ("negative", (2, 4), -1, 3), ("even", (6,), 0, 3)]
    for name, dims, axis, split in forms:

        def expected(x, split, axis=axis):
            n = x.shape[axis]
            lengths = [min(int(split), n - at) for at in range(0, n, int(split))] if np.ndim(split) == 0 else split
            return pieces(x, axis, lengths)

        attributes = {"axis": axis} | ({"keepdims": 0} if name == "size" else {})  # ignored with a split
        yield Case(
            name, [draw(dims, element), array(split, index)], attributes, constants=[1], expected=expected, **DATA
        )
    for keep in (1, 0) if element in ("float", "string") else ():

        def apart(x, keep=keep):
            return [part if keep else part.reshape(2) for part in pieces(x, 1, [1] * 3)]

        yield Case(f"ones_keep{keep}", [draw((2, 3), element)], {"axis": 1, "keepdims": keep}, expected=apart, **DATA)


@cases("ConcatFromSequence")
def concat_from_sequence(op, version, types, draw):
    element = types["T"]
    if types["S"] != f"seq({element})":
        return
    ragged = [draw((2, n), element) for n in (1, 3, 2)]
    same = [draw((2, 3), element) for _ in range(2)]
    yield Case("joined", [ragged], {"axis": 1}, expected=lambda s: np.concatenate(s, 1), **DATA)
    yield Case("stacked", [same], {"axis": -1, "new_axis": 1}, expected=lambda s: np.stack(s, -1), **DATA)
    if element in ("float", "string"):
        yield Case("negative", [ragged], {"axis": -1}, expected=lambda s: np.concatenate(s, -1), **DATA)
        yield Case("first", [same], {"axis": 0, "new_axis": 1}, expected=lambda s: np.stack(s, 0), **DATA)


def held(text, draw):
    """A value for an optional's content."""
    return [draw((n, 2), element_of(text)) for n in (1, 3)] if text.startswith("seq(") else draw((2, 3), text)


@cases("Optional")
def optional(op, version, types, draw):
    if types["O"] != f"optional({types['V']})":
        return
    yield Case("some", [held(types["V"], draw)], expected=lambda x: x, **DATA)
    content = schemas.type_proto(types["V"])
    yield Case("none", [], {"type": content}, expected=lambda: None, **DATA)


@cases("OptionalGetElement")
def optional_get_element(op, version, types, draw):
    if types["O"] not in (types["V"], f"optional({types['V']})"):
        return
    yield Case("content", [held(types["V"], draw)], expected=lambda x: x, **DATA)


@cases("OptionalHasElement")
def optional_has_element(op, version, types, draw):
    text = types["O"]
    content = element_of(text) if text.startswith("optional(") else text
    yield Case("some", [held(content, draw)], expected=lambda x: np.array(True), **DATA)
    if text.startswith("optional("):
        yield Case("none", [None], expected=lambda x: np.array(False), **DATA)
    if text == "float" and version >= 18:
        yield Case("absent", [], expected=lambda: np.array(False), **DATA)
