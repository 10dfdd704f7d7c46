// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Version 1 may leave out its axis.
// CHECK-LABEL: @old
// CHECK: onnx.Concat_13(%{{.*}}) {axis = 1 : i64} : {{.*}} -> tensor<2x?xf32>
// LOWER-LABEL: @old
// LOWER: tensor.concat dim(1)
func.func @old(%x: tensor<2x?xf32>, %a: tensor<2x3xf32>) -> tensor<*xf32> {
  %y = onnx.Concat_1(%x, %a) : (tensor<2x?xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Few integers are a shape: scalars.
// LOWER-LABEL: @shapes
// LOWER: tensor.from_elements %{{.*}}, %{{.*}}, %{{.*}} : tensor<3xi64>
func.func @shapes(%x: tensor<1xi64>, %a: tensor<2xi64>) -> tensor<*xi64> {
  %y = onnx.Concat_13(%x, %a) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<*xi64>
  return %y : tensor<*xi64>
}
