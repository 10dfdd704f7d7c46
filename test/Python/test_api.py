"""The Python package: what compile takes, what run takes and gives, and how failures look."""

import gc
import os
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper, parser
from strata._dtypes import from_memory, from_onnx, to_memory
from support.library import BIN

LINEAR = """
<ir_version: 10, opset_import: ["" : 18]>
linear (float[batch, 3] x, float[3, 2] w) => (float[batch, 2] y, float[batch, 2] r) {
  y = MatMul(x, w)
  r = Relu(y)
}
"""
X = np.array([[1, 2, 3], [-4, 5, -6]], np.float32)
W = np.array([[1, -1], [2, -2], [3, 0.5]], np.float32)


def proto(text=LINEAR):
    return parser.parse_model(text)


@pytest.fixture(scope="module")
def linear():
    return strata.compile(proto(), name="linear")


def check(outputs):
    np.testing.assert_allclose(outputs[0], X @ W, rtol=1e-6)
    np.testing.assert_allclose(outputs[1], np.maximum(X @ W, 0), rtol=1e-6)


def test_running_needs_no_compiler(tmp_path):
    (tmp_path / "linear.onnx").write_bytes(proto().SerializeToString())
    library = tmp_path / "linear.so"
    subprocess.run([BIN / "strata-compile", tmp_path / "linear.onnx", "--emit=lib", "-o", library], check=True)
    script = f"""
import numpy as np, strata
model = strata.load({str(library)!r})
model.run([np.zeros((1, 3), np.float32), np.zeros((3, 2), np.float32)])
print("LLVM" in open("/proc/self/maps").read())
strata.compile({str(tmp_path / "linear.onnx")!r})
print("LLVM" in open("/proc/self/maps").read())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_model_may_be_a_path_bytes_or_a_proto(tmp_path):
    path = tmp_path / "linear.onnx"
    onnx.save(proto(), path)
    data = proto().SerializeToString()
    for model in (path, str(path), data, bytearray(data), memoryview(data), proto()):
        check(strata.compile(model).run([X, W]))


def test_inputs_by_name_by_position_and_by_call(linear):
    check(linear.run({"w": W, "x": X}))
    check(linear.run([X, W]))
    check(linear.run((X, W)))
    check(linear(X, W))


def test_inputs_that_are_no_numpy_arrays(linear):
    class Foreign:  # any array that speaks DLPack
        def __dlpack__(self, **kwargs):
            return X.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return X.__dlpack_device__()

    check(linear(Foreign(), W))
    check(linear(X.tolist(), W))
    check(linear(np.asfortranarray(X), W))
    check(linear(np.repeat(X, 2, axis=1)[:, ::2], W))


def test_arrays_that_only_some_read(linear):
    fixed = X.copy()
    fixed.flags.writeable = False
    check(linear(fixed, W))
    check(linear(X.view(np.memmap), W))
    with pytest.raises(strata.InputError, match="must be float32, got >f4"):
        linear(X.astype(">f4"), W)


def test_signature(linear):
    assert linear.name == "linear"
    assert linear.inputs == [
        strata.Value("x", ("batch", 3), np.dtype(np.float32)),
        strata.Value("w", (3, 2), np.dtype(np.float32)),
    ]
    assert [value.name for value in linear.outputs] == ["y", "r"]
    assert linear.outputs[0].shape == ("batch", 2)
    assert "x: float32[batch, 3]" in repr(linear)


def test_a_symbolic_dimension_takes_any_size(linear):
    for batch in (0, 1, 7, 64):
        x = np.random.default_rng(batch).standard_normal((batch, 3), np.float32)
        y, r = linear(x, W)
        assert y.shape == r.shape == (batch, 2)
        np.testing.assert_allclose(y, x @ W, rtol=1e-5, atol=1e-6)


def test_outputs_are_views_that_outlive_the_model():
    model = strata.compile(proto())
    outputs = model(X, W)
    assert not outputs[0].flags.owndata
    first = [output.copy() for output in outputs]
    later = model(X * 2, W)
    for output, copy in zip(outputs, first):
        np.testing.assert_array_equal(output, copy)
    del model, later
    gc.collect()
    check(outputs)
    outputs[0][:] = 0  # they are the caller's own


def test_inputs_are_read_in_place():
    for array in (X, X.astype(ml_dtypes.bfloat16), np.array(3.5), np.zeros((2, 0), np.int64), X > 0):
        assert array.size == 0 or np.shares_memory(to_memory(array), array)


ELEMENT_TYPES = [t for t in range(1, 29) if t != TensorProto.STRING]


@pytest.mark.parametrize("code", ELEMENT_TYPES, ids=lambda code: TensorProto.DataType.Name(code).lower())
def test_memory_of_every_element_type(code):
    dtype = from_onnx(code)
    assert dtype == helper.tensor_dtype_to_np_dtype(code)
    array = np.array([[0, 1, 1, 0]]).astype(dtype)
    if dtype in (ml_dtypes.int4, ml_dtypes.int2):
        array = np.array([[-1, 1, -2, 0]]).astype(dtype)
        assert to_memory(array).view(np.int8).tolist() == [-1, 1, -2, 0]
    back = from_memory(to_memory(array), dtype, array.shape)
    assert back.dtype == dtype and back.tobytes() == array.tobytes()


@pytest.mark.parametrize("code", ELEMENT_TYPES, ids=lambda code: TensorProto.DataType.Name(code).lower())
def test_identity_of_every_element_type(code):
    version, ir = (25, 13) if code < TensorProto.FLOAT6E2M3 else (28, 14)
    if version == 28:
        pytest.skip("Identity takes no 6-bit floats")
    value = [helper.make_tensor_value_info(name, code, ["n"]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", value[:1], value[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=ir)
    x = np.array([0, 1, 1, 0, 1]).astype(from_onnx(code))
    if x.dtype in (ml_dtypes.int4, ml_dtypes.int2):
        x = np.array([-1, 1, -2, 0, 1]).astype(x.dtype)
    [y] = strata.compile(model)(x)
    assert y.dtype == x.dtype and y.tobytes() == x.tobytes()


@pytest.mark.parametrize(
    "feeds, message",
    [
        ({"x": X}, "no array is given for input 'w' of linear"),
        ({"x": X, "w": W, "z": W}, "linear has no input 'z'; its inputs are 'x', 'w'"),
        ([X], "linear takes 2 inputs, got 1"),
        ([X, W, W], "linear takes 2 inputs, got 3"),
        ([X.astype(np.float64), W], "input 'x' must be float32, got float64"),
        ([X, W.T], "input 'w' must have shape [3, 2], got [2, 3]"),
        ([X[0], W], "input 'x' must have shape [batch, 3], got [3]"),
    ],
)
def test_wrong_inputs(linear, feeds, message):
    with pytest.raises(strata.InputError) as error:
        linear.run(feeds)
    assert str(error.value) == message
    check(linear(X, W))


def test_equal_names_must_have_equal_sizes():
    model = strata.compile(
        proto('<ir_version: 10, opset_import: ["" : 18]> g (float[n] a, float[n] b) => (float[n] y) { y = Add(a, b) }')
    )
    with pytest.raises(strata.Error, match="n"):
        model(np.ones(3, np.float32), np.ones(4, np.float32))
    [y] = model(np.ones(3, np.float32), np.ones(3, np.float32))
    assert y.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "model, words",
    [
        (b"no protobuf", ["<bytes>"]),
        (b"", ["<bytes>", "empty"]),
        (proto(LINEAR.replace("Relu", "Rilu")), ["Rilu"]),
        (proto(LINEAR.replace("ir_version: 10", "ir_version: 99")), ["IR version 99"]),
        (proto(LINEAR.replace("float[3, 2]", "float[4, 2]")), ["MatMul"]),
        ("no/such/model.onnx", ["no/such/model.onnx"]),
        ("/", ["/"]),
    ],
)
def test_refused_models(model, words):
    with pytest.raises(strata.CompileError) as error:
        strata.compile(model)
    text = str(error.value)
    assert all(word in text for word in words), text


def test_wrong_arguments():
    with pytest.raises(ValueError, match="threads must be at least 1"):
        strata.compile(proto(), threads=0)
    with pytest.raises(strata.CompileError, match="no-such-cpu"):
        strata.compile(proto(), target="no-such-cpu")
    with pytest.raises(strata.Error, match="no/such.so"):
        strata.load("no/such.so")


def test_threads_and_target():
    model = strata.compile(proto(), threads=2, target="x86-64-v3,-fma", opt_level=1)
    assert model.threads == 2
    check(model(X, W))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one CPU")
def test_workers_keep_off_the_caller():
    """A worker may not wait on the CPU that the calling thread keeps busy."""
    script = """
