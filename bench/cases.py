"""What is timed: models of one operator or a few, the nine light networks of the onnx package, two of them quantised,
and exported networks.

A small case is a line of ONNX's text: inputs that begin with a capital are given in each run, the others are weights.
Floats are random, scaled by 1/sqrt(fan-in) where they are weights; integers are random indices or quantised values.
"""

import math
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.version_converter
from onnx import helper, numpy_helper, parser

sys.path.append(str(Path(__file__).resolve().parents[1] / "test"))

_ATTENTION = """(float[1,12,512,64] Q, float[1,12,512,64] K, float[1,12,512,64] V) => (float[1,12,512,64] Y)"""


def _matmul(m, k, n, b="w"):
    return f"(float[{m},{k}] A, float[{k},{n}] {b}) => (float[{m},{n}] Y) {{ Y = MatMul(A, {b}) }}"


def _conv(channels, size, filters, kernel, stride=1, group=1):
    out = (size + 2 * (kernel // 2) - kernel) // stride + 1
    return f"""(float[1,{channels},{size},{size}] X, float[{filters},{channels // group},{kernel},{kernel}] w,
                float[{filters}] b) => (float[1,{filters},{out},{out}] Y)
      {{ c = Conv<pads = [{", ".join([str(kernel // 2)] * 4)}], strides = [{stride}, {stride}],
                  group = {group}>(X, w, b)
         Y = Relu(c) }}"""


def _quantised_conv(channels, size, filters, kernel, group=1, data="uint8"):
    return f"""({data}[1,{channels},{size},{size}] X, int8[{filters},{channels // group},{kernel},{kernel}] w)
      => ({data}[1,{filters},{size},{size}] Y)
      <float xs = {{0.02}}, {data} xz = {{121}}, float ws = {{0.01}}, int8 wz = {{0}},
       float ys = {{0.4}}, {data} yz = {{7}}>
      {{ Y = QLinearConv<pads = [{", ".join([str(kernel // 2)] * 4)}], group = {group}>
                        (X, xs, xz, w, ws, wz, ys, yz) }}"""


def _narrow(m, k, n, bits, block):
    return f"""(float[{m},{k}] A, int{bits}[{k},{n}] w, float[{k // block},{n}] s) => (float[{m},{n}] Y)
      {{ d = DequantizeLinear<axis = 0, block_size = {block}>(w, s) Y = MatMul(A, d) }}"""


# name: (text, whether --quick has it)
SMALL = {
    "call": ("(float[1] X) => (float[1] Y) { Y = Add(X, X) }", True),
    "matmul 256x256x256": (_matmul(256, 256, 256), False),
    "matmul 512x512x512": (_matmul(512, 512, 512), True),
    "matmul 1024x1024x1024": (_matmul(1024, 1024, 1024), True),
    "matmul 1024x1024x1024, B given": (_matmul(1024, 1024, 1024, "B"), True),
    "matmul 512x512x512, B given": (_matmul(512, 512, 512, "B"), False),
    "matmul 128x768x3072": (_matmul(128, 768, 3072), True),
    "matmul 1000x1000x1000": (_matmul(1000, 1000, 1000), False),
    "matrix-vector 4096x4096": (_matmul(1, 4096, 4096), True),
    "matrix-vector 768x50257": (_matmul(1, 768, 50257), False),
    "gemm transB + relu 128x768x768": (
        """(float[128,768] A, float[768,768] w, float[768] b) => (float[128,768] Y)
           { g = Gemm<transB = 1>(A, w, b) Y = Relu(g) }""", False),
    "batched matmul 12x128x64x128": (
        "(float[1,12,128,64] A, float[1,12,64,128] B) => (float[1,12,128,128] Y) { Y = MatMul(A, B) }", True),
    "conv 3x3 64 56x56": (_conv(64, 56, 64, 3), True),
    "conv 3x3 512 7x7": (_conv(512, 7, 512, 3), False),
    "conv 1x1 256 to 64 56x56": (_conv(256, 56, 64, 1), True),
    "conv 7x7 stride 2 3 to 64 224x224": (_conv(3, 224, 64, 7, stride=2), True),
    "conv depthwise 3x3 96 56x56": (_conv(96, 56, 96, 3, group=96), True),
    "conv depthwise 5x5 672 14x14": (_conv(672, 14, 672, 5, group=672), False),
    "softmax 12x512x512": ("(float[12,512,512] X) => (float[12,512,512] Y) { Y = Softmax<axis = -1>(X) }", True),
    "layer norm 512x1024": (
        """(float[512,1024] X, float[1024] s, float[1024] b) => (float[512,1024] Y)
           { Y = LayerNormalization<axis = -1>(X, s, b) }""", True),
    "gelu 4M": (
        """(float[4096,1024] X) => (float[4096,1024] Y)
           { r = Constant<value_float = 0.70710678>() one = Constant<value_float = 1.0>()
             h = Constant<value_float = 0.5>()
             a = Mul(X, r) e = Erf(a) c = Add(e, one) d = Mul(X, c) Y = Mul(d, h) }""", True),
    "elementwise chain 4M": (
        """(float[4096,1024] X, float[4096,1024] Z) => (float[4096,1024] Y)
           { k = Constant<value_float = 0.3>() a = Add(X, Z) b = Mul(a, k) c = Sub(b, Z) d = Relu(c) Y = Add(d, X) }""",
        True),
    "attention 12x512x64": (_ATTENTION + """
           { T = Transpose<perm = [0, 1, 3, 2]>(K) s = MatMul(Q, T) k = Constant<value_float = 0.125>()
             m = Mul(s, k) p = Softmax<axis = -1>(m) Y = MatMul(p, V) }""", True),
    "attention (operator) 12x512x64": (_ATTENTION + " { Y = Attention(Q, K, V) }", False),
    "transpose 2048x2048": (
        "(float[2048,2048] X) => (float[2048,2048] Y) { Y = Transpose<perm = [1, 0]>(X) }", True),
    "transpose 0213 512x12x64": (
        "(float[1,512,12,64] X) => (float[1,12,512,64] Y) { Y = Transpose<perm = [0, 2, 1, 3]>(X) }", True),
    "transpose to channels last 64 56x56": (
        "(float[1,64,56,56] X) => (float[1,56,56,64] Y) { Y = Transpose<perm = [0, 2, 3, 1]>(X) }", False),
    "gather 512 of 32000x768": (
        "(int64[1,512] I, float[32000,768] w) => (float[1,512,768] Y) { Y = Gather<axis = 0>(w, I) }", True),
    "sum of columns 4096x1024": (
        """(float[4096,1024] X) => (float[1024] Y)
           { a = Constant<value_ints = [0]>() Y = ReduceSum<keepdims = 0>(X, a) }""", True),
    "sum of rows 4096x1024": (
        """(float[4096,1024] X) => (float[4096] Y)
           { a = Constant<value_ints = [1]>() Y = ReduceSum<keepdims = 0>(X, a) }""", True),
    "quantised matmul 512x512x512": (
        """(uint8[512,512] A, int8[512,512] w) => (uint8[512,512] Y)
           <float as = {0.02}, uint8 az = {128}, float bs = {0.01}, int8 bz = {0}, float ys = {0.5}, uint8 yz = {120}>
           { Y = QLinearMatMul(A, as, az, w, bs, bz, ys, yz) }""", True),
    "dynamically quantised matmul 128x768x3072": (
        """(float[128,768] X, int8[768,3072] w) => (float[128,3072] Y)
           <int8 bz = {0}, float bs = {0.01}>
           { q, s, z = DynamicQuantizeLinear(X) i = MatMulInteger(q, w, z, bz) f = Cast<to = 1>(i)
             c = Mul(s, bs) Y = Mul(f, c) }""", False),
    "quantised conv 3x3 64 56x56": (_quantised_conv(64, 56, 64, 3), True),
    "quantised conv 3x3 64 56x56, signed data": (_quantised_conv(64, 56, 64, 3, data="int8"), False),
    "quantised conv 1x1 256 to 64 56x56": (_quantised_conv(256, 56, 64, 1), False),
    "quantised conv depthwise 3x3 96 56x56": (_quantised_conv(96, 56, 96, 3, group=96), False),
    "weights of 4 bits 1x4096x4096": (_narrow(1, 4096, 4096, 4, 32), True),
    "weights of 4 bits 4x4096x4096": (_narrow(4, 4096, 4096, 4, 32), False),
    "weights of 4 bits 128x2048x4096": (_narrow(128, 2048, 4096, 4, 32), False),
    "weights of 8 bits 1x4096x4096": (_narrow(1, 4096, 4096, 8, 128), False),
}  # fmt: skip

LIGHT_IN_QUICK = ("squeezenet",)


def _random(rng, value, weight):
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    if dtype == np.float32:
        scale = 1 / math.sqrt(max(1, np.prod(shape) / shape[-1 if len(shape) == 2 else 0])) if weight else 1
        return rng.standard_normal(shape, np.float32) * np.float32(scale)
    low, high = {"uint8": (0, 255), "int8": (-127, 127), "int4": (-8, 8)}.get(dtype.name, (0, 32000))
    return rng.integers(low, high, shape).astype(dtype)


def parsed(name):
    """The model of a small case, its weights still among the inputs."""
    opset = 23 if "(operator)" in name or name.startswith("weights") else 17
    version = 8 if opset < 21 else 10
    return parser.parse_model(f'<ir_version: {version}, opset_import: ["" : {opset}]> case {SMALL[name][0]}')


def _write_small(name, path):
    rng = np.random.default_rng(0)
    model = parsed(name)
    graph = model.graph
    feeds = {}
    for value in list(graph.input):
        weight = value.name[0].islower()
        array = _random(rng, value, weight)
        if weight:
            graph.initializer.append(numpy_helper.from_array(array, value.name))
            graph.input.remove(value)
        else:
            feeds[value.name] = array
    onnx.save(model, path)
    np.savez(path.with_suffix(".npz"), **feeds)


def _write_light(name, path):
    from support import light

    model = light.with_random_weights(name)
    onnx.save(model, path)
    np.savez(path.with_suffix(".npz"), **{light.input_name(model): light.image()})


#: Light networks, and whether their data is signed.
QUANTISED = {
    "quantised_squeezenet": ("squeezenet", False),
    "quantised_resnet50": ("resnet50", False),
    "quantised_resnet50, signed data": ("resnet50", True),
}


def _write_quantised(case, path):
    """A light network in the QDQ form, as ONNX Runtime quantises it."""
    import onnxruntime
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process
    from support import light

    onnxruntime.set_default_logger_severity(3)  # it warns of each initializer
    name, signed = case
    model = light.with_random_weights(name)
    # Scales per channel came with version 13. The converter wants the weights among the inputs, as IR 3 has them.
    known = {value.name for value in model.graph.input}
    model.graph.input.extend(
        helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        for tensor in model.graph.initializer
        if tensor.name not in known
    )
    model = onnx.version_converter.convert_version(model, 13)
    weights = {tensor.name for tensor in model.graph.initializer}
    data = [value for value in model.graph.input if value.name not in weights]
    del model.graph.input[:]
    model.graph.input.extend(data)
    model.ir_version = 8
    feeds = {data[0].name: light.image()}
    rest = [feeds]

    class Reader(quantization.CalibrationDataReader):
        def get_next(self):
            return rest.pop() if rest else None

    plain, folded = path.with_suffix(".plain"), path.with_suffix(".folded")
    onnx.save(model, plain)
    quant_pre_process(str(plain), str(folded))
    quantization.quantize_static(str(folded), str(path), Reader(), per_channel=True,
                                 activation_type=quantization.QuantType["QInt8" if signed else "QUInt8"],
                                 weight_type=quantization.QuantType.QInt8)  # fmt: skip
    plain.unlink()
    folded.unlink()
    np.savez(path.with_suffix(".npz"), **feeds)


def _write_narrow(source, path):
    """An exported network whose products' weights have 4 bits, in blocks of 32 with a scale each."""
    block, most = 32, 7
    model = onnx.load(source)
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    nodes = []
    for node in graph.node:
        tensor = weights.get(node.input[1]) if node.op_type == "MatMul" else None
        if tensor is not None and len(tensor.dims) == 2 and tensor.dims[0] % block == 0:
            name, (k, n) = tensor.name, tensor.dims
            blocks = numpy_helper.to_array(tensor).reshape(k // block, block, n)
            scales = np.maximum(np.abs(blocks).max(1) / most, np.float32(1e-20))
            codes = np.rint(blocks / scales[:, None]).reshape(k, n)
            codes = codes.astype(helper.tensor_dtype_to_np_dtype(onnx.TensorProto.INT4))
            del weights[name]
            graph.initializer.remove(tensor)
            graph.initializer.append(numpy_helper.from_array(codes, f"{name}_codes"))
            graph.initializer.append(numpy_helper.from_array(scales, f"{name}_scales"))
            nodes.append(helper.make_node("DequantizeLinear", [f"{name}_codes", f"{name}_scales"], [name],
                                          axis=0, block_size=block))  # fmt: skip
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    next(opset for opset in model.opset_import if opset.domain in ("", "ai.onnx")).version = 21
    model.ir_version = 10
    onnx.save(model, path)
    with np.load(source.with_suffix(".npz")) as feeds:
        np.savez(path.with_suffix(".npz"), **feeds)


def _write_halves(source, path):
    """A network all of whose floats are f16, as ONNX Runtime's tool for that converts it."""
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(source)), path)
    with np.load(source.with_suffix(".npz")) as feeds:
        halves = {name: x.astype(np.float16) if x.dtype == np.float32 else x for name, x in feeds.items()}
        np.savez(path.with_suffix(".npz"), **halves)


def _write_narrow_halves(source, path):
    """Both."""
    narrow = path.with_name(f"{path.stem}_f32.onnx")
    _write_narrow(source, narrow)
    _write_halves(narrow, path)
    for file in (narrow, narrow.with_suffix(".npz")):
        file.unlink()


#: Exported networks that are also measured with weights of 4 bits, with floats of f16, and with both.
NARROW = ("llama6_decode_dyn", "llama6_prefill_dyn")
HALVES = ("bert_base_dyn", "llama6_prefill_dyn")


def _has_narrow_weights(graph):
    """Whether it multiplies floats by constants that it dequantizes."""
    constants = {tensor.name for tensor in graph.initializer}
    dequantised = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "DequantizeLinear"}
    return any(
        node.op_type in ("MatMul", "Gemm")
        and dequantised.get(node.input[1]) in constants
        and node.input[0] not in dequantised
        for node in graph.node
    )


