"""OpenVINO's Range-4, compared bit for bit with torch.arange and with exact arithmetic.

torch.arange lacks some types, and rounds long results in its own way (Inputs/record_range.py). Exact rational numbers
serve everywhere: the count is max(ceil((stop - start) / step), 0) of the operands as given, element i is
start + i * step of the operands cast to the accumulation type, rounded once.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper
from support.library import load_library

INPUTS = Path(__file__).parent / "Inputs"
DOMAIN = "org.openvinotoolkit"
ELEMENTS = {
    "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE,
    "f8e4m3": TensorProto.FLOAT8E4M3FN, "f8e5m2": TensorProto.FLOAT8E5M2, "i4": TensorProto.INT4,
    "i8": TensorProto.INT8, "i16": TensorProto.INT16, "i32": TensorProto.INT32, "i64": TensorProto.INT64,
    "u4": TensorProto.UINT4, "u8": TensorProto.UINT8, "u16": TensorProto.UINT16, "u32": TensorProto.UINT32,
    "u64": TensorProto.UINT64,
}  # fmt: skip
DTYPES = {name: np.dtype(helper.tensor_dtype_to_np_dtype(code)) for name, code in ELEMENTS.items()}


def is_integer(kind):
    return kind[0] in "iu"


# ---- The exact results ----


def nearest_f32(value):
    """A rational number rounded once to float32."""
    guess = np.float32(float(value))
    neighbours = [guess, np.nextafter(guess, np.float32(-np.inf)), np.nextafter(guess, np.float32(np.inf))]
    finite = [x for x in neighbours if np.isfinite(x)]
    return min(finite, key=lambda x: (abs(Fraction(float(x)) - value), int(x.view(np.uint32)) & 1))


def count_of(types, values, output):
    start, stop, step = values
    if output in ("i64", "u64") and all(map(is_integer, types)):
        return max(math.ceil(Fraction(stop - start, step)), 0)
    with np.errstate(over="ignore"):
        return max(math.ceil((np.float64(stop) - np.float64(start)) / np.float64(step)), 0)


@np.errstate(over="ignore")
def reference(types, values, output):
    count, dtype = count_of(types, values, output), DTYPES[output]
    start, _, step = values
    if is_integer(output):
        bits, low = (int(output[1:]), 0) if output[0] == "u" else (int(output[1:]), 1 << int(output[1:]) - 1)
        numbers = [(math.trunc(start) + i * math.trunc(step) + low) % (1 << bits) - low for i in range(count)]
        return np.array(numbers, np.int64 if output != "u64" else np.uint64).astype(dtype)
    if output in ("f32", "f64"):
        first, by = Fraction(float(start)), Fraction(float(step))
        return np.array([float(first + i * by) for i in range(count)], np.float64).astype(dtype)
    first, by = (Fraction(float(nearest_f32(Fraction(v)))) for v in (start, step))
    return np.array([nearest_f32(first + i * by) for i in range(count)], np.float32).astype(dtype)


# ---- Models of many nodes ----


def number(kind, text):
    return int(text) if is_integer(kind) else float(text)


def build(cases, constant=False, shapes=None):
    """A model with one node per case (types, values, output type), whose operands are inputs or constants."""
    nodes, inputs, outputs, constants = [], [], [], []
    for k, (types, values, output) in enumerate(cases):
        names = [f"{name}{k}" for name in ("start", "stop", "step")]
        for name, kind, array in zip(names, types, operands(types, values)):
            if constant:
                constants.append(onnx.numpy_helper.from_array(array, name))
            else:
                inputs.append(helper.make_tensor_value_info(name, ELEMENTS[kind], []))
        nodes.append(helper.make_node("Range", names, [f"y{k}"], f"node{k}", domain=DOMAIN, output_type=output))
        shape = shapes[k] if shapes else None
        outputs.append(helper.make_tensor_value_info(f"y{k}", ELEMENTS[output], shape))
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def operands(types, values):
    return [np.array(value, DTYPES[kind]) for kind, value in zip(types, values)]


def feeds(cases):
    return [array for types, values, _ in cases for array in operands(types, values)]


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def run_all(cases, constant):
    results = []
    for i in range(0, len(cases), 100):
        part = cases[i : i + 100]
        results += strata.compile(build(part, constant)).run([] if constant else feeds(part))
    return results


# ---- PyTorch's results ----


@np.errstate(over="ignore")
def is_zero_after_cast(types, values, output):
    step = values[2]
    if not math.isfinite(step):
        return False
    return math.trunc(step) == 0 if is_integer(output) else output in ("f16", "bf16") and np.float32(step) == 0


def recorded():
    for case in json.loads((INPUTS / "torch_range.json").read_text())["cases"]:
        values = [number(kind, text) for kind, text in zip(case["types"], case["values"])]
        yield (case["types"], values, case["output_type"]), case


def recorded_results():
    """Where torch.arange calls it an error that stop is not in step's direction, the specification has no elements."""
    for case, origin in recorded():
        error, numbers = origin.get("error"), case[1]
        if error and not ("inconsistent with step" in error or "invalid size" in error):
            continue
        if error and max(map(abs, numbers)) > 2.0**62:
            continue
        if math.isinf(numbers[2]) or is_zero_after_cast(*case):
            continue
        # Its own sum overflows here.
        if case[2] == "i64" and abs(numbers[1] - numbers[0] + numbers[2]) >= 2**63:
            continue
        yield case, np.frombuffer(bytes.fromhex(origin.get("bytes", "")), DTYPES[case[2]])


