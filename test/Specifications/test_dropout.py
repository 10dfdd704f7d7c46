"""Dropout at every version against docs/operators/Dropout.md in NumPy (philox.py), and its statistics."""

import math
import re

import numpy as np
import pytest
import strata
from Specifications import philox
from Specifications.random_models import NAMES, Graph, negatives, numpy_type, opt, same

FLOATS = ["float16", "float", "double"]
FLOAT8 = ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"]
TYPES = {
    1: FLOATS, 6: FLOATS, 7: FLOATS, 10: FLOATS, 12: FLOATS, 13: [*FLOATS, "bfloat16"],
    22: [*FLOATS, "bfloat16", *FLOAT8],
}  # fmt: skip
VERSIONS = list(TYPES)
TRAINING = [1, 6]  # the versions that train by an attribute
INFERENCE = [7, 10]
OPERANDS = [12, 13, 22]
# Of the operand ratio; that of 13 forgets bfloat16.
RATIO_TYPES = {12: FLOATS, 13: FLOATS, 22: TYPES[22]}
SESSION = 77


def cells(record_property, version, types, *columns):
    for dtype in types:
        for column in columns:
            record_property("cell", f"Dropout|{version}|{dtype}|{column}")


def data(dtype, shape):
    """Numbers of all sizes, infinities where the type has them, and NaN."""
    x = np.random.default_rng(1).normal(0, 30, shape)
    x.reshape(-1)[:3] = (np.nan, 1e9, -0.0)[: x.size]
    with np.errstate(over="ignore"):
        return philox.narrowed(x.astype(np.float32), numpy_type(dtype))


def mask_type(version, dtype):
    return dtype if version < 10 else "bool"


def train_graph(version, shape, ratio=0.3):
    """Every type in training mode, with a mask, by what the version has: attributes, or operands. Returns the graph and
    the key of each node in a run."""
    graph, keys = Graph(version), lambda run: [key(run) for key in made]
    made = []
    for i, dtype in enumerate(TYPES[version]):
        x, mask = graph.input(f"x_{dtype}", dtype, shape), mask_type(version, dtype)
        if version in TRAINING:
            more = {"consumed_inputs": [0]} if version == 1 else {}
            graph.node("Dropout", [x], [dtype, mask], ratio=ratio, **more)
            made.append(lambda run, i=i: philox.derived_key(SESSION, run, i))
        else:
            operands = [graph.constant(f"ratio{i}", np.float32(ratio)), graph.constant(f"training{i}", np.array(True))]
            graph.node("Dropout", [x, *operands], [dtype, mask], seed=i - 1)
            made.append(lambda run, i=i: philox.integer_key(i - 1))
    return graph, keys


def check_training(model, version, keys, shape, run=0, ratio=0.3):
    feeds = [data(t, shape) for t in TYPES[version]]
    outputs = model.run(feeds)
    for i, (dtype, key) in enumerate(zip(TYPES[version], keys(run), strict=True)):
        output, mask = philox.dropout(feeds[i], np.float32(ratio).astype(np.float64), key)
        assert_values(outputs[2 * i], output)
        same(outputs[2 * i + 1], mask.astype(numpy_type(mask_type(version, dtype))))


