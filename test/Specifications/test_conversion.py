"""Every ordered pair of versions of the five operators: the converted model computes the same bits, or the conversion is
refused with the node's name and the reason."""

import itertools
from functools import cache

import numpy as np
import onnx
import onnxruntime
import pytest
from conversions import (converted, data_type, element_types, make_model, refusal, run, same_bits, schemas, translate,
                     versions_of)  # fmt: skip
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

CONSTANT, UNIFORM, DROPOUT = schemas("ConstantOfShape"), schemas("RandomUniformLike"), schemas("Dropout")
FLOAT8 = {"float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"}


def direction(old, new):
    return "upgrade" if new > old else "downgrade"


def pairs(versions):
    return list(itertools.permutations(versions, 2))


def check_refusal(messages, node, version, *reasons):
    """One line that names the node, the op and the version, and says why."""
    lines = [line for line in messages.splitlines() if f"node '{node}'" in line]
    assert lines, messages
    assert "cannot be downgraded to version" in lines[0] or "cannot be upgraded" in lines[0], messages
    assert f"_{version}'" in lines[0], messages
    for reason in reasons:
        assert reason in lines[0], messages


#
# ConstantOfShape
#


def constant_of_shape(version, types):
    """One node for each element type; its value is 1, but for types that can tell more."""
    nodes, outputs = [], []
    for element in types:
        number = True if element == "bool" else 1 if element.endswith("int2") else 2
        value = helper.make_tensor("value", data_type(element), [1], [number])
        nodes.append(helper.make_node("ConstantOfShape", ["shape"], [element], name=f"fill_{element}", value=value))
        outputs.append((element, element, ["a", "b"]))
    return make_model(nodes, [("shape", "int64", [2])], outputs, version)


SHAPE = {"shape": np.array([2, 3], np.int64)}


@cache
def constant_of_shape_results(version, types):
    return run(constant_of_shape(version, types), SHAPE)


@pytest.mark.parametrize("old, new", pairs(CONSTANT))
def test_constant_of_shape(old, new, tmp_path, record_property):
    own, other = (element_types(CONSTANT[v], "output") for v in (old, new))
    common = tuple(e for e in own if e in other)
    result = converted(constant_of_shape(old, common), tmp_path, new)
    assert versions_of(result, "ConstantOfShape") == {new}
    assert same_bits(run(result, SHAPE), constant_of_shape_results(old, common))
    for element in common:
        record_property("cell", f"ConstantOfShape|{old}|{element}|{direction(old, new)}")
    refused = [e for e in own if e not in other]
    if refused:
        # All are told at once.
        messages = refusal(constant_of_shape(old, refused), tmp_path, new)
        for element in refused:
            check_refusal(messages, f"fill_{element}", min(v for v in CONSTANT if element in element_types(CONSTANT[v], "output")))
            record_property("cell", f"ConstantOfShape|{old}|{element}|downgrade|refused")


@pytest.mark.parametrize("version", CONSTANT)
def test_export_of_constant_of_shape(version, tmp_path, record_property):
    types = tuple(element_types(CONSTANT[version], "output"))
    model = constant_of_shape(version, types)
    result = converted(model, tmp_path)
    assert versions_of(result, "ConstantOfShape") == {version}
    mine = constant_of_shape_results(version, types)
    assert same_bits(run(result, SHAPE), mine)
    theirs = ReferenceEvaluator(result).run(None, SHAPE)
    for element, a, b in zip(types, mine, theirs):
        assert a.shape == b.shape and np.array_equal(a.astype(np.float32), np.asarray(b).astype(np.float32)), element
        record_property("cell", f"ConstantOfShape|{version}|{element}|export")


#
# RandomUniformLike
#


def random_uniform_like(version, types, seeded=True):
    nodes, outputs = [], []
    for i, element in enumerate(types):
        attributes = {"dtype": data_type(element), "low": -1.0, "high": 3.0}
        if seeded:
            attributes["seed"] = 5.0 + i
        nodes.append(helper.make_node("RandomUniformLike", ["x"], [element], name=f"draw_{element}", **attributes))
        outputs.append((element, element, [4, 5]))
    return make_model(nodes, [("x", "int32", [4, 5])], outputs, version)


