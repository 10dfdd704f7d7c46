"""The suite's harness itself: what it calls wrong, crashed and unsupported, and how its list shrinks."""

import os
import signal
import time

import ml_dtypes
import numpy as np
import pytest
from Suite import drawn, run
from Suite.pool import run_all
from support.compare import difference


def _task(n):
    if n == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if n == 2:
        time.sleep(60)
    if n == 3:
        os.write(2, b"the reason\n")
        os._exit(7)
    return ("pass", str(n))


def test_a_crash_or_a_hang_costs_one_case():
    results = dict(run_all(_task, range(8), jobs=2, seconds=2))
    assert sorted(results) == list(range(8))
    assert results[1] == ("crashed", "SIGKILL: ")
    assert results[2] == ("crashed", "no answer after 2 s: ")
    assert results[3] == ("crashed", "exit code 7: the reason")
    assert [results[n] for n in (0, 4, 5, 6, 7)] == [("pass", str(n)) for n in (0, 4, 5, 6, 7)]


def _close(dtype, value, other, **tolerance):
    return difference(
        [np.array([value], dtype)], [np.array([other], dtype)], **({"rtol": 1e-3, "atol": 1e-7} | tolerance)
    )


@pytest.mark.parametrize(
    "dtype, same, other",
    [
        (np.float32, 1.0005, 1.002),
        (ml_dtypes.bfloat16, 1.0078125, 1.03125),
        (ml_dtypes.float8_e4m3fn, 1, 1.125),
        (ml_dtypes.float4_e2m1fn, 1, 1.5),
        (ml_dtypes.int4, 1, -2),
        (np.int64, 1, 2),
        (object, 1, 2),
        (bool, True, False),
    ],
)
def test_tolerances(dtype, same, other):
    assert _close(dtype, 1, same) is None
    assert _close(dtype, 1, other)


def test_nan_shape_type_and_count_differ():
    one = np.ones(3, np.float32)
    assert difference([one], [one], 0, 0) is None
    assert difference([one * np.nan], [one * np.nan], 0, 0) is None
    assert "not equal" in difference([one], [one * np.nan], 1, 1).lower()
    assert "shape" in difference([one], [one[:, None]], 0, 0)
    assert "element type" in difference([one], [one.astype(np.float64)], 0, 0)
    assert "sequence of 1" in difference([one], [], 0, 0)
    assert "outputs[0][1]" in difference([[one, one]], [[one, one + 1]], 0, 0)


def test_the_list_only_shrinks():
    assert run.problem("a", "pass", "", {}) is None
    assert run.problem("a", "unsupported", "why", {"a": "why"}) is None
    assert "still in" in run.problem("a", "pass", "", {"a": "why"})
    assert "not in" in run.problem("a", "unsupported", "why", {})
    assert run.problem("a", "wrong", "why", {"a": "why"}) == "wrong: why"


def test_update(tmp_path, monkeypatch):
    file = tmp_path / "unsupported.txt"
    file.write_text("# head\na: x\nb: y\n")
    monkeypatch.setattr(run, "LIST", file)
    results = {"a": ("pass", ""), "b": ("unsupported", "m.onnx:1:2: error: new"), "c": ("unsupported", "z")}
    run.update(results, run.read_list(file), grow=False)
    assert file.read_text() == "# head\nb: new\n"
    run.update(results, run.read_list(file), grow=True)
    assert file.read_text() == "# head\nb: new\nc: z\n"


def _drawn(sample, check="dropout", runs=iter(range(10**6))):
    inputs = {
        "dropout": [np.arange(1, 41, dtype=np.float32), np.float32(0.25), np.array(True)],
        "bernoulli": [np.linspace(0, 1, 40, dtype=np.float32)],
    }[check]

    def run(inputs):
        return sample(np.random.default_rng(next(runs)), *inputs)

    return drawn.difference(check, run, inputs, [inputs[0], inputs[0] > 0][: 2 if check == "dropout" else 1])


def test_what_is_drawn_at_random():
    def dropout(rng, x, ratio, training, share=0.75, scale=0.75):
        mask = rng.random(x.shape) < share
        return [np.where(mask, x / np.float32(scale), np.float32(0)), mask]

    def bernoulli(rng, p, one=1.0, power=1):
        return [np.where(rng.random(p.shape) < p**power, np.float32(one), np.float32(0))]

    assert _drawn(dropout) is None
    assert "shares" in _drawn(lambda *a: dropout(*a, share=0.7))
    assert "neither 0 nor scaled" in _drawn(lambda *a: dropout(*a, scale=0.7))
    assert "mask" in _drawn(lambda *a: [dropout(*a)[0], ~dropout(*a)[1]])
    assert "shares" in _drawn(lambda _, *a: dropout(np.random.default_rng(0), *a))
    assert "expected 2 outputs" in _drawn(lambda *a: dropout(*a)[:1])
    assert "float64" in _drawn(lambda *a: [dropout(*a)[0].astype(float), dropout(*a)[1]])
    assert _drawn(bernoulli, "bernoulli") is None
    assert "neither 0 nor 1" in _drawn(lambda *a: bernoulli(*a, one=2), "bernoulli")
    assert "shares" in _drawn(lambda *a: bernoulli(*a, power=2), "bernoulli")
