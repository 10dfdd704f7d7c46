"""What runs the suite's cases: Strata, or ONNX Runtime to check this harness itself.

A backend is a function from a serialised model to a function from inputs to outputs; it raises Unsupported where the
model was refused with a diagnostic.
"""


class Unsupported(Exception):
    """The model was refused; the text is the diagnostic."""


def strata(model, **options):
    import strata

    try:
        # Advancing seeds: of what is drawn at random, every run is to be another sample.
        compiled = strata.compile(model, threads=1, advance_seeds=True, **options)
    except strata.CompileError as error:
        raise Unsupported(str(error)) from None
    return compiled.run


def cuda(model):
    """Kernels on an NVIDIA GPU, or, where STRATA_CUDA_DRIVER does not say otherwise, on the emulated one."""
    from support.emulator import use_emulator

    return strata(model, gpu="cuda", gpu_format=use_emulator())


def onnxruntime(model):
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    try:
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise Unsupported(str(error)) from None
    names = [value.name for value in session.get_inputs()]
    return lambda inputs: session.run(None, dict(zip(names, inputs)))


BACKENDS = {"strata": strata, "cuda": cuda, "onnxruntime": onnxruntime}
