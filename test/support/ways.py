"""The three ways from a model to its outputs: the Python package, a shared object, and strata-run."""

import subprocess

import numpy as np
import strata
from support.library import BIN


def tool(name, *arguments):
    done = subprocess.run([BIN / name, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def by_python(path, folder):
    """A function from inputs by name to outputs."""
    return strata.compile(path).run


def by_shared_object(path, folder):
    file = folder / "model.so"
    tool("strata-compile", path, "--emit=lib", "-o", file)
    model = strata.load(file)
    file.unlink()  # the mapping stays
    return model.run


def by_strata_run(path, folder):
    def run(feeds):
        np.savez(folder / "inputs.npz", **feeds)
        tool("strata-run", path, f"--input={folder / 'inputs.npz'}", f"--output={folder / 'outputs.npz'}")
        with np.load(folder / "outputs.npz") as file:
            return [file[key] for key in file.files]

    return run


ALL_WAYS = [by_python, by_shared_object, by_strata_run]
