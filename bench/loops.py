#!/usr/bin/env python3
"""The innermost loops that matter, as assembly: of each of five cases the loop that is most made of its telling
instructions.

    python bench/loops.py [CASE ...]      the names, or parts of them, of the cases below

Compiles with strata-compile for this machine and disassembles with llvm-objdump.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cases

# title: (case of cases.py, flags, instructions that count)
FMA = r"vfmadd\w*ps|fmla|mulps"
LOOPS = {
    "f32 product": ("matmul 1024x1024x1024", [], FMA),
    "Winograd's products": ("conv 3x3 64 56x56", [], FMA),
    "bf16 product": ("matmul 1024x1024x1024", ["--precision=bf16"], "[tv]dpbf16ps"),
    "softmax": ("softmax 12x512x512", [], FMA),
    "elementwise": ("elementwise chain 4M", [], r"v?(add|sub|max|mul)ps|f(add|sub|max\w*|mul)\b"),
}  # fmt: skip


def instructions(path):
    """[(address, text)] of each function."""
    tools = ["llvm-objdump", "llvm-objdump-19", "/usr/lib/llvm-19/bin/llvm-objdump"]
    for tool in tools:
        try:
            text = subprocess.run([tool, "-d", "--no-show-raw-insn", path], capture_output=True, text=True).stdout
            break
        except FileNotFoundError:
            continue
    else:
        sys.exit("llvm-objdump is not installed")
    for function in re.split(r"^[0-9a-f]+ <.*>:$", text, flags=re.M):
        yield [(int(m[1], 16), m[2].strip()) for m in re.finditer(r"^\s*([0-9a-f]+):\s+(.*)$", function, flags=re.M)]


def innermost_loops(code):
    """The instructions of each loop that has no other one inside."""
    spans = []
    for address, text in code:
        target = re.match(r"(?:j\w+|b\.?\w*|cbn?z.*|tbn?z.*)\s+(?:.*,\s*)?0x([0-9a-f]+)", text)
        if target and int(target[1], 16) <= address:
            spans.append((int(target[1], 16), address))
    for first, last in spans:
        if not any(first <= a and b <= last and (a, b) != (first, last) for a, b in spans):
            yield [text for address, text in code if first <= address <= last]


def hottest(model, flags, counted):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "code.o"
        subprocess.run(["strata-compile", model, "--emit=obj", "-o", path, *flags], check=True)
        loops = [loop for code in instructions(path) for loop in innermost_loops(code)]

    def share(loop):
        count = sum(bool(re.match(counted, text)) for text in loop)
        return count / len(loop) * min(count, 16)  # of short loops, which do what is left over, some are as dense

    return max(loops, key=share)


def main():
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        models = dict(cases.all_cases(Path(folder), None, quick=False))
        for title, (case, flags, counted) in LOOPS.items():
            if wanted and not any(part in title for part in wanted):
                continue
            print(f"{title}: {' '.join([case, *flags])}")
            for text in hottest(models[case](), flags, counted):
                print("    " + re.sub(r"\s*# .*$", "", text).replace("\t", " "))
            print(flush=True)


if __name__ == "__main__":
    main()