def all_cases(folder, models, quick):
    """(name, function that gives the path of its model; the inputs lie beside it as .npz)."""
    from support import light

    def made(write, name, stem):
        def path():
            result = folder / f"{stem}.onnx"
            if not result.with_suffix(".npz").exists():
                write(name, result)
            return result

        return path

    folder.mkdir(parents=True, exist_ok=True)
    for name, (_, is_quick) in SMALL.items():
        if is_quick or not quick:
            yield name, made(_write_small, name, "".join(c if c.isalnum() else "_" for c in name))
    for name in LIGHT_IN_QUICK if quick else light.NAMES:
        yield f"light_{name}", made(_write_light, name, f"light_{name}")
    for name, case in () if quick else QUANTISED.items():
        yield name, made(_write_quantised, case, name.replace(", signed data", "_signed"))
    for path in sorted(models.glob("*.onnx")) if models and not quick else ():
        if path.with_suffix(".npz").exists():
            yield path.stem, lambda path=path: path
            if path.stem in NARROW:
                yield f"{path.stem}, weights of 4 bits", made(_write_narrow, path, f"{path.stem}_4_bits")
                stem = f"{path.stem}_4_bits_f16"
                yield f"{path.stem}, weights of 4 bits, f16", made(_write_narrow_halves, path, stem)
            if path.stem in HALVES:
                yield f"{path.stem}, f16", made(_write_halves, path, f"{path.stem}_f16")


