#!/usr/bin/env python3
"""Times single operators beside ONNX Runtime, and prints those that lose most last.

    python bench/operators.py [--threads N] [NAME ...]      the cases whose name has one of these in it (all)

To find what was never looked at: a ratio is of the shortest of a few runs, taken in turns, and says no more than that.
The cases are those of operator_cases.py; what networks are made of is in `./dev bench`.
"""

import argparse
import os
import time

import numpy as np
import onnxruntime
import operator_cases
import strata
from onnx import helper, numpy_helper, shape_inference


def build(operator, feeds, weights, outputs, opset, attributes):
    names = ["" if weights.get(name, 0) is None else name for name in (*feeds, *weights)]
    node = helper.make_node(operator, names, [f"o{i}" for i in range(outputs)], **attributes)
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
              for name, x in feeds.items()]  # fmt: skip
    results = [helper.make_empty_tensor_value_info(name) for name in node.output]
    constants = [numpy_helper.from_array(np.asarray(x), name) for name, x in weights.items() if x is not None]
    graph = helper.make_graph([node], "operator", inputs, results, constants)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return shape_inference.infer_shapes(helper.make_model(graph, opset_imports=opsets, ir_version=10))


def shortest(runs, seconds=0.1):
    """The shortest time of each function, which take turns."""
    times = [[] for _ in runs]
    for run in runs:
        run()
    for _ in range(2):
        for run, taken in zip(runs, times):
            end = time.perf_counter() + seconds / 2
            while len(taken) < 3 or time.perf_counter() < end:
                start = time.perf_counter()
                run()
                taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]


def peer(model, feeds, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 4
    # Threads that wait for the next run would take the other's time.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, x in feeds.items():
        binding.bind_cpu_input(name, x)
    for value in session.get_outputs():
        binding.bind_output(value.name, "cpu")
    return lambda: session.run_with_iobinding(binding)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.threads == 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    ratios = []
    for name, operator, feeds, *rest in operator_cases.cases():
        if arguments.names and not any(part in name for part in arguments.names):
            continue
        model = build(operator, feeds, *rest)
        compiled = strata.compile(model, threads=arguments.threads)
        arrays = [feeds[value.name] for value in compiled.inputs]
        own = lambda compiled=compiled, arrays=arrays: compiled(*arrays)  # noqa: E731
        try:
            mine, other = shortest([own, peer(model, feeds, arguments.threads)])
        except Exception as error:  # an operator or a type that it does not have
            mine = shortest([own])[0]
            print(f"{name:32} {mine * 1e6:10.1f} us  ONNX Runtime: {str(error)[:80]}", flush=True)
            continue
        ratio = mine / other
        ratios.append((ratio, name))
        print(f"{name:32} {mine * 1e6:10.1f} us  ONNX Runtime {other * 1e6:10.1f} us  ratio {ratio:.2f}", flush=True)
    print("\nabove 1:")
    for ratio, name in sorted(ratios):
        if ratio > 1:
            print(f"{ratio:8.2f}  {name}")


if __name__ == "__main__":
    main()
