// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @same
// CHECK: onnx.Identity_25{{.*}} -> tensor<?x3xf32>
// LOWER-LABEL: @same
// LOWER-SAME: %[[X:[a-z0-9]+]]: tensor<?x3xf32>
// LOWER-NEXT: return %[[X]]
func.func @same(%x: tensor<?x3xf32>) -> tensor<*xf32> {
  %y = onnx.Identity_1(%x) : (tensor<?x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// LOWER-LABEL: @sequence
// LOWER-SAME: %[[X:[a-z0-9]+]]: tensor<i64>
// LOWER-NEXT: return %[[X]]
func.func @sequence(%x: !onnx.seq<tensor<?xf32>>) -> !onnx.seq<tensor<?xf32>> {
  %y = onnx.Identity_25(%x) : (!onnx.seq<tensor<?xf32>>) -> !onnx.seq<tensor<?xf32>>
  return %y : !onnx.seq<tensor<?xf32>>
}
