"""What a case's outputs must be, from an implementation that is not ours: (outputs, name of the oracle).

`numpy` is the case's own function; `reference` onnx.reference, where what it implements is what the version means;
`onnxruntime` its kernel, or function body, of that version.
"""

import functools
import os

import numpy as np
import onnx.reference.ops as reference_ops
from Conformance import models, schemas
from onnx.reference import ReferenceEvaluator

# Versions that mean something else than the one before under the same signature.
MEANING = {
    "AveragePool": (22,), "BatchNormalization": (7,), "Cast": (24,), "CastLike": (24,), "ConvTranspose": (11,),
    "DFT": (20,), "Dropout": (7,), "GroupNormalization": (21,), "Hardmax": (13,), "LabelEncoder": (4,),
    "LogSoftmax": (13,), "LpPool": (22,), "MaxPool": (22,), "OneHot": (11,), "PRelu": (7,), "Resize": (11,),
    "RoiAlign": (16,), "Selu": (6,), "Softmax": (13,),
}  # fmt: skip
ORT_OPSET = 26
LEGACY = {"consumed_inputs"}  # says what may be overwritten, nothing about values


class NoOracle(Exception):
    """Nothing can tell what the outputs must be."""


def same_form(old, new):
    """Whether a node that is valid for one schema is for the other, and says the same."""
    attributes = {name: (a.type, a.default_value.SerializeToString(), a.required) for name, a in new.attributes.items()}
    for name, a in old.attributes.items():
        if name not in LEGACY and attributes.get(name) != (a.type, a.default_value.SerializeToString(), a.required):
            return False
    if any(a.required and name not in old.attributes for name, a in new.attributes.items()):
        return False
    return old.max_input <= new.max_input and new.min_input <= old.min_input and old.max_output <= new.max_output


@functools.cache
def same_meaning(domain, op, version, other):
    """Whether a node of `version` may be evaluated as one of the newer version `other`."""
    steps = [s for s in schemas.history(domain, op) if version <= s.since_version <= other]
    changed = any(version < step <= other for step in MEANING.get(op, ()))
    return not changed and all(same_form(a, b) for a, b in zip(steps, steps[1:]))


@functools.cache
def reference_classes():
    """{(domain, op): versions} that onnx.reference implements; None is the newest."""
    from onnx.reference.ops import aionnx_preview_training, aionnxml

    found = {}
    modules = {"ai.onnx": reference_ops, "ai.onnx.ml": aionnxml, "ai.onnx.preview.training": aionnx_preview_training}
    for domain, module in modules.items():
        for name in dir(module._op_list):
            op, _, version = name.partition("_")
            if version.isdigit() or not version:
                found.setdefault((domain, op), set()).add(int(version) if version else None)
    return found


@functools.cache
def reference_opset(key):
    """The opset at which onnx.reference says what the schema means, or None."""
    domain, op, version = key
    newest = schemas.history(domain, op)[-1].since_version
    classes = reference_classes().get((domain, op), set())
    numbered = sorted(c for c in classes if c)
    if not classes:
        return (
            version if schemas.live()[key].has_function or schemas.live()[key].has_context_dependent_function else None
        )
    if older := [c for c in numbered if c <= version]:
        if same_meaning(domain, op, older[-1], version):
            return version
        return None
    return newest if same_meaning(domain, op, version, newest) else None


def widened(value):
    """Floats below double as doubles."""
    if isinstance(value, np.ndarray) and schemas.element_of(value) in ("float", "float16", "bfloat16"):
        return value.astype(np.float64)
    if isinstance(value, list):
        return [widened(item) for item in value]
    return value


def rounded(value, text):
    """A value of an oracle as one of a type."""
    if value is None or text is None:
        return value
    if text.startswith("optional("):
        return rounded(value, text[9:-1])
    if text.startswith("seq("):
        return [rounded(item, text[4:-1]) for item in value]
    if text.startswith("map("):
        return value
    value = np.asarray(value)
    if text == "string":
        result = np.empty(value.shape, object)
        result[...] = value
        return result
    with np.errstate(all="ignore"):
        return value.astype(schemas.dtype(text))


def legacy_free(attributes):
    return {name: value for name, value in attributes.items() if name not in LEGACY}


def by_numpy(case):
    inputs = [widened(v) for v in case.inputs] if case.wide else case.inputs
    with np.errstate(all="ignore"):
        result = case.expected(*inputs)
    return list(result) if isinstance(result, tuple) else [result]


def by_reference(case):
    domain, op, version = case.key
    inputs, attributes = case.inputs, legacy_free(case.attributes)
    opset = reference_opset(case.key)
    if case.like:
        inputs, attributes = case.like
        opset = schemas.history(domain, op)[-1].since_version
    if not opset:
        raise NoOracle("onnx.reference does not implement the version")
    if case.wide:
        inputs = [widened(v) for v in inputs]
        attributes = attributes
    model, feeds = models.build([(case, None)], opset, plain=True, attributes=attributes, inputs=inputs)
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(model).run(None, feeds)


def by_onnxruntime(case):
    os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")
    from Suite.evaluators import runtime

    domain, op, version = case.key
    attributes, opset = legacy_free(case.attributes), version
    if domain == "ai.onnx" and not 7 <= version <= ORT_OPSET:
        newer = [s.since_version for s in schemas.history(domain, op) if 7 <= s.since_version <= ORT_OPSET]
        if not newer or version > ORT_OPSET or not same_meaning(domain, op, version, newer[0]):
            raise NoOracle("ONNX Runtime does not know the version")
        opset = newer[0]
    model, feeds = models.build([(case, None)], opset, attributes=attributes)
    for entry in model.opset_import:
        entry.version = min(entry.version, ORT_OPSET) if not entry.domain else entry.version
    return runtime(model.SerializeToString())(list(feeds.values()))


def expected_outputs(case):
    """(outputs, oracle). Raises NoOracle."""
    if case.expected:
        candidates = [("numpy", by_numpy)]
    else:
        candidates = [("reference", by_reference), ("onnxruntime", by_onnxruntime)]
    reasons = []
    for name, function in candidates:
        try:
            outputs = function(case)
            types = models.output_types(case, outputs)
            if len(types) != len(outputs):
                raise NoOracle(f"{len(outputs)} outputs instead of {len(types)}")
            return [rounded(value, text) for value, text in zip(outputs, types)], name
        except Exception as error:  # an oracle may fail in any way it likes; then the next is asked
            reasons.append(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
    raise NoOracle("; ".join(reasons))
