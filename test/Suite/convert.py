"""Converts the models of ONNX's backend suite to other opsets, and compares what they compute then with what the suite
expects. ONNX's own version converter does the same beside it.

Every case goes to every opset asked for, up or down. A conversion ends as one of
  equal     ONNX's checker accepts the model with full check, its operators are of that opset, and its outputs are the
            suite's within the suite's tolerances: as ONNX Runtime computes them, or else the reference implementation,
            or, where neither can, Strata itself (counted separately: `own`)
  refused   with a message that names the node, or, of ONNX's converter, with any exception
  invalid   the checker refuses the model, or it has another opset
  wrong     other outputs
  crashed   the process ended, or gave no answer in time
The run fails if one of Strata's is invalid, wrong or crashed; a run of all cases also if ONNX's converter has more equal
ones at an opset.
"""

import argparse
import json
import os
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import onnx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from Suite import drawn
from Suite.backends import strata as own
from Suite.cases import load_cases
from Suite.evaluators import EVALUATORS, Unable, operators
from Suite.pool import run_all
from Suite.run import RANDOM, TOLERANCES, read_checks, read_tolerances
from support.compare import difference

SECONDS = 240
OPSETS = range(27, 6, -1)
OUTCOMES = ("equal", "own", "refused", "invalid", "wrong", "crashed")
NAMED = re.compile(r"error: 'onnx\.[\w.]+_\d+' op ")
# What ONNX Runtime and the reference implement last.
RUNTIME_OPSET, RUNTIME_IR = 26, 13


def versions(proto):
    """The (domain, operator, since-version) of a model's nodes."""
    opsets = {entry.domain: entry.version for entry in proto.opset_import}
    found = {(node.domain, node.op_type) for node in operators(proto.graph)}
    return {(*op, onnx.defs.get_schema(op[1], opsets[op[0]], op[0]).since_version) for op in found}


class Oracle:
    """Says whether a model computes what a case expects."""

    def __init__(self, case, rtol, atol, check):
        self.case = case
        self.rtol, self.atol, self.check = max(case.rtol, rtol), max(case.atol, atol), check
        self.data_sets = case.data_sets()
        self.trust = {}
        self.verdicts = {}

    def difference(self, evaluator, model):
        """In words, None if there is none; raises Unable."""
        run = evaluator(model)
        for inputs, expected in self.data_sets:
            if self.check:
                found = drawn.difference(self.check, run, inputs, expected)
            else:
                found = difference(expected, run(inputs), self.rtol, self.atol)
            if found:
                return found
        return None

    def passes_original(self, name):
        """Whether the evaluator gives the expected outputs of the case's own model."""
        if name not in self.trust:
            model = onnx.ModelProto.FromString(self.case.model())
            if name == "runtime":  # Newer opsets as the newest one it knows, if that has the operators.
                model.ir_version = min(model.ir_version, RUNTIME_IR)
                for entry in model.opset_import:
                    if entry.domain == "":
                        entry.version = min(entry.version, RUNTIME_OPSET)
            try:
                self.trust[name] = not self.difference(EVALUATORS[name], model.SerializeToString())
            except Unable:
                self.trust[name] = False
        return self.trust[name]

    def judge(self, proto):
        """('equal' | 'own' | 'wrong', by whom, or why). Models of the same nodes at the same versions are one model."""
        if proto.functions:
            return self.evaluate(proto.SerializeToString())
        meaning = (proto.graph.SerializeToString(deterministic=True), *sorted(versions(proto)))
        if meaning not in self.verdicts:
            self.verdicts[meaning] = self.evaluate(proto.SerializeToString())
        return self.verdicts[meaning]

    def evaluate(self, model):
        doubts = []
        for name, evaluator in EVALUATORS.items():
            try:
                found = self.difference(evaluator, model)
            except Unable as error:
                doubts.append(f"{name}: {error}")
                continue
            if not found:
                return "equal", name
            if self.passes_original(name):
                return "wrong", f"{name}: {found}"
            doubts.append(f"{name}, which does not pass the case itself: {found}")
        try:
            found = self.difference(own, model)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        return ("wrong", f"Strata: {found}; {'; '.join(doubts)}") if found else ("own", "; ".join(doubts))


def by_strata(model, opset):
    import strata

    try:
        return strata.convert_opset(model, opset), ""
    except strata.CompileError as error:
        text = str(error)
        if not NAMED.search(text):
            raise AssertionError(f"refused without naming a node: {text}") from None
        return None, text


def by_onnx(model, opset):
    try:
        return onnx.version_converter.convert_version(onnx.ModelProto.FromString(model), opset).SerializeToString(), ""
    except Exception as error:
        return None, str(error)


CONVERTERS = {"strata": by_strata, "onnx": by_onnx}


def refusal_of_checker(proto):
    try:
        onnx.checker.check_model(proto, full_check=True)
    except Exception as error:
        return str(error)


