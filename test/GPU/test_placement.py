"""The GPU column of docs/operators.md is what the compiler says; here of operators of each kind."""

from GPU import placement

from Conformance import schemas

OPERATORS = [("Softmax", 13), ("Gemm", 7), ("Reshape", 14), ("TopK", 11), ("NonZero", 13), ("SequenceAt", 11)]


def test_a_sample_is_what_the_compiler_says():
    placement.load_tables()
    keys = [("ai.onnx", op, version) for op, version in OPERATORS]
    assert all(key in schemas.live() for key in keys)
    rows = placement.read()
    found = placement.placements(keys)
    assert found == {key: placement.recorded(rows, key) for key in keys}
    assert set(found.values()) == {"yes", "no code", "host", "partly"}


def test_every_operator_is_in_the_table():
    rows = placement.read()
    lacking = {key[:2] for key in schemas.live() if placement.recorded(rows, key) is None}
    # Upgraded to others, or expanded: there is nothing of their own to compile.
    print(sorted(lacking))
    assert len(lacking) < 10, sorted(lacking)
