"""Training information and device configurations are left out with one warning each; right checksums are accepted.

    check_left_out.py strata-translate FOLDER
"""
import hashlib
import os
import shutil
import subprocess
import sys

from onnx import TensorProto, helper

tool, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def import_model(name, model):
    path = os.path.join(folder, name + ".onnx")
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    run = subprocess.run([tool, "--import-onnx", path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout, [line.removeprefix(f"warning: {path}: ") for line in run.stderr.splitlines()]


def model(initializers=()):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="r")]
    graph = helper.make_graph(nodes, "g", [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11)


plain, warnings = import_model("plain", model())
assert warnings == [], warnings

m = model()
m.training_info.add().algorithm.name = "step"
ir, warnings = import_model("training", m)
assert warnings == ["has training information, which is left out"], warnings
assert ir == plain

m = model()
configuration = m.configuration.add()
configuration.name, configuration.num_devices = "two", 2
placement = m.graph.node[0].device_configurations.add()
placement.configuration_id, placement.pipeline_stage = "two", 1
ir, warnings = import_model("devices", m)
assert warnings == ["has configurations for several devices, which are ignored"], warnings
assert ir == plain

data = bytes(range(48))
with open(os.path.join(folder, "data.bin"), "wb") as file:
    file.write(data)
tensors = []
for i, digest in enumerate([hashlib.sha1(data).hexdigest(), hashlib.sha1(data).hexdigest().upper()]):
    tensor = TensorProto(name=f"w{i}", data_type=TensorProto.UINT8, dims=[24], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "data.bin", "offset": 24 * i, "length": 24, "checksum": digest}.items():
        tensor.external_data.add(key=key, value=str(value))
    tensors.append(tensor)
ir, warnings = import_model("checksum", model(tensors))
assert warnings == [], warnings
assert "dense<[24, 25," in ir, ir
