"""Regions of images: pools over them, and which boxes to keep."""

from functools import partial

import numpy as np
from Conformance.table import Case, array, cases


def max_roi_pool(x, rois, pooled_shape, spatial_scale=1.0):
    """Corners are rounded and both inside; a region's bins may overlap by one, and an empty bin gives 0."""
    result = np.zeros((len(rois), x.shape[1], *pooled_shape), x.dtype)
    for n, (batch, *corners) in enumerate(rois):
        left, top, right, bottom = (int(np.floor(v * spatial_scale + 0.5)) for v in corners)
        size = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for place in np.ndindex(*pooled_shape):
            spans = []
            for p, length, start, bins, limit in zip(place, size, (top, left), pooled_shape, x.shape[2:]):
                low, high = np.floor(p * length / bins), np.ceil((p + 1) * length / bins)
                spans.append(slice(*(int(np.clip(v + start, 0, limit)) for v in (low, high))))
            window = x[(int(batch), slice(None), *spans)]
            if window.size:
                result[(n, slice(None), *place)] = window.max(axis=(1, 2))
    return result


@cases("MaxRoiPool")
def pooled_regions(op, version, types, draw):
    t = types["T"]
    x = draw((2, 3, 6, 8), t)
    rois = array([[0, 0, 0, 7, 5], [1, 2, 1, 5, 4], [0, 6, 4, 6, 4], [1, 3, 2, 12, 9], [1, 5, 4, 2, 1]], t)
    for name, regions, a in (
        ("plain", rois, {"pooled_shape": [2, 3]}),
        ("one", rois, {"pooled_shape": [1, 1]}),
        ("fine", rois, {"pooled_shape": [7, 9]}),
        ("scaled", array(rois.astype(np.float64) * [1, 2, 2, 2, 2], t), {"pooled_shape": [2, 2], "spatial_scale": 0.5}),
        ("none", rois[:0], {"pooled_shape": [2, 2]}),
    ):
        yield Case(name, [x, regions], a, expected=lambda x, r, a=a: max_roi_pool(x, r, **a))


@cases("RoiAlign")
def aligned_regions(op, version, types, draw):
    t = types["T1"]
    x, batch = draw((2, 3, 7, 9), t), np.array([1, 0, 1])
    rois = array([[1, 0.5, 7, 5.5], [2.25, 2, 4, 3.75], [-1, -2, 10, 9]], t)
    for name, a in (
        ("plain", {"output_height": 2, "output_width": 3, "sampling_ratio": 2}),
        ("adaptive", {"output_height": 2, "output_width": 2}),
        ("scaled", {"output_height": 3, "output_width": 2, "spatial_scale": 0.5, "sampling_ratio": 1}),
        ("max", {"output_height": 2, "output_width": 3, "sampling_ratio": 2, "mode": "max"}),
        ("one", {}),
    ):
        pixel = "coordinate_transformation_mode"
        for suffix, mode in (("", None),) if version < 16 else (("", None), ("_output_half", "output_half_pixel")):
            given = a | ({pixel: mode} if mode else {})
            newest = {"mode": "avg", pixel: "output_half_pixel" if version < 16 else mode or "half_pixel"} | a
            yield Case(f"{name}{suffix}", [x, rois, batch], given, like=([x, rois, batch], newest))
    yield Case("none", [x, rois[:0], batch[:0]], {"output_height": 2}, expected=lambda *_: np.zeros((0, 3, 2, 1)))


def suppressed(boxes, scores, limit=0, overlap=0.0, least=None, center=0):
    """The boxes of each batch and class, best first, but those that overlap a better one too much."""
    limit, overlap = int(np.reshape(limit, ())), float(np.reshape(0 if overlap is None else overlap, ()))
    chosen = []
    for n, c in np.ndindex(*scores.shape[:2]):
        corners = []
        for box in boxes[n].astype(np.float64):
            if center:
                x, y, w, h = box
                corners.append((y - h / 2, x - w / 2, y + h / 2, x + w / 2))
            else:
                corners.append((*np.minimum(box[:2], box[2:]), *np.maximum(box[:2], box[2:])))
        kept = []
        for i in np.argsort(-scores[n, c], kind="stable"):
            if least is not None and not scores[n, c, i] > np.reshape(least, ()):
                continue
            if len(kept) == limit:
                break

            def ratio(j, i=i, corners=corners):
                (y0, x0, y1, x1), (v0, u0, v1, u1) = corners[i], corners[j]
                common = max(0, min(y1, v1) - max(y0, v0)) * max(0, min(x1, u1) - max(x0, u0))
                whole = (y1 - y0) * (x1 - x0) + (v1 - v0) * (u1 - u0) - common
                return common / whole if whole > 0 else 0

            if all(ratio(j) <= overlap for j in kept):
                kept.append(i)
        chosen += [(n, c, i) for i in kept]
    return np.array(chosen, np.int64).reshape(-1, 3)


@cases("NonMaxSuppression")
def suppression(op, version, types, draw):
    corners = draw((2, 9, 2), "float", 0, 5)
    boxes = np.concatenate([corners, corners + draw((2, 9, 2), "float", 1, 4)], -1).astype(np.float32)
    scores = draw((2, 3, 9), "float", 0, 1)

    def number(v):
        return np.array(v, np.float32)

    turned = boxes[..., [2, 1, 0, 3]].copy()
    for name, inputs, a in (
        ("plain", [boxes, scores, np.array([4]), number([0.3]), number([0.2])], {}),
        ("scalars", [boxes, scores, np.array(3), number(0.5), number(0.0)], {}),
        ("any_diagonal", [turned, scores, np.array([4]), number([0.3])], {}),
        ("centres", [boxes, scores, np.array([9]), number([0.4]), number([0.3])], {"center_point_box": 1}),
        ("more_than_there_are", [boxes, scores, np.array([100]), number([1.0])], {}),
        ("none_wanted", [boxes, scores], {}),
        ("zero_wanted", [boxes, scores, np.array([0]), number([0.5])], {}),
        ("no_overlap_allowed", [boxes, scores, np.array([9])], {}),
        ("threshold_alone", [boxes, scores, np.array([9]), None, number([0.5])], {}),
        ("all_below", [boxes, scores, np.array([9]), number([0.5]), number([2.0])], {}),
        ("negative_scores", [boxes, scores - 2, np.array([5]), number([0.5])], {}),
        ("no_boxes", [boxes[:, :0], scores[..., :0], np.array([5]), number([0.5])], {}),
        ("batch0", [boxes[:0], scores[:0], np.array([5]), number([0.5])], {}),
        ("ties", [boxes, np.round(scores * 3) / 3, np.array([5]), number([0.5])], {}),
        ("same", [np.repeat(boxes[:, :1], 9, 1), scores, np.array([5]), number([0.9])], {}),
    ):  # fmt: skip
        constants, center = range(2, len(inputs)), a.get("center_point_box", 0)
        expected = partial(suppressed, center=center)
        yield Case(name, inputs, a, constants=constants, wide=False, expected=expected)
