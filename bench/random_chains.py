#!/usr/bin/env python3
"""Times random chains of layers beside a peer: sizes and sequences that nobody chose.

    python bench/random_chains.py FIRST LAST [--blocks] [--as FORM] [--threads N] [--kind NAME] [--above RATIO]
                                  [--save FOLDER]

A number makes the same chain in each run. The forms of it, and what their times are compared with:

    f32       as it is, with ONNX Runtime (the default)
    openvino  as it is, with OpenVINO in f32
    int8      quantised as ONNX Runtime's quantize_static does it, with ONNX Runtime
    bf16      with --precision=bf16, with what OpenVINO does by default
    symbolic  where every size of the input is symbolic that no weight fixes, with Strata's own code for known sizes
    symbolic-bf16  the same with --precision=bf16

What has a ratio above RATIO (1.05) is marked, and what differs from ONNX Runtime without graph optimisations by more
than the form's rounding explains and by more than the peer; --save writes these as FOLDER/NUMBER.onnx and .npz. A ratio
is the median of those of turns, which both take for half a second, each in a process of its own.
"""

import argparse
import logging
import math
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import random_blocks
from onnx import TensorProto, helper, numpy_helper
from runtimes import Worker

CHANNELS = [3, 8, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512]
SIZES = [7, 8, 10, 14, 16, 20, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128]
ACTIVATIONS = ["Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu"]
MOST_PRODUCTS = 4e8  # of a layer
MOST_ELEMENTS = 6e6  # of a tensor


