"""What the machine can do at most, measured by limits.c; and the least time that work can take by it."""

import math
import os
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


def rate(program, kind, threads, size=1 << 20, seconds=0.1):
    """1e9 operations or bytes per second, at this moment; None where the machine has no such thing. One thread runs
    where the runtimes with one thread do."""
    pin = (lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})) if threads == 1 else None
    command = [program, kind, str(threads), str(size // threads), str(seconds)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=pin).stdout
    return float(printed) if printed.strip() else None


def distance(program):
    """Nanoseconds that a line takes from one core to another at this moment; None where there is one core. Those of a
    virtual machine may share a cache at one time and none at another."""
    done = subprocess.run([program, "distance"], capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else None


def measure(program, threads, repeat=3):
    """The best of a few goes."""

    def best_rate(*arguments):
        rates = [rate(program, *arguments) for _ in range(repeat)]
        return max(filter(None, rates), default=None)

    limits = {kind: best_rate(kind, threads) for kind in ("f32", "bf16", "int8")}
    for kind in ("read", "copy"):
        limits[kind] = {str(size): best_rate(kind, threads, size) for size in SIZES}
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


def compute_kind(limits, work, precision):
    """What the work's multiplications and additions are measured against."""
    kind = "int8" if work["int8"] else precision
    return kind if limits.get(kind) else "f32"


def compute_seconds(limits, work, precision):
    """The time in which the machine could compute `work`."""
    return max(work["flops"], work["int8"]) / limits[compute_kind(limits, work, precision)] * 1e-9


def transfer_seconds(limits, work):
    """The time in which it could bring what `work` reads and writes, each once."""
    both = min(work["read"], work["written"])
    moved = work["read"] + work["written"]
    return (2 * both / _at(limits["copy"], moved) + (moved - 2 * both) / _at(limits["read"], moved)) * 1e-9


def least_seconds(limits, work, precision):
    """The time in which the machine could do both, or None where there is nothing to do."""
    return max(compute_seconds(limits, work, precision), transfer_seconds(limits, work)) or None
