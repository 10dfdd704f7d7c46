"""ai.onnx.ml but for its models: features, scaling, encoders, maps."""

import numpy as np
from Conformance.table import Case, array, cases, is_float, limits
from onnx import numpy_helper

ML = "ai.onnx.ml"


@cases("ArrayFeatureExtractor", domain=ML)
def extractor(op, version, types, draw):
    def expected(x, y):
        found = x[..., y.ravel()]
        return found[None] if x.ndim == 1 else found

    x = draw((2, 3, 5), types["T"])
    for name, data, indices in (("columns", x[0], [4, 0, 0]), ("one", x, [2]), ("vector", x[0, 0], [1, 3]),
                                ("matrix", x[0], [[1], [2]]), ("empty", x[0][:0], [1, 0]), ("none", x[0], [])):  # fmt: skip
        yield Case(name, [data, np.array(indices, np.int64)], expected=expected)


@cases("Binarizer", domain=ML)
def binarizer(op, version, types, draw):
    x = draw((4, 5), types["T"], special=True)
    for name, threshold in (("default", None), ("half", 0.5), ("negative", -2.5), ("huge", 1e30)):
        bound = np.float32(threshold or 0)
        attributes = {} if threshold is None else {"threshold": threshold}
        yield Case(name, [x], attributes, expected=lambda x, bound=bound: (x > bound).astype(x.dtype))
    yield Case("empty", [x[:, :0]], expected=np.copy)


@cases("FeatureVectorizer", domain=ML)
def vectorizer(op, version, types, draw):
    x = [draw((3, width), types["T1"]) for width in (2, 1, 4)]
    join = lambda *parts: np.concatenate([np.atleast_2d(p) for p in parts], 1)  # noqa: E731
    yield Case("sizes", x, {"inputdimensions": [2, 1, 4]}, expected=join)
    yield Case("vectors", [part[0] for part in x], expected=join)
    yield Case("one", x[:1], {"inputdimensions": [2]}, expected=join)
    yield Case("no_rows", [part[:0] for part in x], {"inputdimensions": [2, 1, 4]}, expected=join)


@cases("Scaler", domain=ML)
def scaler(op, version, types, draw):
    x = draw((2, 3), types["T"], -9, 9)

    def scaled(offset, scale):
        offset, scale = (np.asarray(v, np.float32).astype(np.float64) for v in (offset, scale))
        return lambda x: (x.astype(np.float64) - offset) * scale

    yield Case("features", [x], {"offset": [1.0, -2.5, 0.0], "scale": [0.5, 3.0, -1.0]}, expected=scaled([1, -2.5, 0], [0.5, 3, -1]))
    yield Case("all", [x], {"offset": [0.1], "scale": [0.3]}, expected=scaled([0.1], [0.3]))
    yield Case("vector", [x[0]], {"offset": [0.5], "scale": [2.0]}, expected=scaled(0.5, 2))
    yield Case("empty", [x[:0]], {"offset": [0.5] * 3, "scale": [2.0] * 3}, expected=scaled(0.5, 2))


@cases("Imputer", domain=ML)
def imputer(op, version, types, draw):
    element = types["T"]
    x = draw((2, 3), element, -2, 3)
    x[0, 1] = x[1, 2] = 2
    suffix, values, list_of = ("float", [7.0, 8.5, -9.0], "imputed_value_floats") if is_float(element) else (
        "int64", [7, 8, -9], "imputed_value_int64s")  # fmt: skip
    missing = array(2, element)

    def imputed(values, missing):
        return lambda x: np.where((x == missing) | ((x != x) & (missing != missing)), array(values, element), x)

    for name, replaced, given in (("features", 2, values), ("all", 2, values[:1]), ("zero", None, values)):
        attributes = {list_of: given}
        if replaced is not None:
            attributes[f"replaced_value_{suffix}"] = type(values[0])(replaced)
        yield Case(name, [x], attributes, expected=imputed(given, missing if replaced is not None else array(0, element)))
    if is_float(element):
        x = x.copy()
        x[1, 0] = np.nan
        yield Case("nan", [x], {list_of: values, "replaced_value_float": float("nan")}, expected=imputed(values, array(np.nan, element)))
    else:
        least, _ = limits(element)
        x = x.copy()
        x[1, 0] = least
        yield Case("least", [x], {list_of: values, "replaced_value_int64": least}, expected=imputed(values, array(least, element)))
    yield Case("empty", [x[:, :0]], {list_of: values[:1]}, expected=np.copy)


