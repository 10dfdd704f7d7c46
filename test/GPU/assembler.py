"""The vendor's assembler, where it is installed: what it says of a model's kernels."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from support.library import BIN


def _find():
    for folder in [os.environ.get(v, "") + "/bin" for v in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")] + [None]:
        if found := shutil.which("ptxas", path=folder):
            return found
    return shutil.which("ptxas", path="/usr/local/cuda/bin")


PTXAS = _find()


def ptx_of(text):
    """The kernels in a module's text: what stands in the global's string, unescaped."""
    [escaped] = re.findall(r'@strata_gpu_data_kernels\("(.*?[^\\])"\)', text)
    raw = re.sub(rb"\\([0-9A-F]{2})", lambda m: bytes([int(m[1], 16)]), escaped.encode())
    return raw.rstrip(b"\0")


def resources(proto, chip):
    """[{"registers": N, "shared": bytes, "spilled": bytes}] of each kernel of a model."""
    with tempfile.TemporaryDirectory() as folder:
        model, ptx = Path(folder, "model.onnx"), Path(folder, "kernels.ptx")
        model.write_bytes(proto.SerializeToString())
        command = [BIN / "strata-compile", model, f"--target=cuda:{chip}", "--gpu-format=ptx", "--compile-to=llvm", "-o", "-"]
        ptx.write_bytes(ptx_of(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        done = subprocess.run([PTXAS, f"-arch={chip}", "-v", ptx, "-o", Path(folder, "kernels.cubin")],
                              capture_output=True, text=True)  # fmt: skip
    if done.returncode:
        raise ValueError(f"ptxas refuses the kernels: {done.stderr}")
    kernels = []
    for text in re.split(r"Compiling entry function", done.stderr)[1:]:
        shared = re.search(r"(\d+) bytes smem", text)
        kernels.append({
            "registers": int(re.search(r"Used (\d+) registers", text)[1]),
            "shared": int(shared[1]) if shared else 0,
            "spilled": int(re.search(r"(\d+) bytes spill stores", text)[1]),
        })  # fmt: skip
    return kernels