class Chain:
    """Layers on `shape`, N, C and the spatial dimensions of an image, or whatever a kind is about."""

    def __init__(self, number):
        self.rng = np.random.default_rng(number)
        self.nodes, self.constants, self.value, self.shape = [], {}, "x", ()
        self.fixed = {-1}  # the dimensions of the input whose sizes the weights have

    def pick(self, *values):
        return values[self.rng.integers(len(values))]

    def constant(self, value):
        name = f"w{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def weight(self, *shape):
        return self.constant((0.1 * self.rng.standard_normal(shape)).astype(np.float32))

    def add(self, operator, *operands, **attributes):
        result = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, operands or [self.value], [result], f"{operator}_{result}",
                                           **attributes))  # fmt: skip
        self.value = result
        return result

    def image(self, dimensions=2):
        while not 2e3 <= math.prod(self.shape) <= MOST_ELEMENTS:
            sizes = (self.pick(*SIZES) for _ in range(dimensions))
            self.shape = (self.pick(1, 1, 1, 2, 4, 8), self.pick(*CHANNELS), *sizes)
        self.input, self.fixed = self.shape, {1}

    def conv(self, filters, kernel, stride=1, dilation=1, group=1):
        batch, channels, *sizes = self.shape
        kernel = (kernel,) * len(sizes)
        products = math.prod(self.shape) * math.prod(kernel) / group
        most = max(group, int(MOST_PRODUCTS / products))
        filters = channels if group == channels else min(filters, most) // group * group
        pads = [dilation * (k // 2) for k in kernel]
        weights = self.weight(filters, channels // group, *kernel)
        self.add("Conv", self.value, weights, self.weight(filters), group=group, strides=[stride] * len(sizes),
                 dilations=[dilation] * len(sizes), pads=pads + pads)  # fmt: skip
        ends = [size + 2 * pad - dilation * (k - 1) for size, pad, k in zip(sizes, pads, kernel)]
        self.shape = (batch, filters, *((end - 1) // stride + 1 for end in ends))
        self.add(self.pick(*ACTIVATIONS))

    def norm(self, operator, size, **attributes):
        self.add(operator, self.value, self.weight(size), self.weight(size), **attributes)
        self.add(self.pick(*ACTIVATIONS))


def windows(c):
    c.image()
    for _ in range(c.rng.integers(1, 4)):
        c.conv(c.pick(*CHANNELS), c.pick(2, 3, 3, 3, 4, 5, 7), c.pick(1, 1, 2), c.pick(1, 1, 1, 2))


def pixels(c):
    c.image()
    for _ in range(c.rng.integers(1, 4)):
        c.conv(c.pick(*CHANNELS), 1)


def depthwise(c):
    c.image()
    for _ in range(c.rng.integers(1, 4)):
        c.conv(0, c.pick(3, 5, 7, 11), c.pick(1, 1, 2), group=c.shape[1])
        if c.rng.random() < 0.6:
            c.conv(c.pick(*CHANNELS), 1)


def groups(c):
    c.image()
    for _ in range(c.rng.integers(1, 4)):
        channels = c.shape[1]
        c.conv(channels, 3, group=c.pick(*(g for g in (1, 2, 4, 8, 16, 32) if channels % g == 0)))


def dense(c):
    c.image()
    for _ in range(c.rng.integers(1, 4)):
        before, shape = c.value, c.shape
        c.conv(16, 3)
        c.add("Concat", before, c.value, axis=1)
        c.shape = (shape[0], shape[1] + c.shape[1], *shape[2:])


def lines(c):
    c.shape = c.input = (c.pick(1, 2, 8), c.pick(*CHANNELS), c.pick(64, 128, 200, 400, 1000, 3000))
    c.fixed = {1}
    for _ in range(c.rng.integers(1, 4)):
        c.conv(c.pick(*CHANNELS), c.pick(1, 3, 3, 5, 7, 11), dilation=c.pick(1, 1, 2, 4))


def volumes(c):
    c.shape = c.input = (c.pick(1, 2), c.pick(3, 8, 16, 32), c.pick(4, 8, 16), *[c.pick(14, 16, 28, 32)] * 2)
    c.fixed = {1}
    for _ in range(c.rng.integers(1, 3)):
        c.conv(c.pick(8, 16, 32, 64), c.pick(1, 3, 3))


def transposed(c):
    c.image()
    for _ in range(c.rng.integers(1, 3)):
        batch, channels, *sizes = c.shape
        kernel, step = c.pick((2, 2), (4, 2), (3, 1), (3, 2))
        most = int(MOST_PRODUCTS / (math.prod(c.shape) * kernel**2))
        filters = min(c.pick(*CHANNELS), max(8, most), 128)
        if math.prod(c.shape) * step**2 * filters / channels > MOST_ELEMENTS:
            break
        weights = c.weight(channels, filters, kernel, kernel)
        c.add("ConvTranspose", c.value, weights, c.weight(filters), strides=[step] * 2)
        c.shape = (batch, filters, *((size - 1) * step + kernel for size in sizes))
        c.add(c.pick(*ACTIVATIONS))


def pools(c):
    c.image()
    for _ in range(c.rng.integers(1, 3)):
        kernel, step = c.pick((2, 2), (3, 2), (3, 1), (5, 1))
        pads = [(kernel - 1) // 2] * 4
        c.add(c.pick("MaxPool", "AveragePool"), kernel_shape=[kernel] * 2, strides=[step] * 2, pads=pads)
        c.add(c.pick(*ACTIVATIONS))


def resizes(c):
    c.image()
    factor = c.pick(0.5, 1.5, 2.0)
    if math.prod(c.shape) * factor**2 > MOST_ELEMENTS:
        factor = 0.5
    c.add("Resize", c.value, "", c.constant(np.array([1, 1, factor, factor], np.float32)),
          mode=c.pick("linear", "nearest", "cubic"),
          coordinate_transformation_mode=c.pick("half_pixel", "align_corners", "asymmetric"))  # fmt: skip


def norms(c):
    c.image()
    for _ in range(c.rng.integers(1, 3)):
        if c.pick(True, False):
            c.norm("InstanceNormalization", c.shape[1])
        else:
            c.norm("GroupNormalization", c.shape[1], num_groups=8 if c.shape[1] % 8 == 0 else 1)


def products(c):
    c.input = (*c.pick((), (1,), (4,)), c.pick(1, 2, 4, 8, 16, 50, 64, 100, 128, 196, 256, 512, 1000, 4096, 20000),
               c.pick(3, 8, 16, 32, 64, 96, 128, 256, 512, 768, 1024, 2048))  # fmt: skip
    depth = c.input[-1]
    for _ in range(c.rng.integers(1, 4)):
        columns = c.pick(1, 2, 3, 4, 8, 10, 16, 32, 64, 100, 128, 256, 512, 768, 1024, 3072)
        if math.prod(c.input[:-1]) * depth * columns > MOST_PRODUCTS:
            columns = 16
        c.add("Add", c.add("MatMul", c.value, c.weight(depth, columns)), c.weight(columns))
        c.add(c.pick(*ACTIVATIONS))
        depth = columns


def layer_norms(c):
    rows, columns = c.pick(16, 64, 128, 197, 512, 1024, 4096), c.pick(16, 32, 64, 96, 192, 256, 384, 768, 1024)
    c.input = (c.pick(1, 4), rows, columns)
    for _ in range(2):
        c.norm("LayerNormalization", c.input[-1], axis=-1)


def softmaxes(c):
    c.input = tuple(c.pick(4, 8, 12, 16, 64, 128, 197, 256) for _ in range(3))
    c.add("Softmax", axis=c.pick(-1, -1, 1, 0))
    c.add(c.pick("Log", "Neg"))


def attention(c):
    width = c.pick(16, 32, 64, 80, 128)
    c.input = (c.pick(1, 1, 2), c.pick(1, 4, 8, 12), c.pick(1, 16, 49, 64, 128, 197, 256, 400), width)
    keys = c.add("Transpose", c.add("Mul", "x", c.weight(width)), perm=[0, 1, 3, 2])
    values = c.add("Add", "x", c.weight(width))
    scores = c.add("Mul", c.add("MatMul", "x", keys), c.constant(np.float32(width**-0.5)))
    c.add("MatMul", c.add("Softmax", scores, axis=-1), values)


def recurrent(c):
    operator, gates, options = c.pick(("LSTM", 4, {}), ("GRU", 3, {"linear_before_reset": 1}), ("GRU", 3, {}))
    size, directions = c.pick(32, 64, 100, 128, 256), c.pick(1, 2)
    c.input = (c.pick(1, 10, 32, 100), c.pick(1, 1, 2, 8), c.pick(16, 40, 80, 128, 256))
    c.add(operator, "x", c.weight(directions, gates * size, c.input[2]), c.weight(directions, gates * size, size),
          c.weight(directions, 2 * gates * size), hidden_size=size,
          direction=["forward", "bidirectional"][directions - 1], **options)  # fmt: skip


def reductions(c):
    c.input = ()
    while not 1e4 <= math.prod(c.input) <= MOST_ELEMENTS:
        c.input = tuple(c.pick(2, 8, 16, 32, 64, 100, 128, 256) for _ in range(4))
    axes = np.unique(c.rng.integers(0, 4, c.rng.integers(1, 3)))
    c.add(c.pick("ReduceMean", "ReduceMax", "ReduceL2", "ReduceSum", "ReduceLogSumExp"), "x", c.constant(axes))
    if c.pick(True, False):
        c.add("Sub", "x", c.value)


def broadcasts(c):
    c.input = ()
    while not 1e4 <= math.prod(c.input) <= MOST_ELEMENTS:
        c.input = tuple(c.pick(1, 2, 8, 16, 32, 64, 100, 128, 256) for _ in range(4))
    c.fixed = set()
    for _ in range(3):
        operator, shape = c.pick("Add", "Mul", "Sub", "Max"), [c.pick(1, size) for size in c.input]
        c.fixed |= {i for i, size in enumerate(shape) if size > 1}
        c.add(operator, c.value, c.weight(*shape))
    if c.pick(True, False):
        c.add("Transpose", perm=[int(i) for i in c.rng.permutation(4)])


KINDS = [windows, pixels, depthwise, groups, dense, lines, volumes, transposed, pools, resizes, norms, products,
         layer_norms, softmaxes, attention, recurrent, reductions, broadcasts]  # fmt: skip


def make(number, kinds=KINDS):
    """The model, its input, and the dimensions of that whose sizes have to be known."""
    chain = Chain(number)
    kind = chain.pick(*kinds) if len(kinds) > 1 else kinds[0]
    kind(chain)
    chain.add("Identity")
    graph = helper.make_graph(
        chain.nodes, kind.__name__, [helper.make_tensor_value_info("x", TensorProto.FLOAT, chain.input)],
        [helper.make_empty_tensor_value_info(chain.value)],
        [numpy_helper.from_array(value, name) for name, value in chain.constants.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model, chain.rng.standard_normal(chain.input).astype(np.float32), {i % len(chain.input) for i in chain.fixed}


def describe(model, x):
    shapes = {tensor.name: "x".join(map(str, tensor.dims)) for tensor in model.graph.initializer}
    layers = [f"{node.op_type}({' '.join(shapes[name] for name in node.input if name in shapes)})".replace("()", "")
              for node in model.graph.node[:-1]]  # fmt: skip
    return f"{'x'.join(map(str, x.shape))} {' '.join(layers)}"


def quantised(model, x):
    """In the QDQ form, with unsigned data and weights of a scale per channel."""
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):
        feeds = iter([{"x": x}])

        def get_next(self):
            return next(self.feeds, None)

    kinds = quantization.QuantType
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        quantization.quantize_static(model, path, Reader(), per_channel=True, activation_type=kinds.QUInt8,
                                     weight_type=kinds.QInt8)  # fmt: skip
        return onnx.load(path)


def with_symbolic_sizes(model, fixed):
    symbolic = onnx.ModelProto()
    symbolic.CopyFrom(model)
    for i, size in enumerate(symbolic.graph.input[0].type.tensor_type.shape.dim):
        if i not in fixed:
            size.dim_param = f"d{i}"
    return symbolic


# By form the runtimes that are compared, and the difference from the expected result that is still rounding.
FORMS = {
    "f32": ("strata_model", "onnxruntime", 1e-4),
    "openvino": ("strata_model", "openvino", 1e-4),
    "int8": ("strata_model", "onnxruntime", 2e-2),
    "bf16": ("strata_bf16", "openvino_default", 4e-2),
    "symbolic": ("strata_model", "strata_model", 1e-4),
    "symbolic-bf16": ("strata_bf16", "strata_bf16", 4e-2),
}


def difference(result, expected):
    """The largest one, by the largest expected value."""
    same = (result == expected) | (np.isnan(result) & np.isnan(expected))
    finite = np.where(np.isfinite(expected), expected, 0)
    with np.errstate(invalid="ignore"):
        return np.where(same, 0, np.abs(result - expected)).max() / max(np.abs(finite).max(), 1e-9)


def results(worker, model, folder):
    """Loads the model, and gives what it computes of the inputs that the folder has."""
    path, outputs = folder / "model.onnx", folder / "outputs.npz"
    onnx.save(model, path)
    worker.ask("load", str(path), str(folder / "inputs.npz"), str(outputs))
    with np.load(outputs) as file:
        return file["arr_0"]


def measure(workers, seconds=0.5):
    """The times of both in seconds, and the ratio."""
    times = [[], []]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 3:
        for worker, other, taken in zip(workers, workers[::-1], times):
            other.rest()
            taken.append(worker.ask("time", seconds / 20))
    return *map(statistics.median, times), statistics.median(a / b for a, b in zip(*times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int, metavar="FIRST")
    parser.add_argument("last", type=int, metavar="LAST", help="behind the last number")
    parser.add_argument("--as", dest="form", choices=FORMS, default="f32", help="what is compared (default: f32)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--blocks", action="store_true", help="blocks of networks, which branch, instead of chains")
    parser.add_argument("--kind", choices=sorted({kind.__name__ for kind in KINDS + random_blocks.KINDS}),
                        help="chains or blocks of this kind alone")  # fmt: skip
    parser.add_argument("--above", type=float, default=1.05, metavar="RATIO")
    parser.add_argument("--save", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    logging.getLogger().setLevel(logging.ERROR)  # of quantisation, which asks for another tool first
    kinds = random_blocks.KINDS if options.blocks else KINDS
    if options.kind:
        kinds = [next(kind for kind in KINDS + random_blocks.KINDS if kind.__name__ == options.kind)]
    *names, rounding = FORMS[options.form]
    workers = [Worker(name, options.threads) for name in names]
    exact = Worker("reference", 1)
    ratios = []
    for number in range(options.first, options.last):
        model, x, fixed = make(number, kinds)
        what = describe(model, x)
        try:
            models = [quantised(model, x) if options.form == "int8" else model] * 2
        except ValueError as error:
            print(f"{number:6} {what}: {error}", flush=True)
            continue
        if options.form.startswith("symbolic"):
            models[0] = with_symbolic_sizes(model, fixed)
        with tempfile.TemporaryDirectory() as folder:
            np.savez(Path(folder, "inputs.npz"), x=x)
            expected, *found = (results(worker, model, Path(folder))
                                for worker, model in zip([exact, *workers], [models[1], *models]))  # fmt: skip
        error, their_error = (difference(result, expected) for result in found)
        ours, theirs, ratio = measure(workers)
        ratios.append(ratio)
        marked = ratio > options.above or not error <= max(rounding, their_error)
        print(f"{number:6} {ratio:5.2f} {1e3 * ours:9.3f} ms {1e3 * theirs:9.3f} ms {error:.0e} {model.graph.name}: "
              f"{what}{'  <--' if marked else ''}", flush=True)  # fmt: skip
        if marked and options.save:
            options.save.mkdir(parents=True, exist_ok=True)
            onnx.save(models[0], options.save / f"{number}.onnx")
            np.savez(options.save / f"{number}.npz", x=x)
    for worker in (exact, *workers):
        worker.close()
    if ratios:
        above = sum(ratio > options.above for ratio in ratios)
        mean = statistics.geometric_mean(ratios)
        print(f"{len(ratios)} chains, geometric mean {mean:.2f}, {above} above {options.above}")


if __name__ == "__main__":
    main()
