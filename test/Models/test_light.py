"""The nine light networks: stored outputs, and random weights against ONNX Runtime, each compiled in three ways."""

import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import strata
from Suite.cases import ramp_inputs, stored_outputs
from support import light
from support.compare import difference

BIN = Path(strata.__file__).parents[2] / "bin"


def tool(name, *arguments):
    done = subprocess.run([BIN / name, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module", params=light.NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def random_model(name, tmp_path_factory):
    """The network with random weights in a file, an input, and ONNX Runtime's outputs."""
    path = tmp_path_factory.mktemp("random") / f"{name}.onnx"
    onnx.save(light.with_random_weights(name), path)
    x = light.image()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    [value] = session.get_inputs()
    yield path, x, session.run(None, {value.name: x})
    path.unlink()


def by_python(path, x, folder):
    return strata.compile(path).run([x])


def by_shared_object(path, x, folder):
    file = folder / "model.so"
    tool("strata-compile", path, "--emit=lib", "-o", file)
    outputs = strata.load(file).run([x])
    file.unlink()
    return outputs


def by_strata_run(path, x, folder):
    np.save(folder / "x.npy", x)
    tool("strata-run", path, f"--input={folder / 'x.npy'}", f"--output={folder / 'outputs.npz'}")
    with np.load(folder / "outputs.npz") as file:
        return [file[key] for key in file.files]


WAYS = pytest.mark.parametrize("way", [by_python, by_shared_object, by_strata_run], ids=lambda way: way.__name__[3:])


@WAYS
def test_stored_outputs(name, way, tmp_path):
    [x] = ramp_inputs(light.path(name))
    # The tolerances of the suite; it gives densenet121 the double.
    rtol = 2e-3 if name == "densenet121" else 1e-3
    assert difference(stored_outputs(light.path(name)), way(light.path(name), x, tmp_path), rtol, 1e-7) is None


@WAYS
def test_random_weights(random_model, way, tmp_path):
    path, x, expected = random_model
    for want, have in zip(expected, way(path, x, tmp_path), strict=True):
        assert have.shape == want.shape and have.dtype == want.dtype
        assert np.abs(have - want).max() <= 1e-4 * np.abs(want).max()
