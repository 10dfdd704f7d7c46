// RUN: strata-compile %s --mcpu=x86-64-v3 --threads=1 --emit=llvm -o - | FileCheck %s

// Rows of images of unknown size, of which a tile reads several: what the loops around have moved is one value for all of
// them, frozen, for each block of code. To it is added what does not move.
// CHECK-LABEL: define {{.*}} @kernel_0
// CHECK:       %[[MOVED:moved[0-9]*]] = freeze i64
// CHECK-NEXT:  %[[ROW:.+]] = getelementptr i8, ptr %{{.+}}, i64 %[[MOVED]]
// CHECK-NEXT:  %[[FIRST:.+]] = freeze ptr %[[ROW]]
// CHECK-NEXT:  %[[ROW:.+]] = getelementptr i8, ptr %{{.+}}, i64 %[[MOVED]]
// CHECK-NEXT:  freeze ptr %[[ROW]]
// CHECK-NEXT:  getelementptr i8, ptr %{{.+}}, i64 %[[MOVED]]
// CHECK:       %[[HERE:.+]] = getelementptr i8, ptr %[[FIRST]],
// CHECK:       load <8 x float>, ptr %[[HERE]]
// CHECK-NEXT:  %[[NEXT:.+]] = getelementptr i8, ptr %[[HERE]], i64 32
// CHECK-NEXT:  load <8 x float>, ptr %[[NEXT]]
func.func @main(%x: tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32> {
  %least = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %two = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x?x?xf32>
  %h = tensor.dim %x, %c2 : tensor<?x4x?x?xf32>
  %w = tensor.dim %x, %c3 : tensor<?x4x?x?xf32>
  %y = arith.subi %h, %two : index
  %z = arith.subi %w, %two : index
  %empty = tensor.empty(%n, %y, %z) : tensor<?x4x?x?xf32>
  %init = linalg.fill ins(%least : f32) outs(%empty : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %0 = linalg.pooling_nchw_max {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
    ins(%x, %window : tensor<?x4x?x?xf32>, tensor<3x3xf32>) outs(%init : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  return %0 : tensor<?x4x?x?xf32>
}