import os, numpy as np, onnx, strata
from onnx import parser
model = strata.compile(parser.parse_model('<ir_version: 10, opset_import: ["" : 21]> '
    'g (float[512, 512] x) => (float[512, 512] y) { y = MatMul(x, x) }'), threads=2)
x, cpus = np.ones((512, 512), np.float32), os.sched_getaffinity(0)
before = set(os.listdir("/proc/self/task"))
for cpu in sorted(cpus)[:2]:
    os.sched_setaffinity(0, {cpu})
    model.run([x])
    os.sched_setaffinity(0, cpus)
    masks = [os.sched_getaffinity(int(task)) for task in set(os.listdir("/proc/self/task")) - before]
    print(masks == [cpus - {cpu}])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_runs_from_many_threads(linear):
    failures = []

    def work(seed):
        x = np.random.default_rng(seed).standard_normal((seed + 1, 3), np.float32)
        for _ in range(50):
            if not np.allclose(linear(x, W)[0], x @ W, rtol=1e-4, atol=1e-5):
                failures.append(seed)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_convert_opset_gives_a_model_of_that_opset():
    old = onnx.ModelProto.FromString(strata.convert_opset(proto(), 13))
    onnx.checker.check_model(old, full_check=True)
    assert [(entry.domain, entry.version) for entry in old.opset_import] == [("", 13)]
    check(strata.compile(old).run([X, W]))


def test_convert_opset_names_what_it_refuses():
    gelu = """<ir_version: 10, opset_import: ["" : 20]> g (float[3] x) => (float[3] y) { [exact] y = Atanh(x) }"""
    with pytest.raises(strata.CompileError, match=r"node 'exact': error: 'onnx.Atanh_9' op .*begins with version 9"):
        strata.convert_opset(proto(gelu), 8)
    with pytest.raises(strata.CompileError, match="'new' is no opset"):
        strata.convert_opset(proto(), "new")
