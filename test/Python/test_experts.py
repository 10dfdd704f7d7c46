"""Products of gathered matrices, as mixtures of experts have them, which are read where they lie."""

import numpy as np
import pytest
import strata
from onnx import TensorProto, helper, numpy_helper

EXPERTS, WIDTH, INNER = 5, 96, 1500  # matrices of more than a quarter of a core's cache


def model(equation, gather, ids, x, weights, given):
    """One product of `x` with the matrices that `ids` choose of `weights`."""
    tensors = {"w": weights} if not given else {}
    inputs = {"ids": ids, "x": x} | ({"w": weights} if given else {})
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}
    graph = helper.make_graph(
        [gather, helper.make_node("Einsum", ["x", "g"], ["y"], equation=equation)],
        "g",
        [helper.make_tensor_value_info(name, kinds[array.dtype], array.shape) for name, array in inputs.items()],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(array, name) for name, array in tensors.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), inputs


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


CASES = [
    # One matrix and several, one row and several; indices from behind; a token's experts.
    ("ik,ink->in", [3]),
    ("ik,ink->in", [4, 0, -1, 4]),
    ("imk,ink->imn", [1, -5]),
    ("imk,ikn->imn", [1, 3, 2]),
    ("tk,tink->tin", [[0, 4], [2, -2], [1, 1]]),
    ("imk,ink->min", [0, 1, 2]),
]


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("kind", ["Gather", "GatherND"])
@pytest.mark.parametrize("equation, chosen", CASES)
def test_products_of_gathered_matrices(equation, chosen, kind, given):
    ids = np.array(chosen)
    left, right = equation.split("->")[0].split(",")
    weights = values(EXPERTS, *({"n": INNER, "k": WIDTH}[letter] for letter in right[-2:]))
    sizes = dict(zip(right, (*ids.shape, *weights.shape[1:]))) | {"m": 7}
    x = values(*(sizes[letter] for letter in left), seed=1)
    if kind == "Gather":
        gather = helper.make_node("Gather", ["w", "ids"], ["g"], axis=0)
    else:
        gather, ids = helper.make_node("GatherND", ["w", "ids"], ["g"]), ids[..., None]
    proto, inputs = model(equation, gather, ids, x, weights, given)
    want = np.einsum(equation, x.astype(np.float64), weights.astype(np.float64)[np.array(chosen)])
    for threads in (1, 2):
        [y] = strata.compile(proto, threads=threads).run(inputs)
        np.testing.assert_allclose(y, want, rtol=0, atol=1e-5 * np.abs(want).max())


def test_a_matrix_that_there_is_none_of():
    ids, x = np.array([1, EXPERTS]), values(2, WIDTH)
    gather = helper.make_node("Gather", ["w", "ids"], ["g"], axis=0, name="experts")
    proto, inputs = model("ik,ink->in", gather, ids, x, values(EXPERTS, INNER, WIDTH), False)
    with pytest.raises(RuntimeError, match="experts.*index"):
        strata.compile(proto).run(inputs)


def test_any_number_of_gathered_matrices():
    gather = helper.make_node("Gather", ["w", "ids"], ["g"], axis=0)
    weights = values(EXPERTS, INNER, WIDTH)
    proto, _ = model("ik,ink->in", gather, np.zeros(2, np.int64), values(2, WIDTH), weights, False)
    for value in proto.graph.input:
        value.type.tensor_type.shape.dim[0].dim_param = "tokens"
    compiled = strata.compile(proto)
    for count in (0, 1, 6):
        ids, x = np.arange(count) % EXPERTS, values(count, WIDTH)
        [y] = compiled.run({"ids": ids, "x": x})
        np.testing.assert_allclose(y, np.einsum("ik,ink->in", x, weights[ids]), rtol=0, atol=1e-4)
