"""TensorFlow's Dequantize, compared bit for bit with what TensorFlow's own CPU kernels gave.

Three oracles: cases picked by hand and random ones, both recorded from TensorFlow (Inputs/record_dequantize.py), and
the formulas of docs/operators/Dequantize.md in NumPy, which the recorded cases check as well.
"""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper
from support.library import load_library

INPUTS = Path(__file__).parent / "Inputs"
DOMAIN = "ai.onnx.converters.tensorflow"
F32 = np.float32
TYPES = {"qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16, "qint32": np.int32}
ELEMENTS = {kind: helper.np_dtype_to_tensor_dtype(np.dtype(dtype)) for kind, dtype in TYPES.items()}
RESULTS = {"float32": (TensorProto.FLOAT, np.dtype(F32)), "bfloat16": (TensorProto.BFLOAT16, np.dtype(ml_dtypes.bfloat16))}
MODES = ["MIN_COMBINED", "MIN_FIRST", "SCALED"]

# ---- The formulas ----


def bits(x):
    return np.asarray(x, F32).view(np.uint32)


def zero_like(x):
    return (bits(x) & np.uint32(0x80000000)).view(F32)


def name_nan(result, *operands):
    """The first NaN of the operands, quieted; without one, the processor's own."""
    nan = np.uint32(0xFFC00000).view(F32)
    for operand in reversed(operands):
        nan = np.where(np.isnan(operand), (bits(operand) | np.uint32(0x400000)).view(F32), nan)
    return np.where(np.isnan(result), nan, result).astype(F32)


def flush(x):
    return np.where(np.abs(x) < F32(2.0**-126), zero_like(x), x).astype(F32)


def flush_rounded(rounded, exact):
    return np.where(np.abs(exact) < 2.0**-126 - 2.0**-151, zero_like(rounded), rounded).astype(F32)


def subtract(x, y):
    return name_nan(flush(x - y), x, y)


def divide(x, y):
    return name_nan(flush_rounded(x / y, np.float64(x) / np.float64(y)), x, y)


def slice_reference(x, low, high, mode, narrow_range, only):
    """One range's elements, as float32."""
    limits = np.iinfo(x.dtype)
    low, high, top, bottom = flush(low), flush(high), F32(limits.max), F32(limits.min)
    f = x.astype(F32)
    if mode == "SCALED":
        scale = divide(high, top)
        if limits.min < 0:
            lower = divide(low, F32(limits.min + narrow_range))
            scale = scale if lower < scale else lower
        if x.dtype == np.int32 and only:
            f = np.where(f >= F32(2.0**31), F32(-(2.0**31)), f)
        return name_nan(f * scale, scale)
    span = subtract(high, low)
    if mode == "MIN_COMBINED":
        half = (top - bottom + F32(1)) / F32(2) if limits.min < 0 else F32(0)
        scale = divide(span, top - bottom)
        return name_nan(flush((f + half) * scale + low), scale, low)
    exact = np.float64(span) / (2.0 ** (8 * x.itemsize) - 1)
    scale = name_nan(flush_rounded(F32(exact), exact), span)
    steps = divide(low, scale)
    whole = np.trunc(steps)
    steps = whole + np.copysign(F32(1), steps) if np.abs(steps - whole) >= F32(0.5) else whole
    start = low if low == high else name_nan(steps * scale, steps, scale)
    offset = subtract(start, bottom * scale)
    return name_nan(flush(offset + f * scale), scale, offset)


@np.errstate(all="ignore")
def reference(x, low, high, mode="MIN_COMBINED", narrow_range=0, axis=-1, dtype="float32"):
    low, high = np.reshape(low, -1), np.reshape(high, -1)
    if axis < 0:
        result = slice_reference(x, low[0], high[0], mode, narrow_range, True)
    else:
        result, count = np.empty(x.shape, F32), x.shape[axis]
        for i in range(count):
            at = (slice(None),) * axis + (i,)
            result[at] = slice_reference(x[at], low[i], high[i], mode, narrow_range, count == 1)
    if dtype == "float32":
        return np.asarray(result, F32)
    wide = bits(result).astype(np.uint64)
    rounded = (wide + 0x7FFF + (wide >> 16 & 1)) >> 16
    return np.where(np.isnan(result), wide >> 16 & 0x8000 | 0x7FC0, rounded).astype(np.uint16).view(ml_dtypes.bfloat16)


# ---- Models of many nodes ----


def build(cases, constant=False, dynamic=False, declare=True):
    """A model with one node per case (elements, low, high, attributes), whose operands are inputs or constants."""
    nodes, inputs, outputs, constants = [], [], [], []
    for k, (x, low, high, attributes) in enumerate(cases):
        names = [f"{name}{k}" for name in ("x", "low", "high")]
        for name, array in zip(names, (x, low, high)):
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            if constant:
                constants.append(onnx.numpy_helper.from_array(array, name))
            else:
                shape = [f"{name}_{i}" for i in range(array.ndim)] if dynamic else array.shape
                inputs.append(helper.make_tensor_value_info(name, kind, shape))
        given = dict(attributes)
        result = given.pop("dtype", "float32")
        nodes.append(helper.make_node("Dequantize", names, [f"y{k}"], f"node{k}", domain=DOMAIN,
                                      dtype=RESULTS[result][0], **given))  # fmt: skip
        shape = list(x.shape) if declare and not dynamic else None
        outputs.append(helper.make_tensor_value_info(f"y{k}", RESULTS[result][0], shape))
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def feeds(cases):
    return [array for case in cases for array in case[:3]]


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def run_all(cases, **options):
    """The results of all cases, some dozens in a model."""
    results = []
    for i in range(0, len(cases), 50):
        part = cases[i : i + 50]
        model = strata.compile(build(part, **options))
        results += model.run([] if options.get("constant") else feeds(part))
    return results


# ---- TensorFlow's results ----


def decode(hexadecimal, dtype, shape):
    return np.frombuffer(bytes.fromhex(hexadecimal), dtype).reshape(shape)


def random_cases():
    for case in json.loads((INPUTS / "tensorflow_dequantize_random.json").read_text())["cases"]:
        attributes = {name: case[name] for name in ("mode", "axis", "dtype")} | {"narrow_range": int(case["narrow_range"])}
        ranges = [decode(case[name], F32, -1) for name in ("min_range", "max_range")]
        expected = decode(case["expected"], RESULTS[case["dtype"]][1], case["shape"])
        yield (decode(case["input"], TYPES[case["qtype"]], case["shape"]), *ranges, attributes), expected, case


def picked_cases(wanted):
    """The cases picked by hand: those with a result, or those with an error. Here qint8 and int8 are one type."""
    for case in json.loads((INPUTS / "tensorflow_dequantize.json").read_text())["cases"]:
        if case["qtype"] not in TYPES or ("error" in case["expected"]) != (wanted == "errors"):
            continue
        attributes = {name: case[name] for name in ("mode", "axis", "dtype")} | {"narrow_range": int(case["narrow_range"])}
        ranges = [np.array(case[name], np.float64).astype(F32) for name in ("min_range", "max_range")]
        x = np.array(case["input"], np.int64).astype(TYPES[case["qtype"]]).reshape(case["shape"])
        yield (x, *ranges, attributes), case


@pytest.mark.parametrize("how", ["static", "dynamic", "constant"])
def test_recorded_results(how, record_property):
    cases, expected = [], []
    for case, result, _ in random_cases():
        cases.append(case)
        expected.append(result)
    for case, origin in picked_cases("results"):
        cases.append(case)
        f32 = np.array([int(text, 16) for text in origin["expected"]["f32_bits"]], np.uint32).view(F32)
        expected.append(f32.astype(RESULTS[origin["dtype"]][1]).reshape(origin["expected"]["shape"]))
    if how == "dynamic":  # Loops over sizes of the run take long to compile.
        cases, expected = cases[::3], expected[::3]
    options = {"constant": how == "constant", "dynamic": how == "dynamic"}
    wrong = [
        f"{x.dtype}{x.shape} [{low}, {high}] {attributes}: {result} is not {want}"
        for (x, low, high, attributes), result, want in zip(cases, run_all(cases, **options), expected)
        if not same(result, want)
    ]
    record_property("count", f"Dequantize, {how}: {len(cases) - len(wrong)} of {len(cases)} cases equal to TensorFlow")
    assert not wrong, f"{len(wrong)} of {len(cases)} cases, the first:\n" + "\n".join(wrong[:5])


def test_recorded_results_are_those_of_the_formulas():
    for (x, low, high, attributes), expected, case in random_cases():
        assert same(reference(x, low, high, **attributes), expected), case


@pytest.mark.parametrize("case, origin", [pytest.param(*pair, id=pair[1]["id"]) for pair in picked_cases("errors")])
def test_recorded_errors(case, origin):
    x, low, high, attributes = case
    if attributes["dtype"] not in RESULTS:
        model = build([(x, low, high, attributes | {"dtype": "float32"})])
        next(a for a in model.graph.node[0].attribute if a.name == "dtype").i = helper.np_dtype_to_tensor_dtype(
            np.dtype(attributes["dtype"]))  # fmt: skip
        with pytest.raises(strata.CompileError):
            strata.compile(model)
        return
    with pytest.raises(strata.CompileError, match="node0"):
        strata.compile(build([case]))
    # The same, where only the run can tell.
    if "Axis" not in origin["expected"]["message"] and "ranges" not in origin["note"]:
        with pytest.raises(strata.Error, match="node0"):
            strata.compile(build([case], dynamic=True)).run(feeds([case]))


# ---- Every element type, mode and form ----

FORMS = [((2, 3, 37), -1), ((2, 3, 37), 0), ((2, 3, 37), 1), ((2, 3, 37), 2), ((1, 5), 0), ((67,), -1), ((), -2)]


def matrix(kind):
    rng = np.random.default_rng(sum(kind.encode()))
    limits = np.iinfo(TYPES[kind])
    for mode in MODES:
        for dtype in RESULTS if mode == "MIN_COMBINED" else ["float32"]:
            for narrow_range in (0, 1) if mode == "SCALED" else (0,):
                for shape, axis in FORMS:
                    if mode == "MIN_FIRST" and axis >= 0 and shape[axis] != 1:
                        continue
                    x = np.asarray(rng.integers(limits.min, int(limits.max) + 1, shape).astype(TYPES[kind]))
                    x.reshape(-1)[[0, -1]] = limits.max, limits.min
                    count = [] if axis < 0 else [shape[axis]]
                    low = (rng.normal(size=count) * 10 - 10).astype(F32).reshape(count)
                    high = (low + rng.exponential(size=count) * 30).astype(F32).reshape(count)
                    yield x, low, high, dict(mode=mode, dtype=dtype, narrow_range=narrow_range, axis=axis)


def prove(record_property, kind, *columns):
    for column in columns:
        record_property("cell", f"Dequantize|1|{kind}|{column}")


@pytest.mark.parametrize("kind", TYPES)
def test_every_form(kind, record_property, tmp_path):
    cases = [*matrix(kind)]
    expected = [reference(x, low, high, **attributes) for x, low, high, attributes in cases]

    def check(results):
        for (x, low, high, attributes), result, want in zip(cases, results, expected):
            assert same(result, want), (x.shape, low, high, attributes)

    # Static: what is inferred without a declared output, the JIT, and a library.
    proto = build(cases, declare=False)
    model = strata.compile(proto)
    assert [value.shape for value in model.outputs] == [case[0].shape for case in cases]
    assert [value.dtype for value in model.outputs] == [want.dtype for want in expected]
    prove(record_property, kind, "infer")
    check(model.run(feeds(cases)))
    prove(record_property, kind, "static", "JIT")
    check(load_library(proto, tmp_path).run(feeds(cases)))
    prove(record_property, kind, "artifact")
    # Known at compile time, and not even the sizes known.
    check(strata.compile(build(cases, constant=True)).run([]))
    prove(record_property, kind, "fold")
    check(strata.compile(build(cases, dynamic=True)).run(feeds(cases)))
    prove(record_property, kind, "dynamic")


def test_many_sizes_of_one_model():
    rng = np.random.default_rng(5)
    low, high = np.float32(-3.25), np.float32(11.5)
    example = np.zeros((1, 1), np.int8), np.array(low), np.array(high), {}
    model = strata.compile(build([example], dynamic=True))
    for shape in [(0, 5), (5, 0), (1, 1), (3, 5), (7, 64), (63, 129), (300, 1000)]:
        x = rng.integers(-128, 128, shape).astype(np.int8)
        assert same(model(x, np.array(low), np.array(high))[0], reference(x, low, high))


def test_optimisation_changes_no_bit():
    cases = [case for kind in ("qint8", "qint32") for case in matrix(kind)][::5]
    for options in ({"opt_level": 0}, {"target": "x86-64"}, {"target": "x86-64-v3"}, {"threads": 2}):
        results = strata.compile(build(cases, dynamic=True), **options).run(feeds(cases))
        for (x, low, high, attributes), result in zip(cases, results):
            assert same(result, reference(x, low, high, **attributes)), (options, attributes)


def test_a_sum_of_elements_sums_the_same_elements():
    """A consumer may take the elements into its own loop, but may not round them otherwise."""
    x = np.random.default_rng(3).integers(0, 256, (16, 257)).astype(np.uint8)
    low, high = np.array(-0.37, F32), np.array(5.1, F32)
    proto = build([(x, low, high, {})], declare=False)
    proto.graph.node.append(helper.make_node("ReduceMax", ["y0"], ["max"], keepdims=0))
    proto.graph.output.append(helper.make_tensor_value_info("max", TensorProto.FLOAT, None))
    del proto.graph.output[0]
    assert strata.compile(proto)(x, low, high)[0] == reference(x, low, high).max()


# ---- What is refused ----

ACCEPTED = set(ELEMENTS.values())


@pytest.mark.parametrize("code", [c for c in range(1, 27) if c != TensorProto.STRING], ids=TensorProto.DataType.Name)
def test_input_types(code, record_property):
    proto = build([(np.zeros(2, np.int8), np.array(0, F32), np.array(1, F32), {})])
    proto.graph.input[0].type.tensor_type.elem_type = code
    if code in ACCEPTED:
        strata.compile(proto)
        prove(record_property, next(kind for kind, c in ELEMENTS.items() if c == code), "verify")
        return
    with pytest.raises(strata.CompileError, match="node0.*'input'|operand #0"):
        strata.compile(proto)


@pytest.mark.parametrize(
    "attributes, message",
    [
        ({"mode": "SCALE"}, "attribute 'mode' is 'SCALE'"),
        ({"mode": "SCALED", "dtype": "bfloat16"}, "with dtype bfloat16 the mode must be MIN_COMBINED, not SCALED"),
        ({"narrow_range": 2}, "attribute 'narrow_range' is 2"),
        ({"axis": 1}, "axis 1 is out of range for rank 1"),
        ({"axis": 0}, "needs 2 ranges, one per slice along axis 0, but min_range has 1 elements"),
        ({"axis": 0, "mode": "MIN_FIRST"}, "the mode MIN_FIRST takes one range, but there are 2 slices"),
        ({"round_mode": 1}, "has no attribute 'round_mode'"),
    ],
)
def test_refused_attributes(attributes, message):
    case = np.zeros(2, np.int8), np.array(0, F32), np.array(1, F32), attributes
    with pytest.raises(strata.CompileError) as error:
        strata.compile(build([case]))
    assert message in str(error.value) and "node0" in str(error.value)


@pytest.mark.parametrize(
    "attributes, low, high, message",
    [
        ({}, [0, 1], [1], "min_range must have one element"),
        ({}, [0], [], "max_range must have one element"),
        ({"axis": 0}, [0, 1, 2], [1, 2], "min_range must have one element per slice along the axis"),
        ({"axis": 0}, [0, 1], [1], "max_range must have one element per slice along the axis"),
        ({"axis": 0}, [[0, 1]], [1, 2], "with several slices along the axis the ranges must be 1-D"),
        ({"axis": 0, "mode": "MIN_FIRST"}, [0, 1], [1, 2], "the mode MIN_FIRST takes one range, not one per slice"),
    ],
)
def test_errors_of_a_run(attributes, low, high, message):
    case = np.zeros(2, np.int8), np.array(low, F32), np.array(high, F32), attributes
    model = strata.compile(build([case], dynamic=True))
    with pytest.raises(strata.RunError) as error:
        model.run(feeds([case]))
    assert message in str(error.value) and "node0" in str(error.value)
