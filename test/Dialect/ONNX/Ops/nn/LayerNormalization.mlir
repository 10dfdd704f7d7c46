// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Over the dimensions from the axis on, in f32.
// CHECK-LABEL: @statistics
// CHECK: -> (tensor<2x?x4xf16>, tensor<2x1x1xf32>, tensor<2x1x1xf32>)
// LOWER-LABEL: @statistics
// LOWER: iterator_types = ["parallel", "reduction", "reduction"]
// LOWER: math.sqrt
// LOWER: arith.truncf
func.func @statistics(%x: tensor<2x?x4xf16>, %a: tensor<4xf16>) -> (tensor<*xf16>, tensor<*xf32>, tensor<*xf32>) {
  %y, %z, %w = onnx.LayerNormalization_17(%x, %a) {axis = 1 : i64} : (tensor<2x?x4xf16>, tensor<4xf16>) -> (tensor<*xf16>, tensor<*xf32>, tensor<*xf32>)
  return %y, %z, %w : tensor<*xf16>, tensor<*xf32>, tensor<*xf32>
}

// -----

// LOWER-LABEL: @root
// LOWER: arith.mulf
// LOWER-NOT: arith.subf
// LOWER: math.sqrt
func.func @root(%x: tensor<2x3xf32>, %a: tensor<3xf32>) -> tensor<*xf32> {
  %y = onnx.RMSNormalization_23(%x, %a) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
