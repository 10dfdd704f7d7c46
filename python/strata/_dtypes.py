"""ONNX's element types as NumPy's; ml_dtypes has those that NumPy lacks.

In the memory of a compiled model every element takes whole bytes. The signed 2- and 4-bit integers are sign-extended
there, while ml_dtypes keeps only their low bits: they alone are converted, everything else is used in place.
"""

import ml_dtypes
import numpy as np

# The index is ONNX's TensorProto.DataType.
_TYPES = [
    None, np.float32, np.uint8, np.int8, np.uint16, np.int16, np.int32, np.int64, np.object_, np.bool_, np.float16,
    np.float64, np.uint32, np.uint64, np.complex64, np.complex128, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz, ml_dtypes.uint4, ml_dtypes.int4,
    ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu, ml_dtypes.uint2, ml_dtypes.int2, ml_dtypes.float6_e2m3fn,
    ml_dtypes.float6_e3m2fn,
]  # fmt: skip
_SIGN_EXTENDED = {np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.int2)}


def from_onnx(code):
    """The NumPy dtype of an ONNX element type."""
    return np.dtype(_TYPES[code])


def to_memory(array):
    """The bytes of an array as a compiled model reads them: a flat uint8 array, in place where possible."""
    if array.dtype in _SIGN_EXTENDED:
        array = array.astype(np.int8)
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def from_memory(data, dtype, shape):
    """The array that a flat uint8 array of a model's output stands for, in place where possible."""
    if dtype in _SIGN_EXTENDED:
        return data.view(np.int8).astype(dtype).reshape(shape)
    return data.view(dtype).reshape(shape)
