"""Compiles convolutions whose transformed weights are four times as large (where a target's vectors are worth that), and
bounds the memory that this takes.

    compile_memory.py strata-compile strata-run FOLDER
"""

import os
import shutil
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.append(os.path.join(os.path.dirname(__file__), "../../Import/Inputs"))
from check_large import MB, peak_memory  # noqa: E402

LAYERS, CHANNELS = 12, 512


def model():
    rng = numpy.random.default_rng(0)
    shape, names = [1, CHANNELS, 32, 32], [f"x{i}" for i in range(LAYERS + 1)]
    weights = [rng.standard_normal((CHANNELS, CHANNELS, 3, 3), numpy.float32) / 48 for _ in range(LAYERS)]
    nodes = [helper.make_node("Conv", [names[i], f"w{i}"], [names[i + 1]], pads=[1] * 4) for i in range(LAYERS)]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(names[0], TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    compiler, runner, folder = sys.argv[1:4]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    at = lambda name: os.path.join(folder, name)
    onnx.save(model(), at("model.onnx"))
    weights = LAYERS * CHANNELS**2 * 9 * 4
    peak = peak_memory(compiler, at("model.onnx"), "-o", at("model.so"))
    size = os.path.getsize(at("model.so"))
    bound = 1.3 * weights + 300e6
    print(f"weights {weights // MB} MB, library {size // MB} MB")
    print("peak", "is" if peak < bound else "is not", f"below the bound: {peak // MB} of {bound // MB:.0f} MB")
    # What was computed in the library's file is what the same code computes in memory.
    for source in ("model.onnx", "model.so"):
        subprocess.run([runner, at(source), "--input=random", f"--output={at(source)}.npz", "--quiet"], check=True)
    with numpy.load(at("model.onnx.npz")) as jit, numpy.load(at("model.so.npz")) as library:
        same = all(numpy.array_equal(jit[name], library[name]) for name in jit.files)
        print("results are", "the same" if same else "others")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
