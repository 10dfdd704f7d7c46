"""Random networks: a seed says which operators of which sizes follow one another, so that what nobody thought of meets.
ONNX Runtime says what comes out.

    python test/support/random_networks.py FIRST LAST [--quantised] [--precision bf16] [--target haswell] ...

compares those of the seeds from FIRST to LAST, and takes away from one that differs what it differs without, into
random-SEED.onnx.
"""

import argparse
import math
import tempfile
from pathlib import Path

import numpy as np
import onnx
import strata
from onnx import TensorProto, helper, numpy_helper

CHANNELS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 20, 24, 32, 33, 40, 48, 64, 80, 96]
WIDTHS = [5, 8, 16, 24, 32, 48, 50, 64, 80, 100, 128]
OPSET = 21
#: Of the largest value; errors grow from operator to operator. What is quantised may be rounded to the next step.
TOLERANCE = {"f32": 3e-4, "bf16": 0.2, "f16": 0.05, "quantised": 0.1}


class Network:
    """What was made so far. `live`: each value's name and shape, the last one last."""

    def __init__(self, seed, large, quantised):
        self.rng = np.random.default_rng(seed)
        self.quantised = quantised
        self.most = 400_000 if large else 60_000  # elements of a value
        self.nodes, self.constants = [], []
        self.live = [("x", self.input_shape(30 if large else 18))]

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
            self.layer_norm, self.expand, *[self.matmul] * 5, *[self.attention] * 2,
        ]  # fmt: skip
        if len(shape) == 2:
            makers += [self.gemm] * 3
        else:
            makers += [self.conv] * 8 + [self.depthwise, self.pool] * 4
            makers += [self.conv_transpose, self.batch_norm] * 2 + [self.instance_norm, self.global_pool]
        if len(shape) == 4:
            makers += [self.resize, self.resize, self.depth_to_space, self.space_to_depth, self.excite]
        self.any(*makers)(x, shape)

    # --- Elements, and how they lie.

    def activation(self, x, shape):
        kind = self.any("Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Clip", "Elu", "Softplus", "Erf", "Gelu",
                        "Abs", "Neg", "Sqrt", "SiLU", "HardSigmoid", "Mish", "Cos", "Softsign")  # fmt: skip
        if kind == "Clip":
            self.add(kind, [x, self.constant(-1.0), self.constant(1.5)], shape)
        elif kind == "Sqrt":
            self.add(kind, [self.add("Abs", [x], shape)], shape)
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

    def concat(self, x, shape):
        axis = self.below(0, len(shape))
        rest = shape[:axis] + shape[axis + 1 :]
        alike = [value for value in self.live if value[1][:axis] + value[1][axis + 1 :] == rest]
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

    def resize(self, x, shape):
        factor = self.any(2, 2, 3)
        result = shape[:2] + [size * factor for size in shape[2:]]
        if self.fits(result):
            self.add("Resize", [x, "", self.constant([1, 1, factor, factor])], result, nearest_mode="floor",
                     mode=self.any("nearest", "linear"),
                     coordinate_transformation_mode=self.any("asymmetric", "half_pixel"))  # fmt: skip

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
        found = self.windows(shape[2:], 5, dilates=False)
        if found:
            counts = dict(count_include_pad=self.below(0, 2)) if self.chance(0.5) else {}
            self.add("AveragePool" if counts else "MaxPool", [x], shape[:2] + found[1], **found[0], **counts)

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
        y = self.add("MatMul", [x, self.normal(shape[-1], columns, scale=shape[-1] ** -0.5)], result)
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


def network(seed, large=False, quantised=False):
    """A model, and its inputs by name. Some have symbolic dimensions."""
    made = Network(seed, large, quantised)
    _, shape = made.live[0]
    for _ in range(made.below(2, 14)):
        made.step()
    while not made.nodes:
        made.activation("x", shape)
    read = {name for node in made.nodes for name in node.input}
    results = [value for value in made.live[1:] if value[0] not in read]
    results += [value for value in made.live[1:] if value[0] in read and made.chance(0.08)]
    symbolic = made.chance(0.3)
    sizes = [f"d{axis}" if symbolic and made.chance(0.5) else size for axis, size in enumerate(shape)]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * len(s)) for name, s in results[:6]]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)]
    graph = helper.make_graph(made.nodes, f"random{seed}", inputs, outputs, made.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    return model, {"x": made.rng.standard_normal(shape).astype(np.float32)}


def other_sizes(model, seed):
    """Inputs whose symbolic dimensions, if there are any, have sizes that the network's constants may not fit."""
    rng = np.random.default_rng(seed)
    dims = model.graph.input[0].type.tensor_type.shape.dim
    if any(dim.dim_param for dim in dims):
        sizes = [dim.dim_value or int(rng.integers(1, 24)) for dim in dims]
        return {"x": rng.standard_normal(sizes).astype(np.float32)}
    return None


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
    read = list(dict.fromkeys(name for node in nodes for name in node.input if name and name not in made))
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
            before = kept + [name for name in node.input if name in made and name not in kept]
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
    from peers import onnxruntime_outputs

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--quantised", action="store_true", help="products of 8 bits")
    parser.add_argument("--precision", default="f32", choices=("f32", "bf16", "f16"))
    parser.add_argument("--target", help="a CPU whose code runs on this one")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--large", action="store_true", help="larger values")
    options = parser.parse_args()

    def run(model, feeds):
        settings = dict(precision=options.precision, target=options.target, threads=options.threads)
        return strata.compile(model, **settings).run(feeds)

    def reference(model, feeds):
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            onnx.save(model, file.name)
            return onnxruntime_outputs(file.name, feeds)

    kind = "quantised" if options.quantised else options.precision
    compared = wrong = 0
    for seed in range(options.first, options.last + 1):
        model, first = network(seed, options.large, options.quantised)
        for number, feeds in enumerate((first, other_sizes(model, seed))):
            try:
                expected = reference(model, feeds) if feeds else None
            except Exception:  # of ONNX Runtime: these sizes do not fit
                assert number, "a network of sizes that do not fit"
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
