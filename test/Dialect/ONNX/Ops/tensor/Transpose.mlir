// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Without a permutation all dimensions are reversed.
// CHECK-LABEL: @reverse
// CHECK: onnx.Transpose_25{{.*}} -> tensor<4x?x2xf32>
// LOWER-LABEL: @reverse
// LOWER: linalg.transpose {{.*}}permutation = [2, 1, 0]
func.func @reverse(%x: tensor<2x?x4xf32>) -> tensor<*xf32> {
  %y = onnx.Transpose_1(%x) : (tensor<2x?x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
