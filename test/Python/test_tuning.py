"""strata.compile(tune=True): every plan that may be chosen gives the same numbers, and results are kept."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(7)


def random(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def model(node, x, w, out, given=False):
    """One operator with weights, which are an input if they are `given`."""
    inputs = {"x": x, "w": w} if given else {"x": x}
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in inputs.items()]
    graph = helper.make_graph(
        [node],
        "g",
        values,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, out.shape)],
        [] if given else [numpy_helper.from_array(w, "w")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return proto.SerializeToString(), list(inputs.values()), out


def product(rows, depth, lanes, given=False):
    x, w = random(rows, depth), random(depth, lanes)
    return model(helper.make_node("MatMul", ["x", "w"], ["y"]), x, w, x @ w, given)


def convolution(channels, height, width, filters, window, stride, groups=1):
    x, w = random(2, channels, height, width), random(filters, channels // groups, window, window)
    rows, columns = (height - window) // stride + 1, (width - window) // stride + 1
    out = np.zeros((2, filters, rows, columns), np.float64)
    of = filters // groups
    for i in range(window):
        for j in range(window):
            part = x[:, :, i : i + stride * rows : stride, j : j + stride * columns : stride][:, :, :rows, :columns]
            for g in range(groups):
                c = channels // groups
                out[:, g * of : (g + 1) * of] += np.einsum(
                    "nchw,fc->nfhw", part[:, g * c : (g + 1) * c], w[g * of : (g + 1) * of, :, i, j]
                )
    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=[stride, stride], group=groups)
    return model(node, x, w, out.astype(np.float32))


CASES = {
    "product": lambda: product(37, 45, 70),
    "large product": lambda: product(131, 300, 200),
    "given product": lambda: product(61, 129, 190, given=True),
    "convolution": lambda: convolution(5, 17, 15, 24, 3, 2),
    "1x1 convolution": lambda: convolution(40, 13, 11, 56, 1, 1),
    "depthwise convolution": lambda: convolution(24, 19, 21, 24, 3, 1, groups=24),
}


def check(model, inputs, expected):
    np.testing.assert_allclose(model.run(inputs)[0], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("case", CASES)
def test_every_plan_is_right(tmp_path, case):
    proto, inputs, expected = CASES[case]()
    path = tmp_path / "tuning.json"
    check(strata.compile(proto, tune=True, tuning_file=path), inputs, expected)
    if not path.exists():
        pytest.skip("on this target no kernel of it has a choice")
    results = json.loads(path.read_text())
    # What is not possible is ignored, so all combinations may be asked for.
    plans = [[rows, vectors, 0, 0] for rows in (1, 3, 5, 6) for vectors in (1, 2, 4)]
    plans += [[rows, vectors, 1, block] for rows, vectors in ((3, 1), (6, 2)) for block in (0, 12, 36)]
    for plan in plans:
        for kernel in results["kernels"].values():
            kernel["plans"] = [plan for _ in kernel["plans"]]
        path.write_text(json.dumps(results))
        check(strata.compile(proto, tune=True, tuning_file=path), inputs, expected)


def test_results_are_found(tmp_path):
    proto, inputs, expected = product(32, 64, 48)
    path = tmp_path / "folder" / "tuning.json"
    check(strata.compile(proto, tune=True, tuning_file=path), inputs, expected)
    stamp = path.stat().st_mtime_ns
    check(strata.compile(proto, tune=True, tuning_file=str(path)), inputs, expected)
    assert path.stat().st_mtime_ns == stamp
    # Another kernel is added.
    other, inputs, expected = product(32, 64, 80)
    check(strata.compile(other, tune=True, tuning_file=path), inputs, expected)
    assert len(json.loads(path.read_text())["kernels"]) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"strata-tuning": 2}', '{"strata-tuning": 1, "kernels": {"a": 3}}'])
def test_what_is_no_such_file_is_refused(tmp_path, text):
    path = tmp_path / "tuning.json"
    path.write_text(text)
    with pytest.raises(strata.CompileError, match="is no file of tuning results"):
        strata.compile(product(32, 64, 48)[0], tune=True, tuning_file=path)
    assert path.read_text() == text


def test_other_targets_are_refused(tmp_path):
    proto = product(32, 64, 48)[0]
    with pytest.raises(strata.CompileError, match="cannot measure code for another CPU"):
        strata.compile(proto, tune=True, tuning_file=tmp_path / "none.json", target="sapphirerapids")
    with pytest.raises(ValueError, match="tune=True"):
        strata.compile(proto, tuning_file=tmp_path / "none.json")


def test_several_at_once(tmp_path):
    path = tmp_path / "tuning.json"
    protos = [product(24, 32, lanes)[0] for lanes in (64, 80, 96, 112)]
    code = "import sys, strata; strata.compile(sys.stdin.buffer.read(), tune=True, tuning_file=sys.argv[1])"

    def elsewhere(proto):
        subprocess.run([sys.executable, "-c", code, path], input=proto, check=True)

    def here(proto):
        strata.compile(proto, tune=True, tuning_file=path)

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(how, proto) for how, proto in zip([elsewhere, here] * 2, protos, strict=True)]:
            done.result()
    assert len(json.loads(path.read_text())["kernels"]) == len(protos)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
