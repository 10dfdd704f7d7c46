// RUN: strata-compile %s --precision=bf16 --mcpu=znver4 --threads=1 --emit=asm | FileCheck %s
// RUN: strata-compile %s --precision=bf16 --mcpu=cooperlake --threads=1 --emit=asm | FileCheck %s
// RUN: strata-compile %s --mcpu=znver4 --threads=1 --emit=asm | FileCheck %s --check-prefix=F32

// Nothing is rounded that nobody asked to round.
// F32-NOT: dpbf16ps

// Two bf16 of the data, the same for all lanes, come straight from memory.
// CHECK:         {{vpbroadcastd|vbroadcastss}} {{.*}}(%{{.*}}), %zmm
// CHECK:         vdpbf16ps {{.*}}%zmm
// CHECK-NOT:     (%rsp)
// CHECK:         j{{[a-z]+}}
ml_program.global private @w(dense_resource<w> : tensor<2048x64xf32>) : tensor<2048x64xf32>
func.func @main(%x: tensor<64x2048xf32>) -> tensor<64x64xf32> {
  %w = ml_program.global_load_const @w : tensor<2048x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x2048xf32>, tensor<2048x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
