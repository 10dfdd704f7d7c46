"""What a run takes of memory, in a process of its own."""

import subprocess
import sys

import onnx
from onnx import TensorProto, helper

MEASURE = """
import sys, numpy as np, strata
model = strata.compile(sys.argv[1], threads=1)
rows = np.arange(1 << 16, dtype=np.float32).reshape(1, -1)
for _ in range(2):
    [grown] = model.run([np.int64(int(sys.argv[2])), rows])
    assert grown.shape == (int(sys.argv[2]) + 1, 1 << 16) and (grown == rows).all()
    del grown
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def accumulating():
    """A loop that adds a row to what it carries, in each of n steps."""
    row = lambda name, rows: helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, 1 << 16])
    scalar = lambda name, kind: helper.make_tensor_value_info(name, kind, [])
    body = helper.make_graph(
        [helper.make_node("Concat", ["carried", "x"], ["grown"], axis=0), helper.make_node("Identity", ["c"], ["go"])],
        "body",
        [scalar("i", TensorProto.INT64), scalar("c", TensorProto.BOOL), row("carried", None)],
        [scalar("go", TensorProto.BOOL), row("grown", None)],
    )
    loop = helper.make_node("Loop", ["n", "", "x"], ["r"], body=body)
    graph = helper.make_graph([loop], "g", [scalar("n", TensorProto.INT64), row("x", 1)], [row("r", None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def test_what_grows_in_a_loop_leaves_little_behind(tmp_path):
    """160 buffers of 0.25 to 40 MB are in use one after the other, two at a time; 3.3 GB all together."""
    onnx.save(accumulating(), tmp_path / "m.onnx")
    command = [sys.executable, "-c", MEASURE, tmp_path / "m.onnx"]
    peak = lambda steps: int(subprocess.check_output([*command, str(steps)])) / 1024
    assert peak(160) - peak(1) < 300
