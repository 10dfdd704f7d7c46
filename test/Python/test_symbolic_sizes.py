"""Tensors of symbolic sizes that are padded and joined, whose parts are written in place, beside ONNX's reference."""

import itertools

import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from support.targets import TARGETS, has

RNG = np.random.default_rng(11)

# A branch of less resolution, joined with what came before it; each convolution pads what the one before it made.
IMAGE = """<ir_version: 9, opset_import: ["" : 18]>
image (float[n, 3, h, w] x, float[16, 3, 3, 3] a, float[16, 1, 3, 3] d, float[16, 16, 3, 3] b, float[24, 32, 1, 1] c)
      => (float[n, k, l, m] y) {
  x0 = Conv <pads = [1, 1, 1, 1]> (x, a)
  x1 = Relu (x0)
  x2 = Conv <pads = [1, 1, 1, 1], strides = [1, 1], group = 16> (x1, d)
  x3 = Relu (x2)
  x4 = Conv <pads = [2, 1, 0, 1]> (x3, b)
  x5 = Tanh (x4)
  x6 = Concat <axis = 1> (x3, x5)
  x7 = Conv (x6, c)
  y = Sigmoid (x7)
}"""

# Channels by themselves: windows of them, their mean and variance, the largest of a window.
PLANES = """<ir_version: 9, opset_import: ["" : 18]>
planes (float[n, 24, h, w] x, float[24, 1, 5, 5] d, float[24] a, float[24] b) => (float[n, 24, k, l] y) {
  x0 = Conv <pads = [2, 2, 2, 2], group = 24> (x, d)
  x1 = LeakyRelu (x0)
  x2 = InstanceNormalization (x1, a, b)
  x3 = Relu (x2)
  y = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]> (x3)
}"""

# Sizes that are computed from others, joined along them.
LINES = """<ir_version: 9, opset_import: ["" : 18]>
lines (float[n, 8] x) => (float[m, 8] y) {
  a = Exp (x)
  b = Concat <axis = 0> (a, x)
  c = Tanh (b)
  d = Abs (x)
  y = Concat <axis = 0> (c, d, a)
}"""

# Rows of pixels that become an image, a larger one, and one of the size of another.
PIXELS = """<ir_version: 10, opset_import: ["" : 19]>
pixels (float[1, p, 16] x, float[1, 1, h, w] like, float[1, 1, l, m] size,
        float[16, 32] a, float[32, 1, 3, 3] d, float[24, 8, 3, 3] b) => (float[1, 24, l, m] y) {
  x0 = MatMul (x, a)
  x1 = Transpose <perm = [0, 2, 1]> (x0)
  before = Constant <value_ints = [1, 32]> ()
  sides = Shape <start = 2> (like)
  shape = Concat <axis = 0> (before, sides)
  x2 = Reshape (x1, shape)
  x3 = Conv <pads = [1, 1, 1, 1], group = 32> (x2, d)
  x4 = DepthToSpace <blocksize = 2, mode = "CRD"> (x3)
  x5 = Conv <pads = [1, 1, 1, 1]> (x4, b)
  to = Shape <start = 2> (size)
  y = Resize <axes = [2, 3], mode = "linear"> (x5, "", "", to)
}"""

# Resized to the sizes of another image, which are its own, as a check says, or larger ones.
RESIZED = """<ir_version: 10, opset_import: ["" : 19]>
resized (float[1, p, 4] x, float[1, 1, h, w] like, float[1, 1, l, m] size)
      => (float[1, 4, h, w] a, float[1, 4, h, w] b, float[1, 4, l, m] c, float[1, 4, l, m] d) {
  x0 = Transpose <perm = [0, 2, 1]> (x)
  before = Constant <value_ints = [1, 4]> ()
  sides = Shape <start = 2> (like)
  shape = Concat <axis = 0> (before, sides)
  x1 = Reshape (x0, shape)
  a0 = Resize <axes = [2, 3], mode = "linear"> (x1, "", "", sides)
  a = Neg (a0)
  b = Resize <axes = [2, 3], mode = "nearest"> (x1, "", "", sides)
  to = Shape <start = 2> (size)
  c = Resize <axes = [2, 3], mode = "cubic"> (x1, "", "", to)
  d = Resize <axes = [2, 3], mode = "nearest"> (x1, "", "", to)
}"""