@cases("Normalizer", domain=ML)
def normalizer(op, version, types, draw):
    x = draw((4, 3), types["T"], -3, 5)
    x[1] = 0  # the divisor is zero
    norms = {"MAX": lambda x: x.max(-1, keepdims=True), "L1": lambda x: np.abs(x).sum(-1, keepdims=True),
             "L2": lambda x: np.sqrt((x**2).sum(-1, keepdims=True))}  # fmt: skip
    for name, divisor in norms.items():
        def expected(x, divisor=divisor):
            x = x.astype(np.float64)
            by = divisor(x)
            return x / np.where(by == 0, 1, by)

        yield Case(name.lower(), [x], {"norm": name}, expected=expected)
    yield Case("vector", [x[0]], expected=lambda x: x.astype(np.float64) / (x.max() or 1))
    yield Case("no_rows", [x[:0]], {"norm": "L2"}, expected=np.copy)


@cases("OneHotEncoder", domain=ML)
def one_hot(op, version, types, draw):
    text = types["T"] == "string"
    categories = ["a", "", "\N{SNOWMAN}", "zz"] if text else [3, -1, 0, 2**40]
    values = [["a", "zz"], ["", "b"]] if text else [[3, -1], [0, 7]]
    x, name = array(values, types["T"]), "cats_strings" if text else "cats_int64s"

    def expected(x):
        keys = x if text else np.trunc(x).astype(np.int64)
        return np.stack([keys == c for c in np.array(categories, object)], -1).astype(np.float32)

    yield Case("zeros", [x], {name: categories}, expected=expected)
    yield Case("all_there", [x[:, :1]], {name: categories, "zeros": 0}, expected=expected)
    yield Case("scalar", [x[0, 0].reshape(()) if not text else array("a", "string")], {name: categories}, expected=expected)
    yield Case("empty", [x[:0]], {name: categories, "zeros": 0}, expected=expected)
    if types["T"] in ("float", "double"):
        yield Case("truncated", [array([3.9, -1.9, 0.5, -0.5], types["T"])], {name: categories}, expected=expected)


KEYS = {"string": ["a", "", "\N{SNOWMAN}", "zz"]}


def keys_of(element):
    if element == "string":
        return array(["a", "", "\N{SNOWMAN}", "zz"], element)
    if is_float(element):
        return array([0.5, np.nan, -0.0, np.inf], element)
    least, most = limits(element)
    return array(np.array([least, 3, most, 0], object), element)


def found(keys, values, default):
    def expected(x):
        same = lambda a, b: a == b or (a != a and b != b)  # noqa: E731
        places = [max((i for i, key in enumerate(keys) if same(key, e)), default=-1) for e in x.ravel()]
        result = [values[i] if i >= 0 else default for i in places]
        return np.array(result, values.dtype).reshape(x.shape)

    return expected


def stem_attribute(stem, values):
    suffix = {"float": "floats", "int64": "int64s", "string": "strings"}[values]
    return f"{stem}_{suffix}"


@cases("LabelEncoder", domain=ML, pairs=True)
def label_encoder(op, version, types, draw):
    source, target = types["T1"], types["T2"]
    keys = keys_of(source)
    x = np.concatenate([keys, array(["b"] if source == "string" else [7], source)]).reshape(5, 1)
    if version == 1:
        if source == target:
            return
        words = ["a", "", "zz"]
        if source == "string":
            x = array([["zz", "a"], ["b", ""]], source)
            yield Case("default", [x], {"classes_strings": words}, expected=found(words, np.arange(3), -1))
            yield Case("given", [x], {"classes_strings": words, "default_int64": 9}, expected=found(words, np.arange(3), 9))
        else:
            x = np.array([[0, 2], [3, -1]])
            for name, more, default in (("default", {}, "_Unused"), ("given", {"default_string": "?"}, "?")):
                yield Case(name, [x], {"classes_strings": words, **more}, expected=found([0, 1, 2], array(words, "string"), default))
        return
    values = array(["v", "", "w", "x"] if target == "string" else [5, 6, 7, 8], target)
    plain = {"float", "int64", "string"}
    as_list = lambda a: [s.item() if hasattr(s, "item") else s for s in a]  # noqa: E731
    bytes_of = lambda a: [s.encode() for s in a] if a.dtype == object else as_list(a)  # noqa: E731
    default = array("_Unused" if target == "string" else -1 if not is_float(target) else -0.0, target).item()
    if source in plain and target in plain:
        attributes = {stem_attribute("keys", source): bytes_of(keys), stem_attribute("values", target): bytes_of(values)}
        yield Case("lists", [x], attributes, expected=found(keys, values, default))
        name = {"float": "default_float", "int64": "default_int64", "string": "default_string"}[target]
        given = array("?" if target == "string" else 9, target).item()
        yield Case("default", [x[:, 0]], {**attributes, name: given}, expected=found(keys, values, given))
    if version >= 4:
        given = array(["?"] if target == "string" else [9], target)
        repeated = np.concatenate([keys, keys[:1]])
        more = np.concatenate([values, given])
        attributes = {"keys_tensor": numpy_helper.from_array(repeated), "values_tensor": numpy_helper.from_array(more),
                      "default_tensor": numpy_helper.from_array(given)}  # fmt: skip
        yield Case("tensors", [x], attributes, expected=found(repeated, more, given.item()))
        yield Case("empty", [x[:0]], attributes, expected=found(keys, values, given.item()))


