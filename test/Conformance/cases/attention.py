"""Attention in all its forms, and what goes with it."""

import numpy as np
from Conformance.table import Case, cases

# Scores are sums of products, which are exponentiated: some digits less than the element type has.
MORE = {
    "float": {"rtol": 1e-4, "atol": 1e-5},
    "double": {},
    "float16": {"rtol": 2**-7, "atol": 2**-9},
    "bfloat16": {"rtol": 2**-4, "atol": 2**-6},
}


def softmax(x):
    """Of the last axis; a row of -inf alone gives zeros."""
    top = x.max(axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(x - np.where(np.isinf(top), 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 0, e / np.where(total == 0, 1, total))


def heads(x, count):
    return x if x.ndim == 4 else x.reshape(*x.shape[:2], count, -1).swapaxes(1, 2)


def attention(a, outputs):
    def compute(q, k, v, mask=None, past_key=None, past_value=None, lengths=None):
        flat = q.ndim == 3
        q, k, v = heads(q, a.get("q_num_heads")), heads(k, a.get("kv_num_heads")), heads(v, a.get("kv_num_heads"))
        past = 0 if past_key is None else past_key.shape[2]
        if past_key is not None:
            k, v = np.concatenate([past_key, k], 2), np.concatenate([past_value, v], 2)
        present = k, v
        k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in present)
        scores = q @ k.swapaxes(2, 3) * a.get("scale", 1 / np.sqrt(q.shape[-1]))
        stages = [scores]
        if cap := a.get("softcap", 0):
            scores = cap * np.tanh(scores / cap)
        stages.append(scores)
        rows, columns = scores.shape[2:]
        if mask is not None:
            bias = np.where(mask, 0, -np.inf) if mask.dtype == bool else mask.astype(np.float64)
            if bias.shape[-1] < columns:  # keys behind the mask's end are not attended
                bias = np.concatenate([bias, np.full((*bias.shape[:-1], columns - bias.shape[-1]), -np.inf)], -1)
            scores = scores + bias
        at, key = np.arange(rows)[:, None], np.arange(columns)
        offset = np.full((q.shape[0], 1, 1, 1), past) if lengths is None else (lengths - rows).reshape(-1, 1, 1, 1)
        hidden = np.zeros((q.shape[0], 1, rows, columns), bool)
        if a.get("is_causal"):
            hidden |= key > at + offset
        if lengths is not None:
            hidden |= key >= lengths.reshape(-1, 1, 1, 1)
        for side, sign in (("left_window_size", 1), ("right_window_size", -1)):
            if a.get(side, -1) >= 0:
                hidden |= sign * (at + offset - key) > a[side]
        scores = np.where(hidden, -np.inf, scores)
        stages.append(scores)
        weights = softmax(scores)
        y = weights @ v
        stages.append(weights)
        if flat:
            y = y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1)
        return tuple(o for o, kept in zip((y, *present, stages[a.get("qk_matmul_output_mode", 0)]), outputs) if kept)

    return compute


def forms(version):
    """(name, (batch, query heads, key heads, queries, keys, size, size of values), past, mask's shape, attributes)"""
    plain = (2, 2, 2, 3, 4, 4, 5)
    yield "plain", plain, 0, None, {}
    yield "scaled", plain, 0, None, {"scale": 0.3125}
    yield "softcap", plain, 0, None, {"softcap": 1.5}
    yield "grouped", (2, 6, 2, 3, 4, 4, 4), 0, None, {}
    yield "causal", (1, 2, 2, 4, 4, 4, 4), 0, None, {"is_causal": 1}
    yield "past", plain, 2, None, {}
    yield "past_causal", (1, 4, 2, 3, 3, 4, 4), 2, None, {"is_causal": 1}
    yield "masked", plain, 0, (3, 4), {}
    yield "masked_by_head", plain, 0, (2, 2, 3, 4), {}
    yield "masked_by_batch", plain, 0, (2, 1, 3, 4), {}
    yield "masked_past", plain, 2, (3, 6), {"softcap": 2.0}
    yield "one_query", (2, 2, 2, 1, 5, 4, 4), 0, None, {}
    yield "batch0", (0, 2, 2, 3, 4, 4, 4), 0, None, {}
    if version >= 25:
        yield "left", (1, 2, 2, 5, 5, 4, 4), 0, None, {"left_window_size": 1}
        yield "right", (1, 2, 2, 5, 5, 4, 4), 0, None, {"right_window_size": 1}
        yield "window_causal", (1, 2, 2, 4, 4, 4, 4), 2, None, {"left_window_size": 2, "is_causal": 1}
        yield "window", (1, 2, 1, 4, 6, 4, 4), 0, (4, 6), {"left_window_size": 1, "right_window_size": 2}


