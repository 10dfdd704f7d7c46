// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @equal
// CHECK: onnx.Split_18{{.*}} -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
// LOWER-LABEL: @equal
// LOWER: tensor.extract_slice %{{.*}}[0, 0] [%{{.*}}, 2] [1, 1]
// LOWER: tensor.extract_slice %{{.*}}[0, 2]
// LOWER: tensor.extract_slice %{{.*}}[0, 4]
func.func @equal(%x: tensor<?x6xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %y, %z, %w = onnx.Split_2(%x) {axis = 1 : i64} : (tensor<?x6xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y, %z, %w : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// The last part may be smaller.
// CHECK-LABEL: @rest
// CHECK: -> (tensor<3xf32>, tensor<3xf32>, tensor<1xf32>)
func.func @rest(%x: tensor<7xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %y, %z, %w = onnx.Split_18(%x) {num_outputs = 3 : i64} : (tensor<7xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y, %z, %w : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
