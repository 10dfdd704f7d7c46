#!/usr/bin/env python3
"""Times single operators beside ONNX Runtime, with one thread, and prints those that lose most last.

    python bench/operators.py [NAME ...]      the cases whose name has one of these in it (all)

To find what was never looked at: a ratio is of the shortest of a few runs, and says no more than that. What networks
are made of is in `./dev bench`.
"""

import os
import sys
import time

import numpy as np
import onnxruntime
import strata
from onnx import TensorProto, helper, numpy_helper, shape_inference

RNG = np.random.default_rng(0)
UNARY = ["Exp", "Log", "Tanh", "Sigmoid", "Erf", "Sqrt", "Sin", "Cos", "Tan", "Atan", "Asin", "Acos", "Sinh",
         "Cosh", "Asinh", "Acosh", "Atanh", "Softplus", "Mish", "Gelu", "HardSwish", "Elu", "Selu", "Celu", "Floor",
         "Round", "Sign", "Reciprocal"]  # fmt: skip


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def integers(low, high, *shape, dtype=np.int64):
    return RNG.integers(low, high, shape).astype(dtype)


def cases():
    """(name, operator, inputs of each run, weights (None: left out), number of outputs, attributes)."""
    image, square = normal(1, 64, 56, 56), (512, 1024)
    points = RNG.uniform(-1, 1, (1, 56, 56, 2)).astype(np.float32)
    twice = {"r": None, "s": np.array([1, 1, 2, 2], np.float32)}
    border = {"p": np.array([0, 0, 3, 3, 0, 0, 3, 3])}
    boxes = np.sort(RNG.random((1, 1000, 4)).astype(np.float32), axis=-1)
    whole = integers(-1000, 1000, *square), integers(1, 100, *square)

    def case(name, operator, feeds, weights=None, outputs=1, **attributes):
        return name, operator, feeds, weights or {}, outputs, attributes

    for operator in UNARY:
        x = np.abs(normal(*square)) + 0.01 + (operator == "Acosh")
        yield case(operator, operator, {"x": np.clip(x, 0, 0.99) if operator in ("Asin", "Acos", "Atanh") else x})
    for mode in ("linear", "cubic", "nearest"):
        yield case(f"Resize {mode}", "Resize", {"x": image}, twice, mode=mode)
    for mode in ("linear", "cubic"):
        yield case(f"GridSample {mode}", "GridSample", {"x": image, "g": points}, mode=mode)
    for mode in ("constant", "reflect"):
        yield case(f"Pad {mode}", "Pad", {"x": image}, border, mode=mode)
    for axis in (0, 1):
        yield case(f"CumSum {axis}", "CumSum", {"x": normal(1024, 1024)}, {"a": np.array(axis)})
        yield case(f"ArgMax {axis}", "ArgMax", {"x": normal(1024, 1000)}, axis=axis)
    for count, k in ((10000, 50), (100000, 1000)):
        yield case(f"TopK {k} of {count}", "TopK", {"x": normal(16, count)}, {"k": np.array([k])}, outputs=2)
    for size in (2, 4):
        yield case(f"ConvTranspose {size}x{size}", "ConvTranspose", {"x": normal(1, 64, 28, 28)},
                   {"w": normal(64, 64, size, size)}, strides=[2, 2], pads=[size // 4] * 4)  # fmt: skip
    yield case("Conv 1d", "Conv", {"x": normal(1, 128, 1000)}, {"w": normal(128, 128, 5)}, pads=[2, 2])
    yield case("Conv 3d", "Conv", {"x": normal(1, 16, 16, 28, 28)}, {"w": normal(32, 16, 3, 3, 3)}, pads=[1] * 6)
    yield case("Conv, W given", "Conv", {"x": normal(1, 64, 28, 28), "w": normal(64, 64, 3, 3)}, pads=[1] * 4)
    yield case("DeformConv", "DeformConv",
               {"x": normal(1, 32, 28, 28), "w": normal(32, 32, 3, 3), "o": normal(1, 18, 28, 28)},
               pads=[1] * 4)  # fmt: skip
    yield case("MaxPool", "MaxPool", {"x": image}, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    yield case("AveragePool", "AveragePool", {"x": image}, kernel_shape=[3, 3], pads=[1] * 4)
    yield case("LpPool", "LpPool", {"x": image}, kernel_shape=[3, 3], p=2)
    yield case("LRN", "LRN", {"x": image}, size=5)
    yield case("GlobalAveragePool", "GlobalAveragePool", {"x": image})
    yield case("InstanceNormalization", "InstanceNormalization", {"x": image}, {"s": normal(64), "b": normal(64)})
    yield case("Softmax over channels", "Softmax", {"x": image}, axis=1)
    yield case("LogSoftmax", "LogSoftmax", {"x": normal(512, 1000)})
    yield case("ReduceMax of two axes", "ReduceMax", {"x": normal(64, 128, 64)}, {"a": np.array([0, 2])})
    yield case("ReduceL2", "ReduceL2", {"x": normal(64, 128, 64)}, {"a": np.array([1])})
    yield case("ReduceProd", "ReduceProd", {"x": normal(1024, 512)}, {"a": np.array([1])})
    yield case("ReduceLogSumExp", "ReduceLogSumExp", {"x": normal(1024, 512)}, {"a": np.array([1])})
    yield case("Einsum", "Einsum", {"x": normal(2, 8, 128, 64), "y": normal(2, 8, 128, 64)},
               equation="bhid,bhjd->bhij")  # fmt: skip
    yield case("MatMul f64", "MatMul", {"x": RNG.standard_normal((256, 256)), "y": RNG.standard_normal((256, 256))})
    yield case("MatMul i32", "MatMul", {"x": integers(0, 10, 128, 256, dtype=np.int32),
                                        "y": integers(0, 10, 256, 128, dtype=np.int32)})  # fmt: skip
    yield case("MatMulInteger", "MatMulInteger", {"x": integers(0, 255, 128, 512, dtype=np.uint8)},
               {"w": integers(-127, 127, 512, 512, dtype=np.int8)})  # fmt: skip
    yield case("Gemm transA", "Gemm", {"x": normal(512, 256), "y": normal(512, 256)}, transA=1)
    yield case("ScatterElements", "ScatterElements",
               {"x": normal(1024, 512), "i": integers(0, 512, 1024, 128), "u": normal(1024, 128)}, axis=1)  # fmt: skip
    yield case("ScatterND", "ScatterND", {"x": normal(10000, 64), "i": RNG.permutation(10000)[:5000].reshape(-1, 1),
                                          "u": normal(5000, 64)})  # fmt: skip
    yield case("GatherND", "GatherND", {"x": normal(100, 100, 64), "i": integers(0, 100, 5000, 2)})
    yield case("GatherElements", "GatherElements", {"x": normal(1024, 512), "i": integers(0, 512, 1024, 256)}, axis=1)
    yield case("OneHot", "OneHot", {"i": integers(0, 1000, 2000)},
               {"d": np.array(1000), "v": np.array([0, 1], np.float32)})  # fmt: skip
    yield case("NonZero", "NonZero", {"x": integers(0, 2, 1000, 1000, dtype=np.float32)})
    yield case("Where", "Where", {"c": RNG.random(square) > 0.5, "x": normal(*square), "y": normal(*square)})
    yield case("Expand", "Expand", {"x": normal(1024, 1)}, {"s": np.array([1024, 1024])})
    yield case("Tile", "Tile", {"x": normal(128, 256)}, {"r": np.array([8, 4])})
    yield case("Concat", "Concat", {"x": normal(512, 512), "y": normal(512, 512)}, axis=1)
    yield case("Trilu", "Trilu", {"x": normal(1024, 1024)})
    yield case("DepthToSpace", "DepthToSpace", {"x": image}, blocksize=2)
    yield case("SpaceToDepth", "SpaceToDepth", {"x": image}, blocksize=2)
    yield case("Transpose 0321", "Transpose", {"x": normal(8, 64, 32, 32)}, perm=[0, 3, 2, 1])
    yield case("Transpose f16", "Transpose", {"x": normal(1024, 1024).astype(np.float16)}, perm=[1, 0])
    yield case("Transpose u8", "Transpose", {"x": integers(0, 255, 1024, 1024, dtype=np.uint8)}, perm=[1, 0])
    yield case("Pow", "Pow", {"x": np.abs(normal(*square)), "y": normal(*square)})
    yield case("Mod f32", "Mod", {"x": normal(*square), "y": np.abs(normal(*square)) + 0.1}, fmod=1)
    yield case("Div i64", "Div", {"x": whole[0], "y": whole[1]})
    yield case("Div i32", "Div", {"x": whole[0].astype(np.int32), "y": whole[1].astype(np.int32)})
    yield case("Cast f16", "Cast", {"x": normal(*square)}, to=TensorProto.FLOAT16)
    yield case("Cast i64", "Cast", {"x": normal(*square)}, to=TensorProto.INT64)
    yield case("DynamicQuantizeLinear", "DynamicQuantizeLinear", {"x": normal(*square)}, outputs=3)
    yield case("QuantizeLinear", "QuantizeLinear", {"x": normal(*square)},
               {"s": np.float32(0.02), "z": np.uint8(128)})  # fmt: skip
    yield case("DequantizeLinear", "DequantizeLinear", {"x": integers(0, 255, *square, dtype=np.uint8)},
               {"s": np.float32(0.02), "z": np.uint8(128)})  # fmt: skip
    yield case("LSTM", "LSTM", {"x": normal(50, 1, 128)}, {"w": normal(2, 512, 128), "r": normal(2, 512, 128)},
               hidden_size=128, direction="bidirectional")  # fmt: skip
    yield case("RNN", "RNN", {"x": normal(50, 4, 128)}, {"w": normal(1, 128, 128), "r": normal(1, 128, 128)},
               hidden_size=128)  # fmt: skip
    yield case("NonMaxSuppression", "NonMaxSuppression", {"b": boxes, "s": RNG.random((1, 4, 1000), np.float32)},
               {"m": np.array([100]), "i": np.array([0.5], np.float32), "t": np.array([0.1], np.float32)})  # fmt: skip
    yield case("RoiAlign", "RoiAlign",
               {"x": normal(1, 256, 50, 50), "r": boxes[0, :100] * 50, "i": np.zeros(100, np.int64)},
               output_height=7, output_width=7, sampling_ratio=2)  # fmt: skip
    yield case("Unique", "Unique", {"x": integers(0, 1000, 20000)})
    yield case("Compress", "Compress", {"x": normal(1000, 512), "c": RNG.random(1000) > 0.5}, axis=0)
    yield case("Det", "Det", {"x": normal(100, 16, 16)})
    yield case("Col2Im", "Col2Im", {"x": normal(1, 64 * 9, 28 * 28)},
               {"s": np.array([30, 30]), "k": np.array([3, 3])})  # fmt: skip
    yield case("DFT 512", "DFT", {"x": normal(100, 512, 1)}, {"l": None, "a": np.array(1)})
    yield case("DFT 400", "DFT", {"x": normal(100, 400, 2)}, {"l": None, "a": np.array(1)})


def build(operator, feeds, weights, outputs, attributes):
    names = ["" if weights.get(name, 0) is None else name for name in (*feeds, *weights)]
    node = helper.make_node(operator, names, [f"o{i}" for i in range(outputs)], **attributes)
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
              for name, x in feeds.items()]  # fmt: skip
    results = [helper.make_empty_tensor_value_info(name) for name in node.output]
    constants = [numpy_helper.from_array(np.asarray(x), name) for name, x in weights.items() if x is not None]
    graph = helper.make_graph([node], "operator", inputs, results, constants)
    return shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    )


def shortest(run, seconds=0.12):
    run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def peer(model, feeds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, x in feeds.items():
        binding.bind_cpu_input(name, x)
    for value in session.get_outputs():
        binding.bind_output(value.name, "cpu")
    return lambda: session.run_with_iobinding(binding)


def main():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    ratios = []
    for name, operator, feeds, weights, outputs, attributes in cases():
        if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
            continue
        model = build(operator, feeds, weights, outputs, attributes)
        compiled = strata.compile(model, threads=1)
        arrays = [feeds[value.name] for value in compiled.inputs]
        own = shortest(lambda compiled=compiled, arrays=arrays: compiled(*arrays))
        try:
            other = shortest(peer(model, feeds))
        except Exception as error:  # an operator or a type that it does not have
            print(f"{name:28} {own * 1e6:10.1f} us  ONNX Runtime: {str(error)[:80]}", flush=True)
            continue
        ratio = own / other
        ratios.append((ratio, name))
        print(f"{name:28} {own * 1e6:10.1f} us  ONNX Runtime {other * 1e6:10.1f} us  ratio {ratio:.2f}", flush=True)
    print("\nabove 1:")
    for ratio, name in sorted(ratios):
        if ratio > 1:
            print(f"{ratio:8.2f}  {name}")


if __name__ == "__main__":
    main()
