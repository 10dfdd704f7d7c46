"""Sliding windows, convolutions and pools in NumPy, as the operators' specifications say them."""

import numpy as np
from Conformance import schemas


def allowed(op, version, attributes, domain="ai.onnx"):
    """Whether the version has all of these attributes."""
    return set(attributes) <= set(schemas.live()[domain, op, version].attributes)


def axis_windows(size, kernel, stride, dilation, low, high, auto_pad="NOTSET", ceil=False):
    """(positions [windows, kernel] relative to the data, the end of the declared padding) along one dimension."""
    extent = (kernel - 1) * dilation + 1
    if auto_pad.startswith("SAME"):
        count = -(-size // stride)
        total = max((count - 1) * stride + extent - size, 0)
        low = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
        high = total - low
    else:
        if auto_pad == "VALID":
            low = high = 0
        room = size + low + high - extent
        count = (-(-room // stride) if ceil else room // stride) + 1
        if ceil and (count - 1) * stride >= size + low:  # the last window would start behind the data
            count -= 1
    starts = np.arange(max(count, 0)) * stride - low
    return starts[:, None] + np.arange(kernel) * dilation, size + high


def patches(x, kernel, a, fill):
    """x [N, C, *spatial] as ([N, C, windows..., kernel...], where it is data, where it is data or declared padding)."""
    rank = x.ndim - 2
    pads = a.get("pads", [0] * 2 * rank)
    inside, declared = np.ones((), bool), np.ones((), bool)
    for i in range(rank):
        at, end = axis_windows(
            x.shape[2 + 2 * i], kernel[i], a.get("strides", [1] * rank)[i], a.get("dilations", [1] * rank)[i],
            pads[i], pads[rank + i], a.get("auto_pad", "NOTSET"), bool(a.get("ceil_mode")),
        )  # fmt: skip
        axis, size = 2 + 2 * i, x.shape[2 + 2 * i]
        within = (at >= 0) & (at < size)
        taken = np.take(x, np.clip(at, 0, size - 1), axis=axis)
        x = np.where(within.reshape(at.shape + (1,) * (taken.ndim - axis - 2)), taken, x.dtype.type(fill))
        inside = inside[..., None, None] & within
        declared = declared[..., None, None] & (at < end)
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    return x.transpose(0, 1, *(2 + i for i in order)), inside.transpose(order), declared.transpose(order)


def kernel_axes(rank):
    return tuple(range(-rank, 0))


def convolution(x, w, bias=None, **a):
    """In the type of the operands."""
    group, kernel = a.get("group", 1), w.shape[2:]
    windows = patches(x, kernel, a, 0)[0]
    n, out = x.shape[0], windows.shape[2 : 2 + len(kernel)]
    elements, positions = int(np.prod(kernel)), int(np.prod(out))
    windows = windows.reshape(n, group, x.shape[1] // group, positions, elements)
    filters = w.reshape(group, w.shape[0] // group, w.shape[1], elements)
    y = np.einsum("ngcok,gmck->ngmo", windows, filters).reshape(n, w.shape[0], *out)
    return y if bias is None else y + bias.reshape(-1, *[1] * len(kernel))


def transposed_padding(sizes, kernel, a):
    """([output size], [elements cut off in front]) of ConvTranspose."""
    rank = len(kernel)
    strides, dilations = a.get("strides", [1] * rank), a.get("dilations", [1] * rank)
    extra, pads = a.get("output_padding", [0] * rank), a.get("pads", [0] * 2 * rank)
    auto_pad, wanted = a.get("auto_pad", "NOTSET"), a.get("output_shape")
    out, low = [], []
    for i in range(rank):
        full = strides[i] * (sizes[i] - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1
        size = wanted[i] if wanted else sizes[i] * strides[i] if auto_pad.startswith("SAME") else None
        if size is None:
            begin, end = (0, 0) if auto_pad == "VALID" else (pads[i], pads[rank + i])
            out.append(full - begin - end)
            low.append(begin)
            continue
        total = full - size
        out.append(size)
        # The text of version 1 splits an odd number the other way round; no runtime ever did, and later texts do not.
        low.append(total // 2 if auto_pad == "SAME_UPPER" else total - total // 2)
    return out, low


def transposed_convolution(x, w, bias=None, **a):
    rank, group = x.ndim - 2, a.get("group", 1)
    kernel = w.shape[2:]
    out, low = transposed_padding(x.shape[2:], kernel, a)
    strides, dilations = a.get("strides", [1] * rank), a.get("dilations", [1] * rank)
    n, channels, outputs = x.shape[0], x.shape[1] // group, w.shape[1]
    y = np.zeros((n, group * outputs, *out), x.dtype)
    for place in np.ndindex(*x.shape[2:]):
        for k in np.ndindex(*kernel):
            at = tuple(p * s + e * d - b for p, s, e, d, b in zip(place, strides, k, dilations, low))
            if not all(0 <= p < size for p, size in zip(at, out)):
                continue
            for g in range(group):
                own = slice(g * channels, (g + 1) * channels)
                product = x[(slice(None), own, *place)] @ w[(own, slice(None), *k)]
                y[(slice(None), slice(g * outputs, (g + 1) * outputs), *at)] += product
    return y if bias is None else y + bias.reshape(-1, *[1] * rank)


def average_pool(x, **a):
    rank = x.ndim - 2
    windows, inside, declared = patches(x, a["kernel_shape"], a, 0)
    counted = declared if a.get("count_include_pad") else inside
    return windows.sum(axis=kernel_axes(rank)) / counted.sum(axis=kernel_axes(rank))


def lp_pool(x, **a):
    rank, p = x.ndim - 2, a.get("p", 2)
    windows = patches(x, a.get("kernel_shape", x.shape[2:]), a, 0)[0]
    return (np.abs(windows) ** p).sum(axis=kernel_axes(rank)) ** (1 / p)


def max_pool(x, **a):
    """(maxima, their positions in the whole of x)"""
    rank = x.ndim - 2
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    windows, inside, _ = patches(x, a["kernel_shape"], a, lowest)
    place = np.arange(int(np.prod(x.shape[2:]))).reshape(x.shape[2:])
    if a.get("storage_order"):
        place = np.arange(place.size).reshape(x.shape[:1:-1]).T
    place = place + place.size * np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * rank)
    where = patches(place, a["kernel_shape"], a, -1)[0]
    inside = np.broadcast_to(inside, windows.shape)
    flat = (*windows.shape[: 2 + rank], int(np.prod(a["kernel_shape"])))
    windows, where, inside = (values.reshape(flat) for values in (windows, where, inside))
    maxima = windows.max(-1)
    # The first maximum in the data; padding is never one.
    first = (inside & (windows == maxima[..., None])).argmax(-1)
    return maxima, np.take_along_axis(where, first[..., None], -1)[..., 0]
