"""Every family's kernels through the vendor's assembler, where it is installed: registers suffice."""

import os
import re
import shutil
import subprocess

import pytest
from support.library import BIN

from GPU.families import FAMILIES


def find_ptxas():
    for folder in [os.environ.get(v, "") + "/bin" for v in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")] + [None]:
        if found := shutil.which("ptxas", path=folder):
            return found
    return shutil.which("ptxas", path="/usr/local/cuda/bin")


PTXAS = find_ptxas()


def ptx_of(text):
    """The kernels in the module's text: what stands in the global's string, unescaped."""
    [escaped] = re.findall(r'@strata_gpu_data_kernels\("(.*?[^\\])"\)', text)
    raw = re.sub(rb"\\([0-9A-F]{2})", lambda m: bytes([int(m[1], 16)]), escaped.encode())
    return raw.rstrip(b"\0")


@pytest.mark.skipif(not PTXAS, reason="no ptxas")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_no_spills(chip, tmp_path):
    for family in FAMILIES:
        path = tmp_path / "model.onnx"
        path.write_bytes(family("float")[0].SerializeToString())
        command = [BIN / "strata-compile", path, f"--target=cuda:{chip}", "--gpu-format=ptx", "--compile-to=llvm", "-o", "-"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (tmp_path / "kernels.ptx").write_bytes(ptx_of(text))
        done = subprocess.run([PTXAS, f"-arch={chip}", "-v", tmp_path / "kernels.ptx", "-o", tmp_path / "k.cubin"],
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, f"{family.__name__}: {done.stderr}"
        assert re.search("Used [0-9]+ registers", done.stderr), done.stderr
        for spilled in re.findall(r"(\d+) bytes spill stores", done.stderr):
            assert spilled == "0", f"{family.__name__}: {done.stderr}"
