// RUN: strata-opt --split-input-file --onnx-infer-shapes %s | FileCheck %s

// What exporters write to keep the batch: Shape, Gather, Unsqueeze, Concat, Reshape.
// CHECK-LABEL: @keep_batch
// CHECK: onnx.Reshape_14{{.*}} -> tensor<?x3x4xf32, #onnx.dims<"b", "", "">>
func.func @keep_batch(%x: tensor<?x12xf32, #onnx.dims<"b", "">>) -> tensor<?x3x4xf32> {
  %zero = onnx.Initializer dense<0> : tensor<i64>
  %axes = onnx.Initializer dense<0> : tensor<1xi64>
  %rest = onnx.Initializer dense<[3, -1]> : tensor<2xi64>
  %shape = onnx.Shape_15(%x) : (tensor<?x12xf32, #onnx.dims<"b", "">>) -> tensor<2xi64>
  %batch = onnx.Gather_13(%shape, %zero) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %list = onnx.Unsqueeze_13(%batch, %axes) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %target = onnx.Concat_13(%list, %rest) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %y = onnx.Reshape_14(%x, %target) : (tensor<?x12xf32, #onnx.dims<"b", "">>, tensor<3xi64>) -> tensor<?x3x4xf32>
  return %y : tensor<?x3x4xf32>
}

// -----

// Known elements become a constant.
// CHECK-LABEL: @folded
// CHECK: %[[C:.*]] = onnx.Initializer dense<[4, 2]> : tensor<2xi64>
// CHECK: return %[[C]]
func.func @folded(%x: tensor<2x3x4xf32>) -> tensor<2xi64> {
  %starts = onnx.Initializer dense<-1> : tensor<1xi64>
  %ends = onnx.Initializer dense<-9> : tensor<1xi64>
  %axes = onnx.Initializer dense<0> : tensor<1xi64>
  %steps = onnx.Initializer dense<-2> : tensor<1xi64>
  %shape = onnx.Shape_15(%x) : (tensor<2x3x4xf32>) -> tensor<3xi64>
  %y = onnx.Slice_13(%shape, %starts, %ends, %axes, %steps) : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}
