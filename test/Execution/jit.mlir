// A module at the seam through the JIT: weights from a resource, symbolic dimensions, generated inputs.

// RUN: strata-run %s --input=x=range --input=z=2x3xf32=ones --random-dims=batch=2 | FileCheck %s
// RUN: strata-run %s --input=range --input=ones --random-dims=batch=2 --threads=1 -O0 | FileCheck %s
// CHECK: output 'y': float[2, 3] [2, 4, 6, 5, 7, 9] checksum [[SUM:[0-9a-f]+]]
// CHECK: first run: {{[0-9.]+}} {{us|ms|s}}

// RUN: strata-run %s --quiet --benchmark=7 --threads=2 | FileCheck %s --check-prefix=BENCH
// BENCH: latency: median {{[0-9.]+}} us, min {{[0-9.]+}} us (7 runs, 2 threads)

// RUN: strata-run %s --quiet --verbose 2>&1 | FileCheck %s --check-prefix=PHASES
// PHASES: fused {{.*}} s
// PHASES: llvm {{.*}} s
// PHASES: object {{.*}} s

module attributes {strata.model = "add"} {
  ml_program.global private @w0(dense_resource<w0> : tensor<3xf32>) : tensor<3xf32>
  func.func @main(%x: tensor<?x3xf32> {strata.name = "x", strata.dims = ["batch", ""], strata.dtype = "float"},
                  %z: tensor<?x3xf32> {strata.name = "z", strata.dims = ["batch", ""], strata.dtype = "float"})
      -> (tensor<?x3xf32> {strata.name = "y", strata.dims = ["batch", ""], strata.dtype = "float"}) {
    %w = ml_program.global_load_const @w0 : tensor<3xf32>
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x3xf32>
    %e = tensor.empty(%n) : tensor<?x3xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                                          affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%x, %z, %w : tensor<?x3xf32>, tensor<?x3xf32>, tensor<3xf32>) outs(%e : tensor<?x3xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      %t = arith.addf %s, %c : f32
      linalg.yield %t : f32
    } -> tensor<?x3xf32>
    return %r : tensor<?x3xf32>
  }
}
{-#
  dialect_resources: { builtin: { w0: "0x040000000000803F0000004000004040" } }
#-}
