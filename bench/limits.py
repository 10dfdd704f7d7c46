"""What the machine can do at most, measured by limits.c; and the least time that work can take by it."""

import math
import subprocess
from pathlib import Path

SIZES = [1 << 18, 1 << 22, 1 << 26, 1 << 28]  # bytes in each thread: about the second level, the third, and memory


def build(folder):
    """The measuring program, built for this machine if it is not there."""
    source, program = Path(__file__).with_name("limits.c"), folder / "limits"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        flags = ["-O3", "-march=native", "-mprefer-vector-width=512", "-ffp-contract=fast", "-pthread", "-w"]
        subprocess.run(["clang-19", *flags, source, "-o", program], check=True)
    return program


def measure(program, threads, repeat=3):
    """The best of a few goes, in 1e9 operations or bytes per second; None where the machine has no such thing."""

    def rate(*arguments):
        command = [program, *map(str, arguments)]
        rates = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(repeat)]
        return max((float(rate) for rate in rates if rate.strip()), default=None)

    limits = {kind: rate(kind, threads) for kind in ("f32", "bf16", "int8")}
    for kind in ("read", "copy"):
        limits[kind] = {str(size): rate(kind, threads, size // threads) for size in SIZES}
    return limits


def best(known, new):
    """Of two measurements of a machine, which may have been disturbed: the larger of each rate."""
    if not known or not new:
        return known or new
    if isinstance(new, dict):
        return {key: best(known.get(key), value) for key, value in new.items()}
    return max(known, new)


def _at(rates, size):
    """The rate of the measured size nearest to this one."""
    return rates[min(rates, key=lambda known: abs(math.log(int(known) / max(size, 1))))]


def least_seconds(limits, work, precision):
    """The time in which the machine could compute `work` and bring what it reads and writes, each once, or None."""
    kind = "int8" if work["int8"] else precision
    if not limits.get(kind):
        kind = "f32"
    compute = max(work["flops"], work["int8"]) / limits[kind]
    both = min(work["read"], work["written"])
    moved = work["read"] + work["written"]
    transfer = 2 * both / _at(limits["copy"], moved) + (moved - 2 * both) / _at(limits["read"], moved)
    return max(compute, transfer) * 1e-9 or None