def convert(oracle, model, converter, opset):
    try:
        converted, why = CONVERTERS[converter](model, opset)
    except AssertionError as error:
        return "wrong", str(error)
    if converted is None:
        return "refused", why
    proto = onnx.ModelProto.FromString(converted)
    if found := refusal_of_checker(proto):
        # Some functions' bodies do not pass ONNX's own inference: then the case's model does not, either.
        if not refusal_of_checker(onnx.ModelProto.FromString(model)):
            return "invalid", found
    opsets = {entry.domain: entry.version for entry in proto.opset_import}
    if opsets.get("", opset) != opset:
        return "invalid", f"opset {opsets['']}"
    return oracle.judge(proto)


def reasons(results):
    """Refusals by the operator's version and the reason, most frequent first: (models and opsets, models, reason, one)."""
    found = defaultdict(list)
    for (name, _), (outcome, why) in results.items():
        if outcome == "refused":
            first = next(line for line in why.splitlines() if "error: " in line).partition("error: ")[2]
            found[re.sub(r"'[^']*'", lambda m: m[0] if m[0].startswith("'onnx.") else "'...'", first)].append(name)
    for reason, names in sorted(found.items(), key=lambda item: -len(item[1])):
        yield len(names), len(set(names)), reason, names[0]


def table(results, opsets, cases):
    columns = [(who, outcome) for who in results for outcome in OUTCOMES]
    counts = {who: Counter((opset, outcome) for (_, opset), (outcome, _) in results[who].items()) for who in results}
    yield f"{cases} cases " + "".join(f"{who:>{9 * len(OUTCOMES)}}" for who in results)
    yield "opset".ljust(8) + "".join(f"{outcome:>9}" for _, outcome in columns)
    for opset in opsets:
        yield f"{opset:<8}" + "".join(f"{counts[who][opset, outcome]:>9}" for who, outcome in columns)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th case only")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only the cases whose name matches")
    parser.add_argument("--opsets", default=",".join(map(str, OPSETS)), help="comma-separated (default: 27 to 7)")
    parser.add_argument("--alone", action="store_true", help="without ONNX's converter")
    parser.add_argument("--reasons", type=int, default=0, metavar="N", help="print the N most frequent reasons to refuse")
    parser.add_argument("--results", metavar="FILE", help="write every outcome as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes (default: all cores)")
    parser.add_argument("--verbose", action="store_true", help="print every conversion of Strata's")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    start = time.monotonic()
    cases = [case for case in load_cases() if re.search(options.filter, case.name)][:: options.every]
    opsets = [int(opset) for opset in options.opsets.split(",")]
    checks, tolerances = read_checks(RANDOM), read_tolerances(TOLERANCES)

    def run(task):
        index, who, targets = task
        case = cases[index]
        # Below its operator's first opset a case is its expanded one.
        tolerance = tolerances.get(case.name) or tolerances.get(f"{case.name}_expanded", (0.0, 0.0))
        oracle = Oracle(case, *tolerance, checks.get(case.name))
        model = case.model()
        return [convert(oracle, model, who, opset) for opset in targets]

    results = {who: {} for who in CONVERTERS if who == "strata" or not options.alone}
    tasks = [(i, who, tuple(opsets)) for i in range(len(cases)) for who in results]
    tasks.sort(key=lambda task: cases[task[0]].kind != "real")
    done = 0
    while tasks:
        again = []
        for (index, who, targets), outcome in run_all(run, tasks, options.jobs, SECONDS):
            done += 1
            crashed = isinstance(outcome, tuple)
            if crashed and len(targets) > 1:  # Which opset is it?
                again += [(index, who, (opset,)) for opset in targets]
                continue
            for opset, (kind, why) in zip(targets, [outcome] if crashed else outcome):
                name = cases[index].name
                results[who][name, opset] = kind, why
                if who == "strata" and (options.verbose or kind in ("invalid", "wrong", "crashed")):
                    print(f"{kind}: {name} to {opset}: {why[:600]}", flush=True)
            if done % 400 == 0:
                print(f"{done}/{len(cases) * len(results)} after {time.monotonic() - start:.0f} s", flush=True)
        tasks = again
    print(*table(results, opsets, len(cases)), sep="\n")
    for places, models, reason, example in list(reasons(results["strata"]))[: options.reasons]:
        print(f"{places:6} ({models} models, as {example}): {reason}")
    if options.results:
        records = {who: [[*key, *value] for key, value in found.items()] for who, found in results.items()}
        Path(options.results).write_text(json.dumps(records))
    good = lambda who, at: sum(opset == at and kind in ("equal", "own") for (_, opset), (kind, _) in results[who].items())
    bad = Counter(kind for kind, _ in results["strata"].values())
    problems = bad["invalid"] + bad["wrong"] + bad["crashed"]
    behind = []
    if "onnx" in results and not options.filter and options.every == 1:
        behind = [opset for opset in opsets if good("strata", opset) < good("onnx", opset)]
        if behind:
            print(f"ONNX's converter has more to opset {', '.join(map(str, behind))}")
    equal = bad["equal"] + bad["own"]
    print(f"{time.monotonic() - start:.0f} s, {equal} of {len(results['strata'])} conversions equal, {problems} problems")
    return 1 if problems or behind or not equal else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
