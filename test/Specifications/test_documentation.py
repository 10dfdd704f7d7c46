"""The examples of the documentation do what the pages say.

    ```mlir   whose first line is `// file: NAME`: the text is written to that file
    ```python  is run; with `>>> ` prompts, what it prints is compared
    ```sh      `$ strata-...` is run and what it prints (output and messages) compared with the lines up to the next
               prompt; a line `...` stands for any lines. Without prompts, the lines that begin with a tool's name must
               succeed

All blocks of a page share one folder, in order. Operators' pages are run in full, of other pages what uses the tools.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import strata
from onnx import parser, save
from support.library import BIN

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the examples call their files.
NETWORK = """
<ir_version: 8, opset_import: ["" : 17]>
network (float[1, 3, 224, 224] input) => (float[1, 3] scores) {
  pooled = GlobalAveragePool(input)
  scores = Flatten(pooled)
}
"""
TRANSFORMER = """
<ir_version: 8, opset_import: ["" : 17]>
transformer (int64[batch, seq] tokens) => (float[batch, seq, 2] hidden)
<float[4, 2] table = {0, 1, 2, 3, 4, 5, 6, 7}> {
  hidden = Gather(table, tokens)
}
"""


def runs(kind, text):
    """Whether a block is an example that this file can run."""
    return (
        kind == "mlir" and text.startswith("// file: ")
        or kind == "python"
        or kind == "sh" and re.search(r"^(\$ )?strata-", text, re.MULTILINE)
    )  # fmt: skip


def examples():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        blocks = [(kind, text) for kind, text in BLOCK.findall(page.read_text()) if runs(kind, text)]
        if blocks:
            yield pytest.param(blocks, id=str(page.relative_to(ROOT)))


def execute(command, folder):
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def matches(expected, actual):
    """Equal line by line, but for spaces at the ends of lines; `...` is any lines."""
    expected, actual = ([line.rstrip() for line in text.strip("\n").split("\n")] for text in (expected, actual))
    pattern = "\n".join("\0" if line == "..." else re.escape(line) for line in expected)
    pattern = pattern.replace("\0\n", r"(?:.*\n)*").replace("\n\0", r"(?:\n.*)*").replace("\0", r"(?:.*\n?)*")
    return re.fullmatch(pattern, "\n".join(actual)) is not None


def run_shell(text, folder):
    if not text.startswith("$ ") and "\n$ " not in text:
        for line in text.splitlines():
            if line.startswith("strata-"):
                status, output = execute(["bash", "-c", line], folder)
                assert status == 0, f"{line}\n{output}"
        return
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more.lstrip("> ")
        if not command.startswith("strata-"):
            status, output = execute(["bash", "-c", command], folder)
            assert status == 0, f"{command}\n{output}"
            continue
        _, output = execute(["bash", "-c", command], folder)
        assert matches(expected, output), f"$ {command}\nexpected:\n{expected}\ngot:\n{output}"


@pytest.mark.parametrize("blocks", list(examples()))
def test_examples(blocks, tmp_path):
    save(parser.parse_model(NETWORK), tmp_path / "model.onnx")
    save(parser.parse_model(NETWORK), tmp_path / "resnet50.onnx")
    save(parser.parse_model(TRANSFORMER), tmp_path / "bert.onnx")
    np.save(tmp_path / "image.npy", np.ones((1, 3, 224, 224), np.float32))
    prelude = "import numpy as np\nimage = np.load('image.npy')\n"
    script = ""
    for kind, text in blocks:
        if kind == "mlir":
            (tmp_path / text.splitlines()[0].removeprefix("// file: ").strip()).write_text(text)
        elif kind == "sh":
            run_shell(text, tmp_path)
        elif ">>> " in text:
            (tmp_path / "example.txt").write_text(text)
            status, output = execute([sys.executable, "-m", "doctest", "-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE", "example.txt"], tmp_path)
            assert status == 0, output
        else:
            # Later blocks of a page go on where earlier ones stopped.
            script += text
            status, output = execute([sys.executable, "-c", prelude + script], tmp_path)
            assert status == 0, output
    assert blocks


def test_the_runner_sees_differences():
    assert matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert matches("...", "a\nb")
    assert not matches("a\nb\n", "a\nc\n")
    assert not matches("a\n", "a\nb\n")


def test_every_operator_has_a_page_with_examples():
    pages = {page.stem: page.read_text() for page in (ROOT / "docs/operators").glob("*.md")}
    for operator in ("ConstantOfShape", "Dequantize", "Dropout", "RandomUniformLike", "Range"):
        assert operator in pages, f"docs/operators/{operator}.md is missing"
        assert any(runs(kind, text) for kind, text in BLOCK.findall(pages[operator])), f"{operator}.md has no example"
