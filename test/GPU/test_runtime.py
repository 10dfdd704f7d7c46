"""What the runtime does around kernels: recorded graphs, arrays that stay on the GPU, several GPUs, large copies."""

import ctypes
import os
import re
import subprocess

import numpy as np
import pytest
import strata
from support.emulator import library, use_emulator
from support.library import BIN

from GPU.families import model, tensor


def compile_for_gpu(proto, **options):
    return strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1, **options)


def only_emulated():
    use_emulator()
    if os.environ["STRATA_CUDA_DRIVER"] != str(library()):
        pytest.skip("only the emulator tells")


def graphs():
    return ctypes.CDLL(str(library())).strata_emulator_graphs()


def normal(x, scale, bias):
    x = x.astype(np.float64)
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + np.float32(1e-5)) * scale + bias


def test_kernels_are_recorded_and_started_as_a_graph(monkeypatch):
    """The second run records what the first did; new inputs give new results."""
    only_emulated()
    x, scale, bias = tensor("float", (6, 96)), tensor("float", (96,), 1), tensor("float", (96,), 2)
    nodes = [("LayerNormalization", ["x", "s", "b"], ["n"], {}), ("Transpose", ["n"], ["r"], {"perm": [1, 0]})]
    proto = model(nodes, {"x": [6, 96], "s": [96], "b": [96]}, {"r": [96, 6]}, "float")
    compiled, before = compile_for_gpu(proto), graphs()
    for run in range(5):
        given = x + run
        [got] = compiled.run([given, scale, bias])
        np.testing.assert_allclose(got, normal(given, scale, bias).T, atol=1e-5)
    # Buffers that the first run allocated may be others than those that the next ones are given.
    assert graphs() - before >= 3
    monkeypatch.setenv("STRATA_CUDA_WAIT", "1")
    compiled, before = compile_for_gpu(proto), graphs()
    for _ in range(3):
        compiled.run([x, scale, bias])
    assert graphs() == before


def test_what_changes_from_run_to_run_is_not_mixed_up():
    """Sizes and buffers are part of what a recording is for."""
    nodes = [("Softmax", ["x"], ["s"], {}), ("Transpose", ["s"], ["y"], {"perm": [1, 0]})]
    proto = model(nodes, {"x": ["n", 9]}, {"y": [9, "n"]}, "float")
    compiled = compile_for_gpu(proto)
    for rows in [1, 3, 1, 3, 3, 1, 40, 1, 40, 40]:
        x = tensor("float", (rows, 9), rows)
        e = np.exp(x.astype(np.float64))
        np.testing.assert_allclose(compiled.run([x])[0], (e / e.sum(1, keepdims=True)).T, rtol=1e-5)


@pytest.mark.parametrize("copy, said", [
    ("upload", "input 'x': copying to the GPU failed"), ("download", "sortedness: copying from the GPU failed")])  # fmt: skip
def test_a_copy_that_fails_says_for_which_nodes(copy, said, monkeypatch):
    only_emulated()
    nodes = [("Mul", ["x", "x"], ["s"], {}), ("TopK", ["s", "k"], ["v", "i"], {}), ("Sqrt", ["v"], ["r"], {})]
    proto = model(nodes, {"x": [50]}, {"r": [4]}, "float", [("k", np.array([4]))])
    proto.graph.node[1].name = "sortedness"
    compiled = compile_for_gpu(proto)
    compiled.run([tensor("float", (50,))])
    monkeypatch.setenv("STRATA_EMULATOR_FAIL", copy)
    with pytest.raises(strata.Error, match=said):
        compiled.run([tensor("float", (50,))])


