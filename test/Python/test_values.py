"""Strings, sequences and optionals in and out of compiled models; the expected values are ONNX's evaluator's or Python's."""

import subprocess

import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper, parser
from onnx.reference import ReferenceEvaluator
from support.library import BIN


def strings(*items, shape=None):
    array = np.array(items, object)
    return array.reshape(shape) if shape else array


def compile(text, **options):
    return strata.compile(parser.parse_model('<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 4]>\n' + text), **options)


def node_model(op, inputs, outputs, opset=21, domain="", **attributes):
    names = [v.name for v in inputs]
    graph = helper.make_graph(
        [helper.make_node(op, names, [v.name for v in outputs], name="the_node", domain=domain, **attributes)],
        "graph", inputs, outputs,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(d, v) for d, v in {"": opset, "ai.onnx.ml": 4}.items()])


def text(name, *dims):
    return helper.make_tensor_value_info(name, TensorProto.STRING, dims)


def sequence(name, *dims, element=TensorProto.FLOAT):
    return helper.make_tensor_sequence_value_info(name, element, dims)


def equal(actual, expected):
    if isinstance(expected, list):
        assert isinstance(actual, list) and len(actual) == len(expected)
        for a, e in zip(actual, expected):
            equal(a, e)
    elif expected is None:
        assert actual is None
    else:
        assert actual.shape == expected.shape and actual.dtype.kind == (
            "O" if expected.dtype.kind in "OSU" else expected.dtype.kind
        )
        assert (actual.astype(str) == expected.astype(str)).all() if actual.dtype == object else (actual == expected).all()


WORDS = strings("", "a", "Grüße", "x\0y", "日本", "long" * 50, shape=(2, 3))


def test_strings_come_out_as_they_went_in():
    model = compile("g (string[n, 3] x) => (string[3, n] y, string[n, 3] z) { y = Transpose(x) z = Identity(x) }")
    assert model.inputs[0].type == "object[n, 3]"
    for _ in range(2):
        y, z = model.run([WORDS])
        equal(y, WORDS.T)
        equal(z, WORDS)
    equal(model.run([WORDS.astype(str)[:, ::-1]])[1], WORDS[:, ::-1])  # other kinds of arrays, strides
    equal(model.run([np.empty((0, 3), object)])[1], np.empty((0, 3), object))


def test_constant_strings_and_what_only_moves_them():
    model = compile(
        """g (int64[k] i, bool[3] c) => (string[k, 2] gathered, string[3] chosen, string[5] padded)
        <string[3, 2] table = {"a", "b", "c", "dd", "", "é"}, string[3] left = {"l1", "l2", "l3"}, int64[2] pads = {1, 1}>
        { gathered = Gather(table, i)
          right = Constant<value_strings = ["r1", "r2", "r3"]>()
          chosen = Where(c, left, right)
          padded = Pad(left, pads) }"""
    )
    table = strings("a", "b", "c", "dd", "", "é", shape=(3, 2))
    gathered, chosen, padded = model.run([np.array([2, 0, 1, 2]), np.array([True, False, True])])
    equal(gathered, table[[2, 0, 1, 2]])
    equal(chosen, strings("l1", "r2", "l3"))
    equal(padded, strings("", "l1", "l2", "l3", ""))


def test_concatenation_and_comparison_broadcast():
    model = compile("g (string[n, 1] x, string[m] y) => (string[n, m] z, bool[n, m] e) { z = StringConcat(x, y) e = Equal(x, y) }")
    x, y = strings("a", "", shape=(2, 1)), strings("b", "a", "")
    z, e = model.run([x, y])
    equal(z, x + y)
    assert e.tolist() == [[False, True, False], [False, False, True]]


