"""Kernels whose threads share rows: softmaxes and norms in one kernel, on the emulated GPU, against NumPy."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper
from support.emulator import use_emulator

from GPU.assembler import PTXAS, resources
from GPU.families import FLOATS, model, tensor, tolerance_of, wide


def run(proto, inputs):
    return strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1).run(inputs)


def check(got, want, kind):
    assert got.shape == want.shape
    error = np.abs(got.astype(np.float64) - want).max() / max(1.0, np.abs(want).max())
    assert error <= tolerance_of(want, kind), f"largest error {error:.2e}"


def softmax(kind, shape, axis, symbolic=None):
    x = tensor(kind, shape)
    sizes = symbolic or list(shape)
    proto = model([("Softmax", ["x"], ["r"], {"axis": axis})], {"x": sizes}, {"r": sizes}, kind)
    e = np.exp(wide(x) - wide(x).max(axis, keepdims=True))
    return proto, [x], e / e.sum(axis, keepdims=True)


def log_softmax(kind, shape, axis):
    proto, inputs, want = softmax(kind, shape, axis)
    proto.graph.node[0].op_type = "LogSoftmax"
    return proto, inputs, np.log(want)


def layer_norm(kind, shape):
    x, scale, bias = tensor(kind, shape), tensor(kind, shape[-1:], 1), tensor(kind, shape[-1:], 2)
    proto = model([("LayerNormalization", ["x", "s", "b"], ["r"], {})],
                  {"x": list(shape), "s": [shape[-1]], "b": [shape[-1]]}, {"r": list(shape)}, kind)  # fmt: skip
    wx = wide(x)
    normal = (wx - wx.mean(-1, keepdims=True)) / np.sqrt(wx.var(-1, keepdims=True) + np.float32(1e-5))
    return proto, [x, scale, bias], normal * wide(scale) + wide(bias)


def root_mean_square(kind, shape):
    x, scale = tensor(kind, shape), tensor(kind, shape[-1:], 1)
    proto = model([("RMSNormalization", ["x", "s"], ["r"], {})], {"x": list(shape), "s": [shape[-1]]},
                  {"r": list(shape)}, kind)  # fmt: skip
    proto.opset_import[0].version = 23
    wx = wide(x)
    return proto, [x, scale], wx / np.sqrt((wx**2).mean(-1, keepdims=True) + np.float32(1e-5)) * wide(scale)


def instance_norm(kind, shape):
    """Two loops of a row."""
    x, scale, bias = tensor(kind, shape), tensor(kind, shape[1:2], 1), tensor(kind, shape[1:2], 2)
    proto = model([("InstanceNormalization", ["x", "s", "b"], ["r"], {})],
                  {"x": list(shape), "s": [shape[1]], "b": [shape[1]]}, {"r": list(shape)}, kind)  # fmt: skip
    wx, axes = wide(x), tuple(range(2, len(shape)))
    normal = (wx - wx.mean(axes, keepdims=True)) / np.sqrt(wx.var(axes, keepdims=True) + np.float32(1e-5))
    by_channel = (slice(None),) + (None,) * len(axes)
    return proto, [x, scale, bias], normal * wide(scale)[by_channel] + wide(bias)[by_channel]


# A lane's own; less than a warp; a warp with and without an end; several warps; a row that is walked again.
LENGTHS = [2, 3, 31, 64, 130, 768, 1000, 1001, 4096, 40000]


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("length", LENGTHS)
def test_softmax(kind, length):
    proto, inputs, want = softmax(kind, (5, length), -1)
    check(run(proto, inputs)[0], want, kind)


@pytest.mark.parametrize("shape", [(2, 3, 7), (2, 40, 5), (1, 21, 9, 11), (1, 1000, 3)])
@pytest.mark.parametrize("kind", ["float", "float16"])
def test_rows_across_memory(kind, shape):
    """Neighbouring threads have neighbouring rows."""
    for build in (softmax, log_softmax):
        proto, inputs, want = build(kind, shape, 1)
        check(run(proto, inputs)[0], want, kind)


@pytest.mark.parametrize("kind", ["float", "bfloat16"])
@pytest.mark.parametrize("shape", [(1, 4), (3, 5, 96), (2, 1022), (3, 8192), (2, 40000)])
def test_norms(kind, shape):
    for build in (layer_norm, root_mean_square):
        proto, inputs, want = build(kind, shape)
        check(run(proto, inputs)[0], want, kind)


@pytest.mark.parametrize("shape", [(2, 3, 8, 12), (1, 5, 7, 9), (2, 2, 90, 90)])
def test_several_loops_of_a_row(shape):
    proto, inputs, want = instance_norm("float", shape)
    check(run(proto, inputs)[0], want, "float")


def test_sizes_that_only_the_run_tells():
    proto, _, _ = softmax("float", (4, 8, 16), -1, ["b", "n", "m"])
    compiled = strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1)
    for shape in [(1, 1, 1), (2, 3, 5), (1, 2, 300), (3, 50, 33)]:
        _, inputs, want = softmax("float", shape, -1)
        check(compiled.run(inputs)[0], want, "float")


@pytest.mark.parametrize("shape", [(0, 8), (3, 0), (0, 0)])
@pytest.mark.parametrize("symbolic", [False, True])
def test_nothing_at_all(shape, symbolic):
    x = np.zeros(shape, "f")
    nodes = [("Softmax", ["x"], ["r"], {}), ("ReduceSum", ["x", "axis"], ["s"], {"keepdims": 0})]
    sizes = ["n", "m"] if symbolic else list(shape)
    proto = model(nodes, {"x": sizes}, {"r": sizes, "s": sizes[:1]}, "float", [("axis", np.array([1]))])
    r, s = run(proto, [x])
    assert r.shape == shape and s.tolist() == [0.0] * shape[0]


def residual(kind, shape):
    """The sum is a second result; its row is read once."""
    x, y = tensor(kind, shape), tensor(kind, shape, 1)
    scale = tensor(kind, shape[-1:], 2)
    proto = model([("Add", ["x", "y"], ["t"], {}), ("LayerNormalization", ["t", "s"], ["r"], {})],
                  {"x": list(shape), "y": list(shape), "s": [shape[-1]]}, {"t": list(shape), "r": list(shape)},
                  kind)  # fmt: skip
    total = wide((x + y).astype(x.dtype))
    normal = (total - total.mean(-1, keepdims=True)) / np.sqrt(total.var(-1, keepdims=True) + np.float32(1e-5))
    return proto, [x, y, scale], [total, normal * wide(scale)]


@pytest.mark.parametrize("shape", [(7, 48), (3, 1000), (2, 40000)])
def test_second_results(shape):
    proto, inputs, want = residual("float", shape)
    for got, value in zip(run(proto, inputs), want):
        check(got, value, "float")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape, axis", [((3, 6000), 1), ((2, 40000), 1), ((2, 70, 9), 1)])
def test_order_of_threads(shape, axis, seed, monkeypatch):
    """Threads that are ready run in another order: a missing barrier shows."""
    if use_emulator() != "bitcode":
        pytest.skip("only the emulator can choose the order")
    monkeypatch.setenv("STRATA_EMULATOR_ORDER", str(seed))
    proto, inputs, want = softmax("float", shape, axis)
    check(run(proto, inputs)[0], want, "float")


@pytest.mark.parametrize("start, length", [(0, 96), (1, 96), (4, 96), (2, 62), (8, 24)])
@pytest.mark.parametrize("kind", ["float", "float16", "int8", "bool"])
def test_rows_that_start_anywhere(kind, start, length):
    """Parts of rows, of which wide loads are possible or not; elements that have no vectors."""
    x = np.random.default_rng(0).standard_normal((6, 104)).astype("f")
    nodes = [("Cast", ["x"], ["c"], {"to": getattr(TensorProto, kind.upper())}),
             ("Slice", ["c", "from", "to", "axis"], ["s"], {}), ("Cast", ["s"], ["f"], {"to": TensorProto.FLOAT}),
             ("Softmax", ["f"], ["r"], {}), ("ReduceMax", ["f", "axis"], ["m"], {"keepdims": 0})]  # fmt: skip
    constants = [("from", np.array([start])), ("to", np.array([start + length])), ("axis", np.array([1]))]
    proto = model(nodes, {"x": [6, 104]}, {"r": [6, length], "m": [6]}, "float", constants)
    part = x.astype(helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind.upper())))[:, start : start + length]
    part = part.astype(np.float64)
    e = np.exp(part - part.max(1, keepdims=True))
    for got, want in zip(run(proto, [x]), [e / e.sum(1, keepdims=True), part.max(1)]):
        check(got, want, "float")


@pytest.mark.skipif(not PTXAS, reason="no ptxas")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_one_kernel_in_registers(chip):
    """Each is one kernel, and what a thread holds of its row fits its registers."""
    cases = [softmax(kind, (640, length), -1) for kind in FLOATS for length in (130, 1024, 8192)]
    cases += [softmax("float", (640, 16384), -1), softmax("float", (2, 1000, 999), 1), layer_norm("double", (64, 8192)),
              layer_norm("float16", (64, 16384)), residual("float", (640, 8192)),
              root_mean_square("bfloat16", (640, 8192)), instance_norm("float", (16, 64, 56, 56))]  # fmt: skip
    for proto, inputs, _ in cases:
        what = f"{proto.graph.node[-1].op_type} of {inputs[0].dtype} {inputs[0].shape}"
        kernels = resources(proto, chip)
        assert len(kernels) == 1, f"{what}: {len(kernels)} kernels"
        assert kernels[0]["spilled"] == 0, f"{what}: {kernels}"
