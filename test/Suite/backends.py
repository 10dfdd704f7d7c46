"""What runs the suite's cases: Strata, or ONNX Runtime to check this harness itself.

A backend is a function from a serialised model to a function from inputs to outputs; it raises Unsupported where the
model was refused with a diagnostic.
"""


class Unsupported(Exception):
    """The model was refused; the text is the diagnostic."""


def strata(model):
    import strata

    try:
        # Advancing seeds: of what is drawn at random, every run is to be another sample.
        compiled = strata.compile(model, threads=1, advance_seeds=True)
    except strata.CompileError as error:
        raise Unsupported(str(error)) from None
    return compiled.run


def onnxruntime(model):
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    try:
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise Unsupported(str(error)) from None
    names = [value.name for value in session.get_inputs()]
    return lambda inputs: session.run(None, dict(zip(names, inputs)))


BACKENDS = {"strata": strata, "onnxruntime": onnxruntime}
