"""The emulated GPU: a driver in software, for machines without one."""

import os
from pathlib import Path


def library():
    """The driver's file, of the build that `import strata` finds."""
    import strata

    return Path(strata.__file__).parents[2] / "lib" / "libstrata_cuda_emulator.so"


def use_emulator():
    """Lets the runtime load the emulated driver, unless a driver is chosen; the form of kernels that it takes."""
    if "STRATA_CUDA_DRIVER" in os.environ:
        return os.environ.get("STRATA_GPU_FORMAT", "auto")
    os.environ["STRATA_CUDA_DRIVER"] = str(library())
    os.environ["STRATA_GPU_FORMAT"] = "bitcode"
    return "bitcode"
