"""Attention by warpgroups: wgmma from bulk copies (TMA) around a softmax, on the emulated GPU, against NumPy."""

import re

import numpy as np
import pytest
import strata
from onnx import helper

from GPU.assembler import PTXAS, ptx, resources
from GPU.attentions import TILES, attention, operator
from GPU.families import model, tensor
from GPU.test_attention import WINDOWS, check, kernels, launches, plain, repeated
from GPU.test_warpgroups import CHIP, HALVES, compile_for_gpu, emulated, products, run
from GPU.test_warpgroups import replaced, run_changed, unchanged, without
from support.combinations import every_other

BY_WARPS = {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}


def tile(proto):
    """(threads, keys, columns) of the only kernel."""
    text = ptx(proto, CHIP)
    assert text.count(".entry") == 1 and "mma.sync" not in text
    # The scores' left side is in shared memory, that of the results in registers.
    product = r"m64n(\d+)k16\.f32\.b?f16\.b?f16 {[^}]*}, "
    [keys], [columns] = ({int(n) for n in re.findall(product + left, text)} for left in ("%", "{"))
    return int(re.search(r"maxntid (\d+)", text)[1]), keys, columns


@every_other("kind, size, symbolic", HALVES, [(64, 128, 64), (70, 131, 32), (130, 300, 128)], [False, True])
def test_lengths(kind, size, symbolic):
    """Queries and keys fill their tiles, or not."""
    proto, inputs, want = operator(kind, *size, symbolic=symbolic)
    assert tile(proto)
    check(run(proto, inputs), want, kind)


def test_other_gpus_have_no_warpgroups():
    assert products(operator("float16", 128, 128, 64)[0], chip="sm_90") == BY_WARPS


def test_lengths_that_only_the_run_tells():
    """One compiled model: no keys, fewer than a tile, whole tiles; tensor maps are of the run."""
    proto, _, _ = operator("float16", 70, 90, 32, symbolic=True)
    compiled = compile_for_gpu(proto)
    for queries, keys in [(1, 1), (64, 128), (3, 400), (200, 5), (65, 129), (40, 0), (0, 40)]:
        _, inputs, _ = operator("float16", max(queries, 1), max(keys, 1), 32)
        inputs = [inputs[0][:, :, :queries], inputs[1][:, :, :keys], inputs[2][:, :, :keys]]
        [got] = compiled.run(inputs)
        if queries and keys:
            check(got, attention(*inputs), "float16")
        else:
            np.testing.assert_array_equal(got, np.zeros((2, 2, queries, 32), np.float16))


@pytest.mark.parametrize("name", TILES)
def test_tiles(name):
    sizes, options, want = TILES[name]
    proto, inputs, numbers = operator("float16", *sizes, **options)
    assert tile(proto) == want
    check(run(proto, inputs), numbers, "float16")


@every_other("kind, heads", HALVES, [(80, 80), (96, 40), (24, 72), (16, 128), (128, 8), (8, 16)])
def test_sizes_of_heads(kind, heads):
    """Lines of 64 and of 128 bytes, part of which are zeros; V of another width than Q."""
    proto, inputs, want = operator(kind, 70, 150, *heads)
    assert tile(proto)[2] == heads[1]
    check(run(proto, inputs), want, kind)


ON_WARPS = {
    "few rows": ((32, 128, 64), {}),
    "few keys": ((64, 32, 64), {}),
    "strides": ((64, 128, 60), {}),
    "strides of V": ((64, 128, 64, 20), {}),
}


@pytest.mark.parametrize("name", ON_WARPS)
def test_what_stays_on_warps(name):
    """Most of a tile would be empty; strides that are no multiples of 16 bytes."""
    sizes, options = ON_WARPS[name]
    proto, inputs, want = operator("float16", *sizes, **options)
    assert products(proto) == BY_WARPS
    check(run(proto, inputs), want, "float16")


def test_exact_products_stay_exact():
    assert not products(operator("float", 128, 128, 64)[0])


def test_parts_of_keys_stay_on_warps():
    """Few blocks with many keys, which are divided."""
    proto, inputs, want = operator("float16", 64, 2048, 32, batch=1)
    assert len(launches(proto)) == 2 and products(proto) == BY_WARPS
    check(run(proto, inputs), want, "float16")


@pytest.mark.parametrize("heads", [(6, 2), (8, 1), (14, 2), (80, 1)], ids=str)
def test_heads_that_share_keys(heads):
    """Rows of a tile are of several heads; of 3 or 7 the last rows of a tile are none, of 80 a tile has a part."""
    proto, inputs, want = operator("float16", 45, 150, 32, heads=heads[0], shared=heads[1], symbolic=True, is_causal=1)
    assert tile(proto)
    check(run(proto, inputs), want, "float16")


def test_heads_that_share_keys_of_two_warpgroups():
    proto, inputs, want = operator("bfloat16", 45, 150, 32, batch=32, heads=14, shared=2, is_causal=1)
    assert tile(proto)[0] == 384
    check(run(proto, inputs), want, "bfloat16")


