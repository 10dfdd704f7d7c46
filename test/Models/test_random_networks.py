"""Random networks: outputs equal to ONNX Runtime's, whatever sizes meet (support/random_networks.py)."""

import onnx
import pytest
import strata
from support.peers import onnxruntime_outputs
from support.random_networks import differences, network
from support.targets import TARGETS


def check(seed, folder, quantised):
    model, feeds = network(seed, quantised=quantised)
    path = folder / "network.onnx"
    onnx.save(model, path)
    target = TARGETS[seed // 4 % len(TARGETS)] if seed % 4 == 3 else None  # mostly this machine's own
    results = strata.compile(path, target=target, threads=1 + seed % 2).run(feeds)
    kind = "quantised" if quantised else "f32"
    assert not list(differences(onnxruntime_outputs(path, feeds), results, kind))


@pytest.mark.parametrize("seed", range(200))
def test_outputs(seed, tmp_path):
    check(seed, tmp_path, quantised=False)


@pytest.mark.parametrize("seed", range(60))
def test_products_of_bytes(seed, tmp_path):
    check(seed, tmp_path, quantised=True)
