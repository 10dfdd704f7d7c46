"""strata.compile(cache=FOLDER): what is compiled is kept, and taken only where everything is the same."""

import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def proto(weight=1.0, node="sum"):
    w = numpy_helper.from_array(np.full((40, 3), weight, np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["w", "i"], ["rows"]), helper.make_node("Add", ["x", "rows"], ["y"], name=node)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
        [w, numpy_helper.from_array(np.array([0, 39]), "i")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def libraries(folder):
    return sorted(folder.glob("*.so"))


def test_the_second_time_it_is_loaded(tmp_path):
    folder = tmp_path / "a" / "b"
    first = strata.compile(proto(), cache=folder)
    np.testing.assert_array_equal(first.run([X])[0], X + 1)
    (library,) = libraries(folder)
    stamp = library.stat().st_mtime_ns
    # Whether the model comes as bytes or from a file.
    path = tmp_path / "model.onnx"
    onnx.save(proto(), path)
    for model in (proto(), proto().SerializeToString(), path):
        np.testing.assert_array_equal(strata.compile(model, cache=str(folder)).run([X])[0], X + 1)
    assert libraries(folder) == [library] and library.stat().st_mtime_ns == stamp


@pytest.mark.parametrize("change", [{"opt_level": 1}, {"target": "x86-64-v3"}, {"name": "other"}, {"profile": True}])
def test_options_make_a_difference(tmp_path, change):
    strata.compile(proto(), cache=tmp_path)
    np.testing.assert_array_equal(strata.compile(proto(), cache=tmp_path, **change).run([X])[0], X + 1)
    assert len(libraries(tmp_path)) == 2


def test_weights_and_names_make_a_difference(tmp_path):
    for count, (weight, node) in enumerate([(1, "sum"), (2, "sum"), (1, "addition")], start=1):
        model = strata.compile(proto(weight, node), cache=tmp_path)
        np.testing.assert_array_equal(model.run([X])[0], X + weight)
        assert len(libraries(tmp_path)) == count


def test_external_weights_make_a_difference(tmp_path):
    path = tmp_path / "model.onnx"
    for weight in (3, 4):
        onnx.save(proto(weight), path, save_as_external_data=True, location="weights", size_threshold=0)
        model = strata.compile(path, cache=tmp_path / "cache")
        np.testing.assert_array_equal(model.run([X])[0], X + weight)
        (tmp_path / "weights").unlink()


def test_external_weights_of_a_branch_make_a_difference(tmp_path):
    path = tmp_path / "model.onnx"
    for weight in (3, 4):
        branches = {}
        for name, value in (("then_branch", weight), ("else_branch", 0)):
            tensor = numpy_helper.from_array(np.full((2, 3), value, np.float32), f"w_{name}")
            node = helper.make_node("Constant", [], [f"y_{name}"], value=tensor)
            result = helper.make_tensor_value_info(f"y_{name}", TensorProto.FLOAT, [2, 3])
            branches[name] = helper.make_graph([node], name, [], [result])
        graph = helper.make_graph(
            [helper.make_node("If", ["c"], ["b"], **branches), helper.make_node("Add", ["x", "b"], ["y"])],
            "g",
            [helper.make_tensor_value_info("c", TensorProto.BOOL, []),
             helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
        onnx.save(model, path, save_as_external_data=True, location="weights", size_threshold=0, convert_attribute=True)
        found = strata.compile(path, cache=tmp_path / "cache").run([np.array(True), X])[0]
        np.testing.assert_array_equal(found, X + weight)
        (tmp_path / "weights").unlink()
    with pytest.raises(strata.CompileError, match="tensor 'w_else_branch': external data file 'weights' cannot"):
        strata.compile(path, cache=tmp_path / "cache")


def test_versions_in_the_background_need_the_module(tmp_path):
    model = proto()
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "rows"
    for _ in range(2):
        loaded = strata.compile(model, cache=tmp_path, specialize_after=1)
        for _ in range(2):
            np.testing.assert_array_equal(loaded.run([X])[0], X + 1)
        loaded.settle()
        assert len(loaded.versions) == 1
    assert len(libraries(tmp_path)) == 1


def test_a_program_is_the_same_compiler_under_each_name(tmp_path):
    """Not only where it is started by its path."""
    onnx.save(proto(), tmp_path / "model.onnx")
    folder = Path(strata.__file__).parents[2] / "bin"
    if not (folder / "strata-run").exists():
        pytest.skip("strata-run is not beside the Python package")
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    for program in (folder / "strata-run", "strata-run"):
        subprocess.run([program, "model.onnx", "--input=ones", "--cache=cache", "--quiet"], cwd=tmp_path, check=True,
                       env=environment)  # fmt: skip
    assert len(libraries(tmp_path / "cache")) == 1


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(strata.CompileError, match="cannot make the folder '.*file/below'"):
        strata.compile(proto(), cache=tmp_path / "file" / "below")
    broken = proto()
    broken.graph.node[1].op_type = "Nothing"
    with pytest.raises(strata.CompileError, match="Nothing"):
        strata.compile(broken, cache=tmp_path / "cache")
    assert not libraries(tmp_path / "cache")
