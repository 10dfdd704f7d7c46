"""The results as a page: tables between the markers of a Markdown file, plots beside it."""

import re
import statistics

from runtimes import NAMES

PRECISIONS = ("f32", "bf16", "int8")


def number(value):
    """Three digits."""
    return "" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _table(head, rows):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, ["---"] * len(head), *rows])


def _machine(results):
    facts, known = results["machine"], results["limits"]
    versions = ", ".join(f"{package} {version}" for package, version in facts["versions"].items())
    text = f"{facts['date']}: {facts['cpu']}, {facts['cores']} cores ({', '.join(facts['features'])}); {versions}.\n\n"
    counts = sorted(known, key=int)
    titles = {"f32": "f32 multiply-add, GFLOP/s", "bf16": "bf16 matrices, GFLOP/s", "int8": "int8 matrices, GOP/s"}
    rows = [
        [title, *(number(known[n][kind]) for n in counts)] for kind, title in titles.items() if known[counts[0]][kind]
    ]
    for kind in ("read", "copy"):
        for size in known[counts[0]][kind]:
            rows.append([f"{kind} {int(size) / 2**20:g} MiB, GB/s", *(number(known[n][kind][size]) for n in counts)])
    return text + _table(["limit", *(f"{n} thread{'s' * (n != '1')}" for n in counts)], rows)


def _results(results, precision):
    have = {name: case[precision] for name, case in results["cases"].items() if _counts(case.get(precision, {}))}
    counts = sorted({n for case in have.values() for n in _counts(case)}, key=int)
    if not have:
        return "Not measured."
    head = ["case"]
    for n in counts:
        head += [f"Strata {n}T, ms", "best peer", "ratio", "of limit"]
    head += ["speed-up", "error", "compile s, MB", "run MB (best peer)"]
    rows = []
    for name, case in have.items():
        row = [name]
        for n in counts:
            run = case.get(n, {})
            best, limit = run.get("best"), run.get("of limit")
            row += [number(run.get("ms", {}).get("strata")) or "failed",
                    ", ".join(([f"{number(run['ms'][best])} {NAMES[best]}"] if best else []) + _wrong(run)),
                    _ratio(run), f"{100 * limit:.0f} %" if limit else ""]  # fmt: skip
        first, last = (case.get(n, {}).get("ms", {}).get("strata") for n in (counts[0], counts[-1]))
        errors = [case[n]["error"]["strata"] for n in _counts(case) if "strata" in case[n]["error"]]
        row += [f"{first / last:.2f}" if first and last and len(counts) > 1 else "",
                f"{max(errors):.0e}" if errors else "",
                f"{number(case['compile']['seconds'])}, {case['compile']['peak'] / 1e6:.0f}", _memory(case[counts[0]])]  # fmt: skip
        rows.append(row)
    return f"{_summary(have, counts)}\n\n{_table(head, rows)}"


def _wrong(run):
    """The peers whose outputs are not those of the model, which are none to be compared with."""
    return [f"({NAMES[name]} {number(run['ms'][name])}, off by {error:.0%})"
            for name, error in run.get("wrong", {}).items() if name in run["ms"]]  # fmt: skip


def _memory(run):
    """Of Strata, and of the peer that needs least."""
    memory = dict(run.get("memory", {}))
    own = memory.pop("strata", None)
    if own is None:
        return ""
    return f"{own / 1e6:.0f}" + (f" ({min(memory.values()) / 1e6:.0f})" if memory else "")


def _counts(case):
    return [n for n in case if n.isdigit()]


def are_apart(run):
    """Whether two threads ran, at least at one end of the measurement, on cores that share no cache."""
    farthest = 100  # nanoseconds; a third of that where they share one
    return run.get("apart", 0) > farthest


def _ratio(run):
    if "ratio" not in run:
        return ""
    text = f"**{run['ratio']:.2f}**" if run["ratio"] > 1.05 else f"{run['ratio']:.2f}"
    if run.get("uncertainty", 0) >= 0.03:
        text = f"{text} ± {run['uncertainty']:.2f}"
    text = f"{text} (apart)" if are_apart(run) else text
    return f"~ {text}" if run.get("foreign", 0) > 0.3 else text


def _summary(have, counts):
    sentences = []
    for n in counts:
        ratios = [case[n]["ratio"] for case in have.values() if "ratio" in case.get(n, {})]
        if ratios:
            behind = [case[n] for case in have.values() if case.get(n, {}).get("ratio", 0) > 1.05]
            text = (f"{n} thread{'s' * (n != '1')}: {len(ratios)} cases, the geometric mean of the ratios is "
                    f"{statistics.geometric_mean(ratios):.2f}, {len(behind)} are above 1.05")  # fmt: skip
            if behind:
                sure = sum(run["ratio"] - 2 * run.get("uncertainty", 0) > 1.05 for run in behind)
                text += f" ({sure} by more than twice the uncertainty)"
            sentences.append(f"{text}.")
    return " ".join(sentences)


# --- Plots.


def _figure(height):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "strata", "font.size": 8})
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(8, height), layout="constrained")


def _save(figure, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    path.write_text(re.sub(r"[ \t]+\n", "\n", path.read_text()))


def _plot(results, precision, quantity, label, path):
    """A point for each case and number of threads."""
    cases = [(name, case[precision]) for name, case in results["cases"].items() if precision in case]
    cases = [(name, case) for name, case in cases if any(quantity in case[n] for n in _counts(case))][::-1]
    if not cases:
        return
    figure, axes = _figure(0.17 * len(cases) + 1)
    for threads, marker in zip(sorted({n for _, case in cases for n in _counts(case)}, key=int), "os^v"):
        points = [
            (case[threads][quantity], row) for row, (_, case) in enumerate(cases) if quantity in case.get(threads, {})
        ]
        axes.scatter(*zip(*points), marker=marker, s=16, label=f"{threads} thread{'s' * (threads != '1')}")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(cases)), [name for name, _ in cases])
    axes.set_ylim(-1, len(cases))
    axes.grid(axis="x", linewidth=0.3)
    axes.set_xlabel(label)
    axes.legend(loc="best")
    _save(figure, path)


def filled(text, results):
    """Replaces what is between `<!-- bench: NAME -->` and `<!-- end -->`."""
    parts = {"machine": _machine(results), **{name: _results(results, name) for name in PRECISIONS}}
    for name, part in parts.items():
        block = f"<!-- bench: {name} -->\n{part}\n<!-- end -->"
        text = re.sub(rf"<!-- bench: {name} -->.*?<!-- end -->", lambda _: block, text, flags=re.S)  # noqa: B023
    return text


def write(path, results):
    path.write_text(filled(path.read_text(), results))
    for name in PRECISIONS:
        _plot(
            results,
            name,
            "ratio",
            "time of Strata / time of the best peer",
            path.with_suffix("") / f"ratios-{name}.svg",
        )
        _plot(results, name, "of limit", "least time by the machine's limits / time of Strata",
              path.with_suffix("") / f"limits-{name}.svg")  # fmt: skip
