"""What a run has shown: schemas and cells executed, by oracle and form; what failed; what is open, against open.txt."""

import re
from collections import Counter
from pathlib import Path

from Conformance import schemas

OPEN = Path(__file__).parent / "open.txt"
HEADER = """\
# Cells (schema x type variable x element type) that no case executes yet: op-version variable: types.
# This file only shrinks: ./dev conformance --update takes out what is covered.
"""


def label(key):
    domain, op, version = key
    return f"{'' if domain == 'ai.onnx' else domain + '.'}{op}-{version}"


def cell_label(cell):
    return f"{label(cell[:3])} {cell[3] or '-'} {cell[4] or '-'}"


def read_open():
    lines = OPEN.read_text().splitlines() if OPEN.exists() else []
    found = set()
    for line in lines:
        if line and not line.startswith("#"):
            head, types = line.split(": ", 1)
            found.update(f"{head} {t}" for t in types.split())
    return found


def write_open(labels):
    rows = {}
    for text in sorted(labels):
        schema, variable, element = text.split(" ")
        rows.setdefault(f"{schema} {variable}", []).append(element)
    OPEN.write_text(HEADER + "".join(f"{head}: {' '.join(types)}\n" for head, types in rows.items()))


def failures(problems):
    """Those of one operator version with the same text, but for numbers, in one line."""
    together = {}
    for name, text in problems.items():
        together.setdefault((name.split("/")[0], re.sub(r"[-\d.e]+", "#", text)[:100]), []).append(name)
    for names in together.values():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"  {names[0]}{more}: {problems[names[0]][:400]}"


def summary(cases, results, missing, whole, update):
    """(lines to print, {name: what is wrong})"""
    lines, problems = [], {}
    everything = schemas.cells()
    no_variables = [(*key, "", "") for key in schemas.live() if not schemas.variables(key)]
    executed, by_oracle, by_mode, without = set(), Counter(), Counter(), Counter()
    ran = set()
    for (index, mode), (outcome, details, cells) in sorted(results.items()):
        if outcome == "passed":
            executed.update(cells)
            ran.add(cases[index].key)
            by_oracle[details] += 1
            by_mode[mode] += 1
        elif outcome == "none":
            without[details] += 1
        else:
            problems[f"{cases[index].id} {mode}"] = f"{outcome}: {details}"
    executed |= {cell for cell in no_variables if cell[:3] in ran}
    impossible = {c: r for c, r in missing.items() if r.startswith("impossible: ") and c not in executed}
    if problems:
        lines += ["", "Failures:", *failures(problems)]
    if whole:
        undone = {cell_label(c) for c in [*everything, *no_variables] if c not in executed and c not in impossible}
        listed = read_open()
        if update:
            allowed = undone & listed if OPEN.exists() else undone
            write_open(allowed)
            lines.append(f"{OPEN.name}: {len(listed)} -> {len(allowed)} cells")
            listed = allowed
        for text in sorted(undone - listed):
            problems[text] = "no case executes this cell, and it is not in open.txt"
        for text in sorted(listed - undone):
            problems[text] = "is executed, but still in open.txt: run ./dev conformance --update"
        lines += ["", f"{len(undone)} cells are open, of {len({t.split()[0] for t in undone})} schemas ({OPEN.name})"]
        if impossible:
            lines += ["Cells that no model can have:"]
            reasons = {}
            for cell, reason in impossible.items():
                reasons.setdefault((label(cell[:3]), reason.removeprefix("impossible: ")), []).append(cell[4])
            lines += [f"  {name} {' '.join(sorted(types))}: {reason}" for (name, reason), types in reasons.items()]
        lines += [f"  {text}: {problems[text]}" for text in sorted((undone - listed) | (listed - undone))][:60]
    elif update:
        listed = read_open()
        left = listed - {cell_label(cell) for cell in executed}
        write_open(left)
        lines += ["", f"{OPEN.name}: {len(listed)} -> {len(left)} cells"]
    if without:
        lines += ["Forms left out:", *(f"  {count} dynamic: {reason}" for reason, count in without.most_common())]
    lines += [
        "",
        f"schemas executed          {len(ran):6} of {len(schemas.live())}",
        f"cells executed            {len(executed - set(no_variables)):6} of {len(everything)}"
        + (f" ({len(impossible)} impossible)" if impossible else ""),
        f"runs passed               {sum(by_mode.values()):6} ({', '.join(f'{n} {m}' for m, n in by_mode.items())})",
        f"by oracle                 {', '.join(f'{n} {o}' for o, n in by_oracle.most_common())}",
        f"runs failed               {sum(1 for r in results.values() if r[0] not in ('passed', 'none')):6}",
    ]
    return lines, problems