@every_other("kind, bias, symbolic", HALVES, [(70, 190), (2, 1, 1, 190), (2, 2, 70, 190), ()], [False, True])
def test_masks(kind, bias, symbolic):
    is_causal = int(bias != (2, 1, 1, 190))
    proto, inputs, want = operator(kind, 70, 190, 32, symbolic=symbolic, is_causal=is_causal, bias=bias)
    assert tile(proto)
    check(run(proto, inputs), want, kind)


@pytest.mark.parametrize("window", list(WINDOWS))
@pytest.mark.parametrize("size", [(200, 500), (500, 150)], ids=str)
def test_hidden_tiles_are_not_read(window, size):
    """Tiles of keys before and behind what a block's queries see; blocks of the last queries may see none at all."""
    queries, keys = size
    proto, inputs, _ = operator("float16", queries, keys, 16, heads=4, symbolic=True)
    attributes = WINDOWS[window]
    del proto.graph.node[0].attribute[:]
    for name, value in attributes.items():
        proto.graph.node[0].attribute.append(helper.make_attribute(name, value))
    proto.opset_import[0].version = 27
    assert tile(proto)
    assert len(re.findall(r"arith.minsi|arith.maxsi", kernels(proto, "float16", f"cuda:{CHIP}"))) >= 2
    i, j = np.arange(queries)[:, None], np.arange(keys)
    left, right = attributes.get("left_window_size", queries), attributes.get("right_window_size", keys)
    visible = (j >= i - left) & (j <= i + right)
    visible &= (j <= i) | ("is_causal" not in attributes)
    check(run(proto, inputs), attention(*inputs, visible=visible), "float16")


@every_other("kind, mask, transposed", HALVES, [None, "bias"], [False, True])
def test_as_exported(kind, mask, transposed):
    """Boxes are of the order of memory, in which the result is written, too."""
    proto, inputs, want, _ = plain(kind, mask, transposed, symbolic=transposed, keys=150)
    assert tile(proto)
    check(run(proto, inputs), want, kind)


@pytest.mark.parametrize("name", ["k", "v"])
def test_keys_that_are_neighbours(name):
    """A line in shared memory is then a step of Q * K^T with its keys, or a column of V with its keys."""
    shapes = {"q": [2, 2, 70, 64], "k": [2, 2, 152, 64], "v": [2, 2, 152, 72]}
    q, k, v = (tensor("float16", shape, i) for i, shape in enumerate(shapes.values()))
    inputs = {"q": q, "k": k, "v": v}
    inputs[name] = np.ascontiguousarray(inputs[name].swapaxes(2, 3))
    shapes[name] = list(inputs[name].shape)
    # K is transposed, or V is.
    kt, vt = ("k", "v") if name == "k" else ("kt", "vt")
    nodes = [] if name == "k" else [("Transpose", [n], [f"{n}t"], {"perm": [0, 1, 3, 2]}) for n in "kv"]
    nodes += [("MatMul", ["q", kt], ["s"], {}), ("Mul", ["s", "c"], ["x"], {}), ("Softmax", ["x"], ["p"], {"axis": -1}),
              ("MatMul", ["p", vt], ["r"], {})]  # fmt: skip
    proto = model(nodes, shapes, {"r": [2, 2, 70, 72]}, "float16", [("c", np.array(0.125, np.float16))])
    assert tile(proto)
    check(run(proto, list(inputs.values())), attention(q, k, v, scale=0.125), "float16")


@pytest.mark.parametrize("guard", [False, True], ids=["plain", "guarded"])
def test_queries_that_see_nothing(guard):
    """NaN, or zeros where the model says so."""
    proto, inputs, want, visible = plain("float16", "where", guard=guard, keys=150)
    assert tile(proto)
    got, seen = run(proto, inputs), visible.any(1)
    check(got[:, seen], want[:, seen], "float16")
    assert (got[:, ~seen] == 0).all() if guard else np.isnan(got[:, ~seen].astype(np.float32)).all()


def test_scores_that_grow():
    """Each tile of keys has a larger score than those before, then all have smaller ones."""
    proto, inputs, _ = operator("float16", 64, 500, 16)
    growth = np.concatenate([np.linspace(0.5, 12, 333), np.linspace(12, 1, 167)])[:, None]
    inputs[:2] = np.abs(inputs[0]), (np.abs(inputs[1].astype(np.float32)) * growth).astype(np.float16)
    assert tile(proto)
    check(run(proto, inputs), attention(*inputs), "float16")


def test_what_is_no_number():
    """In a query: its row; in a key: every row that sees it."""
    proto, inputs, _ = operator("float16", 70, 150, 32)
    inputs[0][0, 1, 2, 3] = np.nan
    inputs[1][1, 0, 140, 2] = np.nan
    got = np.isnan(run(proto, inputs).astype(np.float32)).all(-1)
    want = np.zeros(got.shape, bool)
    want[0, 1, 2] = want[1, 0] = True
    np.testing.assert_array_equal(got, want)


