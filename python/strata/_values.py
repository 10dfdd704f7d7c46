"""Inputs and outputs: what they are, and Python's values as a compiled model's, which are (element type, shape, data)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata._device import DeviceArray, is_on_device
from strata._dtypes import from_memory, from_onnx, to_memory
from strata._errors import InputError
from strata._native import DeviceBuffer

_STRING, _SEQUENCE, _OPTIONAL, _MAP = 8, 64, 65, 66
_CONTAINERS = {_SEQUENCE: "sequence", _OPTIONAL: "optional", _MAP: "map"}


@dataclass(frozen=True)
class Value:
    """An input or output: a dimension is its size, its symbolic name, or None where neither is known.

    kind      "tensor", "sequence", "optional" or "map"; of the latter three, shape and dtype are those of the tensors
              inside (of a map's values)
    shape     None where only the run tells the rank of a sequence's elements
    elements  what is in a sequence or optional (one Value), or a map (keys and values)
    """

    name: str
    shape: tuple[int | str | None, ...] | None
    dtype: np.dtype
    kind: str = "tensor"
    elements: tuple[Value, ...] = ()

    @property
    def type(self) -> str:
        """For people: "float32[batch, 3]", "sequence(float32[?])"."""
        if self.elements:
            return f"{self.kind}({', '.join(element.type for element in self.elements)})"
        dims = "..." if self.shape is None else ", ".join(map(_dim, self.shape))
        return f"{self.dtype}[{dims}]"


def value_of(name, code, dims, dim_names, elements):
    """What the native side says of an input or output."""
    if elements:
        inside = tuple(value_of(*element) for element in elements)
        return Value(name, inside[-1].shape, inside[-1].dtype, _CONTAINERS[code], inside)
    shape = None if dims is None else tuple(s if s >= 0 else symbol or None for s, symbol in zip(dims, dim_names))
    return Value(name, shape, from_onnx(code))


def to_native(value, given):
    """A value of an input, checked."""
    return _to_native(value, given, f"input '{value.name}'")


def _to_native(value, given, where):
    if value.kind == "tensor" and is_on_device(given):
        return _of_device(value, given, where)
    if value.kind == "tensor":
        array = _checked(value, given, where)
        if array.dtype == object:
            return _STRING, array.shape, np.ascontiguousarray(array), where
        return _code(array.dtype), array.shape, to_memory(array)
    if value.kind == "optional":
        return (_OPTIONAL, (), None) if given is None else _to_native(value.elements[0], given, where)
    if value.kind == "map":
        if not isinstance(given, dict):
            raise InputError(f"{where} must be a dictionary, got {type(given).__name__}")
        keys, values = value.elements
        lists = [_array(list(given.keys()), keys.dtype), _array(list(given.values()), values.dtype)]
        return _MAP, (2,), [_to_native(v, a, where) for v, a in zip((keys, values), lists)]
    if not isinstance(given, (list, tuple)):
        raise InputError(f"{where} must be a list, got {type(given).__name__}")
    return _SEQUENCE, (len(given),), [
        _to_native(value.elements[0], item, f"element {i} of {where}") for i, item in enumerate(given)
    ]


def _of_device(value, given, where):
    """A tensor on a GPU; of its element type only the name is looked at, which ml_dtypes and others share."""
    dtype = str(given.dtype).rpartition(".")[2]
    if dtype != str(value.dtype):
        raise InputError(f"{where} must be {value.dtype}, got {dtype}")
    return _code(value.dtype), tuple(given.shape), given


def from_native(code, shape, data):
    """A value of an output."""
    if code == _OPTIONAL:
        return None
    if code == _MAP:
        keys, values = (from_native(*item) for item in data)
        return dict(zip(keys.tolist(), values.tolist()))
    if code == _SEQUENCE:
        return [from_native(*item) for item in data]
    if code == _STRING:
        return data
    if isinstance(data, DeviceBuffer):
        return DeviceArray(data, from_onnx(code), tuple(shape))
    return from_memory(data, from_onnx(code), shape)


def _code(dtype):
    return _CODES[dtype]


_CODES = {from_onnx(code): code for code in range(1, 29)}


def _array(values, dtype):
    array = np.empty(len(values), dtype)
    array[:] = values
    return array


def _checked(value, array, where):
    """The array of an input, of the right type and shape."""
    strings = value.dtype == object
    if not isinstance(array, np.ndarray):
        if hasattr(array, "__dlpack__") and not isinstance(array, np.generic):
            array = np.from_dlpack(array)
        elif isinstance(array, (int, float, bool, complex, list, tuple, str, bytes)):
            array = np.asarray(array, value.dtype)
        else:
            array = np.asarray(array)
    if strings and array.dtype.kind in "SUT":
        array = array.astype(object)
    if array.dtype != value.dtype:
        what = "an array of strings" if strings else value.dtype
        raise InputError(f"{where} must be {what}, got {array.dtype}")
    if value.shape is not None and (
        len(array.shape) != len(value.shape)
        or any(isinstance(want, int) and want != have for want, have in zip(value.shape, array.shape))
    ):
        want = ", ".join(map(_dim, value.shape))
        raise InputError(f"{where} must have shape [{want}], got {list(array.shape)}")
    return array


def _dim(dim):
    return "?" if dim is None else str(dim)
