"""What strata-opt and the importer say to many models."""

import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import strata
from Suite.pool import run_all
from support.library import BIN

ERROR = re.compile(r"^within split at .*?:(\d+) offset .*?: error: (.*)$")


def _run(texts, options):
    """The first error of each text, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path, lines, line = Path(folder) / "uses.mlir", {}, 1
        with path.open("w") as file:
            for i, text in enumerate(texts):
                lines[line] = i
                file.write(text.rstrip("\n") + "\n// -----\n")
                line += text.rstrip("\n").count("\n") + 2
        command = [BIN / "strata-opt", "--split-input-file", *options, path, "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    assert done.returncode in (0, 1), done.stderr[-2000:]
    messages = [None] * len(texts)
    starts = sorted(lines)
    for found in done.stderr.splitlines():
        if match := ERROR.match(found):
            start = int(match[1])
            # The number is that of the chunk's first line, or of the separator in front of it.
            i = lines.get(start, lines.get(start + 1))
            assert i is not None, (start, starts[:5])
            messages[i] = messages[i] or match[2]
    return messages


def by_opt(texts, *options, jobs=2):
    """The first error that strata-opt has for each text, or None."""
    texts = list(texts)
    chunks = [texts[i : i + 1000] for i in range(0, len(texts), 1000)]
    with ThreadPoolExecutor(jobs) as pool:
        return [m for chunk in pool.map(lambda c: _run(c, options), chunks) for m in chunk]


def _compile(model, path):
    path.write_bytes(model.SerializeToString())
    try:
        strata.compile(path)
    except strata.CompileError as error:
        return "refused", str(error).partition("\n")[0]
    return "compiled", None


def by_import(models, path, jobs=2):
    """What compiling each model says, or None. They are written to `path`."""
    models, answers = list(models), {}
    run = lambda i: _compile(models[i], path.with_suffix(f".{os.getpid()}.onnx"))
    for i, (outcome, message) in run_all(run, list(range(len(models))), jobs, 60):
        assert outcome != "crashed", f"{models[i]}\n{message}"
        answers[i] = message
    return [answers[i] for i in range(len(models))]
