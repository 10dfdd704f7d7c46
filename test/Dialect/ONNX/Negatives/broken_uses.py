"""Invalid uses of every operator schema, made from onnx.defs: each breaks one thing of a valid use.

Every one says which words its refusal must have: what is wrong, and what is allowed instead. They are computed from the
schema, not copied from the compiler.
"""

import dataclasses
import random
import re
import sys
from pathlib import Path

from onnx import defs, helper

sys.path.insert(0, str(Path(__file__).parents[4] / "python/tools"))

from generate_onnx_dialect import ELEMENTS, RENAMES, formal_types, parse_type
from schema_uses import FLOAT_TENSOR, KINDS, PREFERRED, all_schemas, choose, valid_use

Option = defs.OpSchema.FormalParameterOption
CONTAINERS = ["seq(tensor(float))", "optional(tensor(float))", "map(int64,tensor(float))"]
# A value of another kind for each kind of attribute, and how a message names the kind that is allowed.
WRONG_KINDS = {
    "INT": [1.0, "a"], "FLOAT": [1, [1.0]], "STRING": [1, ["a"]], "INTS": [1, [1.0]], "FLOATS": [1.0, [1]],
    "STRINGS": ["a", [1]], "TENSOR": ["a", 1], "SPARSE_TENSOR": ["a", 1], "TYPE_PROTO": ["a", FLOAT_TENSOR],
}  # fmt: skip
KIND_NAMES = {
    "INT": "integer", "FLOAT": "float", "STRING": "string", "INTS": "i64 dense array", "FLOATS": "f32 dense array",
    "STRINGS": "string array", "TENSOR": "tensor", "SPARSE_TENSOR": "sparse tensor", "TYPE_PROTO": "type",
}  # fmt: skip


def has_word(word, message):
    """Names are words: `int8` is not in `uint8`."""
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", message)


def missing_words(words, message):
    return [word for word in words if not has_word(word, message)]


# Inference has words of its own for a result; in a few uses it, or a rule of the text, speaks of an attribute first.
OF_INFERENCE = (
    "the result holds", "has the result type", "inserts tensor", "has attributes of", "needs one of", "'mode' is",
)  # fmt: skip


@dataclasses.dataclass
class Negative:
    kind: str
    use: object
    words: list  # that the message must have
    alternatives: tuple = ()  # of which the message must have one
    result: int | None = None  # the one whose type is wrong

    def missing(self, message):
        """The words that are not in the message."""
        lacking = missing_words(self.words, message)
        if self.alternatives and not any(has_word(word, message) for word in self.alternatives):
            lacking.append(" or ".join(self.alternatives))
        return lacking


    def imported(self):
        """The same as a node: its types of results are declarations, and absent inputs at its end are not there."""
        if self.result is not None:
            return dataclasses.replace(self, words=[], alternatives=(f"'y{self.result}'", f"result #{self.result}", *OF_INFERENCE))
        if self.kind == "absent operand":
            return dataclasses.replace(self, words=self.words[:1], alternatives=("may not be absent", "inputs are", "input is"))
        return self


def spell(text):
    """The type as messages have it."""
    return re.sub(r"\((int64|string),tensor\((\w+)\)\)", r"(\1, \2)", text)


def allowed_words(types):
    """What a message must name of the allowed types: the element types (or maps), and the forms other than tensors."""
    words, forms = set(), {"seq": "sequence", "optional": "optional", "optionalSeq": "optional sequence"}
    for text in types:
        kind, element = parse_type(text)
        words.add("map(" + element.replace("_", ", ") + ")" if kind in ("map", "seqMap") else element)
        words.add({**forms, "seqMap": "sequence", "map": "map", "tensor": "tensor"}[kind])
    return sorted(words)


def wrong_types(schema, formal, later, everything):
    """Types that the formal parameter does not allow: one that another version does, one more, a container."""
    allowed = formal_types(schema, formal)
    tensors = [f"tensor({e})" for e in ELEMENTS if f"tensor({e})" not in allowed]
    containers = [t for t in CONTAINERS if parse_type(t) not in map(parse_type, allowed)]
    if everything:
        return tensors + containers
    seed = random.Random(f"{schema.name} {schema.since_version} {formal.name}")
    chosen = [t for t in later if t in tensors][:1]
    chosen += seed.sample(tensors, min(1, len(tensors))) + seed.sample(containers, min(1, len(containers)))
    return list(dict.fromkeys(chosen))


def types(schema, history, everything):
    use = valid_use(schema)
    for direction, formals, given in (("operand", schema.inputs, use.inputs), ("result", schema.outputs, use.results)):
        for i, formal in enumerate(formals[: len(given)]):
            others = [o.inputs if direction == "operand" else o.outputs for o in history if o is not schema]
            later = [t for o in others for f in o if f.name == formal.name for t in formal_types(schema, formal)]
            name = formal.name.rstrip(".")
            for wrong in wrong_types(schema, formal, later, everything):
                broken = use.copy()
                (broken.inputs if direction == "operand" else broken.results)[i] = wrong
                words = [f"{direction} #{i}", f"'{name}'", spell(wrong), *allowed_words(formal_types(schema, formal))]
                yield Negative(f"{direction} type", broken, words, result=i if direction == "result" else None)