@pytest.mark.parametrize("dtype", ["float", "double", "float16"])
def test_shortest_texts(dtype):
    """Of random bits, small integers, decimal fractions and subnormals, beside NumPy's."""
    rng = np.random.default_rng(1)
    kind = np.dtype({"float": "f4", "double": "f8"}.get(dtype, "f2"))
    bits = np.dtype(f"u{kind.itemsize}")
    x = np.concatenate([rng.integers(0, np.iinfo(bits).max, 3000, bits, True).view(kind), rng.integers(-999, 999, 500).astype(kind),
                        np.round(rng.normal(0, 10, 500), 2).astype(kind), np.arange(500, dtype=bits).view(kind)])  # fmt: skip
    x = x[np.isfinite(x)]
    model = compile(f"g ({dtype}[n] x) => (string[n] y) {{ y = Cast<to = 8>(x) }}")

    def expected(value):
        if value == 0 or 1e-4 <= abs(np.float64(value)) < 1e16:
            return np.format_float_positional(value, unique=True, trim="0")
        return np.format_float_scientific(value, unique=True, trim="-", exp_digits=2)

    got = model.run([x])[0]
    assert all(kind.type(text) == value for text, value in zip(got, x))
    different = [(a, b) for a, b in zip(got, map(expected, x)) if a != b]
    # Where numbers lie closer below than above, the shortest text may not be the nearest of its length, which is ours.
    assert len(different) <= (0 if dtype != "float16" else 20), different[:5]


def test_strings_that_are_no_text():
    model = compile("g (string[n] x) => (string[n] y) { y = Identity(x) }")
    x = np.array([b"\xff\x00b", "a\udcfe", "é", ""], object)
    assert model.run([x])[0].tolist() == ["\udcff\x00b", "a\udcfe", "é", ""]
    assert model.run([np.array([["a", "b"], ["c", "d"]], object)[:, 1]])[0].tolist() == ["b", "d"]
    with pytest.raises(strata.InputError, match="input 'x' must hold strings, got int"):
        model.run([np.array(["a", 1], object)])
    with pytest.raises(UnicodeEncodeError):
        model.run([np.array(["\ud800"], object)])


def test_different_strings():
    model = compile("g (string[n] x) => (string[m] y, int64[m] i, int64[n] v, int64[m] c) { y, i, v, c = Unique(x) }")
    x = strings("b", "", "a", "ab", "b", "é", "a")
    y, i, v, c = model.run([x])
    want = np.unique(x.astype(str), return_index=True, return_inverse=True, return_counts=True)
    assert y.tolist() == want[0].tolist()
    for actual, expected in zip((i, v, c), want[1:]):
        np.testing.assert_array_equal(actual, expected)


def test_regular_expressions():
    inputs, outputs = [text("x", "n")], [helper.make_tensor_value_info("y", TensorProto.BOOL, ["n"])]
    model = strata.compile(node_model("RegexFullMatch", inputs, outputs, pattern=r"(\w+)@[a-z]+\.(com|org)"))
    assert model.run([strings("me@here.com", "me@here.comx", "", "é@b.org")])[0].tolist() == [True, False, False, False]
    with pytest.raises(strata.CompileError, match=r"the_node.*'\(a', which is not a regular expression"):
        strata.compile(node_model("RegexFullMatch", inputs, outputs, pattern="(a"))


@pytest.mark.parametrize("attributes", [{}, {"delimiter": "-"}, {"delimiter": "--", "maxsplit": 1}, {"maxsplit": 1}])
def test_split(attributes):
    inputs = [text("x", 2, "n")]
    outputs = [text("y", 2, "n", "m"), helper.make_tensor_value_info("z", TensorProto.INT64, [2, "n"])]
    proto = node_model("StringSplit", inputs, outputs, **attributes)
    x = strings("a-b--c", "", "  one two\tthree", "--", "a b", "-a-", shape=(2, 3))
    for actual, expected in zip(strata.compile(proto).run([x]), ReferenceEvaluator(proto).run(None, {"x": x})):
        equal(actual, expected)


@pytest.mark.parametrize("sensitive", [0, 1])
@pytest.mark.parametrize("action", ["NONE", "LOWER", "UPPER"])
def test_normalizer(sensitive, action):
    proto = node_model("StringNormalizer", [text("x", "n")], [text("y", "m")], opset=10, case_change_action=action,
                       is_case_sensitive=sensitive, stopwords=["Monday", "ÉTÉ"])  # fmt: skip
    model = strata.compile(proto)
    for x in (strings("monday", "Monday", "tuesday", "été", "Ωmega"), strings("Monday"), np.empty(0, object)):
        words = ["Monday", "ÉTÉ"] if sensitive else ["monday", "été"]
        kept = [s for s in x if (s if sensitive else s.lower()) not in words]
        change = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}[action]
        equal(model.run([x])[0], strings(*([change(s) for s in kept] or [""])))


