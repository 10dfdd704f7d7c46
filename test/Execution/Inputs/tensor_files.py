"""Every element type through every file format: a model that returns its input must give back the same bytes."""
import pathlib
import subprocess
import sys

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)

TYPES = {  # ONNX's name: (seam type, NumPy's type)
    "float": ("f32", np.float32), "double": ("f64", np.float64), "float16": ("f16", np.float16),
    "bfloat16": ("bf16", ml_dtypes.bfloat16), "bool": ("i1", np.bool_),
    "int8": ("i8", np.int8), "int16": ("i16", np.int16), "int32": ("i32", np.int32), "int64": ("i64", np.int64),
    "uint8": ("i8", np.uint8), "uint16": ("i16", np.uint16), "uint32": ("i32", np.uint32), "uint64": ("i64", np.uint64),
    "complex64": ("complex<f32>", np.complex64), "complex128": ("complex<f64>", np.complex128),
    "int4": ("i8", ml_dtypes.int4), "uint4": ("i8", ml_dtypes.uint4),
    "int2": ("i8", ml_dtypes.int2), "uint2": ("i8", ml_dtypes.uint2),
    "float8e4m3fn": ("i8", ml_dtypes.float8_e4m3fn), "float8e4m3fnuz": ("i8", ml_dtypes.float8_e4m3fnuz),
    "float8e5m2": ("i8", ml_dtypes.float8_e5m2), "float8e5m2fnuz": ("i8", ml_dtypes.float8_e5m2fnuz),
    "float8e8m0": ("i8", ml_dtypes.float8_e8m0fnu), "float4e2m1": ("i8", ml_dtypes.float4_e2m1fn),
    "float6e2m3": ("i8", ml_dtypes.float6_e2m3fn), "float6e3m2": ("i8", ml_dtypes.float6_e3m2fn),
}


def run(*arguments):
    result = subprocess.run(["strata-run", *map(str, arguments)], capture_output=True, text=True, errors="replace")
    assert result.returncode == 0, f"{arguments}: {result.stderr}"
    return result.stdout


def same(read, values):
    """Equal bytes, or equal values: ml_dtypes takes small integers with and without extended signs."""
    return read.shape == values.shape and (read.tobytes() == values.tobytes()
                                           or np.array_equal(read.view(values.dtype), values))


def check(name, seam, dtype):
    values = np.array([[0, 1, 1], [0, 1, 0]]).astype(dtype) if name == "bool" else (
        np.array([[0, 1, 2], [4, 1, 0.5]]).astype(np.float32).astype(dtype))
    if name in ("int2", "uint2"):
        values = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    if name in ("int4", "int8"):
        values = np.array([[-8, 7, 2], [-1, 1, 0]]).astype(dtype)
    if name == "uint64":
        values[0, 0] = 2**63 + 1
    model = folder / f"{name}.mlir"
    tensor = f"tensor<?x3x{seam}>"
    model.write_text(
        f'func.func @main(%x: {tensor} {{strata.name = "x", strata.dtype = "{name}"}})'
        f' -> ({tensor} {{strata.name = "y", strata.dtype = "{name}"}}) {{ return %x : {tensor} }}')
    npy, npz, zipped, pb, typed, out, outz = (folder / f"{name}{end}" for end in
                                            (".npy", ".npz", "-zip.npz", ".pb", "-typed.pb", "-out.npy", "-out.npz"))
    np.save(npy, values)
    np.savez(npz, x=values)
    np.savez_compressed(zipped, values)  # named arr_0: by position
    proto = numpy_helper.from_array(values)
    pb.write_bytes(proto.SerializeToString())
    typed.write_bytes(onnx.helper.make_tensor("", proto.data_type, values.shape,
                                              values.flatten().tolist()).SerializeToString())
    for source in (npy, npz, zipped, pb, typed):
        text = run(model, f"--input={source}", f"--output={out}", f"--expect={npy}", "--rtol=0", "--atol=0")
        assert "as expected" in text and f"{name}[2, 3]" in text, text
        read = np.load(out)
        assert same(read, values), (name, source, read, values)
        if np.dtype(dtype).isbuiltin == 1:
            assert read.dtype == values.dtype, (name, read.dtype)
    run(model, f"--input={npy}", f"--output={outz}")
    with np.load(outz) as archive:
        assert archive.files == ["y"] and same(archive["y"], values), name


for entry, (seam_type, numpy_type) in TYPES.items():
    check(entry, seam_type, numpy_type)

# Layouts that are not row-major, and byte orders that are not ours.
model = folder / "float.mlir"
values = np.arange(12, dtype=np.float32).reshape(4, 3)
for label, array in (("fortran", np.asfortranarray(values)), ("big", values.astype(">f4"))):
    np.save(folder / f"{label}.npy", array)
    run(model, f"--input={folder}/{label}.npy", f"--output={folder}/out.npy")
    assert np.array_equal(np.load(folder / "out.npy"), values), label

# Comparison: what differs is said, NaN equals NaN.
values[1, 2] = np.nan
np.save(folder / "a.npy", values)
values[2, 1] += 0.5
np.save(folder / "b.npy", values)
assert "as expected" in run(model, f"--input={folder}/a.npy", f"--expect={folder}/a.npy")
result = subprocess.run(["strata-run", model, f"--input={folder}/a.npy", f"--expect={folder}/b.npy"],
                        capture_output=True, text=True, errors="replace")
assert result.returncode == 1
assert "output 'y' 1 of 12 elements differ; the worst is [2, 1]: 7, expected 7.5" in result.stderr, result.stderr
assert "as expected" in run(model, f"--input={folder}/a.npy", f"--expect={folder}/b.npy", "--rtol=0.1")

# Damaged files: an error, never a crash.
good = (folder / "float.npy").read_bytes()
goodz = (folder / "float-zip.npz").read_bytes()
for name, data in ([(f"cut{n}.npy", good[:n]) for n in (0, 5, 11, 60, len(good) - 1)]
                   + [(f"cut{n}.npz", goodz[:n]) for n in (0, 30, len(goodz) - 23, len(goodz) - 1)]
                   + [(f"flip{n}.npz", goodz[:n] + bytes([goodz[n] ^ 255]) + goodz[n + 1:]) for n in range(0, len(goodz), 19)]
                   + [("text.pb", b"hello world"), ("shape.npy", good.replace(b"(2, 3)", b"(9, 9)"))]):
    (folder / name).write_bytes(data)
    result = subprocess.run(["strata-run", model, f"--input={folder / name}"], capture_output=True, text=True, errors="replace")
    assert result.returncode in (0, 1), (name, result)
    assert result.returncode == 0 or "error: " in result.stderr, (name, result.stderr)
    assert name.startswith("flip") or result.returncode == 1, name
print("tensor files: ok")
