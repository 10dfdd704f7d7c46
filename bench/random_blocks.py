"""Random blocks of networks: layers with branches, as image, language, speech and graph networks have them.

Each function adds one kind of block to a chain of `random_chains.py`, whose sizes and variants nobody chose.
"""

import math

import numpy as np

WIDTHS = [32, 48, 64, 96, 120, 128, 160, 192, 256, 320, 384, 512, 768]
LENGTHS = [1, 8, 16, 31, 49, 64, 77, 100, 128, 197, 256, 384]
IMAGE_SIZES = [7, 8, 12, 14, 16, 20, 26, 28, 32, 40, 52, 56, 64]
CHANNELS = [8, 12, 16, 24, 32, 40, 48, 64, 72, 80, 96, 112, 128, 160, 192, 240, 256]


def reshape(c, value, *sizes):
    return c.add("Reshape", value, c.constant(np.array(sizes)))


def scalar(c, value):
    return c.constant(np.float32(value))


def dense(c, value, depth, columns, bias=True):
    """Columns of a product, as exporters write them: MatMul and Add."""
    value = c.add("MatMul", value, c.weight(depth, columns))
    return c.add("Add", c.weight(columns), value) if bias else value


def gelu(c, value):
    form = c.pick("erf", "tanh", "none", "quick")
    if form == "quick":
        return c.add("Mul", value, c.add("Sigmoid", c.add("Mul", value, scalar(c, 1.702))))
    if form == "erf":
        inner = c.add("Add", c.add("Erf", c.add("Div", value, scalar(c, math.sqrt(2)))), scalar(c, 1))
        return c.add("Mul", c.add("Mul", value, inner), scalar(c, 0.5))
    return c.add("Gelu", value, approximate=form)


def silu(c, value):
    return c.add("Mul", value, c.add("Sigmoid", value))


def activation(c, value):
    kind = c.pick("Relu", "HardSwish", "silu", "gelu", "Clip", "LeakyRelu", "Mish", "PRelu")
    if kind == "silu":
        return silu(c, value)
    if kind == "gelu":
        return gelu(c, value)
    if kind == "Clip":
        return c.add("Clip", value, scalar(c, 0), scalar(c, 6))
    if kind == "PRelu":
        return c.add("PRelu", value, c.weight(1))
    return c.add(kind, value)


def norm(c, value, width):
    """Of the last dimension: as an operator, or root mean squares written out."""
    if c.pick(True, True, False):
        return c.add("LayerNormalization", value, c.weight(width), c.weight(width), axis=-1)
    squares = c.add("Pow", value, scalar(c, 2))
    mean = c.add("ReduceMean", squares, c.constant(np.array([-1])), keepdims=1)
    root = c.add("Sqrt", c.add("Add", mean, scalar(c, 1e-6)))
    return c.add("Mul", c.add("Div", value, root), c.weight(width))


def batch_norm(c, value, channels):
    scale = c.constant((1 + 0.1 * c.rng.standard_normal(channels)).astype(np.float32))
    variance = c.constant((0.5 + c.rng.random(channels)).astype(np.float32))
    return c.add("BatchNormalization", value, scale, c.weight(channels), c.weight(channels), variance)