@pytest.mark.parametrize("constant", [False, True], ids=["run_time", "constant"])
def test_recorded_results(constant, record_property):
    pairs = [*recorded_results()]
    assert len(pairs) > 400
    cases = [case for case, _ in pairs]
    wrong = [
        f"{case}: {result} is not {want}"
        for (case, want), result in zip(pairs, run_all(cases, constant))
        if not same(result, want)
    ]
    how = "operands constant" if constant else "operands at run time"
    record_property("count", f"Range, {how}: {len(pairs) - len(wrong)} of {len(pairs)} cases equal to torch.arange")
    assert not wrong, f"{len(wrong)} of {len(pairs)} cases, the first:\n" + "\n".join(wrong[:5])


def test_recorded_results_are_exact():
    for case, want in recorded_results():
        assert same(reference(*case), want), case


def test_recorded_errors():
    """Everything else that torch.arange refuses, and a step that its cast makes zero."""
    by_kind = {}
    for case, origin in recorded():
        error = origin.get("error", "")
        if is_zero_after_cast(*case) and all(map(math.isfinite, case[1])):
            by_kind.setdefault(("zero", is_integer(case[0][2])), []).append(case)
        elif error and "inconsistent" not in error and "invalid size" not in error:
            by_kind.setdefault(error.split(":")[0].split(" got ")[0][:30], []).append(case)
    assert len(by_kind) >= 4
    for cases in by_kind.values():
        for case in cases[:3]:
            with pytest.raises(strata.RunError, match="node0: (start|stop|step) is"):
                strata.compile(build([case])).run(feeds([case]))
            with pytest.raises(strata.CompileError, match="node0.*: (start|stop|step) is"):
                strata.compile(build([case], constant=True))


# ---- OpenVINO's results, for information ----


def test_observed_results_of_openvino(record_property):
    """The specification decides. Its own implementation agrees with it, or not, as docs/operators/Range.md says."""
    cases, run_time, folded = [], [], []
    for origin in json.loads((INPUTS / "openvino_range.json").read_text())["cases"]:
        types = origin.get("types")
        if not types or "boolean" in types:
            continue
        values = [number(kind, text) for kind, text in zip(types, origin["values"])]
        # As the operand's type has it.
        values = [int(v) if is_integer(k) else float(np.array(v, DTYPES[k])) for k, v in zip(types, values)]
        case = types, values, origin["output_type"]
        if any(map(math.isnan, values)) or values[2] == 0 or is_zero_after_cast(*case):
            with pytest.raises(strata.RunError):
                strata.compile(build([case])).run(feeds([case]))
            continue
        cases.append(case)
        run_time.append(origin["cpu"])
        folded.append(origin["folded"])
    for constant in (False, True):
        for case, result in zip(cases, run_all(cases, constant)):
            assert same(result, reference(*case)), case

    def agreeing(observed):
        def equal(case, seen):
            dtype = DTYPES[case[2]]
            want = reference(*case)
            if "values" not in seen:
                return len(want) == seen.get("shape", [-1])[0] and same(want[:8], np.array(seen["first"]).astype(dtype))
            return same(want, np.array([number(case[2], text) for text in seen["values"]]).astype(dtype))

        return sum(equal(case, seen) for case, seen in zip(cases, observed))

    counts = agreeing(run_time), agreeing(folded)
    record_property("count", f"Range: of {len(cases)} cases OpenVINO agrees with its specification in {counts[0]} at "
                             f"run time and in {counts[1]} when it folds")  # fmt: skip
    assert max(counts) < len(cases)


# ---- Every type of the operands and of the result ----

NUMBERS = [(1, 7, 2), (7, 1, 2), (0, 7, 3), (2, 2, 1)]
SIGNED = [(3, -4, -2), (-3, 4, 2)]
FRACTIONS = [(1.5, 6.25, 1.0), (0.25, 4.0, 1.25)]


