"""Strata as an `onnx.backend`, so that ONNX's own test runner and tools can drive it."""

import numpy as np
import onnx
from onnx import helper, shape_inference
from onnx.backend.base import Backend, BackendRep, Device, DeviceType

import strata


class StrataRep(BackendRep):
    """A compiled model that runs on inputs in the graph's order."""

    def __init__(self, model):
        self.model = model

    def run(self, inputs, **kwargs):
        return tuple(self.model.run(inputs))


class StrataBackend(Backend):
    """Options of strata.compile are taken as keyword arguments."""

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        if not cls.supports_device(device):
            raise ValueError(f"Strata has no device {device!r}")
        # ONNX's runner hands its own tolerances through.
        options = {name: value for name, value in kwargs.items() if name not in ("rtol", "atol")}
        return StrataRep(strata.compile(model, **options))

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, opset_version=None, **kwargs):
        super().run_node(
            node, inputs, device, outputs_info, **({"opset_version": opset_version} if opset_version else {})
        )
        arrays = [np.asarray(value) for value in inputs]
        names = [name for name in node.input if name]
        graph = helper.make_graph(
            [node],
            node.op_type,
            [_value(name, array.dtype, array.shape) for name, array in zip(names, arrays)],
            [onnx.ValueInfoProto(name=name) for name in node.output if name]
            if outputs_info is None
            else [_value(name, *info) for name, info in zip(node.output, outputs_info)],
        )
        domains = {node.domain: opset_version or onnx.defs.onnx_opset_version()}
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(d, v) for d, v in domains.items()])
        if outputs_info is None:
            model = _with_output_types(model)
        return cls.run_model(model, arrays, device, **kwargs)

    @classmethod
    def supports_device(cls, device):
        return Device(device).type == DeviceType.CPU


def _value(name, dtype, shape):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)


def _with_output_types(model):
    """Gives the outputs the types that ONNX infers for them."""
    names = [output.name for output in model.graph.output]
    del model.graph.output[:]
    inferred = {value.name: value for value in shape_inference.infer_shapes(model).graph.value_info}
    model.graph.output.extend(inferred.get(name, onnx.ValueInfoProto(name=name)) for name in names)
    return model


is_compatible = StrataBackend.is_compatible
prepare = StrataBackend.prepare
run_model = StrataBackend.run_model
run_node = StrataBackend.run_node
supports_device = StrataBackend.supports_device