@pytest.mark.parametrize("mode, expected", [("TF", [2, 1, 1]), ("IDF", [0.5, 2, 3]), ("TFIDF", [1, 2, 3])])
def test_counts_of_strings_in_a_row(mode, expected):
    x, y = text("x", 1, 3), helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])
    model = node_model("TfIdfVectorizer", [x], [y], mode=mode, min_gram_length=1, max_gram_length=2, max_skip_count=1,
                       ngram_counts=[0, 2], ngram_indexes=[0, 1, 2], pool_strings=["a", "b", "a", "a"],
                       weights=[0.5, 2.0, 3.0])  # fmt: skip
    equal(strata.compile(model).run([strings("a", "b", "a", shape=(1, 3))])[0], np.array([expected], np.float32))


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
def test_counts_of_many_grams(mode):
    """Lists in which n-grams repeat and share places, gaps of up to two words, and words that are in no n-gram."""
    rng = np.random.default_rng(4)
    grams = [tuple(int(w) for w in rng.integers(0, 12, n)) for n, count in ((1, 8), (2, 60), (3, 300)) for _ in range(count)]
    starts = [0, 8, 8 + 120]
    places, weights = rng.integers(0, 200, len(grams)), rng.normal(size=len(grams)).astype(np.float32)
    x = rng.integers(-3, 15, (40, 17))
    for least, most, skips in ((1, 3, 2), (2, 3, 0), (1, 1, 1), (3, 3, 1)):
        counts = np.zeros((len(x), len(grams)))
        last = {gram: k for k, gram in enumerate(grams)}
        for r, row in enumerate(x.tolist()):
            for n in range(least, most + 1):
                for step in range(1, 2 if n == 1 else skips + 2):
                    for start in range(len(row) - (n - 1) * step):
                        if (k := last.get(tuple(row[start : start + (n - 1) * step + 1 : step]))) is not None:
                            counts[r, k] += 1
        expected = np.zeros((len(x), places.max() + 1))
        for k, place in enumerate(places):
            if mode == "IDF":
                expected[counts[:, k] > 0, place] = weights[k]
            else:
                expected[:, place] += counts[:, k] * (weights[k] if mode == "TFIDF" else 1)
        x_info = helper.make_tensor_value_info("x", TensorProto.INT64, ["n", 17])
        y_info = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", expected.shape[1]])
        proto = node_model("TfIdfVectorizer", [x_info], [y_info], mode=mode, min_gram_length=least, max_gram_length=most,
                           max_skip_count=skips, ngram_counts=starts, ngram_indexes=places.tolist(), weights=weights.tolist(),
                           pool_int64s=[word for gram in grams for word in gram])  # fmt: skip
        np.testing.assert_allclose(strata.compile(proto, threads=2).run([x])[0], expected, rtol=1e-5, atol=1e-6)


def test_numbers_as_strings_and_back():
    values = {
        "FLOAT": np.array([0, -0.0, 1, -2.5, 0.1, 1e-5, 123456.79, 1e16, 3.4028235e38, 1e-45, np.nan, np.inf, -np.inf], np.float32),
        "DOUBLE": np.array([0.1, 1e100, 5e-324, 1 / 3, 12345678901234567.0]),
        "FLOAT16": np.array([0.1, 65504, 6e-8, 1 / 3, 1000], np.float16),
        "INT8": np.array([-128, 0, 127], np.int8),
        "UINT64": np.array([0, 2**64 - 1], np.uint64),
        "INT64": np.array([-(2**63), 2**63 - 1]),
        "BOOL": np.array([True, False]),
    }
    for name, x in values.items():
        kind = getattr(TensorProto, name)
        value = helper.make_tensor_value_info("x", kind, [len(x)])
        nodes = [helper.make_node("Cast", ["x"], ["s"], to=TensorProto.STRING), helper.make_node("Cast", ["s"], ["y"], to=kind)]
        outputs = [text("s", len(x)), helper.make_tensor_value_info("y", kind, [len(x)])]
        proto = helper.make_model(helper.make_graph(nodes, "g", [value], outputs), opset_imports=[helper.make_opsetid("", 21)])
        s, y = strata.compile(proto).run([x])
        if name != "FLOAT16":  # NumPy writes it with an exponent from 1000 on
            assert s.tolist() == x.astype(np.str_).tolist(), name
        np.testing.assert_array_equal(y, x)


