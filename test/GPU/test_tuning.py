"""--tune for a GPU: every tile that may be chosen gives the same numbers, and the fastest one is found, kept and used.

The emulated GPU's clock goes on by what STRATA_EMULATOR_TIMES says of a launch's shape.
"""

import json
import os
import re
import subprocess

import numpy as np
import pytest
import strata
from support.emulator import use_emulator
from support.library import BIN

from GPU.assembler import PTXAS
from GPU.products import batched, check, convolution, gemm, quantized_product

# Rows, columns, those of a part, bytes of steps, stages.
WARPS = [
    (32, 32, 16, 16, 64, 2), (32, 128, 32, 32, 64, 3), (64, 64, 64, 64, 128, 2), (128, 64, 32, 64, 32, 8),
    (128, 128, 64, 32, 128, 3), (256, 64, 64, 64, 64, 4), (64, 256, 32, 64, 64, 2), (256, 32, 128, 32, 64, 2),
    (128, 128, 16, 128, 64, 5),
]  # fmt: skip
THREADS = [
    (16, 32, 2, 4, 64, 2), (32, 64, 4, 4, 64, 3), (64, 32, 8, 2, 32, 2), (128, 64, 8, 8, 128, 2),
    (256, 64, 8, 8, 64, 2), (64, 256, 8, 8, 64, 4), (128, 128, 8, 8, 64, 5),
]  # fmt: skip
WARPGROUPS = [
    (64, 64, 64, 64, 128, 2), (64, 128, 64, 128, 64, 8), (64, 256, 64, 256, 128, 0), (128, 64, 64, 64, 64, 3),
    (128, 128, 64, 128, 128, 4), (128, 256, 64, 256, 128, 0), (256, 128, 128, 128, 64, 2),
]  # fmt: skip
BYTES = {"float16": 2, "bfloat16": 2, "tf32": 4, "float": 4, "double": 8, "uint8": 1}

CASES = {
    "warps": [
        ("float16", WARPS, "cuda", lambda: gemm("float16", 200, 300, 168)),
        ("float16", WARPS, "cuda", lambda: gemm("float16", 133, 141, 75, 1, 1)),
        ("tf32", WARPS, "cuda", lambda: gemm("tf32", 200, 300, 84, 1, 0)),
        ("tf32", WARPS, "cuda", lambda: gemm("tf32", 133, 141, 37, 0, 0)),
        ("uint8", WARPS, "cuda", lambda: quantized_product("uint8", "int8", 200, 300, 272)),
        ("float16", WARPS, "cuda", lambda: convolution("float16", 2, 24, (11, 9), 72, (3, 3), (1, 1), (1, 1), (1, 1))),
    ],
    "threads": [
        ("float", THREADS, "cuda", lambda: gemm("float", 200, 300, 84)),
        ("float", THREADS, "cuda", lambda: gemm("float", 133, 141, 37, 1, 1)),
        ("double", THREADS, "cuda", lambda: gemm("double", 70, 90, 37)),
    ],
    "warpgroups": [
        ("float16", WARPGROUPS, "cuda:sm_90a", lambda: gemm("float16", 200, 136, 168)),
        ("float16", WARPGROUPS, "cuda:sm_90a", lambda: convolution("float16", 2, 64, (16, 16), 64, (3, 3))),
        ("tf32", WARPGROUPS, "cuda:sm_90a", lambda: gemm("tf32", 200, 136, 168, transposed_b=1)),
    ],
}  # fmt: skip


def precision(kind):
    return "tf32" if kind == "tf32" else "f32"


def with_tile(proto, kind, gpu, tile, folder):
    """The model, its product in this tile, as a file; nothing where that is not possible."""
    options = [f"--target={gpu}", f"--precision={precision(kind)}"]
    model, buffers, mapped = folder / "m.onnx", folder / "buffers.mlir", folder / "gpu.mlir"
    if not buffers.exists():
        model.write_bytes(proto.SerializeToString())
        command = [BIN / "strata-compile", model, *options, "--compile-to=buffers", "--print-weights", "-o", buffers]
        subprocess.run(command, check=True)
    of_sums = r'("reduction"\]\} ins\(%\w+, %\w+ : [^)]*(?:<[^)]*>)*[^)]*\) outs\([^{]*?\)) \{'
    text, count = re.subn(of_sums, rf"\1 attrs = {{strata.tile = {json.dumps(tile)}}} {{", buffers.read_text())
    assert count == 1
    chosen = folder / "chosen.mlir"
    chosen.write_text(text)
    command = [BIN / "strata-compile", chosen, *options, "--compile-to=gpu", "--print-weights", "-o", mapped]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if "the tile that was chosen is not possible" in done.stderr:
        return None
    assert not done.stderr
    return mapped


