"""What this machine's CPU has, and CPUs whose code runs on it."""

import os
from pathlib import Path


def _flags():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((set(line.split()[2:]) for line in lines if line.startswith("flags")), set())


_AVX512 = {"avx2", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16"}
#: What CPUs have that STRATA_EMULATE_CPU may name.
_EMULATED = {
    "": set(),
    "haswell": {"avx2", "f16c"},
    "znver4": _AVX512,
    "sapphirerapids": _AVX512 | {"avx_vnni", "amx_bf16", "amx_int8"},
}

_FLAGS = _flags()
_PLANNED = _FLAGS | _EMULATED[os.environ.get("STRATA_EMULATE_CPU", "")]


def has(feature):
    """Whether the CPU that code is made for, if no other is asked for, has what Linux calls so; False on other machines
    than x86."""
    return feature in _PLANNED


#: Whether the vectors of this machine, on which peers run, add products of four bytes.
HAS_VNNI = bool(_FLAGS & {"avx_vnni", "avx512_vnni"})

#: None is this machine's own.
TARGETS = [None] + [
    name
    for name, needs in (("x86-64-v3", "avx2"), ("haswell", "avx2"), ("x86-64-v4", "avx512vl"), ("x86-64", "sse2"))
    if needs in _FLAGS
]

#: The units that multiply bytes: this machine's best one, then without matrices, then without dot products of bytes, and
#: vectors of 256 bits.
BYTE_TARGETS = [None]
if "avx2" in _FLAGS:
    BYTE_TARGETS += ["native,-amx-int8", "native,-amx-int8,-avx512vnni,-avxvnni", "x86-64-v3"]
