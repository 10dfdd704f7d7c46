"""The table of cases: what each operator is run with, at each of its versions and element types.

How to add an operator
----------------------
Write a generator in cases/<family>.py (every file there is loaded) and decorate it with the operators it is for:

    @cases("ReduceMean", "ReduceSum")
    def reductions(op, version, types, draw):
        x = draw((2, 3, 4), types["T"])
        yield Case("default", [x], {"keepdims": 0})
        if version >= 18:
            yield Case("axes", [x, np.array([-1])], constants=[1])

It is called once for each assignment of types to the schema's type variables: `types` maps each variable to a type,
which is ONNX's name of an element type ("float", "bfloat16", "float8e4m3fn", "string"), or "seq(float)",
"optional(seq(int8))", "map(int64,float)". The driver chooses the assignments so that every (variable, type) occurs;
`@cases(..., pairs=True)` asks for all combinations. An assignment that the operator cannot have (an attribute `to`
that contradicts it, say) yields nothing; then another one is tried for the cell. A cell that no assignment can reach
at all yields `Impossible("reason")`; it is listed, and counts as open only without a reason.

`version` is the since-version: write attributes and inputs as that version has them. `draw(shape, type, low, high)`
gives random data of the type with a fixed seed (integers and floats in [low, high), strings, sequences);
`special=True` puts NaN, infinities, zeros and the extremes in. `array(values, type)` makes given values of a type.

A case runs twice: `static` (shapes known, `constants` are initializers) and `dynamic` (every dimension symbolic,
`constants` are run-time inputs, of known shape for their sizes may tell the ranks of others). `fixed` inputs are
initializers in both. Where an operator cannot have a dynamic form, say `dynamic="why not"`. An absent optional input
is None. `outputs` is their number, or flags for which optional outputs are asked. Subgraph attributes are
onnx.GraphProto; what they read of their surroundings are `captured` (value, type) pairs, named captured0, captured1.
An attribute that names values is a function of the list of the inputs' names. Arguments of a heterogeneous parameter
tell their types themselves, or are `homogeneous`: of the assigned type.

The oracle is chosen by oracles.py, in this order: `expected`, a NumPy function of the inputs written from the
specification (returning one array, or a tuple for several outputs); onnx.reference where it implements that version's
meaning; ONNX Runtime. If the version's form is gone, `like=(inputs, attributes)` says the same in the newest version's
form, for onnx.reference. float16, bfloat16 and float are computed in float64 and rounded once; `wide=False` gives the
oracle the data as they are (operators that look at the type, such as Cast). Random operators have `check`, a function
(inputs, runs) -> what is wrong or None, where runs is a list of the outputs of `runs` runs.

Tolerances follow from the type of the output (TOLERANCES in compare.py); `rtol` and `atol` override them. Integers,
booleans and strings are equal or wrong.

Few small cases: two or three for each assignment, where at least one has what is worth testing with every type
(extremes, NaN, empty), and the many attributes only with types["T"] == "float". Between them: empty tensors, rank 0,
negative axes, broadcasting both ways, NaN and infinities, extremes of integers, ties.

    ./dev conformance --filter '^ReduceMean-13' --verbose     (names are op-version/types/case)

A cell that is covered leaves open.txt: --update with the same --filter. A failure is a bug of the compiler or of the
case; there is no list of known ones.
"""

import itertools
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from Conformance import schemas


@dataclass
class Case:
    name: str
    inputs: Sequence
    attributes: Mapping = field(default_factory=dict)
    outputs: int | Sequence = 1
    constants: Sequence[int] = ()
    fixed: Sequence[int] = ()
    expected: Callable | None = None
    like: tuple | None = None
    wide: bool = True
    rtol: float | None = None
    atol: float | None = None
    check: Callable | None = None
    runs: int = 1
    dynamic: bool | str = True
    homogeneous: bool = False
    captured: Sequence = ()
    # Set by `enumerate_cases`.
    key: tuple = ()
    types: Mapping = field(default_factory=dict)

    def __post_init__(self):
        self.inputs = [np.asarray(value) if isinstance(value, np.generic) else value for value in self.inputs]

    @property
    def id(self):
        domain, op, version = self.key
        prefix = "" if domain == "ai.onnx" else f"{domain}."
        assignment = ",".join(f"{v}={t}" for v, t in self.types.items())
        return f"{prefix}{op}-{version}/{assignment}/{self.name}"


@dataclass
class Impossible:
    """No case can have this assignment's types."""

    reason: str


GENERATORS = {}


def cases(*ops, domain="ai.onnx", pairs=False):
    def register(function):
        for op in ops:
            assert (domain, op) not in GENERATORS, f"{op} has two generators"
            assert schemas.history(domain, op), f"{op} is no operator of {domain}"
            GENERATORS[domain, op] = (function, pairs)
        return function

    return register


