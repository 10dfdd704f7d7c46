"""Compiling a model, and running it on arrays."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from strata import _native
from strata._errors import InputError
from strata._values import Value, from_native, to_native, value_of

if TYPE_CHECKING:
    from onnx import ModelProto


class Version(NamedTuple):
    """A version of a model for known sizes: see `compile`."""

    shapes: tuple[tuple[int | None, ...], ...]
    """Of the inputs, in order; None where it takes any size."""
    state: str
    """ "in use", "compiling" or "failed"."""
    reason: str
    """Why it failed; else empty."""
    bytes: int
    """What one from the background takes: code, and constants that the model itself has not."""


# Models whose versions are compiled in the background, which must end before the interpreter does.
_specializing: weakref.WeakSet[Model] = weakref.WeakSet()


@atexit.register
def _stop_specializing():
    for model in list(_specializing):
        model._native.stop_specializing()


class Model:
    """A compiled model with a session of its own: threads, and buffers that are reused from run to run.

    Made by `compile` and `load`. One run at a time: concurrent calls wait for each other.
    """

    def __init__(self, native: _native.Model) -> None:
        self._native = native
        self._inputs = [value_of(*info) for info in native.inputs()]
        self._outputs = [value_of(*info) for info in native.outputs()]

    @property
    def name(self) -> str:
        """The model's name in the compiled code."""
        return self._native.name()

    @property
    def inputs(self) -> list[Value]:
        """What `run` takes, in order."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[Value]:
        """What `run` returns, in order."""
        return list(self._outputs)

    @property
    def threads(self) -> int:
        """The number of threads of a run."""
        return self._native.threads()

    def run(self, feeds: Mapping[str, Any] | Iterable[Any]) -> list[Any]:
        """Runs the model on a mapping from input names to arrays, or on arrays in the order of `inputs`.

        Returns the list of output arrays. Contiguous arrays are read in place, and the outputs are views of what the
        model wrote. A model for a GPU also takes what is on its device through DLPack (a torch.Tensor, a DeviceArray),
        in place. Strings are arrays of objects (str), sequences lists, maps dictionaries, and an empty optional is
        None. Raises InputError or RunError.
        """
        return self(*(self._by_position(feeds) if isinstance(feeds, Mapping) else feeds))

    def __call__(self, *arrays: Any) -> list[Any]:
        """`run` on arrays in the order of `inputs`."""
        results = self._native.run_arrays(arrays)
        if results is not None:
            return results
        # Not all are NumPy's own arrays of the right types and shapes.
        if len(arrays) != len(self._inputs):
            raise InputError(f"{self.name} takes {len(self._inputs)} inputs, got {len(arrays)}")
        results = self._native.run([to_native(value, array) for value, array in zip(self._inputs, arrays)])
        return [from_native(*result) for result in results]

    def profile(self) -> list[tuple[str, int, float]]:
        """(node, runs, seconds) of every node so far, for a model compiled with profile=True."""
        return [(name, runs, nanoseconds * 1e-9) for name, runs, nanoseconds in self._native.profile()]

    @property
    def versions(self) -> list[Version]:
        """The versions for known sizes, in the order in which a run looks for one, and those that failed."""
        return [
            Version(tuple(tuple(None if size < 0 else size for size in shape) for shape in shapes), state, reason, size)
            for shapes, state, reason, size in self._native.versions()
        ]

    def settle(self) -> None:
        """Waits until no version is being compiled in the background."""
        self._native.settle()

    def __repr__(self) -> str:
        def text(values):
            return ", ".join(f"{v.name}: {v.type}" for v in values)

        return f"<strata.Model {self.name}({text(self._inputs)}) -> ({text(self._outputs)})>"

    def _by_position(self, feeds):
        names = [value.name for value in self._inputs]
        if unknown := [name for name in feeds if name not in names]:
            raise InputError(f"{self.name} has no input '{unknown[0]}'; its inputs are {_listed(names)}")
        if missing := [name for name in names if name not in feeds]:
            raise InputError(f"no array is given for input {_listed(missing)} of {self.name}")
        return [feeds[name] for name in names]


def compile(
    model: str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto,
    *,
    threads: int | None = None,
    target: str | None = None,
    gpu: str | None = None,
    gpu_format: str | None = None,
    seed: int | None = None,
    name: str | None = None,
    opt_level: int | None = None,
    precision: str | None = None,
    winograd: bool = True,
    tune: bool = False,
    tuning_file: str | os.PathLike[str] | None = None,
    profile: bool = False,
    cache: str | os.PathLike[str] | None = None,
    memory_limit: int | None = None,
    advance_seeds: bool = False,
    device: int | None = None,
    device_results: bool = False,
    specialize: Iterable[Mapping[str, int]] = (),
    specialize_after: int = 0,
    specialize_limit: int = 8,
    specialize_memory: int | None = None,
) -> Model:
    """Compiles an ONNX model for this machine and returns a Model.

    model         a path, the bytes of a model, or an onnx.ModelProto
    threads       threads of a run (default: all cores this process may use)
    target        the CPU to make code for, then features: "x86-64-v3", "znver3,-avx512f" (default: this CPU)
    gpu           run kernels on an NVIDIA GPU: "cuda", or "cuda:sm_90a" for this one only (default: on the CPU)
    gpu_format    how the model holds the kernels: "auto", "ptx", "cubin", or, for the emulator, "bitcode"
    seed          start of the random operators without a seed of their own (default: a new one for every Model)
    name          prefix of the compiled code's symbols, a C identifier (default "model")
    opt_level     0 to 3 (default 3)
    precision     what f32 operands of matrix products and convolutions are rounded to: "f32" (the default: not at
                  all), "bf16", for those with constant weights, also of f16, which needs a CPU with avx512bf16,
                  "f16", for weights that few rows read alone, "int8", for data that weights dequantized from 8 or 4
                  bits are multiplied with, in blocks, which needs a CPU with VNNI, or "tf32", which needs an NVIDIA
                  GPU
    winograd      whether convolutions may be computed by minimal filtering, whose rounding errors are larger
    tune          choose the plans of products and convolutions by measuring some of each on this machine, or its
                  GPU, for about a minute at most; results are kept, and not measured again
    tuning_file   where results of `tune` are kept (default: strata/tuning.json in $XDG_CACHE_HOME or ~/.cache)
    profile       measure every node: see Model.profile
    cache         a folder that keeps what is compiled as a shared library, by a hash of the model, its weights, these
                  options, the CPU and the compiler; found there the next time, it is loaded. Nothing is ever deleted
    memory_limit  bytes that a run may hold at once (default: the machine's memory)
    advance_seeds whether random operators with a seed of their own give new values in every run, not the same ones
    device        which GPU runs it, and measures for `tune` (default: what STRATA_CUDA_DEVICE says, or the first)
    device_results  results that the GPU computed stay in its memory: they are DeviceArrays
    specialize    sizes of symbolic dimensions of the inputs, such as [{"batch": 1, "seq": 128}]: for each set the model
                  has a version, which runs where the inputs have these sizes
    specialize_after   after so many runs with inputs of the same shapes, a version for these is compiled in the
                  background and used as soon as it is ready (default: 0, never). Results may differ from the model's
                  own in rounding. What fails there is said in Model.versions
    specialize_limit   how many versions from the background there may be; the one that was not run for longest goes
    specialize_memory  bytes that they may take together: code, and constants that the model itself has not

    Raises CompileError where the model is refused.
    """
    options = _options(threads, seed, profile, memory_limit, advance_seeds, device, device_results)
    options.cpu, _, options.features = (target or "").partition(",")
    options.target = gpu or "cpu"
    options.gpu_format = gpu_format or "auto"
    if name is not None:
        options.name = name
    options.winograd = winograd
    if tuning_file is not None and not tune:
        raise ValueError("tuning_file is about tune=True")
    options.tune = tune
    options.tuning_file = os.fspath(tuning_file or "")
    for what, value, least in (
        ("specialize_after", specialize_after, 0),
        ("specialize_limit", specialize_limit, 1),
        ("specialize_memory", specialize_memory, 1),
    ):
        if value is not None and value < least:
            raise ValueError(f"{what} must be at least {least}, got {value}")
    options.specialize = [[f"{name}={size}" for name, size in sizes.items()] for sizes in specialize]
    options.specialize_after = specialize_after
    options.specialize_limit = specialize_limit
    options.specialize_memory = specialize_memory or 0
    if cache is not None:
        options.cache = os.fspath(cache)
    if opt_level is not None:
        options.opt_level = opt_level
    if precision is not None:
        options.precision = precision
    from strata import _compiler  # here: who only loads models does without LLVM

    if isinstance(model, (str, os.PathLike)):
        compiled = Model(_compiler.compile_file(os.fspath(model), options))
    else:
        data = model if isinstance(model, (bytes, bytearray, memoryview)) else model.SerializeToString()
        compiled = Model(_compiler.compile_bytes(bytes(data), options))
    if specialize_after:
        _specializing.add(compiled)
    return compiled


def convert_opset(
    model: str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto, *opsets: int | str
) -> bytes:
    """The bytes of the model with its operators at other versions: 13 is opset 13 of ONNX, "ai.onnx.ml:3" of a domain.

    Raises CompileError where an operator cannot be converted; the text names every such node, and why.
    """
    from strata import _compiler

    if isinstance(model, (str, os.PathLike)):
        with open(model, "rb") as file:
            model = file.read()
    data = model if isinstance(model, (bytes, bytearray, memoryview)) else model.SerializeToString()
    return _compiler.convert_bytes(bytes(data), [str(opset) for opset in opsets])


def load(
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
    seed: int | None = None,
    profile: bool = False,
    memory_limit: int | None = None,
    advance_seeds: bool = False,
    device: int | None = None,
    device_results: bool = False,
) -> Model:
    """Opens a model that strata-compile --emit=lib made. The arguments are those of `compile`."""
    options = _options(threads, seed, profile, memory_limit, advance_seeds, device, device_results)
    return Model(_native.load(os.fspath(path), options))


def _options(threads, seed, profile, memory_limit, advance_seeds, device, device_results):
    for what, value in (("threads", threads), ("memory_limit", memory_limit)):
        if value is not None and value < 1:
            raise ValueError(f"{what} must be at least 1, got {value}")
    options = _native.Options()
    options.threads = threads or 0
    options.seed = seed
    options.memory_limit = memory_limit or 0
    options.profile = profile
    options.advance_seeds = advance_seeds
    if device is not None and device < 0:
        raise ValueError(f"device must be at least 0, got {device}")
    options.device = device
    options.device_results = device_results
    return options


def _listed(names):
    return ", ".join(f"'{name}'" for name in names)
