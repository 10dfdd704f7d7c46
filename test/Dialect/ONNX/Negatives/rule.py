"""A rule that an operator's specification states in words, as a model that breaks it."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, defs, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parents[4] / "python/tools"))

from schema_uses import choose, formal_types, onnx_type, parse_type


@dataclasses.dataclass
class Rule:
    op: str
    inputs: list
    attributes: dict
    words: list
    outputs: int = 1
    domain: str = ""
    since: int = 0  # 0: the newest

    @property
    def schema(self):
        newest = {"": 28, "ai.onnx.ml": 5}.get(self.domain, 1)
        return defs.get_schema(self.op, self.since or newest, self.domain)

    def model(self):
        """A model of the node, which is called `use`."""
        schema, types, names, values, constants = self.schema, {}, [], [], []
        for i, given in enumerate(self.inputs):
            formal = schema.inputs[min(i, len(schema.inputs) - 1)]
            names.append(f"x{i}" if given is not None else "")
            preferred = types.setdefault(formal.type_str, choose(formal_types(schema, formal)))
            if given is None:
                continue
            if not isinstance(given, str):
                element = parse_type(preferred)[1]
                array = np.array(given)
                if array.dtype != np.int64 or element not in ("int32", "int64", "uint8", "int8"):
                    element = "float" if array.dtype == np.float64 else "int64"
                array = array.astype({"float": np.float32}.get(element, element))
                constants.append(numpy_helper.from_array(array, names[-1]))
                continue
            shape, _, element = given.partition(":")
            if element.count("("):
                values.append(helper.make_value_info(names[-1], onnx_type(element)))
                continue
            data_type = getattr(TensorProto, (element or parse_type(preferred)[1]).upper())
            dims = None if shape == "*" else [int(d) if d.isdigit() else d for d in shape.split("x") if d]
            values.append(helper.make_tensor_value_info(names[-1], data_type, dims))
            if element:
                types[formal.type_str] = f"tensor({element})"
        outputs, results = [f"y{i}" for i in range(self.outputs)], []
        for i, name in enumerate(outputs):
            formal = schema.outputs[min(i, len(schema.outputs) - 1)]
            allowed = formal_types(schema, formal)
            sequence = "seq(tensor(float))"
            chosen = types.get(formal.type_str) or (sequence if sequence in allowed else choose(allowed))
            results.append(helper.make_value_info(name, onnx_type(chosen)))
        node = helper.make_node(self.op, names, outputs, name="use", domain=self.domain, **self.attributes)
        graph = helper.make_graph([node], "g", values, results, constants)
        opsets = [helper.make_opsetid(self.domain, schema.since_version)]
        if self.domain:
            opsets.append(helper.make_opsetid("", 21))
        return helper.make_model(graph, opset_imports=opsets, ir_version=13)
