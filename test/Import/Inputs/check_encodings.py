"""Imports constants of every element type in every encoding and compares what is exported with onnx's own reading.

    check_encodings.py strata-translate FOLDER

Each encoding is a tensor of a size that the importer keeps in dense attributes, and one of a size that it keeps as a
resource. The importer's IR is exported again (which packs the elements anew), read by onnx's numpy_helper and compared
bit for bit with the numbers that went in.
"""
import os
import shutil
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

T = TensorProto
COMPLEX = {T.COMPLEX64: numpy.complex64, T.COMPLEX128: numpy.complex128}
PACKED = {T.UINT4: 4, T.INT4: 4, T.FLOAT4E2M1: 4, T.UINT2: 2, T.INT2: 2}
SMALL, LARGE = (3, 5), (7, 613)


def values(data_type, shape):
    """Elements of the type in NumPy's (or ml_dtypes') type, with the extremes among them."""
    count = int(numpy.prod(shape))
    random = numpy.random.default_rng(data_type)
    dtype = helper.tensor_dtype_to_np_dtype(data_type)
    if data_type == T.STRING:
        return numpy.array([f"s{i}\u00e4" if i % 3 else "" for i in range(count)], dtype=object).reshape(shape)
    if data_type == T.BOOL:
        return random.integers(0, 2, count).astype(bool).reshape(shape)
    if data_type in COMPLEX:
        return (random.normal(size=count) + 1j * random.normal(size=count)).astype(dtype).reshape(shape)
    if numpy.dtype(dtype).kind in "iu":
        info = numpy.iinfo(dtype)
        array = random.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
        array[:1], array[1:2] = info.min, info.max
        return array.reshape(shape)
    if numpy.dtype(dtype).name in ("int4", "uint4", "int2", "uint2"):
        low, high = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}[numpy.dtype(dtype).name]
        return random.integers(low, high + 1, count).astype(dtype).reshape(shape)
    # All bit patterns of the narrow floating-point types, NaN included; random ones of the others.
    bits = numpy.dtype(dtype).itemsize * 8
    limit = {T.FLOAT4E2M1: 16, T.FLOAT6E2M3: 64, T.FLOAT6E3M2: 64}.get(data_type, 2**bits)
    raw = random.integers(0, limit, count, dtype=numpy.uint64).astype(f"u{bits // 8}")
    array = raw.view(dtype)
    if data_type == T.FLOAT:
        array[numpy.isnan(array)] = numpy.nan  # On the way through Python's floats, NaNs become quiet.
    return array.reshape(shape)


def bits(array):
    if array.dtype == object:
        return [s if isinstance(s, str) else s.decode() for s in array.flatten()]
    return array.shape, numpy.ascontiguousarray(array).tobytes()


def pack(array, width):
    codes = numpy.ascontiguousarray(array).view(numpy.uint8).flatten().astype(numpy.uint32) & ((1 << width) - 1)
    out = numpy.zeros((codes.size * width + 7) // 8, numpy.uint8)
    for i, code in enumerate(codes):
        for bit in range(width):
            if code >> bit & 1:
                out[(i * width + bit) // 8] |= 1 << ((i * width + bit) % 8)
    return out.tobytes()


def raw_bytes(data_type, array):
    width = PACKED.get(data_type, 6 if data_type in (T.FLOAT6E2M3, T.FLOAT6E3M2) else 0)
    return pack(array, width) if width else numpy.ascontiguousarray(array).tobytes()


def encodings(data_type, array, folder):
    """(name of the encoding, TensorProto)"""
    name = f"{T.DataType.Name(data_type).lower()}_{array.size}"
    new = lambda kind: T(name=f"{name}_{kind}", data_type=data_type, dims=array.shape)
    if data_type == T.STRING:
        tensor = new("field")
        tensor.string_data.extend(s.encode() for s in array.flatten())
        yield tensor
        return
    data = raw_bytes(data_type, array)
    tensor = new("raw")
    tensor.raw_data = data
    yield tensor

    tensor = new("field")
    flat = array.flatten()
    if data_type in (T.FLOAT, T.COMPLEX64):
        tensor.float_data.extend(flat.view(numpy.float32))
    elif data_type in (T.DOUBLE, T.COMPLEX128):
        tensor.double_data.extend(flat.view(numpy.float64))
    elif data_type == T.INT64:
        tensor.int64_data.extend(flat.tolist())
    elif data_type in (T.UINT32, T.UINT64):
        tensor.uint64_data.extend(flat.tolist())
    elif data_type in PACKED:
        tensor.int32_data.extend(data)
    elif data_type in (T.INT8, T.INT16, T.INT32, T.UINT8, T.UINT16, T.BOOL):
        tensor.int32_data.extend(flat.astype(numpy.int32).tolist())
    else:  # bit patterns
        tensor.int32_data.extend(flat.view(f"u{flat.dtype.itemsize}").tolist())
    yield tensor

    for kind, offset in (("aligned", 4096), ("shifted", 4096 + 13)):
        tensor = new(kind)
        file = tensor.name + ".bin"
        with open(os.path.join(folder, file), "wb") as stream:
            stream.write(b"\xff" * offset + data + b"\xff" * 3)
        tensor.data_location = T.EXTERNAL
        for key, value in {"location": file, "offset": offset, "length": len(data)}.items():
            tensor.external_data.add(key=key, value=str(value))
        yield tensor


def main():
    tool, folder = sys.argv[1:3]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    expected, tensors = {}, []
    for data_type in sorted(set(T.DataType.values()) - {T.UNDEFINED}):
        for shape in (SMALL, LARGE, (), (0, 3)):
            array = values(data_type, shape if shape else (1, )).reshape(shape)
            for tensor in encodings(data_type, array, folder):
                tensors.append(tensor)
                expected[tensor.name] = bits(array)

    # One model has them as initializers, the other as attributes of Constant nodes, which take no 6-bit elements.
    constants = [t for t in tensors if t.data_type not in (T.FLOAT6E2M3, T.FLOAT6E3M2)]
    models = {
        "initializers": helper.make_graph([], "g", [], [], tensors),
        "constants": helper.make_graph(
            [helper.make_node("Constant", [], [t.name], value=t) for t in constants], "g", [], [],
            value_info=[helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in constants]),
    }
    compared = failures = 0
    for name, graph in models.items():
        path, out = os.path.join(folder, name + ".onnx"), os.path.join(folder, name + "-out.onnx")
        onnx.save(helper.make_model(graph, ir_version=14, opset_imports=[helper.make_opsetid("", 28)]), path)
        # Through a bytecode file, so that what is written to it counts as well.
        subprocess.run([tool, "--import-onnx", path, "--emit-bytecode", "-o", out + ".mlirbc"], check=True)
        subprocess.run([tool, "--export-onnx", out + ".mlirbc", "-o", out], check=True)
        after = onnx.load(out).graph
        got = {t.name: t for t in after.initializer} if name == "initializers" else {
            n.output[0]: n.attribute[0].t for n in after.node
        }
        if len(got) != len(tensors if name == "initializers" else constants):
            failures += 1
            print(f"{name}: {len(got)} came back")
        for tensor_name, tensor in got.items():
            compared += 1
            if bits(numpy_helper.to_array(tensor)) != expected[tensor_name]:
                failures += 1
                print(f"{name}: {tensor_name} differs")
    print(f"{compared} constants compared, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
