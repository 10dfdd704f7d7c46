"""Attention of new tokens to those of a cache, as exporters write it: heads that share keys, sizes of the run."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from support.combinations import every_other

WIDTH = 24


class Layer:
    """Nodes that attend with `heads` heads to `shared` of keys and values."""

    def __init__(self, heads, shared, tokens, past, total="total"):
        self.nodes, self.constants = [], []
        given = [("q", heads, tokens), ("k", shared, tokens), ("v", shared, tokens), ("past_k", shared, past),
                 ("past_v", shared, past)]  # fmt: skip
        self.inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, many, length, WIDTH])
                       for name, many, length in given]  # fmt: skip
        self.inputs.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT, [2, 1, tokens, total]))
        self.heads, self.shared, self.total = heads, shared, total

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.array(values), name))
        return name

    def repeated(self, name):
        """[b, shared, t, d] -> [b, shared, times, t, d] -> [b, heads, t, d]"""
        times, at = self.heads // self.shared, lambda part: f"{name}_{part}"
        self.node("Shape", [name], at("length"), start=2, end=3)
        for part, front in (("five", [2, self.shared, times]), ("four", [2, self.heads])):
            self.node("Concat", [self.constant(at(part + "_front"), front), at("length"),
                                 self.constant(at(part + "_back"), [WIDTH])], at(part), axis=0)  # fmt: skip
        self.node("Unsqueeze", [name, self.constant(at("axis"), [2])], at("single"))
        self.node("Expand", [at("single"), at("five")], at("copies"))
        return self.node("Reshape", [at("copies"), at("four")], at("all"))

    def written_out(self):
        keys = self.node("Concat", ["past_k", "k"], "keys", axis=2)
        values = self.node("Concat", ["past_v", "v"], "values", axis=2)
        if self.heads != self.shared:
            keys, values = self.repeated(keys), self.repeated(values)
        self.node("Transpose", [keys], "columns", perm=[0, 1, 3, 2])
        self.node("MatMul", ["q", "columns"], "products")
        self.node("Mul", ["products", self.constant("scale", np.float32(WIDTH**-0.5))], "scaled")
        self.node("Add", ["scaled", "mask"], "scores")
        self.node("Softmax", ["scores"], "weights", axis=-1)
        self.node("MatMul", ["weights", values], "y")

    def as_operator(self):
        self.nodes.append(helper.make_node("Attention", ["q", "k", "v", "mask", "past_k", "past_v"],
                                           ["y", "keys", "values"]))  # fmt: skip

    def model(self):
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, None, length, WIDTH])
                   for name, length in (("y", None), ("keys", self.total), ("values", self.total))]  # fmt: skip
        graph = helper.make_graph(self.nodes, "layer", self.inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)


def expected(feeds, heads, shared):
    f64 = {name: value.astype(np.float64) for name, value in feeds.items()}
    keys, values = (np.concatenate([f64[f"past_{x}"], f64[x]], axis=2) for x in "kv")
    every = [np.repeat(x, heads // shared, axis=1) for x in (keys, values)]
    scores = f64["q"] @ every[0].transpose(0, 1, 3, 2) * WIDTH**-0.5 + f64["mask"]
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ every[1], keys, values


def feeds_for(rng, heads, shared, tokens, past):
    shapes = {"q": (heads, tokens), "k": (shared, tokens), "v": (shared, tokens), "past_k": (shared, past),
              "past_v": (shared, past)}  # fmt: skip
    feeds = {name: rng.standard_normal((2, *shape, WIDTH), np.float32) for name, shape in shapes.items()}
    allowed = np.tri(tokens, past + tokens, past, dtype=bool)
    feeds["mask"] = np.broadcast_to(np.where(allowed, 0, -1e9), (2, 1, tokens, past + tokens)).astype(np.float32)
    return feeds


@every_other("way, cpu_threads, heads_shared", ["written_out", "as_operator"], [("", 1), ("", 2), ("sapphirerapids", 1)],
             [(4, 4), (6, 2), (4, 1)])  # fmt: skip
def test_sizes_of_the_run(monkeypatch, way, cpu_threads, heads_shared):
    (cpu, threads), (heads, shared) = cpu_threads, heads_shared
    monkeypatch.setenv("STRATA_EMULATE_CPU", cpu)
    rng = np.random.default_rng(heads)
    layer = Layer(heads, shared, "tokens", "past")
    getattr(layer, way)()
    compiled = strata.compile(layer.model(), threads=threads)
    for tokens, past in [(1, 0), (1, 1), (1, 70), (1, 333), (2, 5), (17, 64), (40, 0)]:
        feeds = feeds_for(rng, heads, shared, tokens, past)
        for got, want in zip(compiled.run(feeds), expected(feeds, heads, shared), strict=True):
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("heads, shared", [(4, 4), (6, 2), (4, 1)])
@pytest.mark.parametrize("precision, tolerance", [("bf16", 3e-2), ("f32", 1e-5)])
@pytest.mark.parametrize("tokens, past", [(1, 130), (9, 55)])
def test_known_sizes(monkeypatch, heads, shared, precision, tolerance, tokens, past):
    monkeypatch.setenv("STRATA_EMULATE_CPU", "sapphirerapids")
    layer = Layer(heads, shared, tokens, past)
    layer.written_out()
    feeds = feeds_for(np.random.default_rng(past), heads, shared, tokens, past)
    results = strata.compile(layer.model(), precision=precision).run(feeds)
    for got, want in zip(results, expected(feeds, heads, shared), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * np.abs(want).max())


@pytest.mark.parametrize("tokens", ["tokens", 150], ids=str)
@pytest.mark.parametrize("way", ["written_out", "as_operator"])
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_of_queries(tokens, way, threads):
    """Several blocks of a head's rows share one copy of its keys, also where a thread goes on with another head."""
    layer = Layer(4, 4, tokens, 333)
    getattr(layer, way)()
    compiled = strata.compile(layer.model(), threads=threads)
    for count in (150,) if tokens == 150 else (150, 65, 300):
        feeds = feeds_for(np.random.default_rng(count), 4, 4, count, 333)
        for got, want in zip(compiled.run(feeds), expected(feeds, 4, 4), strict=True):
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("way", ["written_out", "as_operator"])
def test_no_queries(way):
    layer = Layer(4, 4, "tokens", 20)
    getattr(layer, way)()
    result, keys, _ = strata.compile(layer.model(), threads=2).run(feeds_for(np.random.default_rng(0), 4, 4, 0, 20))
    assert result.shape == (2, 4, 0, WIDTH) and keys.shape == (2, 4, 20, WIDTH)
