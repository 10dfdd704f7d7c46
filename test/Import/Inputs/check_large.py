"""Imports large weights and checks that they stay in the mapped file.

    check_large.py strata-translate FOLDER
"""
import os
import shutil
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

MB = 1 << 20


def model(tensors):
    return helper.make_model(helper.make_graph([], "g", [], [], tensors), ir_version=8,
                             opset_imports=[helper.make_opsetid("", 17)])


def external(name, dims, **entries):
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def peak_memory(*command):
    """Runs a command; the most memory that it had, in bytes."""
    # A process begins with the peak of the one that started it: a small Python goes between.
    measure = ("import os, sys; child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ); "
               "_, status, usage = os.wait4(child, 0); print(usage.ru_maxrss * 1024, file=sys.stderr); sys.exit(status != 0)")
    run = subprocess.run([sys.executable, "-S", "-c", measure, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: {run.stderr}")
    return int(run.stderr.split()[-1])


def main():
    tool, folder = sys.argv[1:3]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    at = lambda name: os.path.join(folder, name)
    baseline = peak_memory(tool, "--help") + 60 * MB

    # A tensor beyond 4 GB of a file, one of 3 GB, and one whose address is not aligned.
    far = 2**32 + 64
    data = numpy.arange(1000, dtype=numpy.float32)
    with open(at("data.bin"), "wb") as file:
        file.truncate(far + 3 * 2**30)
        file.seek(far)
        file.write(data.tobytes())
    onnx.save(model([external("far", [1000], location="data.bin", offset=far, length=4000)]), at("far.onnx"))
    peak_memory(tool, "--round-trip-onnx", at("far.onnx"), "-o", at("far-out.onnx"))
    back = numpy_helper.to_array(onnx.load(at("far-out.onnx")).graph.initializer[0])
    assert numpy.array_equal(back, data), back

    onnx.save(model([external("big", [3 * 2**28], location="data.bin", offset=4096, length=3 * 2**30)]), at("big.onnx"))
    used = peak_memory(tool, "--import-onnx", at("big.onnx"), "--elide-weights", "-o", at("big.mlir"))
    assert used < baseline, f"{used // MB} MB for 3 GB in a mapped file"
    with open(at("big.mlir")) as file:
        assert "dense_resource<big> : tensor<805306368xf32>" in file.read()

    # Inside the protobuf file, at whatever address: copied once.
    size = 96 * MB
    weights = [numpy_helper.from_array(numpy.ones(size // 4 // 8, numpy.float32) * i, f"w{i}") for i in range(8)]
    onnx.save(model(weights), at("inside.onnx"))
    used = peak_memory(tool, "--import-onnx", at("inside.onnx"), "--elide-weights", "-o", at("inside.mlir"))
    assert used < size * 1.3 + baseline, f"{used // MB} MB for {size // MB} MB of weights"

    # As a list of floats, which protobuf would unpack.
    weights = [TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[size // 4])]
    weights[0].float_data.extend(numpy.ones(size // 4, numpy.float32))
    onnx.save(model(weights), at("list.onnx"))
    used = peak_memory(tool, "--import-onnx", at("list.onnx"), "--elide-weights", "-o", at("list.mlir"))
    assert used < size * 1.3 + baseline, f"{used // MB} MB for {size // MB} MB of weights"
    shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
