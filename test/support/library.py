"""A model by way of a shared library, as strata-compile makes it."""

import subprocess
from pathlib import Path

import strata

BIN = Path(strata.__file__).parents[2] / "bin"


def load_library(proto, folder, *options):
    path, library = folder / "model.onnx", folder / "model.so"
    path.write_bytes(proto.SerializeToString())
    done = subprocess.run([BIN / "strata-compile", path, "--emit=lib", "-o", library, *options],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return strata.load(library)
