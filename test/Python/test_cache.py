"""strata.compile(cache=FOLDER): what is compiled is kept, and taken only where everything is the same."""

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
    for model in (proto(), proto().SerializeToString()):
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


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(strata.CompileError, match="cannot make the folder '.*file/below'"):
        strata.compile(proto(), cache=tmp_path / "file" / "below")
    broken = proto()
    broken.graph.node[1].op_type = "Nothing"
    with pytest.raises(strata.CompileError, match="Nothing"):
        strata.compile(broken, cache=tmp_path / "cache")
    assert not libraries(tmp_path / "cache")
