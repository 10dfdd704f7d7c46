"""Random networks: outputs equal to ONNX Runtime's, whatever sizes meet (support/random_networks.py)."""

import onnx
import pytest
import strata
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, RuntimeException
from support.peers import exact_outputs
from support.random_networks import differences, network, other_sizes, run_halved
from support.targets import TARGETS


def check(seed, folder, quantised):
    model, feeds = network(seed, quantised=quantised)
    path = folder / "network.onnx"
    onnx.save(model, path)
    target = TARGETS[seed // 4 % len(TARGETS)] if seed % 4 == 3 else None  # mostly this machine's own
    compiled = strata.compile(path, target=target, threads=1 + seed % 2)
    kind = "quantised" if quantised else "f32"
    assert not list(differences(exact_outputs(path, feeds), compiled.run(feeds), kind))
    if feeds := other_sizes(model, seed):
        try:
            expected = exact_outputs(path, feeds)
        except (Fail, InvalidArgument, RuntimeException):  # the network's constants do not fit
            with pytest.raises(strata.Error):
                compiled.run(feeds)
            return
        assert not list(differences(expected, compiled.run(feeds), kind))


@pytest.mark.parametrize("seed", range(64))
def test_outputs(seed, tmp_path):
    check(seed, tmp_path, quantised=False)


@pytest.mark.parametrize("seed", range(28))
def test_products_of_bytes(seed, tmp_path):
    check(seed, tmp_path, quantised=True)


@pytest.mark.parametrize("seed", range(20))
def test_floats_of_16_bits(seed, tmp_path):
    model, feeds = network(seed)
    path = tmp_path / "network.onnx"
    onnx.save(model, path)
    assert not list(differences(exact_outputs(path, feeds), run_halved(model, feeds), "f16"))
