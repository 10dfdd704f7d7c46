"""Models of f16: computed in f32, rounded where results are stored."""

import numpy as np
import onnx.parser
import pytest
import strata

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(64, 1024)


def compiled(body, inputs, output, weights=()):
    """`body` with inputs like arrays, of which those that `weights` names are initializers."""
    declared = ", ".join(f"{type_of(x)} {name}" for name, x in inputs.items())
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 17]> g ({declared}) => ({output} y) {{ {body} }}')
    for name in weights:
        model.graph.initializer.append(onnx.numpy_helper.from_array(inputs[name], name))
        model.graph.input.remove(next(value for value in model.graph.input if value.name == name))
    return strata.compile(model, threads=1)


def type_of(array):
    return f"{'float' if array.dtype == np.float32 else 'float16'}{list(array.shape)}"


def run(body, inputs, output, weights=()):
    model = compiled(body, inputs, output, weights)
    [result] = model.run({name: x for name, x in inputs.items() if name not in weights})
    return result


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


def check_rounded_once(found, exact):
    """Half of a unit in the last place, and what sums of f32 in another order and minimal filtering differ by."""
    assert found.dtype == np.float16
    exact = exact.astype(np.float64)
    slack = 2e-5 * np.abs(exact).max()
    assert np.all(np.abs(found.astype(np.float64) - exact) <= np.abs(exact) * 2.0**-11 + slack)


# Whole tiles; rows, lanes and steps left over; few rows, whose weights are extended where they are read.
@pytest.mark.parametrize("weights", [["w"], []])
@pytest.mark.parametrize("m, k, n", [(64, 64, 64), (33, 35, 17), (1, 256, 1000), (3, 100, 50), (300, 512, 96)])
def test_products(m, k, n, weights):
    x, w = values(m, k), values(k, n, seed=1)
    found = run("y = MatMul(x, w)", {"x": x, "w": w}, f"float16[{m},{n}]", weights)
    check_rounded_once(found, x.astype(np.float64) @ w.astype(np.float64))


