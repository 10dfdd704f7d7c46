"""RandomUniformLike and its siblings against docs/random-numbers.md in NumPy (philox.py), and their statistics."""

import math
import re

import numpy as np
import pytest
import strata
from Specifications import philox
from Specifications.random_models import NAMES, Graph, code, negatives, numpy_type, opt, same

FLOATS = {1: ["float16", "float", "double"], 22: ["float16", "float", "double", "bfloat16"]}
OTHERS = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "string", "complex64",
    "complex128",
]  # fmt: skip
TYPES = {version: [*floats, *OTHERS] for version, floats in FLOATS.items()}
VERSIONS = list(TYPES)
SEED = 2.5


def cells(record_property, version, types, *columns):
    """Rows of the table are result types; each stands for the inputs of its own and of other types."""
    for dtype in set(types) & set(FLOATS[version]):
        for column in columns:
            record_property("cell", f"RandomUniformLike|{version}|{dtype}|{column}")


def filled(dtype, shape):
    if dtype == "string":
        return np.full(shape, "text", object)
    return np.ones(shape, numpy_type(dtype))


def uniform_graph(version, types, shape, constant_inputs=False):
    """One RandomUniformLike per input type, the result types in turn; what is expected of a shape, and the feeds."""
    graph, expected, floats = Graph(version), [], FLOATS[version]
    for i, dtype in enumerate(types):
        name = f"x_{dtype}"
        if constant_inputs:
            graph.constant(name, filled(dtype, shape))
        else:
            graph.input(name, dtype, shape)
        attributes = {"seed": SEED + i, "low": -1.5, "high": 0.3}
        result = dtype
        if dtype not in floats:
            result = floats[i % len(floats)]
            attributes["dtype"] = code(result)
        graph.node("RandomUniformLike", [name], [result], **attributes)
        expected.append((SEED + i, numpy_type(result)))
    return graph, expected


def check_uniform(model, expected, types, shape):
    outputs = model.run([filled(t, shape) for t in types] if model.inputs else [])
    for (seed, dtype), output in zip(expected, outputs, strict=True):
        want = philox.uniform_in(philox.float_key(seed), math.prod(shape), -1.5, 0.3, dtype)
        same(output, want.reshape(shape))
    return outputs