X = {"x": np.zeros((4, 5), np.int32)}


@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize("old, new", pairs(UNIFORM))
def test_random_uniform_like(old, new, seeded, tmp_path, record_property):
    own, other = (element_types(UNIFORM[v], "output") for v in (old, new))
    common = [e for e in own if e in other]
    model = random_uniform_like(old, common, seeded)
    result = converted(model, tmp_path, new)
    assert versions_of(result, "RandomUniformLike") == {new}
    # Without seeds of their own, the session's: the same one.
    before = run(model, X, seed=11)
    assert same_bits(run(result, X, seed=11), before)
    assert all(np.unique(np.asarray(values).astype(np.float64)).size > 10 for values in before)
    for element in common:
        record_property("cell", f"RandomUniformLike|{old}|{element}|{direction(old, new)}")
    for element in [e for e in own if e not in other]:
        check_refusal(refusal(random_uniform_like(old, [element], seeded), tmp_path, new), f"draw_{element}", 22)
        record_property("cell", f"RandomUniformLike|{old}|{element}|downgrade|refused")


@pytest.mark.parametrize("version", UNIFORM)
def test_export_of_random_uniform_like(version, tmp_path, record_property):
    types = element_types(UNIFORM[version], "output")
    model = random_uniform_like(version, types)
    result = converted(model, tmp_path)
    assert versions_of(result, "RandomUniformLike") == {version}
    mine = run(model, X)
    assert same_bits(run(result, X), mine)
    # Another implementation reads the same model, and draws other numbers.
    theirs = ReferenceEvaluator(result).run(None, X)
    for element, a, b in zip(types, mine, theirs):
        assert a.shape == np.asarray(b).shape, element
        assert np.all(np.asarray(b).astype(np.float64) >= -1) and np.all(np.asarray(b).astype(np.float64) < 3), element
        record_property("cell", f"RandomUniformLike|{version}|{element}|export")


#
# Dropout
#


def dropout(version, types, mode="inference", with_mask=True):
    """One node for each type. Mode: inference, training (constant), runtime (training_mode is an input), ratio (ratio is
    an input)."""
    nodes, inputs, outputs, initializers = [], [], [], []
    for i, element in enumerate(types):
        names, attributes = [element], {}
        inputs.append((element, element, [4, 6]))
        if version < 12:
            attributes["ratio"] = 0.25
            if version < 7:
                attributes["is_test"] = int(mode == "inference")
        else:
            attributes["seed"] = 3 + i
            names += ["ratio"]
            if mode in ("training", "runtime"):
                names += ["training_mode"]
        results = [f"{element}_out"] + ([f"{element}_mask"] if with_mask else [])
        nodes.append(helper.make_node("Dropout", names, results, name=f"drop_{element}", **attributes))
        outputs.append((results[0], element, [4, 6]))
        if with_mask:
            outputs.append((results[1], "bool" if version >= 10 else element, [4, 6]))
    if version >= 12:
        if mode == "ratio":
            inputs.append(("ratio", "float", []))
        else:
            initializers.append(helper.make_tensor("ratio", onnx.TensorProto.FLOAT, [], [0.25]))
        if mode == "training":
            initializers.append(helper.make_tensor("training_mode", onnx.TensorProto.BOOL, [], [True]))
        if mode == "runtime":
            inputs.append(("training_mode", "bool", []))
    return make_model(nodes, inputs, outputs, version, initializers=initializers)


def dropout_inputs(types, mode="inference", training=True):
    values = np.arange(-12, 12, dtype=np.float32).reshape(4, 6) / 2
    feeds = {e: values.astype(helper.tensor_dtype_to_np_dtype(data_type(e))) for e in types}
    if mode == "ratio":
        feeds["ratio"] = np.array(0.25, np.float32)
    if mode == "runtime":
        feeds["training_mode"] = np.array(training)
    return feeds


def check_dropout(old, new, types, mode, folder):
    model = dropout(old, types, mode)
    result = converted(model, folder, new)
    assert versions_of(result, "Dropout") == {new}
    # The mask's type is part of what the model promises, whatever the versions call it.
    for training in (True, False) if mode == "runtime" else (True,):
        feeds = dropout_inputs(types, mode, training)
        before = run(model, feeds)
        assert same_bits(run(result, feeds), before)
    return before


