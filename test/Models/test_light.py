"""The nine light networks with random weights against ONNX Runtime. Small ones go three ways, with the stored outputs, too
(which those of the others ONNX's suite compares)."""

import numpy as np
import onnx
import pytest
from Suite.cases import ramp_inputs, stored_outputs
from support import light
from support.compare import difference
from support.peers import onnxruntime_outputs
from support.ways import ALL_WAYS, by_shared_object

SMALL = ("squeezenet", "shufflenet")


@pytest.fixture(scope="module")
def name(request):
    return request.param


def by_name_and_way(cases):
    ids = [f"{name}-{way.__name__[3:]}" for name, way in cases]
    return pytest.mark.parametrize("name, way", cases, indirect=["name"], ids=ids, scope="module")


@pytest.fixture(scope="module")
def random_model(name, tmp_path_factory):
    """The network with random weights in a file, its inputs, and ONNX Runtime's outputs."""
    path = tmp_path_factory.mktemp("random") / f"{name}.onnx"
    model = light.with_random_weights(name)
    onnx.save(model, path)
    feeds = {light.input_name(model): light.image()}
    yield path, feeds, onnxruntime_outputs(path, feeds)
    path.unlink()


@by_name_and_way([(name, way) for name in SMALL for way in ALL_WAYS])
def test_stored_outputs(name, way, tmp_path):
    path = light.path(name)
    feeds = {light.input_name(onnx.load(path)): ramp_inputs(path)[0]}
    # The tolerances of the suite.
    assert difference(stored_outputs(path), way(path, tmp_path)(feeds), 1e-3, 1e-7) is None


@by_name_and_way([(name, way) for name in light.NAMES for way in (ALL_WAYS if name in SMALL else [by_shared_object])])
def test_random_weights(random_model, way, tmp_path):
    path, feeds, expected = random_model
    for want, have in zip(expected, way(path, tmp_path)(feeds), strict=True):
        assert have.shape == want.shape and have.dtype == want.dtype
        assert np.abs(have - want).max() <= 1e-4 * np.abs(want).max()
