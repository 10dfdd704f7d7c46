"""Comparison with an oracle's outputs: integers exactly, floats within a tolerance that follows from their type."""

import numpy as np
from Conformance import schemas
from support.compare import difference

# (relative, absolute) by element type: some units in the last place; the oracles compute in double and round once.
TOLERANCES = {
    "double": (1e-9, 1e-12), "complex128": (1e-9, 1e-12),
    "float": (1e-5, 1e-6), "complex64": (1e-5, 1e-6),
    "float16": (2**-9, 1e-6), "bfloat16": (2**-6, 1e-6),
}  # fmt: skip


def _element(value):
    while isinstance(value, (list, tuple)):
        if not value:
            return None
        value = value[0]
    return None if value is None or isinstance(value, dict) else schemas.element_of(value)


def wrong(case, expected, actual):
    """The first difference in words, or None."""
    if len(expected) != len(actual):
        return f"expected {len(expected)} outputs, got {len(actual)}"
    for index, (want, got) in enumerate(zip(expected, actual)):
        rtol, atol = TOLERANCES.get(_element(want), (0.0, 0.0))
        rtol, atol = (given if given is not None else own for given, own in ((case.rtol, rtol), (case.atol, atol)))
        if isinstance(want, dict) or (isinstance(want, list) and want and isinstance(want[0], dict)):
            if found := _maps(want, got, rtol, atol):
                return f"output {index}: {found}"
        elif _element(want) not in TOLERANCES and not isinstance(want, (list, type(None))):
            if found := _exact(want, got):
                return f"output {index}: {found}"
        elif found := difference([want], [got], rtol, atol):
            return f"output {index}: {found}"
    return None


def _exact(want, got):
    """Equal shape, type and bits, but for NaN and the sign of zero."""
    want, got = np.asarray(want), np.asarray(got)
    if want.shape != got.shape:
        return f"expected shape {want.shape}, got {got.shape}"
    if schemas.element_of(want) != schemas.element_of(got):
        return f"expected {schemas.element_of(want)}, got {schemas.element_of(got)}"
    with np.errstate(all="ignore"):
        differ = ~((want == got) | ((want != want) & (got != got)))
    if np.any(differ):
        place = np.argwhere(differ)[0].tolist()
        return f"{differ.sum()} of {want.size} differ, at {place}: expected {want[differ][0]!r}, got {got[differ][0]!r}"
    return None


def _maps(want, got, rtol, atol):
    if isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            return f"expected {len(want)} maps"
        return next(filter(None, (_maps(w, g, rtol, atol) for w, g in zip(want, got))), None)
    if not isinstance(got, dict) or list(got) != list(want):
        return f"expected the keys {list(want)}, got {list(got) if isinstance(got, dict) else got!r}"
    return difference([np.array(list(want.values()))], [np.array(list(got.values()))], rtol or 1e-5, atol or 1e-6)
