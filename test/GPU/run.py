"""Prints what is proven of the GPU's kernels: each family in each element type against NumPy, executed by the GPU that
STRATA_CUDA_DRIVER names or by the emulated one, and what the vendor's assembler says of them where it is installed. The
exit status is 1 if a number is wrong, a register is spilled, or nothing ran."""

import argparse
import re
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import strata
from GPU.assembler import PTXAS, resources
from GPU.families import FAMILIES, TYPES, error_of, tolerance_of
from support.emulator import use_emulator


def run_family(family, dtype):
    """(text for the table, whether the numbers are right)"""
    proto, inputs, want = family(dtype)
    [got] = strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1).run(inputs)
    error = error_of(got, want, dtype)
    return "equal" if error == 0 else f"{error:.0e}", error <= tolerance_of(want, dtype)


def print_families(families):
    """The table, the largest error of each family and type; how many are wrong."""
    wrong = []
    width = max(len(family.__name__) for family in families)
    print(" " * width + "".join(f"{dtype:>9}" for dtype in TYPES))
    for family in families:
        cells = []
        for dtype in TYPES:
            if dtype not in FAMILIES[family]:
                cells.append(".")
                continue
            try:
                text, right = run_family(family, dtype)
            except strata.Error as error:
                text, right = "FAILED", False
                wrong.append(f"{family.__name__} {dtype}: {error}")
            cells.append(text if right else "WRONG" if text != "FAILED" else text)
            if not right and text != "FAILED":
                wrong.append(f"{family.__name__} {dtype}: largest error {text}")
        print(f"{family.__name__:{width}}" + "".join(f"{cell:>9}" for cell in cells), flush=True)
    print("largest error beside the largest element; . the family has no such type")
    return wrong


def print_resources(families, chips):
    """What ptxas needs for the kernels of each family; the families that spill registers."""
    print(f"\n{'by ptxas':24}{'chip':>8}{'kernels':>9}{'registers':>11}{'shared bytes':>14}{'spilled bytes':>15}")
    wrong = []
    for family in families:
        for dtype in [t for t in ("float", "float16") if t in FAMILIES[family]]:
            for chip in chips:
                kernels = resources(family(dtype)[0], chip)
                total = defaultdict(int)
                for kernel in kernels:
                    for what, number in kernel.items():
                        total[what] = max(total[what], number)
                name = f"{family.__name__} {dtype}"
                print(f"{name:24}{chip:>8}{len(kernels):>9}{total['registers']:>11}{total['shared']:>14}{total['spilled']:>15}")
                if total["spilled"]:
                    wrong.append(f"{name} for {chip}: {total['spilled']} bytes of registers are spilled")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--filter", default="", metavar="REGEX", help="only the families whose name matches")
    parser.add_argument("--chips", default="sm_90", help="what ptxas assembles for, divided by commas (sm_90)")
    options = parser.parse_args()
    start = time.monotonic()
    families = [family for family in FAMILIES if re.search(options.filter, family.__name__)]
    wrong = print_families(families)
    if PTXAS:
        wrong += print_resources(families, options.chips.split(","))
    else:
        print("\nno ptxas here: registers and spills are not looked at")
    for text in wrong:
        print(text)
    print(f"{len(families)} families, {len(wrong)} problems, {time.monotonic() - start:.0f} s")
    return 1 if wrong or not families else 0


if __name__ == "__main__":
    sys.exit(main())
