"""ConstantOfShape at every version with every element type, from both encodings of its value.

The value's proto is made byte by byte here, so that neither the onnx package nor NumPy decides how it looks.
"""

import ml_dtypes
import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper
from support.library import load_library

T = TensorProto
FLOATS = {
    "float16": (T.FLOAT16, np.float16), "float": (T.FLOAT, np.float32), "double": (T.DOUBLE, np.float64),
}  # fmt: skip
INTEGERS = {
    "int8": (T.INT8, np.int8), "int16": (T.INT16, np.int16), "int32": (T.INT32, np.int32), "int64": (T.INT64, np.int64),
    "uint8": (T.UINT8, np.uint8), "uint16": (T.UINT16, np.uint16), "uint32": (T.UINT32, np.uint32),
    "uint64": (T.UINT64, np.uint64), "bool": (T.BOOL, np.bool_),
}  # fmt: skip
FROM_20 = {
    "bfloat16": (T.BFLOAT16, ml_dtypes.bfloat16), "float8e4m3fn": (T.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn),
    "float8e4m3fnuz": (T.FLOAT8E4M3FNUZ, ml_dtypes.float8_e4m3fnuz), "float8e5m2": (T.FLOAT8E5M2, ml_dtypes.float8_e5m2),
    "float8e5m2fnuz": (T.FLOAT8E5M2FNUZ, ml_dtypes.float8_e5m2fnuz),
}  # fmt: skip
FROM_21 = {"int4": (T.INT4, ml_dtypes.int4), "uint4": (T.UINT4, ml_dtypes.uint4)}
FROM_23 = {"float4e2m1": (T.FLOAT4E2M1, ml_dtypes.float4_e2m1fn)}
FROM_24 = {"float8e8m0": (T.FLOAT8E8M0, ml_dtypes.float8_e8m0fnu)}
FROM_25 = {"int2": (T.INT2, ml_dtypes.int2), "uint2": (T.UINT2, ml_dtypes.uint2)}
TYPES = {9: FLOATS | INTEGERS}
for version, more in ((20, FROM_20), (21, FROM_21), (23, FROM_23), (24, FROM_24), (25, FROM_25)):
    TYPES[version] = TYPES[max(TYPES)] | more
EVERY = TYPES[25] | {"string": (T.STRING, None), "complex64": (T.COMPLEX64, None), "complex128": (T.COMPLEX128, None)}

# Bits of an element that no other element type could be mistaken for: highest bit and others set; NaN among the floats.
PATTERNS = {
    "float16": [0xC481, 0x7E01], "float": [0xC2F6E979, 0x7FC00001], "double": [0xC05EDD2F1A9FBE77, 0x0000000000000001],
    "bfloat16": [0xC2F7, 0x7FC1], "float8e4m3fn": [0x9D, 0x7F], "float8e4m3fnuz": [0x9D, 0x80], "float8e5m2": [0x9D, 0xFC],
    "float8e5m2fnuz": [0x9D, 0x80], "float8e8m0": [0x9D, 0xFF], "float4e2m1": [0xD, 0x7], "int4": [0xD, 0x7],
    "uint4": [0xD, 0x7], "int2": [0x2, 0x1], "uint2": [0x3, 0x2], "bool": [1, 0],
}  # fmt: skip
BITS = {"int4": 4, "uint4": 4, "float4e2m1": 4, "int2": 2, "uint2": 2}


def bits_of(name):
    return BITS.get(name) or np.dtype(EVERY[name][1]).itemsize * 8


def patterns(name):
    if name in PATTERNS:
        return PATTERNS[name]
    ones = (1 << bits_of(name)) - 1
    return [ones - 5, ones >> 1]  # -6 and the largest signed one.


