"""MatMul, Gemm and Einsum."""

import numpy as np
from Conformance.table import Case, cases, is_float

TOLERANCE = {"double": 1e-12, "float": 1e-5, "float16": 2**-6, "bfloat16": 2**-3}


def loose(element):
    """Sums of products: an absolute tolerance for what cancels."""
    return {"atol": TOLERANCE[element]} if element in TOLERANCE else {}


@cases("MatMul")
def matmul(op, version, types, draw):
    element = types["T"]
    for name, (a, b) in {
        "matrices": ((3, 4), (4, 5)), "vectors": ((4,), (4,)), "left_vector": ((4,), (4, 3)),
        "right_vector": ((3, 4), (4,)), "batch": ((2, 3, 4), (2, 4, 2)), "broadcast": ((2, 1, 3, 4), (3, 4, 2)),
        "right_batch": ((3, 4), (2, 4, 2)), "vector_batch": ((4,), (2, 4, 3)), "batch_vector": ((2, 3, 4), (4,)),
        "no_sum": ((3, 0), (0, 2)), "empty": ((0, 4), (4, 2)), "wide": ((17, 33), (33, 19)),
    }.items():  # fmt: skip
        if element in ("float", "int32") or name in ("matrices", "broadcast", "no_sum", "vectors"):
            yield Case(name, [draw(a, element), draw(b, element)], expected=np.matmul, **loose(element))


@cases("Gemm")
def gemm(op, version, types, draw):
    element = types["T"]

    def expected(alpha=1.0, beta=1.0, transA=0, transB=0, **_):
        def value(a, b, c=None):
            product = (a.T if transA else a) @ (b.T if transB else b)
            if alpha != 1:
                product = alpha * product
            return product if c is None else product + (c if beta == 1 else beta * c)

        return value

    a, b = draw((3, 4), element), draw((4, 5), element)
    plain = {"broadcast": 1} if version < 7 else {}
    yield Case("plain", [a, b, draw((3, 5), element)], expected=expected(), **loose(element))
    for name, shape in {"row": (5,), "one": (1,), "scalar": (), "column": (3, 1), "matrix_row": (1, 5)}.items():
        if version < 7 and name in ("column", "matrix_row"):
            continue
        yield Case(name, [a, b, draw(shape, element)], plain, expected=expected(), **loose(element))
    factors = {"alpha": 0.5, "beta": 2.0, "transA": 1, "transB": 1}
    if not is_float(element):
        factors |= {"alpha": 2.0, "beta": 3.0}
    inputs = [np.ascontiguousarray(a.T), np.ascontiguousarray(b.T), draw((5,), element)]
    yield Case("factors", inputs, {**plain, **factors}, expected=expected(**factors), **loose(element))
    yield Case("empty", [a[:0], b, draw((5,), element)], plain, expected=expected(), **loose(element))
    yield Case("no_sum", [a[:, :0], b[:0], draw((5,), element)], plain, expected=expected(), **loose(element))
    if version >= 11:
        yield Case("no_c", [a, b], factors | {"transA": 0, "transB": 0},
                   expected=expected(factors["alpha"]), **loose(element))  # fmt: skip


@cases("Einsum")
def einsum(op, version, types, draw):
    element = types["T"]
    for name, (equation, *shapes) in {
        "matmul": ("ij,jk->ik", (2, 3), (3, 4)), "implicit": ("ij,jk", (2, 3), (3, 4)), "trace": ("ii->", (3, 3)),
        "diagonal": ("ii->i", (3, 3)), "transpose": ("ij->ji", (2, 3)), "sum": ("ij->i", (2, 3)),
        "outer": ("i,j->ij", (2,), (3,)), "ellipsis": ("...ij,...jk->...ik", (2, 1, 2, 3), (3, 3, 2)),
        "three": ("ij,jk,kl->il", (2, 3), (3, 2), (2, 4)), "spaces": (" i j , j -> i ", (2, 3), (3,)),
        "empty": ("ij,jk->ik", (2, 0), (0, 3)), "scalar": (",i->i", (), (3,)),
        "implicit_ellipsis": ("b...a", (2, 3, 4)), "shared": ("bij,bkj->bik", (2, 3, 4), (2, 2, 4)),
        "heads_last": ("bclhn,bcshn->bclsh", (2, 1, 3, 5, 4), (2, 1, 2, 5, 4)),
        "heads_within": ("lhn,hsn->lhs", (3, 5, 4), (5, 2, 4)), "batch_last": ("ijb,bk->kib", (2, 3, 4), (4, 2)),
    }.items():  # fmt: skip
        if element != "float" and name not in ("matmul", "three", "empty", "diagonal"):
            continue

        def expected(*inputs, equation=equation):
            return np.asarray(np.einsum(equation.replace(" ", ""), *inputs))

        inputs = [draw(shape, element) for shape in shapes]
        if element == "bool":
            continue
        yield Case(name, inputs, {"equation": equation}, expected=expected, **loose(element))
