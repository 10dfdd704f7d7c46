"""Operators on strings."""

import re

import numpy as np
from Conformance.table import Case, array, cases

DATA = {"wide": False}


def strings(values):
    return array(np.array(values, object) if len(values) else np.zeros((0,), object), "string")


@cases("StringNormalizer")
def string_normalizer(op, version, types, draw):
    days = ["Monday", "tuesday", "", "naïve WORD", "Monday", "friday"]
    forms = [
        ("plain", {}), ("lower", {"case_change_action": "LOWER"}), ("upper", {"case_change_action": "UPPER"}),
        ("stop", {"stopwords": ["monday", "FRIDAY"], "is_case_sensitive": 0}),
        ("stop_exactly", {"stopwords": ["monday", "friday"], "is_case_sensitive": 1}),
        ("stop_upper", {"stopwords": ["tuesday"], "is_case_sensitive": 1, "case_change_action": "UPPER"}),
        ("none_left", {"stopwords": sorted(set(days)), "is_case_sensitive": 1}),
        ("locale", {"locale": "en_US", "case_change_action": "LOWER"}),
    ]  # fmt: skip
    for name, attributes in forms:
        for rank in (1, 2) if name in ("stop", "none_left") else (1,):

            def expected(x, attributes=attributes, rank=rank):
                stops, exact = attributes.get("stopwords", []), attributes.get("is_case_sensitive", 0)
                dropped = set(stops if exact else [s.lower() for s in stops])
                kept = [s for s in x.reshape(-1) if (s if exact else s.lower()) not in dropped]
                change = {"LOWER": str.lower, "UPPER": str.upper}.get(attributes.get("case_change_action"), str)
                result = strings([change(s) for s in kept] or [""])
                return result if rank == 1 else result[None]

            x = strings(days) if rank == 1 else strings([days])
            yield Case(f"{name}_rank{rank}", [x], attributes, expected=expected, **DATA)


@cases("StringConcat")
def string_concat(op, version, types, draw):
    for name, left, right in (
        ("same", (2, 3), (2, 3)),
        ("broadcast", (2, 1, 3), (4, 1)),
        ("scalars", (), ()),
        ("scalar", (3,), ()),
        ("empty", (0, 2), (1, 2)),
    ):
        operands = [draw(left, "string"), draw(right, "string")]
        yield Case(name, operands, expected=lambda x, y: np.asarray(x + y, object), **DATA)


@cases("StringSplit")
def string_split(op, version, types, draw):
    words = ["a.b..c", "", "one", ".", "snow\N{SNOWMAN}.x"]
    spaces = ["  two words ", "", " \t", "a\nb c", "one"]
    forms = [
        ("delimiter", words, {"delimiter": "."}),
        ("limit", words, {"delimiter": ".", "maxsplit": 1}),
        ("zero", words, {"delimiter": ".", "maxsplit": 0}),
        ("long", ["a->b->", "->", "a-b"], {"delimiter": "->"}),
        ("spaces", spaces, {}),
        ("empty_delimiter", spaces, {"delimiter": ""}),
        ("spaces_limit", ["  two words", "a\nb  c", ""], {"maxsplit": 1}),
        ("overlapping", ["aaaa", "aaa"], {"delimiter": "aa"}),
    ]
    for name, given, attributes in forms:

        def expected(x, attributes=attributes):
            delimiter, limit = attributes.get("delimiter") or None, attributes.get("maxsplit", -1)
            parts = [s.split(delimiter, limit) for s in x.reshape(-1)]
            width = max(map(len, parts), default=0)
            padded = np.array([p + [""] * (width - len(p)) for p in parts], object).reshape(*x.shape, width)
            return padded, np.array([len(p) for p in parts], np.int64).reshape(x.shape)

        yield Case(name, [strings(given)], attributes, 2, expected=expected, **DATA)
    matrix = array(np.array([["a b", "c"], ["", "d e f"]], object), "string")

    def by_space(x):
        return (np.array([[["a", "b", ""], ["c", "", ""]], [["", "", ""], ["d", "e", "f"]]], object),
                np.array([[2, 1], [0, 3]], np.int64))  # fmt: skip

    yield Case("matrix", [matrix], {}, 2, expected=by_space, **DATA)
    yield Case(
        "nothing", [strings([])], {}, 2, expected=lambda x: (np.zeros((0, 0), object), np.zeros(0, np.int64)), **DATA
    )


@cases("RegexFullMatch")
def regex_full_match(op, version, types, draw):
    texts = ["www.google.com", "account@mail.net", "", "a", "AB12", "two words", "naïve", "aaa\nb"]
    for number, pattern in enumerate(
        [
            r"www\.[\w.-]+\.\bcom\b",
            r"(\W|^)[\w.\-]{0,25}@(mail|net)\.net(\W|$)",
            "",
            "a*",
            "[A-Z]+[0-9]{2}",
            r"\w+ \w+",
            "na.ve",
            "a+.b",
            "(?i)ab12",
            "(?s)a+.b",
        ]
    ):

        def expected(x, pattern=pattern):
            return np.array([re.fullmatch(pattern, s, re.ASCII) is not None for s in x.reshape(-1)]).reshape(x.shape)

        yield Case(f"pattern{number}", [strings(texts)], {"pattern": pattern}, expected=expected, **DATA)
    yield Case("scalar", [array("abc", "string")], {"pattern": "a.c"}, expected=lambda x: np.array(True), **DATA)
    yield Case(
        "empty",
        [array(np.zeros((0, 2)), "string")],
        {"pattern": "a"},
        expected=lambda x: np.zeros((0, 2), bool),
        **DATA,
    )


@cases("TfIdfVectorizer")
def tf_idf(op, version, types, draw):
    element = types["T"]
    names = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7]
    pool = {"pool_strings": [f"w{n}" for n in names]} if element == "string" else {"pool_int64s": names}
    base = {"ngram_counts": [0, 4], "ngram_indexes": [0, 1, 2, 3, 4, 5, 6], **pool}
    counts = {"min_gram_length": 2, "max_gram_length": 2, "max_skip_count": 0}

    def given(ints):
        return (
            array(np.vectorize("w{}".format, otypes=[object])(np.array(ints)), "string")
            if element == "string"
            else array(ints, element)
        )

    flat, rows = given([1, 1, 3, 3, 3, 7, 8, 6, 7, 5]), given([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]])
    weights = {"weights": [0.5, 1, 2, 3, 4, 5, 6.5]}
    for mode in ("TF", "IDF", "TFIDF"):
        extra = {} if mode == "TF" else weights
        yield Case(f"{mode}_pairs", [flat], {"mode": mode} | base | counts | extra, **DATA)
        yield Case(f"{mode}_rows", [rows], {"mode": mode} | base | counts | extra | {"max_skip_count": 2}, **DATA)
        yield Case(
            f"{mode}_both",
            [flat],
            {"mode": mode} | base | counts | extra | {"min_gram_length": 1, "max_skip_count": 5},
            **DATA,
        )
    singles = counts | {"min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 3}
    yield Case("singles", [rows], {"mode": "TF"} | base | singles, **DATA)
