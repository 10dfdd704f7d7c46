"""Where each version of each operator runs when it is compiled for a GPU, as the compiler itself says (--explain):

    python test/GPU/placement.py [--filter REGEX] [--sample N]     compares with lib/Dialect/GpuPlacement.inc
    python test/GPU/placement.py --update                          writes it

The operators are used as the first cases of test/Conformance use them (of float where there is such a case). Sizes,
conditions and run-time checks that the host looks after are no work of an operator.
"""

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from Conformance import models, oracles, schemas
from Conformance.run import load_tables
from Conformance.table import enumerate_cases
from support.library import BIN

FILE = Path(__file__).parents[2] / "lib/Dialect/GpuPlacement.inc"
CASES, BATCH = 2, 16
NO_WORK = ("few integers", "sizes, conditions", "ends the run", "decides which kernels")


def rows_of(text):
    """[(where, nodes, reason)] of the first table of an explanation."""
    table = text.split("what runs where:\n", 1)[1].split("copies in each run:", 1)[0]
    for line in table.splitlines():
        # What no node made, as a number that the model returns, has neither nodes nor a reason.
        where, _, nodes, *reason = [*re.split(r" {2,}", line.strip()), ""]
        yield where, re.findall(r"\bc\d+\b", nodes), reason[0] if reason else ""


def place(where):
    """What the column says, of the set of places that work was done in."""
    if where == {"GPU"}:
        return "yes"
    return "partly" if "GPU" in where else "host" if where else "no code"


def explain(members):
    """The places of the work of each case, None where the model is refused."""
    proto, _ = models.build(members, members[0][0].key[2])
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(proto if isinstance(proto, bytes) else proto.SerializeToString())
        file.flush()
        command = [BIN / "strata-compile", file.name, "--target=cuda", "--explain", "--compile-to=gpu", "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or "what runs where" not in done.stderr:
        if len(members) == 1:
            return [None]
        half = len(members) // 2
        return explain(members[:half]) + explain(members[half:])
    found = [set() for _ in members]
    for where, nodes, reason in rows_of(done.stderr):
        if where != "-" and not reason.startswith(NO_WORK):
            for node in nodes:
                found[int(node[1:])].add(where)
    return found


def chosen(key):
    """[(case, expected outputs)]: of float first."""
    cases = sorted(enumerate_cases(key)[0], key=lambda case: "float" not in case.types.values())
    for case in cases[: 4 * CASES]:
        try:
            yield case, None if case.check else oracles.expected_outputs(case)[0]
        except (oracles.NoOracle, TypeError, ValueError):
            continue


def placements(keys):
    """{schema: what the column says}: from more cases where the first ones leave no work, as those of known numbers."""
    result, pending = {}, {key: chosen(key) for key in keys}
    while pending:
        taken = {key: list(itertools.islice(cases, CASES)) for key, cases in pending.items()}
        members = sorted(itertools.chain(*taken.values()), key=lambda member: (member[0].key[0], member[0].key[2]))
        for _, group in itertools.groupby(members, key=lambda member: (member[0].key[0], member[0].key[2])):
            group = list(group)
            for start in range(0, len(group), BATCH):
                part = group[start : start + BATCH]
                for (case, _), where in zip(part, explain(part)):
                    if where is not None:
                        result.setdefault(case.key, set()).update(where)
        pending = {key: cases for key, cases in pending.items() if taken[key] and not result.get(key)}
    return {key: place(where) for key, where in result.items()}


def read():
    """{(domain, operator): [(first version, text)]}"""
    rows = {}
    for domain, op, version, text in re.findall(r'\{"([\w.]+)", "(\w+)", (\d+), "([\w ]+)"\}', FILE.read_text()):
        rows.setdefault((domain, op), []).append((int(version), text))
    return rows


def recorded(rows, key):
    return next((text for version, text in reversed(rows.get(key[:2], [])) if version <= key[2]), None)


def write(found):
    """A line for each version at which something changes."""
    lines, last = [], None
    for (domain, op, version), text in sorted(found.items()):
        if last != (domain, op, text):
            lines.append(f'{{"{domain}", "{op}", {version}, "{text}"}},')
        last = (domain, op, text)
    head = "// Domain, operator, since-version, what the GPU runs. Written by test/GPU/placement.py --update; do not edit.\n"
    FILE.write_text(head + "\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", metavar="REGEX", help="only the operators whose name-version matches")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="about an N-th of them")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    load_tables()
    keys = [key for key in schemas.live() if re.search(options.filter, f"{key[1]}-{key[2]}")]
    keys = [key for key in keys if zlib.crc32(str(key).encode()) % options.sample == 0]
    found = placements(keys)
    if options.update:
        write(found)
    rows = read()
    wrong = [f"{op}-{version}: {text}, the table says {recorded(rows, (domain, op, version))}"
             for (domain, op, version), text in sorted(found.items())
             if text != recorded(rows, (domain, op, version))]  # fmt: skip
    print(*wrong, sep="\n")
    print(f"{len(found)} of {len(keys)} versions of operators, {len(wrong)} problems")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
