// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Scatter became ScatterElements.
// CHECK-LABEL: @old
// CHECK: onnx.ScatterElements_18{{.*}} -> tensor<3x?xf32>
// LOWER-LABEL: @old
// LOWER: scf.for
// LOWER: tensor.insert
func.func @old(%x: tensor<3x?xf32>, %a: tensor<1x2xi64>, %b: tensor<1x2xf32>) -> tensor<*xf32> {
  %y = onnx.Scatter_9(%x, %a, %b) : (tensor<3x?xf32>, tensor<1x2xi64>, tensor<1x2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The sum is made in the place of the slice that it adds to.
// LOWER-LABEL: @add
// LOWER: %[[OLD:.*]] = tensor.extract_slice %[[TO:.*]][%[[AT:.*]], 0] [1, 5] [1, 1] : tensor<4x5xi32> to tensor<5xi32>
// LOWER: %[[NEW:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<5xi32>) outs(%[[OLD]] : tensor<5xi32>)
// LOWER: arith.addi %{{.*}} : i32
// LOWER: tensor.insert_slice %[[NEW]] into %[[TO]][%[[AT]], 0] [1, 5] [1, 1]
func.func @add(%x: tensor<4x5xi32>, %a: tensor<2x1xi64>, %b: tensor<2x5xi32>) -> tensor<*xi32> {
  %y = onnx.ScatterND_18(%x, %a, %b) {reduction = "add"} : (tensor<4x5xi32>, tensor<2x1xi64>, tensor<2x5xi32>) -> tensor<*xi32>
  return %y : tensor<*xi32>
}
