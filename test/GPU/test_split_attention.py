"""Attention of few queries, whose keys are divided among blocks, on the emulated GPU, against NumPy."""

import re

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper
from support import exports
from support.combinations import every_other
from support.emulator import use_emulator
from support.peers import onnxruntime_outputs

from GPU.assembler import PTXAS, ptx, resources
from GPU.attentions import attention, element, operator
from GPU.families import model, tensor
from GPU.test_attention import KINDS, check, kernels, launches, options, run

SPLIT = ["kernel_0", "kernel_0_join"]


def parts(proto, kind):
    """Into how many parts keys are divided at most."""
    found = re.findall(r"keys in up to (\d+) parts", kernels(proto, kind))
    return int(found[0]) if found else 1


@every_other("kind, symbolic, heads, keys", KINDS, [False, "keys"], [(2, 2), (8, 2), (24, 2)], [513, 1024])
def test_lengths(kind, symbolic, heads, keys):
    """A row, four or twelve for each tile of keys; the last part is shorter, or not."""
    proto, inputs, want = operator(kind, 1, keys, 32, heads=heads[0], shared=heads[1], symbolic=symbolic)
    assert launches(proto, kind) == SPLIT
    check(run(proto, inputs, kind), want, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_lengths_of_the_run(kind):
    """Fewer keys than parts, than a tile, one."""
    proto, _, _ = operator(kind, 1, 700, 16, heads=4, symbolic="keys")
    precision = "tf32" if kind == "tf32" else "f32"
    compiled = strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1, precision=precision)
    for keys in (1, 9, 64, 65, 130, 2000):
        _, inputs, want = operator(kind, 1, keys, 16, heads=4)
        check(compiled.run(inputs)[0], want, kind)


@every_other("kind, heads", KINDS, [(128, 128), (80, 24), (33, 80), (9, 8)])
def test_sizes_of_heads(kind, heads):
    proto, inputs, want = operator(kind, 1, 600, *heads, symbolic="keys")
    assert launches(proto, kind) == SPLIT
    check(run(proto, inputs, kind), want, kind)


@every_other("kind, queries", KINDS, [3, 7, 16, 33, 130])
def test_several_queries(kind, queries):
    """Fewer rows than a tile has, as many, or more."""
    proto, inputs, want = operator(kind, queries, 600, 32, batch=1, symbolic="keys")
    assert launches(proto, kind) == SPLIT
    check(run(proto, inputs, kind), want, kind)


@every_other("kind, mask", KINDS, [((5, 700), 0), ((2, 1, 1, 700), 0), ((2, 2, 5, 700), 1), ((), 1)])
def test_masks(kind, mask):
    """With a causal one, most parts have no keys."""
    bias, is_causal = mask
    proto, inputs, want = operator(kind, 5, 700, 32, symbolic="keys", is_causal=is_causal, bias=bias)
    assert launches(proto, kind) == SPLIT
    check(run(proto, inputs, kind), want, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_that_a_mask_hides(kind):
    """Of one query all but the last keys, of another all: zeros, and nothing of the other keys' V, not even NaN."""
    proto, inputs, _ = operator(kind, 4, 700, 32, batch=1, bias=(4, 700))
    mask = inputs[3].astype(np.float32)
    mask[1, :690] = mask[2] = -np.inf
    inputs[3] = mask.astype(inputs[3].dtype)
    got = run(proto, inputs, kind)
    check(got, attention(*inputs), kind)
    assert (got[:, :, 2] == 0).all()


def with_cache(kind, attributes, keys=900):
    """The operator with the keys so far as inputs of their own; the newest query's number is their count."""
    dtype, head = element(kind), 32
    q, k, v = tensor(dtype, (2, 8, 1, head)), tensor(dtype, (2, 2, keys, head), 1), tensor(dtype, (2, 2, keys, head), 2)
    shapes = {"q": [2, 8, 1, head], "k": [2, 2, 1, head], "v": [2, 2, 1, head]}
    shapes |= {name: [2, 2, "past", head] for name in ("pk", "pv")}
    outputs = {"r": [2, 8, 1, head], "nk": [2, 2, "t", head], "nv": [2, 2, "t", head]}
    proto = model([("Attention", ["q", "k", "v", "", "pk", "pv"], list(outputs), attributes)], shapes, outputs, dtype)
    proto.opset_import[0].version = 27
    return proto, [q, k[:, :, -1:], v[:, :, -1:], k[:, :, :-1], v[:, :, :-1]], (q, k, v)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [None, 100])