@pytest.mark.parametrize("old, new", pairs(DROPOUT))
def test_dropout_in_inference(old, new, tmp_path, record_property):
    own, other = (element_types(DROPOUT[v], "output") for v in (old, new))
    common = [e for e in own if e in other]
    results = check_dropout(old, new, common, "inference", tmp_path)
    for element, data, mask in zip(common, results[::2], results[1::2]):
        assert same_bits([data], [dropout_inputs([element])[element]])
        assert np.all(np.asarray(mask).astype(np.float32) == 1)
        record_property("cell", f"Dropout|{old}|{element}|{direction(old, new)}")
    refused = [e for e in own if e not in other]
    if refused:
        messages = refusal(dropout(old, refused), tmp_path, new)
        for element in refused:
            check_refusal(messages, f"drop_{element}", 22 if element in FLOAT8 else 13)
            record_property("cell", f"Dropout|{old}|{element}|downgrade|refused")


@pytest.mark.parametrize("mode", ["training", "runtime", "ratio"])
@pytest.mark.parametrize("old, new", pairs(v for v in DROPOUT if v not in (7, 10)))
def test_dropout_otherwise(old, new, mode, tmp_path):
    """In training, with the mode as an input, or with the ratio as an input."""
    types = ["float16", "float", "double"]
    if old < 12 and mode != "training":
        pytest.skip("versions before 12 have no such inputs")
    if (old < 12) == (new < 12) or new >= 12:
        results = check_dropout(old, new, types, mode, tmp_path)
        if mode == "training":
            dropped = [np.asarray(values) == 0 for values in results[::2]]
            assert all(0 < np.count_nonzero(zeros) < zeros.size for zeros in dropped)
        return
    reasons = {
        "training": "it does not train",
        "runtime": "'training_mode' is a run-time input",
        "ratio": "'ratio' is a run-time input",
    }
    messages = refusal(dropout(old, types, mode), tmp_path, new)
    for element in types:
        check_refusal(messages, f"drop_{element}", 12, reasons[mode])


@pytest.mark.parametrize("old, new", list(itertools.product([1, 6], [7, 10])))
def test_dropout_that_trains_has_no_form_in_7_and_10(old, new, tmp_path):
    check_refusal(refusal(dropout(old, ["float"], "training"), tmp_path, new), "drop_float", 12, "it does not train")


@pytest.mark.parametrize("version", DROPOUT)
def test_export_of_dropout(version, tmp_path, record_property):
    types = element_types(DROPOUT[version], "output")
    model, feeds = dropout(version, types), dropout_inputs(types)
    result = converted(model, tmp_path)
    assert versions_of(result, "Dropout") == {version}
    mine = run(model, feeds)
    assert same_bits(run(result, feeds), mine)
    for element, data in zip(types, mine[::2]):
        if version >= 7:
            # Their masks are another matter: see docs/operators/Dropout.md.
            alone = converted(dropout(version, [element], with_mask=False), tmp_path)
            [theirs] = ReferenceEvaluator(alone).run(None, dropout_inputs([element]))
            assert same_bits([np.asarray(theirs)], [data]), element
        record_property("cell", f"Dropout|{version}|{element}|export")


@pytest.mark.parametrize("old, new", [(22, 13), (22, 12), (13, 10), (12, 7), (7, 13), (10, 22)])
def test_another_runtime_runs_converted_dropouts(old, new, tmp_path):
    result = converted(dropout(old, ["float"], with_mask=False), tmp_path, new)
    feeds = dropout_inputs(["float"])
    [theirs] = onnxruntime.InferenceSession(result.SerializeToString()).run(None, feeds)
    assert same_bits([theirs], run(result, feeds))


#
# Dequantize and Range: one version each
#

TENSORFLOW, OPENVINO = "ai.onnx.converters.tensorflow", "org.openvinotoolkit"
QUANTIZED = ["int8", "uint8", "int16", "uint16", "int32"]
NUMERIC = {
    "float16": "f16", "bfloat16": "bf16", "float": "f32", "double": "f64", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float8e4m3fn": "f8e4m3", "float8e5m2": "f8e5m2", "int4": "i4", "uint4": "u4",
}  # fmt: skip


