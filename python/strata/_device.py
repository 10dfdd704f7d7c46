"""Arrays in the memory of a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from strata import _native
from strata._dtypes import from_memory

CPU, CUDA = 1, 2  # as DLPack numbers devices


class DeviceArray:
    """A result in the memory of a GPU, for whatever takes DLPack (torch.from_dlpack, cupy.from_dlpack) or another run.

    It is complete: nobody has to wait for it. `numpy` copies it to the host.
    """

    def __init__(self, buffer: _native.DeviceBuffer, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        self._buffer, self.dtype, self.shape = buffer, dtype, shape

    def numpy(self) -> np.ndarray:
        """A copy on the host."""
        return from_memory(self._buffer.read(), self.dtype, self.shape)

    def __dlpack__(self, **_: Any) -> Any:
        return self._buffer.dlpack()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._buffer.device()

    def __repr__(self) -> str:
        return f"<strata.DeviceArray {self.dtype}{list(self.shape)} on GPU {self._buffer.device()[1]}>"


def is_on_device(value: Any) -> bool:
    """Whether a value says by DLPack that it is not in the host's memory."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack_device__"):
        return False
    return value.__dlpack_device__()[0] != CPU
