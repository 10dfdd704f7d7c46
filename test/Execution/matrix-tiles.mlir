// RUN: strata-compile %s --precision=bf16 --mcpu=sapphirerapids --threads=1 --emit=asm | FileCheck %s
// RUN: strata-compile %s --mcpu=sapphirerapids --threads=1 --emit=asm | FileCheck %s --check-prefix=F32
// RUN: not strata-compile %s --precision=bf16 --mcpu=x86-64-v4 --emit=asm 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not strata-compile %s --precision=bf16 --target=cuda --emit=asm 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: not strata-compile %s --precision=f8 --emit=asm 2>&1 | FileCheck %s --check-prefix=NAME
// TARGET: error: precision 'bf16' needs a CPU with avx512bf16 (such as cooperlake, znver4 and, with the matrix unit amx-bf16, sapphirerapids)
// GPU: error: precision 'bf16' is for the CPU
// NAME: error: --precision is f32, bf16, f16, int8 or tf32, not 'f8'

// Nothing is rounded that nobody asked to round.
// F32-NOT: tdpbf16ps

// The sums stay in registers for the whole reduction.
// CHECK:         ldtilecfg
// CHECK:         tilezero
// CHECK-NOT:     tilestored
// CHECK:         tdpbf16ps
// CHECK:         tdpbf16ps
// CHECK:         tdpbf16ps
// CHECK:         tdpbf16ps
// CHECK-NOT:     tilestored
// CHECK:         j{{[a-z]+}}
// CHECK:         tilestored
ml_program.global private @w(dense_resource<w> : tensor<2048x64xf32>) : tensor<2048x64xf32>
func.func @main(%x: tensor<64x2048xf32>) -> tensor<64x64xf32> {
  %w = ml_program.global_load_const @w : tensor<2048x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x2048xf32>, tensor<2048x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
