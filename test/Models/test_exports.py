"""Networks as PyTorch's exporters write them: outputs equal to ONNX Runtime's, at each size, by the Python package and
another way."""

import numpy as np
import onnx
import pytest
from support import exports
from support.peers import onnxruntime_outputs
from support.ways import by_python, by_shared_object, by_strata_run


@pytest.fixture(scope="module", params=exports.NAMES)
def exported(request, tmp_path_factory):
    """A model in a file, and (inputs, expected outputs) for one or two sizes of its symbolic dimensions."""
    model = exports.load(request.param)
    path = tmp_path_factory.mktemp("exported") / f"{request.param}.onnx"
    onnx.save(model, path)
    sizes = exports.SIZES if exports.is_dynamic(model) else exports.SIZES[:1]
    runs = []
    for size in sizes:
        feeds = exports.inputs(model, size)
        runs.append((feeds, onnxruntime_outputs(path, feeds)))
    way = (by_shared_object, by_strata_run, by_python)[exports.NAMES.index(request.param) % 3]
    yield path, runs, way
    path.unlink()


def test_outputs(exported, tmp_path):
    path, runs, way = exported
    run = way(path, tmp_path)
    for feeds, expected in runs:
        for want, have in zip(expected, run(feeds), strict=True):
            assert have.shape == want.shape and have.dtype == want.dtype
            assert np.ptp(want) > 0, "nothing to compare"
            assert np.abs(have - want).max() <= 1e-4 * np.abs(want).max()
