// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Version 1 repeats one axis.
// CHECK-LABEL: @old
// CHECK: %[[N:.*]] = onnx.Initializer dense<[1, 2]> : tensor<2xi64>
// CHECK: onnx.Tile_13(%{{.*}}, %[[N]]) : {{.*}} -> tensor<2x6xf32>
// LOWER-LABEL: @old
// LOWER: tensor.collapse_shape {{.*}} : tensor<2x2x3xf32> into tensor<2x6xf32>
func.func @old(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<2.0> : tensor<f32>
  %b = onnx.Initializer dense<1.0> : tensor<f32>
  %y = onnx.Tile_1(%x, %a, %b) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Version 1 repeats one axis; which one and how often may be known at run time alone.
// CHECK-LABEL: func @run_time
// CHECK: %[[ONES:.*]] = onnx.Initializer dense<1> : tensor<2xi64>
// CHECK: %[[REPEATS:.*]] = onnx.ScatterElements_18(%[[ONES]], {{.*}}) {axis = 0
// CHECK: onnx.Tile_13(%arg0, %[[REPEATS]])
func.func @run_time(%x: tensor<2x3xf32>, %tiles: tensor<f32>, %axis: tensor<1xf32>) -> tensor<?x?xf32> {
  %0 = onnx.Tile_1(%x, %tiles, %axis) : (tensor<2x3xf32>, tensor<f32>, tensor<1xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
