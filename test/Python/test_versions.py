"""Versions of a model for known sizes: strata.compile(specialize=..., specialize_after=...), strata-compile --specialize."""

import subprocess
import sys
import threading

import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from support.library import BIN

rng = np.random.default_rng(5)
W = rng.standard_normal((64, 48)).astype(np.float32)
B = rng.standard_normal(48).astype(np.float32)


def proto():
    """Two symbolic dimensions, a shape computation, and weights that are packed."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["positive"]),
        helper.make_node("Shape", ["x"], ["shape"], start=0, end=1),
        helper.make_node("Concat", ["shape", "rest"], ["flat"], axis=0),
        helper.make_node("Reshape", ["positive", "flat"], ["rows"]),
        helper.make_node("Softmax", ["rows"], ["y"], axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", None])],
        [
            numpy_helper.from_array(W, "w"),
            numpy_helper.from_array(B, "b"),
            numpy_helper.from_array(np.array([-1]), "rest"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def check(model, batch, seq):
    x = rng.standard_normal((batch, seq, 64)).astype(np.float32)
    rows = np.maximum(x @ W + B, 0).reshape(batch, -1).astype(np.float64)
    e = np.exp(rows - rows.max(-1, keepdims=True))
    np.testing.assert_allclose(model.run([x])[0], e / e.sum(-1, keepdims=True), rtol=1e-4, atol=1e-6)


def shapes(model, state="in use"):
    return [version.shapes[0] for version in model.versions if version.state == state]


SETS = [{"batch": 2}, {"batch": 2, "seq": 5}, {"seq": 3, "batch": 4}]


def strata_compile(tmp_path, *flags):
    onnx.save(proto(), tmp_path / "m.onnx")
    library = tmp_path / "m.so"
    command = [BIN / "strata-compile", tmp_path / "m.onnx", "-o", library, *flags]
    return library, subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("how", ["jit", "library", "cache"])
def test_versions_that_are_made_ahead(tmp_path, how):
    if how == "library":
        flags = ["--specialize=batch=2", "--specialize=batch=2,seq=5", "--specialize=seq=3,batch=4"]
        library, done = strata_compile(tmp_path, *flags)
        assert done.returncode == 0, done.stderr
        model = strata.load(library)
        assert "x: float[2, 5, 64]" in (tmp_path / "m.h").read_text()
    else:
        model = strata.compile(proto(), specialize=SETS, cache=tmp_path if how == "cache" else None)
    # What says more sizes comes first.
    assert shapes(model) == [(2, 5, 64), (4, 3, 64), (2, None, 64)]
    assert [str(dim) for dim in model.inputs[0].shape] == ["batch", "seq", "64"]
    for batch, seq in [(2, 5), (4, 3), (2, 1), (2, 9), (4, 5), (1, 1), (7, 3), (2, 5)]:
        check(model, batch, seq)


def test_weights_are_there_once(tmp_path):
    big = proto()
    del big.graph.initializer[:]
    w = np.zeros((64, 48 * 1000), np.float32)
    for name, value in [("w", w), ("b", np.zeros(48 * 1000, np.float32)), ("rest", np.array([-1]))]:
        big.graph.initializer.append(numpy_helper.from_array(value, name))
    onnx.save(big, tmp_path / "big.onnx")
    subprocess.run(
        [BIN / "strata-compile", tmp_path / "big.onnx", "-o", tmp_path / "big.so", "--specialize=batch=16,seq=16"], check=True
    )
    assert (tmp_path / "big.so").stat().st_size < 1.5 * w.nbytes


@pytest.mark.parametrize(
    "sets, message",
    [
        ([{"foo": 1}], "no input has a dimension 'foo'; the names are 'batch', 'seq'"),
        ([{"batch": 0}], "the size of dimension 'batch' is 0; it must be at least 1"),
        ([{"batch": -3}], "the size of dimension 'batch' is -3; it must be at least 1"),
        ([{"batch": 1.5}], "sizes of symbolic dimensions are NAME=SIZE, separated by commas, not 'batch=1.5'"),
        ([{}], "a set of sizes is empty"),
        ([{"batch": 1, "seq": 2}, {"seq": 2, "batch": 1}], "two sets of sizes say the same: batch=1, seq=2"),
    ],
)
def test_wrong_sets(sets, message):
    with pytest.raises(strata.CompileError, match=message):
        strata.compile(proto(), specialize=sets)


@pytest.mark.parametrize(
    "option, value", [("specialize_after", -1), ("specialize_limit", 0), ("specialize_memory", 0)]
)
def test_wrong_bounds(option, value):
    with pytest.raises(ValueError, match=f"{option} must be at least"):
        strata.compile(proto(), **{option: value})


def test_sizes_that_contradict_the_model(tmp_path):
    """The sum of x of [n, 3] and y of [m, 3] needs n = m, or one of them 1."""
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "y"], ["z"])],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size, 3]) for name, size in (("x", "n"), ("y", "m"))],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [None, 3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    with pytest.raises(strata.CompileError, match="there can be no version for n=2, m=3"):
        strata.compile(model, specialize=[{"n": 2, "m": 3}])
    compiled = strata.compile(model, specialize=[{"n": 1, "m": 3}])
    np.testing.assert_array_equal(
        compiled.run([np.ones((1, 3), np.float32), np.ones((3, 3), np.float32)])[0], np.full((3, 3), 2, np.float32)
    )


@pytest.mark.parametrize("cached", [False, True])
def test_frequent_shapes_get_a_version(tmp_path, cached):
    model = strata.compile(proto(), specialize_after=3, cache=tmp_path if cached else None)
    for _ in range(2):
        check(model, 2, 5)
    model.settle()
    assert model.versions == []
    check(model, 3, 5)
    check(model, 2, 5)
    model.settle()
    assert shapes(model) == [(2, 5, 64)]
    for batch, seq in [(2, 5), (3, 5), (2, 4)]:
        check(model, batch, seq)


def frequent(model, batch, seq, times=2):
    for _ in range(times):
        check(model, batch, seq)
    model.settle()


def test_the_version_that_was_not_run_for_longest_goes():
    model = strata.compile(proto(), specialize_after=2, specialize_limit=2)
    frequent(model, 1, 1)
    frequent(model, 1, 2)
    frequent(model, 1, 1)
    frequent(model, 1, 3)
    assert sorted(shapes(model)) == [(1, 1, 64), (1, 3, 64)]
    # And may come back.
    frequent(model, 1, 2, times=4)
    assert (1, 2, 64) in shapes(model) and len(shapes(model)) == 2


def test_more_shapes_in_turns_than_versions():
    model = strata.compile(proto(), specialize_after=2, specialize_limit=1)
    for _ in range(8):
        for seq in (1, 2, 3):
            check(model, 1, seq)
        model.settle()
    # The first one stays: it is run all the while.
    assert shapes(model) == [(1, 1, 64)]


def test_many_shapes_are_forgotten():
    model = strata.compile(proto(), specialize_after=2)
    for seq in range(1, 200):
        check(model, 1, seq)
    check(model, 1, 1)
    model.settle()
    assert model.versions == []


def test_memory_is_bounded():
    model = strata.compile(proto(), specialize_after=1, specialize_memory=1)
    check(model, 2, 5)
    model.settle()
    [version] = model.versions
    assert version.state == "failed" and "more than all versions together may" in version.reason
    check(model, 2, 5)
    # Room for one, not for two.
    model = strata.compile(proto(), specialize_after=2)
    frequent(model, 9, 3)
    model = strata.compile(proto(), specialize_after=2, specialize_memory=model.versions[0].bytes * 3 // 2)
    for seq in (3, 4, 5):
        frequent(model, 9, seq)
        assert shapes(model) == [(9, seq, 64)]


def test_static_models_have_no_versions():
    static = proto()
    for dim, size in zip(static.graph.input[0].type.tensor_type.shape.dim, (2, 5, 64)):
        dim.dim_value = size
    model = strata.compile(static, specialize_after=1)
    check(model, 2, 5)
    model.settle()
    assert model.versions == []
    with pytest.raises(strata.CompileError, match="no dimension of an input has a name"):
        strata.compile(static, specialize=[{"batch": 2}])


def test_a_run_that_fails_does_not_count():
    model = strata.compile(proto(), specialize_after=1)
    for _ in range(3):
        with pytest.raises(strata.Error):
            model.run([np.zeros((2, 5, 63), np.float32)])
    model.settle()
    assert model.versions == []


def test_runs_on_several_threads_meanwhile():
    model = strata.compile(proto(), specialize_after=2, specialize_limit=2, threads=1)
    x = {seq: rng.standard_normal((3, seq, 64)).astype(np.float32) for seq in (1, 2, 3, 4)}
    want = {seq: model.run([value])[0] for seq, value in x.items()}
    wrong = []

    def work(first):
        for i in range(400):
            seq = 1 + (first + i // 100) % 4
            if not np.allclose(model.run([x[seq]])[0], want[seq], rtol=1e-4, atol=1e-6):
                wrong.append(seq)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_profile_is_of_all_versions():
    model = strata.compile(proto(), specialize=[{"batch": 2, "seq": 5}], profile=True)
    check(model, 2, 5)
    check(model, 3, 5)
    nodes = [node for node, _, _ in model.profile()]
    assert len(nodes) == len(set(nodes)) and nodes


def test_random_numbers_are_the_same():
    graph = helper.make_graph(
        [helper.make_node("RandomUniformLike", ["x"], ["a"]), helper.make_node("RandomNormalLike", ["x"], ["b"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in "ab"],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    x = [np.zeros((4, 3), np.float32)]
    plain, special = strata.compile(model, seed=7), strata.compile(model, seed=7, specialize=[{"n": 4}])
    for _ in range(2):
        for want, got in zip(plain.run(x), special.run(x)):
            np.testing.assert_allclose(got, want, rtol=1e-6)


EXIT = """
import sys, numpy as np, strata
model = strata.compile(sys.argv[1], specialize_after=1)
for seq in (1, 2, 3):
    model.run([np.ones((1, seq, 64), np.float32)])
if sys.argv[2] == "thread":
    import threading
    threading.Thread(target=model.settle).start()
"""


@pytest.mark.parametrize("how", ["plain", "thread"])
def test_a_process_may_end_while_a_version_is_compiled(tmp_path, how):
    onnx.save(proto(), tmp_path / "m.onnx")
    done = subprocess.run(
        [sys.executable, "-c", EXIT, tmp_path / "m.onnx", how], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