def test_text_that_is_no_number_is_a_run_time_error():
    proto = node_model("Cast", [text("x", "n")], [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])], to=TensorProto.FLOAT)
    model = strata.compile(proto)
    np.testing.assert_array_equal(model.run([strings(" 1e3 ", "+INF", "-inf", "NaN", ".5")])[0], [1000, np.inf, -np.inf, np.nan, 0.5])
    for wrong in ("", "Hello", "1.5x", "0x10", "1\0"):
        with pytest.raises(strata.RunError, match="the_node.*is not a number"):
            model.run([strings(wrong)])


def test_labels():
    def run(keys, values, x, **default):
        y = {"values_strings": TensorProto.STRING, "values_int64s": TensorProto.INT64, "values_floats": TensorProto.FLOAT}
        proto = node_model("LabelEncoder", [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), ["n"])],
                           [helper.make_tensor_value_info("y", y[next(iter(values))], ["n"])], domain="ai.onnx.ml",
                           **keys, **values, **default)  # fmt: skip
        return strata.compile(proto).run([x])[0].tolist()

    text_keys = {"keys_strings": ["b", "a", "ab", "a"]}
    assert run(text_keys, {"values_int64s": [1, 2, 3, 4]}, strings("a", "ab", "", "b"), default_int64=7) == [4, 3, 7, 1]
    assert run({"keys_int64s": [5, -5]}, {"values_strings": ["five", "é"]}, np.array([-5, 5, 0])) == ["é", "five", "_Unused"]
    x = np.array([np.nan, 0.5, 1], np.float32)
    assert run({"keys_floats": [float("nan"), 0.5]}, {"values_floats": [1.0, 2.0]}, x, default_float=9.0) == [1, 2, 9]


A, B, C = (np.arange(n, dtype=np.float32).reshape(1, -1) + n for n in (2, 3, 4))


def test_sequences_are_made_changed_and_read():
    model = compile(
        """g (float[1, n] a, float[1, m] b, int64 p) => (seq(float[1, k]) s, seq(float[1, k]) t, float[1, k] x, int64 l, float[1, k] c)
        { e = SequenceEmpty()
          one = SequenceInsert(e, a)
          two = SequenceInsert(one, b)
          s = SequenceInsert(two, a, p)
          t = SequenceErase(s, p)
          x = SequenceAt(s, p)
          l = SequenceLength(s)
          c = ConcatFromSequence<axis = 1>(s) }"""
    )
    assert model.outputs[0].kind == "sequence" and model.outputs[0].shape == (1, "k")
    for position in (-2, -1, 0, 1, 2):
        s = [A, B]
        s.insert(position if position >= 0 else 2 + position, A)
        t = list(s)
        del t[position]
        results = model.run([A, B, np.array(position)])
        equal(results[0], s)
        equal(results[1], t)
        equal(results[2], s[position])
        assert results[3] == 3
        equal(results[4], np.concatenate(s, 1))
    for position in (-4, 4):
        with pytest.raises(strata.RunError, match="the position is out of the sequence's range"):
            model.run([A, B, np.array(position)])


def test_sequences_of_strings_go_in_and_out():
    model = strata.compile(node_model("Identity", [sequence("x", "n", element=TensorProto.STRING)],
                                      [sequence("y", "n", element=TensorProto.STRING)]))  # fmt: skip
    value = [strings("a", ""), strings("日本"), np.empty(0, object)]
    equal(model.run([value])[0], value)
    assert model.run([[]])[0] == []
    for wrong, message in ((strings("a"), "must be a list"), ([A], "element 0 of input 'x' must be an array of strings"),
                           ([strings("a", shape=(1, 1))], "element 0 of input 'x' must have shape")):  # fmt: skip
        with pytest.raises(strata.InputError, match=message):
            model.run([wrong])


