"""Every family's kernels through the vendor's assembler, where it is installed: registers suffice."""

import pytest

from GPU.assembler import PTXAS, resources
from GPU.families import FAMILIES


@pytest.mark.skipif(not PTXAS, reason="no ptxas")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_no_spills(chip):
    for family in FAMILIES:
        kernels = resources(family("float")[0], chip)
        assert kernels, family.__name__
        assert not any(kernel["spilled"] for kernel in kernels), f"{family.__name__}: {kernels}"
