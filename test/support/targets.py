"""CPUs whose code runs on this machine."""


def _targets():
    """The CPUs that this machine can stand for."""
    flags = next((line.split() for line in open("/proc/cpuinfo") if line.startswith("flags")), [])
    yield None
    for name, needs in (("x86-64-v3", "avx2"), ("haswell", "avx2"), ("x86-64-v4", "avx512vl"), ("x86-64", "sse2")):
        if needs in flags:
            yield name


TARGETS = list(_targets())
