// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @known
// CHECK: onnx.Expand_13{{.*}} -> tensor<2x3x4xf32>
// LOWER-LABEL: @known
// LOWER: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x4xf32>)
func.func @known(%x: tensor<3x1xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<[2, 1, 4]> : tensor<3xi64>
  %y = onnx.Expand_8(%x, %a) : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A size of the shape is 1 or that of the input.
// LOWER-LABEL: @run_time
// LOWER: cf.assert %{{.*}}, "the shape does not broadcast in dimension 1"
func.func @run_time(%x: tensor<3xf32>, %a: tensor<2xi64>) -> tensor<*xf32> {
  %y = onnx.Expand_13(%x, %a) : (tensor<3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
