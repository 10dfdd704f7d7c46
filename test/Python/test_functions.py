"""What function bodies need of the compiler: values of which only the run tells the rank, and AffineGrid beside its body."""

import numpy as np
import onnx.parser
import pytest
import strata

TWO_RANKS = """<ir_version: 10, opset_import: ["" : 22]>
g (bool c, float[3] x, float[n, 3] y) => (float[m, 3] r, float s) {
  v = If (c) <then_branch = t () => (float[3] p) { p = Neg (x) },
              else_branch = e () => (float[k, 3] q) { q = Exp (y) }>
  w = Add (v, x)
  r = Mul (w, y)
  s = ReduceSum <keepdims = 0> (w)
}"""


@pytest.mark.parametrize("taken", [True, False])
def test_branches_of_two_ranks(taken):
    model = onnx.parser.parse_model(TWO_RANKS)
    # The branches' outputs have no declared shape in common.
    x, y = np.float32([1, -2, 3]), np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    r, s = strata.compile(model, threads=1).run({"c": np.array(taken), "x": x, "y": y})
    w = (-x if taken else np.exp(y)) + x
    np.testing.assert_allclose(r, w * y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(s, w.sum(), rtol=1e-5, atol=1e-5)


def grid(theta, size, align_corners):
    """By the specification's formula: positions from -1 to 1, x first, and 1 for the translation."""
    axes = []
    for n in size[2:]:
        i = np.arange(n)
        axes.append(-1 + 2 * i / max(n - 1, 1) if align_corners else -1 + (2 * i + 1) / n)
    positions = np.stack([*reversed(np.meshgrid(*axes, indexing="ij")), np.ones(size[2:])], -1)
    return np.einsum("nij,...j->n...i", theta, positions)


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize("size", [(1, 1, 4, 5), (2, 3, 1, 4), (1, 2, 3, 4, 5), (2, 1, 1, 2, 1), (0, 1, 4, 5)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_affine_grid(size, align_corners, dtype):
    rank = len(size) - 2
    name = {np.float16: "float16", np.float32: "float", np.float64: "double"}[dtype]
    dims = ", ".join("abcde"[:rank + 1])
    for given in ("input", "constant"):
        constant = f"<int64[{rank + 2}] size = {{{', '.join(map(str, size))}}}>" if given == "constant" else ""
        model = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 20]>
            g ({name}[N, {rank}, {rank + 1}] theta{f', int64[{rank + 2}] size' if not constant else ''})
              => ({name}[N, {dims[3:]}, {rank}] grid) {constant}
            {{ grid = AffineGrid <align_corners = {align_corners}> (theta, size) }}""")
        theta = np.random.default_rng(1).normal(size=(size[0], rank, rank + 1)).astype(dtype)
        inputs = {"theta": theta} | ({} if constant else {"size": np.array(size)})
        (result,) = strata.compile(model, threads=1).run(inputs)
        assert result.dtype == dtype
        tolerance = {np.float16: 2e-3, np.float32: 1e-5, np.float64: 1e-13}[dtype]
        np.testing.assert_allclose(result, grid(theta.astype(np.float64), size, align_corners), rtol=tolerance, atol=tolerance)