def test_next_token(kind, window):
    """All keys so far, or those of a window, whose tiles alone are read."""
    proto, inputs, all_inputs = with_cache(kind, {"is_causal": 1} | ({"left_window_size": window} if window else {}))
    text = kernels(proto, kind)
    assert "in up to 128 parts" in text and len(re.findall(r"arith.minsi|arith.maxsi", text)) >= (6 if window else 4)
    visible = np.arange(900)[None] >= (899 - window if window else 0)
    check(run(proto, inputs, kind), attention(*all_inputs, visible=visible), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_cache_of_known_size(kind):
    """Of 1024 places each sequence has filled some; V is no number in others."""
    proto, inputs, _ = operator(kind, 1, 1024, 32, heads=4)
    proto.opset_import[0].version = 24
    proto.graph.node[0].input.extend(["", "", "", "filled"])
    proto.graph.input.append(helper.make_tensor_value_info("filled", TensorProto.INT64, [2]))
    assert len(launches(proto, kind)) == 2
    filled = np.array([700, 3])
    visible = np.arange(1024) < filled[:, None, None, None]
    check(run(proto, [*inputs, filled], kind), attention(*inputs, visible=visible), kind)


@pytest.mark.parametrize("kind", ["float", "float16"])
def test_batches_of_the_run(kind):
    """The more blocks there are, the fewer parts they want, down to one."""
    proto, _, _ = operator(kind, 1, 700, 16, heads=4)
    for value in [*proto.graph.input, *proto.graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "b"
    compiled = strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1)
    for batch in (1, 40, 300):
        _, inputs, want = operator(kind, 1, 700, 16, heads=4, batch=batch)
        check(compiled.run(inputs)[0], want, kind)


def test_what_follows_is_computed_on_the_joined_results():
    proto, inputs, want = operator("float", 1, 700, 32)
    proto.graph.node[0].output[0] = "y"
    proto.graph.node.append(helper.make_node("Relu", ["y"], ["r"], name="relu"))
    assert launches(proto) == SPLIT
    check(run(proto, inputs, "float"), np.maximum(want, 0), "float")


@every_other("rows, kind, seed", [(1, 2), (2, 16), (33, 2)], KINDS, range(3))
def test_order_of_threads_and_copies(kind, rows, seed, monkeypatch):
    """Threads go on in another order, and copies arrive early or late: a missing barrier or wait shows."""
    if use_emulator() != "bitcode":
        pytest.skip("only the emulator can choose the order")
    monkeypatch.setenv("STRATA_EMULATOR_ORDER", str(seed))
    queries, heads = rows
    proto, inputs, want = operator(kind, queries, 700, 32, heads=heads, batch=1, bias=(queries, 700), symbolic="keys")
    assert launches(proto, kind) == SPLIT
    check(run(proto, inputs, kind), want, kind)


def test_where_dividing_pays():
    """Few blocks and many keys; one part has 64 keys or more, and there are about 512 warps. See chooseKeyParts."""
    decode = lambda keys, kind="float16", **sizes: parts(operator(kind, 1, keys, 64, **sizes)[0], kind)  # noqa: E731
    assert decode(511) == 1 and decode(512) == 8 and decode(4096) == 64
    assert decode(4096, batch=1, heads=32, shared=8) == 64
    assert decode(8192, batch=1, heads=1, shared=1) == 128
    assert decode(1024, batch=8, heads=32, shared=32) == 2
    assert decode(1024, batch=9, heads=32, shared=32) == 1
    # Four warps have a tile.
    assert parts(operator("float16", 64, 4096, 64, batch=1)[0], "float16") == 64
    # So many keys as only the run tells are many, so many queries a prompt.
    assert parts(operator("float16", 1, 700, 64, symbolic="keys")[0], "float16") == 128
    assert parts(operator("float16", 1, 700, 64, symbolic=True)[0], "float16") == 1


def test_graphs():
    """Both kernels, and what lies between them, are in a recorded graph."""
    proto, inputs, want = operator("float16", 1, 700, 64, heads=8)
    compiled = strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1)
    for _ in range(4):
        check(compiled.run(inputs)[0], want, "float16")
    text = kernels(proto, "float16")
    assert re.search(r"scf.if.*\n.*launch_func +@kernels::@kernel_0 .*\n.*launch_func +@kernels::@kernel_0_join ", text)
    assert re.search(r"memref.view .* to memref<16x11x64xf32", text)


