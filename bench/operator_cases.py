"""The operators that operators.py times by themselves, each at a size that networks have."""

import numpy as np
from onnx import TensorProto

RNG = np.random.default_rng(0)
UNARY = ["Exp", "Log", "Tanh", "Sigmoid", "Erf", "Sqrt", "Sin", "Cos", "Tan", "Atan", "Asin", "Acos", "Sinh",
         "Cosh", "Asinh", "Acosh", "Atanh", "Softplus", "Softsign", "Mish", "Gelu", "HardSwish", "HardSigmoid", "Elu",
         "Selu", "Celu", "LeakyRelu", "ThresholdedRelu", "Shrink", "Relu", "Abs", "Neg", "Floor", "Ceil", "Round",
         "Sign", "Reciprocal", "IsNaN", "IsInf"]  # fmt: skip
REDUCTIONS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"]
SQUARE = (512, 1024)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def integers(low, high, *shape, dtype=np.int64):
    return RNG.integers(low, high, shape).astype(dtype)


def booleans(*shape):
    return RNG.random(shape) > 0.5


def case(name, operator, feeds, weights=None, outputs=1, opset=20, **attributes):
    """(name, operator, inputs of each run, weights (None: left out), number of outputs, opset, attributes)."""
    return name, operator, feeds, weights or {}, outputs, opset, attributes


def cases():
    for family in (elementwise, types, reductions, normalisations, pools, convolutions, products, images, copies,
                   gathers, sorts, recurrences, signals, trees, features):  # fmt: skip
        yield from family()


def elementwise():
    for operator in UNARY:
        x = np.abs(normal(*SQUARE)) + 0.01 + (operator == "Acosh")
        yield case(operator, operator, {"x": np.clip(x, 0, 0.99) if operator in ("Asin", "Acos", "Atanh") else x})
    yield case("Gelu tanh", "Gelu", {"x": normal(*SQUARE)}, approximate="tanh")
    yield case("Sigmoid 64k", "Sigmoid", {"x": normal(65536)})
    yield case("Tanh 64k", "Tanh", {"x": normal(65536)})
    yield case("Swish", "Swish", {"x": normal(*SQUARE)}, opset=24)
    yield case("PRelu", "PRelu", {"x": normal(1, 64, 56, 56)}, {"s": normal(64, 1, 1)})
    yield case("Clip", "Clip", {"x": normal(*SQUARE)}, {"a": np.float32(-1), "b": np.float32(1)})
    for operator in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Mean", "Sum"):
        yield case(operator, operator, {"x": normal(*SQUARE), "y": normal(*SQUARE)})
    for operator in ("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"):
        yield case(operator, operator, {"x": normal(*SQUARE), "y": normal(*SQUARE)})
    for operator in ("And", "Or", "Xor"):
        yield case(operator, operator, {"x": booleans(*SQUARE), "y": booleans(*SQUARE)})
    yield case("Not", "Not", {"x": booleans(*SQUARE)})
    yield case("Add of rows", "Add", {"x": normal(*SQUARE), "y": normal(1024)})
    yield case("Add of columns", "Add", {"x": normal(*SQUARE), "y": normal(512, 1)})
    yield case("Add of channels", "Add", {"x": normal(8, 64, 28, 28), "y": normal(64, 1, 1)})
    yield case("Add of the middle", "Add", {"x": normal(8, 64, 28, 28), "y": normal(8, 1, 28, 28)})
    yield case("Mul of both", "Mul", {"x": normal(512, 1), "y": normal(1, 1024)})
    yield case("Add of odd rows", "Add", {"x": normal(1000, 7), "y": normal(7)})
    yield case("Add of 3", "Add", {"x": normal(50000, 3), "y": normal(3)})
    yield case("Where", "Where", {"c": booleans(*SQUARE), "x": normal(*SQUARE), "y": normal(*SQUARE)})
    yield case("Where of a number", "Where", {"c": booleans(1, 1, 512, 512), "x": normal(1, 12, 512, 512)},
               {"y": np.float32(-1e9)})  # fmt: skip
    yield case("Where of rows", "Where", {"c": booleans(512, 1), "x": normal(*SQUARE), "y": normal(1024)})
    yield case("Pow", "Pow", {"x": np.abs(normal(*SQUARE)), "y": normal(*SQUARE)})
    for exponent in (2, 3, 0.5, 1.7):
        yield case(f"Pow {exponent}", "Pow", {"x": np.abs(normal(*SQUARE))}, {"y": np.float32(exponent)})
    yield case("Mod f32", "Mod", {"x": normal(*SQUARE), "y": np.abs(normal(*SQUARE)) + 0.1}, fmod=1)
    yield case("BitShift", "BitShift", {"x": integers(0, 255, *SQUARE, dtype=np.uint32),
                                        "y": integers(0, 8, *SQUARE, dtype=np.uint32)}, direction="LEFT")  # fmt: skip
    for operator in ("BitwiseAnd", "BitwiseXor"):
        yield case(operator, operator, {"x": integers(0, 255, *SQUARE), "y": integers(0, 255, *SQUARE)})
    yield case("BitwiseNot", "BitwiseNot", {"x": integers(0, 255, *SQUARE, dtype=np.int32)})
    yield case("QuantizeLinear", "QuantizeLinear", {"x": normal(*SQUARE)},
               {"s": np.float32(0.02), "z": np.uint8(128)})  # fmt: skip
    yield case("QuantizeLinear axis", "QuantizeLinear", {"x": normal(8, 64, 28, 28)},
               {"s": np.full(64, 0.02, np.float32), "z": np.full(64, 1, np.int8)}, axis=1)  # fmt: skip
    yield case("DequantizeLinear", "DequantizeLinear", {"x": integers(0, 255, *SQUARE, dtype=np.uint8)},
               {"s": np.float32(0.02), "z": np.uint8(128)})  # fmt: skip
    yield case("DequantizeLinear axis", "DequantizeLinear", {"x": integers(0, 127, *SQUARE, dtype=np.int8)},
               {"s": np.full(1024, 0.02, np.float32)}, axis=1)  # fmt: skip
    yield case("DynamicQuantizeLinear", "DynamicQuantizeLinear", {"x": normal(*SQUARE)}, outputs=3)