def test_the_oracle_gives_the_published_numbers():
    def words(counter, key):
        return [int(w) for w in philox.philox4x32(counter, key)]

    # kat_vectors of the paper's authors.
    assert words((0,) * 4, (0,) * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert words((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert words((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)) == [
        0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1,
    ]  # fmt: skip
    # And its logarithm and cosine are those of libm to a few units in the last place.
    w = philox.blocks(7, 1000)
    u = philox.unit(w[0], w[1]) + 2.0**-53
    np.testing.assert_allclose(philox.logarithm(u), np.log(u), rtol=1e-15)
    v = philox.unit(w[2], w[3])
    np.testing.assert_allclose(philox.cosine(w[2], w[3] >> np.uint64(11)), np.cos(2 * np.pi * v), atol=1e-15)


@pytest.mark.parametrize("version", VERSIONS)
def test_static_shapes_in_every_form(version, tmp_path, record_property):
    shape, types = (7, 3, 5), TYPES[version]
    graph, expected = uniform_graph(version, types, shape)
    compiled = check_uniform(graph.compile(threads=1), expected, types, shape)
    loaded = check_uniform(graph.build(tmp_path, threads=2), expected, types, shape)
    for a, b in zip(compiled, loaded):
        same(a, b)
    cells(record_property, version, types, "static", "JIT", "artifact")


@pytest.mark.parametrize("version", VERSIONS)
def test_dynamic_shapes(version, record_property):
    types = TYPES[version]
    graph, expected = uniform_graph(version, types, ("n", 3, "m"))
    model = graph.compile(threads=2)
    for shape in [(7, 3, 5), (1, 3, 1), (0, 3, 4), (2, 3, 129)]:
        check_uniform(model, expected, types, shape)
    cells(record_property, version, types, "dynamic")


@pytest.mark.parametrize("version", VERSIONS)
def test_inputs_that_are_constants(version, record_property):
    shape, types = (7, 3, 5), [t for t in TYPES[version] if t != "string"]
    graph, expected = uniform_graph(version, types, shape, constant_inputs=True)
    check_uniform(graph.compile(), expected, types, shape)
    cells(record_property, version, types, "fold")


def test_ranks_and_empty_tensors():
    graph = Graph(22)
    shapes = [(), (1,), (0,), (2, 0, 3), (1, 1, 1, 1, 5)]
    for shape in shapes:
        graph.node("RandomUniform", [], ["float"], shape=list(shape) or [1], seed=SEED)
    graph.node("RandomUniformLike", [graph.input("x", "float", [])], ["float"], seed=SEED)
    *outputs, scalar = graph.compile().run([np.float32(0)])
    first = philox.uniform_in(philox.float_key(SEED), 10, 0, 1, np.float32)
    for shape, output in zip([shapes[1], *shapes[1:]], outputs, strict=True):
        same(output, first[: math.prod(shape)].reshape(shape))
    same(scalar, first[0].reshape(()))


@pytest.mark.parametrize("version", VERSIONS)
def test_verifier(version, tmp_path, record_property):
    parts = []
    for dtype in TYPES[version]:
        mlir, result = NAMES[dtype], "f32" if dtype in OTHERS else NAMES[dtype]
        attribute = "dtype = 1 : i64, " if dtype in OTHERS else ""

        def op(attributes, types=f"(tensor<2x{mlir}>) -> tensor<2x{result}>"):
            return f"%0 = onnx.RandomUniformLike_{version}(%x) {{{attributes}}} : {types}"

        wrong = [
            (op(attribute + "low = 2.0 : f32"), "low is 2.000000e+00, which is not at most high, 1.000000e+00"),
            (op(attribute + "high = 0x7F800000 : f32"), "is beyond the range of"),
            (op("dtype = 6 : i64"), "dtype 6 (int32) is no type of its result"),
            (op("dtype = 99 : i64"), "dtype 99 is no element type"),
            (op(attribute + "mean = 1.0 : f32"), "mean"),
        ]
        if version < 22:
            wrong.append((op("dtype = 16 : i64"), "dtype 16 (bfloat16) is no type of its result"))
        if dtype in OTHERS:
            wrong.append((op(""), f"dtype is absent, and the input's type {dtype} is no type of its result"))
        head = f"func.func @f(%x: tensor<2x{mlir}>) {{\n"
        parts.append(head + op(attribute + "low = 0.5 : f32, high = 0.5 : f32, seed = 1.0 : f32") + "\nreturn\n}")
        parts += negatives(head, [("", *case) for case in wrong], "\nreturn\n}")
    for mlir in ["i4", "f8E4M3FN", *(["bf16"] if version < 22 else [])]:
        line = f"%0 = onnx.RandomUniformLike_{version}(%x) {{dtype = 1 : i64}} : (tensor<2x{mlir}>) -> tensor<2xf32>"
        parts += negatives(f"func.func @f(%x: tensor<2x{mlir}>) {{\n", [("", line, "operand #0")], "\nreturn\n}")
    opt("\n// -----\n".join(parts), "--verify-diagnostics", folder=tmp_path)
    cells(record_property, version, TYPES[version], "verify")


@pytest.mark.parametrize("version", VERSIONS)
def test_shape_inference(version, tmp_path, record_property):
    parts, expected = [], []
    for dtype in TYPES[version]:
        own = dtype not in OTHERS
        result = NAMES[dtype] if own else "f16"
        for shape in ["2x3x", "?x3x", "*x", ""]:
            given, attribute = f"tensor<{shape}{NAMES[dtype]}>", "" if own else "{dtype = 10 : i64} "
            parts.append(
                f"func.func @f(%x: {given}) -> tensor<*x{result}> {{\n%0 = onnx.RandomUniformLike_{version}(%x) "
                f"{attribute}: ({given}) -> tensor<*x{result}>\nreturn %0 : tensor<*x{result}>\n}}"
            )
            expected.append(f"tensor<{shape}{result}>")
    text = opt("\n// -----\n".join(parts), "--onnx-infer-shapes", folder=tmp_path)
    assert re.findall(r"func\.func @f\(.*\) -> (\S+) \{", text) == expected
    cells(record_property, version, TYPES[version], "infer")


def test_threads_and_vectors_do_not_matter():
    """A tensor large enough to be split among threads, at every level of optimisation."""
    graph, count = Graph(22), 300_001
    for dtype in FLOATS[22]:
        graph.node("RandomUniform", [], [dtype], shape=[count], dtype=code(dtype), seed=SEED, low=-2.0, high=5.0)
        graph.node("RandomNormal", [], [dtype], shape=[count], dtype=code(dtype), seed=SEED, mean=1.5, scale=0.7)
    results = [graph.compile(**o).run([]) for o in ({"threads": 1}, {"threads": 2}, {"opt_level": 0, "threads": 2})]
    key = philox.float_key(SEED)
    for i, dtype in enumerate(map(numpy_type, FLOATS[22])):
        uniform = philox.uniform_in(key, count, -2.0, 5.0, dtype)
        normal = philox.normal_with(key, count, 1.5, 0.7, dtype)
        for outputs in results:
            same(outputs[2 * i], uniform)
            same(outputs[2 * i + 1], normal)


def test_numbers_under_a_reduction_are_the_same():
    graph = Graph(22)
    (name,) = graph.node("RandomUniform", [], ["float"], shape=[64, 100], seed=SEED, high=3.0)
    graph.node("ReduceMax", [name, graph.constant("axes", np.array([1]))], ["float"], keepdims=0)
    values, largest = graph.compile().run([])
    same(largest, values.max(axis=1))


@pytest.mark.parametrize("low, high", [(0.1, 0.11), (1, np.nextafter(np.float32(1), np.float32(2))), (-1e-30, 1e-30)])
def test_no_value_is_high_or_below_low_in_any_type(low, high):
    count, low, high = 100_000, float(np.float32(low)), float(np.float32(high))
    for dtype in FLOATS[22]:
        graph = Graph(22)
        attributes = {"shape": [count], "dtype": code(dtype), "seed": SEED, "low": low, "high": high}
        graph.node("RandomUniform", [], [dtype], **attributes)
        try:
            (values,) = graph.compile().run([])
        except strata.CompileError as error:
            assert f"no {dtype} lies in [" in str(error) and dtype in ("float16", "bfloat16")
            continue
        values = values.astype(np.float64)
        assert values.min() >= low and values.max() < high


def test_low_equal_to_high_is_that_value():
    graph = Graph(22)
    for dtype in FLOATS[22]:
        graph.node("RandomUniform", [], [dtype], shape=[3], dtype=code(dtype), low=0.1, high=0.1)
    for dtype, output in zip(FLOATS[22], graph.compile().run([])):
        same(output, np.full(3, np.float32(0.1)).astype(numpy_type(dtype)))


# ---- Seeds


def seedless():
    """Two nodes without a seed, one with."""
    graph = Graph(22)
    graph.node("RandomUniform", [], ["double"], shape=[5], dtype=11)
    graph.node("RandomUniformLike", [graph.input("x", "float", [5])], ["double"], dtype=11)
    graph.node("RandomNormal", [], ["double"], shape=[5], dtype=11, seed=SEED)
    return graph


def runs(model, count=3):
    return [model.run([np.zeros(5, np.float32)]) for _ in range(count)]


@pytest.mark.parametrize("form", ["JIT", "artifact"])
def test_the_session_seed_the_run_and_the_node_make_the_key(form, tmp_path):
    graph = seedless()

    def start(**options):
        return graph.compile(**options) if form == "JIT" else graph.build(tmp_path, **options)

    for advance in (False, True):
        for run, (a, b, seeded) in enumerate(runs(start(seed=123456789012345, advance_seeds=advance))):
            for node, output in enumerate((a, b)):
                same(output, philox.uniform(philox.derived_key(123456789012345, run, node), 5))
            key = philox.float_key(SEED)
            same(seeded, philox.normal(philox.derived_key(key, run) if advance and run else key, 5))
    # Without a seed each session has its own.
    (one, _, _), (other, _, _) = runs(start(), 1)[0], runs(start(), 1)[0]
    assert not np.array_equal(one, other)


def test_a_loop_draws_anew_in_every_iteration():
    from onnx import parser

    text = """
    <ir_version: 10, opset_import: ["" : 22]>
    loop () => (double[n, 4] ys, double[m, 4] zs) {
      count = Constant <value_int = 3> ()
      yes = Constant <value = bool[1] {1}> ()
      scalar = Squeeze (yes)
      ys, zs = Loop (count, scalar) <body = step (int64 i, bool go) => (bool on, double[4] y, double[4] z) {
        on = Identity (go)
        y = RandomUniform <shape = [4], dtype = 11> ()
        z = RandomUniform <shape = [4], dtype = 11, seed = 2.5> ()
      }>
    }"""
    model = strata.compile(parser.parse_model(text), seed=9)
    for run in range(2):
        ys, zs = model.run([])
        same(ys, np.stack([philox.uniform(philox.derived_key(9, run, 0, i), 4) for i in range(3)]))
        same(zs, np.stack([philox.uniform(philox.float_key(2.5), 4)] * 3))


# ---- Statistics on 10^7 numbers

COUNT = 10_000_000


def near(value, expected, deviation):
    assert abs(value - expected) < 5 * deviation, (value, expected, deviation)


def kolmogorov_smirnov(cumulative, expected):
    """Of cumulative counts at given points: below the 0.1 % point of Kolmogorov's distribution."""
    assert np.abs(cumulative / cumulative[-1] - expected).max() < 1.95 / math.sqrt(COUNT)


def correlation(x, y):
    x, y = x - x.mean(), y - y.mean()
    return float(x @ y) / math.sqrt(float(x @ x) * float(y @ y))


def test_statistics_of_uniform_numbers(record_property):
    for dtype in FLOATS[22]:
        graph = Graph(22)
        for seed in (1.0, float(np.nextafter(np.float32(1), np.float32(2)))):
            graph.node("RandomUniform", [], [dtype], shape=[COUNT], dtype=code(dtype), seed=seed, low=-1.0, high=3.0)
        raw, other = graph.compile().run([])
        values, other = raw.astype(np.float64), other.astype(np.float64)
        assert values.min() >= -1 and values.max() < 3
        near(values.mean(), 1, math.sqrt(16 / 12 / COUNT))
        near(values.var(), 16 / 12, 16 * math.sqrt(1 / 180 / COUNT))
        near(correlation(values[:-1], values[1:]), 0, 1 / math.sqrt(COUNT))
        near(correlation(values, other), 0, 1 / math.sqrt(COUNT))
        if raw.dtype.itemsize == 2:
            # The probability of each value is the share that rounds to it.
            counts = np.bincount(raw.view(np.uint16), minlength=1 << 16)
            with np.errstate(invalid="ignore"):
                points = np.arange(1 << 16, dtype=np.uint16).view(raw.dtype).astype(np.float64)
            inside = np.flatnonzero((points >= -1) & (points < 3))
            order = inside[np.argsort(points[inside], kind="stable")]
            upper = np.append((points[order][1:] + points[order][:-1]) / 2, 3)
            kolmogorov_smirnov(np.cumsum(counts[order]), (upper + 1) / 4)
        else:
            counts = np.bincount(((values + 1) * (1 << 14)).astype(np.int64), minlength=1 << 16)
            kolmogorov_smirnov(np.cumsum(counts), np.arange(1, (1 << 16) + 1) / (1 << 16))
        record_property("statistics", f"RandomUniform {dtype}: mean {values.mean():.6f}, variance {values.var():.6f}")


def test_statistics_of_normal_numbers():
    graph = Graph(22)
    graph.node("RandomNormal", [], ["float"], shape=[COUNT], seed=1.0)
    values = graph.compile().run([])[0].astype(np.float64)
    near(values.mean(), 0, 1 / math.sqrt(COUNT))
    near(values.var(), 1, math.sqrt(2 / COUNT))
    near((values**3).mean(), 0, math.sqrt(15 / COUNT))
    near((values**4).mean(), 3, math.sqrt(96 / COUNT))
    near(correlation(values[:-1], values[1:]), 0, 1 / math.sqrt(COUNT))
    edges = np.linspace(-6, 6, 1201)
    counts = np.histogram(values, np.concatenate([[-np.inf], edges, [np.inf]]))[0]
    expected = np.array([*(0.5 * math.erfc(-x / math.sqrt(2)) for x in edges), 1.0])
    kolmogorov_smirnov(np.cumsum(counts), expected)


# ---- The siblings


@pytest.mark.parametrize("version", VERSIONS)
def test_normal_numbers_of_every_type(version, tmp_path):
    shape = (3, 41)
    graph, expected = Graph(version), []
    for i, dtype in enumerate(TYPES[version]):
        result = dtype if dtype in FLOATS[version] else FLOATS[version][i % len(FLOATS[version])]
        attributes = {} if result == dtype else {"dtype": code(result)}
        name = graph.input(f"x_{dtype}", dtype, ("n", 41))
        graph.node("RandomNormalLike", [name], [result], seed=SEED + i, mean=-3.0, scale=0.1, **attributes)
        expected.append(philox.normal_with(philox.float_key(SEED + i), 123, -3.0, 0.1, numpy_type(result)))
    for model in (graph.compile(threads=1), graph.build(tmp_path, threads=2)):
        outputs = model.run([filled(t, shape) for t in TYPES[version]])
        for output, want in zip(outputs, expected, strict=True):
            same(output, want.reshape(shape))


@pytest.mark.parametrize("version", [15, 22])
def test_bernoulli(version):
    results = ["float16", "float", "double", "bfloat16", "bool", *(t for t in OTHERS if "int" in t)]
    inputs = FLOATS[1 if version < 22 else 22]
    shape = (5, 31)
    graph, expected, feeds = Graph(version), [], []
    for dtype in inputs:
        p = np.linspace(-0.1, 1.1, 155).reshape(shape).astype(numpy_type(dtype))
        feeds.append(p)
        graph.input(f"p_{dtype}", dtype, ("n", 31))
        # All result types of one input type, the input's own type of all.
        for i, result in enumerate(results if dtype == inputs[-1] else []):
            graph.node("Bernoulli", [f"p_{dtype}"], [result], dtype=code(result), seed=float(i))
            drawn = philox.uniform(philox.float_key(i), 155).reshape(shape) < p.astype(np.float64)
            expected.append(drawn.astype(numpy_type(result)))
        graph.node("Bernoulli", [f"p_{dtype}"], [dtype], seed=0.0)
        drawn = philox.uniform(philox.float_key(0), 155).reshape(shape) < p.astype(np.float64)
        expected.append(drawn.astype(numpy_type(dtype)))
    for output, want in zip(graph.compile().run(feeds), expected, strict=True):
        same(output, want)


def test_bernoulli_draws_ones_with_its_probability():
    graph, count = Graph(22), 1_000_000
    graph.node("Bernoulli", [graph.input("p", "float", ["n"])], ["float"], seed=3.0)
    model = graph.compile()
    for p in (0.0, 0.001, 0.3, 0.999, 1.0):
        (values,) = model.run([np.full(count, p, np.float32)])
        near(values.mean(dtype=np.float64), p, max(math.sqrt(p * (1 - p) / count), 1e-8))


@pytest.mark.parametrize("version", [7, 22])
def test_multinomial(version, tmp_path):
    rng = np.random.default_rng(0)
    inputs = FLOATS[1 if version < 22 else 22]
    graph, expected, feeds = Graph(version), [], []
    for i, dtype in enumerate(inputs):
        scores = rng.normal(0, 2, (6, 9)).astype(numpy_type(dtype))
        scores[1, 2:] = -np.inf
        feeds.append(scores)
        graph.input(f"x_{dtype}", dtype, ("n", "m"))
        weights = np.exp(scores.astype(np.float64) - scores.max(axis=1, keepdims=True).astype(np.float64))
        sums = np.cumsum(weights, axis=1)
        u = philox.uniform(philox.float_key(i), 6 * 50).reshape(6, 50)
        drawn = (sums[:, None, :] <= (u * sums[:, -1:])[:, :, None]).sum(axis=2)
        for result in ("int32", "int64"):
            graph.node("Multinomial", [f"x_{dtype}"], [result], dtype=code(result), sample_size=50, seed=float(i))
            expected.append(drawn.astype(numpy_type(result)))
    for model in (graph.compile(threads=1), graph.build(tmp_path, threads=2)):
        for output, want in zip(model.run(feeds), expected, strict=True):
            same(output, want)
    bad = [feeds[0].copy(), *feeds[1:]]
    for value in (np.nan, np.inf):
        bad[0][3, 3] = value
        with pytest.raises(strata.RunError, match="a row of log-probabilities has a NaN or an infinity"):
            model.run(bad)


def test_multinomial_draws_classes_with_their_probabilities():
    graph, count = Graph(22), 1_000_000
    p = np.array([[0.5, 0.2, 0.0, 0.3], [0.01, 0.01, 0.97, 0.01]])
    graph.node("Multinomial", [graph.input("x", "float", [2, 4])], ["int32"], sample_size=count, seed=1.0)
    with np.errstate(divide="ignore"):
        (values,) = graph.compile().run([(np.log(p) + 5).astype(np.float32)])
    for row in range(2):
        for k in range(4):
            deviation = max(math.sqrt(p[row, k] * (1 - p[row, k]) / count), 1e-9)
            near((values[row] == k).mean(), p[row, k], deviation)


def test_refused_models_name_the_node():
    graph = Graph(22)
    graph.node("RandomUniform", [], ["float"], shape=[2], low=2.0)
    with pytest.raises(strata.CompileError, match="node0.*RandomUniform.*low is 2.* which is not at most high"):
        graph.compile()
