"""Records what torch.arange gives for random operands: python record_range.py SEED COUNT > torch_range.json

torch.arange vectorises long results of floating point by adding to the rounded first element of each vector, so what
it gives depends on the processor. Results of floating point are recorded only up to the length below which every
element is start + i * step, rounded once.
"""

import json
import sys

import numpy as np
import torch

FLOATS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
INTEGERS = {"i8": (-(2**7), 2**7 - 1), "i16": (-(2**15), 2**15 - 1), "i32": (-(2**31), 2**31 - 1),
            "i64": (-(2**63), 2**63 - 1), "u8": (0, 2**8 - 1), "u16": (0, 2**16 - 1), "u32": (0, 2**32 - 1),
            "u64": (0, 2**64 - 1)}  # fmt: skip
OUTPUTS = FLOATS | {"i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8}
LONGEST = {"f64": 3, "f32": 7, "f16": 15, "bf16": 15}
ODD = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e30, 1e-30, 1e300, 1e-300, 9.3e18, -9.3e18, 6.5e4, 0.4]


def operand(rng, kind, near):
    """A value that the type `kind` has, as a Python number."""
    if kind in INTEGERS:
        lowest, highest = INTEGERS[kind]
        choice = rng.integers(8)
        if choice == 0:
            value = [lowest, highest, 0, 1, 2**53 + 1, 2**31, 2**62 + 3][rng.integers(7)]
        else:
            value = round(near) or rng.integers(-1, 2)
        return min(max(int(value), lowest), highest)
    value = ODD[rng.integers(len(ODD))] if rng.integers(24) == 0 else near
    return torch.tensor(value, dtype=torch.float64).to(FLOATS[kind]).item()


def case(rng):
    kinds = [*FLOATS, *INTEGERS]
    if rng.integers(3) == 0:
        types = [kinds[rng.integers(len(kinds))]] * 3
    else:
        types = [kinds[i] for i in rng.integers(len(kinds), size=3)]
    output = [*OUTPUTS][rng.integers(len(OUTPUTS))]
    scale = 10 ** rng.uniform(-2, [2, 2, 5, 12][rng.integers(4)])
    start, step = rng.normal() * scale, rng.normal() * scale * 10 ** rng.uniform(-1, 1)
    if rng.integers(2):
        start, step = round(start, 1), round(step, 1) or 0.1
    if all(kind in INTEGERS for kind in types) and abs(step) < 1:
        step = float(rng.integers(1, 5))
    stop = start + step * rng.uniform(-1 if rng.integers(6) == 0 else 0, LONGEST.get(output, 40))
    if rng.integers(4) == 0:
        stop = round(stop)
    return types, [operand(rng, kind, near) for kind, near in zip(types, (start, stop, step))], output


def main(seed, count):
    rng = np.random.default_rng(seed)
    cases = []
    while len(cases) < count:
        types, values, output = case(rng)
        with np.errstate(all="ignore"):
            if 1000 < np.float64(values[1] - values[0]) / np.float64(values[2]) < np.inf:
                continue
        expected = {}
        try:
            result = torch.arange(*values, dtype=OUTPUTS[output])
            if len(result) > LONGEST.get(output, 64):
                continue
            expected["bytes"] = result.view(torch.uint8).numpy().tobytes().hex() if len(result) else ""
        except (RuntimeError, OverflowError) as error:
            expected["error"] = str(error).splitlines()[0]
        cases.append({"types": types, "values": [repr(v) for v in values], "output_type": output} | expected)
    text = ",\n".join(json.dumps(case) for case in cases)
    print(f'{{"tool": "torch {torch.__version__}, CPU {torch.backends.cpu.get_cpu_capability()}",\n"cases": [\n{text}\n]}}')


main(int(sys.argv[1]), int(sys.argv[2]))