def types():
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.int64, np.float64, np.float16):
        name = np.dtype(dtype).name
        x, y = integers(1, 100, *SQUARE, dtype=dtype), integers(1, 10, *SQUARE, dtype=dtype)
        for operator in ("Add", "Mul", "Div", "Max", "Less", "Equal"):
            yield case(f"{operator} {name}", operator, {"x": x, "y": y})
        yield case(f"Mod {name}", "Mod", {"x": x, "y": y}, fmod=int(np.dtype(dtype).kind == "f"))
        for operator in ("Abs", "Neg", "Sign") if name != "uint8" else ():
            yield case(f"{operator} {name}", operator, {"x": x})
        yield case(f"Clip {name}", "Clip", {"x": x}, {"a": dtype(5), "b": dtype(50)})
        yield case(f"Where {name}", "Where", {"c": booleans(*SQUARE), "x": x, "y": y})
        if name != "int16":
            yield case(f"ReduceMax {name}", "ReduceMax", {"x": x}, {"a": np.array([0])})
        if name not in ("int8", "uint8", "int16"):
            yield case(f"ReduceSum {name}", "ReduceSum", {"x": x}, {"a": np.array([1])})
            yield case(f"CumSum {name}", "CumSum", {"x": x}, {"a": np.array(1)})
        yield case(f"Transpose {name}", "Transpose", {"x": x}, perm=[1, 0])
        yield case(f"ArgMax {name}", "ArgMax", {"x": x}, axis=1)
        yield case(f"TopK {name}", "TopK", {"x": x}, {"k": np.array([10])}, outputs=2)
    for dtype in (np.float64, np.float16):
        x = np.abs(normal(*SQUARE, dtype=dtype)) + dtype(0.01)
        for operator in ("Exp", "Log", "Tanh", "Sigmoid", "Erf", "Sqrt", "Sin", "Floor", "Round", "Softplus", "Elu",
                         "Reciprocal"):  # fmt: skip
            yield case(f"{operator} {np.dtype(dtype).name}", operator, {"x": x})
        for operator, weights, attributes in (
            ("Softmax", {}, {"axis": -1}), ("LayerNormalization", {"s": np.ones(1024, dtype)}, {}),
            ("Pow", {"e": np.full((), 3, dtype)}, {}), ("Pow", {"e": np.full((), 1.7, dtype)}, {}),
            ("MatMul", {"w": normal(1024, 256, dtype=dtype)}, {}),
        ):  # fmt: skip
            number = f" {weights['e']}" if "e" in weights else ""
            yield case(f"{operator}{number} {np.dtype(dtype).name}", operator, {"x": x}, weights, **attributes)
    names = {np.float16: "FLOAT16", np.float32: "FLOAT", np.float64: "DOUBLE", np.int64: "INT64", np.int32: "INT32",
             np.uint8: "UINT8", np.int8: "INT8", np.bool_: "BOOL"}  # fmt: skip
    for dtype in names:
        x = booleans(*SQUARE) if dtype == np.bool_ else integers(0, 100, *SQUARE, dtype=dtype)
        for other, name in names.items():
            if other != dtype:
                yield case(f"Cast {np.dtype(dtype).name} {name}", "Cast", {"x": x}, to=getattr(TensorProto, name))
    yield case("Cast bf16", "Cast", {"x": normal(*SQUARE)}, to=TensorProto.BFLOAT16)
    yield case("Cast f8", "Cast", {"x": normal(*SQUARE)}, to=TensorProto.FLOAT8E4M3FN)


def reductions():
    x, image = normal(64, 128, 96), normal(8, 64, 28, 28)
    for name in REDUCTIONS:
        values = np.abs(x) + 0.1 if name == "LogSum" else x
        for axes in ([0], [1], [2]) if name in ("Sum", "Max", "LogSumExp", "L2") else ([2],):
            yield case(f"Reduce{name} {axes}", f"Reduce{name}", {"x": values}, {"a": np.array(axes)})
    for name in ("Sum", "Max", "Mean"):
        for axes in ([0, 1], [0, 2], [1, 2], [0, 1, 2]):
            yield case(f"Reduce{name} {axes}", f"Reduce{name}", {"x": x}, {"a": np.array(axes)})
        yield case(f"Reduce{name} of images", f"Reduce{name}", {"x": image}, {"a": np.array([2, 3])})
        yield case(f"Reduce{name} besides channels", f"Reduce{name}", {"x": image}, {"a": np.array([0, 2, 3])})
        yield case(f"Reduce{name} of 3", f"Reduce{name}", {"x": normal(50000, 3)}, {"a": np.array([1])})
        yield case(f"Reduce{name} of a vector", f"Reduce{name}", {"x": normal(1000000)}, {"a": np.array([0])})
    for operator in ("ArgMax", "ArgMin"):
        for axis in (0, 1, 2):
            yield case(f"{operator} {axis}", operator, {"x": x}, axis=axis)
        yield case(f"{operator} of a square", operator, {"x": normal(*SQUARE)}, axis=1)
        yield case(f"{operator} of a row", operator, {"x": normal(1, 50257)}, axis=1)
        yield case(f"{operator} of 3", operator, {"x": normal(100000, 3)}, axis=1)
        yield case(f"{operator} of classes", operator, {"x": normal(1, 21, 128, 128)}, axis=1)
    yield case("ArgMax last", "ArgMax", {"x": x}, axis=2, select_last_index=1)
    for axis in (0, 1, 2):
        yield case(f"CumSum {axis}", "CumSum", {"x": x}, {"a": np.array(axis)})
    yield case("CumSum 0 of a square", "CumSum", {"x": normal(1024, 1024)}, {"a": np.array(0)})
    yield case("CumSum 1 of a square", "CumSum", {"x": normal(1024, 1024)}, {"a": np.array(1)})
    yield case("CumSum exclusive", "CumSum", {"x": normal(1024, 1024)}, {"a": np.array(1)}, exclusive=1)
    yield case("CumSum reverse", "CumSum", {"x": normal(1024, 1024)}, {"a": np.array(1)}, reverse=1)
    yield case("CumSum of ids", "CumSum", {"x": integers(0, 2, 8, 512)}, {"a": np.array(1)})