def matrix(output):
    kinds = [*ELEMENTS]
    for i, first in enumerate(kinds):
        for types in [(first,) * 3, (first, kinds[(i + 5) % 16], kinds[(i + 9) % 16])]:
            choice = NUMBERS
            if not any(map(is_integer, types)):
                choice = FRACTIONS
            elif not any(kind[0] == "u" for kind in types):
                choice = SIGNED
            for values in (choice[i % len(choice)], NUMBERS[i % len(NUMBERS)])[: 1 + (types[0] == types[1])]:
                yield types, values, output


@pytest.mark.parametrize("output", ELEMENTS)
def test_every_type(output, record_property, tmp_path):
    def prove(*columns):
        for column in columns:
            record_property("cell", f"Range|4|{output}|{column}")

    cases = [*matrix(output)]
    expected = [reference(*case) for case in cases]

    def check(results):
        for case, result, want in zip(cases, results, expected):
            assert same(result, want), (case, result, want)

    prove("verify")
    proto = build(cases)
    model = strata.compile(proto)
    assert all(value.shape == (None,) and value.dtype == DTYPES[output] for value in model.outputs)
    check(model.run(feeds(cases)))
    prove("dynamic", "JIT")
    check(load_library(proto, tmp_path).run(feeds(cases)))
    prove("artifact")
    model = strata.compile(build(cases, constant=True))
    assert [value.shape for value in model.outputs] == [want.shape for want in expected]
    prove("infer")
    check(model.run([]))
    prove("fold")
    # A declared size is what the run must give.
    shapes = [list(want.shape) for want in expected]
    check(strata.compile(build(cases, shapes=shapes)).run(feeds(cases)))
    prove("static")


def test_a_result_without_a_declaration():
    case = ("i32", "i32", "i32"), (0, 3, 1), "i32"
    proto = build([case])
    proto.graph.node.append(helper.make_node("Neg", ["y0"], ["negative"]))
    proto.graph.output[0].name = "negative"
    assert strata.compile(proto).run(feeds([case]))[0].tolist() == [0, -1, -2]


def test_a_declared_size_is_checked():
    case = ("i32", "i32", "i32"), (0, 3, 1), "i32"
    model = strata.compile(build([case], shapes=[[3]]))
    assert model.run(feeds([case]))[0].tolist() == [0, 1, 2]
    with pytest.raises(strata.RunError, match="node0: size of dimension 0 is not the declared 3"):
        model.run(feeds([(case[0], (0, 4, 1), "i32")]))


HIGH, LOW = 2**63 - 1, -(2**63)
WIDE = [
    (("i64",) * 3, (2**62, 2**62 + 7, 3), "i64"),
    (("i64",) * 3, (2**53 + 1, 2**53 + 6, 2), "i64"),
    (("i64",) * 3, (LOW, HIGH, 2**62), "i64"),
    (("i64",) * 3, (HIGH, LOW, LOW), "i64"),
    (("i64",) * 3, (HIGH, LOW, -(2**61)), "i64"),
    (("i64",) * 3, (LOW, LOW + 3, 1), "i64"),
    (("u64",) * 3, (2**63 + 5, 2**63 + 9, 2), "u64"),
    (("u64",) * 3, (2**64 - 4, 2**64 - 1, 1), "u64"),
    (("u64",) * 3, (0, 2**64 - 1, 2**63 + 3), "u64"),
    (("i64", "u64", "u64"), (LOW, 2**64 - 1, 2**63), "u64"),
    (("u64", "i64", "i64"), (2**64 - 1, LOW, LOW), "i64"),
    (("u64", "i64", "i64"), (2**64 - 1, LOW, -(2**60) - 1), "u64"),
    (("i64", "u64", "u64"), (LOW, 2**64 - 1, 2**64 - 1), "i64"),
    (("u64", "u64", "i8"), (2**64 - 1, 2**64 - 5, -1), "u64"),
    (("f64", "f64", "f64"), (2.0**63, 2.0**63 + 8192, 2048.0), "u64"),
    (("i64",) * 3, (2**53, 2**53 + 5, 1), "f64"),
]


@pytest.mark.parametrize("constant", [False, True], ids=["run_time", "constant"])
def test_64_bits(constant):
    for case, result in zip(WIDE, run_all(WIDE, constant)):
        assert same(result, reference(*case)), (case, result, reference(*case))


@pytest.mark.parametrize("output", ["f16", "bf16", "f32", "f64", "i64", "u8"])
def test_long(output):
    """No element depends on the ones before it, whatever the vectors, threads and constants."""
    kind = "f64" if not is_integer(output) else "i32"
    case = (kind,) * 3, (-3.7, 2.9e4, 0.29) if kind == "f64" else (-50000, 50003, 1), output
    run_time = strata.compile(build([case]), threads=2).run(feeds([case]))[0]
    assert same(run_time, strata.compile(build([case], constant=True)).run([])[0])
    assert same(run_time, strata.compile(build([case]), opt_level=0).run(feeds([case]))[0])
    assert len(run_time) == count_of(*case) >= 100000
    start, _, step = case[1]
    for i in (*range(40), *range(1000, len(run_time), 4999), len(run_time) - 1):
        if is_integer(output):
            assert run_time[i] == np.array(start + i * step).astype(DTYPES[output])
        elif output in ("f32", "f64"):
            assert run_time[i] == DTYPES[output].type(float(Fraction(start) + i * Fraction(step)))
        else:
            first, by = (Fraction(float(np.float32(v))) for v in (start, step))
            # The index itself is rounded in float32 beyond 2^24 only.
            assert run_time[i] == np.float32(nearest_f32(first + i * by)).astype(DTYPES[output])


