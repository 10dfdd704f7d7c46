"""The benchmark's own parts: its small models, how much work they are, the page. Nothing here is timed."""

import itertools
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
import bench  # noqa: E402
import cases  # noqa: E402
import limits  # noqa: E402
import page  # noqa: E402
from support.targets import has  # noqa: E402


def written(name, folder):
    return next(path() for found, path in cases.all_cases(folder, None, False) if found == name)


@pytest.mark.parametrize("name", cases.SMALL)
def test_small_case_is_a_valid_model(name):
    model = cases.parsed(name)
    onnx.checker.check_model(model)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)


@pytest.mark.parametrize(
    "name, flops, int8, read, written_bytes",
    [
        ("matmul 128x768x3072", 2 * 128 * 768 * 3072, 0, 4 * (128 * 768 + 768 * 3072), 4 * 128 * 3072),
        ("conv 7x7 stride 2 3 to 64 224x224", 2 * 112 * 112 * 64 * 147, 0, 4 * (3 * 224 * 224 + 64 * 148),
         4 * 64 * 112 * 112),
        ("quantised matmul 512x512x512", 0, 2 * 512**3, 2 * 512**2 + 16, 512**2),
        ("weights of 4 bits 1x4096x4096", 2 * 4096**2, 0, 4096**2 // 2 + 4 * 128 * 4096 + 4 * 4096, 4 * 4096),
    ],
)  # fmt: skip
def test_work(name, flops, int8, read, written_bytes, tmp_path):
    work = cases.work_of(written(name, tmp_path))
    assert (work["flops"], work["int8"], work["written"]) == (flops, int8, written_bytes)
    assert abs(work["read"] - read) <= 16


def test_least_seconds():
    rates = {"262144": 100.0, "67108864": 10.0}
    known = {"f32": 200.0, "bf16": None, "int8": None, "read": rates, "copy": rates}
    compute = {"flops": 4e9, "int8": 0, "read": 1000, "written": 1000}
    assert limits.least_seconds(known, compute, "f32") == pytest.approx(0.02)
    assert limits.least_seconds(known, compute, "bf16") == pytest.approx(0.02)
    move = {"flops": 0, "int8": 0, "read": 6e7, "written": 2e7}
    assert limits.least_seconds(known, move, "f32") == pytest.approx(8e7 / 10e9)


def test_a_wrong_peer_is_no_rival():
    turns = [(0.0, {"strata": 2.0, "onnxruntime": 1.0, "openvino": 4.0})] * 3
    right = bench.summarised(turns, ("onnxruntime", "openvino"), {"onnxruntime": 0.05, "openvino": 0.0})
    assert right["best"] == "onnxruntime" and right["ratio"] == 2.0 and "wrong" not in right
    one = bench.summarised(turns, ("onnxruntime", "openvino"), {"onnxruntime": 0.2, "openvino": 0.0})
    assert one["best"] == "openvino" and one["ratio"] == 0.5 and one["wrong"] == {"onnxruntime": 0.2}
    none = bench.summarised(turns, ("onnxruntime",), {"onnxruntime": float("inf")})
    assert "best" not in none and "ratio" not in none


class Scripted:
    """A runtime whose turns take the given times, over and over."""

    def __init__(self, name, *times):
        self.name, self.times, self.process = name, itertools.cycle(times), SimpleNamespace(pid=1)

    def ask(self, command, seconds):
        assert command == "time"
        return next(self.times)

    def rest(self):
        pass


@pytest.mark.parametrize("times, rounds", [((2.0,), 4), ((1.96, 2.0, 2.0, 2.04), 4), ((1.0, 2.0, 3.0), 12)])
def test_uncertain_ratios_are_measured_for_more_rounds(times, rounds, monkeypatch):
    monkeypatch.setattr(bench, "_busy_seconds", lambda pids: 0.0)
    turns = bench.race([Scripted("strata", *times), Scripted("onnxruntime", 4.0)], 4, 0.1, ["onnxruntime"])
    result = bench.summarised(turns, ("onnxruntime",), {})
    assert len(turns) == rounds and result["ratio"] == 0.5
    # Of a normal distribution the median's is 1.2533 standard deviations / sqrt(n), quartiles are 1.349 apart.
    low, high = np.quantile(np.array(list(itertools.islice(itertools.cycle(times), rounds))) / 4, [0.25, 0.75])
    assert result["uncertainty"] == pytest.approx(1.2533 / 1.349 * (high - low) / rounds**0.5)


def test_precisions_are_those_of_the_cpu(tmp_path):
    compiler = bench.Compiler(tmp_path)
    assert ("bf16" in compiler.precisions) == (has("avx512_bf16") or has("amx_bf16"))
    assert compiler.precisions | compiler.refused.keys() == {"f32", "bf16", "int8"}
    assert all(f"precision '{name}' needs a CPU" in why for name, why in compiler.refused.items())


@pytest.mark.parametrize(
    "precision, int8, right, wrong",
    [("f32", 0, 5e-5, 2e-4), ("f32", 2e9, 2e-2, 4e-2), ("bf16", 0, 2e-2, 4e-2), ("bf16", 2e9, 2e-2, 4e-2)],
)
def test_outputs_are_wrong_beyond_rounding(precision, int8, right, wrong):
    work = {"flops": 1e9, "int8": int8}
    assert not bench.is_wrong({"error": {"strata": right, "openvino": 1.0}}, precision, work)
    assert bench.is_wrong({"error": {"strata": wrong}}, precision, work)
    assert bench.is_wrong({"error": {"strata": float("inf")}}, precision, work)
    assert bench.is_wrong({"error": {}, "failed": {"strata": "why"}}, precision, work)
    assert not bench.is_wrong({"error": {}, "failed": {"openvino": "why"}}, precision, work)


def test_page_replaces_what_is_between_the_markers(tmp_path):
    run = {"ms": {"strata": 2.0, "onnxruntime": 1.0, "openvino": 4.0}, "best": "onnxruntime", "ratio": 2.0,
           "of limit": 0.25, "error": {"strata": 1e-7},
           "memory": {"strata": 20e6, "onnxruntime": 50e6, "openvino": 30e6}}  # fmt: skip
    rates = {"262144": 100.0}
    results = {
        "machine": {"cpu": "a CPU", "cores": 1, "features": ["avx2"], "date": "2000-01-01", "versions": {"x": "1"}},
        "limits": {"1": {"f32": 200.0, "bf16": None, "int8": None, "read": rates, "copy": rates}},
        "cases": {"case": {"f32": {"compile": {"seconds": 1.0, "peak": 120000000}, "1": run}}},
    }
    text = page.filled("before\n<!-- bench: f32 -->\nold\n<!-- end -->\nafter", results)
    assert "old" not in text and text.startswith("before\n") and text.endswith("\nafter")
    assert "| case | 2 | 1 ONNX Runtime | **2.00** | 25 % |" in text
    assert "| 1, 120 | 20 (30) |" in text
    run.update(best="openvino", ratio=0.5, wrong={"onnxruntime": 0.2})
    text = page.filled("<!-- bench: f32 -->\n<!-- end -->", results)
    assert "| case | 2 | 4 OpenVINO f32, (ONNX Runtime 1, off by 20%) | 0.50 | 25 % |" in text
    del run["best"], run["ratio"]
    text = page.filled("<!-- bench: f32 -->\n<!-- end -->", results)
    assert "| case | 2 | (ONNX Runtime 1, off by 20%) |  | 25 % |" in text
    run.update(best="openvino", ratio=0.5, apart=170.0)
    assert "| 0.50 (apart) | 25 % |" in page.filled("<!-- bench: f32 -->\n<!-- end -->", results)
    run.update(uncertainty=0.034)
    assert "| 0.50 ± 0.03 (apart) | 25 % |" in page.filled("<!-- bench: f32 -->\n<!-- end -->", results)
    run.update(ratio=1.1)
    text = page.filled("<!-- bench: f32 -->\n<!-- end -->", results)
    assert "| **1.10** ± 0.03 (apart) |" in text
    assert "1 are above 1.05 (0 by more than twice the uncertainty)." in text
    run.update(ratio=0.5, uncertainty=0.01)
    run["apart"] = 40.0
    assert "| 0.50 | 25 % |" in page.filled("<!-- bench: f32 -->\n<!-- end -->", results)


@pytest.mark.parametrize(
    "name, narrow",
    [("weights of 4 bits 1x4096x4096", True), ("matmul 256x256x256", False), ("quantised matmul 512x512x512", False)],
)
def test_narrow_weights_are_found(name, narrow, tmp_path):
    assert cases.work_of(written(name, tmp_path))["narrow"] == narrow
