// RUN: strata-opt --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg %s | FileCheck %s

// Dimensions in which the branches differ are known at run time alone.
// CHECK-LABEL: @sizes
// CHECK-SAME: -> (tensor<?x2xf32>
// CHECK: %[[C:.*]] = tensor.extract
// CHECK: scf.if %[[C]] -> (tensor<?x2xf32>)
// CHECK: tensor.cast %{{.*}} : tensor<3x2xf32> to tensor<?x2xf32>
// CHECK: else
// CHECK: tensor.cast %{{.*}} : tensor<4x2xf32> to tensor<?x2xf32>
func.func @sizes(%c: tensor<i1>, %x: tensor<3x2xf32>, %z: tensor<4x2xf32>) -> tensor<*xf32> {
  %y = onnx.If_1(%c) graph {
    onnx.Yield %z : tensor<4x2xf32>
  } graph {
    onnx.Yield %x : tensor<3x2xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
