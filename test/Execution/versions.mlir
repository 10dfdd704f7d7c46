// Versions of a model for known sizes: each has code of its own, and a run takes the one that fits its inputs.

// RUN: strata-compile %s -o %t.so --specialize=n=6 --specialize=n=6,m=2
// RUN: llvm-nm %t.so | FileCheck %s --check-prefix=SYMBOLS --implicit-check-not=_version3
// SYMBOLS-DAG: model_main
// SYMBOLS-DAG: model_version1_main
// SYMBOLS-DAG: model_version2_main
// RUN: FileCheck %s --check-prefix=HEADER < %t.h
// HEADER: input 0: x: float[n, m, 4]
// HEADER: A version for
// HEADER-NEXT: input 0: x: float[6, 2, 4]
// HEADER: A version for
// HEADER-NEXT: input 0: x: float[6, m, 4]
// HEADER: model_model

// RUN: strata-run %t.so --input=ones --random-dims=n=6,m=2 | FileCheck %s --check-prefixes=SUMS,MOST
// RUN: strata-run %t.so --input=ones --random-dims=n=6,m=3 | FileCheck %s --check-prefixes=SUMS,SOME
// RUN: strata-run %t.so --input=ones --random-dims=n=5,m=3 | FileCheck %s --check-prefixes=SUMS,NONE
// RUN: strata-run %s --specialize=n=6,m=2 --input=ones --random-dims=n=6,m=2 --verbose 2>&1 | FileCheck %s --check-prefixes=PHASE,SUMS,MOST
// PHASE: tiled of n=6, m=2 {{.*}} s
// MOST: output 'y': float[6, 2, 3]
// SOME: output 'y': float[6, 3, 3]
// NONE: output 'y': float[5, 3, 3]
// SUMS-SAME: [2.{{[0-9]*}}, 3.{{[0-9]*}}, 1.{{[0-9]*}}, 2.

// In the background.
// RUN: strata-run %s --specialize-after=2 --benchmark=5 --input=ones --random-dims=n=6,m=2 | FileCheck %s --check-prefix=MADE
// MADE: latency
// MADE: version for inputs [6, 2, 4]
// RUN: strata-run %s --specialize-after=2 --specialize-memory=1 --benchmark=5 --input=ones 2>&1 | FileCheck %s --check-prefix=FAILED
// FAILED: warning: there is no version for inputs [1, 1, 4]: takes {{[0-9]+}} bytes, more than all versions together may
// RUN: strata-run %s --specialize-after=2 --profile --input=ones --random-dims=n=6,m=2 | FileCheck %s --check-prefix=PROFILE
// PROFILE: node
// PROFILE-COUNT-1: product
// PROFILE-NOT: product
// PROFILE: version for inputs [6, 2, 4]

// Other versions are another library in a cache.
// RUN: rm -rf %t.cache
// RUN: strata-run %s --specialize=n=6 --specialize=n=2 --input=ones --quiet --cache=%t.cache
// RUN: strata-run %s --specialize=n=6 --input=ones --quiet --cache=%t.cache
// RUN: strata-run %s --specialize=n=6 --input=ones --quiet --cache=%t.cache
// RUN: ls %t.cache | grep -c '[.]so' | FileCheck %s --check-prefix=LIBRARIES
// LIBRARIES: 2

// For another machine.
// RUN: strata-compile %s --emit=staticlib --march=aarch64 -o %t.a --specialize=n=6
// RUN: strata-compile %s --emit=obj --march=riscv64 -o %t.o --specialize=n=6,m=9

// RUN: not strata-run %t.so --specialize=n=6 2>&1 | FileCheck %s --check-prefix=COMPILED
// COMPILED: so' is compiled: it has the versions that strata-compile gave it
// RUN: not strata-compile %s -o %t.x.so --specialize=k=6 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: no input has a dimension 'k'; the names are 'n', 'm'
// RUN: not strata-compile %s -o %t.x.so --specialize=n=0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: --specialize: the size of dimension 'n' is 0; it must be at least 1
// RUN: not strata-compile %s -o %t.x.so --specialize=n=1,n=2 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: --specialize: dimension 'n' is given twice in one set
// RUN: not strata-compile %s -o %t.x.so --specialize=n 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: --specialize: sizes of symbolic dimensions are NAME=SIZE, separated by commas, not 'n'
// RUN: not strata-compile %s -o %t.x.so --specialize= 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: --specialize: a set of sizes is empty
// RUN: not strata-compile %s -o %t.x.so --specialize=n=1 --specialize=n=1 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: two sets of sizes say the same: n=1
// RUN: not strata-compile %s --emit=llvm --specialize=n=1 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: versions for known sizes are parts of objects and libraries: --emit=lib, staticlib or obj
// RUN: not strata-compile %s -o %t.x.so --target=cuda --specialize=n=1 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: error: versions for known sizes are for the CPU, not for a GPU
// RUN: not strata-run %S/jit.mlir --specialize=batch=1 2>&1 | FileCheck %s --check-prefix=SEAM
// RUN: not strata-run %S/jit.mlir --specialize-after=1 2>&1 | FileCheck %s --check-prefix=SEAM
// SEAM: error: a model can have versions for known sizes as long as it has its operators; this one is at phase 'linalg'
// RUN: not strata-run %s --specialize-limit=0 --specialize-after=1 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error: --specialize-limit is at least 1
// RUN: not strata-run %s --specialize-memory=5 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: error: --specialize-limit and --specialize-memory bound what --specialize-after makes
// RUN: not ls %t.x.so

func.func @main(%x: tensor<?x?x4xf32, #onnx.dims<"n", "m", "">> {onnx.name = "x"})
    -> (tensor<?x?x3xf32> {onnx.name = "y"}) {
  %w = onnx.Initializer dense<[[0.5, 1.0, 0.25], [1.0, 0.5, 0.25], [0.5, 1.0, 0.25], [0.25, 0.75, 0.5]]> : tensor<4x3xf32>
  %b = onnx.Initializer dense<[0.25, 0.5, 0.25]> : tensor<3xf32>
  %0 = onnx.MatMul_13(%x, %w) : (tensor<?x?x4xf32, #onnx.dims<"n", "m", "">>, tensor<4x3xf32>) -> tensor<?x?x3xf32> loc("product")
  %1 = onnx.Add_14(%0, %b) : (tensor<?x?x3xf32>, tensor<3xf32>) -> tensor<?x?x3xf32> loc("sum")
  return %1 : tensor<?x?x3xf32>
}
