"""What this machine's CPU has, and CPUs whose code runs on it."""

from pathlib import Path


def _flags():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((set(line.split()[2:]) for line in lines if line.startswith("flags")), set())


FLAGS = _flags()


def has(feature):
    """Whether the CPU has what Linux calls so; False on other machines than x86."""
    return feature in FLAGS


#: Whether its vectors add products of four bytes.
HAS_VNNI = has("avx_vnni") or has("avx512_vnni")

#: None is this machine's own.
TARGETS = [None] + [
    name
    for name, needs in (("x86-64-v3", "avx2"), ("haswell", "avx2"), ("x86-64-v4", "avx512vl"), ("x86-64", "sse2"))
    if has(needs)
]

#: The units that multiply bytes: this machine's best one, then without matrices, then without dot products of bytes, and
#: vectors of 256 bits.
BYTE_TARGETS = [None]
if has("avx2"):
    BYTE_TARGETS += ["native,-amx-int8", "native,-amx-int8,-avx512vnni,-avxvnni", "x86-64-v3"]