@cases("Attention")
def attentions(op, version, types, draw):
    t, tv, u = types["T1"], types["T2"], types["U"]
    more = MORE[max((t, tv), key=lambda x: MORE[x].get("rtol", 0))]

    def mask_of(shape):
        if u == "bool":
            mask = draw(shape, u)
            mask[..., 0] = True  # no row without keys
            return mask
        return draw(shape, u, -2, 2)

    for name, (b, qh, kh, rows, columns, size, values), past, mask, a in forms(version):
        full = (t, tv) == ("float", "float") and u in ("float", "bool") and version == 25
        if (
            not full
            and name not in ("masked", "past_causal")
            and (t != "float" or name not in ("plain", "softcap", "causal"))
        ):
            continue
        q, k, v = draw((b, qh, rows, size), t), draw((b, kh, columns, size), t), draw((b, kh, columns, values), tv)
        inputs = [q, k, v]
        if mask or past:
            inputs.append(mask_of(mask) if mask else None)
        if past:
            inputs += [draw((b, kh, past, size), t), draw((b, kh, past, values), tv)]
        yield Case(name, inputs, a, expected=attention(a, [1]), **more)
        if name in ("plain", "past_causal", "masked_past"):
            for mode in range(4) if full else (2,):
                given = a | {"qk_matmul_output_mode": mode}
                flags = [1, past > 0, past > 0, 1]
                yield Case(
                    f"{name}_scores{mode}", inputs, given, outputs=flags, expected=attention(given, flags), **more
                )
        if name in ("grouped", "past_causal") or (full and name in ("plain", "masked")):
            packed = a | {"q_num_heads": qh, "kv_num_heads": kh}
            flat = [x.swapaxes(1, 2).reshape(b, x.shape[2], -1) for x in (q, k, v)]
            yield Case(f"{name}_packed", [*flat, *inputs[3:]], packed, expected=attention(packed, [1]), **more)
    if (t, tv) == ("float", "float") and u in ("float", "bool"):
        # A query that may attend to nothing gives zeros; a shorter mask hides the keys behind its end.
        inputs = [draw((1, 2, 3, 4), t), draw((1, 2, 4, 4), t), draw((1, 2, 4, 4), t)]
        none, off = mask_of((3, 4)), False if u == "bool" else -np.inf
        none[1] = off
        for mode in (0, 3):
            a = {"qk_matmul_output_mode": mode}
            flags = [1, 0, 0, 1]
            yield Case(
                f"nothing_to_attend{mode}", [*inputs, none], a, outputs=flags, expected=attention(a, flags), **more
            )
        if version >= 24:
            short = mask_of((3, 3))
            for name, a in (("short_mask", {}), ("short_mask_causal", {"is_causal": 1})):
                yield Case(name, [*inputs, short], a, expected=attention(a, [1]), **more)
    if version >= 24 and (tv == "float" or t == tv):
        q, k, v = draw((2, 2, 2, 4), t), draw((2, 2, 6, 4), t), draw((2, 2, 6, 4), tv)
        inputs = [q, k, v, None, None, None, np.array([3, 6])]
        yield Case("lengths", inputs, expected=attention({}, [1]), **more)
        yield Case("lengths_causal", inputs, {"is_causal": 1}, expected=attention({"is_causal": 1}, [1]), **more)