def enumerate_cases(key):
    """(cases, {(variable, type): why there is none}) of a schema."""
    domain, op, version = key
    function, pairs = GENERATORS.get((domain, op), (None, False))
    variables = schemas.variables(key)
    missing = {(v, t): "no case" for v, types in variables.items() for t in types}
    if not function:
        return [], missing
    found, tried = [], {}
    schema = schemas.live()[key]
    used = {parameter.type_str for parameter in [*schema.inputs, *schema.outputs]}
    unused = {(v, t): "impossible: no input or output is of it" for v, t in missing if v not in used}

    def attempt(types):
        identity = tuple(types.values())
        if identity in tried:
            return tried[identity]
        given = list(function(op, version, dict(types), Draw(f"{key}{types}")))
        made = [case for case in given if isinstance(case, Case)]
        for case in made:
            case.key, case.types = key, dict(types)
        found.extend(made)
        for pair in types.items():
            if made:
                missing.pop(pair, None)
        tried[identity] = [case.reason for case in given if isinstance(case, Impossible)] or bool(made)
        return tried[identity]

    if pairs or not variables:
        for combination in itertools.product(*variables.values()):
            attempt(dict(zip(variables, combination)))
        return found, missing | unused
    for count in range(max(map(len, variables.values()))):
        attempt({v: types[count % len(types)] for v, types in variables.items()})
    # What the diagonal did not reach: with every combination of the other variables' types, the missing ones first.
    for variable, wanted in list(missing):
        others = [v for v in variables if v != variable]
        choices = [sorted(variables[v], key=lambda t, v=v: (v, t) not in missing) for v in others]
        for combination in itertools.islice(itertools.product(*choices), 400):
            if (variable, wanted) not in missing:
                break
            chosen = dict(zip(others, combination)) | {variable: wanted}
            result = attempt({v: chosen[v] for v in variables})
            if isinstance(result, list) and (variable, wanted) in missing:
                missing[variable, wanted] = f"impossible: {result[0]}"
    return found, missing | unused


WORDS = ["", "a", "Ab", "strata", "naïve", "\N{SNOWMAN}", "two words", "0", "-1.5", "zz"]


def array(values, element="int64"):
    """The values as an array of an element type."""
    if element == "string":
        values = np.asarray(values)
        result = np.empty(values.shape, object)
        result[...] = values.astype(str)
        return result
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(schemas.dtype(element))


def is_float(element):
    return "float" in element or element == "double"


def is_complex(element):
    return element.startswith("complex")


def is_integer(element):
    return "int" in element


def limits(element):
    """The least and greatest finite value of an element type, as Python numbers."""
    kind = schemas.dtype(element)
    if element == "bool":
        return 0, 1
    info = ml_dtypes.iinfo(kind) if is_integer(element) else ml_dtypes.finfo(kind)
    return (int if is_integer(element) else float)(info.min), (int if is_integer(element) else float)(info.max)


class Draw:
    """Random data with a fixed seed; every call gives other values."""

    def __init__(self, seed):
        self.random = np.random.default_rng(zlib.crc32(seed.encode()))

    def __call__(self, shape, element="float", low=-4, high=4, special=False):
        if element.startswith("seq("):
            return [self(shape, element[4:-1], low, high, special) for _ in range(2)]
        if element.startswith("optional("):
            return self(shape, element[9:-1], low, high, special)
        if element == "string":
            return array(self.random.choice(WORDS, shape), element)
        if element == "bool":
            return np.asarray(self.random.random(shape) < 0.5)
        if is_complex(element):
            return array(self.random.uniform(low, high, shape) + 1j * self.random.uniform(low, high, shape), element)
        if is_integer(element):
            least, most = limits(element)
            values = self.random.integers(max(low, least), min(high, most + 1), shape)
        else:
            values = self.random.uniform(low, high, shape)
            if element == "float8e8m0":  # powers of two alone
                values = np.exp2(np.round(values))
        values = array(values, element)
        if special:
            flat, extremes = values.reshape(-1), self.special(element)
            flat[: len(extremes)] = extremes[: flat.size]
        return values

    @staticmethod
    def special(element):
        """What is worth testing of a type: zeros, extremes, infinities, NaN (as far as it has them)."""
        least, most = limits(element)
        if is_integer(element) or element == "bool":
            return array(np.array([least, most, 0, 1], object), element)
        kind = schemas.dtype(element)
        values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, least, most, 1.0], np.float64)
        if element in ("float", "double", "float16", "bfloat16"):
            values = np.append(values, [float(ml_dtypes.finfo(kind).smallest_subnormal), 0.5, 1.5, 2.5, -0.5, -1.5])
        with np.errstate(all="ignore"):
            return values.astype(kind)
