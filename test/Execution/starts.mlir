// RUN: strata-compile %s --mcpu=x86-64-v3 --threads=1 --emit=llvm -o - | FileCheck %s

// Rows of an image start at a sum of products. Before the loop this is one value for all points of a window, whatever it
// is a sum of; in the loop, what the loop adds, and constants.
// CHECK-LABEL: define {{.*}} @kernel_0
// CHECK:       %[[SUM:.+]] = getelementptr i8, ptr %1, i64 %
// CHECK:       %[[START:start[0-9]*]] = freeze ptr %[[SUM]]
// CHECK-NEXT:  %[[RESULT:start[0-9]*]] = freeze ptr
// CHECK-NOT:   freeze
// CHECK:       %[[ADDED:.+]] = shl {{.*}}i64 %{{.*}}, 5
// CHECK:       %[[MOVED:.+]] = getelementptr i8, ptr %[[START]], i64 %[[ADDED]]
// CHECK:       load <8 x float>, ptr %[[MOVED]]
// CHECK:       %[[NEXT:.+]] = getelementptr i8, ptr %[[MOVED]], i64 256
// CHECK-NEXT:  load <8 x float>, ptr %[[NEXT]]
// CHECK-NOT:   getelementptr i8, ptr %[[START]]
// CHECK:       store <8 x float> %{{.*}}, ptr %{{.*}}
func.func @main(%x: tensor<1x30x30x64xf32>, %w: tensor<3x3x64xf32>) -> tensor<1x28x28x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x28x28x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
    ins(%x, %w : tensor<1x30x30x64xf32>, tensor<3x3x64xf32>) outs(%init : tensor<1x28x28x64xf32>)
    -> tensor<1x28x28x64xf32>
  return %0 : tensor<1x28x28x64xf32>
}