def rotated(x, cos, sin, ids=None, num_heads=0, interleaved=0, rotary_embedding_dim=0):
    flat = x.ndim == 3
    given, x = x, heads(x, num_heads)
    part = rotary_embedding_dim or x.shape[-1]
    if ids is not None:
        cos, sin = cos[ids], sin[ids]
    cos, sin = cos[:, None, :, : part // 2], sin[:, None, :, : part // 2]
    turned, rest = x[..., :part], x[..., part:]
    even, odd = (turned[..., ::2], turned[..., 1::2]) if interleaved else np.split(turned, 2, axis=-1)
    real, imaginary = even * cos - odd * sin, even * sin + odd * cos
    both = (
        np.stack([real, imaginary], -1).reshape(turned.shape) if interleaved else np.concatenate([real, imaginary], -1)
    )
    result = np.concatenate([both, rest], -1)
    return result.swapaxes(1, 2).reshape(given.shape) if flat else result


@cases("RotaryEmbedding")
def rotary(op, version, types, draw):
    t = types["T"]
    ids = np.array([[0, 2, 4], [4, 3, 1]])
    for name, part, a in (
        ("halves", 4, {}),
        ("interleaved", 4, {"interleaved": 1}),
        ("partial", 2, {"rotary_embedding_dim": 4}),
        ("partial_interleaved", 2, {"rotary_embedding_dim": 4, "interleaved": 1}),
    ):
        x, caches = draw((2, 2, 3, 8), t), [draw((5, part), t, -1, 1) for _ in range(2)]
        for packed in (False, True):
            given = a | ({"num_heads": 2} if packed else {})
            own = x.swapaxes(1, 2).reshape(2, 3, 16) if packed else x
            suffix = "_packed" if packed else ""

            def expected(*v, g=given):
                return rotated(*v, **g)

            yield Case(f"{name}{suffix}", [own, *caches, ids], given, expected=expected)
            positioned = [draw((2, 3, part), t, -1, 1) for _ in range(2)]
            yield Case(f"{name}{suffix}_without_ids", [own, *positioned], given, expected=expected)


def linear_attention(a):
    def compute(q, k, v, state=None, decay=None, beta=None):
        count, groups = a["kv_num_heads"], a["q_num_heads"] // a["kv_num_heads"]
        q, k, v = heads(q, a["q_num_heads"]), heads(k, count), heads(v, count)
        b, _, steps, dk = q.shape
        dv, rule = v.shape[-1], a.get("update_rule", "gated_delta")
        scale = a.get("scale", 0) or 1 / np.sqrt(dk)
        state = np.zeros((b, count, dk, dv)) if state is None else state.astype(np.float64)
        decay = None if decay is None else heads(decay, count)  # [b, count, steps, dk or 1]
        output = np.zeros((b, steps, a["q_num_heads"], dv))
        for t in range(steps):
            if "gated" in rule:
                state = state * np.exp(decay[:, :, t])[..., None]
            key, value = k[:, :, t], v[:, :, t]
            if "delta" in rule:
                rate = np.broadcast_to(beta[:, t], (b, count))[..., None]
                value = rate * (value - np.einsum("bhkv,bhk->bhv", state, key))
            state = state + key[..., None] * value[..., None, :]
            output[:, t] = scale * np.einsum("bhk,bhkv->bhv", q[:, :, t], np.repeat(state, groups, 1))
        return output.reshape(b, steps, -1), state

    return compute


@cases("LinearAttention", pairs=True)
def linear_attentions(op, version, types, draw):
    t, s = types["T"], types["S"]
    more = MORE[max((t, s), key=lambda x: MORE[x]["rtol"])]
    for rule in ("linear", "gated", "delta", "gated_delta"):
        for name, steps, qh, kh, a in (
            ("prefill", 4, 2, 2, {}),
            ("decode", 1, 4, 2, {"scale": 0.3125}),
            ("one_head", 3, 3, 1, {"chunk_size": 2}),
        ):
            if (t != "float" or s != "float") and (name == "decode" or rule in ("gated", "delta")):
                continue
            a = a | {"q_num_heads": qh, "kv_num_heads": kh} | ({} if rule == "gated_delta" else {"update_rule": rule})
            q, k, v = (
                draw((2, steps, qh * 3), t, -1, 1),
                draw((2, steps, kh * 3), t, -0.5, 0.5),
                draw((2, steps, kh * 4), t, -1, 1),
            )
            # Without a state the new one is of the type of the rest.
            past = draw((2, kh, 3, 4), s, -1, 1) if name != "prefill" or t != s else None
            decay = draw((2, steps, kh * (3 if name == "prefill" else 1)), t, -1, 0) if "gated" in rule else None
            beta = draw((2, steps, 1 if name == "decode" else kh), t, 0, 1) if "delta" in rule else None
            inputs = [q, k, v, past, decay, beta]
            while inputs[-1] is None:
                inputs.pop()
            yield Case(f"{rule}_{name}", inputs, a, outputs=2, expected=linear_attention(a), **more)


@cases("CausalConvWithState")
def causal_convolution(op, version, types, draw):
    t = types["T"]

    def expected(activation):
        def compute(x, w, bias=None, past=None):
            k = w.shape[-1]
            whole = np.concatenate([np.zeros((*x.shape[:2], k - 1)) if past is None else past, x], -1)
            y = sum(whole[..., i : i + x.shape[-1]] * w[:, 0, i][:, None] for i in range(k))
            y = y if bias is None else y + bias[:, None]
            y = y / (1 + np.exp(-y)) if activation in ("silu", "swish") else y
            return y, whole[..., whole.shape[-1] - (k - 1) :]

        return compute

    for name, length, k, activation in (
        ("plain", 6, 3, None),
        ("silu", 4, 2, "silu"),
        ("swish", 1, 4, "swish"),
        ("short", 2, 5, "none"),
        ("pointwise", 3, 1, None),
    ):
        x, w, bias, past = draw((2, 3, length), t), draw((3, 1, k), t), draw((3,), t), draw((2, 3, k - 1), t)
        a = {"activation": activation} if activation else {}
        # The body rounds after the convolution, the bias and the activation.
        more = {"expected": expected(activation), "outputs": 2, "fixed": [1]} | MORE[t]
        yield Case(name, [x, w], a, **more)
        yield Case(f"{name}_state", [x, w, bias, past], a, **more)
        yield Case(f"{name}_state_alone", [x, w, None, past], a, **more)
