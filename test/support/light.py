"""The nine light networks of the onnx package, as they are and with random weights.

As shipped their weights are ConstantOfShape nodes: every channel computes the same, which hides swapped ones. With
random weights (scaled so that activations neither vanish nor explode) each output depends on where everything went.
"""

import numpy as np
import onnx
from onnx import numpy_helper
from Suite.cases import DATA

NAMES = (
    "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet", "vgg19",
    "zfnet512",
)  # fmt: skip


def path(name):
    return DATA / "light" / f"light_{name}.onnx"


def input_name(model):
    """The input that is not an initializer: IR 3 lists those, too."""
    known = {tensor.name for tensor in model.graph.initializer}
    [name] = [value.name for value in model.graph.input if value.name not in known]
    return name


def image(shape=(1, 3, 224, 224), seed=0):
    """A random input whose values spread like those of normalised pixels."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def with_random_weights(name, seed=0):
    """The network with an initializer in place of every ConstantOfShape node."""
    model = onnx.load(path(name))
    graph = model.graph
    rng = np.random.default_rng(seed)
    initializers = {tensor.name: tensor for tensor in graph.initializer}
    users = {}
    for node in graph.node:
        for position, value in enumerate(node.input):
            users.setdefault(value, (node, position))
    weights = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    for node in weights:
        shape = numpy_helper.to_array(initializers[node.input[0]])
        array = _weight(rng, tuple(shape), *_role(users, node.output[0]))
        graph.initializer.append(numpy_helper.from_array(array, node.output[0]))
        graph.node.remove(node)
    _show_scores(graph)
    return model


def _show_scores(graph):
    """Makes the input of the final Softmax an output too: with random weights its result is mostly zeros and a one."""
    last = graph.node[-1]
    if last.op_type == "Softmax":
        scores = graph.output.add()
        scores.CopyFrom(graph.output[0])
        scores.name = last.input[0]


def _role(users, value):
    """The operator and operand position that a weight ends in, through an Unsqueeze."""
    node, position = users[value]
    while node.op_type == "Unsqueeze":
        node, position = users[node.output[0]]
    return node.op_type, position


def _weight(rng, shape, operator, position):
    if len(shape) > 1:  # He initialisation: the variance of activations stays as it is through a ReLU
        fan_in = np.prod(shape[1:])
        return rng.standard_normal(shape, np.float32) * np.float32(np.sqrt(2 / fan_in))
    if operator == "Mul" or (operator, position) in (("BatchNormalization", 1), ("BatchNormalization", 4)):
        return rng.uniform(0.5, 1.5, shape).astype(np.float32)
    return rng.standard_normal(shape, np.float32) * np.float32(0.1)