def normalisations():
    image, rows = normal(1, 64, 56, 56), normal(*SQUARE)
    scales = {"s": normal(64), "b": normal(64)}
    yield case("BatchNormalization", "BatchNormalization", {"x": image},
               {**scales, "m": normal(64), "v": np.abs(normal(64))})  # fmt: skip
    yield case("InstanceNormalization", "InstanceNormalization", {"x": image}, scales)
    yield case("InstanceNormalization 1d", "InstanceNormalization", {"x": normal(8, 64, 1000)}, scales)
    yield case("GroupNormalization", "GroupNormalization", {"x": normal(2, 64, 32, 32)}, scales, num_groups=8, opset=21)
    yield case("LayerNormalization", "LayerNormalization", {"x": rows}, {"s": normal(1024), "b": normal(1024)})
    yield case("LayerNormalization of 2", "LayerNormalization", {"x": image}, {"s": normal(56, 56)}, axis=2)
    yield case("RMSNormalization", "RMSNormalization", {"x": rows}, {"s": normal(1024)}, opset=23)
    for axis in (0, 1):
        for p in (1, 2):
            yield case(f"LpNormalization {p} {axis}", "LpNormalization", {"x": rows}, axis=axis, p=p)
    yield case("MeanVarianceNormalization", "MeanVarianceNormalization", {"x": normal(4, 64, 28, 28)})
    yield case("LRN", "LRN", {"x": image}, size=5)
    for operator in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (0, 1, 2):
            yield case(f"{operator} {axis}", operator, {"x": normal(64, 128, 96)}, axis=axis)
        yield case(f"{operator} over channels", operator, {"x": normal(1, 21, 128, 128)}, axis=1)
        yield case(f"{operator} of classes", operator, {"x": normal(512, 1000)})
        yield case(f"{operator} of two", operator, {"x": normal(20000, 2)})
        yield case(f"{operator} of few rows", operator, {"x": normal(16, 32000)})
    yield case("Dropout", "Dropout", {"x": rows})


