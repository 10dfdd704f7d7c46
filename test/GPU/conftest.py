"""What is made of a failure on the emulated GPU: whether the model, run or compiled again, does the same.

Kernels that are wrong are wrong each time. Where a test fails, and then passes three times with byte for byte the same
kernels, it is not they that failed but what executed them; such a test is reported as unstable (test/summary.py), with
what is known. Other kernels than before are a failure, as is one that comes again.
"""

import hashlib
import tempfile
from pathlib import Path

import numpy as np
import pytest
import strata

TIMES = 3


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8] if path.exists() else "none"


class Record:
    """The last model that a test has compiled and run, and the kernels that the emulated GPU has loaded."""

    def __init__(self, folder):
        self.folder, self.compiled, self.ran, self.results = Path(folder), None, None, None

    def kernels(self):
        """Hashes of modules' bitcode and of this machine's code for it, in the order in which they were loaded."""
        files = sorted(self.folder.glob("*.bc"), key=lambda path: int(path.stem))
        return ["-".join(hash_of(path) for path in (file, file.with_suffix(".o"))) for file in files]

    def outcome(self, run):
        try:
            results = run()
        except strata.Error as error:
            return f"error: {error}"
        if self.results is None:
            return "results"
        different = sum(np.asarray(x).tobytes() != np.asarray(y).tobytes() for x, y in zip(results, self.results))
        return f"other results ({different} of {len(results)})" if different else "the same results"

    def again(self):
        """Texts."""
        if not self.compiled or not self.ran:
            return
        model, arrays = self.ran
        yield f"kernels loaded by the test: {' '.join(self.kernels())}"
        for _ in range(2):
            yield f"run again: {self.outcome(lambda: self.call(model, *arrays))}"
        for _ in range(2):
            arguments, options = self.compiled
            fresh = self.compile(*arguments, **options)
            outcome = self.outcome(lambda fresh=fresh: self.call(fresh, *arrays))
            yield f"compiled again: {outcome}; kernels {' '.join(self.kernels()[-1:])}"


@pytest.fixture(autouse=True)
def record(request, monkeypatch):
    with tempfile.TemporaryDirectory() as folder:
        record = request.node.record = Record(folder)
        record.compile, record.call = strata.compile, strata.Model.__call__

        def compile(*arguments, **options):
            record.compiled = arguments, options
            return record.compile(*arguments, **options)

        def call(model, *arrays):
            record.ran, record.results = (model, arrays), None
            record.results = record.call(model, *arrays)
            return record.results

        monkeypatch.setenv("STRATA_EMULATOR_KEEP", folder)
        monkeypatch.setattr(strata, "compile", compile)
        monkeypatch.setattr(strata.Model, "__call__", call)
        yield
        del request.node.record  # and with it the model


def passes_with_the_same_kernels(item, kernels):
    """Whether the test passes TIMES times, and loads what it loaded before it failed."""
    for _ in range(TIMES):
        before = len(item.record.kernels())
        try:
            item.runtest()
        except Exception:
            return False
        if item.record.kernels()[before:][: len(kernels)] != kernels:
            return False
    return bool(kernels)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except (AssertionError, strata.Error) as error:
        record = getattr(item, "record", None)
        if not record:
            raise
        kernels = record.kernels()
        again = [f"first: {type(error).__name__}: {error}", *record.again()]
        item.add_report_section("call", "again", "\n".join(again))
        if not passes_with_the_same_kernels(item, kernels):
            raise
        item.user_properties.append(("unstable", "\n".join(again)))