def test_what_follows_is_computed_on_the_results():
    proto, inputs, want = operator("float16", 70, 150, 32)
    proto.graph.node[0].output[0] = "y"
    proto.graph.node.append(helper.make_node("Relu", ["y"], ["r"], "relu"))
    assert tile(proto)
    check(run(proto, inputs), np.maximum(want, 0), "float16")


@pytest.mark.parametrize("symbolic", [False, True], ids=["known", "symbolic"])
def test_keys_that_are_repeated(symbolic):
    """Boxes are of what is not repeated."""
    proto, inputs, want = repeated("float16", queries=45, keys=150, symbolic=symbolic, transposed=True)
    assert len(launches(proto)) == 2 and not products(proto) & BY_WARPS
    check(run(proto, inputs), want, "float16")


def test_graphs_keep_tensor_maps():
    """A recorded kernel has the tensor maps of its buffers; with other lengths it is recorded again."""
    compiled = compile_for_gpu(operator("float16", 70, 150, 32, symbolic=True)[0])
    for queries, keys in [(70, 150)] * 4 + [(90, 60)] * 3:
        _, inputs, want = operator("float16", queries, keys, 32)
        check(compiled.run(inputs)[0], want, "float16")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", HALVES)
def test_order_of_threads_and_copies(kind, seed, monkeypatch):
    """Copies arrive at any time, threads go on in any order; there are more tiles of keys than places for them."""
    emulated()
    monkeypatch.setenv("STRATA_EMULATOR_ORDER", str(seed))
    proto, inputs, want = operator(kind, 70, 450, 128, is_causal=seed % 2, bias=(70, 450), symbolic=True)
    assert tile(proto) == (256, 64, 128)
    check(run(proto, inputs), want, kind)


@pytest.mark.parametrize("seed", range(2))
def test_order_of_two_warpgroups(seed, monkeypatch):
    emulated()
    monkeypatch.setenv("STRATA_EMULATOR_ORDER", str(seed))
    proto, inputs, want = operator("float16", 70, 500, 16, batch=64)
    assert tile(proto)[0] == 384
    check(run(proto, inputs), want, "float16")


# --- The emulator sees what is broken

BROKEN = {
    "no fence of registers": without(r"nvvm\.wgmma\.fence"),
    "no fence of barriers": without(r"nvvm\.fence\.mbarrier\.init"),
    "no waits for products": without(r"nvvm\.wgmma\.wait\.group\.sync\.aligned 0"),
    "too late a wait": replaced(r"(wgmma\.wait\.group\.sync\.aligned) 0", r"\1 1"),
    "no waits for copies": without(r"nvvm\.mbarrier\.try_wait\.parity"),
    "V not transposed": replaced("p, 1, 1, 1;", "p, 1, 1, 0;"),
    "weights of another step": replaced(r"\{\$128, \$129, \$130, \$131\}", "{$130, $131, $128, $129}"),
    "another swizzle of the copies": replaced(r"%c3, %c2, %c4,", "%c2, %c2, %c4,"),
    "another swizzle of the products": replaced(str((1 << 62) | (64 << 32) | (1 << 16)),
                                                str((2 << 62) - (1 << 64) | (64 << 32) | (1 << 16))),
    "too small an alignment": replaced("alignment = 1024", "alignment = 512"),
    "fewer bytes expected": replaced(r"(%c)16384(_i32 = arith\.constant) 16384", r"\g<1>16384\2 8192"),
}  # fmt: skip


def more_keys_than_stages():
    return operator("float16", 64, 448, 128)


def test_an_unchanged_kernel(tmp_path):
    got, want = run_changed(tmp_path, unchanged, more_keys_than_stages())
    check(got, want, "float16")


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_shows(what, tmp_path):
    try:
        got, want = run_changed(tmp_path, BROKEN[what], more_keys_than_stages())
    except strata.RunError:
        return
    with pytest.raises(AssertionError, match="largest error"):
        check(got, want, "float16")


# --- The vendor's assembler


@pytest.mark.skipif(not PTXAS, reason="no ptxas")
@pytest.mark.parametrize("head, kind", [(32, HALVES[0]), (64, HALVES[1]), (96, HALVES[0]), (128, HALVES[1])])
def test_registers(kind, head):
    """Of known sizes, and of the form that has most to keep in mind, of one and of two warpgroups."""
    known, bias = (1024, 1024, head), {"heads": 4, "symbolic": True, "is_causal": 1, "bias": (70, 90)}
    for proto, registers in [(operator(kind, *known, batch=8, heads=16, shared=16)[0], 168),
                             (operator(kind, *known, batch=1, heads=8, shared=8)[0], 128),
                             (operator(kind, 70, 90, head, **bias)[0], 128),
                             (operator(kind, 70, 90, head, batch=64, **bias)[0], 168)]:  # fmt: skip
        [kernel] = resources(proto, CHIP)
        # What a block starts with is what its warpgroups share: of two that multiply 24 + 2 * 240 = 3 * 168.
        assert kernel["registers"] == registers and kernel["spilled"] == 0 and not kernel["serialized"], kernel
