"""strata.backend: the interface by which ONNX's own tools run models."""

import numpy as np
import pytest
import strata
from onnx import helper, parser
from onnx.backend.test.runner import Runner
from strata import backend

MODEL = """
<ir_version: 10, opset_import: ["" : 18]>
g (float[n] x) => (float[n] y) { y = Neg(x) }
"""


def test_prepare_and_run():
    x = np.array([1, -2, 3], np.float32)
    rep = backend.prepare(parser.parse_model(MODEL), "CPU", threads=1)
    for [y] in (rep.run([x]), backend.run_model(parser.parse_model(MODEL), [x])):
        assert y.tolist() == [-1, 2, -3]


def test_devices():
    assert backend.supports_device("CPU")
    assert not backend.supports_device("CUDA")
    with pytest.raises(ValueError, match="CUDA"):
        backend.prepare(parser.parse_model(MODEL), "CUDA")


def test_run_node():
    a, b = np.ones((2, 3), np.float32), np.arange(3, dtype=np.float32)
    [y] = backend.run_node(helper.make_node("Add", ["a", "b"], ["y"]), [a, b])
    np.testing.assert_array_equal(y, a + b)


def test_onnx_runner_drives_us():
    runner = Runner(backend.StrataBackend, __name__)
    runner.include("^test_(relu|add|softmax_axis_1)_cpu$")
    result = runner.test_suite.run(__import__("unittest").TestResult())
    assert not result.failures and not result.errors, (result.failures + result.errors)[0][1]
    assert result.testsRun - len(result.skipped) == 3


def test_refusal_is_an_exception():
    with pytest.raises(strata.CompileError, match="Nig"):
        backend.prepare(parser.parse_model(MODEL.replace("Neg", "Nig")))
