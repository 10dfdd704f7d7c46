"""What a failed test of kernels says beside its error: whether the model, run or compiled again, does the same.

A kernel that is wrong is wrong each time. One that is not has other code than the last time, or the emulated GPU, the
runtime or the machine has done something else with the same code.
"""

import hashlib
import tempfile
from pathlib import Path

import numpy as np
import pytest
import strata


class Record:
    """The last model that a test has compiled and run."""

    def __init__(self, folder):
        self.folder, self.compiled, self.ran, self.results = Path(folder), None, None, None

    def kernels(self):
        """What the emulated GPU has loaded, the last module first: hashes of its bitcode."""
        files = sorted(self.folder.glob("*.bc"), key=lambda path: -int(path.stem))
        return [hashlib.sha256(path.read_bytes()).hexdigest()[:12] for path in files]

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
        model, arrays = self.ran
        yield f"kernels loaded by the test: {' '.join(self.kernels())}"
        for _ in range(2):
            yield f"run again: {self.outcome(lambda: self.call(model, *arrays))}"
        for _ in range(2):
            arguments, options = self.compiled
            fresh = self.compile(*arguments, **options)
            outcome = self.outcome(lambda fresh=fresh: self.call(fresh, *arrays))
            yield f"compiled again: {outcome}; kernels {' '.join(self.kernels()[:1])}"


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    record = getattr(item, "record", None)
    if call.when == "call" and report.failed and record and record.compiled and record.ran:
        report.sections.append(("Again", "\n".join(record.again())))
    return report
