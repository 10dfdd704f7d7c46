"""Convolutions by minimal filtering: images that tiles do not divide, volumes, any batch and window, what is fused."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from support.combinations import every_other
from support.targets import has

RNG = np.random.default_rng(0)


def convolution(channels, filters, height, width, residual, dilation=1):
    weights = RNG.standard_normal((filters, channels, 3, 3)).astype(np.float32)
    bias = RNG.standard_normal(filters).astype(np.float32)
    window = dict(pads=[dilation] * 4, dilations=[dilation] * 2)
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], **window)]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", channels, height, width])]
    if residual:
        inputs.append(helper.make_tensor_value_info("r", TensorProto.FLOAT, ["n", filters, height, width]))
        nodes.append(helper.make_node("Add", ["c", "r"], ["s"]))
    nodes.append(helper.make_node("Relu", ["s" if residual else "c"], ["y"]))
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", filters, height, width])
    constants = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")]
    model = helper.make_model(
        helper.make_graph(nodes, "g", inputs, [output], constants), opset_imports=[helper.make_opsetid("", 18)]
    )
    return model, weights, bias


def reference(x, weights, bias, r, dilation=1):
    """In double precision, from the definition."""
    n, _, height, width = x.shape
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (dilation, dilation), (dilation, dilation)))
    y = np.zeros((n, len(weights), height, width)) + bias.astype(np.float64)[:, None, None]
    for i in range(3):
        for j in range(3):
            part = padded[:, :, i * dilation :, j * dilation :][:, :, :height, :width]
            y += np.einsum("fc,nchw->nfhw", weights[:, :, i, j].astype(np.float64), part)
    return np.maximum(y + r, 0)


@pytest.mark.parametrize(
    "size", [(32, 64, 30, 27), (64, 32, 14, 14), (48, 96, 17, 56), (32, 32, 56, 20), (32, 256, 26, 28)], ids=str
)
@pytest.mark.parametrize("residual", [False, True], ids=["relu", "add-relu"])
def test_convolution(size, residual):
    channels, filters, height, width = size
    model, weights, bias = convolution(*size, residual)
    compiled = {way: strata.compile(model, winograd=way, threads=2) for way in (True, False)}
    for n in (1, 2):
        x = RNG.standard_normal((n, channels, height, width)).astype(np.float32)
        r = RNG.standard_normal((n, filters, height, width)).astype(np.float32) if residual else np.float32(0)
        expected = reference(x, weights, bias, r)
        feeds = {"x": x, "r": r} if residual else {"x": x}
        for way, bound in ((True, 1e-5), (False, 1e-6)):
            [y] = compiled[way].run(feeds)
            assert np.abs(y - expected).max() <= bound * np.abs(expected).max()


def volume(depth, size):
    slices, taps, padding, stride, dilation = depth
    channels, filters, height, width = size
    weights = RNG.standard_normal((filters, channels, taps, 3, 3)).astype(np.float32)
    bias = RNG.standard_normal(filters).astype(np.float32)
    pads = [padding[0], 1, 1, padding[1], 1, 1]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=pads, strides=[stride, 1, 1], dilations=[dilation, 1, 1]),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    shape = ["n", channels, slices, height, width]
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
    )
    return model, weights, bias


def volume_reference(x, weights, bias, padding, stride, dilation):
    """In double precision, from the definition."""
    front, back = padding
    taps = weights.shape[2]
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (front, back), (1, 1), (1, 1)))
    height, width = x.shape[3:]
    slices = (padded.shape[2] - dilation * (taps - 1) - 1) // stride + 1
    y = np.zeros((len(x), len(weights), slices, height, width)) + bias.astype(np.float64)[:, None, None, None]
    for k in range(taps):
        at = padded[:, :, k * dilation :][:, :, : stride * (slices - 1) + 1 : stride]
        for i in range(3):
            for j in range(3):
                part = at[:, :, :, i : i + height, j : j + width]
                y += np.einsum("fc,ncdhw->nfdhw", weights[:, :, k, i, j].astype(np.float64), part)
    return np.maximum(y, 0)


@every_other(
    "depth, size",
    # slices, taps, padding before and behind, stride, dilation
    [(4, 3, (1, 1), 1, 1), (5, 3, (0, 0), 1, 1), (6, 3, (1, 1), 2, 1), (3, 1, (0, 0), 1, 1), (4, 3, (2, 2), 1, 2),
     (1, 3, (1, 1), 1, 1), (2, 2, (3, 0), 1, 1)],
    [(32, 64, 30, 27), (32, 256, 26, 28)],
)  # fmt: skip
def test_volume(depth, size):
    slices, taps, padding, stride, dilation = depth
    channels, filters, height, width = size
    model, weights, bias = volume(depth, size)
    compiled = {way: strata.compile(model, winograd=way, threads=2) for way in (True, False)}
    for n in (1, 2):
        x = RNG.standard_normal((n, channels, slices, height, width)).astype(np.float32)
        expected = volume_reference(x, weights, bias, padding, stride, dilation)
        results = {way: compiled[way].run({"x": x})[0] for way in (True, False)}
        assert not np.array_equal(results[True], results[False])
        for way, bound in ((True, 1e-5), (False, 4e-6)):
            assert np.abs(results[way] - expected).max() <= bound * np.abs(expected).max()


def integer_reference(x, weights, zero):
    """The sums, exact in double precision."""
    height, width = x.shape[2:]
    rows, columns = weights.shape[2:]
    padded = np.pad(x.astype(np.float64) - zero, ((0, 0), (0, 0), (rows // 2,) * 2, (columns // 2,) * 2))
    y = np.zeros((len(x), len(weights), height, width))
    for i in range(rows):
        for j in range(columns):
            part = padded[:, :, i : i + height, j : j + width]
            y += np.einsum("fc,nchw->nfhw", weights[:, :, i, j].astype(np.float64), part, optimize=True)
    return y


@every_other(
    "size, taps, numbers",
    [(32, 64, 30, 27), (64, 32, 14, 14), (16, 96, 17, 56), (512, 32, 7, 9), (32, 43, 30, 27)],
    [(3, 3), (1, 3)],
    [(("uint8", "int8"), "random"), (("uint8", "int8"), "largest"), (("int8", "int8"), "largest"),
     (("uint8", "uint8"), "random")],
)  # fmt: skip
@pytest.mark.skipif(not has("avx2"), reason="needs AVX2")
def test_integers_are_exact(size, taps, numbers):
    """On vectors that multiply no bytes: of any numbers, the largest sums among them."""
    types, values = numbers
    channels, filters, height, width = size
    low, high = zip(*(((0, 255) if t == "uint8" else (-128, 127)) for t in types), strict=True)
    zero = 0 if types[0] == "int8" else 121

    def numbers(i, *shape):
        if values == "random":
            return RNG.integers(low[i], high[i] + 1, shape).astype(types[i])
        return np.where(RNG.random(shape) < 0.9, high[i], low[i]).astype(types[i])

    weights = numbers(1, filters, channels, *taps)
    node = helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], pads=[t // 2 for t in taps] * 2)
    element = helper.np_dtype_to_tensor_dtype(np.dtype(types[0]))
    shape = ["n", channels, height, width]
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(np.array(zero, types[0]), "z")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    for way, target in ((True, "x86-64-v3"), (False, "x86-64-v3"), (True, "x86-64")):
        compiled = strata.compile(model, winograd=way, threads=2, target=target)
        for n in (1, 2):
            x = numbers(0, n, *shape[1:])
            [y] = compiled.run({"x": x})
            assert np.array_equal(y, integer_reference(x, weights, zero))


@pytest.mark.parametrize("size", [(32, 40, 30, 27), (32, 83, 28, 28), (32, 31, 56, 20), (24, 5, 40, 40)], ids=str)
def test_filters_of_part_of_a_panel(size):
    channels, filters, height, width = size
    model, weights, bias = convolution(*size, residual=True)
    compiled = {way: strata.compile(model, winograd=way, threads=2) for way in (True, False)}
    x = RNG.standard_normal((2, channels, height, width)).astype(np.float32)
    r = RNG.standard_normal((2, filters, height, width)).astype(np.float32)
    expected = reference(x, weights, bias, r)
    results = {way: model.run({"x": x, "r": r})[0] for way, model in compiled.items()}
    # Whether so few filters are worth it, the CPU decides.
    assert filters == 5 or not np.array_equal(results[True], results[False])
    for way, bound in ((True, 1e-5), (False, 1e-6)):
        assert np.abs(results[way] - expected).max() <= bound * np.abs(expected).max()


@every_other(
    "size, residual",
    [(16, 32, "h", "w"), (32, 16, "h", "w"), (64, 51, "h", "w"), (128, 256, "h", "w"), (256, 256, "h", 20)],
    [False, True],
)
def test_sizes_that_the_run_tells(size, residual):
    """Fewer tiles than a band has, bands that are not rows, and tiles that end beyond the image."""
    model, weights, bias = convolution(*size, residual)
    compiled = {way: strata.compile(model, winograd=way, threads=2) for way in (True, False)}
    for height, width in ((1, 1), (3, 5), (30, 27), (9, 131)):
        width = width if size[3] == "w" else size[3]
        x = RNG.standard_normal((2, size[0], height, width)).astype(np.float32)
        r = RNG.standard_normal((2, size[1], height, width)).astype(np.float32) if residual else np.float32(0)
        expected = reference(x, weights, bias, r)
        results = {way: each.run({"x": x, "r": r} if residual else {"x": x})[0] for way, each in compiled.items()}
        assert not np.array_equal(results[True], results[False])
        for way, bound in ((True, 3e-5), (False, 4e-6)):
            assert np.abs(results[way] - expected).max() <= bound * np.abs(expected).max()
    empty = np.zeros((2, size[0], 0, 3 if size[3] == "w" else size[3]), np.float32)
    feeds = {"x": empty, "r": empty[:, :1].repeat(size[1], 1)} if residual else {"x": empty}
    assert compiled[True].run(feeds)[0].size == 0


@every_other(
    "channels_filters, depth",
    [(32, 64), (32, 256), (16, 16), (32, 48)],
    [(4, 3, (1, 1), 1, 1), (6, 3, (1, 1), 2, 1), (2, 2, (3, 0), 1, 1)],
)
def test_volumes_of_sizes_that_the_run_tells(channels_filters, depth):
    channels, filters = channels_filters
    slices, _, padding, stride, dilation = depth
    model, weights, bias = volume(depth, (channels, filters, "h", "w"))
    compiled = strata.compile(model, threads=2)
    for height, width in ((30, 27), (5, 60)):
        x = RNG.standard_normal((2, channels, slices, height, width)).astype(np.float32)
        expected = volume_reference(x, weights, bias, padding, stride, dilation)
        [y] = compiled.run({"x": x})
        assert np.abs(y - expected).max() <= 3e-5 * np.abs(expected).max()


@every_other("size, dilation, known", [(32, 64, 30, 27), (64, 32, 40, 48), (32, 48, 45, 31)], [2, 3, 5], [True, False])
def test_dilated(size, dilation, known):
    """As many images as the square of the dilation, of which not all have the same number of rows."""
    channels, filters, height, width = size
    model, weights, bias = convolution(channels, filters, *((height, width) if known else "hw"), True, dilation)
    compiled = {way: strata.compile(model, winograd=way, threads=2) for way in (True, False)}
    x = RNG.standard_normal((2, channels, height, width)).astype(np.float32)
    r = RNG.standard_normal((2, filters, height, width)).astype(np.float32)
    expected = reference(x, weights, bias, r, dilation)
    results = {way: model.run({"x": x, "r": r})[0] for way, model in compiled.items()}
    # Of few rows and columns each image is mostly what fills up its tiles.
    if dilation < 5:
        assert not np.array_equal(results[True], results[False])
    for way, bound in ((True, 1e-5), (False, 2e-6)):
        assert np.abs(results[way] - expected).max() <= bound * np.abs(expected).max()


def any_window(shape, weights, bias, pads, dilations=None, strides=None):
    """A convolution over any number of dimensions, and a ReLU; `shape` of the data may have names."""
    window = dict(pads=pads, dilations=dilations or [1] * (len(pads) // 2), strides=strides or [1] * (len(pads) // 2))
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w", "b"], ["c"], **window), helper.make_node("Relu", ["c"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), window


def window_reference(x, weights, bias, pads, dilations, strides):
    """In double precision, from the definition, over any number of dimensions."""
    sides = x.ndim - 2
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *zip(pads[:sides], pads[sides:], strict=True)])
    taps = weights.shape[2:]
    sizes = [(padded.shape[2 + i] - dilations[i] * (taps[i] - 1) - 1) // strides[i] + 1 for i in range(sides)]
    y = np.zeros((len(x), len(weights), *sizes)) + bias.astype(np.float64).reshape(-1, *[1] * sides)
    for tap in np.ndindex(taps):
        at = tuple(slice(t * d, t * d + s * (size - 1) + 1, s)
                   for t, d, s, size in zip(tap, dilations, strides, sizes, strict=True))  # fmt: skip
        y += np.einsum("fc,nc...->nf...", weights[(..., *tap)].astype(np.float64), padded[(..., *at)], optimize=True)
    return np.maximum(y, 0)


@every_other(
    "window, known",
    [
        # channels, filters, the data's other sizes, taps, dilations and strides along them; whether it pays on any CPU
        (64, 64, (300,), (3,), (1,), (1,), True),
        (64, 51, (331,), (3,), (4,), (1,), False),
        (384, 128, (50,), (3,), (1,), (1,), False),
        (64, 128, (100,), (4,), (1,), (1,), False),
        (128, 64, (203,), (5,), (1,), (1,), True),
        (64, 64, (200,), (7,), (3,), (1,), False),
        (64, 64, (77,), (9,), (2,), (1,), True),
        (32, 64, (400,), (11,), (5,), (1,), False),
        (64, 64, (400,), (2,), (1,), (1,), False),
        (64, 64, (30, 27), (2, 2), (1, 1), (1, 1), True),
        (512, 512, (14, 14), (2, 2), (1, 1), (1, 1), False),  # no room for tiles of four
        (64, 64, (30, 27), (2, 3), (1, 1), (1, 1), True),
        (64, 64, (31, 26), (5, 5), (1, 1), (1, 1), True),
        (32, 64, (30, 27), (7, 7), (1, 1), (1, 1), True),
        (64, 64, (40, 40), (5, 5), (2, 2), (1, 1), False),
        (64, 64, (30, 27), (4, 3), (1, 1), (1, 1), True),
        (64, 64, (30, 27), (3, 5), (1, 1), (1, 1), True),
        (32, 64, (4, 30, 27), (3, 5, 5), (1, 1, 1), (1, 1, 1), False),
        (64, 64, (30, 27), (1, 3), (1, 1), (1, 1), True),
        (64, 64, (30, 27), (3, 1), (1, 1), (1, 1), True),
        (64, 96, (30, 27), (3, 1), (4, 1), (1, 1), True),
        (64, 64, (30, 27), (1, 3), (1, 2), (2, 1), False),
        (64, 64, (14, 60), (1, 5), (1, 1), (1, 1), True),
        (64, 64, (60, 9), (9, 1), (1, 1), (1, 1), True),
        (64, 64, (8, 14, 15), (3, 1, 1), (1, 1, 1), (1, 1, 1), True),
        (64, 48, (9, 14, 15), (3, 1, 1), (2, 1, 1), (1, 1, 1), False),
        (64, 64, (6, 14, 30), (1, 1, 3), (1, 1, 1), (1, 1, 1), True),
        (32, 64, (3, 30, 27), (3, 3, 1), (1, 1, 1), (1, 1, 1), False),
        (32, 64, (5, 30, 27), (3, 1, 3), (1, 1, 1), (1, 1, 1), False),
    ],
    [True, False],
)
def test_windows(window, known):
    """Windows with several taps along one dimension or two, of volumes any two, or so many that they are in parts."""
    channels, filters, sizes, taps, dilations, strides, pays = window
    weights = (RNG.standard_normal((filters, channels, *taps)) * 0.1).astype(np.float32)
    bias = RNG.standard_normal(filters).astype(np.float32)
    pads = [d * (t // 2) for t, d in zip(taps, dilations, strict=True)] * 2
    names = sizes if known else [f"s{i}" if len(sizes) < 3 or i else size for i, size in enumerate(sizes)]
    model, window = any_window(["n", channels, *names], weights, bias, pads, list(dilations), list(strides))
    ways = {True: dict(winograd=True), False: dict(winograd=False), "v3": dict(target="x86-64-v3")}
    if not known:
        ways = {True: ways[True]}
    compiled = {way: strata.compile(model, threads=2, **options) for way, options in ways.items()}
    for n in (1, 3):
        x = RNG.standard_normal((n, channels, *sizes)).astype(np.float32)
        expected = window_reference(x, weights, bias, **window)
        results = {way: each.run({"x": x})[0] for way, each in compiled.items()}
        if pays and known:
            assert not np.array_equal(results[True], results[False])
        for way, y in results.items():
            assert y.shape == expected.shape
            assert np.abs(y - expected).max() <= (3e-5 if way else 4e-6) * np.abs(expected).max()


@pytest.mark.parametrize("length", [1, 2, 5, 64, 257])
def test_lengths_that_the_run_tells(length):
    """Of one symbolic model, in parts: fewer tiles than a band has, and tiles that end behind the line."""
    weights = (RNG.standard_normal((64, 64, 5)) * 0.1).astype(np.float32)
    bias = RNG.standard_normal(64).astype(np.float32)
    model, window = any_window(["n", 64, "length"], weights, bias, [2, 2])
    compiled = strata.compile(model, threads=2)
    for n in (0, 2):
        x = RNG.standard_normal((n, 64, length)).astype(np.float32)
        expected = window_reference(x, weights, bias, **window)
        [y] = compiled.run({"x": x})
        assert y.shape == expected.shape
        assert n == 0 or np.abs(y - expected).max() <= 1e-5 * np.abs(expected).max()
