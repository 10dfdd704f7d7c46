"""What the steps between versions have shown, and docs/version-steps.md, which lists them."""

import re
from collections import Counter
from pathlib import Path

from onnx import defs

PAGE = Path(__file__).parents[2] / "docs" / "version-steps.md"
HEADER = """\
# Version steps

Every step of an operator from one version to the next, as `./dev conformance --steps` has run it, which writes this page with
`--update`. [conversion.md](conversion.md) says how steps work.

Up: cases of the older version, converted to the opset with which the newer one begins, give what an oracle gives for the
older one. Down: cases of the newer version at the opset before, the other way round; what is refused there has no form in
the older version. *proven*: all cases; *partly*: some are refused, for the reasons behind it; *refused*: all are;
*open*: no case yet. Operators behind the arrow take the place of the node, or stand around it.

"""


def every_step():
    """[(domain, operator, from, to)] of all schemas, those of deprecated versions too."""
    history = {}
    for schema in defs.get_all_schemas_with_history():
        history.setdefault((schema.domain or "ai.onnx", schema.name), []).append(schema.since_version)
    return [(*op, a, b) for op, found in sorted(history.items()) for v in [sorted(found)] for a, b in zip(v, v[1:])]


def label(step):
    domain, op, old, new = step
    return f"{'' if domain == 'ai.onnx' else domain + '.'}{op} {old} → {new}"


def reason(text):
    """Of a refusal, without names of values and types."""
    text = re.sub(r"^.*?error: ", "", text).split(" <bytes>")[0]
    text = re.sub(r"^'onnx\.([\w.]+)' op ", r"\1 ", text)
    text = re.sub(r"(must be|variadic of|, but got|it is|, here).*", r"\1 ...", text).split(" node '")[0]
    return re.sub(r"array<[^>]*>|-?\d+ : i64|\"\w+\"", "...", text)[:150]


def status(step, direction, results):
    """(word, operators, reasons, counts) of one step."""
    own = {key[2]: value for key, value in results.items() if key[:2] == (step, direction)}
    outcomes = Counter(outcome for outcome, _, _ in own.values())
    forms = Counter(form for outcome, _, form in own.values() if outcome == "proven" and form)
    others = sorted({f for form in forms for f in form.split()} - {step[1]})
    reasons = sorted({reason(details) for outcome, details, _ in own.values() if outcome == "refused"})
    if outcomes["failed"]:
        word = "FAILED"
    elif outcomes["proven"]:
        word = "partly" if outcomes["refused"] else "proven"
    else:
        word = "refused" if outcomes["refused"] else "open"
    return word, others, reasons, outcomes


def page(steps, results):
    """The page with the rows of these steps; what it says of others stays."""
    rows = {}
    for line in PAGE.read_text().splitlines() if PAGE.exists() else []:
        if line.startswith("| ") and not line.startswith("| step "):
            rows[line.split(" | ")[0].removeprefix("| ")] = line
    for step in steps:
        cells = []
        for direction in ("up", "down"):
            word, others, reasons, _ = status(step, direction, results)
            text = word + (f" → {', '.join(others[:8])}" if others else "")
            cells.append(text + (": " + "; ".join(r.replace("|", "\\|") for r in reasons[:3]) if reasons else ""))
        rows[label(step)] = f"| {label(step)} | {cells[0]} | {cells[1]} |"
    order = {label(step): i for i, step in enumerate(every_step())}
    lines = [line for name, line in sorted(rows.items(), key=lambda row: order.get(row[0], -1)) if name in order]
    return HEADER + "\n".join(["| step | up | down |", "|---|---|---|", *lines]) + "\n"


def summary(steps, results, verbose, update):
    """(lines to print, number of problems)"""
    lines, problems = [], 0
    failed = {}
    for (step, direction, name), (outcome, details, _) in sorted(results.items()):
        if outcome == "failed":
            problems += 1
            together = (step, direction, re.sub(r"[-\d.e]+", "#", details)[:80])
            failed.setdefault(together, []).append((name, details))
    for (step, direction, _), found in failed.items():
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        lines.append(f"FAILED {label(step)} {direction}: {found[0][0]}{more}: {found[0][1]}")
    for direction in ("up", "down"):
        words, by, left_open, refusing = Counter(), Counter(), [], []
        for step in steps:
            word, others, reasons, outcomes = status(step, direction, results)
            words[word] += 1
            if word == "open":
                left_open.append(label(step))
            if reasons and direction == "up":
                refusing.append(f"  {label(step)}: {outcomes['refused']} of {outcomes.total()}: {reasons[0]}")
            if verbose:
                counts = ", ".join(f"{n} {o}" for o, n in outcomes.items())
                lines.append(f"{direction:5}{label(step):40} {word:8} {counts}  {' '.join(others[:6])} {'; '.join(reasons[:2])}")
        for key, (outcome, details, _) in results.items():
            if outcome == "proven" and key[1] == direction:
                by[details] += 1
        if not words or not any(key[1] == direction for key in results):
            continue
        lines.append(f"{direction}: {len(steps)} steps: {', '.join(f'{n} {w}' for w, n in words.most_common())}")
        lines.append(f"  {sum(by.values())} cases proven: {', '.join(f'{n} {b}' for b, n in by.most_common())}")
        if left_open:
            lines.append(f"  open: {', '.join(left_open)}")
        if refusing:
            lines += ["  refused upwards:", *refusing]
    if update:
        PAGE.write_text(page(steps, results))
    return lines, problems
