"""The conformance harness itself: what its oracles may say, what it calls a failure, and what it counts."""

import numpy as np
import onnx
import pytest
from Conformance import casting, compare, models, oracles, report, run, schemas, steps, steps_report, table
from Conformance.table import Case

run.load_tables()


def made(op, version, types, *arguments, **options):
    case = Case("test", *arguments, **options)
    case.key, case.types = ("ai.onnx", op, version), types
    return case


FLOAT = {"T": "float"}
X = np.array([[1, 2], [3, 5]], np.float32)


@pytest.mark.parametrize(
    "op, old, new, same",
    [
        ("Softmax", 11, 13, False),  # another meaning under the same signature
        ("Softmax", 1, 11, True),
        ("Abs", 1, 13, True),  # consumed_inputs says nothing
        ("Selu", 1, 6, False),  # other defaults
        ("Clip", 6, 11, False),  # attributes have become inputs
        ("ArgMax", 1, 13, True),  # an attribute more, whose default is the old meaning
        ("ReduceLogSum", 18, 28, True),  # fewer types
    ],
)
def test_versions_of_the_same_meaning(op, old, new, same):
    assert oracles.same_meaning("ai.onnx", op, old, new) == same


def test_the_reference_is_not_asked_about_old_meanings():
    assert oracles.reference_opset(("ai.onnx", "Softmax", 11)) is None
    assert oracles.reference_opset(("ai.onnx", "Softmax", 13)) == 13
    assert oracles.reference_opset(("ai.onnx", "ReduceSum", 11)) == 11  # a class of its own
    outputs, oracle = oracles.expected_outputs(made("Softmax", 11, FLOAT, [np.ones((2, 3, 4), np.float32)]))
    assert oracle == "onnxruntime"
    np.testing.assert_allclose(outputs[0], np.full((2, 3, 4), 1 / 12), rtol=1e-6)


def test_no_oracle():
    case = made("Add", 1, FLOAT, [X, X[0]], {"broadcast": 1})
    with pytest.raises(oracles.NoOracle):
        oracles.expected_outputs(case)
    assert run.run_task([case], ((0,), ("static",)))[0, "static"][0] == "no oracle"


def test_failures_are_found_and_isolated():
    good = made("Add", 14, FLOAT, [X, X], expected=np.add)
    wrong = made("Add", 14, FLOAT, [X, X], expected=np.subtract)
    refused = made("Add", 14, FLOAT, [X, np.ones(3, np.float32)], expected=lambda a, b: a)
    results = run.run_cases([good, wrong, refused, good], 2, lambda done: None)
    for mode in run.MODES:
        assert [results[i, mode][0] for i in range(4)] == ["passed", "failed", "failed", "passed"]
    assert results[0, "static"][2] == [("ai.onnx", "Add", 14, "T", "float")]


def test_constants_and_symbolic_dimensions():
    case = made("ReduceSum", 13, FLOAT, [X, np.array([1])], constants=[1])
    model, feeds = models.build([(case, None)], 13)
    assert list(feeds) == ["c0_x0"] and model.graph.initializer[0].name == "c0_x1"
    model, feeds = models.build([(case, None)], 13, dynamic=True)
    shapes = [[d.dim_param or d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input]
    assert shapes == [["c0_x0_0", "c0_x0_1"], [1]]


def test_tolerances_follow_from_the_type():
    def wrong(element, value, other):
        case = made("Identity", 25, {"V": element}, [])
        return compare.wrong(case, [table.array([value], element)], [table.array([other], element)])

    assert not wrong("float", 1, 1.000005) and wrong("float", 1, 1.00005)
    assert wrong("double", 1, 1.00000001)
    assert wrong("int64", 2**62, 2**62 + 1)
    assert not wrong("float8e5m2", np.nan, np.nan) and wrong("float8e5m2", 1, 1.25)
    assert wrong("string", "a", "b")


def test_casts_round_to_even_and_saturate():
    assert [casting.to_small(v, "float8e4m3fn") for v in (17, 19, 464, 1e9)] == [16, 20, 448, 448]
    assert np.isnan(casting.to_small(465, "float8e4m3fn", saturate=False))
    assert [casting.to_small(v, "float4e2m1") for v in (0.25, 0.75, 2.5, -100)] == [0, 1, 2, -6]
    assert [casting.to_e8m0(1.5, mode=mode) for mode in ("up", "down", "nearest")] == [2, 1, 2]
    assert casting.cast_one(200, "int16", "int8", True, "up") == -56


def test_every_element_type_is_named_and_drawn():
    elements = {t for *_, t in schemas.cells() if "(" not in t}
    assert len(elements) == 28
    for element in sorted(elements):
        array = table.Draw("seed")((3, 2), element)
        assert schemas.element_of(array) == element and array.shape == (3, 2)
        assert schemas.dtype(element) == array.dtype


def test_names_are_unique_and_cells_known():
    keys = [key for key in schemas.live() if key[1] in ("Cast", "Pow", "BitCast")]
    found = [case for key in keys for case in table.enumerate_cases(key)[0]]
    assert len({case.id for case in found}) == len(found)
    known = set(schemas.cells())
    for case in found:
        assert models.used_cells(case) <= known


def test_open_cells_are_kept_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "OPEN", tmp_path / "open.txt")
    labels = {"Add-7 T float", "Add-7 T double", "ai.onnx.ml.ZipMap-1 T map(int64,float)"}
    report.write_open(labels)
    assert report.read_open() == labels


def test_steps_are_all_there():
    assert len(steps_report.every_step()) == 432


def test_a_step_that_changes_the_meaning_is_a_failure(monkeypatch):
    case = made("Softmax", 11, FLOAT, [np.arange(12, dtype=np.float32).reshape(2, 2, 3)], {"axis": 1})
    expected = oracles.expected_outputs(case)[0]
    assert steps.prove([(case, expected)], 13)[0][:2] == ("proven", "runtime")

    def restamped(model, domain, opset):
        proto = onnx.ModelProto.FromString(model)
        proto.opset_import[0].version = opset
        return proto.SerializeToString(), proto

    monkeypatch.setattr(steps, "convert", restamped)
    assert steps.prove([(case, expected)], 13)[0][0] == "failed"


def test_a_step_may_be_refused_by_name_alone():
    case = made("Atanh", 22, FLOAT, [np.array([0.5], np.float32)])
    outcome, why, _ = steps.prove([(case, oracles.expected_outputs(case)[0])], 6)[0]
    assert outcome == "refused" and "'onnx." in why