# What lies along a row, side by side or two elements apart, in elements of several widths.
RESTS = """<ir_version: 10, opset_import: ["" : 19]>
rests (float[n, 5, h, w] x, float[1, 5, 1, 1] a)
      => (float[n, 5, k, l] y, bool[n, 5, k, l] b, int8[n, 5, k, l] c, int64[n, 5, k, l] d) {
  x0 = MaxPool <kernel_shape = [2, 3], strides = [1, 2], pads = [0, 1, 1, 1]> (x)
  x1 = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x0)
  x2 = Mul (x1, a)
  y = Tanh (x2)
  b = Greater (x1, x0)
  x3 = Mul (x0, a)
  x4 = Round (x3)
  c = Cast <to = 3> (x4)
  d = Cast <to = 7> (x4)
}"""

# Rows of a known length, and columns.
ROWS = """<ir_version: 9, opset_import: ["" : 18]>
rows (float[n, m, 24] x, float[24] s, float[24] t) => (float[n, m, 24] y, float[n, m, 24] z, float[n, m, 24] w) {
  x0 = LayerNormalization (x, s, t)
  y = Softmax (x0)
  z = Softmax <axis = 1> (x)
  w = Softmax <axis = 0> (x)
}"""

# Columns of products, few of which are left behind the last whole tile.
COLUMNS = """<ir_version: 9, opset_import: ["" : 18]>
columns (float[1, 320, h, w] x, float[r, 24] l, float[24, m] z, float[130, 320, 1, 1] a, float[13, 24] b)
      => (float[1, 130, h, w] y, float[13, m] p, float[r, m] q, float[m] s) {
  x0 = Conv (x, a)
  y = Relu (x0)
  p = MatMul (b, z)
  q0 = MatMul (l, z)
  q = Abs (q0)
  s = ReduceMax <keepdims = 0> (z, zero)
}"""

# Experts of a number of tokens: matrices that are gathered, and broadcasts between sizes that turn out to be one.
EXPERTS = """<ir_version: 9, opset_import: ["" : 18]>
experts (int64[n] ids, float[n, 256] x, float[4, 256, 300] a, float[4, 300] b) => (float[n, 300] y) {
  axis = Constant <value_ints = [1]> ()
  weights = Gather (a, ids)
  rows = Unsqueeze (x, axis)
  products = MatMul (rows, weights)
  sums = Squeeze (products, axis)
  bias = Gather (b, ids)
  all = Add (sums, bias)
  y = Tanh (all)
}"""

VOLUME = """<ir_version: 9, opset_import: ["" : 18]>
volume (float[n, 8, d, h, w] x, float[16, 8, 3, 3, 3] a, float[32, 16, 3, 3, 3] b) => (float[n, 32, k, l, m] y) {
  x0 = Conv <pads = [1, 1, 1, 1, 1, 1]> (x, a)
  x1 = Relu (x0)
  y = Conv <pads = [0, 1, 1, 2, 1, 1]> (x1, b)
}"""

# Sizes of which each may be 1.
EITHER = """<ir_version: 9, opset_import: ["" : 18]>
either (float[n, a, b] x, float[n, c, d] y, bool[e, f] w, float[g] u)
      => (float[n, i, j] z, float[n, k, l] v, bool[e, o] p, float[n, q, g] r) {
  s = Add (x, y)
  t = Sigmoid (s)
  v = Mul (t, x)
  z = Where (w, v, y)
  h = Cast <to = 9> (u)
  p = Or (w, h)
  all = Max (y, u)
  r = Sub (all, u)
}"""

FITTING = """<ir_version: 9, opset_import: ["" : 18]>
fitting (float[n, 4] x, float[m, 4] y) => (float[k, l] z) {
  a = Exp (x)
  b = Abs (y)
  z = Concat <axis = 1> (a, b)
}"""