def test_a_kernel_that_leaves_its_buffers_is_stopped(tmp_path, capfd):
    """The emulator says which thread, and where its address lies."""
    only_emulated()
    path = tmp_path / "m.mlir"
    proto = model([("Neg", ["x"], ["y"], {})], {"x": [320]}, {"y": [320]}, "float")
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    command = [BIN / "strata-compile", tmp_path / "m.onnx", "--target=cuda", "--compile-to=gpu"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    path.write_text(text.replace("arith.constant 320 : index", "arith.constant 400 : index"))
    with pytest.raises(strata.RunError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        compile_for_gpu(path).run([tensor("float", (320,))])
    place = r"of thread 64 \(block 1, 0, 0\): 0 bytes behind 1280 bytes of device 0"
    assert re.search(rf"illegal address 0x[0-9a-f]+ {place}", capfd.readouterr().err)


def double(size="n"):
    return model([("Add", ["x", "x"], ["y"], {})], {"x": [size]}, {"y": [size]}, "float")


def test_results_stay_on_the_gpu():
    compiled = compile_for_gpu(double(), device_results=True)
    x = tensor("float", (70,))
    [first] = compiled.run([x])
    assert isinstance(first, strata.DeviceArray)
    assert first.shape == (70,) and first.dtype == np.float32 and first.__dlpack_device__() == (2, 0)
    # A result is the caller's: later runs do not change it, and go on from it where it is.
    [second] = compiled.run([first])
    [third] = compile_for_gpu(double(), device_results=True).run({"x": second})
    [on_host] = compile_for_gpu(double()).run([third])
    del compiled
    for factor, array in ((2, first), (4, second), (8, third)):
        np.testing.assert_array_equal(array.numpy(), factor * x)
    np.testing.assert_array_equal(on_host, 16 * x)


def test_dlpack_says_what_the_result_is():
    """The structure behind the capsule: address, device, type and shape."""
    [array] = compile_for_gpu(double(5), device_results=True).run([np.arange(5, dtype=np.float32)])
    capsule = array.__dlpack__(stream=None)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

    class DLTensor(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                    ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                    ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64))]  # fmt: skip

    described = DLTensor.from_address(pointer(capsule, b"dltensor"))
    assert described.data % 256 == 0
    assert (described.device_type, described.device_id, described.ndim, described.shape[0]) == (2, 0, 1, 5)
    assert (described.code, described.bits, described.lanes) == (2, 32, 1)


@pytest.mark.parametrize("nodes", [[("TopK", ["x", "k"], ["y", "i"], {})], [("Identity", ["x"], ["y"], {})]])
def test_the_host_reads_an_input_on_the_gpu(nodes):
    x = tensor("float", (20,))
    [given] = compile_for_gpu(double(), device_results=True).run([x])
    size = 3 if nodes[0][0] == "TopK" else 20
    proto = model(nodes, {"x": [20]}, {"y": [size]}, "float", [("k", np.array([3]))])
    [got] = compile_for_gpu(proto).run([given])
    np.testing.assert_array_equal(got, np.sort(2 * x)[::-1][:3] if size == 3 else 2 * x)


def test_inputs_that_do_not_fit_are_refused():
    [given] = compile_for_gpu(double(), device_results=True).run([tensor("float", (8,))])
    with pytest.raises(strata.RunError, match="input 'x' is on a GPU, and the model was compiled for the CPU"):
        strata.compile(double()).run([given])
    with pytest.raises(strata.InputError, match="input 'x' must be float64, got float32"):
        compile_for_gpu(model([("Neg", ["x"], ["y"], {})], {"x": [8]}, {"y": [8]}, "double")).run([given])
    with pytest.raises(strata.RunError, match=r"input 'x' has shape \[8\], the model expects \[9\]"):
        compile_for_gpu(double(9)).run([given])


def test_several_devices(monkeypatch):
    only_emulated()
    monkeypatch.setenv("STRATA_EMULATOR_DEVICES", "2")
    x = tensor("float", (30,))
    first = compile_for_gpu(double(), device=0, device_results=True)
    second = compile_for_gpu(double(), device=1, device_results=True)
    results = {}
    for number, compiled in enumerate((first, second, first, second)):
        [results[number]] = compiled.run([x + number])
    for number, result in results.items():
        assert result.__dlpack_device__() == (2, number % 2)
        np.testing.assert_array_equal(result.numpy(), 2 * (x + number))
    with pytest.raises(strata.RunError, match="input 'x' is on GPU 0, and the session runs on GPU 1"):
        second.run([results[0]])
    with pytest.raises(strata.RunError, match="the session's device is 2, and there are 2 GPUs"):
        compile_for_gpu(double(), device=2).run([x])
    monkeypatch.setenv("STRATA_CUDA_DEVICE", "3")
    with pytest.raises(strata.RunError, match="STRATA_CUDA_DEVICE is 3, and there are 2 GPUs"):
        compile_for_gpu(double()).run([x])


def test_large_copies_go_in_pieces():
    """More than two pieces of 4 MiB, and an end that is no whole one."""
    x = tensor("float", (2_300_001,))
    np.testing.assert_array_equal(compile_for_gpu(double()).run([x])[0], 2 * x)


def test_kernels_can_be_kept(monkeypatch, tmp_path):
    """Of each module that was loaded the bitcode, and this machine's code for it."""
    only_emulated()
    monkeypatch.setenv("STRATA_EMULATOR_KEEP", str(tmp_path))
    compile_for_gpu(double()).run([tensor("float", (5,))])
    [bitcode] = tmp_path.glob("*.bc")
    assert bitcode.read_bytes()[:4] == b"BC\xc0\xde"
    assert bitcode.with_suffix(".o").read_bytes()[:4] == b"\x7fELF"