def pools():
    image, line, volume = normal(1, 64, 56, 56), normal(8, 64, 1000), normal(1, 16, 16, 28, 28)
    for operator in ("MaxPool", "AveragePool"):
        yield case(operator, operator, {"x": image}, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
        yield case(f"{operator} stride 1", operator, {"x": image}, kernel_shape=[3, 3], pads=[1] * 4)
        yield case(f"{operator} 2x2", operator, {"x": image}, kernel_shape=[2, 2], strides=[2, 2])
        yield case(f"{operator} 5x5", operator, {"x": image}, kernel_shape=[5, 5], pads=[2] * 4)
        yield case(f"{operator} 13x13", operator, {"x": normal(1, 64, 20, 20)}, kernel_shape=[13, 13], pads=[6] * 4)
        yield case(f"{operator} ceil", operator, {"x": normal(1, 64, 55, 55)}, kernel_shape=[3, 3], strides=[2, 2],
                   ceil_mode=1)  # fmt: skip
        yield case(f"{operator} dilated", operator, {"x": image}, kernel_shape=[3, 3], dilations=[2, 2], pads=[2] * 4)
        yield case(f"{operator} 1d", operator, {"x": line}, kernel_shape=[3], strides=[2], pads=[1, 1])
        yield case(f"{operator} 3d", operator, {"x": volume}, kernel_shape=[2, 2, 2], strides=[2, 2, 2])
        yield case(f"{operator} 3d stride 1", operator, {"x": volume}, kernel_shape=[3, 3, 3], pads=[1] * 6)
    yield case("MaxPool indices", "MaxPool", {"x": image}, outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    yield case("MaxPool u8", "MaxPool", {"x": integers(0, 255, 1, 64, 56, 56, dtype=np.uint8)}, kernel_shape=[3, 3],
               strides=[2, 2], pads=[1] * 4)  # fmt: skip
    places = np.arange(64 * 28 * 28).reshape(1, 64, 28, 28) * 4
    yield case("MaxUnpool", "MaxUnpool", {"x": normal(1, 64, 28, 28), "i": places},
               kernel_shape=[2, 2], strides=[2, 2])  # fmt: skip
    yield case("AveragePool with padding", "AveragePool", {"x": image}, kernel_shape=[3, 3], pads=[1] * 4,
               count_include_pad=1)  # fmt: skip
    yield case("LpPool", "LpPool", {"x": image}, kernel_shape=[3, 3], p=2)
    yield case("LpPool 1", "LpPool", {"x": image}, kernel_shape=[3, 3], strides=[2, 2], p=1)
    for operator in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield case(operator, operator, {"x": image})
        yield case(f"{operator} 7x7", operator, {"x": normal(1, 1024, 7, 7)})


def convolutions():
    def conv(name, x, w, operator="Conv", bias=False, **attributes):
        weights = {"w": normal(*w)}
        if bias:
            weights["b"] = normal(w[0])
        return case(f"{operator} {name}", operator, {"x": normal(*x)}, weights, **attributes)

    yield conv("1d", (1, 128, 1000), (128, 128, 5), pads=[2, 2])
    yield conv("1d stride 5", (1, 1, 16000), (512, 1, 10), strides=[5])
    yield conv("1d stride 2", (1, 512, 800), (512, 512, 3), strides=[2])
    yield conv("1d depthwise", (1, 512, 400), (512, 1, 31), group=512, pads=[15, 15])
    yield conv("1d dilated", (1, 64, 4000), (64, 64, 3), dilations=[8], pads=[8, 8])
    yield conv("1d, 16 groups", (1, 768, 99), (768, 48, 128), group=16, pads=[64, 64])
    yield conv("3d", (1, 16, 16, 28, 28), (32, 16, 3, 3, 3), pads=[1] * 6)
    yield conv("3d first", (1, 3, 8, 56, 56), (64, 3, 3, 7, 7), strides=[1, 2, 2], pads=[1, 3, 3] * 2)
    yield conv("3d 1x1", (1, 64, 8, 28, 28), (64, 64, 1, 1, 1))
    yield conv("3d depthwise", (1, 64, 8, 28, 28), (64, 1, 3, 3, 3), group=64, pads=[1] * 6)
    yield conv("dilated", (1, 64, 32, 32), (64, 64, 3, 3), dilations=[4, 4], pads=[4] * 4)
    yield conv("32 groups", (1, 256, 28, 28), (256, 8, 3, 3), group=32, pads=[1] * 4)
    yield conv("2 groups", (1, 96, 27, 27), (256, 48, 5, 5), group=2, pads=[2] * 4)
    yield conv("of 1", (1, 1, 224, 224), (32, 1, 3, 3), pads=[1] * 4)
    yield conv("of 3", (1, 3, 224, 224), (32, 3, 3, 3), strides=[2, 2], pads=[1] * 4)
    yield conv("to 3", (1, 64, 128, 128), (3, 64, 3, 3), pads=[1] * 4)
    yield conv("to 1", (1, 64, 112, 112), (1, 64, 1, 1))
    yield conv("9x9", (1, 3, 128, 128), (64, 3, 9, 9), pads=[4] * 4)
    yield conv("11x11", (1, 3, 224, 224), (64, 3, 11, 11), strides=[4, 4], pads=[2] * 4)
    yield conv("16x16 patches", (1, 3, 224, 224), (768, 3, 16, 16), strides=[16, 16])
    yield conv("1x7", (1, 128, 17, 17), (128, 128, 1, 7), pads=[0, 3, 0, 3])
    yield conv("7x1", (1, 128, 17, 17), (128, 128, 7, 1), pads=[3, 0, 3, 0])
    yield conv("odd", (1, 37, 29, 31), (53, 37, 3, 3), pads=[1] * 4)
    yield conv("5x5", (1, 64, 28, 28), (64, 64, 5, 5), pads=[2] * 4)
    yield conv("1x1", (1, 256, 28, 28), (512, 256, 1, 1))
    yield conv("1x1 stride 2", (1, 256, 56, 56), (512, 256, 1, 1), strides=[2, 2])
    yield conv("3x3 stride 2", (1, 64, 56, 56), (128, 64, 3, 3), strides=[2, 2], pads=[1] * 4)
    yield conv("3x3 512 7x7", (1, 512, 7, 7), (512, 512, 3, 3), pads=[1] * 4)
    yield conv("3x3 64 56x56", (1, 64, 56, 56), (64, 64, 3, 3), pads=[1] * 4)
    yield conv("3x3 of 8", (8, 64, 28, 28), (64, 64, 3, 3), pads=[1] * 4)
    yield conv("depthwise", (1, 144, 56, 56), (144, 1, 3, 3), group=144, pads=[1] * 4)
    yield conv("depthwise stride 2", (1, 144, 56, 56), (144, 1, 3, 3), group=144, pads=[1] * 4, strides=[2, 2])
    yield conv("depthwise 7x7", (1, 96, 56, 56), (96, 1, 7, 7), group=96, pads=[3] * 4)
    yield conv("depthwise dilated", (1, 96, 28, 28), (96, 1, 3, 3), group=96, dilations=[2, 2], pads=[2] * 4)
    yield conv("depthwise times 2", (1, 64, 28, 28), (128, 1, 3, 3), group=64, pads=[1] * 4)
    yield case("Conv, W given", "Conv", {"x": normal(1, 64, 28, 28), "w": normal(64, 64, 3, 3)}, pads=[1] * 4)
    for size in (2, 3, 4):
        yield conv(f"{size}x{size}", (1, 64, 28, 28), (64, 64, size, size), "ConvTranspose", strides=[2, 2],
                   pads=[size // 4] * 4)  # fmt: skip
    yield conv("stride 1", (1, 64, 28, 28), (64, 64, 3, 3), "ConvTranspose", pads=[1] * 4)
    yield conv("1d", (1, 128, 400), (128, 64, 16), "ConvTranspose", strides=[8], pads=[4, 4])
    yield conv("3d", (1, 32, 8, 14, 14), (32, 32, 2, 2, 2), "ConvTranspose", strides=[2, 2, 2])
    yield conv("4 groups", (1, 64, 28, 28), (64, 16, 4, 4), "ConvTranspose", strides=[2, 2], pads=[1] * 4, group=4)
    yield conv("depthwise", (1, 64, 28, 28), (64, 1, 4, 4), "ConvTranspose", strides=[2, 2], pads=[1] * 4, group=64)
    yield conv("to 1", (1, 64, 56, 56), (64, 1, 4, 4), "ConvTranspose", strides=[2, 2], pads=[1] * 4)
    yield case("ConvInteger", "ConvInteger", {"x": integers(0, 255, 1, 64, 28, 28, dtype=np.uint8)},
               {"w": integers(0, 255, 64, 64, 3, 3, dtype=np.uint8)}, pads=[1] * 4)  # fmt: skip
    yield case("DeformConv", "DeformConv",
               {"x": normal(1, 32, 28, 28), "w": normal(32, 32, 3, 3), "o": normal(1, 18, 28, 28)},
               pads=[1] * 4)  # fmt: skip


def products():
    yield case("Gemm", "Gemm", {"x": normal(128, 512)}, {"w": normal(512, 512), "b": normal(512)})
    yield case("Gemm of a row", "Gemm", {"x": normal(1, 2048)}, {"w": normal(1000, 2048), "b": normal(1000)}, transB=1)
    yield case("Gemm transA", "Gemm", {"x": normal(512, 256), "y": normal(512, 256)}, transA=1)
    yield case("Gemm transA transB", "Gemm", {"x": normal(512, 256), "y": normal(256, 512)}, transA=1, transB=1)
    yield case("Gemm alpha beta", "Gemm", {"x": normal(256, 256), "y": normal(256, 256), "c": normal(256, 256)},
               alpha=0.5, beta=2.0)  # fmt: skip
    for name, x, y in (
        ("128", (128, 128), (128, 128)), ("of batches", (12, 128, 64), (12, 64, 128)),
        ("broadcast", (4, 1, 128, 64), (1, 8, 64, 128)), ("of one matrix", (8, 128, 256), (256, 256)),
        ("vector matrix", (1024,), (1024, 1024)), ("matrix vector", (1024, 1024), (1024,)),
        ("thin", (1024, 8), (8, 1024)), ("deep", (8, 4096), (4096, 8)), ("odd", (101, 203), (203, 57)),
        ("of 4x4", (1000, 4, 4), (1000, 4, 4)), ("of vectors", (1000, 1, 64), (1000, 64, 1)),
    ):  # fmt: skip
        yield case(f"MatMul {name}", "MatMul", {"x": normal(*x), "y": normal(*y)})
    yield case(
        "MatMul f64", "MatMul", {"x": normal(256, 256, dtype=np.float64), "y": normal(256, 256, dtype=np.float64)}
    )
    for dtype in (np.int32, np.int64):
        yield case(f"MatMul {np.dtype(dtype).name}", "MatMul", {"x": integers(0, 10, 128, 256, dtype=dtype),
                                                                "y": integers(0, 10, 256, 128, dtype=dtype)}
                   )  # fmt: skip
    yield case("MatMulInteger", "MatMulInteger", {"x": integers(0, 255, 128, 512, dtype=np.uint8)},
               {"w": integers(-127, 127, 512, 512, dtype=np.int8)})  # fmt: skip
    for equation, *shapes in (
        ("bhid,bhjd->bhij", (2, 8, 128, 64), (2, 8, 128, 64)), ("bhij,bhjd->bhid", (2, 8, 128, 128), (2, 8, 128, 64)),
        ("bij,bjk->bik", (8, 128, 128), (8, 128, 128)), ("bnd,dhk->bnhk", (2, 128, 256), (256, 8, 32)),
        ("bnhk,hkd->bnd", (2, 128, 8, 32), (8, 32, 256)), ("ij->ji", (512, 512)), ("ij->i", (512, 512)),
        ("ii->i", (512, 512)), ("i,j->ij", (1024,), (1024,)), ("bchw,hkc->bkhw", (2, 64, 28, 28), (28, 28, 64)),
        ("bi,bj->bij", (64, 128), (64, 128)), ("ij,ij->", (512, 512), (512, 512)),
        ("nctkv,kvw->nctw", (2, 16, 32, 3, 25), (3, 25, 25)),
    ):  # fmt: skip
        feeds = {f"x{i}": normal(*shape) for i, shape in enumerate(shapes)}
        yield case(f"Einsum {equation}", "Einsum", feeds, equation=equation)
    yield case("Det", "Det", {"x": normal(100, 16, 16)})
    yield case("Attention", "Attention", {n: normal(1, 12, 256, 64) for n in "qkv"}, opset=23)
    yield case("RotaryEmbedding", "RotaryEmbedding", {"x": normal(1, 16, 256, 64)},
               {"c": normal(256, 32), "s": normal(256, 32), "i": np.arange(256).reshape(1, 256)}, opset=23)  # fmt: skip


def images():
    image, points = normal(1, 64, 56, 56), RNG.uniform(-1, 1, (1, 56, 56, 2)).astype(np.float32)

    def resize(name, scales, x=image, **attributes):
        return case(f"Resize {name}", "Resize", {"x": x}, {"r": None, "s": np.array(scales, np.float32)}, **attributes)

    for mode in ("linear", "cubic", "nearest"):
        yield resize(mode, [1, 1, 2, 2], mode=mode)
        yield resize(f"{mode} by 1.7", [1, 1, 1.7, 1.7], mode=mode)
        yield resize(f"{mode} down", [1, 1, 0.5, 0.5], mode=mode)
    for how in ("align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel"):
        yield resize(f"linear {how}", [1, 1, 2, 2], mode="linear", coordinate_transformation_mode=how)
    yield resize("nearest asymmetric floor", [1, 1, 2, 2], mode="nearest", coordinate_transformation_mode="asymmetric",
                 nearest_mode="floor")  # fmt: skip
    yield resize("nearest of 13x13", [1, 1, 2, 2], normal(1, 256, 13, 13), mode="nearest",
                 coordinate_transformation_mode="asymmetric", nearest_mode="floor")  # fmt: skip
    yield resize("linear antialias", [1, 1, 0.5, 0.5], mode="linear", antialias=1)
    yield resize("cubic antialias", [1, 1, 0.4, 0.4], mode="cubic", antialias=1)
    yield resize("linear by 8", [1, 1, 8, 8], normal(1, 21, 32, 32), mode="linear")
    yield resize("linear 3d", [1, 1, 2, 2, 2], normal(1, 8, 16, 28, 28), mode="linear")
    yield resize("nearest 3d", [1, 1, 2, 2, 2], normal(1, 8, 16, 28, 28), mode="nearest")
    yield resize("linear 1d", [1, 1, 2], normal(1, 64, 1000), mode="linear")
    yield resize("linear channels last", [1, 2, 2, 1], normal(1, 56, 56, 64), mode="linear")
    yield resize("nearest u8", [1, 1, 2, 2], integers(0, 255, 1, 3, 224, 224, dtype=np.uint8), mode="nearest")
    yield resize("linear u8", [1, 1, 2, 2], integers(0, 255, 1, 3, 224, 224, dtype=np.uint8), mode="linear")
    for mode in ("linear", "cubic", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            yield case(f"GridSample {mode} {padding}", "GridSample", {"x": image, "g": points}, mode=mode,
                       padding_mode=padding)  # fmt: skip
    volume = RNG.uniform(-1, 1, (1, 16, 28, 28, 3)).astype(np.float32)
    yield case("GridSample 3d", "GridSample", {"x": normal(1, 8, 16, 28, 28), "g": volume},
               mode="linear")  # fmt: skip
    yield case("AffineGrid", "AffineGrid", {"t": normal(4, 2, 3)}, {"s": np.array([4, 3, 224, 224])})
    boxes = np.sort(RNG.random((1, 1000, 4)).astype(np.float32), axis=-1)
    for classes, count in ((4, 1000), (1, 1000), (80, 300)):
        yield case(f"NonMaxSuppression {classes} {count}", "NonMaxSuppression",
                   {"b": boxes[:, :count], "s": RNG.random((1, classes, count), np.float32)},
                   {"m": np.array([100]), "i": np.array([0.5], np.float32),
                    "t": np.array([0.1], np.float32)})  # fmt: skip
    for mode in ("avg", "max"):
        yield case(f"RoiAlign {mode}", "RoiAlign",
                   {"x": normal(1, 256, 50, 50), "r": boxes[0, :100] * 50, "i": np.zeros(100, np.int64)},
                   output_height=7, output_width=7, sampling_ratio=2, mode=mode)  # fmt: skip
    yield case("RoiAlign adaptive", "RoiAlign",
               {"x": normal(1, 256, 50, 50), "r": boxes[0, :100] * 50, "i": np.zeros(100, np.int64)},
               output_height=7, output_width=7)  # fmt: skip
    yield case("MaxRoiPool", "MaxRoiPool", {"x": normal(1, 64, 50, 50),
               "r": np.concatenate([np.zeros((100, 1), np.float32), np.floor(boxes[0, :100] * 50)], 1)},
               pooled_shape=[7, 7])  # fmt: skip
    yield case("CenterCropPad", "CenterCropPad", {"x": normal(3, 256, 256)}, {"s": np.array([224, 224])}, axes=[1, 2])
    yield case("DepthToSpace", "DepthToSpace", {"x": image}, blocksize=2)
    yield case("DepthToSpace CRD", "DepthToSpace", {"x": normal(1, 36, 100, 100)}, blocksize=3, mode="CRD")
    yield case("SpaceToDepth", "SpaceToDepth", {"x": image}, blocksize=2)
    yield case("SpaceToDepth 4", "SpaceToDepth", {"x": normal(1, 3, 224, 224)}, blocksize=4)
    yield case("Col2Im", "Col2Im", {"x": normal(1, 64 * 9, 28 * 28)}, {"s": np.array([30, 30]), "k": np.array([3, 3])})
    yield case("Col2Im stride 2", "Col2Im", {"x": normal(1, 64 * 16, 28 * 28)},
               {"s": np.array([56, 56]), "k": np.array([4, 4])}, strides=[2, 2], pads=[1] * 4)  # fmt: skip
    yield case("Col2Im patches", "Col2Im", {"x": normal(1, 3 * 256, 196)},
               {"s": np.array([224, 224]), "k": np.array([16, 16])}, strides=[16, 16])  # fmt: skip


def copies():
    image = normal(1, 64, 56, 56)
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield case(f"Pad {mode}", "Pad", {"x": image}, {"p": np.array([0, 0, 3, 3, 0, 0, 3, 3])}, mode=mode)
        yield case(f"Pad {mode} of rows", "Pad", {"x": normal(*SQUARE)}, {"p": np.array([0, 7, 0, 5])}, mode=mode)
    yield case("Pad of channels", "Pad", {"x": image}, {"p": np.array([0, 0, 0, 0, 0, 64, 0, 0])})
    yield case("Pad crops", "Pad", {"x": image}, {"p": np.array([0, 0, -3, -3, 0, 0, -3, -3])})
    yield case("Pad u8", "Pad", {"x": integers(0, 255, 3, 224, 224, dtype=np.uint8)}, {"p": np.array([0, 8, 8] * 2)})
    yield case("Expand", "Expand", {"x": normal(1024, 1)}, {"s": np.array([1024, 1024])})
    yield case("Expand of rows", "Expand", {"x": normal(1, 1024)}, {"s": np.array([1024, 1024])})
    yield case("Expand of the middle", "Expand", {"x": normal(1, 8, 1, 256, 64)}, {"s": np.array([1, 8, 4, 256, 64])})
    yield case("Expand bool", "Expand", {"x": booleans(1, 1, 512, 512)}, {"s": np.array([1, 12, 512, 512])})
    yield case("Tile", "Tile", {"x": normal(128, 256)}, {"r": np.array([8, 4])})
    yield case("Tile of odd", "Tile", {"x": normal(100, 7)}, {"r": np.array([3, 50])})
    yield case("Tile of numbers", "Tile", {"x": normal(1000, 1)}, {"r": np.array([1, 100])})
    for name, x, y, axis in (("", (512, 512), (512, 512), 1), (" 0", (512, 512), (512, 512), 0),
                             (" odd", (1000, 37), (1000, 21), 1), (" channels", (1, 64, 28, 28), (1, 32, 28, 28), 1),
                             (" of one", (10000, 3), (10000, 1), 1),
                             (" of numbers", (100000, 1), (100000, 1), 1)):  # fmt: skip
        yield case(f"Concat{name}", "Concat", {"x": normal(*x), "y": normal(*y)}, axis=axis)
    yield case("Concat of 8", "Concat", {f"x{i}": normal(64, 49, 32) for i in range(8)}, axis=2)
    yield case("Concat i64", "Concat", {"x": integers(0, 9, 1000, 100), "y": integers(0, 9, 1000, 100)}, axis=1)
    yield case("Split", "Split", {"x": normal(*SQUARE)}, outputs=2, num_outputs=2, axis=1)
    yield case("Split of 3", "Split", {"x": normal(128, 2304)}, outputs=3, num_outputs=3, axis=1)
    yield case("Split odd", "Split", {"x": normal(1000, 58)}, {"s": np.array([37, 21])}, outputs=2, axis=1)
    yield case("Split 0", "Split", {"x": normal(*SQUARE)}, outputs=4, num_outputs=4, axis=0)
    for name, x, starts, ends, axes, steps in (
        ("", SQUARE, [0], [512], [1], [1]), (" 0", SQUARE, [100], [400], [0], [1]),
        (" by 2", SQUARE, [0], [1024], [1], [2]),
        (" rows by 2", SQUARE, [0], [512], [0], [2]), (" reversed", SQUARE, [-1], [-2000], [1], [-1]),
        (" rows reversed", SQUARE, [-1], [-2000], [0], [-1]),
        (" of images by 2", (1, 64, 56, 56), [0, 0], [56, 56], [2, 3], [2, 2]),
        (" by 3", SQUARE, [1], [1024], [1], [3]), (" window", (1, 64, 56, 56), [3, 3], [50, 50], [2, 3], [1, 1]),
        (" last", (1000, 85), [4], [5], [1], [1]),
    ):  # fmt: skip
        yield case(f"Slice{name}", "Slice", {"x": normal(*x)},
                   {"s": np.array(starts), "e": np.array(ends), "a": np.array(axes), "t": np.array(steps)})  # fmt: skip
    for name, shape, perm in (
        ("10", (1024, 1024), (1, 0)), ("0321", (8, 64, 32, 32), (0, 3, 2, 1)), ("0213", (2, 512, 12, 64), (0, 2, 1, 3)),
        ("0231", (1, 64, 56, 56), (0, 2, 3, 1)), ("0312", (1, 56, 56, 64), (0, 3, 1, 2)),
        ("021", (12, 512, 64), (0, 2, 1)),
        ("102", (128, 128, 64), (1, 0, 2)), ("210", (64, 96, 128), (2, 1, 0)), ("120", (64, 96, 128), (1, 2, 0)),
        ("201", (64, 96, 128), (2, 0, 1)), ("024135", (1, 8, 7, 8, 7, 96), (0, 1, 3, 2, 4, 5)),
        ("20314", (2, 196, 3, 8, 32), (2, 0, 3, 1, 4)),
        ("of 2", (2, 100003), (1, 0)), ("images", (224, 224, 3), (2, 0, 1)), ("to images", (3, 224, 224), (1, 2, 0)),
        ("odd", (333, 777), (1, 0)),
        ("shuffle", (1, 4, 60, 28, 28), (0, 2, 1, 3, 4)),
    ):  # fmt: skip
        yield case(f"Transpose {name}", "Transpose", {"x": normal(*shape)}, perm=list(perm))
    yield case("Trilu", "Trilu", {"x": normal(1024, 1024)})
    yield case("Trilu lower", "Trilu", {"x": normal(1024, 1024)}, upper=0)
    yield case("EyeLike", "EyeLike", {"x": normal(1024, 1024)})
    yield case("ConstantOfShape", "ConstantOfShape", {"x": np.array([512, 1024])})
    yield case("Range", "Range", {"a": np.array(0), "b": np.array(100000), "c": np.array(1)})
    yield case("Reshape", "Reshape", {"x": normal(*SQUARE)}, {"s": np.array([1024, 512])})
    yield case("Identity", "Identity", {"x": normal(*SQUARE)})
    yield case("ReverseSequence", "ReverseSequence", {"x": normal(100, 32, 64), "s": integers(1, 100, 32)})


def gathers():
    yield case("Gather", "Gather", {"x": normal(10000, 256), "i": integers(0, 10000, 1024)})
    yield case("Gather 1", "Gather", {"x": normal(512, 1000), "i": integers(0, 1000, 300)}, axis=1)
    yield case("Gather of one", "Gather", {"x": normal(64, 197, 768)}, {"i": np.array(0)}, axis=1)
    yield case("Gather i32", "Gather", {"x": normal(1000, 64), "i": integers(0, 1000, 64, 64, dtype=np.int32)})
    yield case("Gather of numbers", "Gather", {"x": normal(1000), "i": integers(0, 1000, 100000)})
    yield case("GatherND", "GatherND", {"x": normal(100, 100, 64), "i": integers(0, 100, 5000, 2)})
    yield case("GatherND of numbers", "GatherND", {"x": normal(100, 100, 64), "i": integers(0, 64, 50000, 3)})
    yield case(
        "GatherND batch", "GatherND", {"x": normal(8, 1000, 64), "i": integers(0, 1000, 8, 300, 1)}, batch_dims=1
    )
    for axis in (0, 1):
        yield case(f"GatherElements {axis}", "GatherElements",
                   {"x": normal(1024, 512), "i": integers(0, 512, 1024, 256)}, axis=axis)  # fmt: skip
        for reduction in ("none", "add", "mul", "max", "min"):
            yield case(f"ScatterElements {axis} {reduction}", "ScatterElements",
                       {"x": normal(1024, 512), "i": integers(0, 512, 1024, 128), "u": normal(1024, 128)},
                       axis=axis, reduction=reduction)  # fmt: skip
    indices = RNG.permutation(10000)[:5000].reshape(-1, 1)
    for reduction in ("none", "add", "mul", "max"):
        yield case(f"ScatterND {reduction}", "ScatterND", {"x": normal(10000, 64), "i": indices, "u": normal(5000, 64)},
                   reduction=reduction)  # fmt: skip
    yield case(
        "ScatterND of numbers",
        "ScatterND",
        {"x": normal(1000, 1000), "i": integers(0, 1000, 50000, 2), "u": normal(50000)},
    )
    for axis in (-1, 0):
        yield case(f"OneHot {axis}", "OneHot", {"i": integers(0, 1000, 2000)},
                   {"d": np.array(1000), "v": np.array([0, 1], np.float32)}, axis=axis)  # fmt: skip
    yield case("NonZero", "NonZero", {"x": integers(0, 2, 1000, 1000, dtype=np.float32)})
    yield case("NonZero bool", "NonZero", {"x": booleans(1000, 1000)})
    yield case("NonZero sparse", "NonZero", {"x": RNG.random((1000, 1000)) > 0.99})
    yield case("Compress", "Compress", {"x": normal(1000, 512), "c": booleans(1000)}, axis=0)
    yield case("Compress 1", "Compress", {"x": normal(1000, 512), "c": booleans(512)}, axis=1)
    yield case("Compress of all", "Compress", {"x": normal(1000, 512), "c": booleans(512000)})


def sorts():
    for count, k in ((10000, 50), (100000, 1000), (1000, 5), (1000, 1000), (8400, 300)):
        yield case(f"TopK {k} of {count}", "TopK", {"x": normal(16, count)}, {"k": np.array([k])}, outputs=2)
    for dtype in (np.float16, np.int64):
        for k in (1, 5, 50):
            yield case(f"TopK {k} of 10000 {np.dtype(dtype).name}", "TopK",
                       {"x": (100 * normal(16, 10000)).astype(dtype)}, {"k": np.array([k])}, outputs=2)  # fmt: skip
    yield case("TopK smallest", "TopK", {"x": normal(16, 10000)}, {"k": np.array([50])}, outputs=2, largest=0)
    yield case("TopK unsorted", "TopK", {"x": normal(16, 10000)}, {"k": np.array([500])}, outputs=2, sorted=0)
    yield case("TopK 0", "TopK", {"x": normal(1000, 256)}, {"k": np.array([10])}, outputs=2, axis=0)
    yield case("TopK 1 of 8", "TopK", {"x": normal(4096, 8)}, {"k": np.array([2])}, outputs=2)
    yield case("TopK of a row", "TopK", {"x": normal(1, 50257)}, {"k": np.array([50])}, outputs=2)
    yield case("Unique", "Unique", {"x": integers(0, 1000, 20000)})
    yield case("Unique of all", "Unique", {"x": integers(0, 1000, 20000)}, outputs=4)
    yield case("Unique unsorted", "Unique", {"x": integers(0, 1000, 20000)}, outputs=3, sorted=0)
    yield case("Unique f32", "Unique", {"x": normal(20000)})
    yield case("Unique of rows", "Unique", {"x": integers(0, 3, 2000, 4)}, axis=0)


def recurrences():
    for operator, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction in ("forward", "bidirectional", "reverse"):
            ways = 2 if direction == "bidirectional" else 1
            for batch in (1, 8):
                yield case(f"{operator} {direction} {batch}", operator, {"x": normal(50, batch, 128)},
                           {"w": normal(ways, gates * 128, 128) / 8, "r": normal(ways, gates * 128, 128) / 8,
                            "b": normal(ways, gates * 256)},
                           hidden_size=128, direction=direction)  # fmt: skip
    yield case("LSTM long", "LSTM", {"x": normal(500, 1, 64)},
               {"w": normal(1, 256, 64) / 8, "r": normal(1, 256, 64) / 8}, hidden_size=64)  # fmt: skip
    yield case("GRU after reset", "GRU", {"x": normal(50, 4, 128)},
               {"w": normal(1, 384, 128) / 8, "r": normal(1, 384, 128) / 8, "b": normal(1, 768)}, hidden_size=128,
               linear_before_reset=1)  # fmt: skip


def signals():
    for length, width in ((512, 1), (400, 2), (1000, 1), (509, 1)):
        yield case(f"DFT {length} {width}", "DFT", {"x": normal(100, length, width)}, {"l": None, "a": np.array(1)})
    yield case("DFT onesided", "DFT", {"x": normal(100, 512, 1)}, {"l": None, "a": np.array(1)}, onesided=1)
    yield case("DFT inverse", "DFT", {"x": normal(100, 512, 2)}, {"l": None, "a": np.array(1)}, inverse=1)
    yield case(
        "STFT",
        "STFT",
        {"x": normal(1, 16000, 1)},
        {"s": np.array(160), "w": np.hanning(400).astype(np.float32)},
        onesided=1,
    )
    yield case(
        "STFT 512",
        "STFT",
        {"x": normal(1, 16000, 1)},
        {"s": np.array(128), "w": np.hanning(512).astype(np.float32)},
        onesided=1,
    )
    for operator in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield case(operator, operator, {"n": np.array(16000)})
    yield case("MelWeightMatrix", "MelWeightMatrix", {"b": np.array(80), "d": np.array(1024), "r": np.array(16000),
                                                     "l": np.float32(20), "u": np.float32(8000)})  # fmt: skip


def forest(count, depth, tests, least=None, **more):
    """The attributes of `count` trees with splits of `tests` normal features. Levels from `least` (`depth`) to `depth`
    split with a probability of a half. Leaves have a weight for each of `targets` (1), or, with `of_one`, for one."""
    targets, of_one, prefix = more.pop("targets", 1), more.pop("of_one", False), more.pop("prefix", "target")
    nodes = {key: [] for key in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")}
    votes = {key: [] for key in ("treeids", "nodeids", "ids", "weights")}

    def grow(tree, level, at):
        inner = level < (depth if least is None else least) or (level < depth and RNG.random() < 0.5)
        for key, value in zip(nodes, (tree, at, int(RNG.integers(tests)), float(RNG.standard_normal()),
                                      "BRANCH_LEQ" if inner else "LEAF", 0, 0)):  # fmt: skip
            nodes[key].append(value)
        place = len(nodes["nodeids"]) - 1
        if inner:
            nodes["truenodeids"][place] = at + 1
            after = grow(tree, level + 1, at + 1)
            nodes["falsenodeids"][place] = after
            return grow(tree, level + 1, after)
        for target in [tree % targets] if of_one else range(targets):
            for key, value in zip(votes, (tree, at, target, float(RNG.random()))):
                votes[key].append(value)
        return at + 1

    for tree in range(count):
        grow(tree, 0, 0)
    return {**{f"nodes_{key}": values for key, values in nodes.items()},
            **{f"{prefix}_{key}": values for key, values in votes.items()}, "domain": "ai.onnx.ml", **more}  # fmt: skip


def trees():
    boosted = forest(100, 6, 30, n_targets=1)
    classes = dict(targets=10, prefix="class", classlabels_int64s=list(range(10)))
    voting, many = forest(100, 14, 30, least=4, **classes), forest(500, 5, 30, of_one=True, **classes)
    tracks = RNG.integers(0, 2, len(boosted["nodes_modes"])).tolist()
    missing = {**boosted, "nodes_missing_value_tracks_true": tracks}
    for rows in (1, 16, 1000):
        x = {"x": normal(rows, 30)}
        yield case(f"TreeEnsembleRegressor {rows}", "TreeEnsembleRegressor", x, **boosted)
        yield case(f"TreeEnsembleRegressor {rows} missing", "TreeEnsembleRegressor", x, **missing)
        yield case(f"TreeEnsembleClassifier {rows}", "TreeEnsembleClassifier", x, outputs=2, **voting)
        yield case(f"TreeEnsembleClassifier {rows} boosted", "TreeEnsembleClassifier", x, outputs=2,
                   post_transform="SOFTMAX", **many)  # fmt: skip


def features():
    ml = {"domain": "ai.onnx.ml"}
    coefficients = {"coefficients": normal(10 * 30).tolist(), "intercepts": normal(10).tolist(), **ml}
    vectors = {"kernel_type": "RBF", "kernel_params": [0.05, 0.0, 3.0], **ml}
    vectors["support_vectors"] = normal(500 * 30).tolist()
    for rows in (1, 1000):
        x = {"x": normal(rows, 30)}
        yield case(f"LinearRegressor {rows}", "LinearRegressor", x, targets=10, **coefficients)
        yield case(f"LinearClassifier {rows}", "LinearClassifier", x, outputs=2, post_transform="SOFTMAX",
                   classlabels_ints=list(range(10)), multi_class=1, **coefficients)  # fmt: skip
        yield case(f"SVMRegressor {rows}", "SVMRegressor", x, coefficients=normal(500).tolist(), n_supports=500,
                   rho=[0.1], **vectors)  # fmt: skip
        yield case(f"SVMClassifier {rows}", "SVMClassifier", x, outputs=2, coefficients=normal(2 * 500).tolist(),
                   vectors_per_class=[200, 200, 100], rho=normal(3).tolist(), classlabels_ints=[0, 1, 2],
                   **vectors)  # fmt: skip
        yield case(f"Scaler {rows}", "Scaler", x, offset=normal(30).tolist(), scale=normal(30).tolist(), **ml)
        yield case(f"Imputer {rows}", "Imputer", x, imputed_value_floats=normal(30).tolist(), **ml)
        for norm in ("MAX", "L1", "L2"):
            yield case(f"Normalizer {norm} {rows}", "Normalizer", x, norm=norm, **ml)
        yield case(f"Binarizer {rows}", "Binarizer", x, threshold=0.0, **ml)
        ids = {"x": integers(0, 100, rows, 4)}
        yield case(f"OneHotEncoder {rows}", "OneHotEncoder", ids, cats_int64s=list(range(100)), zeros=1, **ml)
        yield case(f"LabelEncoder {rows}", "LabelEncoder", ids, keys_int64s=list(range(100)),
                   values_floats=normal(100).tolist(), **ml)  # fmt: skip
        yield case(f"ArrayFeatureExtractor {rows}", "ArrayFeatureExtractor", {**x, "y": np.array([3, 1, 20])}, **ml)
        yield case(f"FeatureVectorizer {rows}", "FeatureVectorizer", {**x, "y": normal(rows, 3)},
                   inputdimensions=[30, 3], **ml)  # fmt: skip
        pool = [*range(100), *(word for i in range(50) for word in (2 * i, i))]
        words = {"ngram_counts": [0, 100], "ngram_indexes": list(range(150)), "pool_int64s": pool}
        yield case(f"TfIdfVectorizer {rows}", "TfIdfVectorizer", {"x": integers(0, 100, rows, 50)}, mode="TF",
                   min_gram_length=1, max_gram_length=2, max_skip_count=0, **words)  # fmt: skip
