"""Kernels do not depend on those that were compiled before them."""

import random
import re
import subprocess

from support.library import BIN

KERNELS = """
gpu.module @{name} {{
  {globals}
  llvm.func @kernel(%result: !llvm.ptr<1>)
      attributes {{gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: {threads}>}} {{
    %limit = llvm.mlir.constant(32 : i32) : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %inside = llvm.icmp "ult" %thread, %limit : i32
    llvm.cond_br %inside, ^store, ^end
  ^store:
    %to = llvm.getelementptr %result[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %thread, %to : i32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }}
}}
"""


def test_block_sizes_of_kernels_that_are_gone():
    """A kernel of 128 threads, of which 32 store, between others of 32 threads, which need no comparison.

    What LLVM keeps by address goes wrong where a function lies where another one has been: variables of different
    numbers let that happen to every 14th.
    """
    numbers = random.Random(1)
    source = "module attributes {gpu.container_module} {"
    for i in range(200):
        variables = [
            f"llvm.mlir.global external @v{k}() {{addr_space = 1 : i32}} : i32" for k in range(numbers.randrange(8))
        ]
        source += KERNELS.format(name=f"narrow{i}", threads=32, globals="\n  ".join(variables))
        source += KERNELS.format(name=f"wide{i}", threads=128, globals="")
    source += "}"
    done = subprocess.run(
        [BIN / "strata-opt", "--strata-serialize-kernels=format=bitcode"], input=source, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    wide = re.findall(r'gpu\.binary @wide\d+ .*offload = (".*")', done.stdout)
    assert len(wide) == 200 and len(set(wide)) == 1
