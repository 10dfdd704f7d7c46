"""Asks the other oracles about the cases whose expected outputs are a NumPy function of the table.

Where they differ, the table is wrong, the other is, or the specification is silent. Nothing is compiled.

Usage: second.py [REGEX]
"""

import os
import re
import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
warnings.simplefilter("ignore")

from Conformance import compare, models, oracles, run
from Suite.pool import run_all

OTHERS = {"reference": oracles.by_reference, "onnxruntime": oracles.by_onnxruntime}


def opinions(case):
    """[(oracle, the first difference from the case's own function or None)] of those that have one."""
    try:
        expected, _ = oracles.expected_outputs(case)
    except oracles.NoOracle as error:
        return [("numpy", str(error))]
    found = []
    for name, function in OTHERS.items():
        try:
            outputs = function(case)
            outputs = [oracles.rounded(v, t) for v, t in zip(outputs, models.output_types(case, outputs))]
        except Exception:  # it has none: no kernel, no class, another form
            continue
        found.append((name, compare.wrong(case, expected, outputs)))
    return found


def main(pattern="."):
    cases = [case for case in run.collect()[0] if case.expected and re.search(pattern, case.id)]
    asked, differ = Counter(), {}
    for index, found in run_all(lambda i: opinions(cases[i]), list(range(len(cases))), os.cpu_count(), 60):
        if isinstance(found, tuple):
            found = [("crash", found[1])]
        asked["cases"] += 1
        asked["without a second opinion"] += not found
        for oracle, difference in found:
            asked[oracle] += 1
            if difference:
                differ.setdefault((oracle, cases[index].id.split("/")[0]), []).append(
                    f"{cases[index].id}: {difference}"
                )
    for (oracle, schema), texts in sorted(differ.items()):
        print(f"{oracle} differs in {len(texts)} of {schema}\n  {texts[0][:300]}")
    print(", ".join(f"{count} {what}" for what, count in asked.items()))
    print(f"{sum(map(len, differ.values()))} differences")


if __name__ == "__main__":
    main(*sys.argv[1:])
