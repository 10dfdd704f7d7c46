// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @norm
// CHECK: onnx.GlobalLpPool_22(%{{.*}}) {p = 3 : i64} : {{.*}} -> tensor<1x2x1x1xf32>
// LOWER-LABEL: @norm
// LOWER: math.powf
func.func @norm(%x: tensor<1x2x3x4xf32>) -> tensor<*xf32> {
  %y = onnx.GlobalLpPool_1(%x) {p = 3.0 : f32} : (tensor<1x2x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The sum is of f32.
// LOWER-LABEL: @mean
// LOWER: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// LOWER: arith.divf %{{.*}}, %{{.*}} : f32
// LOWER: arith.truncf
func.func @mean(%x: tensor<?x2x3x4xf16>) -> tensor<*xf16> {
  %y = onnx.GlobalAveragePool_22(%x) : (tensor<?x2x3x4xf16>) -> tensor<*xf16>
  return %y : tensor<*xf16>
}
