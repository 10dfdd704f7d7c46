"""Small networks with all kinds of layers, on the emulated GPU, against ONNX Runtime."""

import os
import subprocess

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from support import exports
from support.emulator import library, use_emulator
from support.library import BIN
from support.peers import onnxruntime_outputs


class Network:
    """Collects nodes, and weights drawn at random."""

    def __init__(self):
        self.nodes, self.weights = [], []
        self.random = np.random.default_rng(0)

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        value = (self.random.standard_normal(shape) / np.sqrt(max(1, np.prod(shape[1:])))).astype(np.float32)
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def constant(self, value, dtype=np.int64):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def add(self, op, *inputs, **attributes):
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def model(self, shape, output, result):
        graph = helper.make_graph(
            self.nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, result)], self.weights)  # fmt: skip
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        proto.ir_version = 10
        return proto


def pictures():
    """Convolutions (dense, strided, depthwise), normalisation, residual, pools, a classifier."""
    n = Network()
    x = n.add("Relu", n.add("Conv", "x", n.weight(24, 3, 5, 5), n.weight(24), strides=[2, 2], pads=[2, 2, 2, 2]))
    y = n.add("Conv", x, n.weight(24, 1, 3, 3), pads=[1, 1, 1, 1], group=24)
    y = n.add("BatchNormalization", y, n.weight(24), n.weight(24), n.weight(24), n.constant([1.0] * 24, np.float32))
    y = n.add("HardSwish", n.add("Conv", y, n.weight(24, 24, 1, 1)))
    x = n.add("MaxPool", n.add("Add", x, y), kernel_shape=[3, 3], strides=[2, 2])
    x = n.add("Conv", x, n.weight(40, 24, 3, 3), dilations=[2, 2])
    x = n.add("Flatten", n.add("GlobalAveragePool", x))
    x = n.add("Gemm", x, n.weight(10, 40), n.weight(10), transB=1)
    return n.model(["batch", 3, 33, 29], n.add("Softmax", x), ["batch", 10]), (2, 3, 33, 29)


def text(width=64, heads=4):
    """A layer of a transformer: attention of some heads, GELU, normalisations, sequences of any length."""
    n = Network()
    split, merge = n.constant([0, 0, heads, width // heads]), n.constant([0, 0, width])

    def head(x):
        x = n.add("Add", n.add("MatMul", x, n.weight(width, width)), n.weight(width))
        return n.add("Transpose", n.add("Reshape", x, split), perm=[0, 2, 1, 3])

    x = n.add("LayerNormalization", "x", n.weight(width), n.weight(width))
    q, k, v = head(x), head(x), head(x)
    scores = n.add("MatMul", q, n.add("Transpose", k, perm=[0, 1, 3, 2]))
    scores = n.add("Softmax", n.add("Mul", scores, n.constant((width / heads) ** -0.5, np.float32)))
    x = n.add("Reshape", n.add("Transpose", n.add("MatMul", scores, v), perm=[0, 2, 1, 3]), merge)
    x = n.add("Add", "x", n.add("MatMul", x, n.weight(width, width)))
    y = n.add("LayerNormalization", x, n.weight(width), n.weight(width))
    y = n.add("MatMul", n.add("Gelu", n.add("MatMul", y, n.weight(width, 4 * width))), n.weight(4 * width, width))
    return n.model(["batch", "length", width], n.add("Add", x, y), ["batch", "length", width]), (2, 21, width)


@pytest.mark.parametrize("network", [pictures, text])
def test_network(network, tmp_path):
    proto, shape = network()
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    [want] = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})
    compiled = strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1)
    for _ in range(2):
        [got] = compiled.run([x])
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=2e-5)


def images():
    """A block of a residual network behind pixels of few channels."""
    n = Network()
    x = n.add("Relu", n.add("Conv", "x", n.weight(64, 3, 3, 3), n.weight(64), pads=[1, 1, 1, 1]))
    y = n.add("Relu", n.add("Conv", x, n.weight(64, 64, 1, 1), n.weight(64)))
    y = n.add("Relu", n.add("Conv", y, n.weight(64, 64, 3, 3), n.weight(64), strides=[2, 2], pads=[1, 1, 1, 1]))
    y = n.add("Conv", y, n.weight(128, 64, 1, 1), n.weight(128))
    x = n.add("Relu", n.add("Add", y, n.add("Conv", x, n.weight(128, 64, 1, 1), strides=[2, 2])))
    x = n.add("Flatten", n.add("GlobalAveragePool", x))
    return n.model(["batch", 3, 12, 12], n.add("Gemm", x, n.weight(128, 64)), ["batch", 64]), (3, 3, 12, 12)


@pytest.mark.parametrize("network", [images, lambda: text(128, 2)], ids=["images", "text"])
@pytest.mark.parametrize("chip", ["cuda:sm_90a", "cuda"])
def test_network_of_tf32(network, chip):
    """Products by warpgroups, or by warps, between all others; the third run is a recorded graph."""
    proto, shape = network()
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    [want] = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})
    compiled = strata.compile(proto, gpu=chip, gpu_format=use_emulator(), threads=1, precision="tf32")
    results = []
    for _ in range(3):
        [got] = compiled.run([x])
        # Eleven bits of each factor.
        np.testing.assert_allclose(got, want, rtol=1e-2, atol=1e-2)
        results.append(got)
    np.testing.assert_array_equal(results[0], results[2])


MOST_LAUNCHES = {"bert_base_dyn": 44, "bert_base_dyn_dynseq": 75, "bert_base_ts17_dynseq": 38, "gpt2_prefill_dyn": 29,
                 "llama6_prefill_dyn": 52, "llama6_decode_dyn": 63, "gpt2_decode_ts17_dynseq": 58}  # fmt: skip


@pytest.mark.parametrize("name, most", MOST_LAUNCHES.items())
def test_exported_transformers(name, most, tmp_path):
    """As exported, with each attention as one kernel, if its mask is known to have as many keys as it."""
    proto = exports.load(name)
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    command = [BIN / "strata-compile", path, "--target=cuda:sm_80", "--compile-to=gpu"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert ("attention, with an online softmax" in text) == (name != "gpt2_decode_ts17_dynseq")
    assert text.count("gpu.launch_func") <= most
    feeds = exports.inputs(proto, exports.SIZES[0])
    results = strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1).run(feeds)
    for got, want in zip(results, onnxruntime_outputs(path, feeds), strict=True):
        assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()


def test_kernels_that_the_driver_refuses(tmp_path):
    """An artifact whose kernels the driver does not take; the program ends with a message."""
    proto, _ = text()
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    subprocess.run([BIN / "strata-compile", "m.onnx", "--target=cuda", "-o", "m.so"], cwd=tmp_path, check=True)
    done = subprocess.run([BIN / "strata-run", "m.so"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "STRATA_CUDA_DRIVER": str(library())})  # fmt: skip
    assert done.returncode == 1
    assert "the driver cannot load the model's kernels" in done.stderr
