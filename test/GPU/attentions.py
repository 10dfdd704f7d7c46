"""Models with the operator Attention and what NumPy makes of them, for tests here and on a GPU (bench/gpu)."""

import numpy as np

from GPU.families import model, tensor, wide

# Of narrow elements weights are rounded, too.
ERROR = {"float": 2e-6, "float16": 1e-3, "bfloat16": 8e-3, "tf32": 1e-3}


def element(kind):
    return "float" if kind == "tf32" else kind


def attention(q, k, v, bias=None, visible=None, scale=None, rounded=lambda x: x):
    """In f64; heads of Q share those of K and V. A model of several operators rounds what is between them."""
    q, k, v = wide(q), wide(k), wide(v)
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = rounded(rounded(q @ k.swapaxes(-1, -2)) * (scale or q.shape[-1] ** -0.5))
    if bias is not None:
        scores = rounded(scores + wide(bias))
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    largest = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ v


def causal(queries, keys):
    return np.arange(keys) <= np.arange(queries)[:, None]


def operator(kind, queries, keys, head, width=None, batch=2, heads=2, shared=2, symbolic=False, is_causal=0, bias=()):
    """The operator Attention, and its inputs and result. What is symbolic may be the keys' number alone."""
    dtype, width = element(kind), width or head
    q, k, v = tensor(dtype, (batch, heads, queries, head)), tensor(dtype, (batch, shared, keys, head), 1), tensor(dtype, (batch, shared, keys, width), 2)  # fmt: skip
    inputs = [q, k, v] + ([tensor(dtype, bias, 3)] if bias else [])
    s, t = "s" if symbolic is True else queries, "t" if symbolic else keys
    sizes = {queries: s, keys: t}
    shapes = {"q": [batch, heads, s, head], "k": [batch, shared, t, head], "v": [batch, shared, t, width]}
    if bias:
        shapes["m"] = [*bias[:-2], sizes.get(bias[-2], bias[-2]), sizes.get(bias[-1], bias[-1])]
    proto = model([("Attention", list(shapes), ["r"], {"is_causal": is_causal})], shapes,
                  {"r": [batch, heads, s, width]}, dtype)  # fmt: skip
    proto.opset_import[0].version = 23
    want = attention(q, k, v, inputs[3] if bias else None, causal(queries, keys) if is_causal else None)
    return proto, inputs, want


# By warpgroups: sizes, options of the model, and (threads, keys, columns) of a tile.
TILES = {
    "one warpgroup": ((64, 128, 64), {}, (256, 128, 64)),
    "two warpgroups": ((128, 128, 64), {"batch": 64}, (384, 128, 64)),
    "few keys": ((64, 60, 64), {}, (256, 64, 64)),
    "wide": ((64, 200, 128), {}, (256, 64, 128)),
    "wide, two warpgroups": ((130, 200, 128), {"batch": 32}, (384, 128, 128)),
    "wide, with a bias": ((130, 200, 128), {"batch": 32, "bias": (130, 200)}, (384, 64, 128)),
}


def warpgroup_attentions():
    """(name, kind, model, inputs, what NumPy says) of attention in each way that warpgroups compute it."""
    for kind in ("float16", "bfloat16"):
        for name, (sizes, options, _) in TILES.items():
            yield f"attention_{name.replace(', ', '_').replace(' ', '_')}", kind, *operator(kind, *sizes, **options)
        yield "attention_other_width", kind, *operator(kind, 70, 150, 24, 72)
        yield "attention_shared_keys", kind, *operator(kind, 45, 150, 32, heads=6, symbolic=True, is_causal=1)
        yield "attention_mask", kind, *operator(kind, 70, 190, 32, symbolic=True, bias=(2, 1, 1, 190))