def variables(schema, history, everything):
    """Two types where one variable asks for one."""
    use = valid_use(schema)
    values = [(formal, group, i) for formals, group in ((schema.inputs, "inputs"), (schema.outputs, "results"))
              for i, formal in enumerate(formals[: len(getattr(use, group))])]  # fmt: skip
    # A second value of what is variadic.
    for formal, group, i in list(values):
        if formal.option == Option.Variadic and formal.is_homogeneous and i == len(getattr(use, group)) - 1:
            getattr(use, group).append(getattr(use, group)[i])
            values.append((formal, group, i + 1))
    bound = {}
    for formal, group, i in values:
        allowed = [t for t in formal_types(schema, formal)]
        if len(allowed) < 2 or (formal.option == Option.Variadic and not formal.is_homogeneous):
            continue
        if formal.type_str not in bound:
            bound[formal.type_str] = formal
            continue
        other = choose([t for t in allowed if t != getattr(use, group)[i] and t in PREFERRED] or
                       [t for t in allowed if t != getattr(use, group)[i]])  # fmt: skip
        broken, first = use.copy(), bound[formal.type_str]
        if first is formal and formal.option != Option.Variadic:
            continue
        getattr(broken, group)[i] = other
        names = [f"'{f.name.rstrip('.')}'" for f in (first, formal)]
        words = [*names, spell(other), spell(getattr(use, group)[i]), formal.type_str]
        yield Negative("type variable", broken, words, result=i if group == "results" else None)


def attribute_names(schema):
    return {RENAMES.get((schema.name, "attr", n), n): a for n, a in schema.attributes.items() if a.type.name != "GRAPH"}


def attributes(schema, history, everything):
    use, own = valid_use(schema), attribute_names(schema)
    value = lambda attr: helper.get_attribute_value(attr.default_value) if attr.default_value.type else None

    def with_attribute(kind, name, value, words, alternatives=()):
        broken = use.copy()
        broken.attributes[name] = value
        return Negative(kind, broken, words, alternatives)

    for name, attr in own.items():
        if attr.required:
            broken = use.copy()
            del broken.attributes[name]
            yield Negative("required attribute missing", broken, [f"requires attribute '{name}'"])
        for wrong in WRONG_KINDS[attr.type.name]:
            words = [f"attribute '{name}'", KIND_NAMES[attr.type.name]]
            yield with_attribute("attribute of another kind", name, wrong, words)
    has = [f"'{name}'" for name in own] or ["it has none"]
    yield with_attribute("unknown attribute", "no_such_attribute", 1, ["has no attribute 'no_such_attribute'", *has])
    foreign = {}
    for other in history:
        foreign.update({n: a for n, a in attribute_names(other).items() if n not in own})
    for name, attr in foreign.items():
        sample = KINDS.get(attr.type.name)
        if sample is None:
            continue
        if attr.type.name in ("INT", "FLOAT") and value(attr) is not None:
            sample = value(attr)
        sample = round(sample, 3) if isinstance(sample, float) else sample
        yield with_attribute("attribute of another version", name, sample, [f"has no attribute '{name}'", *has])


def counts(schema, history, everything):
    use = valid_use(schema)
    for what, formals, group in (("operand", schema.inputs, "inputs"), ("result", schema.outputs, "results")):
        names = [f"'{f.name.rstrip('.')}'" for f in formals] or ["the operator has no"]
        values = getattr(use, group)
        if len(values) < len(formals):
            continue  # A use that cannot have all.
        if not formals or formals[-1].option != Option.Variadic:
            broken = use.copy()
            getattr(broken, group).append("tensor(float)")
            yield Negative(f"too many {what}s", broken, [str(len(values) + 1), *names])
        needed = [i for i, f in enumerate(formals) if f.option == Option.Single or
                  (f.option == Option.Variadic and f.min_arity > 0)]  # fmt: skip
        if not needed:
            continue
        broken = use.copy()
        setattr(broken, group, values[: len(needed) - 1])
        yield Negative(f"too few {what}s", broken, [str(len(needed) - 1), *names])
        for i in needed:
            if formals[i].option == Option.Single and (what == "operand" or i + 1 < len(values)):
                broken = use.copy()
                getattr(broken, group)[i] = None
                yield Negative(f"absent {what}", broken, [names[i], "may not be absent"])


def graphs(schema, history, everything):
    use = valid_use(schema)
    for i, (name, there) in enumerate(use.graphs):
        if there:
            broken = use.copy()
            broken.graphs[i] = (name, False)
            yield Negative("graph missing", broken, [f"'{name}'"])


FAMILIES = (types, variables, attributes, counts, graphs)


def all_negatives(everything=False):
    schemas = all_schemas()
    history = {}
    for schema in schemas:
        history.setdefault((schema.domain, schema.name), []).append(schema)
    for schema in schemas:
        for family in FAMILIES:
            yield from family(schema, history[schema.domain, schema.name], everything)


def all_positives():
    return [valid_use(schema) for schema in all_schemas()]
