# Lit's configuration: the tools of the build and of LLVM are on the path; %python has onnx, onnxruntime and numpy.
# The tests in Python, Models and Suite are not lit's: ./dev test runs them by themselves.
import os

import lit.formats

config.name = "Strata"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Python", "Models", "Suite"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.strata_build, "test")

path = [os.path.join(config.strata_build, "bin"), config.llvm_tools, config.environment.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
config.environment["PYTHONPATH"] = os.path.join(config.strata_build, "python")
config.environment["FILECHECK_OPTS"] = "--dump-input=fail --dump-input-context=12"

# Word-bounded, so that %python does not match inside %python_x.
for name, value in (
    ("%python", config.python),
    ("%cmake", config.cmake),
    ("%cc", config.c_compiler),
    ("%cxx", config.cxx_compiler),
    ("%source", config.strata_source),
    ("%build", config.strata_build),
):
    config.substitutions.append((name + r"\b", value))
