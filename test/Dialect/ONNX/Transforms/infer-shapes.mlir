// RUN: strata-opt %s --onnx-infer-shapes --split-input-file | FileCheck %s

// Symbolic names travel with the dimensions, and results become as precise as their operands allow.

// CHECK-LABEL: @names
// CHECK-SAME: -> (tensor<?x3xf32, #onnx.dims<"N", "">> {onnx.name = "y"})
func.func @names(%x: tensor<?x3xf32, #onnx.dims<"N", "">>) -> (tensor<*xf32> {onnx.name = "y"}) {
  // CHECK: onnx.Relu_6({{.*}}) : (tensor<?x3xf32, #onnx.dims<"N", "">>) -> tensor<?x3xf32, #onnx.dims<"N", "">>
  %0 = onnx.Relu_6(%x) : (tensor<?x3xf32, #onnx.dims<"N", "">>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// What the graph declares beyond what is inferred stays, as a checked cast.

// CHECK-LABEL: @declared
// CHECK-SAME: -> tensor<4xf32>
func.func @declared(%x: tensor<?xf32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.*]] = onnx.Exp_13
  // CHECK: %[[C:.*]] = onnx.CastShape %[[Y]] : tensor<?xf32> -> tensor<4xf32>
  // CHECK: return %[[C]]
  %0 = onnx.Exp_13(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = onnx.CastShape %0 : tensor<?xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