@cases("CategoryMapper", domain=ML)
def category_mapper(op, version, types, draw):
    if types["T1"] == types["T2"]:
        return
    names, numbers = array(["a", "", "zz"], "string"), np.array([2**40, -7, 0])
    attributes = {"cats_strings": [s.encode() for s in names], "cats_int64s": numbers.tolist()}
    if types["T1"] == "string":
        x = array([["zz", "b"], ["", "a"]], "string")
        yield Case("default", [x], attributes, expected=found(names, numbers, -1))
        yield Case("given", [x[0]], {**attributes, "default_int64": 9}, expected=found(names, numbers, 9))
    else:
        x = np.array([[0, 1], [-7, 2**40]])
        yield Case("default", [x], attributes, expected=found(numbers, names, "_Unused"))
        yield Case("given", [x[0]], {**attributes, "default_string": "?"}, expected=found(numbers, names, "?"))
    yield Case("empty", [x[:0]], attributes, expected=found(names, numbers if types["T1"] == "string" else names, -1))


def map_parts(text):
    key, value = text[4:-1].split(",")
    return key, value


def make_map(text, keys, draw):
    key, value = map_parts(text)
    scalars = [v if value == "string" else v[()] for v in (array(v, value) for v in draw((len(keys),), "string" if value == "string" else "int64", 1, 9))]
    scalars = [str(v) if value == "string" else v for v in scalars]
    return {(k if key == "string" else int(k)): v for k, v in zip(keys, scalars)}


@cases("DictVectorizer", domain=ML, pairs=True)
def dict_vectorizer(op, version, types, draw):
    key, value = map_parts(types["T1"])
    if value != types["T2"]:
        return
    vocabulary = ["a", "", "\N{SNOWMAN}", "zz"] if key == "string" else [7, -2, 2**40, 0]
    name = "string_vocabulary" if key == "string" else "int64_vocabulary"

    def expected(x):
        return array([[x.get(k, "" if value == "string" else 0) for k in vocabulary]], value)

    for case, keys in (("some", [vocabulary[2], vocabulary[0]]), ("all", vocabulary[::-1])):
        yield Case(case, [make_map(types["T1"], keys, draw)], {name: vocabulary}, expected=expected)


@cases("CastMap", domain=ML, pairs=True)
def cast_map(op, version, types, draw):
    _, value = map_parts(types["T1"])
    to = {"float": "TO_FLOAT", "int64": "TO_INT64", "string": "TO_STRING"}[types["T2"]]
    values = ["4", "-3", "250"] if value == "string" else [np.float32(v) for v in (4, -3, 250)]
    x = dict(zip([7, 1, 3], values))

    def convert(items):
        if types["T2"] == "string":
            return array([str(v) if value == "string" else f"{v:.1f}" for v in items], "string")
        return array([float(v) for v in items], types["T2"])

    def dense(x):
        return convert([x[k] for k in sorted(x)])[None]

    def sparse(x):
        filled = [x.get(k, "0" if value == "string" else np.float32(0)) for k in range(9)]
        result = convert(filled)[None]
        if types["T2"] == "string":
            result[0, [k for k in range(9) if k not in x]] = EMPTY[value]
        return result

    yield Case("dense", [x], {"cast_to": to}, expected=dense)
    yield Case("sparse", [x], {"cast_to": to, "map_form": "SPARSE", "max_map": 9}, expected=sparse)


EMPTY = {"string": "", "float": "0.0"}  # what a key that is not there gives as a string


@cases("ZipMap", domain=ML)
def zip_map(op, version, types, draw):
    x = draw((3, 2), "float")
    text = "string" in types["T"]
    labels = ["b", "\N{SNOWMAN}"] if text else [7, -2]
    name = "classlabels_strings" if text else "classlabels_int64s"

    def expected(x):
        return ([dict(zip(labels, map(float, row))) for row in np.atleast_2d(np.float32(x))],)

    yield Case("rows", [x], {name: labels}, expected=expected)
    yield Case("vector", [x[0]], {name: labels}, expected=expected)
