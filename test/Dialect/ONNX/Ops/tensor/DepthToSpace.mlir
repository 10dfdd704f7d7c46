// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Of the channels' two meanings this one has the block last.
// CHECK-LABEL: @columns
// CHECK: onnx.DepthToSpace_28{{.*}} -> tensor<?x2x4x6xf32>
// LOWER-LABEL: @columns
// LOWER: tensor.expand_shape {{.*}} tensor<?x2x2x2x2x3xf32>
// LOWER: linalg.transpose {{.*}}permutation = [0, 1, 4, 2, 5, 3]
func.func @columns(%x: tensor<?x8x2x3xf32>) -> tensor<*xf32> {
  %y = onnx.DepthToSpace_11(%x) {blocksize = 2 : i64, mode = "CRD"} : (tensor<?x8x2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @there
// CHECK: onnx.SpaceToDepth_28{{.*}} -> tensor<1x8x2x3xf32>
func.func @there(%x: tensor<1x2x4x6xf32>) -> tensor<*xf32> {
  %y = onnx.SpaceToDepth_1(%x) {blocksize = 2 : i64} : (tensor<1x2x4x6xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// An image of any size: what is joined is known, if not how much of it.
// LOWER-LABEL: @of_any_size
// LOWER: linalg.transpose {{.*}}permutation = [0, 1, 4, 2, 5, 3]
// LOWER: tensor.collapse_shape {{.*}} {{\[\[}}0], [1], [2, 3], [4, 5]] : tensor<1x2x?x2x?x2xf32> into tensor<1x2x?x?xf32>
func.func @of_any_size(%x: tensor<1x8x?x?xf32>) -> tensor<*xf32> {
  %y = onnx.DepthToSpace_11(%x) {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x8x?x?xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
