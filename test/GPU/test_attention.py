"""Attention in one kernel, with an online softmax, on the emulated GPU, against NumPy."""

import re
import subprocess
import tempfile

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper
from support.combinations import every_other
from support.emulator import use_emulator
from support.library import BIN

from GPU.assembler import PTXAS, ptx, resources
from GPU.attentions import ERROR, attention, element, operator
from GPU.families import error_of, model, tensor, wide

KINDS = list(ERROR)


def options(kind):
    return ["--precision=tf32"] if kind == "tf32" else []


def run(proto, inputs, kind):
    precision = "tf32" if kind == "tf32" else "f32"
    return strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1, precision=precision).run(inputs)[0]


def check(got, want, kind):
    assert got.shape == want.shape
    error = error_of(got, want, element(kind))
    assert error <= ERROR[kind], f"largest error {error:.2e}"


def kernels(proto, kind, target="cuda:sm_80"):
    """The module with the kernels and their launches."""
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(proto.SerializeToString())
        file.flush()
        command = [BIN / "strata-compile", file.name, f"--target={target}", "--compile-to=gpu", *options(kind)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def launches(proto, kind="float"):
    """The kernels that a run starts, in order."""
    return re.findall(r"gpu.launch_func +@kernels::@(\w+)", kernels(proto, kind))


@every_other("kind, size, symbolic", KINDS, [(64, 128, 64), (70, 131, 32), (130, 17, 16)], [False, True])
def test_lengths(kind, size, symbolic):
    """Queries and keys fill their tiles, or not."""
    proto, inputs, want = operator(kind, *size, symbolic=symbolic)
    assert len(launches(proto, kind)) == 1
    check(run(proto, inputs, kind), want, kind)


@every_other("kind, heads", KINDS, [(128, 128), (80, 24), (33, 80), (9, 8)])
def test_sizes_of_heads(kind, heads):
    proto, inputs, want = operator(kind, 40, 70, *heads)
    check(run(proto, inputs, kind), want, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_heads_that_share_keys(kind):
    """Rows of a tile are of several heads."""
    proto, inputs, want = operator(kind, 21, 50, 32, heads=6, shared=2, symbolic=True, is_causal=1)
    assert len(launches(proto, kind)) == 1
    check(run(proto, inputs, kind), want, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_tiles_of_128_rows(kind):
    """There are as many blocks as the large tile wants."""
    proto, inputs, want = operator(kind, 129, 40, 16, batch=32, heads=2, shared=2)
    check(run(proto, inputs, kind), want, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bias, is_causal", [((70, 90), 1), ((2, 1, 1, 90), 0), ((2, 2, 70, 90), 1), ((), 1)], ids=str)
def test_masks(kind, bias, is_causal):
    proto, inputs, want = operator(kind, 70, 90, 32, symbolic=True, is_causal=is_causal, bias=bias)
    assert len(launches(proto, kind)) == 1
    check(run(proto, inputs, kind), want, kind)


WINDOWS = {"causal": {"is_causal": 1}, "left": {"left_window_size": 20}, "right": {"right_window_size": 10},
           "both": {"left_window_size": 70, "is_causal": 1}}  # fmt: skip


@pytest.mark.parametrize("kind", ["float", "float16"])
@pytest.mark.parametrize("window", list(WINDOWS))
@pytest.mark.parametrize("size", [(200, 300), (300, 150)], ids=str)
def test_hidden_tiles_are_not_read(kind, window, size):
    """Tiles of keys before and behind what a block's queries see; the last queries may see none at all."""
    queries, keys = size
    proto, inputs, _ = operator(kind, queries, keys, 16, heads=4, symbolic=True)
    attributes = WINDOWS[window]
    del proto.graph.node[0].attribute[:]
    for name, value in attributes.items():
        proto.graph.node[0].attribute.append(helper.make_attribute(name, value))
    proto.opset_import[0].version = 27
    kernel = kernels(proto, kind)
    assert len(re.findall(r"arith.minsi|arith.maxsi", kernel)) >= 2
    i, j = np.arange(queries)[:, None], np.arange(keys)
    visible = (j >= i - attributes.get("left_window_size", queries)) & (
        j <= i + attributes.get("right_window_size", keys)
    )
    visible &= (j <= i) | ("is_causal" not in attributes)
    check(run(proto, inputs, kind), attention(*inputs, visible=visible), kind)


def plain(kind, mask=None, transposed=True, symbolic=False, divisor=4.0, guard=False, queries=45, keys=77):
    """As exporters write it: transposed heads, products, a mask, Softmax, the result's heads put together."""
    dtype = element(kind)
    batch, heads, head = 2, 3, 32
    shape = lambda length: (batch, length, heads, head) if transposed else (batch, heads, length, head)  # noqa: E731
    q, k, v = tensor(dtype, shape(queries)), tensor(dtype, shape(keys), 1), tensor(dtype, shape(keys), 2)
    nodes, names = [], ["q", "k", "v"]
    if transposed:
        nodes += [("Transpose", [n], [n + "_"], {"perm": [0, 2, 3, 1] if n == "k" else [0, 2, 1, 3]}) for n in names]
        names = ["q_", "k_", "v_"]
    else:
        nodes.append(("Transpose", ["k"], ["k_"], {"perm": [0, 1, 3, 2]}))
        names[1] = "k_"
    nodes += [("MatMul", names[:2], ["s"], {}), ("Div", ["s", "c"], ["d"], {})]
    if mask == "bias":
        nodes.append(("Add", ["d", "m"], ["x"], {}))
    elif mask == "where":
        nodes.append(("Where", ["m", "d", "lowest"], ["x"], {}))
    nodes.append(("Softmax", ["x" if mask else "d"], ["p"], {"axis": -1}))
    if guard:
        nodes += [("IsNaN", ["p"], ["nan"], {}), ("Where", ["nan", "zero", "p"], ["w"], {})]
    nodes.append(("MatMul", ["w" if guard else "p", names[2]], ["y" if transposed else "r"], {}))
    if transposed:
        nodes += [("Transpose", ["y"], ["z"], {"perm": [0, 2, 1, 3]}), ("Reshape", ["z", "flat"], ["r"], {})]
    numpy_type = q.dtype
    constants = [("c", np.array(divisor, numpy_type)), ("lowest", np.array(-np.inf, numpy_type)),
                 ("zero", np.array(0, numpy_type)), ("flat", np.array([0, 0, heads * head]))]  # fmt: skip
    used = {name for _, inputs, _, _ in nodes for name in inputs}
    s, t = ("s", "t") if symbolic else (queries, keys)
    shapes = {"q": [s if n == queries else n for n in q.shape], "k": [t if n == keys else n for n in k.shape]}
    shapes["v"] = shapes["k"]
    inputs = [q, k, v]
    visible = bias = None
    if mask == "bias":
        bias = tensor(dtype, (queries, keys), 3)
        shapes["m"] = [s, t]
        inputs.append(bias)
    elif mask == "where":
        # Some queries see nothing at first, one nothing at all.
        visible = np.random.default_rng(4).random((queries, keys)) < 0.5
        visible[3, :70] = visible[7] = False
        shapes["m"] = [s, t]
        inputs.append(visible)
    result = [batch, s, heads * head] if transposed else [batch, heads, s, head]
    proto = model(nodes, shapes, {"r": result}, dtype, [c for c in constants if c[0] in used])
    if mask == "where":
        proto.graph.input[3].type.tensor_type.elem_type = TensorProto.BOOL
    heads_first = [x.transpose(0, 2, 1, 3) if transposed else x for x in (q, k, v)]
    want = attention(*heads_first, bias, visible, 1 / divisor, lambda x: wide(x.astype(numpy_type)))
    if transposed:
        want = want.transpose(0, 2, 1, 3).reshape(batch, queries, heads * head)
    return proto, inputs, want, visible


@every_other("kind, mask, transposed", KINDS, [None, "bias"], [False, True])
def test_as_exported(kind, mask, transposed):
    """Operands are read, and the result is written, in the order of memory: no transposition is a kernel."""
    proto, inputs, want, _ = plain(kind, mask, transposed, symbolic=transposed)
    assert len(launches(proto, kind)) == 1
    check(run(proto, inputs, kind), want, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("guard", [False, True], ids=["plain", "guarded"])
@pytest.mark.parametrize("size, count", [((45, 77), 1), ((8, 700), 2)], ids=["one", "split"])
def test_queries_that_see_nothing(kind, guard, size, count):
    """NaN, or zeros where the model says so."""
    proto, inputs, want, visible = plain(kind, "where", guard=guard, queries=size[0], keys=size[1])
    assert len(launches(proto, kind)) == count
    got = run(proto, inputs, kind)
    seen = visible.any(1)
    check(got[:, seen], want[:, seen], kind)
    assert (got[:, ~seen] == 0).all() if guard else np.isnan(got[:, ~seen].astype(np.float32)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_rows_of_the_operator(kind):
    """More queries than keys, with a mask of -inf: zeros."""
    proto, inputs, _ = operator(kind, 40, 33, 32, bias=(40, 33))
    inputs[3] = np.where(np.arange(40)[:, None] % 5 == 2, -np.inf, inputs[3].astype(np.float32)).astype(inputs[3].dtype)
    got = run(proto, inputs, kind)
    check(got, attention(*inputs), kind)
    assert (got[:, :, 2::5] == 0).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("queries, keys", [(33, 300), (1, 900)], ids=["one", "split"])
def test_scores_that_grow(kind, queries, keys):
    """Each tile, or part, of keys has a larger score than those before, then all have smaller ones."""
    proto, inputs, _ = operator(kind, queries, keys, 16)
    growth = np.concatenate([np.linspace(0.5, 12, keys * 2 // 3), np.linspace(12, 1, keys // 3)])[:, None]
    inputs[1] = (np.abs(inputs[1].astype(np.float32)) * growth).astype(inputs[1].dtype)
    inputs[0] = np.abs(inputs[0])
    if kind == "tf32":
        # What is lost of a score counts in full: that is no part of the kernel's error.
        inputs[:2] = [(x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in inputs[:2]]
    check(run(proto, inputs, kind), attention(*inputs), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("queries, keys", [(40, 50), (3, 700)], ids=["one", "split"])
def test_what_is_no_number(kind, queries, keys):
    """In a query: its row; in a key of any part: every row that sees it."""
    proto, inputs, _ = operator(kind, queries, keys, 32)
    inputs[0][0, 1, 2, 3] = np.nan
    inputs[1][1, 0, keys - 5, 2] = np.nan
    got = np.isnan(run(proto, inputs, kind).astype(np.float32)).all(-1)
    want = np.zeros(got.shape, bool)
    want[0, 1, 2] = want[1, 0] = True
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", ["float", "float16"])
def test_what_follows_is_computed_on_the_results(kind):
    proto, inputs, want = operator(kind, 40, 50, 32)
    proto.graph.node[0].output[0] = "y"
    proto.graph.node.append(type(proto.graph.node[0])(op_type="Relu", input=["y"], output=["r"], name="relu"))
    assert len(launches(proto, kind)) == 1
    check(run(proto, inputs, kind), np.maximum(want, 0), kind)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_order_of_threads_and_copies(kind, seed, monkeypatch):
    """Threads go on in another order, and copies arrive early or late: a missing barrier or wait shows."""
    if use_emulator() != "bitcode":
        pytest.skip("only the emulator can choose the order")
    monkeypatch.setenv("STRATA_EMULATOR_ORDER", str(seed))
    proto, inputs, want = operator(kind, 70, 200, 32, is_causal=1, bias=(70, 200), symbolic=True)
    check(run(proto, inputs, kind), want, kind)


def test_what_stays_several_kernels():
    """Heads that fit no block; elements of 64 bits."""
    assert len(launches(operator("float", 64, 64, 256)[0])) > 1
    assert len(launches(operator("double", 64, 64, 32)[0])) > 1


def test_scores_that_others_read():
    proto, inputs, want = operator("float", 40, 50, 32)
    proto.graph.node[0].output.extend(["", "", "scores"])
    value = type(proto.graph.output[0])()
    value.CopyFrom(proto.graph.output[0])
    value.name = "scores"
    for dim, size in zip(value.type.tensor_type.shape.dim, (2, 2, 40, 50), strict=True):
        dim.dim_value = size
    proto.graph.output.append(value)
    assert len(launches(proto)) > 1
    check(run(proto, inputs, "float"), want, "float")


def test_instructions():
    """Tensor cores for elements of 16 bits, and where tf32 is asked for; copies behind the threads' backs."""
    wanted = {"float16": "m16n8k16.row.col.f32.f16.f16.f32", "bfloat16": "m16n8k16.row.col.f32.bf16.bf16.f32",
              "tf32": "m16n8k8.row.col.f32.tf32.tf32.f32"}  # fmt: skip
    for kind in KINDS:
        text = ptx(operator(kind, 256, 256, 64)[0], "sm_80", *options(kind))
        assert text.count(".entry") == 1 and "cp.async.cg.shared.global" in text
        found = {f"mma.sync.aligned.{wanted[kind]}"} if kind in wanted else set()
        assert set(re.findall(r"mma\.sync[\w.]+", text)) == found


@pytest.mark.parametrize("kind", ["float", "float16"])
def test_kernels_of_other_vendors(kind, tmp_path):
    """AMD's, executed as kernels of the emulated GPU."""
    proto, inputs, want = operator(kind, 40, 70, 64, is_causal=1)
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    command = [BIN / "strata-compile", "m.onnx", "--target=rocm:gfx90a", "--compile-to=gpu", "-o", "m.mlir"]
    subprocess.run(command, cwd=tmp_path, check=True)
    text = (tmp_path / "m.mlir").read_text()
    assert text.count("gpu.launch_func") == 1 and "cp.async" not in text and "mma" not in text
    (tmp_path / "m.mlir").write_text(text.replace("gfx90a", "sm_80"))
    check(run(tmp_path / "m.mlir", inputs, kind), want, kind)


@pytest.mark.skipif(not PTXAS, reason="no ptxas")
@every_other("kind, device", KINDS, [("sm_80", 128), ("sm_90", 64)])
def test_registers(kind, device):
    """Of known sizes, and of the form that has most to keep in mind."""
    chip, head = device
    for proto in [operator(kind, 1024, 1024, head, batch=8, heads=16, shared=16)[0],
                  operator(kind, 70, 90, head, heads=4, symbolic=True, is_causal=1, bias=(70, 90))[0]]:  # fmt: skip
        for kernel in resources(proto, chip, *options(kind)):
            assert kernel["spilled"] == 0 and kernel["shared"] <= 48 << 10, kernel


def repeated(kind, queries=40, keys=70, shared=2, heads=6, symbolic=False, transposed=False, scaled=False):
    """Grouped queries as exported: K and V are expanded and reshaped to as many heads as Q has."""
    dtype, batch, head = element(kind), 2, 32
    q, k, v = tensor(dtype, (batch, heads, queries, head)), tensor(dtype, (batch, shared, keys, head), 1), tensor(dtype, (batch, shared, keys, head), 2)  # fmt: skip
    nodes = []
    for name in ("k", "v"):
        nodes += [("Unsqueeze", [name, "two"], [f"{name}1"], {}), ("Expand", [f"{name}1", "groups"], [f"{name}2"], {}),
                  ("Reshape", [f"{name}2", "heads"], [f"{name}3"], {})]  # fmt: skip
    nodes += [("Transpose", ["k3"], ["kt"], {"perm": [0, 1, 3, 2]})]
    nodes += [("Mul", ["kt", "c"], ["ks"], {})] if scaled else [("Mul", ["q", "c"], ["qs"], {})]
    nodes += [("MatMul", ["q", "ks"] if scaled else ["qs", "kt"], ["s"], {}), ("Add", ["s", "m"], ["x"], {}),
              ("Softmax", ["x"], ["p"], {"axis": -1}), ("MatMul", ["p", "v3"], ["y" if transposed else "r"], {})]  # fmt: skip
    if transposed:
        nodes.append(("Transpose", ["y"], ["r"], {"perm": [0, 2, 1, 3]}))
    constants = [("two", np.array([2])), ("groups", np.array([1, 1, heads // shared, 1, 1])),
                 ("heads", np.array([0, heads, -1, head])), ("c", np.array(0.25, q.dtype))]  # fmt: skip
    s, t = ("s", "t") if symbolic else (queries, keys)
    shapes = {
        "q": [batch, heads, s, head],
        "k": [batch, shared, t, head],
        "v": [batch, shared, t, head],
        "m": [batch, 1, s, t],
    }
    bias = tensor(dtype, (batch, 1, queries, keys), 3)
    result = [batch, s, heads, head] if transposed else [batch, heads, s, head]
    proto = model(nodes, shapes, {"r": result}, dtype, constants)
    want = attention(q, k, v, bias, scale=0.25, rounded=lambda x: wide(x.astype(q.dtype)))
    return proto, [q, k, v, bias], want.transpose(0, 2, 1, 3) if transposed else want


@every_other("kind, shared, symbolic, transposed", KINDS, [2, 1], [False, True], [False, True])
def test_keys_that_are_repeated(kind, shared, symbolic, transposed):
    """What is repeated is not copied: Q is scaled, all else is one kernel."""
    proto, inputs, want = repeated(kind, shared=shared, symbolic=symbolic, transposed=transposed)
    assert len(launches(proto, kind)) <= 2
    check(run(proto, inputs, kind), want, kind)


@pytest.mark.parametrize("kind", ["float", "float16"])
def test_repeated_keys_that_are_scaled(kind):
    """Each key is scaled once, not once for each of its heads."""
    proto, inputs, want = repeated(kind, scaled=True)
    text = kernels(proto, kind)
    assert len(re.findall(r"gpu.launch_func +@kernels", text)) == 2
    check(run(proto, inputs, kind), want, kind)