def test_instructions():
    """What the second kernel reads comes 16 bytes at a time; copies of keys are asynchronous whatever their number."""
    for kind in KINDS:
        text = ptx(operator(kind, 1, 700, 64, heads=8, symbolic="keys")[0], "sm_80", *options(kind))
        first, second = text.split(".entry")[1:]
        assert "cp.async.cg.shared.global" in first and "ld.global.b16" not in first
        assert ("mma.sync" in first) == (kind != "float")
        assert "ld.global.v4" in second and "cp.async" not in second and "mma" not in second


@pytest.mark.skipif(not PTXAS, reason="no ptxas")
@every_other("kind, device", KINDS, [("sm_80", 128), ("sm_90", 64)])
def test_registers(kind, device):
    """Of known sizes, and of the forms that have most to keep in mind."""
    chip, head = device
    for proto in [operator(kind, 1, 4096, head, batch=1, heads=32, shared=8)[0],
                  operator(kind, 1, 90, head, heads=4, symbolic="keys", bias=(1, 90))[0],
                  operator(kind, 5, 90, head, heads=6, symbolic="keys", is_causal=1, bias=(5, 90))[0],
                  operator(kind, 33, 90, head, symbolic="keys", is_causal=1, bias=(33, 90))[0]]:  # fmt: skip
        for kernel in resources(proto, chip, *options(kind)):
            assert kernel["spilled"] == 0 and kernel["shared"] <= 48 << 10, kernel


@pytest.mark.parametrize("kind", ["float", "float16"])
def test_kernels_of_other_vendors(kind, tmp_path):
    """AMD's, executed as kernels of the emulated GPU."""
    proto, inputs, want = operator(kind, 1, 700, 64, heads=8, symbolic="keys")
    path = tmp_path / "m.mlir"
    text = kernels(proto, kind, "rocm:gfx90a")
    assert text.count("gpu.launch_func") == 2 and "cp.async" not in text and "mma" not in text
    path.write_text(text.replace("gfx90a", "sm_80"))
    check(run(path, inputs, kind), want, kind)


def longer(name, past):
    """A decoder that was exported behind 16 tokens, behind so many; its inputs."""
    proto, sizes = exports.load(name), {"seq": 1, "past": past, "total": past + 1}
    known = {16: past, 17: past + 1}
    for value in [*proto.graph.input, *proto.graph.output]:
        shape = value.type.tensor_type.shape.dim
        kind = value.name.split(".")[0]
        for axis, dim in enumerate(shape):
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
            elif not dim.dim_param and axis == {"attention_mask": 1, "past": 2, "present": 2}.get(kind):
                dim.dim_value = known[dim.dim_value]
    for constant in proto.graph.initializer:
        array = numpy_helper.to_array(constant)
        if array.shape == (1, 1, 1, 17, 2):
            # Which places of the mask are gathered.
            array = np.stack([np.zeros(past + 1, np.int64), np.arange(past + 1)], -1).reshape(1, 1, 1, past + 1, 2)
        elif array.dtype == bool and array.shape[-1:] == (17,):
            array = np.resize(array, (*array.shape[:-1], past + 1))
        elif array.dtype == np.int64 and array.ndim == 1 and 17 in array:
            array = np.where(array == 17, past + 1, array)
        else:
            continue
        constant.CopyFrom(numpy_helper.from_array(array, constant.name))
    return proto, exports.inputs(proto, sizes)


@pytest.mark.parametrize("name", ["llama6_decode_dyn", "gpt2_decode_dyn", "gpt2_decode_ts17_dynseq"])
def test_exported_decoders(name, tmp_path):
    """As exported, behind a thousand tokens: both layers divide their keys."""
    proto, feeds = longer(name, 1000)
    feeds["position_ids"] %= 16  # there are few to be learned
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    assert kernels(proto, "float").count("keys in up to 16 parts") == 2
    results = strata.compile(proto, gpu="cuda", gpu_format=use_emulator(), threads=1).run(feeds)
    for got, want in zip(results, onnxruntime_outputs(path, feeds), strict=True):
        assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()
