// RUN: strata-compile %s --mcpu=x86-64-v3 --threads=1 --emit=llvm -o - | FileCheck %s

// The borders of images: hundreds of fills stay loops. Each becomes a dozen of stores, and to schedule them as one block
// takes the second power of their number.
// CHECK-LABEL: define {{.*}} @kernel_2
// CHECK:       @llvm.memset
// CHECK-NOT:   @llvm.memset
// CHECK-LABEL: define {{.*}} @kernel_3
func.func @main(%x: tensor<1x8x28x28x128xf32>) -> tensor<1x8x30x30x128xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0, 0, 1, 1, 0] high[0, 0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index, %e: index):
    tensor.yield %zero : f32
  } : tensor<1x8x28x28x128xf32> to tensor<1x8x30x30x128xf32>
  return %0 : tensor<1x8x30x30x128xf32>
}
