"""The least int64, which MLIR takes for an unknown size, where sizes and bounds are computed."""

import numpy as np
import onnx.parser
import pytest
import strata

LEAST = -(2**63)


def compile(body, output):
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21]> g (float[2, 3] x) => ({output} y) {{ s = Constant <value_ints = [{LEAST}, 3]> () {body} }}')
    return strata.compile(model, threads=1)


@pytest.mark.parametrize("body, message", [
    ("y = Reshape (x, s)", "the shape has a negative size"),
    ("y = ConstantOfShape (s)", "size of dimension 0 is negative"),
    ("y = Expand (x, s)", "does not broadcast"),
    ("y = Gather (x, s)", "an index is out of range"),
])
def test_no_size_and_no_index(body, message):
    with pytest.raises(strata.RunError, match=message):
        compile(body, "float[a, b]").run([np.zeros((2, 3), np.float32)])


def test_bounds_and_values():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    bounds = f"""b = Constant <value_ints = [-1]> () e = Constant <value_ints = [{LEAST}]> () a = Constant <value_ints = [1]> ()
                 y = Slice (x, b, e, a, b)"""
    np.testing.assert_array_equal(compile(bounds, "float[a, b]").run([x])[0], x[:, ::-1])
    np.testing.assert_array_equal(compile("n = Neg (s) y = Sub (n, s)", "int64[a]").run([x])[0], [0, -6])


def test_axis_of_tile_1():
    model = onnx.parser.parse_model(
        '<ir_version: 7, opset_import: ["" : 5]> g (float[2, 3] x, float[1] tiles, float[1] axis) => (float[N, M] y)'
        "{ y = Tile (x, tiles, axis) }")
    compiled = strata.compile(model, threads=1)
    x, tiles = np.ones((2, 3), np.float32), np.float32([2])
    assert compiled.run([x, tiles, np.float32([1])])[0].shape == (2, 6)
    with pytest.raises(strata.RunError, match="out of range"):
        compiled.run([x, tiles, np.float32([2])])