# Queries, and keys of another number, all but those that a mask hides; then of each token's own and those before it.
ATTENTION = """<ir_version: 9, opset_import: ["" : 18]>
attention (float[b, q, 64] x, float[b, k, 64] z, float[b, 1, 1, k] mask, float[64, 128] wq, float[64, 128] wk,
           float[64, 128] wv, float[128, 64] wo, float[64, 96] ws)
          => (float[b, q, 64] y, float[b, q, 32] v) {
  heads = Constant <value_ints = [0, 0, 4, 32]> ()
  three = Constant <value_ints = [0, 0, 3, 32]> ()
  rows = Constant <value_ints = [0, 0, 128]> ()
  q0 = MatMul (x, wq)
  q1 = Reshape (q0, heads)
  q2 = Transpose <perm = [0, 2, 1, 3]> (q1)
  k0 = MatMul (z, wk)
  k1 = Reshape (k0, heads)
  k2 = Transpose <perm = [0, 2, 3, 1]> (k1)
  v0 = MatMul (z, wv)
  v1 = Reshape (v0, heads)
  v2 = Transpose <perm = [0, 2, 1, 3]> (v1)
  s0 = MatMul (q2, k2)
  scale = Constant <value_float = 0.18> ()
  s1 = Mul (s0, scale)
  s2 = Add (s1, mask)
  s3 = Softmax <axis = -1> (s2)
  o0 = MatMul (s3, v2)
  o1 = Transpose <perm = [0, 2, 1, 3]> (o0)
  o2 = Reshape (o1, rows)
  y = MatMul (o2, wo)
  t0 = MatMul (x, ws)
  t1 = Reshape (t0, three)
  parts = Constant <value_ints = [1, 1, 1]> ()
  t2, t3, t4 = Split <axis = 2> (t1, parts)
  two = Constant <value_ints = [2]> ()
  a = Squeeze (t2, two)
  c = Squeeze (t3, two)
  d = Squeeze (t4, two)
  e = Transpose <perm = [0, 2, 1]> (c)
  u0 = MatMul (a, e)
  size = Shape (u0)
  first = Constant <value_ints = [1]> ()
  last = Constant <value_ints = [3]> ()
  square = Slice (size, first, last)
  ones = ConstantOfShape <value = float {1.0}> (square)
  seen = Trilu <upper = 0> (ones)
  none = Constant <value_float = -3e38> ()
  is_seen = Cast <to = 9> (seen)
  u1 = Where (is_seen, u0, none)
  u2 = Softmax <axis = -1> (u1)
  v = MatMul (u2, d)
}"""


def with_weights(text, inputs):
    """The model, whose inputs behind so many are constants."""
    model = onnx.parser.parse_model(text)
    for value in list(model.graph.input)[inputs:]:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        weights = (RNG.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        model.graph.input.remove(value)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weights, value.name))
    return model


def check(model, inputs, tolerance):
    expected = ReferenceEvaluator(model).run(None, inputs)
    return lambda compiled: [
        np.testing.assert_allclose(y, z, rtol=tolerance, atol=tolerance)
        for y, z in zip(compiled.run(inputs), expected, strict=True)
    ]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("precision, tolerance", [("f32", 2e-5), ("bf16", 2e-2)])
def test_images(threads, precision, tolerance):
    if precision == "bf16" and not has("avx512_bf16"):
        pytest.skip("this CPU has no AVX512-BF16")
    model = with_weights(IMAGE, 1)
    compiled = strata.compile(model, threads=threads, precision=precision)
    for shape in [(1, 3, 9, 11), (2, 3, 16, 16), (1, 3, 1, 1), (3, 3, 2, 33), (1, 3, 56, 40)]:
        x = RNG.standard_normal(shape).astype(np.float32)
        check(model, {"x": x}, tolerance)(compiled)


@pytest.mark.parametrize("threads", [1, 2])
def test_pixels(threads):
    model = with_weights(PIXELS, 3)
    compiled = strata.compile(model, threads=threads)
    sizes = [((4, 5), (9, 17)), ((1, 1), (2, 3)), ((7, 16), (14, 32)), ((9, 3), (5, 40)), ((2, 40), (4, 7))]
    for image, result in sizes:
        x = RNG.standard_normal((1, image[0] * image[1], 16)).astype(np.float32)
        like, size = (np.zeros((1, 1, *sides), np.float32) for sides in (image, result))
        check(model, {"x": x, "like": like, "size": size}, 2e-5)(compiled)


def test_resized():
    model = onnx.parser.parse_model(RESIZED)
    compiled = strata.compile(model)
    for image, result in [((4, 5), (4, 5)), ((4, 5), (9, 17)), ((1, 1), (1, 1)), ((7, 16), (7, 8)), ((9, 3), (5, 40))]:
        x = RNG.standard_normal((1, image[0] * image[1], 4)).astype(np.float32)
        like, size = (np.zeros((1, 1, *sides), np.float32) for sides in (image, result))
        check(model, {"x": x, "like": like, "size": size}, 2e-5)(compiled)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("threads", [1, 2])
