// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset | FileCheck %s --check-prefix=UPGRADE
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Bounds were attributes, float for every type of elements.
// UPGRADE-LABEL: @attributes
// UPGRADE-DAG: %[[LOW:.*]] = onnx.Initializer dense<-3.40{{.*}}E+38> : tensor<f64>
// UPGRADE-DAG: %[[HIGH:.*]] = onnx.Initializer dense<6.0{{.*}}> : tensor<f64>
// UPGRADE: onnx.Clip_13(%arg0, %[[LOW]], %[[HIGH]])
// CHECK-LABEL: @attributes
// CHECK: %[[MAX:.*]] = arith.maximumf
// CHECK: arith.minimumf %[[MAX]]
func.func @attributes(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = onnx.Clip_6(%x) {max = 6.0 : f32} : (tensor<3xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// -----

// CHECK-LABEL: @unsigned
// CHECK: arith.minui
func.func @unsigned(%x: tensor<3xui8>, %max: tensor<ui8>) -> tensor<3xui8> {
  %0 = onnx.Clip_13(%x, none, %max) : (tensor<3xui8>, none, tensor<ui8>) -> tensor<3xui8>
  return %0 : tensor<3xui8>
}
