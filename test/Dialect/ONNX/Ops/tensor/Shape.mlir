// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @part
// CHECK: onnx.Shape_25{{.*}} -> tensor<2xi64>
// LOWER-LABEL: @part
// LOWER: %[[D:.*]] = tensor.dim
// LOWER: %[[N:.*]] = arith.index_cast %[[D]] : index to i64
// LOWER: tensor.from_elements %[[N]], %c4_i64
func.func @part(%x: tensor<2x?x4xf32>) -> tensor<*xi64> {
  %y = onnx.Shape_15(%x) {start = -2 : i64} : (tensor<2x?x4xf32>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}

// -----

// What is known is a constant.
// CHECK-LABEL: @size
// CHECK: onnx.Initializer dense<6> : tensor<i64>
func.func @size(%x: tensor<2x3xf32>) -> tensor<*xi64> {
  %y = onnx.Size_1(%x) : (tensor<2x3xf32>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}