@pytest.mark.parametrize("channels, filters, group, size", [(8, 16, 1, 9), (64, 64, 1, 28), (32, 32, 32, 14)])
def test_convolutions(channels, filters, group, size):
    x, w = values(1, channels, size, size), values(filters, channels // group, 3, 3, seed=1)
    found = run(f"y = Conv<pads = [1, 1, 1, 1], group = {group}>(x, w)", {"x": x, "w": w},
                f"float16[1,{filters},{size},{size}]", ["w"])
    padded = np.pad(x[0].astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    windows = windows.reshape(group, channels // group, size, size, 3, 3)
    filters_of = w.astype(np.float64).reshape(group, filters // group, channels // group, 3, 3)
    exact = np.einsum("gcijhw,gfchw->gfij", windows, filters_of)
    check_rounded_once(found, exact.reshape(found.shape))


def test_attention():
    """The scores and the weights are not rounded."""
    q, k, v = (values(2, 40, 16, seed=seed) for seed in range(3))
    found = run("t = Transpose<perm = [0, 2, 1]>(k) s = MatMul(q, t) p = Softmax<axis = -1>(s) y = MatMul(p, v)",
                {"q": q, "k": k, "v": v}, "float16[2,40,16]")
    wide_q, wide_k, wide_v = (x.astype(np.float64) for x in (q, k, v))
    scores = wide_q @ wide_k.transpose(0, 2, 1)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    check_rounded_once(found, weights @ wide_v / weights.sum(-1, keepdims=True))


def test_masked_attention():
    """Rows without a key are zeros, as the guard makes them."""
    q, k, v = (values(1, 40, 16, seed=seed) for seed in range(3))
    mask = np.where(np.arange(40)[:, None] < np.arange(40), 0, -np.inf).astype(np.float16)[None]
    zero = np.zeros((), np.float16)
    found = run("""t = Transpose<perm = [0, 2, 1]>(k) s = MatMul(q, t) m = Add(s, mask) p = Softmax<axis = -1>(m)
                   n = IsNaN(p) g = Where(n, zero, p) y = MatMul(g, v)""",
                {"q": q, "k": k, "v": v, "mask": mask, "zero": zero}, "float16[1,40,16]", ["zero"])
    wide_q, wide_k, wide_v = (x.astype(np.float64) for x in (q, k, v))
    scores = (wide_q @ wide_k.transpose(0, 2, 1) + mask)[:, :-1]
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    assert not found[:, -1].any()
    check_rounded_once(found[:, :-1], weights @ wide_v / weights.sum(-1, keepdims=True))


def test_chain_is_rounded_once():
    x, z = values(64, 100), values(64, 100, seed=1)
    found = run("a = Add(x, z) b = Mul(a, x) c = Sub(b, z) d = Relu(c) y = Add(d, x)", {"x": x, "z": z},
                "float16[64,100]")
    wide_x, wide_z = x.astype(np.float32), z.astype(np.float32)
    exact = np.maximum((wide_x + wide_z).astype(np.float64) * wide_x - wide_z, 0) + wide_x
    check_rounded_once(found, exact)
    # What would be infinite if it were stored is not.
    large = np.full((4, 16), 300, np.float16)
    np.testing.assert_array_equal(run("s = Mul(x, x) y = Div(s, x)", {"x": large}, "float16[4,16]"), large)


def test_a_cast_rounds():
    x = np.random.default_rng(0).standard_normal((64, 100)).astype(np.float32)
    rounded = x.astype(np.float16).astype(np.float32)
    found = run("h = Cast<to = 10>(x) w = Cast<to = 1>(h) y = Mul(w, x)", {"x": x}, "float[64,100]")
    np.testing.assert_array_equal(found, rounded * x)
    found = run("h = Cast<to = 10>(x) s = Add(h, h) y = Cast<to = 1>(s)", {"x": x}, "float[64,100]")
    np.testing.assert_array_equal(found, rounded + rounded)


def leaky(x):
    return np.where(x < 0, np.float32(0.01) * x.astype(np.float32), x).astype(np.float16)


# What has no instruction for f16 is done in f32, whatever LLVM makes of it; NaNs are NaNs.
@pytest.mark.parametrize("body, function", [
    ("y = Max(x, z)", np.maximum),
    ("y = Min(x, z)", np.minimum),
    ("y = Relu(x)", lambda x, z: np.maximum(x, np.float16(0))),
    ("y = LeakyRelu(x)", lambda x, z: leaky(x)),
    ("c = Greater(x, z) y = Where(c, x, z)", lambda x, z: np.where(x > z, x, z)),
    ("y = Floor(x)", lambda x, z: np.floor(x)),
    ("y = Round(x)", lambda x, z: np.rint(x)),
    ("y = Abs(x)", lambda x, z: np.abs(x)),
    ("y = Neg(x)", lambda x, z: -x),
    ("y = Sign(x)", lambda x, z: np.sign(x)),
    ("i = Cast<to = 6>(x) y = Cast<to = 10>(i)",
     lambda x, z: np.trunc(np.nan_to_num(x.astype(np.float64), nan=0, posinf=np.inf, neginf=-np.inf)).astype(np.float16)),
])  # fmt: skip
def test_all_numbers(body, function):
    x, z = ALL, np.random.default_rng(0).permutation(ALL.ravel()).reshape(ALL.shape)
    found = run(body, {"x": x, "z": z}, "float16[64,1024]")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, function(x, z))


def test_pools():
    """Of maxima the windows, and the padding, which is less than any number."""
    x = values(1, 3, 12, 12)
    found = run("y = MaxPool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(x)", {"x": x},
                "float16[1,3,6,6]")
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    np.testing.assert_array_equal(found, windows.max((-1, -2)))
