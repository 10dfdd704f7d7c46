"""Small networks with all kinds of layers, on the emulated GPU, against ONNX Runtime."""

import subprocess

import numpy as np
import onnxruntime
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from support.emulator import library, use_emulator
from support.library import BIN


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


def text():
    """A layer of a transformer: attention of four heads, GELU, normalisations, sequences of any length."""
    n = Network()
    width, heads = 64, 4
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


def test_kernels_that_the_driver_refuses(tmp_path):
    """An artifact whose kernels the driver does not take; the program ends with a message."""
    proto, _ = text()
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    subprocess.run([BIN / "strata-compile", "m.onnx", "--target=cuda", "-o", "m.so"], cwd=tmp_path, check=True)
    done = subprocess.run([BIN / "strata-run", "m.so"], cwd=tmp_path, capture_output=True, text=True,
                          env={"STRATA_CUDA_DRIVER": str(library())})  # fmt: skip
    assert done.returncode == 1
    assert "the driver cannot load the model's kernels" in done.stderr
