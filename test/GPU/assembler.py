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


def ptx(proto, chip, *options):
    """The kernels of a model."""
    with tempfile.TemporaryDirectory() as folder:
        model, kernels = Path(folder, "model.onnx"), Path(folder, "kernels.ptx")
        model.write_bytes(proto.SerializeToString())
        command = [BIN / "strata-compile", model, f"--target=cuda:{chip}", "--gpu-format=ptx", "--emit=kernels", *options]
        subprocess.run([*command, "-o", kernels], capture_output=True, check=True)
        return kernels.read_text()


def resources(proto, chip, *options):
    """[{"registers": N, "shared": bytes, "spilled": bytes, "serialized": bool}] of each kernel of a model; of the last:
    whether products of warpgroups wait for each other, as something reads or writes their registers between them."""
    with tempfile.TemporaryDirectory() as folder:
        kernels = Path(folder, "kernels.ptx")
        kernels.write_text(ptx(proto, chip, *options))
        done = subprocess.run([PTXAS, f"-arch={chip}", "-v", kernels, "-o", Path(folder, "kernels.cubin")],
                              capture_output=True, text=True)  # fmt: skip
    if done.returncode:
        raise ValueError(f"ptxas refuses the kernels: {done.stderr}")
    serialized = re.findall(r"are serialized .* in the function '(\w+)'", done.stderr)
    kernels = []
    for text in re.split(r"Compiling entry function", done.stderr)[1:]:
        shared = re.search(r"(\d+) bytes smem", text)
        kernels.append({
            "registers": int(re.search(r"Used (\d+) registers", text)[1]),
            "shared": int(shared[1]) if shared else 0,
            "spilled": int(re.search(r"(\d+) bytes spill stores", text)[1]),
            "serialized": re.search(r"'(\w+)'", text)[1] in serialized,
        })  # fmt: skip
    return kernels
