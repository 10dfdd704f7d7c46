// RUN: strata-compile %s --precision=f16 --mcpu=znver4 --threads=1 --emit=asm | FileCheck %s --check-prefixes=CHECK,X86
// RUN: strata-compile %s --precision=f16 --mcpu=haswell --threads=1 --emit=asm | FileCheck %s --check-prefixes=CHECK,X86
// RUN: strata-compile %s --precision=f16 --march=aarch64 --mcpu=neoverse-n1 --threads=1 --emit=asm | FileCheck %s --check-prefixes=CHECK,ARM
// RUN: strata-compile %s --mcpu=znver4 --threads=1 --emit=asm | FileCheck %s --check-prefix=F32
// RUN: not strata-compile %s --precision=f16 --mcpu=x86-64-v2 -o %t.so 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not strata-compile %s --precision=f16 --target=cuda -o %t.so 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: test ! -e %t.so

// TARGET: error: precision 'f16' needs a CPU whose vectors load f16 (on x86 f16c
// GPU: error: precision 'f16' is for the CPU; a GPU has 'tf32'

// Nothing is rounded that nobody asked to round.
// F32-NOT: vcvtph2ps

// Weights are converted as they are loaded; sums stay in registers.
// CHECK-LABEL: {{^}}kernel_0:
// X86:           vcvtph2ps {{.*}}(%{{.*}}), %{{[yz]}}mm
// X86-NOT:       (%rsp)
// X86:           vfmadd{{.*}}ps
// ARM:           fcvtl
// ARM:           fmla
ml_program.global private @w(dense_resource<w> : tensor<2048x256xf32>) : tensor<2048x256xf32>
func.func @main(%x: tensor<4x2048xf32>) -> tensor<4x256xf32> {
  %w = ml_program.global_load_const @w : tensor<2048x256xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x256xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<4x256xf32>) -> tensor<4x256xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x2048xf32>, tensor<2048x256xf32>) outs(%c : tensor<4x256xf32>) -> tensor<4x256xf32>
  return %0 : tensor<4x256xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F" } } #-}
