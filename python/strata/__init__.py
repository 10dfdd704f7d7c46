"""Strata compiles ONNX models to native code.

>>> model = strata.compile("resnet50.onnx")
>>> [scores] = model.run({"input": image})
"""

from strata._device import DeviceArray
from strata._errors import CompileError, Error, InputError, RunError
from strata._model import Model, Value, Version, compile, convert_opset, load
from strata._native import version as _version

__version__ = _version()
__all__ = [
    "CompileError", "DeviceArray", "Error", "InputError", "Model", "RunError", "Value", "Version", "compile",
    "convert_opset", "load",
]  # fmt: skip