def assert_values(actual, expected):
    """Equal bits, but for the bits of a NaN."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    lost = np.isnan(expected.astype(np.float64))
    assert np.isnan(actual.astype(np.float64))[lost].all()
    same(actual[~lost], expected[~lost])


@pytest.mark.parametrize("version", TRAINING + OPERANDS)
def test_training(version, tmp_path, record_property):
    shape = (5, 13, 3)
    graph, keys = train_graph(version, shape)
    check_training(graph.compile(threads=1, seed=SESSION), version, keys, shape)
    check_training(graph.build(tmp_path, threads=2, seed=SESSION), version, keys, shape)
    cells(record_property, version, TYPES[version], "static", "JIT", "artifact")


@pytest.mark.parametrize("version", TRAINING + OPERANDS)
def test_training_with_dynamic_shapes(version, record_property):
    graph, keys = train_graph(version, ("n", 13, "m"))
    model = graph.compile(threads=2, seed=SESSION)
    for run, shape in enumerate([(5, 13, 3), (1, 13, 1), (0, 13, 2), (3, 13, 67)]):
        check_training(model, version, keys, shape, run)
    cells(record_property, version, TYPES[version], "dynamic")


def test_large_tensors_are_the_same_on_all_threads():
    shape = (100, 3001)
    graph, keys = train_graph(22, shape)
    for options in ({"threads": 1}, {"threads": 2}, {"opt_level": 0}):
        check_training(graph.compile(seed=SESSION, **options), 22, keys, shape)


@pytest.mark.parametrize("version", VERSIONS)
def test_inference_is_the_data_and_keeps_everything(version, tmp_path, record_property):
    shape, graph = (5, 13), Graph(version)
    for i, dtype in enumerate(TYPES[version]):
        x = graph.input(f"x_{dtype}", dtype, shape if i % 2 else ("n", 13))
        results = [dtype, mask_type(version, dtype)]
        if version in TRAINING:
            graph.node("Dropout", [x], results, is_test=1)
        elif version in INFERENCE:
            graph.node("Dropout", [x], results, ratio=0.9)
        elif i % 2:
            graph.node("Dropout", [x], results)
        else:
            graph.node("Dropout", [x, graph.constant(f"r{i}", np.array(0.9, np.float32))], results)
    feeds = [data(t, shape) for t in TYPES[version]]
    for model in (graph.compile(), graph.build(tmp_path)):
        outputs = model.run(feeds)
        for i, dtype in enumerate(TYPES[version]):
            same(outputs[2 * i], feeds[i])
            same(outputs[2 * i + 1], np.ones(shape, numpy_type(mask_type(version, dtype))))
    if version in INFERENCE:
        cells(record_property, version, TYPES[version], "static", "dynamic", "JIT", "artifact")


def folded_graph(version, values, known):
    """Each type with its mode and ratio as constants or as inputs."""
    graph = Graph(version)
    for dtype in TYPES[version]:
        names = [graph.input(f"x_{dtype}", dtype, (50,))]
        if version in OPERANDS:
            for name, value in values.items():
                name = f"{name}_{dtype}"
                kind = "bool" if value.dtype == bool else "double"
                names.append(graph.constant(name, value) if known else graph.input(name, kind, ()))
        attributes = {"seed": 5} if version in OPERANDS else {"is_test": 0} if version in TRAINING else {}
        graph.node("Dropout", names, [dtype, mask_type(version, dtype)], **attributes)
    return graph


@pytest.mark.parametrize("version", VERSIONS)
def test_known_and_run_time_operands_give_the_same(version, record_property):
    types = TYPES[version]
    for training in (True, False):
        values = {"ratio": np.array(0.4), "training_mode": np.array(training)}
        known = folded_graph(version, values, True).compile(seed=SESSION)
        open_ = folded_graph(version, values, False).compile(seed=SESSION)
        feeds = {f"x_{t}": data(t, (50,)) for t in types}
        more = {f"{name}_{t}": value for t in types for name, value in values.items()}
        outputs = known.run(feeds), open_.run(feeds | more if version in OPERANDS else feeds)
        for a, b in zip(*outputs, strict=True):
            assert_values(a, b) if a.dtype != bool else same(a, b)
        if version in OPERANDS:
            for i, dtype in enumerate(types):
                x = feeds[f"x_{dtype}"]
                want = philox.dropout(x, 0.4, 5) if training else (x, np.ones(50, bool))
                assert_values(outputs[1][2 * i], want[0])
                same(outputs[1][2 * i + 1], want[1])
    cells(record_property, version, types, "fold")


@pytest.mark.parametrize("version", OPERANDS)
def test_ratio_at_run_time_in_every_type(version):
    graph, x = Graph(version), data("float", (200,))
    graph.input("x", "float", (200,))
    graph.input("training", "bool", ())
    for dtype in RATIO_TYPES[version]:
        graph.node("Dropout", ["x", graph.input(f"r_{dtype}", dtype, ()), "training"], ["float", "bool"], seed=3)
    model = graph.compile()
    for ratio in (0.0, 0.25, 0.875, 0.93):
        ratios = [np.array(ratio).astype(numpy_type(t)) for t in RATIO_TYPES[version]]
        for training in (True, False):
            outputs = model.run([x, np.array(training), *ratios])
            for i, r in enumerate(ratios):
                want = philox.dropout(x, r.astype(np.float64), 3) if training else (x, np.ones(200, bool))
                assert_values(outputs[2 * i], want[0])
                same(outputs[2 * i + 1], want[1])


@pytest.mark.parametrize("ratio", [np.nextafter(np.float32(1), np.float32(0)), 1 - 2.0**-53, 2.0**-30, 0.0])
def test_ratios_at_the_ends(ratio):
    for known in (True, False):
        graph = Graph(22)
        name = graph.constant("r", np.float64(ratio)) if known else graph.input("r", "double", ())
        graph.node("Dropout", [graph.input("x", "double", ["n"]), name, graph.constant("t", np.array(True))], ["double"], seed=1)
        x = np.random.default_rng(2).normal(size=1000)
        feeds = {"x": x} if known else {"x": x, "r": np.float64(ratio)}
        same(graph.compile().run(feeds)[0], philox.dropout(x, float(ratio), 1)[0])


def test_a_ratio_out_of_range_at_run_time_is_an_error():
    graph = Graph(22)
    names = [graph.input("x", "float", [4]), graph.input("r", "float", ()), graph.input("t", "bool", ())]
    graph.node("Dropout", names, ["float"])
    model = graph.compile()
    for ratio in (1.0, -0.25, 7.0, np.nan, np.inf):
        for training in (True, False):
            with pytest.raises(strata.RunError, match=r"ratio is not in \[0, 1\).*|.*node0"):
                model.run([np.ones(4, np.float32), np.float32(ratio), np.array(training)])
    same(model.run([np.ones(4, np.float32), np.float32(0.5), np.array(False)])[0], np.ones(4, np.float32))


@pytest.mark.parametrize("version", VERSIONS)
def test_verifier(version, tmp_path, record_property):
    parts = []
    for dtype in TYPES[version]:
        x, mask = f"tensor<2x{NAMES[dtype]}>", f"tensor<2x{NAMES[mask_type(version, dtype)]}>"
        head, tail = f"func.func @f(%x: {x}, %r: tensor<f32>, %t: tensor<i1>) {{\n", "\nreturn\n}"

        def op(attributes="", operands="", types="", results=f"{x}, {mask}", name="Dropout"):
            return f"%0, %1 = onnx.{name}_{version}(%x{operands}) {{{attributes}}} : ({x}{types}) -> ({results})"

        wrong_mask = f"{x}, tensor<2x{'i1' if version < 10 else NAMES[dtype]}>"
        wrong = [("", op(results=wrong_mask), "result #1" if version >= 10 or version < 10 else "")]
        if version in OPERANDS:
            good = op("seed = -3 : i64", ", %r, %t", ", tensor<f32>, tensor<i1>")
            for value in ("1.0", "-0.5", "0x7FC00000"):
                constant = f"%c = onnx.Initializer dense<{value}> : tensor<f32>\n"
                wrong.append((constant, op(operands=", %c", types=", tensor<f32>"), "but must be in [0, 1)"))
            wrong.append(("", op("ratio = 0.5 : f32"), "ratio"))
        else:
            good = op("ratio = 0.0 : f32" + (", is_test = 1 : i64" if version < 7 else ""))
            wrong += [("", op(f"ratio = {value} : f32"), "but must be in [0, 1)") for value in ("1.0", "-0.5")]
            wrong.append(("", op("seed = 1 : i64"), "seed"))
        if version != 1:
            wrong.append(("", op("consumed_inputs = array<i64: 0>"), "consumed_inputs"))
        if version > 6:
            wrong.append(("", op("is_test = 1 : i64"), "is_test"))
        parts.append(head + good + tail)
        parts += negatives(head, wrong, tail)
    for other in ["i32", "i1", *({NAMES[t] for t in TYPES[22]} - {NAMES[t] for t in TYPES[version]})]:
        line = f"%0 = onnx.Dropout_{version}(%x) : (tensor<2x{other}>) -> tensor<2x{other}>"
        parts += negatives(f"func.func @f(%x: tensor<2x{other}>) {{\n", [("", line, "operand #0")], "\nreturn\n}")
    opt("\n// -----\n".join(parts), "--verify-diagnostics", folder=tmp_path)
    cells(record_property, version, TYPES[version], "verify")


@pytest.mark.parametrize("version", VERSIONS)
def test_shape_inference(version, tmp_path, record_property):
    parts, expected = [], []
    for dtype in TYPES[version]:
        mask = NAMES[mask_type(version, dtype)]
        for shape in ["2x3x", "?x3x", "*x", ""]:
            x = f"tensor<{shape}{NAMES[dtype]}>"
            open_ = f"tensor<*x{NAMES[dtype]}>, tensor<*x{mask}>"
            parts.append(
                f"func.func @f(%x: {x}) -> ({open_}) {{\n%0, %1 = onnx.Dropout_{version}(%x) : ({x}) -> ({open_})\n"
                f"return %0, %1 : {open_}\n}}"
            )
            expected.append(f"({x}, tensor<{shape}{mask}>)")
    text = opt("\n// -----\n".join(parts), "--onnx-infer-shapes", folder=tmp_path)
    assert re.findall(r"func\.func @f\(.*\) -> (\(.*\)) \{", text) == expected
    if version in OPERANDS:
        for formal, types, what in [(1, "tensor<1xf32>", "ratio"), (2, "tensor<2xi1>", "training_mode")]:
            operands = ["%r" if formal == 1 else "%s", "%t"][:formal]
            text = (
                f"func.func @f(%x: tensor<2xf32>, %r: tensor<1xf32>, %s: tensor<f32>, %t: {types}) {{\n"
                f"// expected-error @+1 {{{{{what} must be a scalar, but is of rank 1}}}}\n"
                f"%0 = onnx.Dropout_{version}(%x, {', '.join(operands)}) : "
                f"(tensor<2xf32>, {', '.join(['tensor<1xf32>' if formal == 1 else 'tensor<f32>', types][:formal])})"
                " -> tensor<2xf32>\nreturn\n}"
            )
            opt(text, "--onnx-infer-shapes", "--verify-diagnostics", folder=tmp_path)
    cells(record_property, version, TYPES[version], "infer")


def test_seeds():
    graph, x = Graph(13), np.ones(100, np.float32)
    operands = [graph.constant("r", np.float32(0.5)), graph.constant("t", np.array(True))]
    graph.input("x", "float", [100])
    for attributes in ({}, {"seed": 4}, {}, {"seed": -1}):
        graph.node("Dropout", ["x", *operands], ["float"], **attributes)
    for advance in (False, True):
        model = graph.compile(seed=SESSION, advance_seeds=advance)
        for run in range(3):
            outputs = model.run([x])
            for node in (0, 2):
                same(outputs[node], philox.dropout(x, 0.5, philox.derived_key(SESSION, run, node))[0])
            for node, key in ((1, 4), (3, 2**64 - 1)):
                key = philox.derived_key(key, run) if advance and run else key
                same(outputs[node], philox.dropout(x, 0.5, key)[0])


def test_statistics():
    """Kept share, mean and neighbours of 10^7 elements."""
    count = 10_000_000
    for ratio in (0.1, 0.5, 0.99):
        graph = Graph(22)
        operands = [graph.constant("r", np.float32(ratio)), graph.constant("t", np.array(True))]
        x = graph.input("x", "float", ["n"])
        graph.node("Dropout", [x, *operands], ["float", "bool"], seed=10)
        graph.node("Dropout", [x, *operands], ["float", "bool"], seed=11)
        output, mask, _, other = graph.compile().run([np.ones(count, np.float32)])
        kept = 1 - float(np.float32(ratio))
        deviation = math.sqrt(kept * (1 - kept) / count)
        assert abs(mask.mean() - kept) < 5 * deviation
        assert abs(output.mean(dtype=np.float64) - 1) < 5 * deviation / kept + 1e-6
        assert set(np.unique(output)) == {np.float32(0), np.float32(1 / kept)}
        same(output != 0, mask)
        # Of neighbours, and of two seeds.
        for a, b in ((mask[:-1], mask[1:]), (mask, other)):
            both = np.count_nonzero(a & b) / len(a)
            covariance = both - a.mean() * b.mean()
            assert abs(covariance) < 5 * kept * (1 - kept) / math.sqrt(count)