def value_of(name, pattern, encoding, dims=(1,)):
    """The proto of one element."""
    code, bits = EVERY[name][0], bits_of(name)
    proto = TensorProto(data_type=code, dims=dims)
    little = pattern.to_bytes(max(bits // 8, 1), "little")
    if encoding == "raw":
        proto.raw_data = little
    elif code == T.FLOAT:
        proto.float_data.append(np.frombuffer(little, np.float32)[0])
    elif code == T.DOUBLE:
        proto.double_data.append(np.frombuffer(little, np.float64)[0])
    elif code == T.INT64:
        proto.int64_data.append(int.from_bytes(little, "little", signed=True))
    elif code in (T.UINT32, T.UINT64):
        proto.uint64_data.append(pattern)
    else:
        proto.int32_data.append(int.from_bytes(little, "little", signed=name in ("int8", "int16", "int32")))
    return proto


def element_of(name, pattern):
    """The same element as an array of rank 0; one per byte, the signed ones of a few bits as ml_dtypes keeps them."""
    dtype, bits = np.dtype(EVERY[name][1]), bits_of(name)
    if name in ("int4", "int2"):
        return np.array(pattern - (pattern >> bits - 1 << bits)).astype(dtype)
    return np.frombuffer(pattern.to_bytes(dtype.itemsize, "little"), dtype)[0].reshape(())


def build(version, values, shape=None, length=None, declared=None):
    """A node per value proto. The input of all is a constant, or an input of `length` elements (a name: any number)."""
    nodes, outputs, constants, inputs = [], [], [], []
    for k, value in enumerate(values):
        attributes = {} if value is None else {"value": value}
        nodes.append(helper.make_node("ConstantOfShape", ["shape"], [f"y{k}"], f"node{k}", **attributes))
        code = T.FLOAT if value is None else value.data_type
        outputs.append(helper.make_tensor_value_info(f"y{k}", code, declared))
    if shape is not None:
        constants.append(onnx.numpy_helper.from_array(np.array(shape, np.int64), "shape"))
    else:
        inputs.append(helper.make_tensor_value_info("shape", T.INT64, [length]))
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=13)


def run(model, *shape):
    return model(np.array(shape, np.int64))


@pytest.mark.parametrize("version", TYPES)
def test_every_type(version, record_property, tmp_path):
    def prove(*columns):
        for name in TYPES[version]:
            for column in columns:
                record_property("cell", f"ConstantOfShape|{version}|{name}|{column}")

    values, expected = [], []
    for name in TYPES[version]:
        for pattern in patterns(name):
            for encoding in ("raw", "fields"):
                values.append(value_of(name, pattern, encoding))
                expected.append(element_of(name, pattern))

    def check(results, shape):
        for value, result, want in zip(values, results, expected):
            assert result.dtype == want.dtype and result.shape == tuple(shape)
            full = np.broadcast_to(want, shape)
            assert result.tobytes() == full.tobytes(), (T.DataType.Name(value.data_type), result, want)

    # Sizes known to the run alone.
    proto = build(version, values, length=2)
    model = strata.compile(proto)
    assert all(value.shape == (None, None) for value in model.outputs)
    prove("verify")
    for shape in [(3, 5), (1, 1), (0, 7), (7, 0), (2, 129)]:
        check(run(model, *shape), shape)
    prove("dynamic", "JIT")
    check(run(load_library(proto, tmp_path), 3, 5), (3, 5))
    prove("artifact")
    # Known to the compiler.
    model = strata.compile(build(version, values, shape=[2, 3, 1]))
    assert [value.shape for value in model.outputs] == [(2, 3, 1)] * len(values)
    assert [value.dtype for value in model.outputs] == [want.dtype for want in expected]
    prove("infer")
    check(model.run([]), (2, 3, 1))
    prove("fold")
    # Declared, and checked by the run.
    model = strata.compile(build(version, values, length=2, declared=[4, 33]))
    check(run(model, 4, 33), (4, 33))
    with pytest.raises(strata.RunError, match="node0: size of dimension 0 is not the declared 4"):
        run(model, 5, 33)
    prove("static")


@pytest.mark.parametrize("version", TYPES)
def test_types_of_other_versions(version):
    for name, (code, _) in EVERY.items():
        value = TensorProto(data_type=code, dims=[1])
        if code == T.STRING:
            value.string_data.append(b"text")
        elif code == T.COMPLEX64:
            value.float_data.extend([1, 2])
        elif code == T.COMPLEX128:
            value.double_data.extend([1, 2])
        else:
            value = value_of(name, patterns(name)[0], "raw")
        if name in TYPES[version]:
            strata.compile(build(version, [value], shape=[1]))
        else:
            with pytest.raises(strata.CompileError, match="node0"):
                strata.compile(build(version, [value], shape=[1]))


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 0, 3), (1, 1, 1, 1), (2, 3, 4, 5, 6), (1000, 999)])
def test_shapes(shape):
    values = [None, value_of("int64", 7, "raw"), value_of("bool", 1, "fields"), value_of("int4", 0xD, "raw", dims=())]
    numbers = [np.float32(0), np.int64(7), np.True_, np.array(-3).astype(ml_dtypes.int4)]
    at_run_time = run(strata.compile(build(25, values, length=len(shape))), *shape)
    folded = strata.compile(build(25, values, shape=shape)).run([])
    for result, constant, number in zip(at_run_time, folded, numbers):
        assert result.shape == constant.shape == shape and result.dtype == number.dtype
        assert result.tobytes() == constant.tobytes() == np.full(shape, number).tobytes()