def _bits(data_type):
    return 4 if data_type in (onnx.TensorProto.INT4, onnx.TensorProto.UINT4) else (
        8 * helper.tensor_dtype_to_np_dtype(data_type).itemsize)  # fmt: skip


def work_of(path):
    """{flops, int8, read, written}: what a run has to compute, and the bytes it has to read and write at least once.
    `narrow`: whether weights are dequantized for products of floats."""
    model = onnx.load(path)
    model.ir_version = max(model.ir_version, 4)  # before, shapes were inferred of weights that are inputs alone
    with np.load(path.with_suffix(".npz")) as file:
        feeds = {name: file[name] for name in file.files}
    for value in model.graph.input:
        if value.name in feeds:  # symbolic sizes are those of the inputs
            for dim, size in zip(value.type.tensor_type.shape.dim, feeds[value.name].shape):
                dim.dim_value = size
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {tensor.name: list(tensor.dims) for tensor in inferred.initializer}
    for value in [*inferred.input, *inferred.output, *inferred.value_info]:
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if all(dims):
            shapes.setdefault(value.name, dims)
    work = {"flops": 0, "int8": 0, "written": 0, "narrow": _has_narrow_weights(inferred)}
    work["read"] = sum(array.nbytes for array in feeds.values())
    gathered = {node.input[0] for node in inferred.node if node.op_type == "Gather"}
    for tensor in inferred.initializer:
        if tensor.name not in gathered:
            work["read"] += math.ceil(math.prod(tensor.dims) * _bits(tensor.data_type) / 8)
    for value in inferred.output:
        dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        work["written"] += math.prod(shapes.get(value.name, [0])) * dtype.itemsize
    dequantised = {node.output[0] for node in inferred.node if node.op_type == "DequantizeLinear"}
    for node in inferred.node:
        integers = node.op_type in ("QLinearMatMul", "MatMulInteger", "QLinearConv", "ConvInteger")
        kind = "int8" if integers or dequantised.issuperset(node.input[:2]) else "flops"
        work[kind] += 2 * _products(node, shapes)
        if node.op_type == "Gather" and shapes.get(node.input[0]) is not None:
            work["read"] += 4 * math.prod(shapes.get(node.output[0], [0]))
    return work


def _products(node, shapes):
    """The multiplications of a contraction; 0 where a shape is not known."""
    operands = [shapes.get(name) for name in node.input]
    result = shapes.get(node.output[0])
    try:
        if node.op_type in ("Conv", "ConvInteger"):
            return math.prod(result) * math.prod(operands[1][1:])
        if node.op_type == "QLinearConv":
            return math.prod(result) * math.prod(operands[3][1:])
        if node.op_type == "ConvTranspose":
            return math.prod(operands[0]) * math.prod(operands[1][1:])
        if node.op_type == "Gemm":
            transposed = any(a.name == "transA" and a.i for a in node.attribute)
            return math.prod(result) * operands[0][0 if transposed else 1]
        if node.op_type in ("MatMul", "MatMulInteger", "QLinearMatMul"):
            return math.prod(result) * operands[0][-1]
        if node.op_type == "Attention":
            batch, heads, queries, width = operands[0]
            return batch * heads * queries * operands[1][2] * (width + operands[2][3])
    except TypeError:
        pass
    return 0