@pytest.mark.parametrize("by, number", [(by, number) for by, cases in CASES.items() for number in range(len(cases))])
def test_every_tile_is_right(by, number, tmp_path):
    kind, tiles, gpu, make = CASES[by][number]
    proto, inputs, want = make()
    possible = 0
    tiles = tiles[number % 2 :: 2]
    for *sides, depth_bytes, stages in tiles:
        depth = depth_bytes // BYTES[kind]
        found = with_tile(proto, kind, gpu, [by, *sides, depth, stages], tmp_path)
        if not found:
            continue
        possible += 1
        options = {"gpu": gpu, "gpu_format": use_emulator(), "precision": precision(kind)}
        got = strata.compile(found, threads=1, **options).run(inputs)[0]
        if kind == "uint8":
            np.testing.assert_array_equal(got, want)
        elif kind == "double":
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)
        else:
            check(got, want, kind)
    assert possible >= len(tiles) // 2, f"only {possible} of the tiles are possible"


def shape_of(tile, rows, columns, element_bytes, batch=1):
    """BLOCKSxTHREADSxBYTES of a tile by warps, as the emulated GPU's clock knows it."""
    _, high, wide, part_high, part_wide, depth, stages = tile
    blocks = batch * -(-rows // high) * -(-columns // wide)
    return f"{blocks}x{high // part_high * (wide // part_wide) * 32}x{stages * depth * (high + wide) * element_bytes}"


def tune(proto, path, kind="float16", gpu="cuda"):
    options = {"gpu": gpu, "gpu_format": use_emulator(), "precision": precision(kind)}
    return strata.compile(proto, threads=1, tune=True, tuning_file=path, **options)


@pytest.fixture
def emulated(monkeypatch):
    if use_emulator() != "bitcode":
        pytest.skip("times are the emulator's")
    monkeypatch.delenv("STRATA_EMULATOR_TIMES", raising=False)
    return monkeypatch


HEURISTIC = ["warps", 64, 64, 32, 32, 32, 4]
STEP = ["warps", 128, 64, 32, 32, 32, 4]
FASTEST = ["warps", 128, 64, 64, 64, 32, 4]


def times(monkeypatch, entries):
    text = ",".join(f"{shape_of(tile, 128, 192, 2)}:{time}" for tile, time in entries)
    monkeypatch.setenv("STRATA_EMULATOR_TIMES", text)


def test_the_fastest_tile_is_found_kept_and_used(emulated, tmp_path):
    """It is no neighbour of the heuristic's tile, but of one that is faster than that."""
    proto, inputs, want = gemm("float16", 128, 192, 48)
    path = tmp_path / "folder" / "tuning.json"
    times(emulated, [(HEURISTIC, 1000), (STEP, 800), (FASTEST, 500)])
    check(tune(proto, path).run(inputs)[0], want, "float16")
    [(key, result)] = json.loads(path.read_text())["kernels"].items()
    assert key.endswith("/Strata's emulator")
    assert result["tile"] == FASTEST and result["target"] == "sm_80"
    assert (result["before_us"], round(result["after_us"])) == (1000, 500)
    # Found again: nothing is measured, or written, whatever the times are by now.
    stamp = path.stat().st_mtime_ns
    times(emulated, [(HEURISTIC, 1)])
    again = tune(proto, path)
    assert path.stat().st_mtime_ns == stamp
    check(again.run(inputs)[0], want, "float16")
    # And without a GPU.
    model = tmp_path / "m.onnx"
    model.write_bytes(proto.SerializeToString())
    command = [BIN / "strata-compile", model, "--target=cuda", "--tune", f"--tuning-file={path}", "--compile-to=gpu"]
    done = subprocess.run(command, env={**os.environ, "STRATA_CUDA_DRIVER": "/none"}, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    [threads] = set(re.findall(r"known_block_size = array<i32: (\d+)", done.stdout))
    assert int(threads) == 64


def test_what_is_hardly_faster_is_not_taken(emulated, tmp_path):
    proto, inputs, want = gemm("float16", 128, 192, 48)
    times(emulated, [(HEURISTIC, 1000), (STEP, 990)])
    path = tmp_path / "tuning.json"
    check(tune(proto, path).run(inputs)[0], want, "float16")
    [result] = json.loads(path.read_text())["kernels"].values()
    assert result["tile"] == HEURISTIC and result["before_us"] == result["after_us"]


def test_each_kernel_has_its_own_result(emulated, tmp_path):
    """Of a batch, without tensor cores and on them; in half the columns, or half the rows."""
    path = tmp_path / "tuning.json"
    for kind, shape, by in (("float", "16x256x12288", "threads"), ("tf32", "16x64x24576", "warps")):
        proto, inputs, want = batched(kind, 8, 64, 64, 48)
        emulated.setenv("STRATA_EMULATOR_TIMES", f"{shape}:100")
        check(tune(proto, path, kind).run(inputs)[0], want, kind)
        results = {result["target"]: result for result in json.loads(path.read_text())["kernels"].values()}
        result = results["sm_80, tf32" if kind == "tf32" else "sm_80"]
        assert result["tile"][0] == by and sorted(result["tile"][1:3]) == [32, 64] and result["after_us"] == 100, result
    assert len(results) == 2


def test_warpgroups(emulated, tmp_path):
    """By other warpgroups, whose blocks take several tiles, or by warps in their place."""
    proto, inputs, want = gemm("float16", 200, 136, 64)
    for shape, tile in (("3x384x229488", ["warpgroups", 128, 128, 64, 128, 64, 7]),
                        ("12x128x32768", ["warps", 64, 64, 32, 32, 32, 4])):  # fmt: skip
        emulated.setenv("STRATA_EMULATOR_TIMES", f"{shape}:100")
        path = tmp_path / f"{tile[0]}.json"
        check(tune(proto, path, gpu="cuda:sm_90a").run(inputs)[0], want, "float16")
        [result] = json.loads(path.read_text())["kernels"].values()
        assert result["tile"] == tile


def test_the_device_is_the_session_s(emulated, tmp_path):
    proto, _, _ = gemm("float16", 128, 192, 48)
    emulated.setenv("STRATA_EMULATOR_DEVICES", "2")
    with pytest.raises(strata.CompileError, match="cannot measure .*: the session's device is 2, and there are 2 GPUs"):
        strata.compile(proto, gpu="cuda", tune=True, tuning_file=tmp_path / "t.json", device=2)


def test_a_tile_that_fails_is_not_taken(emulated, tmp_path):
    proto, inputs, want = gemm("float16", 128, 192, 48)
    path = tmp_path / "tuning.json"
    times(emulated, [(HEURISTIC, 1000), (STEP, "fails"), (FASTEST, 500)])
    check(tune(proto, path).run(inputs)[0], want, "float16")
    [result] = json.loads(path.read_text())["kernels"].values()
    assert result["tile"] not in (STEP, FASTEST)


@pytest.mark.skipif(not PTXAS, reason="needs ptxas")
@pytest.mark.parametrize("kind, gpu, by, tiles", [
    ("float16", "sm_80", "warps", WARPS), ("tf32", "sm_80", "warps", WARPS), ("uint8", "sm_80", "warps", WARPS),
    ("float", "sm_80", "threads", THREADS), ("float16", "sm_90a", "warpgroups", WARPGROUPS)])  # fmt: skip
def test_sums_of_all_tiles_are_in_registers(kind, gpu, by, tiles, tmp_path):
    size = 512, 512, 256
    proto = quantized_product("uint8", "int8", *size)[0] if kind == "uint8" else gemm(kind, *size, transposed_b=1)[0]
    for *sides, depth_bytes, stages in tiles:
        tile = [by, *sides, depth_bytes // BYTES[kind], stages]
        found = with_tile(proto, kind, f"cuda:{gpu}", tile, tmp_path)
        if not found:
            continue
        kernels = tmp_path / "k.ptx"
        command = [BIN / "strata-compile", found, f"--target=cuda:{gpu}", "--gpu-format=ptx", "--emit=kernels"]
        subprocess.run([*command, f"--precision={precision(kind)}", "-o", kernels], check=True)
        done = subprocess.run([PTXAS, f"-arch={gpu}", "-v", kernels, "-o", tmp_path / "k.cubin"], capture_output=True,
                              text=True)  # fmt: skip
        assert done.returncode == 0, done.stderr
        # The assembler may put away an address or two before the loop, where there are registers for no other plan.
        [spilled] = re.findall(r"(\d+) bytes spill stores", done.stderr)
        assert int(spilled) <= 64, (tile, done.stderr[-400:])
