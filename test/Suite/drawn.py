"""Cases whose outputs are drawn at random: no other generator gives ONNX's expected outputs, so what the operator's
definition says of every output is checked, and the shares that it promises over many runs."""

import numpy as np

RUNS = 400


def bernoulli(inputs, outputs, body=False):
    """Zeros and ones; the ones as often as the input says."""
    (p,), drawn = inputs, np.stack([output for (output,) in outputs]).astype(np.float64)
    if not np.isin(drawn, (0, 1)).all():
        return "an element is neither 0 nor 1"
    return share(drawn, np.abs(body - p.astype(np.float64)))


def bernoulli_body(inputs, outputs):
    """ONNX's function body of Bernoulli is Greater(random, p): a one has the probability 1 - p, against the operator's
    text. The cases that contain the body are what they say."""
    return bernoulli(inputs, outputs, body=True)


def dropout(inputs, outputs):
    """Zero or scaled, as the mask says; dropped as often as the ratio says."""
    data, ratio, _ = inputs
    kept = np.stack([output[0] for output in outputs]) != 0
    scaled = data / (1 - ratio)
    for run, (output, *mask) in enumerate(outputs):
        if mask and not np.array_equal(mask[0], kept[run]):
            return f"the mask of run {run} is not where its output is kept"
        if not np.allclose(output, np.where(kept[run], scaled, 0), rtol=1e-5, atol=0):
            return f"an element of run {run} is neither 0 nor scaled by 1 / (1 - ratio)"
    return share(kept.astype(np.float64), np.full(data.shape, 1 - ratio, np.float64))


def share(drawn, p):
    """None if the means over the runs are p, within five standard deviations, for each element and for all of them."""
    for mean, expected, count in ((drawn.mean(axis=0), p, len(drawn)), (drawn.mean(), p.mean(), drawn.size)):
        deviation = np.sqrt((p * (1 - p) if np.ndim(mean) else (p * (1 - p)).mean()) / count)
        if (np.abs(mean - expected) > 5 * deviation).any():
            return f"drawn with the shares {mean}, not {expected}"
    if len(np.unique(drawn.reshape(len(drawn), -1), axis=0)) < 2:
        return "every run draws the same"
    return None


CHECKS = {"bernoulli": bernoulli, "bernoulli_body": bernoulli_body, "dropout": dropout}


def difference(check, run, inputs, expected):
    """What is wrong with the outputs of `run`, in words, or None."""
    outputs = [run(inputs) for _ in range(RUNS)]
    for output in outputs:
        if len(output) != len(expected):
            return f"expected {len(expected)} outputs, got {len(output)}"
        for want, got in zip(expected, output):
            if (got.shape, got.dtype) != (want.shape, want.dtype):
                return f"expected {want.dtype}{list(want.shape)}, got {got.dtype}{list(got.shape)}"
    return CHECKS[check](inputs, outputs)