def conv(c, value, channels, filters, kernel, stride=1, group=1, dilation=1, norm=None):
    """Same padding; `kernel` of one number is square; a batch normalisation or a bias behind it."""
    kernel = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    pads = [dilation * (k - 1) // 2 for k in kernel]
    ends = [dilation * (k - 1) - p for k, p in zip(kernel, pads)]
    norm = c.pick(True, False) if norm is None else norm
    bias = [] if norm else [c.weight(filters)]
    value = c.add("Conv", value, c.weight(filters, channels // group, *kernel), *bias, strides=[stride] * len(kernel),
                  group=group, pads=pads + ends, dilations=[dilation] * len(kernel))  # fmt: skip
    return batch_norm(c, value, filters) if norm else value


def image(c, most=4e5):
    """N, C, H, W of the input."""
    c.input = (0,)
    while not 4e3 <= math.prod(c.input) <= most:
        size = c.pick(*IMAGE_SIZES)
        c.input = (c.pick(1, 1, 1, 2, 4), c.pick(*CHANNELS), size, c.pick(size, size, *IMAGE_SIZES))
    c.fixed = {1}
    return c.input


def sequence(c):
    """N, T, C of the input."""
    c.input = (c.pick(1, 1, 2, 4), c.pick(*LENGTHS), c.pick(*WIDTHS))
    c.fixed = {2}
    return c.input


def rotated(c, value, length, width):
    """Rotary positions of ..., T, C, by halves."""
    half = width // 2
    ends = [c.constant(np.array([i])) for i in (0, half, width)]
    last = c.constant(np.array([-1]))
    c.fixed |= {1}
    first = c.add("Slice", value, ends[0], ends[1], last)
    second = c.add("Slice", value, ends[1], ends[2], last)
    turned = c.add("Concat", c.add("Neg", second), first, axis=-1)
    sides = [c.add("Mul", part, c.weight(length, width)) for part in (value, turned)]
    return c.add("Add", *sides)


def also(c):
    """A second result of what was added last."""
    c.nodes[-1].output.append(f"{c.value}_second")
    return c.nodes[-1].output[-1]


def halves(c, value, size):
    """Of twice as many channels."""
    first = c.add("Split", value, c.constant(np.array([size, size])), axis=1)
    return first, also(c)


def shared(c, keys, heads, groups, head):
    """A group's keys or values for each of its heads."""
    if groups == heads:
        return keys
    keys = c.add("Unsqueeze", keys, c.constant(np.array([2])))
    keys = c.add("Expand", keys, c.constant(np.array([1, 1, heads // groups, 1, 1])))
    return reshape(c, keys, 0, heads, -1, head)


def heads_of(c, value, heads, width):
    return c.add("Transpose", reshape(c, value, 0, 0, heads, width), perm=[0, 2, 1, 3])


def attended(c, value, length, width):
    """Self-attention with its projections."""
    head = c.pick(*(size for size in (8, 16, 24, 32, 40, 48, 64, 80, 96, 128) if width % size == 0))
    heads = width // head
    form = c.pick("one", "three", "three", "grouped")
    if form == "one":
        parts = reshape(c, dense(c, value, width, 3 * width), 0, 0, 3, heads, head)
        parts = c.add("Transpose", parts, perm=[2, 0, 3, 1, 4])
        q, k, v = (c.add("Gather", parts, c.constant(np.array(i)), axis=0) for i in range(3))
    else:
        groups = c.pick(*(n for n in (1, 2, 4) if heads % n == 0)) if form == "grouped" else heads
        bias = c.pick(True, False)
        q = heads_of(c, dense(c, value, width, width, bias), heads, head)
        k, v = (heads_of(c, dense(c, value, width, groups * head, bias), groups, head) for _ in range(2))
        if c.pick(True, False):
            q, k = rotated(c, q, length, head), rotated(c, k, length, head)
        k, v = (shared(c, part, heads, groups, head) for part in (k, v))
    if c.pick(True, False):
        q = c.add("Mul", q, scalar(c, head**-0.5))
        scores = c.add("MatMul", q, c.add("Transpose", k, perm=[0, 1, 3, 2]))
    else:
        scores = c.add("Div", c.add("MatMul", q, c.add("Transpose", k, perm=[0, 1, 3, 2])), scalar(c, head**0.5))
    mask = c.pick("none", "none", "causal", "bias")
    if mask != "none":
        c.fixed |= {1}
    if mask == "causal":
        hidden = np.triu(np.full((length, length), -1e9, np.float32), 1)
        scores = c.add("Add", scores, c.constant(hidden))
    elif mask == "bias":
        scores = c.add("Add", scores, c.weight(heads, length, length))
    value = c.add("MatMul", c.add("Softmax", scores, axis=-1), v)
    value = reshape(c, c.add("Transpose", value, perm=[0, 2, 1, 3]), 0, 0, width)
    return dense(c, value, width, width)


def mlp(c, value, width):
    inner = width * c.pick(2, 3, 4)
    if c.pick(True, False):
        gate = c.pick(silu, gelu)(c, dense(c, value, width, inner, False))
        return dense(c, c.add("Mul", gate, dense(c, value, width, inner, False)), inner, width, False)
    return dense(c, activation(c, dense(c, value, width, inner)), inner, width)


def transformers(c):
    _, length, width = sequence(c)
    value = "x"
    before = c.pick(True, False)
    for part in (lambda v: attended(c, v, length, width), lambda v: mlp(c, v, width)):
        if before:
            value = c.add("Add", value, part(norm(c, value, width)))
        else:
            value = norm(c, c.add("Add", part(value), value), width)


def tokens(c):
    """One token of a language model beside the keys and values before it, which the input stands for."""
    head, heads, length = c.pick(32, 64, 64, 128), c.pick(4, 8, 12, 16), c.pick(15, 63, 100, 255, 511, 1000)
    groups = c.pick(*(n for n in (1, 2, 4, heads) if heads % n == 0))
    width = heads * head
    c.input, c.fixed = (1, groups, length, head), {1, 2, 3}
    first = c.add("Slice", "x", c.constant(np.array([0])), c.constant(np.array([1])), c.constant(np.array([1])))
    token = c.add("ReduceMean", first, c.constant(np.array([1, 2])), keepdims=0)
    token = c.add("Unsqueeze", dense(c, token, head, width), c.constant(np.array([1])))
    before = token
    token = norm(c, token, width)
    q = heads_of(c, dense(c, token, width, width), heads, head)
    k, v = (heads_of(c, dense(c, token, width, groups * head), groups, head) for _ in range(2))
    k, v = (c.add("Concat", "x", part, axis=2) for part in (k, v))
    k, v = (shared(c, part, heads, groups, head) for part in (k, v))
    scores = c.add("MatMul", q, c.add("Transpose", k, perm=[0, 1, 3, 2]))
    scores = c.add("Softmax", c.add("Mul", scores, scalar(c, head**-0.5)), axis=-1)
    value = reshape(c, c.add("Transpose", c.add("MatMul", scores, v), perm=[0, 2, 1, 3]), 0, 1, width)
    value = c.add("Add", before, dense(c, value, width, width))
    c.add("Add", value, mlp(c, norm(c, value, width), width))


def squeezed(c, value, channels):
    """Channels scaled by what a small network makes of their means."""
    inner = max(4, channels // c.pick(4, 8, 16))
    mean = c.pick(lambda: c.add("GlobalAveragePool", value),
                  lambda: c.add("ReduceMean", value, c.constant(np.array([2, 3])), keepdims=1))()  # fmt: skip
    inside = c.add("Relu", conv(c, mean, channels, inner, 1, norm=False))
    gates = c.add(c.pick("Sigmoid", "HardSigmoid"), conv(c, inside, inner, channels, 1, norm=False))
    return c.add("Mul", value, gates)


def inverted(c):
    _, channels, *_ = image(c)
    value = "x"
    for _ in range(c.rng.integers(1, 3)):
        inner, kernel = channels * c.pick(2, 3, 4, 6), c.pick(3, 3, 5, 7)
        inside = activation(c, conv(c, value, channels, inner, 1))
        inside = activation(c, conv(c, inside, inner, inner, kernel, group=inner))
        if c.pick(True, False):
            inside = squeezed(c, inside, inner)
        value = c.add("Add", conv(c, inside, inner, channels, 1), value)


def bottlenecks(c):
    _, channels, *_ = image(c, 2e5)
    value, stride = "x", c.pick(1, 2)
    filters = channels * c.pick(1, 2)
    inner = max(8, channels // c.pick(1, 2, 4))
    group = c.pick(1, 1, *(n for n in (2, 4, 8, 32) if inner % n == 0))
    inside = activation(c, conv(c, value, channels, inner, 1))
    inside = activation(c, conv(c, inside, inner, inner, 3, stride, group))
    if c.pick(True, False):
        inside = squeezed(c, inside, inner)
    inside = conv(c, inside, inner, filters, 1)
    beside = value if filters == channels and stride == 1 else conv(c, value, channels, filters, 1, stride)
    c.add("Relu", c.add("Add", inside, beside))


def modern(c):
    """Depthwise windows, a normalisation of channels, and two products between transposes."""
    _, channels, *_ = image(c)
    inside = conv(c, "x", channels, channels, c.pick(3, 5, 7, 11), group=channels, norm=False)
    inside = norm(c, c.add("Transpose", inside, perm=[0, 2, 3, 1]), channels)
    inside = c.add("Mul", mlp(c, inside, channels), c.weight(channels))
    c.add("Add", "x", c.add("Transpose", inside, perm=[0, 3, 1, 2]))


def branches(c):
    """Several convolutions of the same image, side by side."""
    _, channels, *_ = image(c, 2e5)
    parts = []
    for _ in range(c.rng.integers(2, 5)):
        filters, inner = c.pick(*CHANNELS), c.pick(*CHANNELS)
        kind = c.pick("pixel", "window", "double", "pool", "sides")
        if kind == "pool":
            part = c.add(c.pick("MaxPool", "AveragePool"), "x", kernel_shape=[3, 3], pads=[1] * 4)
            part = conv(c, part, channels, filters, 1)
        elif kind == "pixel":
            part = conv(c, "x", channels, filters, 1)
        else:
            part = c.add("Relu", conv(c, "x", channels, inner, 1))
            if kind == "sides":
                size = c.pick(3, 5, 7)
                part = conv(c, c.add("Relu", conv(c, part, inner, inner, (1, size))), inner, filters, (size, 1))
            else:
                part = conv(c, part, inner, filters, c.pick(3, 5), dilation=c.pick(1, 1, 2, 3))
        parts.append(c.add("Relu", part))
    c.add("Concat", *parts, axis=1)


def shuffled(c):
    batch, channels, height, width = image(c)
    c.fixed = {1, 2, 3}
    half, groups = channels // 2, c.pick(2, 4)
    first, second = halves(c, "x", half)
    inside = c.add("Relu", conv(c, second, half, half, 1))
    inside = conv(c, inside, half, half, c.pick(3, 5), group=half)
    inside = c.add("Relu", conv(c, inside, half, half, 1))
    value = c.add("Concat", first, inside, axis=1)
    value = reshape(c, value, 0, groups, channels // groups, height, width)
    reshape(c, c.add("Transpose", value, perm=[0, 2, 1, 3, 4]), 0, channels, height, width)


def hourglass(c):
    """Down, up, and what was there before beside it."""
    _, channels, height, width = image(c, 2e5)
    c.fixed = {1, 2, 3}
    inner = c.pick(channels, 2 * channels)
    first = c.add("Relu", conv(c, "x", channels, channels, 3))
    if c.pick(True, False) or height % 2 or width % 2:
        inside = c.add("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
        inside = c.add("Relu", conv(c, inside, channels, inner, 3))
    else:
        inside = c.add("Relu", conv(c, first, channels, inner, c.pick(2, 4), 2))
    kind = c.pick("linear", "nearest", "transposed", "shuffle")
    sizes = c.constant(np.array([height, width]))
    if height % 2 or width % 2 or kind in ("linear", "nearest"):
        mode = kind if kind in ("linear", "nearest") else "linear"
        inside = c.add("Resize", inside, "", "", sizes, axes=[2, 3], mode=mode,
                       coordinate_transformation_mode="half_pixel" if mode == "linear" else "asymmetric")  # fmt: skip
    elif kind == "transposed":
        inside = c.add("ConvTranspose", inside, c.weight(inner, inner, 2, 2), c.weight(inner), strides=[2, 2])
    else:
        inside = c.add("DepthToSpace", conv(c, inside, inner, 4 * inner, 1), blocksize=2, mode="CRD")
    value = c.add("Concat", inside, first, axis=1)
    c.add("Relu", conv(c, value, inner + channels, channels, 3))


def gates(c):
    """What attention of channels and of places does with an image."""
    _, channels, *_ = image(c)
    value = activation(c, conv(c, "x", channels, channels, 3, group=c.pick(1, channels)))
    if c.pick(True, False):
        value = squeezed(c, value, channels)
    axes = c.constant(np.array([1]))
    sides = [c.add(operator, value, axes, keepdims=1) for operator in ("ReduceMean", "ReduceMax")]
    places = conv(c, c.add("Concat", *sides, axis=1), 2, 1, c.pick(3, 7), norm=False)
    c.add("Add", "x", c.add("Mul", value, c.add("Sigmoid", places)))


def mixers(c):
    _, length, width = sequence(c)
    c.fixed = {1, 2}
    value = c.add("Transpose", norm(c, "x", width), perm=[0, 2, 1])
    inner = c.pick(64, 128, 256, 384)
    value = dense(c, gelu(c, dense(c, value, length, inner)), inner, length)
    value = c.add("Add", "x", c.add("Transpose", value, perm=[0, 2, 1]))
    c.add("Add", value, mlp(c, norm(c, value, width), width))


def local_windows(c):
    """Attention in windows of an image that is N, H, W, C."""
    size, width = c.pick(4, 7, 8), c.pick(32, 64, 96, 128, 192)
    rows, columns = size * c.pick(1, 2, 4), size * c.pick(1, 2, 4)
    c.input, c.fixed = (1, rows, columns, width), {0, 1, 2, 3}
    value = norm(c, "x", width)
    shift = c.pick(0, size // 2)

    def rolled(value, by):
        for axis, length in ((1, rows), (2, columns)):
            at, start, end, where = (c.constant(np.array([i])) for i in (by % length, 0, length, axis))
            value = c.add("Concat", c.add("Slice", value, at, end, where), c.add("Slice", value, start, at, where),
                          axis=axis)  # fmt: skip
        return value

    if shift and rows > size and columns > size:
        value = rolled(value, shift)
    value = reshape(c, value, 1, rows // size, size, columns // size, size, width)
    value = reshape(c, c.add("Transpose", value, perm=[0, 1, 3, 2, 4, 5]), -1, size * size, width)
    value = attended(c, value, size * size, width)
    value = reshape(c, value, 1, rows // size, columns // size, size, size, width)
    value = reshape(c, c.add("Transpose", value, perm=[0, 1, 3, 2, 4, 5]), 1, rows, columns, width)
    if shift and rows > size and columns > size:
        value = rolled(value, -shift)
    value = c.add("Add", "x", value)
    c.add("Add", value, mlp(c, norm(c, value, width), width))


def speech(c):
    """Convolutions over time with gates, as WaveNet, conformers and vocoders have them."""
    channels, length = c.pick(16, 32, 64, 80, 128, 144, 256), c.pick(50, 100, 200, 500, 1000)
    c.input, c.fixed = (c.pick(1, 1, 4), channels, length), {1}
    value = "x"
    for _ in range(c.rng.integers(1, 4)):
        kernel, dilation = c.pick(2, 3, 5, 9), c.pick(1, 2, 4, 8)
        first, second = halves(c, conv(c, value, channels, 2 * channels, (kernel,), dilation=dilation), channels)
        gate = c.pick("Tanh", "Identity")
        inside = c.add("Mul", c.add(gate, first) if gate == "Tanh" else first, c.add("Sigmoid", second))
        if c.pick(True, False):
            inside = silu(c, conv(c, inside, channels, channels, (c.pick(3, 15, 31),), group=channels))
        value = c.add("Add", conv(c, inside, channels, channels, (1,)), value)


def hearing(c):
    """Convolutions of a spectrogram, a recurrence over time, and columns of its states."""
    bands, length = c.pick(40, 64, 80), c.pick(32, 100, 200)
    filters, size = c.pick(8, 16, 32), c.pick(64, 96, 128, 256)
    c.input, c.fixed = (1, 1, bands, length), {0, 1, 2, 3}
    value = c.add("Relu", conv(c, "x", 1, filters, 3))
    value = c.add("MaxPool", value, kernel_shape=[2, 1], strides=[2, 1])
    value = c.add("Relu", conv(c, value, filters, filters, 3))
    value = reshape(c, c.add("Transpose", value, perm=[3, 0, 1, 2]), length, 1, filters * bands // 2)
    operator, gates = c.pick(("LSTM", 4), ("GRU", 3))
    directions = c.pick(1, 2)
    value = c.add(operator, value, c.weight(directions, gates * size, filters * bands // 2),
                  c.weight(directions, gates * size, size), c.weight(directions, 2 * gates * size), hidden_size=size,
                  direction=["forward", "bidirectional"][directions - 1])  # fmt: skip
    value = reshape(c, c.add("Transpose", value, perm=[0, 2, 1, 3]), length, 1, directions * size)
    c.add("LogSoftmax", dense(c, value, directions * size, c.pick(29, 64, 500)), axis=-1)


def graphs(c):
    """Nodes that gather what their neighbours send, twice."""
    nodes, width = c.pick(30, 100, 500, 2000), c.pick(8, 16, 32, 64, 128)
    edges = nodes * c.pick(2, 4, 8)
    c.input, c.fixed = (nodes, width), {0, 1}
    sources, targets = (c.constant(c.rng.integers(0, nodes, edges)) for _ in range(2))
    value, depth = "x", width
    for _ in range(2):
        columns = c.pick(16, 32, 64)
        value = dense(c, value, depth, columns)
        sent = c.add("Gather", value, sources, axis=0)
        if c.pick(True, False):
            sent = c.add("Mul", sent, c.weight(edges, 1))
        where = c.add("Unsqueeze", targets, c.constant(np.array([1])))
        zeros = c.constant(np.zeros((nodes, columns), np.float32))
        value = c.add("Relu", c.add("ScatterND", zeros, where, sent, reduction="add"))
        depth = columns


def points(c):
    """Points in space: distances, neighbours, and maxima of what they have."""
    count, width, near = c.pick(64, 128, 256, 512), c.pick(3, 16, 32, 64), c.pick(4, 8, 16)
    c.input, c.fixed = (1, count, width), {0, 1, 2}
    products = c.add("MatMul", "x", c.add("Transpose", "x", perm=[0, 2, 1]))
    squares = c.add("ReduceSum", c.add("Mul", "x", "x"), c.constant(np.array([2])), keepdims=1)
    distances = c.add("Sub", c.add("Mul", products, scalar(c, 2)), squares)
    distances = c.add("Sub", distances, c.add("Transpose", squares, perm=[0, 2, 1]))
    c.add("TopK", distances, c.constant(np.array([near])), axis=-1)
    places = c.add("Squeeze", also(c), c.constant(np.array([0])))
    flat = c.add("Squeeze", "x", c.constant(np.array([0])))
    around = c.add("Gather", flat, places, axis=0)
    around = c.add("Sub", around, c.add("Unsqueeze", flat, c.constant(np.array([1]))))
    value = dense(c, c.add("Relu", dense(c, around, width, 64)), 64, c.pick(32, 64, 128))
    c.add("ReduceMax", value, c.constant(np.array([1])), keepdims=0)


def tables(c):
    """Recommendation: rows of tables, their products in pairs, and columns of all of them."""
    batch, features, width = c.pick(1, 8, 64, 256, 1024), c.pick(8, 13, 26), c.pick(8, 16, 32, 64)
    c.input, c.fixed = (batch, features), {1}
    rows = 1000
    numbers = c.add("Cast", c.add("Mod", c.add("Mul", c.add("Abs", "x"), scalar(c, 300)), scalar(c, rows - 1), fmod=1),
                    to=7)  # fmt: skip
    together = c.add("Add", numbers, c.constant(rows * np.arange(features)))
    found = c.add("Gather", c.weight(rows * features, width), together, axis=0)
    parts = [reshape(c, found, -1, features * width)]
    kind = c.pick("pairs", "sums", "cross")
    if kind == "pairs":
        pairs = c.add("MatMul", found, c.add("Transpose", found, perm=[0, 2, 1]))
        parts.append(reshape(c, pairs, -1, features * features))
    elif kind == "sums":
        total = c.add("ReduceSum", found, c.constant(np.array([1])), keepdims=0)
        squares = c.add("ReduceSum", c.add("Mul", found, found), c.constant(np.array([1])), keepdims=0)
        parts.append(c.add("Sub", c.add("Mul", total, total), squares))
    else:
        flat = parts[0]
        scaled = dense(c, flat, features * width, features * width)
        parts = [c.add("Add", c.add("Mul", flat, scaled), flat)]
    depth = features * width + {"pairs": features * features, "sums": width, "cross": 0}[kind]
    value = c.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
    inner = c.pick(64, 128, 400)
    value = c.add("Relu", dense(c, value, depth, inner))
    c.add("Sigmoid", dense(c, c.add("Relu", dense(c, value, inner, inner)), inner, 1))


def detections(c):
    """Boxes and classes of the places of an image, and the best of them."""
    batch, channels, height, width = image(c, 2e5)
    c.fixed = {1, 2, 3}
    anchors, classes = c.pick(1, 3, 9), c.pick(1, 20, 80)
    value = activation(c, conv(c, "x", channels, channels, 3))
    value = conv(c, value, channels, anchors * (4 + classes), 1, norm=False)
    value = reshape(c, value, 0, anchors, 4 + classes, height * width)
    value = c.add("Transpose", value, perm=[0, 3, 1, 2])
    value = reshape(c, value, 0, height * width * anchors, 4 + classes)
    ends = [c.constant(np.array([i])) for i in (0, 2, 4, 4 + classes)]
    last = c.constant(np.array([2]))
    middle, size, scores = (c.add("Slice", value, *ends[i : i + 2], last) for i in range(3))
    middle = c.add("Add", c.add("Sigmoid", middle), c.weight(height * width * anchors, 2))
    size = c.add("Mul", c.add("Exp", size), c.weight(height * width * anchors, 2))
    boxes = c.add("Concat", c.add("Sub", middle, size), c.add("Add", middle, size), axis=2)
    best = c.add("ReduceMax", c.add("Sigmoid", scores), last, keepdims=1)
    c.add("Concat", boxes, best, axis=2)


def codes(c):
    """The nearest of a book's vectors for each vector."""
    _, length, width = sequence(c)
    book = c.weight(c.pick(128, 512, 1024), width)
    turned = c.add("Transpose", book, perm=[1, 0])
    products = c.add("MatMul", "x", turned)
    squares = c.add("ReduceSum", c.add("Mul", book, book), c.constant(np.array([1])), keepdims=0)
    distances = c.add("Sub", c.add("Mul", products, scalar(c, -2)), c.add("Neg", squares))
    nearest = c.add("ArgMin", distances, axis=-1, keepdims=0)
    c.add("Sub", c.add("Gather", book, nearest, axis=0), "x")


def linear_attention(c):
    """Keys times values first, in heads."""
    _, length, width = sequence(c)
    head = c.pick(*(size for size in (8, 16, 32, 64) if width % size == 0))
    heads = width // head
    q, k, v = (heads_of(c, dense(c, "x", width, width), heads, head) for _ in range(3))
    q, k = (c.add("Add", c.add("Elu", part), scalar(c, 1)) for part in (q, k))
    both = c.add("MatMul", c.add("Transpose", k, perm=[0, 1, 3, 2]), v)
    total = c.add("ReduceSum", k, c.constant(np.array([2])), keepdims=1)
    scale = c.add("ReduceSum", c.add("Mul", q, total), c.constant(np.array([3])), keepdims=1)
    value = c.add("Div", c.add("MatMul", q, both), c.add("Add", scale, scalar(c, 1e-6)))
    value = reshape(c, c.add("Transpose", value, perm=[0, 2, 1, 3]), 0, 0, width)
    c.add("Add", "x", dense(c, value, width, width))


def flows(c):
    """An image sampled at places that a convolution of it makes."""
    batch, channels, height, width = image(c)
    c.fixed = {1, 2, 3}
    shift = c.add("Tanh", conv(c, "x", channels, 2, 3, norm=False))
    places = c.add("Add", c.add("Transpose", shift, perm=[0, 2, 3, 1]), c.weight(1, height, width, 2))
    value = c.add("GridSample", "x", places, mode=c.pick("linear", "linear", "nearest"),
                  padding_mode=c.pick("zeros", "border"), align_corners=c.pick(0, 1))  # fmt: skip
    value = c.add("Concat", value, "x", axis=1)
    activation(c, conv(c, value, 2 * channels, channels, c.pick(1, 3)))


def einsums(c):
    kind = c.pick("bijk,bjkl->bil", "bhid,bhjd->bhij", "bthd,bshd->bhts", "bic,cd->bid", "bhts,bshd->bthd",
                  "bnc,bmc->bnm", "bchw,cd->bdhw", "bij,bjc->bic", "bhw,hk->bkw")  # fmt: skip
    first, second = kind.split("->")[0].split(",")
    sizes = {letter: c.pick(4, 8, 12, 16, 32, 64, 100) for letter in sorted(set(first + second))}
    sizes["b"] = c.pick(1, 2, 4)
    c.input, c.fixed = tuple(sizes[letter] for letter in first), set(range(len(first)))
    if kind.count("b") == 2:
        other = c.weight(*(sizes[letter] for letter in second))
    else:
        other = c.add("Mul", c.weight(*(sizes[letter] for letter in second)),
                      c.add("ReduceMean", "x", keepdims=0))  # fmt: skip
    c.add("Einsum", "x", other, equation=kind)
    activation(c, c.value)


KINDS = [transformers, transformers, tokens, inverted, bottlenecks, modern, branches, shuffled, hourglass, gates,
         mixers, local_windows, speech, hearing, graphs, points, tables, detections, codes, linear_attention, flows,
         einsums]  # fmt: skip
