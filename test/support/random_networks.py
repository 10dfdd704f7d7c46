"""Random networks: a seed says which operators of which sizes follow one another, so that what nobody thought of meets.
ONNX Runtime says what comes out.

    python test/support/random_networks.py FIRST LAST [--quantised] [--precision bf16] [--target haswell] ...

compares those of the seeds from FIRST to LAST, and takes away from one that differs what it differs without, into
random-SEED.onnx.
"""

import argparse
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import strata
from onnx import TensorProto, helper, numpy_helper

CHANNELS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 20, 24, 32, 33, 40, 48, 64, 80, 96]
WIDTHS = [5, 8, 16, 24, 32, 48, 50, 64, 80, 100, 128]
#: Of the largest value; errors grow from operator to operator. What is quantised may be rounded to the next step.
TOLERANCE = {"f32": 3e-4, "bf16": 0.2, "f16": 0.05, "quantised": 0.1}


class Network:
    """What was made so far. `live`: each value's name and shape, the last one last."""

    def __init__(self, seed, large, quantised):
        self.rng = np.random.default_rng(seed)
        self.quantised = quantised
        self.most = 400_000 if large else 60_000  # elements of a value
        self.opset = self.any(21, 22, 23, 24)
        self.nodes, self.constants = [], []
        self.live = [("x", self.input_shape(30 if large else 18))]
        #: The size of the second input, of whole numbers below 100, where something reads it.
        self.numbers = 0

    def any(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def below(self, first, end):
        return int(self.rng.integers(first, end))

    def chance(self, share):
        return self.rng.random() < share

    def input_shape(self, side):
        kind = self.any(*["image"] * 6, *["sequence"] * 4, "line", "volume", "rows")
        if kind == "image":
            return [self.any(1, 1, 1, 2, 3), self.any(*CHANNELS), self.below(3, side + 2), self.below(3, side + 2)]
        if kind == "sequence":
            return [self.any(1, 1, 2, 3), self.below(1, 40), self.any(*WIDTHS)]
        if kind == "line":
            return [self.any(1, 2), self.any(*CHANNELS), self.below(8, 90)]
        if kind == "volume":
            return [1, self.any(1, 3, 4, 8, 16), self.below(2, 7), self.below(3, 10), self.below(3, 10)]
        return [self.below(1, 40), self.below(1, 130)]

    # --- Nodes and constants.

    def constant(self, values, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, dtype), name))
        return name

    def normal(self, *shape, scale=1.0, mean=0.0):
        return self.constant(self.rng.standard_normal(shape) * scale + mean)

    def whole(self, values):
        return self.constant(values, np.int64)

    def node(self, operator, inputs, **attributes):
        """A node of whose result only others know; its name."""
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def add(self, operator, inputs, *shapes, **attributes):
        """A node whose results have these shapes; the last one's name."""
        if self.quantised and operator in ("Conv", "MatMul", "Gemm", "ConvTranspose"):
            inputs = self.quantise(operator, inputs)
        names = [f"t{len(self.live) + i}" for i in range(len(shapes))]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        self.live += [(name, [int(size) for size in shape]) for name, shape in zip(names, shapes)]
        return names[-1]

    def quantise(self, operator, inputs):
        """The inputs of a product in 8 bits, as ONNX Runtime's `quantize_static` writes them."""
        x, w, *rest = inputs

        def pair(x):
            kind, zero = self.any((np.uint8, 128), (np.uint8, 121), (np.int8, 0))
            parameters = [self.constant(8 / 255), self.constant(zero, kind)]
            names = [f"q{len(self.nodes)}", f"d{len(self.nodes)}"]
            self.nodes.append(helper.make_node("QuantizeLinear", [x, *parameters], names[:1]))
            self.nodes.append(helper.make_node("DequantizeLinear", [names[0], *parameters], names[1:]))
            return names[1]

        number = next((number for number, value in enumerate(self.constants) if value.name == w), None)
        if number is None:
            return [pair(x), pair(w), *rest]
        values = numpy_helper.to_array(self.constants[number])
        channel = 0 if operator == "Conv" else 1
        each = operator in ("Conv", "MatMul") and self.chance(0.6)
        axes = tuple(axis for axis in range(values.ndim) if axis != channel) if each else None
        scale = np.abs(values).max(axis=axes, keepdims=True) / 127
        self.constants[number] = numpy_helper.from_array(np.rint(values / scale).astype(np.int8), w)
        name = f"d{len(self.nodes)}"
        scales = self.constant(scale.reshape(-1) if each else scale.reshape(()))
        axis = dict(axis=channel) if each else {}
        self.nodes.append(helper.make_node("DequantizeLinear", [w, scales], [name], **axis))
        return [pair(x), name, *rest]

    def fits(self, shape):
        return 0 < math.prod(shape) <= self.most

    def step(self):
        x, shape = self.live[-1] if self.chance(0.75) else self.any(*self.live)
        makers = [
            *[self.activation, self.with_other] * 4, *[self.with_constant] * 3, *[self.concat] * 2, self.slice,
            self.pad, self.transpose, self.reshape, self.softmax, self.reduce, self.split, self.gather,
            self.layer_norm, self.expand, *[self.matmul] * 5, *[self.attention] * 2, *[self.choose] * 2,
            self.cumulate, self.largest, self.place_of_largest, self.gather_elements, self.scatter_elements,
            self.scatter_rows, self.einsum, self.norm, self.tile, self.one_more, self.triangle, self.embed,
            self.branch, self.iterate, self.given_product,
        ]  # fmt: skip
        if len(shape) == 2:
            makers += [self.gemm] * 3
        else:
            makers += [self.reshape_by_sizes] * 2
            makers += [self.conv] * 8 + [self.depthwise, self.pool] * 4
            makers += [self.conv_transpose, self.batch_norm] * 2 + [self.instance_norm, self.global_pool]
        if len(shape) == 4:
            makers += [self.resize, self.resize, self.depth_to_space, self.space_to_depth, self.excite]
            makers += [self.attention_operator, self.sample]
        if len(shape) == 3:
            makers += [self.recurrent] * 3 + [self.scan]
        self.any(*makers)(x, shape)

    # --- Elements, and how they lie.

    def activation(self, x, shape):
        kind = self.any("Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Clip", "Elu", "Softplus", "Erf", "Gelu",
                        "Abs", "Neg", "Sqrt", "SiLU", "HardSigmoid", "Mish", "Cos", "Softsign", "Selu", "Sin",
                        "Atan", "Log", "Exp", "Pow", "Reciprocal", "PRelu", "Asinh")  # fmt: skip
        if kind == "Clip":
            self.add(kind, [x, self.constant(-1.0), self.constant(1.5)], shape)
        elif kind == "Sqrt":
            self.add(kind, [self.add("Abs", [x], shape)], shape)
        elif kind in ("Log", "Reciprocal"):
            self.add(kind, [self.node("Add", [self.node("Abs", [x]), self.constant(0.5)])], shape)
        elif kind == "Exp":
            self.add(kind, [self.node("Min", [x, self.constant(2.0)])], shape)
        elif kind == "Pow":
            self.add(
                kind, [self.node("Tanh", [x]), self.any(self.constant(2.0), self.constant(3), self.whole(2))], shape
            )
        elif kind == "PRelu":
            self.add(kind, [x, self.normal(*[1] * (len(shape) - 2), shape[-1])], shape)
        elif kind == "SiLU":
            self.add("Mul", [x, self.add("Sigmoid", [x], shape)], shape)
        elif kind == "Gelu":
            self.add(kind, [x], shape, approximate=self.any("none", "tanh"))
        else:
            self.add(kind, [x], shape)

    def with_other(self, x, shape):
        def joins(other):
            return len(other) <= len(shape) and all(a == b or 1 in (a, b) for a, b in zip(other[::-1], shape[::-1]))

        name, other = self.any(*[(name, other) for name, other in self.live if joins(other)])
        result = [max(a, b) for a, b in zip([1] * (len(shape) - len(other)) + other, shape)]
        inputs = [x, name] if self.chance(0.5) else [name, x]
        if self.fits(result):
            self.add(self.any("Add", "Add", "Add", "Mul", "Sub", "Max", "Min"), inputs, result)

    def with_constant(self, x, shape):
        some = [size if self.chance(0.5) else 1 for size in shape]
        size = self.any([], shape[-1:], [shape[1]] + [1] * (len(shape) - 2), some, shape)
        if self.chance(0.2):
            self.add("Div", [x, self.constant(np.abs(self.rng.standard_normal(size)) + 0.5)], shape)
        else:
            inputs = [x, self.normal(*size)]
            self.add(self.any("Add", "Mul", "Sub", "Max"), inputs if self.chance(0.6) else inputs[::-1], shape)

    def choose(self, x, shape):
        """By a constant, or by a comparison that nothing rounds."""
        given = self.live[0][1]
        fits = len(given) <= len(shape) and all(a in (1, b) for a, b in zip(given[::-1], shape[::-1]))
        if fits and self.chance(0.5):
            mask = self.node(self.any("Greater", "LessOrEqual"), ["x", self.constant(0.25)])
            if self.chance(0.4):
                other = self.node("Less", ["x", self.constant(-0.5)])
                mask = self.node(self.any("Or", "And", "Xor"), [mask, other])
            mask = self.node("Not", [mask]) if self.chance(0.2) else mask
        else:
            sizes = [size if self.chance(0.6) else 1 for size in shape]
            mask = self.constant(self.rng.random(sizes) < 0.6, np.bool_)
        other = self.constant(self.any(0.0, -1.0)) if self.chance(0.6) else self.normal(*shape[-1:])
        self.add("Where", [mask, *((x, other) if self.chance(0.7) else (other, x))], shape)

    def triangle(self, x, shape):
        self.add("Trilu", [x, self.whole(self.below(-2, 3))], shape, upper=self.below(0, 2))

    def embed(self, x, shape):
        """Rows of a table, by the second input."""
        self.numbers = self.numbers or self.below(1, 14)
        rows = self.any(7, 50, 100)
        places = self.node("Mod", [self.node("Add", ["ids", self.whole(self.below(0, 9))]), self.whole(rows)])
        if self.chance(0.5):
            places = self.node("Cast", [places], to=TensorProto.INT32)
        width = self.any(*WIDTHS)
        y = self.add("Gather", [self.normal(rows, width), places], [self.numbers, width])
        if self.chance(0.5):
            self.add("Unsqueeze", [y, self.whole([0])], [1, self.numbers, width])

    def concat(self, x, shape):
        axis = self.below(0, len(shape))
        rest = shape[:axis] + shape[axis + 1 :]
        alike = [(name, other) for name, other in self.live
                 if len(other) == len(shape) and other[:axis] + other[axis + 1 :] == rest]  # fmt: skip
        parts = [(x, shape)] + [self.any(*alike) for _ in range(self.below(1, 4))]
        result = shape[:axis] + [sum(other[axis] for _, other in parts)] + shape[axis + 1 :]
        if self.fits(result):
            self.add("Concat", [name for name, _ in parts], result, axis=axis)

    def slice(self, x, shape):
        axis = self.below(0, len(shape))
        size, step = shape[axis], self.any(1, 1, 1, 2, 3, -1)
        first, end = sorted(int(at) for at in self.rng.choice(size + 1, 2, replace=False))
        number = len(range(first, end, abs(step)))
        if step < 0:
            first, end = end - 1, first - 1 - size if first == 0 else first - 1
        bounds = [self.whole([value]) for value in (first, end, axis, step)]
        self.add("Slice", [x, *bounds], shape[:axis] + [number] + shape[axis + 1 :])

    def pad(self, x, shape):
        low, high = ([0] * max(0, len(shape) - 2) + [self.below(0, min(3, size)) for size in shape[-2:]] for _ in "ab")
        mode = self.any("constant", "reflect", "edge")
        value = [self.constant(0.5)] if mode == "constant" and self.chance(0.3) else []
        self.add("Pad", [x, self.whole(low + high), *value], [sum(s) for s in zip(low, shape, high)], mode=mode)

    def transpose(self, x, shape):
        order = [int(axis) for axis in self.rng.permutation(len(shape))]
        return self.add("Transpose", [x], [shape[axis] for axis in order], perm=order)

    def reshape(self, x, shape):
        at = self.below(0, len(shape))
        factors = [factor for factor in range(2, shape[at]) if shape[at] % factor == 0]
        if self.chance(0.5) and len(shape) > 2 and at:
            result = shape[: at - 1] + [shape[at - 1] * shape[at]] + shape[at + 1 :]
        elif len(shape) < 5 and factors:
            factor = self.any(*factors)
            result = shape[:at] + [factor, shape[at] // factor] + shape[at + 1 :]
        else:
            return
        self.add("Reshape", [x, self.whole(result)], result)

    def expand(self, x, shape):
        ones = [axis for axis, size in enumerate(shape) if size == 1]
        if not ones:
            return
        axis = self.any(*ones)
        result = shape[:axis] + [self.below(2, 6)] + shape[axis + 1 :]
        if self.fits(result):
            self.add("Expand", [x, self.whole(result)], result)

    def split(self, x, shape):
        axis = self.below(0, len(shape))
        if shape[axis] > 1:
            first = self.below(1, shape[axis])
            sizes = [first, shape[axis] - first]
            parts = [shape[:axis] + [size] + shape[axis + 1 :] for size in sizes]
            self.add("Split", [x, self.whole(sizes)], *parts, axis=axis)

    def gather(self, x, shape):
        axis, number = self.below(0, len(shape)), self.below(1, 9)
        places = self.whole(self.rng.integers(-shape[axis], shape[axis], number))
        self.add("Gather", [x, places], shape[:axis] + [number] + shape[axis + 1 :], axis=axis)

    def reshape_by_sizes(self, x, shape):
        """Two dimensions into one, by what the run finds, as exporters write it."""
        at = self.below(0, len(shape) - 1)
        before = [self.node("Shape", [x], start=0, end=at)] if at else []
        after = [self.node("Shape", [x], start=at + 2)] if at + 2 < len(shape) else []
        target = self.node("Concat", [*before, self.whole([-1]), *after], axis=0)
        self.add("Reshape", [x, target], shape[:at] + [shape[at] * shape[at + 1]] + shape[at + 2 :])

    def one_more(self, x, shape):
        ones = [axis for axis, size in enumerate(shape) if size == 1]
        if len(shape) > 2 and ones and self.chance(0.5):
            axis = self.any(*ones)
            self.add("Squeeze", [x, self.whole([axis])], shape[:axis] + shape[axis + 1 :])
        elif len(shape) < 5:
            axis = self.below(0, len(shape) + 1)
            self.add("Unsqueeze", [x, self.whole([axis])], shape[:axis] + [1] + shape[axis:])

    def tile(self, x, shape):
        times = [self.any(1, 1, 2, 3) for _ in shape]
        result = [size * number for size, number in zip(shape, times)]
        if self.fits(result):
            self.add("Tile", [x, self.whole(times)], result)

    def gather_elements(self, x, shape):
        axis = self.below(0, len(shape))
        result = shape[:axis] + [self.below(1, 9)] + shape[axis + 1 :]
        if math.prod(result) <= 8000:
            places = self.whole(self.rng.integers(-shape[axis], shape[axis], result))
            self.add("GatherElements", [x, places], result, axis=axis)

    def scatter_elements(self, x, shape):
        axis = self.below(0, len(shape))
        number = self.below(1, min(shape[axis], 8) + 1)
        if math.prod(shape) <= 8000:
            places = self.rng.random(shape).argsort(axis).take(range(number), axis)
            self.add("ScatterElements", [x, self.whole(places), self.normal(*places.shape)], shape, axis=axis,
                     reduction=self.any("none", "add", "mul", "max", "min"))  # fmt: skip

    def scatter_rows(self, x, shape):
        number = self.below(1, shape[0] + 1)
        if len(shape) > 2 and self.chance(0.4):
            places = np.stack([self.rng.integers(-size, size, number) for size in shape[:2]], -1)
            self.add("GatherND", [x, self.whole(places)], [number] + shape[2:])
        elif number * math.prod(shape[1:]) <= 8000:
            places = self.rng.permutation(shape[0])[:number].reshape(number, 1)
            self.add("ScatterND", [x, self.whole(places), self.normal(number, *shape[1:])], shape,
                     reduction=self.any("none", "none", "add", "max"))  # fmt: skip

    def resize(self, x, shape):
        if self.chance(0.4):
            result = shape[:2] + [self.below(1, 3 * size) for size in shape[2:]]
            if self.fits(result):
                kind = self.any("half_pixel", "align_corners", "pytorch_half_pixel", "asymmetric")
                self.add("Resize", [x, "", "", self.whole(result)], result, mode=self.any("linear", "linear", "cubic"),
                         coordinate_transformation_mode=kind)  # fmt: skip
            return
        factor = self.any(2, 2, 3)
        result = shape[:2] + [size * factor for size in shape[2:]]
        if self.fits(result):
            self.add("Resize", [x, "", self.constant([1, 1, factor, factor])], result, nearest_mode="floor",
                     mode=self.any("nearest", "linear"),
                     coordinate_transformation_mode=self.any("asymmetric", "half_pixel"))  # fmt: skip

    def sample(self, x, shape):
        sides = [self.below(1, 12), self.below(1, 12)]
        if self.fits(shape[:2] + sides):
            places = self.constant(self.rng.uniform(-1.3, 1.3, [shape[0], *sides, 2]))
            # ONNX Runtime moves cubic windows into the image as wholes, not each element.
            mode = self.any("linear", "cubic")
            padding = self.any("zeros", "reflection", "border" if mode == "linear" else "zeros")
            self.add("GridSample", [x, places], shape[:2] + sides, mode=mode, padding_mode=padding,
                     align_corners=self.below(0, 2))  # fmt: skip

    def depth_to_space(self, x, shape):
        if shape[1] % 4 == 0:
            result = [shape[0], shape[1] // 4, 2 * shape[2], 2 * shape[3]]
            self.add("DepthToSpace", [x], result, blocksize=2, mode=self.any("DCR", "CRD"))

    def space_to_depth(self, x, shape):
        if shape[2] % 2 == 0 and shape[3] % 2 == 0:
            self.add("SpaceToDepth", [x], [shape[0], shape[1] * 4, shape[2] // 2, shape[3] // 2], blocksize=2)

    # --- Reductions and norms.

    def softmax(self, x, shape):
        axis = self.any(-1, -1, self.below(0, len(shape)))
        self.add(self.any("Softmax", "Softmax", "LogSoftmax"), [x], shape, axis=axis)

    def reduce(self, x, shape):
        axes = sorted({self.below(0, len(shape)) for _ in range(self.below(1, 3))})
        keeps = self.chance(0.7) or len(shape) - len(axes) < 2
        result = [1 if axis in axes else size for axis, size in enumerate(shape) if keeps or axis not in axes]
        kind = self.any("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2")
        self.add(kind, [x, self.whole(axes)], result, keepdims=int(keeps))

    def cumulate(self, x, shape):
        axis = self.whole(self.below(-len(shape), len(shape)))
        self.add("CumSum", [x, axis], shape, exclusive=self.below(0, 2), reverse=self.below(0, 2))

    def largest(self, x, shape):
        axis = self.below(0, len(shape))
        number = self.below(1, min(shape[axis], 12) + 1)
        result = shape[:axis] + [number] + shape[axis + 1 :]
        name = self.add("TopK", [x, self.whole([number])], result, axis=axis, largest=self.below(0, 2))
        self.nodes[-1].output.append(f"{name}_places")

    def place_of_largest(self, x, shape):
        """Of the input, which nothing rounds."""
        x, shape = self.live[0]
        axis = self.below(0, len(shape))
        place = self.node(self.any("ArgMax", "ArgMin"), [x], axis=axis, select_last_index=self.below(0, 2))
        place = self.node("Cast", [place], to=TensorProto.FLOAT)
        self.add("Mul", [place, self.constant(0.1)], shape[:axis] + [1] + shape[axis + 1 :])

    def norm(self, x, shape):
        kind = self.any("GroupNormalization", "RMSNormalization", "LpNormalization", "MeanVarianceNormalization")
        if kind == "GroupNormalization" and len(shape) > 2:
            groups = self.any(*[groups for groups in range(1, shape[1] + 1) if shape[1] % groups == 0])
            scale, bias = self.normal(shape[1], scale=0.2, mean=1), self.normal(shape[1])
            self.add(kind, [x, scale, bias], shape, num_groups=groups, epsilon=0.01)
        elif kind == "RMSNormalization" and self.opset > 22:
            self.add(kind, [x, self.normal(shape[-1], scale=0.2, mean=1)], shape, epsilon=0.01)
        elif kind == "LpNormalization":
            self.add(kind, [x], shape, axis=self.below(0, len(shape)), p=self.any(1, 2))
        elif kind == "MeanVarianceNormalization" and len(shape) > 2:
            # A constant would have no variance.
            self.add(kind, [self.node("Add", [x, self.normal(*shape[-2:])])], shape, axes=[0, *range(2, len(shape))])

    def layer_norm(self, x, shape):
        axis = -1 if self.chance(0.8) or len(shape) < 3 else -2
        scale, bias = self.normal(*shape[axis:], scale=0.2, mean=1), self.normal(*shape[axis:])
        self.add("LayerNormalization", [x, scale, bias], shape, axis=axis, epsilon=0.01)

    def batch_norm(self, x, shape):
        scale, bias, mean = (self.normal(shape[1], scale=0.3, mean=mean) for mean in (1, 0, 0))
        variance = self.constant(np.abs(self.rng.standard_normal(shape[1])) + 0.5)
        self.add("BatchNormalization", [x, scale, bias, mean, variance], shape)

    def instance_norm(self, x, shape):
        inputs = [x, self.normal(shape[1], scale=0.3, mean=1), self.normal(shape[1])]
        self.add("InstanceNormalization", inputs, shape, epsilon=0.01)

    def global_pool(self, x, shape):
        kind = self.any("GlobalAveragePool", "GlobalMaxPool")
        return self.add(kind, [x], shape[:2] + [1] * (len(shape) - 2))

    # --- Windows.

    def windows(self, sizes, most, dilates=True):
        """Attributes of windows over so many elements, and how many there are; None if they do not fit."""
        alike = len(sizes) > 1 and self.chance(0.6)
        kernel, strides, dilations, before, after, number = ([] for _ in range(6))
        for size in sizes:
            if not alike or not kernel:
                taps = self.any(*[taps for taps in (1, 2, 3, 3, 3, 5, 7) if taps <= most])
                step, apart = self.any(1, 1, 1, 2, 3), self.any(1, 1, 1, 2) if dilates else 1
                reach = (taps - 1) * apart
                pads = [reach // 2] * 2 if alike or self.chance(0.5) else [self.below(0, reach + 1) for _ in "ab"]
            steps = (size + sum(pads) - reach - 1) // step + 1
            if steps < 1:
                return None
            for values, value in zip((kernel, strides, dilations, before, after, number),
                                     (taps, step, apart, *pads, steps)):  # fmt: skip
                values.append(value)
        if self.chance(0.1) and all(step <= taps for step, taps in zip(strides, kernel)):
            auto = self.any("SAME_UPPER", "SAME_LOWER")
            return dict(kernel_shape=kernel, strides=strides, auto_pad=auto), [
                -(-a // b) for a, b in zip(sizes, strides)
            ]
        attributes = dict(kernel_shape=kernel, strides=strides, pads=before + after)
        return attributes | (dict(dilations=dilations) if dilates else {}), number

    def conv(self, x, shape):
        found = self.windows(shape[2:], 7)
        if not found:
            return
        attributes, number = found
        channels, filters, group = shape[1], self.any(*CHANNELS), 1
        divisors = [group for group in range(2, channels + 1) if channels % group == 0]
        if divisors and self.chance(0.2):
            group = self.any(*divisors)
            filters = group * self.any(1, 2, 3, 4, 8)
        window = [channels // group, *attributes["kernel_shape"]]
        result = [shape[0], filters, *number]
        if not self.fits(result) or filters * math.prod(window) > 200_000:
            return
        inputs = [x, self.normal(filters, *window, scale=math.prod(window) ** -0.5)]
        inputs += [self.normal(filters, scale=0.3)] if self.chance(0.7) else []
        y = self.add("Conv", inputs, result, group=group, **attributes)
        if self.chance(0.4):
            self.add(self.any("Relu", "Sigmoid", "HardSwish", "Tanh"), [y], result)

    def depthwise(self, x, shape):
        found, times = self.windows(shape[2:], 7), self.any(1, 1, 1, 2)
        if found and self.fits(result := [shape[0], shape[1] * times, *found[1]]):
            taps = found[0]["kernel_shape"]
            inputs = [x, self.normal(result[1], 1, *taps, scale=math.prod(taps) ** -0.5)]
            inputs += [self.normal(result[1])] if self.chance(0.6) else []
            self.add("Conv", inputs, result, group=shape[1], **found[0])

    def conv_transpose(self, x, shape):
        sides, taps, step = len(shape) - 2, self.any(1, 2, 3, 4, 5), self.any(1, 2, 2, 3)
        pad, more = self.below(0, (taps + 1) // 2), self.below(0, step) if self.chance(0.3) else 0
        group, filters = (shape[1], shape[1]) if self.chance(0.2) else (1, self.any(*CHANNELS))
        number = [(size - 1) * step - 2 * pad + taps + more for size in shape[2:]]
        result = [shape[0], filters, *number]
        if min(number) < 1 or not self.fits(result) or filters * shape[1] * taps**sides > 100_000:
            return
        weights = self.normal(shape[1], filters // group, *[taps] * sides, scale=(shape[1] // group * taps) ** -0.5)
        bias = [self.normal(filters)] if self.chance(0.5) else []
        self.add("ConvTranspose", [x, weights, *bias], result, group=group, strides=[step] * sides,
                 pads=[pad] * 2 * sides, kernel_shape=[taps] * sides, output_padding=[more] * sides)  # fmt: skip

    def pool(self, x, shape):
        kind = self.any("MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool")
        found = self.windows(shape[2:], 5, dilates=kind == "MaxPool" and self.chance(0.3))
        if found:
            attributes, number = found
            pads, apart = attributes.get("pads", [0]), max(attributes.get("dilations", [1]))
            if max(pads) and (apart > 1 or any(a >= b for a, b in zip(pads, attributes["kernel_shape"] * 2))):
                return  # windows without data
            if kind == "AveragePool":
                attributes["count_include_pad"] = self.below(0, 2)
            elif kind == "MaxPool" and "pads" in attributes and self.chance(0.3):
                attributes["ceil_mode"] = 1
                for at, size in enumerate(shape[2:]):
                    pads, step = attributes["pads"][at :: len(number)], attributes["strides"][at]
                    apart = attributes.get("dilations", [1] * len(number))[at]
                    reach = (attributes["kernel_shape"][at] - 1) * apart
                    number[at] = -(-(size + sum(pads) - reach - 1) // step) + 1
                    if (number[at] - 1) * step >= size + pads[0]:
                        return  # the last window would begin in padding
            self.add(kind, [x], shape[:2] + number, **attributes)

    def excite(self, x, shape):
        batch, channels = shape[:2]
        few = max(1, channels // 4)
        y = self.add("GlobalAveragePool", [x], [batch, channels, 1, 1])
        weights = self.normal(few, channels, 1, 1, scale=channels**-0.5)
        y = self.add("Conv", [y, weights, self.normal(few)], [batch, few, 1, 1])
        y = self.add("Relu", [y], [batch, few, 1, 1])
        y = self.add("Conv", [y, self.normal(channels, few, 1, 1, scale=few**-0.5)], [batch, channels, 1, 1])
        self.add("Mul", [x, self.add("Sigmoid", [y], [batch, channels, 1, 1])], shape)

    # --- Products of matrices.

    def matmul(self, x, shape):
        columns = self.any(*CHANNELS, 100, 128)
        result = shape[:-1] + [columns]
        if not self.fits(result):
            return
        if self.quantised and self.chance(0.3):
            y = self.dynamically_quantised(x, shape[-1], columns, result)
        else:
            y = self.add("MatMul", [x, self.weights(shape[-1], columns)], result)
        if self.chance(0.5):
            y = self.add("Add", [y, self.normal(columns)], result)
        heads = [heads for heads in (2, 3, 4, 8) if columns % heads == 0]
        if len(shape) == 3 and heads and self.chance(0.25):
            parts = [*shape[:2], count := self.any(*heads), columns // count]
            y = self.add("Reshape", [y, self.whole(parts)], parts)
            self.add("Transpose", [y], [parts[axis] for axis in (0, 2, 1, 3)], perm=[0, 2, 1, 3])

    def gemm(self, x, shape):
        columns, transposed = self.any(*CHANNELS), self.below(0, 2)
        weights = [columns, shape[1]] if transposed else [shape[1], columns]
        bias = [self.normal(columns)] if self.chance(0.7) else []
        inputs = [x, self.normal(*weights, scale=shape[1] ** -0.5), *bias]
        self.add("Gemm", inputs, [shape[0], columns], transB=transposed)

    def attention(self, x, shape):
        scores = shape[:-1] + [shape[-2]]
        if not self.fits(scores):
            return
        order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        keys = self.add("Transpose", [x], [shape[axis] for axis in order], perm=order)
        y = self.add("MatMul", [x, keys], scores)
        y = self.add("Mul", [y, self.constant(shape[-1] ** -0.5)], scores)
        if self.chance(0.7):
            y = self.add("Softmax", [y], scores, axis=-1)
            self.add("MatMul", [y, x], shape)

    def weights(self, rows, columns):
        """Constants, of which some are stored in few bits, each block of rows with a scale of its own."""
        block = self.any(16, 32)
        if self.quantised or rows % block or self.chance(0.7):
            return self.normal(rows, columns, scale=rows**-0.5)
        kind, first, end = self.any((TensorProto.INT4, -8, 8), (TensorProto.UINT4, 0, 16),
                                    (TensorProto.INT8, -128, 128), (TensorProto.UINT8, 0, 256))  # fmt: skip

        def constant(sizes):
            values = self.rng.integers(first, end, sizes)
            self.constants.append(helper.make_tensor(f"c{len(self.constants)}", kind, sizes, values.reshape(-1)))
            return self.constants[-1].name

        sizes = [rows // block, columns]
        scales = self.constant((0.5 + self.rng.random(sizes)) * rows**-0.5 * 4 / (end - first))
        zeros = [constant(sizes)] if kind in (TensorProto.UINT4, TensorProto.UINT8) or self.chance(0.3) else []
        return self.node("DequantizeLinear", [constant([rows, columns]), scales, *zeros], axis=0, block_size=block)

    def dynamically_quantised(self, x, rows, columns, result):
        number = len(self.nodes)
        names = [f"q{number}", f"s{number}", f"z{number}"]
        self.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], names))
        weights = self.constant(self.rng.integers(-127, 128, [rows, columns]), np.int8)
        sums = self.node("MatMulInteger", [names[0], weights, names[2]])
        scale = self.node("Mul", [names[1], self.constant(rows**-0.5 / 64)])
        return self.add("Mul", [self.node("Cast", [sums], to=TensorProto.FLOAT), scale], result)

    def given_product(self, x, shape):
        """Of a matrix with itself."""
        result = shape[:-2] + [shape[-1]] * 2
        if self.fits(result):
            order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
            y = self.node("MatMul", [self.node("Transpose", [x], perm=order), x])
            self.add("Mul", [y, self.constant(1 / shape[-2])], result)

    def einsum(self, x, shape):
        """A sum over products with a constant, both with any dimensions in any order."""
        own = "abcde"[: len(shape)]
        some = [letter for letter in own if self.chance(0.5)] or [own[-1]]
        letters = [str(letter) for letter in self.rng.permutation(some + ["z"] * self.below(0, 2))]
        sizes = dict(zip(own, shape), z=self.any(*CHANNELS))
        result = [str(letter) for letter in self.rng.permutation(sorted({*own, *letters})) if self.chance(0.7)]
        other = [sizes[letter] for letter in letters]
        everything = math.prod(sizes[letter] for letter in {*own, *letters})
        summed = everything / math.prod(sizes[letter] for letter in result)
        if (
            2 <= len(result) <= 5
            and everything <= 3e6
            and math.prod(other) < 1e5
            and self.fits([sizes[letter] for letter in result])
        ):
            equation = f"{own},{''.join(letters)}->{''.join(result)}"
            self.add("Einsum", [x, self.normal(*other, scale=summed**-0.5)], [sizes[letter] for letter in result],
                     equation=equation)  # fmt: skip

    def attention_operator(self, x, shape):
        batch, heads, rows, _ = shape
        if self.opset < 23 or not self.fits([batch, heads, rows, rows]):
            return
        keys, settings = x, {}
        if heads % 2 == 0 and self.chance(0.4):  # heads share keys
            keys = self.node("Slice", [x, *(self.whole([value]) for value in (0, heads // 2, 1))])
        mask = []
        if self.chance(0.4):
            settings["is_causal"] = 1
        elif self.chance(0.5):
            mask = [self.normal(rows, rows)]
        if self.chance(0.2):
            settings["softcap"] = 5.0
        self.add("Attention", [x, keys, keys, *mask], shape, **settings)

    # --- Steps of time, and parts that are chosen.

    def recurrent(self, x, shape):
        (steps, batch, width), hidden = shape, self.any(*CHANNELS)
        kind, gates = self.any(("LSTM", 4), ("GRU", 3), ("RNN", 1))
        direction = self.any("forward", "forward", "reverse", "bidirectional")
        ways = 1 + (direction == "bidirectional")
        if not self.fits([steps, ways, batch, hidden]) or gates * hidden * max(width, hidden) > 100_000:
            return
        inputs = [x, self.normal(ways, gates * hidden, width, scale=width**-0.5)]
        inputs += [self.normal(ways, gates * hidden, hidden, scale=hidden**-0.5)]
        inputs += [self.normal(ways, 2 * gates * hidden, scale=0.3) if self.chance(0.7) else ""]
        lengths = self.chance(0.2)
        inputs += [self.constant(self.rng.integers(1, steps + 1, batch), np.int32) if lengths else ""]
        inputs += [self.normal(ways, batch, hidden, scale=0.3) if self.chance(0.4) else ""]
        settings = dict(linear_before_reset=self.below(0, 2)) if kind == "GRU" else {}
        last = [ways, batch, hidden]
        states = [last] * (2 if kind == "LSTM" and self.chance(0.5) else 1)
        self.add(kind, inputs, [steps, *last], *states, direction=direction, hidden_size=hidden, **settings)
        if ways == 1 and self.chance(0.8):
            name = self.live[-1 - len(states)][0]
            self.add("Squeeze", [name, self.whole([1])], [steps, batch, hidden])

    def part(self, inputs, results, *nodes):
        """A graph of these nodes; inputs and results are (name, type, rank)."""
        infos = [[helper.make_tensor_value_info(name, kind, [None] * rank) for name, kind, rank in values]
                 for values in (inputs, results)]  # fmt: skip
        return helper.make_graph(
            [helper.make_node(*node[:3], **node[3]) for node in nodes], f"part{len(self.nodes)}", *infos
        )

    def branch(self, x, shape):
        """One of two ways, by what nothing rounds."""
        largest = self.node("ReduceMax", ["x"], keepdims=0)
        condition = self.node("Greater", [largest, self.constant(self.any(2.0, 3.0, 4.0))])
        at, other = len(self.nodes), self.normal(*shape[-1:])
        ways = [
            self.part([], [(f"a{at}", TensorProto.FLOAT, len(shape))], ("Mul", [x, other], [f"a{at}"], {})),
            self.part([], [(f"b{at}", TensorProto.FLOAT, len(shape))], ("Tanh", [x], [f"b{at}_"], {}),
                      ("Add", [f"b{at}_", other], [f"b{at}"], {})),
        ]  # fmt: skip
        self.add("If", [condition], shape, then_branch=ways[0], else_branch=ways[1])

    def iterate(self, x, shape):
        steps, at, rank = self.below(1, 5), len(self.nodes), len(shape)
        result = [steps, *shape[:-1], 1]
        if rank > 4 or not self.fits(result):
            return
        float_, bool_ = TensorProto.FLOAT, TensorProto.BOOL
        factor, more, axes = self.constant(0.7), self.normal(*shape[-1:]), self.whole([-1])
        body = self.part(
            [(f"i{at}", TensorProto.INT64, 0), (f"c{at}_", bool_, 0), (f"v{at}", float_, rank)],
            [(f"e{at}", bool_, 0), (f"w{at}", float_, rank), (f"m{at}", float_, rank)],
            ("Identity", [f"c{at}_"], [f"e{at}"], {}),
            ("Mul", [f"v{at}", factor], [f"u{at}"], {}),
            ("Add", [f"u{at}", more], [f"w{at}"], {}),
            ("ReduceMean", [f"w{at}", axes], [f"m{at}"], {}),
        )
        self.add("Loop", [self.whole(steps), "", x], shape, result, body=body)

    def scan(self, x, shape):
        (steps, batch, width), hidden, at = shape, self.any(*CHANNELS), len(self.nodes)
        if not self.fits([steps, batch, hidden]):
            return
        of_input, of_state = (
            self.normal(width, hidden, scale=width**-0.5),
            self.normal(hidden, hidden, scale=hidden**-0.5),
        )
        float_ = TensorProto.FLOAT
        body = self.part(
            [(f"h{at}", float_, 2), (f"x{at}", float_, 2)],
            [(f"g{at}", float_, 2), (f"y{at}", float_, 2)],
            ("MatMul", [f"x{at}", of_input], [f"u{at}"], {}),
            ("MatMul", [f"h{at}", of_state], [f"v{at}"], {}),
            ("Add", [f"u{at}", f"v{at}"], [f"w{at}"], {}),
            ("Tanh", [f"w{at}"], [f"g{at}"], {}),
            ("Identity", [f"g{at}"], [f"y{at}"], {}),
        )
        self.add("Scan", [self.normal(batch, hidden, scale=0.3), x], [batch, hidden], [steps, batch, hidden], body=body,
                 num_scan_inputs=1, scan_input_directions=[self.below(0, 2)])  # fmt: skip


def reads(node):
    """The names that a node reads, in its parts, too."""
    parts = [attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]
    made = {value.name for part in parts for value in part.input}
    made |= {name for part in parts for inner in part.node for name in inner.output}
    inner = [name for part in parts for inner in part.node for name in reads(inner)]
    return list(node.input) + [name for name in inner if name not in made]


def network(seed, large=False, quantised=False):
    """A model, and its inputs by name. Some have symbolic dimensions."""
    made = Network(seed, large, quantised)
    _, shape = made.live[0]
    for _ in range(made.below(2, 30 if large else 14)):
        made.step()
    while not made.nodes:
        made.activation("x", shape)
    read = {name for node in made.nodes for name in reads(node)}
    results = [value for value in made.live[1:] if value[0] not in read]
    results += [value for value in made.live[1:] if value[0] in read and made.chance(0.08)]
    symbolic = made.chance(0.3)
    sizes = [f"d{axis}" if symbolic and made.chance(0.5) else size for axis, size in enumerate(shape)]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * len(s)) for name, s in results]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)]
    feeds = {"x": made.rng.standard_normal(shape).astype(np.float16).astype(np.float32)}  # no f16 rounds them
    if made.numbers:
        inputs += [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n" if symbolic else made.numbers])]
        feeds["ids"] = made.rng.integers(0, 100, made.numbers)
    graph = helper.make_graph(made.nodes, f"random{seed}", inputs, outputs, made.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", made.opset)], ir_version=10)
    return model, feeds


def halved(model):
    """The same network, all of whose floats are f16."""
    kind = TensorProto.FLOAT16
    model = onnx.ModelProto.FromString(model.SerializeToString())
    given = {node.input[2] for node in model.graph.node if node.op_type == "Resize"}  # factors are f32
    for constant in model.graph.initializer:
        if constant.data_type == TensorProto.FLOAT and constant.name not in given:
            values = numpy_helper.to_array(constant).astype(np.float16)
            constant.CopyFrom(numpy_helper.from_array(values, constant.name))

    def change(graph):
        for value in [*graph.input, *graph.output]:
            if value.type.tensor_type.elem_type == TensorProto.FLOAT:
                value.type.tensor_type.elem_type = kind
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    change(attribute.g)
                elif node.op_type == "Cast" and attribute.i == TensorProto.FLOAT:
                    attribute.i = kind

    change(model.graph)
    return model


def run_halved(model, feeds, **settings):
    """The outputs if all floats are f16, as f32."""
    feeds = {name: x.astype(np.float16) if x.dtype == np.float32 else x for name, x in feeds.items()}
    results = strata.compile(halved(model), **settings).run(feeds)
    return [x.astype(np.float32) if x.dtype == np.float16 else x for x in results]


def other_sizes(model, seed):
    """Inputs whose symbolic dimensions, if there are any, have sizes that the network's constants may not fit."""
    rng = np.random.default_rng(seed)
    shapes = [value.type.tensor_type.shape.dim for value in model.graph.input]
    if not any(dim.dim_param for dims in shapes for dim in dims):
        return None
    sizes = [[dim.dim_value or int(rng.integers(1, 24)) for dim in dims] for dims in shapes]
    feeds = {"x": rng.standard_normal(sizes[0]).astype(np.float32)}
    return feeds | ({"ids": rng.integers(0, 100, sizes[1])} if sizes[1:] else {})


def differences(expected, results, kind="f32"):
    """The outputs that differ: their numbers, and by how much of the largest value."""
    for number, (want, have) in enumerate(zip(expected, results, strict=True)):
        assert have.shape == want.shape and have.dtype == want.dtype
        if np.isfinite(want).all():  # else what an operator does with infinities matters
            error = np.abs(want.astype(np.float64) - have).max(initial=0)
            if not error <= TOLERANCE[kind] * np.abs(want).max(initial=0):
                yield number, float(error / np.abs(want).max())


# --- What is left of a network that differs.


def _info(name, value, shape):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape)


def _part(model, nodes, outputs, values):
    """A model of these nodes alone, whose inputs are the values that others made."""
    constants = {constant.name: constant for constant in model.graph.initializer}
    made = {name for node in nodes for name in node.output}
    read = list(dict.fromkeys(name for node in nodes for name in reads(node) if name and name not in made))
    given = {value.name: value for value in model.graph.input}
    inputs = [given.get(name) or _info(name, values[name], values[name].shape)
              for name in read if name not in constants]  # fmt: skip
    results = [_info(name, values[name], [None] * values[name].ndim) for name in outputs]
    used = [constants[name] for name in read if name in constants]
    graph = helper.make_graph(nodes, model.graph.name, inputs, results, used)
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def reduce(model, feeds, run, reference, kind="f32"):
    """The smallest part of the network that still differs, as far as leaving out nodes one by one finds it."""
    names = [name for node in model.graph.node for name in node.output]
    everything = onnx.ModelProto.FromString(model.SerializeToString())
    del everything.graph.output[:]
    everything.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    values = feeds | dict(zip(names, reference(onnx.shape_inference.infer_shapes(everything), feeds)))

    def differs(nodes, outputs):
        part = _part(model, nodes, outputs, values)
        try:
            results = run(part, {value.name: values[value.name] for value in part.graph.input})
        except strata.Error:
            return True
        return any(differences([values[name] for name in outputs], results, kind))

    nodes, outputs = list(model.graph.node), [value.name for value in model.graph.output]
    changed = True
    while changed:
        changed = False
        for node in list(nodes):
            rest = [other for other in nodes if other is not node]
            made = {name for other in rest for name in other.output}
            kept = [name for name in outputs if name in made]
            # Without the last nodes, what these read.
            before = kept + [name for name in dict.fromkeys(reads(node)) if name in made and name not in kept]
            for less in (kept, before):
                if rest and less and differs(rest, less):
                    nodes, outputs, changed = rest, less, True
                    break
        for name in list(outputs):
            less = [other for other in outputs if other != name]
            if less and differs(nodes, less):
                outputs, changed = less, True
    return _part(model, nodes, outputs, values)


def main():
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from support.peers import exact_outputs

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--quantised", action="store_true", help="products of 8 bits")
    parser.add_argument("--precision", default="f32", choices=("f32", "bf16", "f16", "int8"))
    parser.add_argument("--target", help="a CPU whose code runs on this one")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--large", action="store_true", help="larger values")
    parser.add_argument("--type", default="f32", choices=("f32", "f16"), help="of the networks' floats")
    options = parser.parse_args()

    def run(model, feeds):
        settings = dict(precision=options.precision, target=options.target, threads=options.threads)
        if options.type == "f16":
            return run_halved(model, feeds, **settings)
        return strata.compile(model, **settings).run(feeds)

    def reference(model, feeds):
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            onnx.save(model, file.name)
            return exact_outputs(file.name, feeds)

    kind = (
        "quantised"
        if options.quantised or options.precision == "int8"
        else options.type
        if options.precision == "f32"
        else options.precision
    )
    compared = wrong = 0
    for seed in range(options.first, options.last + 1):
        model, first = network(seed, options.large, options.quantised)
        for number, feeds in enumerate((first, other_sizes(model, seed))):
            try:
                expected = reference(model, feeds) if feeds else None
            except Exception as error:  # of ONNX Runtime: these sizes do not fit
                if not number:
                    print(f"{seed}: nothing to compare with: {error}", flush=True)
                    break
                try:
                    run(model, feeds)
                    print(f"{seed}: runs with sizes that ONNX Runtime refuses", flush=True)
                except strata.Error:
                    pass
                continue
            if not feeds:
                continue
            compared += 1
            try:
                found = [f"output {number} by {error:.1e}" for number, error in
                         differences(expected, run(model, feeds), kind)]  # fmt: skip
            except strata.Error as error:
                found = [str(error)]
            if found:
                wrong += 1
                part = reduce(model, feeds, run, reference, kind)
                file = Path(f"random-{seed}.onnx")
                onnx.save(part, file)
                operators = ", ".join(node.op_type for node in part.graph.node)
                print(f"{seed}: {'; '.join(found)}; {file}: {operators}", flush=True)
    print(f"{options.last - options.first + 1} networks, {compared} runs, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