def test_sizes_that_may_be_one(target, threads):
    model = onnx.parser.parse_model(EITHER)
    compiled = strata.compile(model, target=target, threads=threads)
    for rows, columns in [(1, 1), (1, 5), (3, 1), (4, 8), (7, 16), (2, 37), (70, 301)]:
        for kept in itertools.product([False, True], repeat=6):
            a, b, c, d, e, f = (size if keeps else 1 for size, keeps in zip([rows, columns] * 3, kept, strict=True))
            x, y = RNG.standard_normal((2, a, b)), RNG.standard_normal((2, c, d))
            inputs = {
                "x": x.astype(np.float32),
                "y": y.astype(np.float32),
                "w": RNG.integers(2, size=(e, f)).astype(bool),
                "u": RNG.integers(2, size=columns).astype(np.float32),
            }
            check(model, inputs, 2e-6)(compiled)


@pytest.mark.parametrize("target", TARGETS)
def test_rests_of_rows(target):
    model = with_weights(RESTS, 1)
    compiled = strata.compile(model, target=target)
    for width in [*range(1, 36), 64, 65, 71]:
        x = 9 * RNG.standard_normal((2, 5, 1 + width % 6, width)).astype(np.float32)
        check(model, {"x": x}, 1e-6)(compiled)


@pytest.mark.parametrize("threads", [1, 2])
def test_numbers_of_rows(threads):
    model = with_weights(ROWS, 1)
    compiled = strata.compile(model, threads=threads)
    for n, m in [*((1, m) for m in range(20)), (3, 33), (2, 64), (0, 5), (40, 1), (16, 17)]:
        check(model, {"x": RNG.standard_normal((n, m, 24)).astype(np.float32)}, 1e-5)(compiled)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("target", TARGETS)
def test_planes(target, threads):
    model = with_weights(PLANES, 1)
    compiled = strata.compile(model, target=target, threads=threads)
    for shape in [(1, 24, 9, 11), (3, 24, 7, 7), (2, 24, 16, 48), (1, 24, 2, 130), (1, 24, 70, 1), (0, 24, 5, 5)]:
        check(model, {"x": RNG.standard_normal(shape).astype(np.float32)}, 1e-4)(compiled)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("target", TARGETS)
def test_columns(target, threads):
    model = with_weights(COLUMNS, 3)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0]), "zero"))
    compiled = strata.compile(model, target=target, threads=threads)
    for columns in [*range(1, 36, 2), 47, 48, 49, 63, 64, 65, 100, 129]:
        shapes = {"x": (1, 320, 1 + columns % 3, columns), "l": (1 + columns % 8, 24), "z": (24, columns)}
        inputs = {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        check(model, inputs, 2e-5)(compiled)


@pytest.mark.parametrize("threads", [1, 2])
def test_experts(threads):
    model = with_weights(EXPERTS, 2)
    compiled = strata.compile(model, threads=threads)
    for tokens in (0, 1, 2, 7):
        ids, x = RNG.integers(-4, 4, size=tokens), RNG.standard_normal((tokens, 256)).astype(np.float32)
        check(model, {"ids": ids, "x": x}, 2e-5)(compiled)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("precision, tolerance", [("f32", 2e-5), ("bf16", 2e-2)])
def test_attention(threads, precision, tolerance):
    if precision == "bf16" and not has("avx512_bf16"):
        pytest.skip("this CPU has no AVX512-BF16")
    model = with_weights(ATTENTION, 3)
    compiled = strata.compile(model, threads=threads, precision=precision)
    for b, q, k in [(1, 1, 1), (2, 3, 31), (1, 33, 32), (1, 64, 33), (3, 65, 70), (1, 150, 129), (2, 130, 2)]:
        mask = np.where(RNG.integers(4, size=(b, 1, 1, k)) == 0, -np.inf, RNG.standard_normal((b, 1, 1, k)))
        mask[..., 0] = 0  # at least one is seen
        inputs = {"x": 0.5 * RNG.standard_normal((b, q, 64)), "z": RNG.standard_normal((b, k, 64)), "mask": mask}
        inputs = {name: value.astype(np.float32) for name, value in inputs.items()}
        check(model, inputs, tolerance)(compiled)


def test_volumes():
    model = with_weights(VOLUME, 1)
    compiled = strata.compile(model)
    for shape in [(1, 8, 8, 16, 16), (2, 8, 2, 9, 31), (1, 8, 5, 1, 1), (1, 8, 4, 24, 7)]:
        check(model, {"x": RNG.standard_normal(shape).astype(np.float32)}, 1e-4)(compiled)


@pytest.mark.parametrize("n", [0, 1, 7, 300])
def test_lines(n):
    model = onnx.parser.parse_model(LINES)
    check(model, {"x": RNG.standard_normal((n, 8)).astype(np.float32)}, 1e-6)(strata.compile(model))


def test_parts_that_do_not_fit():
    compiled = strata.compile(onnx.parser.parse_model(FITTING))
    x = RNG.standard_normal((3, 4)).astype(np.float32)
    (z,) = compiled.run({"x": x, "y": x})
    np.testing.assert_allclose(z, np.concatenate([np.exp(x), np.abs(x)], 1), rtol=1e-6)
    # What is written before the check must not be written beyond the end: far too much would be.
    with pytest.raises(strata.RunError, match="the inputs' sizes differ in dimension 0"):
        compiled.run({"x": x, "y": np.ones((1 << 20, 4), np.float32)})


def test_names_that_do_not_hold():
    """What is called alike has to be as long where anything relies on it; results may be called anything."""
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size, 4])
              for name, size in (("a", "n"), ("b", "m"), ("c", "t"))]  # fmt: skip
    nodes = [helper.make_node("Concat", ["a", "b"], ["joined"], axis=0, name="join"),
             helper.make_node("Add", ["joined", "c"], ["sum"], name="add")]  # fmt: skip
    joined = helper.make_tensor_value_info("joined", TensorProto.FLOAT, ["t", 4])
    outputs = [joined, helper.make_tensor_value_info("sum", TensorProto.FLOAT, ["n", 4])]
    graph = helper.make_graph(nodes, "named", inputs, outputs)
    compiled = strata.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))
    a, b, c = (np.arange(4 * n, dtype=np.float32).reshape(n, 4) for n in (2, 3, 5))
    joined, total = compiled.run({"a": a, "b": b, "c": c})
    np.testing.assert_array_equal(total, np.concatenate([a, b]) + c)
    for rows in (1, 4, 6):
        with pytest.raises(strata.RunError, match="join: the model calls dimension 0 of a value 't'"):
            compiled.run({"a": a, "b": b, "c": np.ones((rows, 4), np.float32)})