def dequantize(opset=13):
    nodes, inputs, outputs = [], [("low", "float", []), ("high", "float", [])], []
    for element in QUANTIZED:
        name = f"dequantize_{element}"
        node = helper.make_node("Dequantize", [element, "low", "high"], [name], name=name, domain=TENSORFLOW, mode="SCALED")
        nodes.append(node)
        inputs.append((element, element, [5]))
        outputs.append((name, "float", [5]))
    feeds = {e: np.arange(5).astype(e) for e in QUANTIZED} | {"low": np.array(-1, np.float32), "high": np.array(2, np.float32)}
    return make_model(nodes, inputs, outputs, opset, TENSORFLOW), feeds


def ranges(opset=13):
    nodes, outputs = [], []
    for element, output_type in NUMERIC.items():
        name = f"range_{element}"
        nodes.append(helper.make_node("Range", ["start", "stop", "step"], [name], name=name, domain=OPENVINO, output_type=output_type))
        outputs.append((name, element, [f"n_{element}"]))
    inputs = [("start", "float", []), ("stop", "float", []), ("step", "float", [])]
    feeds = {"start": np.array(1, np.float32), "stop": np.array(7.5, np.float32), "step": np.array(2, np.float32)}
    return make_model(nodes, inputs, outputs, opset, OPENVINO), feeds


@pytest.mark.parametrize("make, operator, version, domain", [(dequantize, "Dequantize", 1, TENSORFLOW), (ranges, "Range", 4, OPENVINO)])
def test_operators_of_one_version(make, operator, version, domain, tmp_path, record_property):
    model, feeds = make()
    before = run(model, feeds)
    # To itself, and where only the operators of ONNX around it are converted: the same.
    for opsets in [(), (f"{domain}:{version}",), (18,), (11, f"{domain}:{version}")]:
        result, messages = translate(model, tmp_path, *opsets)
        assert result is not None, messages
        assert [(n.op_type, n.domain) for n in result.graph.node] == [(n.op_type, n.domain) for n in model.graph.node]
        assert same_bits(run(result, feeds), before)
    # To anything else: no.
    for other in (version - 1, version + 1):
        if other < 1:
            continue
        messages = refusal(model, tmp_path, f"{domain}:{other}")
        for node in model.graph.node:
            [line] = [line for line in messages.splitlines() if f"node '{node.name}'" in line]
            assert f"cannot be converted to opset {other} of '{domain}'" in line
    for element in QUANTIZED if operator == "Dequantize" else NUMERIC:
        for column in ("upgrade", "downgrade", "export"):
            record_property("cell", f"{operator}|{version}|{element}|{column}")


#
# The command
#


def test_refusals_come_together_and_leave_nothing(tmp_path):
    model = constant_of_shape(25, ["int2", "float", "uint2"])
    messages = refusal(model, tmp_path, 24)
    assert len([line for line in messages.splitlines() if "cannot be downgraded" in line]) == 2, messages


@pytest.mark.parametrize(
    "opset, message",
    [
        ("99", "opset 99 of 'ai.onnx' is unknown; the newest known is"),
        ("0", "'0' is no opset"),
        ("x:y", "'x:y' is no opset"),
        ("com.acme:2", "nothing is known of the versions of domain 'com.acme'"),
        ("5", "node 'fill_float': 'onnx.Tile_6' op cannot be downgraded to version 1: 'repeats' is a run-time input, there an attribute"),
    ],
)  # fmt: skip
def test_opsets_that_cannot_be(opset, message, tmp_path):
    assert message in refusal(constant_of_shape(9, ["float"]), tmp_path, opset)


def test_opset_and_ir_version_follow(tmp_path):
    result = converted(constant_of_shape(25, ["float"]), tmp_path, 13)
    assert [(entry.domain, entry.version) for entry in result.opset_import] == [("", 13)]
    assert result.ir_version == 7
    assert numpy_helper.to_array(result.graph.node[0].attribute[0].t) == 2
