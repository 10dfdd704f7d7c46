"""Chains over rows, which run row by row: softmaxes, norms and attention, at sizes that leave rests, with values that are
no numbers, against NumPy in double precision."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import strata
from support.combinations import every_other

node = helper.make_node


def run(nodes, feeds, constants=None, dynamic=False, threads=1):
    """The result `y` of a graph; dynamic: every size is known only when it runs."""
    inputs = [
        helper.make_tensor_value_info(
            name, TensorProto.FLOAT, [f"{name}{i}" for i in range(x.ndim)] if dynamic else x.shape
        )
        for name, x in feeds.items()
    ]
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "rows", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    return strata.compile(model, threads=threads).run(feeds)[0]


def normal(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def softmax(x, axis=-1):
    x = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)


def check(actual, expected, rtol=2e-5):
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * 0.1)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("shape, axis", [((3, 5, 512), -1), ((37, 7), -1), ((2, 21, 67), 1), ((1, 1), -1), ((301, 33), 0),
                                         ((0, 4), -1), ((5, 1), -1), ((2, 3, 5, 40), 2), ((2, 30, 13, 7), 1),
                                         ((1, 192, 28, 28), 1), ((2, 5, 0, 7), 1)])  # fmt: skip
def test_softmax(shape, axis, dynamic):
    x = normal(*shape) * 10
    check(run([node("Softmax", ["x"], ["y"], axis=axis)], {"x": x}, dynamic=dynamic), softmax(x, axis))
    expected = np.log(softmax(x, axis)) if x.size else x
    check(run([node("LogSoftmax", ["x"], ["y"], axis=axis)], {"x": x}, dynamic=dynamic), expected)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(2049, 1031), (4099, 512), (3, 700001)])
def test_large_softmax(shape, threads):
    """Results that leave all caches: the lines of the next rows are asked for, also where there are none."""
    x = normal(*shape) * 10
    check(run([node("Softmax", ["x"], ["y"])], {"x": x}, threads=threads), softmax(x))


def test_softmax_gives_no_subnormal_numbers():
    """Products with them take a hundred times as long; masks of -100 give such."""
    x = np.random.default_rng(0).choice(np.float32([0, -87.5, -90, -95, -100, -103, -104, -200]), (40, 49))
    x[:, 5] = 0
    for dynamic in (False, True):
        y = run([node("Softmax", ["x"], ["y"])], {"x": x}, dynamic=dynamic)
        check(y, softmax(x))
        np.testing.assert_array_equal(y == 0, x < 0)


def test_softmax_of_no_numbers():
    x = normal(8, 100)
    x[1, 3], x[2, 5], x[3, 7], x[4], x[5] = np.nan, np.inf, -np.inf, -np.inf, 3e38
    x[6, :50] = -3e38
    x[7] = np.uint32(0x7FC12345).view(np.float32)  # a NaN of many bits
    for dynamic in (False, True):
        check(run([node("Softmax", ["x"], ["y"])], {"x": x}, dynamic=dynamic), softmax(x))
        with np.errstate(divide="ignore"):
            expected = np.log(softmax(x))
        rows = [0, 1, 2, 3, 4, 5, 7]  # the exponentials of row 6 are zeros
        check(run([node("LogSoftmax", ["x"], ["y"])], {"x": x}, dynamic=dynamic)[rows], expected[rows])


@pytest.mark.parametrize("dynamic, threads", [(False, 1), (True, 2)])
@pytest.mark.parametrize("shape", [(64, 1024), (7, 3, 100), (203, 17)])
def test_norms(shape, dynamic, threads):
    x, scale, bias = normal(*shape) * 3 + 2, normal(shape[-1]), normal(shape[-1])
    constants = {"s": scale, "b": bias}
    wide = x.astype(np.float64)
    centered = wide - wide.mean(-1, keepdims=True)
    expected = centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5) * scale + bias
    options = {"dynamic": dynamic, "threads": threads}
    check(run([node("LayerNormalization", ["x", "s", "b"], ["y"])], {"x": x}, constants, **options), expected)
    parts = [
        node("ReduceMean", ["x", "axis"], ["mean"]), node("Sub", ["x", "mean"], ["d"]),
        node("Mul", ["d", "d"], ["square"]), node("ReduceMean", ["square", "axis"], ["variance"]),
        node("Add", ["variance", "epsilon"], ["shifted"]), node("Sqrt", ["shifted"], ["root"]),
        node("Div", ["d", "root"], ["n"]), node("Mul", ["n", "s"], ["scaled"]), node("Add", ["scaled", "b"], ["y"]),
    ]  # fmt: skip
    constants |= {"axis": np.array([-1]), "epsilon": np.float32(1e-5)}
    check(run(parts, {"x": x}, constants, **options), expected)
    root = np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5)
    check(run([node("RMSNormalization", ["x", "s"], ["y"])], {"x": x}, {"s": scale}, **options), wide / root * scale)


def test_residual_and_norm():
    """The sum is a result, too."""
    x, r = normal(33, 48), normal(33, 48)
    nodes = [node("Add", ["x", "r"], ["sum"]), node("LayerNormalization", ["sum", "s"], ["n"]),
             node("Add", ["n", "sum"], ["y"])]  # fmt: skip
    s = x.astype(np.float64) + r
    centered = s - s.mean(-1, keepdims=True)
    expected = s + centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)
    check(run(nodes, {"x": x, "r": r}, {"s": np.ones(48, np.float32)}), expected)


@pytest.mark.parametrize("dynamic", [False, True])
def test_norms_of_images(dynamic):
    x, scale, bias = normal(2, 8, 9, 11), normal(8), normal(8)
    for name, groups, attributes in (("InstanceNormalization", 8, {}), ("GroupNormalization", 2, {"num_groups": 2})):
        split = x.astype(np.float64).reshape(2, groups, -1)
        centered = split - split.mean(-1, keepdims=True)
        unit = (centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)).reshape(x.shape)
        expected = unit * scale[:, None, None] + bias[:, None, None]
        dims = dynamic and name == "InstanceNormalization"
        check(
            run([node(name, ["x", "s", "b"], ["y"], **attributes)], {"x": x}, {"s": scale, "b": bias}, dims), expected
        )


def attention(q, k, v, mask, guard):
    scores = q.astype(np.float64) @ np.swapaxes(k, -1, -2) * 0.125 + mask
    p = softmax(scores)
    return (np.where(np.isnan(p), 0, p) if guard else p) @ v


@every_other("sizes, dynamic, guard", [(1, 2, 64, 64, 16), (2, 3, 37, 53, 20), (2, 1, 1, 7, 8), (1, 2, 197, 197, 32),
                                       (2, 2, 130, 70, 24), (4, 2, 49, 49, 32)], [False, True], [False, True])  # fmt: skip
def test_attention(sizes, dynamic, guard):
    batch, heads, queries, keys, size = sizes
    q, k, v = normal(batch, heads, queries, size), normal(batch, heads, keys, size), normal(batch, heads, keys, size)
    mask = np.zeros((1, 1, queries, keys), np.float32)
    mask[..., keys // 2 + 1 :] = -np.inf
    if guard:
        mask[..., queries // 2, :] = -np.inf  # a row without any key
    nodes = [
        node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]), node("MatMul", ["q", "kt"], ["raw"]),
        node("Mul", ["raw", "scale"], ["scaled"]), node("Add", ["scaled", "mask"], ["masked"]),
        node("Softmax", ["masked"], ["p"], axis=-1), node("IsNaN", ["p"], ["none"]),
        node("Where", ["none", "zero", "p"], ["guarded"]),
        node("MatMul", ["guarded" if guard else "p", "v"], ["y"]),
    ]  # fmt: skip
    feeds = {"q": q, "k": k, "v": v, "mask": mask}
    y = run(nodes, feeds, {"scale": np.float32(0.125), "zero": np.float32(0)}, dynamic, threads=1 + dynamic)
    check(y, attention(q, k, v, mask, guard), 1e-4)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("key_heads", [4, 2])
def test_attention_operator(key_heads, dynamic):
    q, k, v = normal(2, 4, 45, 16), normal(2, key_heads, 45, 16), normal(2, key_heads, 45, 8)
    y = run([node("Attention", ["q", "k", "v"], ["y"], is_causal=1, scale=0.125)], {"q": q, "k": k, "v": v},
            dynamic=dynamic)  # fmt: skip
    causal = np.where(np.tril(np.ones((45, 45))), 0, -np.inf)
    repeat = [np.repeat(x, 4 // key_heads, axis=1) for x in (k, v)]
    check(y, attention(q, *repeat, causal, False), 1e-4)
