// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Version 18 has one parameter per group, and computes in the input's type.
// CHECK-LABEL: @per_group
// CHECK: onnx.Expand
// CHECK: onnx.GroupNormalization_21(%{{.*}}) {num_groups = 2 : i64, stash_type = 11 : i64}
// LOWER-LABEL: @per_group
// LOWER: tensor.expand_shape
// LOWER: math.sqrt
func.func @per_group(%x: tensor<2x4x4xf64>, %a: tensor<2xf64>, %b: tensor<2xf64>) -> tensor<*xf64> {
  %y = onnx.GroupNormalization_18(%x, %a, %b) {num_groups = 2 : i64} : (tensor<2x4x4xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<*xf64>
  return %y : tensor<*xf64>
}

// -----

// CHECK-LABEL: @instance
// CHECK: onnx.InstanceNormalization_22(%{{.*}}) : 
// LOWER-LABEL: @instance
// LOWER: iterator_types = ["parallel", "parallel", "reduction"]
func.func @instance(%x: tensor<2x3x4xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  %y = onnx.InstanceNormalization_1(%x, %a, %b) {consumed_inputs = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
