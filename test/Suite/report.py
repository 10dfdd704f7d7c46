"""docs/support.md: which operators of ONNX work, as the backend suite sees it. It follows from the lists of cases."""

from collections import defaultdict
from pathlib import Path

import onnx
from Suite.cases import KINDS

PAGE = Path(__file__).parents[2] / "docs" / "support.md"

HEAD = """# What is supported

Written by `./dev suite --update`; do not edit. A case passes when its outputs are right within the suite's tolerances;
every other case is refused when the model is compiled, with a diagnostic that names the operator (`--verbose` and
[unsupported.txt](../test/Suite/unsupported.txt) have the reasons). Cases whose expected output is drawn at random by
another generator pass when theirs has the same distribution.

## The backend suite of onnx {version}
| cases | all | pass |
|---|---|---|
{kinds}

## Operators
By the node cases of each operator, without the ones that test its function body. An operator that is not here has no
case of its own.

| operator | cases | pass |
|---|---|---|
{operators}
"""


def support_page(cases, listed):
    """The page for the cases of the suite, given the ones that do not pass."""
    kinds = {kind: [0, 0] for kind in KINDS}
    operators = defaultdict(lambda: [0, 0])
    for case in cases:
        counted = [kinds[case.kind]]
        if case.kind == "node" and not case.name.endswith("_expanded"):
            node = case.source.model.graph.node[0]
            counted.append(operators[f"{node.domain}.{node.op_type}" if node.domain else node.op_type])
        for count in counted:
            count[0] += 1
            count[1] += case.name not in listed
    total = [sum(count[i] for count in kinds.values()) for i in (0, 1)]
    return HEAD.format(
        version=onnx.__version__,
        kinds="\n".join(f"| {kind} | {a} | {p} |" for kind, (a, p) in [*kinds.items(), ("all", total)]),
        operators="\n".join(f"| {name} | {a} | {p} |" for name, (a, p) in sorted(operators.items())),
    )