def test_split_and_stack():
    model = compile(
        """g (float[n, 4] x, int64[k] sizes) => (seq(float[m, 4]) parts, seq(float[4]) rows, seq(float[n, j]) pairs, float[4, n] back)
        <int64 three = {3}>
        { parts = SplitToSequence(x, sizes)
          rows = SplitToSequence<keepdims = 0>(x)
          pairs = SplitToSequence<axis = -1>(x, three)
          back = ConcatFromSequence<axis = 1, new_axis = 1>(rows) }"""
    )
    x = np.arange(20, dtype=np.float32).reshape(5, 4)
    parts, rows, pairs, back = model.run([x, np.array([2, 0, 3])])
    equal(parts, [x[:2], x[2:2], x[2:]])
    equal(rows, list(x))
    equal(pairs, [x[:, :3], x[:, 3:]])
    equal(back, x.T)
    with pytest.raises(strata.RunError, match="do not add up"):
        model.run([x, np.array([2, 2])])
    with pytest.raises(strata.RunError, match="negative"):
        model.run([x, np.array([6, -1])])


def test_elements_that_do_not_fit_together():
    concat = strata.compile(node_model("ConcatFromSequence", [sequence("s", "n", "m")],
                                       [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])], axis=1))  # fmt: skip
    equal(concat.run([[A, B]])[0], np.concatenate([A, B], 1))
    with pytest.raises(strata.RunError, match="the_node: element 1 of the sequence has size 2 in dimension 0, the first one 1"):
        concat.run([[A, np.zeros((2, 1), np.float32)]])
    with pytest.raises(strata.RunError, match="the_node: the sequence to be concatenated is empty"):
        concat.run([[]])


def test_a_loop_fills_a_sequence():
    model = compile(
        """g (int64 n, bool go) => (seq(float[k]) s, float[j] c)
        { e = SequenceEmpty()
          s = Loop(n, go, e) <body = b (int64 i, bool c, seq(float[k]) q) => (bool d, seq(float[k]) r) {
            f = Cast<to = 1>(i)
            axes = Constant<value_ints = [0]>()
            v = Unsqueeze(f, axes)
            d = Identity(c)
            r = SequenceInsert(q, v)
          }>
          c = ConcatFromSequence<axis = 0>(s) }"""
    )
    s, c = model.run([np.array(1000), np.array(True)])
    assert [float(v[0]) for v in s] == list(range(1000)) and c.tolist() == list(range(1000))


def test_a_graph_over_the_elements():
    body = helper.make_graph([helper.make_node("Mul", ["a", "b"], ["c"]), helper.make_node("Shape", ["a"], ["d"])], "body",
                             [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in (("a", [1, None]), ("b", [1]))],
                             [helper.make_tensor_value_info("c", TensorProto.FLOAT, [1, None]),
                              helper.make_tensor_value_info("d", TensorProto.INT64, [2])])  # fmt: skip
    outputs = [sequence("y", 1, "n"), sequence("z", 2, element=TensorProto.INT64)]
    inputs = [sequence("x", 1, "n"), helper.make_tensor_value_info("k", TensorProto.FLOAT, [1])]
    model = strata.compile(node_model("SequenceMap", inputs, outputs, body=body))
    y, z = model.run([[A, B, C], np.array([3], np.float32)])
    equal(y, [A * 3, B * 3, C * 3])
    equal(z, [np.array([1, n]) for n in (2, 3, 4)])
    assert model.run([[], np.array([3], np.float32)]) == [[], []]


def optional(name, inner):
    return helper.make_value_info(name, helper.make_optional_type_proto(inner.type))


