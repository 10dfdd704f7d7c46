"""Compiles and runs one operator with whatever package `strata` is on the path."""

import numpy as np
import strata
from onnx import parser

MODEL = '<ir_version: 10, opset_import: ["" : 18]> g (float[n] x) => (float[n] y) { y = Relu(x) }'

print(strata.__file__)
[y] = strata.compile(parser.parse_model(MODEL)).run([np.array([-1, 2], np.float32)])
print(y.tolist())