# ---- What is refused ----

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    "types, values, output, message",
    [
        ("f32 f32 f32", (0, 3, 0), "f32", "step is zero"),
        ("f32 f32 f32", (0, 3, -0.0), "f32", "step is zero"),
        ("i64 i64 i64", (3, 3, 0), "i64", "step is zero"),
        ("u8 u8 u8", (3, 3, 0), "f16", "step is zero"),
        ("f32 f32 f32", (0, 3, 0.5), "i32", "step is zero after its cast to 64-bit integers"),
        ("f32 f32 f16", (0, 3, -0.5), "u64", "step is zero after its cast to 64-bit integers"),
        ("f64 f64 f64", (0, 3e-300, 1e-300), "bf16", "step is zero after its cast to f32"),
        ("f32 f32 f32", (NAN, 3, 1), "f32", "start is infinite or not a number"),
        ("f16 f16 f16", (0, INF, 1), "i8", "stop is infinite or not a number"),
        ("f64 bf16 f32", (0, 1, -INF), "f64", "step is infinite or not a number"),
        ("f32 f32 f32", (1e19, 2e19, 1e18), "i32", "start is out of the range of 64-bit integers"),
        ("f32 f32 f32", (0, 1e30, 1e29), "u64", "stop is out of the range of 64-bit integers"),
        ("f64 f64 f64", (0, 1e300, 1e299), "f16", "stop is out of the range of f32"),
        ("i64 i64 i64", (0, HIGH, 1), "i64", "there are more elements than memory can hold"),
        ("i64 u64 i8", (LOW, 2**64 - 1, 1), "u64", "there are more elements than memory can hold"),
        ("f64 f64 f64", (-1e308, 1e308, 1e-300), "f32", "there are more elements than memory can hold"),
        ("f32 f32 f32", (0, 1, 1e-38), "f16", "there are more elements than memory can hold"),
    ],
)
def test_errors(types, values, output, message):
    case = types.split(), values, output
    with pytest.raises(strata.RunError) as error:
        strata.compile(build([case])).run(feeds([case]))
    assert str(error.value).startswith(f"node0: {message}")
    with pytest.raises(strata.CompileError) as error:
        strata.compile(build([case], constant=True))
    assert message in str(error.value) and "node0" in str(error.value)


def test_more_than_this_machine_has():
    """Within the address space, but not within memory: the run says so, and the next one works."""
    case = ("i64",) * 3, (0, 2**42, 1), "i64"
    for constant in (False, True):
        model = strata.compile(build([case], constant))
        with pytest.raises(strata.RunError, match="memory"):
            model.run([] if constant else feeds([case]))
    model = strata.compile(build([case]))
    assert model.run(feeds([(case[0], (0, 3, 1), "i64")]))[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("code", [TensorProto.BOOL, TensorProto.STRING, TensorProto.COMPLEX64], ids=TensorProto.DataType.Name)
@pytest.mark.parametrize("position", range(3))
def test_operands_that_are_no_numbers(code, position):
    proto = build([(("f32",) * 3, (0, 1, 1), "f32")])
    proto.graph.input[position].type.tensor_type.elem_type = code
    with pytest.raises(strata.CompileError, match="node0"):
        strata.compile(proto)


def test_refused_attributes():
    def message(edit):
        proto = build([(("f32",) * 3, (0, 1, 1), "f32")])
        edit(proto.graph)
        with pytest.raises(strata.CompileError, match="node0") as error:
            strata.compile(proto)
        return str(error.value)

    def output_type(name):
        return lambda graph: setattr(graph.node[0].attribute[0], "s", name)

    assert "attribute 'output_type' is 'float'" in message(output_type(b"float"))
    assert "attribute 'output_type' is 'boolean'" in message(output_type(b"boolean"))
    assert "output_type" in message(lambda graph: graph.node[0].ClearField("attribute"))
    assert "axis" in message(lambda graph: graph.node[0].attribute.append(helper.make_attribute("axis", 1)))
    for position, name in enumerate(["start", "stop", "step"]):

        def vector(graph):
            graph.input[position].type.tensor_type.shape.dim.add().dim_value = 1

        assert f"{name} must be a scalar, but is of rank 1" in message(vector)
