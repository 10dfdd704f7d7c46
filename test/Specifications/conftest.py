"""The table of the specifications: operator x version x element type x what is proven of it.

A test proves cells and says so: record_property("cell", "ConstantOfShape|25|int2|fold"). A fifth field "refused" says that
what is proven is a refusal with its reason (a downgrade of a type that the older version lacks). The rows that must be
there come from the schemas of the onnx package and, for the operators that ONNX does not define, from this file; when
the whole folder is run, a cell without a proof fails the run.
"""

import functools
import os
import sys
from collections import defaultdict
from pathlib import Path

import onnx

FOLDER = Path(__file__).parent
# The tests share modules of this folder.
sys.path.insert(0, str(FOLDER))
COLUMNS = ["verify", "infer", "fold", "static", "dynamic", "JIT", "artifact", "upgrade", "downgrade", "export"]
# The output of the operator whose element type names the row.
OUTPUTS = {"ConstantOfShape": "output", "RandomUniformLike": "output", "Dropout": "output"}
OTHERS = {
    ("Dequantize", 1): ["int8", "uint8", "int16", "uint16", "int32"],
    ("Range", 4): ["float16", "bfloat16", "float", "double", "int8", "int16", "int32", "int64", "uint8", "uint16",
                   "uint32", "uint64", "float8e4m3fn", "float8e5m2", "int4", "uint4"],
}  # fmt: skip
# Other spellings of element types: TensorFlow's, OpenVINO's and NumPy's.
ALIASES = {
    "qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32",
    "f16": "float16", "bf16": "bfloat16", "f32": "float", "f64": "double", "float32": "float", "float64": "double",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f8e4m3": "float8e4m3fn", "f8e5m2": "float8e5m2", "i4": "int4", "u4": "uint4",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip
# Cells that cannot be: random values differ from run to run, so nothing is folded.
NOT_APPLICABLE = {"RandomUniformLike": {"fold"}}


def element_types(schema, output):
    formal = next(o for o in schema.outputs if o.name == output)
    return sorted(t.removeprefix("tensor(").removesuffix(")") for t in formal.types)


def expected_rows():
    """{(operator, version): element types}, in order."""
    rows = {}
    for operator, output in OUTPUTS.items():
        schemas = [s for s in onnx.defs.get_all_schemas_with_history() if s.name == operator and s.domain == ""]
        for schema in sorted(schemas, key=lambda s: s.since_version):
            rows[operator, schema.since_version] = element_types(schema, output)
    return rows | OTHERS


def is_applicable(rows, operator, version, column):
    versions = [v for name, v in rows if name == operator]
    if column in NOT_APPLICABLE.get(operator, ()):
        return False
    # The only version of an operator converts to itself and to nothing else, which is proven as both.
    if len(versions) == 1:
        return True
    return not (column == "upgrade" and version == max(versions) or column == "downgrade" and version == min(versions))


class Table:
    def __init__(self):
        self.rows = expected_rows()
        self.cells = {}
        self.problems = []
        self.counts = []
        self.files = set()
        self.is_whole = False

    def add(self, text, test):
        operator, version, element, column, *how = text.split("|")
        element = ALIASES.get(element, element)
        key = (operator, int(version))
        if key not in self.rows or column not in COLUMNS or element not in self.rows[key] or how not in ([], ["refused"]):
            self.problems.append(f"{test}: there is no cell '{text}'")
            return
        mark = "r" if how else "+"
        # A conversion may be a refusal to one version and possible to another.
        self.cells[operator, int(version), element, column] = min(mark, self.cells.get((operator, int(version), element, column), mark))

    def expected(self):
        for (operator, version), elements in self.rows.items():
            for element in elements:
                for column in COLUMNS:
                    if is_applicable(self.rows, operator, version, column):
                        yield operator, version, element, column

    def missing(self):
        return [cell for cell in self.expected() if cell not in self.cells]

    def write(self, line):
        wanted = set(self.expected())
        for operator in dict.fromkeys(name for name, _ in self.rows):
            line("")
            line(f"{operator:18} {'element type':16}" + "".join(f"{column:>10}" for column in COLUMNS))
            for (name, version), elements in self.rows.items():
                for element in elements if name == operator else ():
                    marks = []
                    for column in COLUMNS:
                        cell = (operator, version, element, column)
                        marks.append(self.cells.get(cell, "MISSING" if cell in wanted else "."))
                    line(f"  version {version:<8} {element:16}" + "".join(f"{mark:>10}" for mark in marks))
        line("")
        line("+ proven by a test, r refused with the reason (proven), . does not apply")

    def totals(self):
        counts = defaultdict(lambda: [0, 0])
        for cell in self.expected():
            counts[cell[0]][0] += cell in self.cells
            counts[cell[0]][1] += 1
        proven, wanted = (sum(c[i] for c in counts.values()) for i in (0, 1))
        text = ", ".join(f"{name} {a}/{b}" for name, (a, b) in counts.items())
        return f"specifications: {proven} of {wanted} cells proven ({text})"


table = Table()


def pytest_configure(config):
    """With STRATA_TEST_GPU=1, whatever the tests compile in their own process runs on a GPU, or the emulated one."""
    if os.environ.get("STRATA_TEST_GPU"):
        import strata
        from support.emulator import use_emulator

        strata.compile = functools.partial(strata.compile, gpu="cuda", gpu_format=use_emulator())


def pytest_collection_finish(session):
    config = session.config
    items = [item for item in session.items if FOLDER in item.path.parents]
    narrowed = config.option.keyword or config.option.markexpr or any("::" in str(arg) for arg in config.args)
    table.files = {item.path for item in items}
    table.is_whole = not narrowed and not config.option.collectonly and table.files >= set(FOLDER.glob("test_*.py"))


def pytest_runtest_logreport(report):
    if report.when == "call" and report.passed:
        for name, value in report.user_properties:
            if name == "cell":
                table.add(value, report.nodeid)
            elif name == "count":  # Of cases that equal their oracle.
                table.counts.append(value)


def pytest_sessionfinish(session):
    if table.problems or (table.is_whole and table.missing()):
        session.exitstatus = session.exitstatus or 1


def pytest_terminal_summary(terminalreporter):
    if not table.cells and not table.counts and not table.is_whole:
        return
    terminalreporter.section("the five specifications")
    if table.is_whole:
        table.write(terminalreporter.write_line)
    for problem in table.problems:
        terminalreporter.write_line(f"ERROR: {problem}")
    if table.is_whole:
        missing = table.missing()
        for operator, version, element, column in missing[:20]:
            terminalreporter.write_line(f"ERROR: nothing proves {operator}-{version} {element}: {column}")
        if len(missing) > 20:
            terminalreporter.write_line(f"ERROR: ... and {len(missing) - 20} more cells")
    for count in table.counts:
        terminalreporter.write_line(count)
    terminalreporter.write_line(table.totals())
