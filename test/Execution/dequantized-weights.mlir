// RUN: strata-compile %s --mcpu=znver4 --threads=1 --emit=asm | FileCheck %s --check-prefix=F32
// RUN: strata-compile %s --mcpu=haswell --threads=1 --emit=asm | FileCheck %s --check-prefix=AVX2
// RUN: strata-compile %s --march=aarch64 --mcpu=neoverse-n1 --threads=1 --emit=asm | FileCheck %s --check-prefix=ARM
// RUN: strata-compile %s --precision=int8 --mcpu=znver4 --threads=1 --emit=asm | FileCheck %s --check-prefix=BYTES
// RUN: strata-compile %s --precision=int8 --mcpu=alderlake --threads=1 --emit=asm | FileCheck %s --check-prefix=BYTES
// RUN: strata-compile %s --precision=int8 --mcpu=haswell --threads=1 --emit=asm | FileCheck %s --check-prefix=PAIRS
// RUN: not strata-compile %s --precision=int8 --mcpu=nehalem -o %t.so 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not strata-compile %s --precision=int8 --mcpu=skylake-avx512 -o %t.so 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not strata-compile %s --precision=int8 --target=cuda -o %t.so 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: test ! -e %t.so

// TARGET: error: precision 'int8' needs a CPU whose vectors add products of bytes (avx2, as haswell, znver1 and later
// GPU: error: precision 'int8' is for the CPU; a GPU has 'tf32'

// Nothing is rounded that nobody asked to round.
// F32-NOT: vpdpbusd
// AVX2-NOT: vpmaddubsw

// One row: what is read of a word becomes floats in registers, whose sums stay there, too.
// F32-LABEL:   {{^}}kernel_0:
// F32:           vpternlogd
// F32:           vaddps
// F32:           vfmadd{{.*}}ps
// AVX2:          vpsrld
// AVX2:          vfmadd{{.*}}ps
// ARM:           ushr
// ARM:           fmla

// Four bytes of the data, for all lanes, from memory; 32 bits of weights are eight numbers of four.
// BYTES:         vpsrld $4
// BYTES:         vpdpbusd
// BYTES:         vcvtdq2ps
// BYTES:         vfmadd{{.*}}ps

// Without products of four bytes, two products of codes of four bits each and their sums in 16 bits.
// PAIRS:         vpsrld $4
// PAIRS:         vpmaddubsw
// PAIRS:         vpaddw
// PAIRS:         vpmaddwd
// PAIRS:         vcvtdq2ps
// PAIRS:         vfmadd{{.*}}ps

func.func @main(%x: tensor<1x32xf32>) -> tensor<*xf32> {
  %w = onnx.Initializer dense<[[-8, -5, -2, 1, 4, 7, -6, -3, 0, 3, 6, -7, -4, -1, 2, 5],
                                [-1, 3, 7, -5, -1, 3, 7, -5, -1, 3, 7, -5, -1, 3, 7, -5],
                                [6, -5, 0, 5, -6, -1, 4, -7, -2, 3, -8, -3, 2, 7, -4, 1],
                                [-3, 3, -7, -1, 5, -5, 1, 7, -3, 3, -7, -1, 5, -5, 1, 7],
                                [4, -5, 2, -7, 0, 7, -2, 5, -4, 3, -6, 1, -8, -1, 6, -3],
                                [-5, 3, -5, 3, -5, 3, -5, 3, -5, 3, -5, 3, -5, 3, -5, 3],
                                [2, -5, 4, -3, 6, -1, -8, 1, -6, 3, -4, 5, -2, 7, 0, -7],
                                [-7, 3, -3, 7, 1, -5, 5, -1, -7, 3, -3, 7, 1, -5, 5, -1],
                                [0, -5, 6, 1, -4, 7, 2, -3, -8, 3, -2, -7, 4, -1, -6, 5],
                                [7, 3, -1, -5, 7, 3, -1, -5, 7, 3, -1, -5, 7, 3, -1, -5],
                                [-2, -5, -8, 5, 2, -1, -4, -7, 6, 3, 0, -3, -6, 7, 4, 1],
                                [5, 3, 1, -1, -3, -5, -7, 7, 5, 3, 1, -1, -3, -5, -7, 7],
                                [-4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3],
                                [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
                                [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7],
                                [1, 3, 5, 7, -7, -5, -3, -1, 1, 3, 5, 7, -7, -5, -3, -1],
                                [-8, -5, -2, 1, 4, 7, -6, -3, 0, 3, 6, -7, -4, -1, 2, 5],
                                [-1, 3, 7, -5, -1, 3, 7, -5, -1, 3, 7, -5, -1, 3, 7, -5],
                                [6, -5, 0, 5, -6, -1, 4, -7, -2, 3, -8, -3, 2, 7, -4, 1],
                                [-3, 3, -7, -1, 5, -5, 1, 7, -3, 3, -7, -1, 5, -5, 1, 7],
                                [4, -5, 2, -7, 0, 7, -2, 5, -4, 3, -6, 1, -8, -1, 6, -3],
                                [-5, 3, -5, 3, -5, 3, -5, 3, -5, 3, -5, 3, -5, 3, -5, 3],
                                [2, -5, 4, -3, 6, -1, -8, 1, -6, 3, -4, 5, -2, 7, 0, -7],
                                [-7, 3, -3, 7, 1, -5, 5, -1, -7, 3, -3, 7, 1, -5, 5, -1],
                                [0, -5, 6, 1, -4, 7, 2, -3, -8, 3, -2, -7, 4, -1, -6, 5],
                                [7, 3, -1, -5, 7, 3, -1, -5, 7, 3, -1, -5, 7, 3, -1, -5],
                                [-2, -5, -8, 5, 2, -1, -4, -7, 6, 3, 0, -3, -6, 7, 4, 1],
                                [5, 3, 1, -1, -3, -5, -7, 7, 5, 3, 1, -1, -3, -5, -7, 7],
                                [-4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3],
                                [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
                                [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, -8, -7],
                                [1, 3, 5, 7, -7, -5, -3, -1, 1, 3, 5, 7, -7, -5, -3, -1]]> : tensor<32x16xi4>
  %s = onnx.Initializer dense<[[0.5, 0.25, 1.0, 2.0, 0.5, 0.25, 1.0, 2.0, 0.5, 0.25, 1.0, 2.0, 0.5, 0.25, 1.0, 2.0]]> : tensor<1x16xf32>
  %0 = onnx.DequantizeLinear_21(%w, %s) {axis = 0 : i64, block_size = 32 : i64} : (tensor<32x16xi4>, tensor<1x16xf32>) -> tensor<*xf32>
  %1 = onnx.MatMul_13(%x, %0) : (tensor<1x32xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}
