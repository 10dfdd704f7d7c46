"""Random networks: outputs equal to ONNX Runtime's, whatever sizes meet (support/random_networks.py)."""

import onnx
import pytest
import strata
from support.peers import onnxruntime_outputs
from support.random_networks import differences, network


@pytest.mark.parametrize("seed", range(240))
def test_outputs(seed, tmp_path):
    model, feeds = network(seed)
    path = tmp_path / "network.onnx"
    onnx.save(model, path)
    results = strata.compile(path, threads=1 + seed % 2).run(feeds)
    assert not list(differences(onnxruntime_outputs(path, feeds), results))
