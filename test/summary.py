"""Adds up the results of lit, pytest, conformance and the backend suite.

The last line is `N passed, N failed[, N skipped]`.

Usage: summary.py RESULTS_DIR STATUS, where STATUS is non-zero when one of the runners reported a failure.
Exits non-zero when anything failed or nothing ran.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def lit_results(file):
    kinds = {"PASS": "passed", "FLAKYPASS": "passed", "XFAIL": "passed", "UNSUPPORTED": "skipped", "SKIPPED": "skipped"}
    for test in json.loads(file.read_text())["tests"]:
        if test["code"] != "EXCLUDED":
            yield test["name"], kinds.get(test["code"], "failed")


def pytest_results(file):
    for case in ElementTree.parse(file).iter("testcase"):
        marks = {child.tag for child in case}
        kind = "failed" if marks & {"failure", "error"} else "skipped" if "skipped" in marks else "passed"
        yield f"{case.get('classname')}::{case.get('name')}", kind


def suite_results(file):
    kinds = {"pass": "passed", "unsupported": "skipped"}
    for case in json.loads(file.read_text())["cases"]:
        yield f"suite :: {case['name']}", "failed" if case["problem"] else kinds.get(case["kind"], "failed")


def conformance_results(file):
    for case in json.loads(file.read_text())["cases"]:
        if case["problem"] or case["kind"] == "passed":
            yield f"conformance :: {case['name']}", "failed" if case["problem"] else "passed"


READERS = {
    "lit.json": lit_results,
    "pytest.xml": pytest_results,
    "conformance.json": conformance_results,
    "steps.json": conformance_results,
    "suite.json": suite_results,
}


def main(folder, status):
    total = Counter()
    failures = []
    for name, reader in READERS.items():
        file = Path(folder) / name
        if not file.exists():
            continue
        count = Counter()
        for test, kind in reader(file):
            count[kind] += 1
            if kind == "failed":
                failures.append(test)
        print(f"{file.stem:12}{count['passed']:6} passed{count['failed']:6} failed{count['skipped']:6} skipped")
        total += count
    if failures:
        print("failed:", *failures, sep="\n  ")
    # A runner that broke down before writing its results counts as one failure.
    if status and not total["failed"]:
        print("failed: a test runner ended with an error (see above)")
        total["failed"] += 1
    print(
        f"{total['passed']} passed, {total['failed']} failed"
        + (f", {total['skipped']} skipped" if total["skipped"] else "")
    )
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