def test_optionals():
    inner = helper.make_tensor_value_info("", TensorProto.FLOAT, [1, "n"])
    for element, value in ((inner, A), (sequence("", 1, "n"), [A, B])):
        has = strata.compile(node_model("OptionalHasElement", [optional("x", element)],
                                        [helper.make_tensor_value_info("y", TensorProto.BOOL, [])]))  # fmt: skip
        assert has.inputs[0].kind == "optional"
        assert has.run([value]) == [True] and has.run([None]) == [False]
        same = strata.compile(node_model("Identity", [optional("x", element)], [optional("y", element)]))
        equal(same.run([value])[0], value)
        assert same.run([None]) == [None]
        element.name = "y"
        get = strata.compile(node_model("OptionalGetElement", [optional("x", element)], [element]))
        equal(get.run([value])[0], value)
        with pytest.raises(strata.RunError, match="the_node: the optional is empty"):
            get.run([None])


def test_onnx_runtime_is_not_needed_to_load_sequences(tmp_path):
    """An artifact of a model with strings and sequences, through the runtime alone."""
    proto = parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (seq(string[n]) s, int64 i) => (string[n] y, bool[n] m) { x = SequenceAt(s, i)
          y = StringConcat(x, x)
          m = RegexFullMatch<pattern = "a+">(y) }"""
    )
    onnx.save(proto, tmp_path / "m.onnx")
    subprocess.run([BIN / "strata-compile", "--emit=lib", tmp_path / "m.onnx", "-o", tmp_path / "m.so"], check=True)
    y, m = strata.load(tmp_path / "m.so").run([[strings("a"), strings("b", "a")], np.array(1)])
    equal(y, strings("bb", "aa"))
    assert m.tolist() == [False, True]


def test_maps():
    def run(op, given, inputs, outputs, **attributes):
        return strata.compile(node_model(op, inputs, outputs, opset=18, domain="ai.onnx.ml", **attributes)).run([given])[0]

    def map_info(key):
        return helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, []))

    rows = np.array([[1, 2], [3, 4]], np.float32)
    for key, labels in ((TensorProto.STRING, ["a", "é"]), (TensorProto.INT64, [5, -1])):
        name = "classlabels_strings" if key == TensorProto.STRING else "classlabels_int64s"
        out = helper.make_value_info("z", helper.make_sequence_type_proto(map_info(key)))
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])]
        assert run("ZipMap", rows, inputs, [out], **{name: labels}) == [dict(zip(labels, row)) for row in rows.tolist()]
    y = run("DictVectorizer", {"a": 1.5, "b": 2.0}, [helper.make_value_info("x", map_info(TensorProto.STRING))],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])], string_vocabulary=["b", "q", "a"])  # fmt: skip
    assert y.tolist() == [[2, 0, 1.5]]
    y = run("CastMap", {2: 1.5, 0: 7.0}, [helper.make_value_info("x", map_info(TensorProto.INT64))],
            [helper.make_tensor_value_info("y", TensorProto.INT64, [1, 4])],
            cast_to="TO_INT64", map_form="SPARSE", max_map=4)  # fmt: skip
    assert y.tolist() == [[7, 0, 1, 0]]


def test_elements_of_any_rank():
    """What a sequence's type leaves open follows from what the model declares or does with an element."""
    def any_rank(name):
        return helper.make_value_info(name, helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None)))

    index = helper.make_tensor_value_info("i", TensorProto.INT64, [])
    nodes = [helper.make_node("SequenceAt", ["s", "i"], ["y"]), helper.make_node("SequenceAt", ["s", "i"], ["t"]),
             helper.make_node("Transpose", ["t"], ["z"], perm=[1, 0]), helper.make_node("ConcatFromSequence", ["s"], ["c"], axis=0)]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("y", "ab"), ("z", None), ("c", "de"))]
    model = strata.compile(helper.make_model(helper.make_graph(nodes, "g", [any_rank("s"), index], outputs),
                                             opset_imports=[helper.make_opsetid("", 21)], ir_version=10))  # fmt: skip
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y, z, c = model.run([[x, x + 1], np.array(1)])
    equal(y, x + 1)
    equal(z, x.T + 1)
    equal(c, np.concatenate([x, x + 1]))
    with pytest.raises(strata.RunError, match="the element has another rank than 2"):
        model.run([[x, x[0]], np.array(1)])