def test_names_that_do_not_hold_of_one_value_and_inside_of_a_branch():
    """A square that is none, and what a branch names as the model does outside of it."""
    square = helper.make_tensor_value_info("square", TensorProto.FLOAT, ["k", "k"])
    inner = helper.make_graph(
        [helper.make_node("Concat", ["a", "a"], ["twice"], axis=0, name="twice"),
         helper.make_node("Add", ["twice", "c"], ["then_y"])], "then", [],
        [helper.make_tensor_value_info("then_y", TensorProto.FLOAT, None)],
        value_info=[helper.make_tensor_value_info("twice", TensorProto.FLOAT, ["t", 4])])  # fmt: skip
    other = helper.make_graph([helper.make_node("Identity", ["c"], ["else_y"])], "else", [],
                              [helper.make_tensor_value_info("else_y", TensorProto.FLOAT, None)])  # fmt: skip
    nodes = [helper.make_node("Concat", ["a", "a"], ["rows"], axis=0), helper.make_node("Concat", ["b", "b"], ["columns"], axis=1),
             helper.make_node("MatMul", ["rows", "columns"], ["square"], name="product"),
             helper.make_node("Transpose", ["square"], ["turned"]),
             helper.make_node("Add", ["square", "turned"], ["sum"]),
             helper.make_node("If", ["chosen"], ["y"], then_branch=inner, else_branch=other)]  # fmt: skip
    inputs = [helper.make_tensor_value_info("a", TensorProto.FLOAT, ["n", 4]),
              helper.make_tensor_value_info("b", TensorProto.FLOAT, [4, "m"]),
              helper.make_tensor_value_info("c", TensorProto.FLOAT, ["t", 4]),
              helper.make_tensor_value_info("chosen", TensorProto.BOOL, [])]  # fmt: skip
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("sum", "y")]
    graph = helper.make_graph(nodes, "named", inputs, outputs, value_info=[square])
    compiled = strata.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))

    def run(columns, rows, chosen):
        feeds = {"a": np.ones((2, 4), np.float32), "b": np.ones((4, columns), np.float32),
                 "c": np.ones((rows, 4), np.float32), "chosen": np.array(chosen)}  # fmt: skip
        return compiled.run(feeds)

    for chosen, rows, value in ((True, 4, 2), (False, 3, 1)):
        total, y = run(2, rows, chosen)
        np.testing.assert_array_equal(total, np.full((4, 4), 8, np.float32))
        np.testing.assert_array_equal(y, np.full((rows, 4), value, np.float32))
    with pytest.raises(strata.RunError, match="product: the model calls dimension"):
        run(3, 4, True)
    with pytest.raises(strata.RunError, match="the model calls dimension 0 of a value 't'"):
        run(2, 3, True)