def test_an_input_of_any_length():
    """The rank must be known at compile time."""
    with pytest.raises(strata.CompileError, match="rank is not known|rank of its result is not known"):
        strata.compile(build(25, [None], length="n"))


@pytest.mark.parametrize("dims", [(), (1,), (1, 1, 1)])
def test_value_of_any_rank(dims):
    [y] = strata.compile(build(25, [value_of("int32", 5, "raw", dims)], shape=[2])).run([])
    assert y.tolist() == [5, 5]


@pytest.mark.parametrize("dims, count", [((0,), 0), ((2,), 2), ((2, 2), 4)])
def test_values_of_other_sizes(dims, count):
    value = TensorProto(data_type=T.INT32, dims=dims, int32_data=range(count))
    for version in TYPES:
        with pytest.raises(strata.CompileError, match=f"node0.*value must have one element, but has {count}"):
            strata.compile(build(version, [value], shape=[1]))


@pytest.mark.parametrize(
    "shape, message",
    [
        ([-1], "size of dimension 0 is negative"),
        ([0, -(2**63) + 1], "size of dimension 1 is negative"),
        ([2**62], "the result has more elements than memory can hold"),
        ([2**40, 2**40], "the result has more elements than memory can hold"),
        ([2**32, 2**31, 2], "the result has more elements than memory can hold"),
    ],
)
def test_sizes_that_cannot_be(shape, message):
    model = strata.compile(build(25, [None], length=len(shape)))
    with pytest.raises(strata.RunError, match=f"^node0: {message}"):
        run(model, *shape)
    known = message if "negative" not in message else "is negative"
    with pytest.raises(strata.CompileError, match=f"node0.*{known}"):
        strata.compile(build(25, [None], shape=shape))


def test_more_than_this_machine_has():
    """Within the address space, but not within memory: the run says so, and the next one works."""
    for value in (None, value_of("uint8", 1, "raw")):
        model = strata.compile(build(25, [value], length=2))
        with pytest.raises(strata.RunError, match="memory"):
            run(model, 2**21, 2**23)
        assert run(model, 2, 3)[0].shape == (2, 3)
        with pytest.raises(strata.RunError, match="memory"):
            strata.compile(build(25, [value], shape=[2**21, 2**23])).run([])
    limited = strata.compile(build(25, [None], length=1), memory_limit=1 << 20)
    assert run(limited, 1 << 17)[0].shape == (1 << 17,)
    with pytest.raises(strata.RunError, match="memory"):
        run(limited, 1 << 19)


def test_refused_inputs_and_attributes():
    for code in (T.INT32, T.FLOAT):
        proto = build(25, [None], length=2)
        proto.graph.input[0].type.tensor_type.elem_type = code
        with pytest.raises(strata.CompileError, match="node0"):
            strata.compile(proto)
    proto = build(25, [None], length=2)
    proto.graph.input[0].type.tensor_type.shape.dim.add().dim_value = 2
    with pytest.raises(strata.CompileError, match="node0.*input must be of rank 1, but is of rank 2"):
        strata.compile(proto)
    proto = build(25, [None], length=2)
    proto.graph.node[0].attribute.append(helper.make_attribute("dtype", 1))
    with pytest.raises(strata.CompileError, match="node0.*dtype"):
        strata.compile(proto)
