"""The five operators of test/Specifications run on the GPU at each version and element type, and give the CPU's bits;
random numbers, too. (That the CPU's are right is proven there.)"""

import ctypes

import numpy as np
import onnx
import pytest
import strata
from Specifications import test_dequantize as dequantize
from Specifications import test_range as ranges
from Specifications.random_models import Graph, bits, numpy_type
from support.emulator import library, use_emulator

FLOATS = ["float", "double", "float16"]
OTHERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]


def kernels():
    return ctypes.CDLL(str(library())).strata_emulator_kernels()


def check(proto, inputs, elements=1):
    """Both give the same; the GPU's kernels are asked for it."""
    on_cpu = strata.compile(proto, threads=1).run(inputs)
    compiled = strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1)
    before = kernels()
    on_gpu = compiled.run(inputs)
    if use_emulator() == "bitcode":
        assert kernels() > before, "the host has done it"
    for x, y in zip(on_gpu, on_cpu, strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape and x.size >= elements
        np.testing.assert_array_equal(bits(x), bits(y))


def types_of(version):
    return FLOATS + OTHERS + (["bfloat16"] if version >= 20 else [])


@pytest.mark.parametrize("version", [9, 20, 21, 23, 24, 25])
def test_constant_of_shape(version):
    for kind in types_of(version):
        g = Graph(version)
        value = onnx.numpy_helper.from_array(np.array([3], numpy_type(kind)))
        g.node("ConstantOfShape", [g.input("shape", "int64", [2])], [kind], value=value)
        check(g.model(), [np.array([5, 77])], 5 * 77)


@pytest.mark.parametrize("version, kinds", [(1, FLOATS), (22, [*FLOATS, "bfloat16"])])
def test_random_uniform_like(version, kinds):
    """More numbers than a thread, a block and a lane of the CPU have at once; two nodes, of which one draws by itself."""
    for kind in kinds:
        g = Graph(max(version, 7))
        x = g.input("x", kind, ["n", 33])
        g.node("RandomUniformLike", [x], [kind], seed=3.0, low=-1.5, high=7.0)
        g.node("RandomUniformLike", [x], ["float"], seed=4.0, dtype=1)
        check(g.model(), [np.zeros((41, 33), numpy_type(kind))], 41 * 33)


@pytest.mark.parametrize("version", [12, 13, 22])
def test_dropout_in_training(version):
    for kind in FLOATS + (["bfloat16"] if version >= 13 else []):
        g = Graph(version)
        x = g.input("x", kind, ["n", 65])
        ratio, training = g.input("ratio", "float", []), g.input("training", "bool", [])
        g.node("Dropout", [x, ratio, training], [kind, "bool"], seed=11)
        data = np.random.default_rng(0).standard_normal((37, 65)).astype(numpy_type(kind))
        for ratio, training in [(0.3, True), (0.75, True)]:
            check(g.model(), [data, np.array(ratio, "f"), np.array(training)], 37 * 65)


@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
def test_dequantize(mode):
    random = np.random.default_rng(1)
    low, high = np.array(-3.25, "f"), np.array(9.5, "f")
    cases = [(random.integers(np.iinfo(kind).min, np.iinfo(kind).max, (9, 40), kind, endpoint=True), low, high,
              {"mode": mode, "dtype": result})
             for kind in ("int8", "uint8", "int16", "uint16", "int32")
             for result in (["float32", "bfloat16"] if mode == "MIN_COMBINED" else ["float32"])]  # fmt: skip
    for case in cases:
        check(dequantize.build([case], dynamic=True), dequantize.feeds([case]), 360)


VALUES = {"i4": (-7, 7, 1), "u4": (0, 15, 1), "f8e4m3": (-2.5, 6.0, 0.5), "f8e5m2": (-2.5, 6.0, 0.5)}


@pytest.mark.parametrize("output", list(ranges.ELEMENTS))
def test_range(output):
    values = VALUES.get(output, (3, 95, 1) if ranges.is_integer(output) else (-2.5, 60.0, 0.75))
    case = ((output, output, output), values, output)
    check(ranges.build([case]), ranges.feeds([case]), 14)
