"""Fourier transforms."""

import numpy as np
from Conformance.table import Case, array, cases

LOOSE = {"float": (1e-4, 1e-4), "double": (1e-9, 1e-9), "float16": (2**-8, 0.03), "bfloat16": (2**-5, 0.25)}


def as_complex(x):
    return x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0] + 0j


def as_pairs(z):
    return np.stack([z.real, z.imag], -1)


def transform(x, length, axis, inverse, onesided):
    z = as_complex(np.asarray(x, np.float64))
    if inverse and onesided:
        return np.fft.irfft(z, length, axis)[..., None]
    if inverse:
        return as_pairs(np.fft.ifft(z, length, axis))
    result = np.fft.fft(z, length, axis)
    return as_pairs(np.take(result, range(result.shape[axis] // 2 + 1), axis) if onesided else result)


@cases("DFT")
def dft(op, version, types, draw):
    element, index = types["T1"], types["T2"]
    rtol, atol = LOOSE[element]
    # name: shape, length, axis of the signal, inverse, onesided
    forms = [("real", (2, 6, 1), None, 1, 0, 0), ("length", (2, 5, 1), 7, 1, 0, 1)]
    if element in ("float", "double"):
        forms += [
            ("complex", (2, 5, 2), None, 1, 0, 0),
            ("inverse", (2, 8, 2), None, 1, 1, 0),
            ("shorter", (1, 9, 2), 4, 1, 0, 0),
            ("inverse_longer", (1, 4, 2), 6, 1, 1, 0),
            ("onesided", (2, 7, 1), None, 1, 0, 1),
            ("irfft", (2, 5, 2), None, 1, 1, 1),
            ("irfft_length", (2, 5, 2), 7, 1, 1, 1),
            ("first", (4, 3, 2), None, 0, 0, 0),
            ("middle", (2, 3, 4, 1), None, 2, 0, 1),
            ("negative", (2, 3, 4, 2), None, -2, 1, 0),
            ("single", (2, 1, 1), None, 1, 0, 0),
            ("large", (1, 64, 1), None, 1, 0, 1),
            ("prime", (1, 31, 2), None, 1, 0, 0),
            ("real_inverse", (2, 4, 1), None, 1, 1, 0),
        ]
    for name, dims, length, axis, inverse, onesided in forms:

        def expected(x, *_, given=(length, axis, inverse, onesided)):
            length, axis, inverse, onesided = given
            return transform(x, length, axis if axis >= 0 else axis + 1, inverse, onesided)

        attributes = {name: 1 for name, flag in (("inverse", inverse), ("onesided", onesided)) if flag}
        operands = [draw(dims, element), None if length is None else array(length, index)]
        constants = [] if length is None else [1]
        if version >= 20:
            last = axis == len(dims) - 2
            operands += [] if last else [np.array(axis, np.int64)]
            yield Case(
                name,
                operands,
                attributes,
                constants=constants,
                fixed=[] if last else [2],
                expected=expected,
                rtol=rtol,
                atol=atol,
            )
        else:
            attributes |= {} if axis == 1 else {"axis": axis}
            yield Case(name, operands, attributes, constants=constants, expected=expected, rtol=rtol, atol=atol)


@cases("STFT")
def stft(op, version, types, draw):
    element, index = types["T1"], types["T2"]
    rtol, atol = LOOSE[element]
    forms = [("window", (2, 17, 1), 4, 6, None, None)]
    if element in ("float", "double"):
        forms += [
            ("length", (1, 20, 1), 5, None, 8, 0),
            ("both", (1, 16, 1), 3, 7, 7, 1),
            ("complex", (2, 12, 2), 4, 5, None, 0),
            ("one_frame", (1, 8, 1), 3, 8, None, 1),
            ("neither", (1, 8, 1), 2, None, None, 1),
        ]
    for name, dims, step, window, length, onesided in forms:

        def expected(x, step, window=None, length=None, onesided=onesided):
            step = int(step)
            size = int(length) if length is not None else len(window) if window is not None else x.shape[1]
            z, weights = as_complex(np.asarray(x, np.float64)), np.ones(size) if window is None else window
            frames = [z[:, at : at + size] * weights for at in range(0, z.shape[1] - size + 1, step)]
            result = np.fft.fft(np.stack(frames, 1), axis=-1)
            return as_pairs(result if onesided == 0 else result[..., : size // 2 + 1])

        operands = [draw(dims, element), array(step, index), None if window is None else draw((window,), element, 0, 1)]
        operands.append(None if length is None else array(length, index))
        while operands[-1] is None:
            operands.pop()
        constants = [i for i in (1, 3) if i < len(operands) and operands[i] is not None]
        attributes = {} if onesided is None else {"onesided": onesided}
        yield Case(name, operands, attributes, constants=constants, expected=expected, rtol=rtol, atol=atol)
