// RUN: strata-opt %s --split-input-file --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// SHAPES-LABEL: @where
// SHAPES: onnx.Where_16{{.*}} -> tensor<2x3xf32>
// CHECK-LABEL: @where
// CHECK: arith.select
func.func @where(%c: tensor<2x1xi1>, %x: tensor<3xf32>, %y: tensor<f32>) -> tensor<*xf32> {
  %0 = onnx.Where_16(%c, %x, %y) : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// What exporters write for a size of -1: no size is negative, so a symbolic one is kept.
// SHAPES-LABEL: @sizes
// SHAPES: onnx.ConstantOfShape_25{{.*}} -> tensor<?x7xf32, #onnx.dims<"n", "">>
func.func @sizes(%a: tensor<?xf32, #onnx.dims<"n">>) -> tensor<*xf32> {
  %n = onnx.Shape_25(%a) : (tensor<?xf32, #onnx.dims<"n">>) -> tensor<1xi64>
  %minus = onnx.Initializer dense<-1> : tensor<1xi64>
  %seven = onnx.Initializer dense<7> : tensor<1xi64>
  %shape = onnx.Concat_13(%n, %minus) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %unset = onnx.Equal_19(%shape, %minus) : (tensor<2xi64>, tensor<1xi64>) -> tensor<2xi1>
  %sizes = onnx.Where_16(%unset, %seven, %shape) : (tensor<2xi1>, tensor<1xi64>, tensor<2xi64>) -> tensor<2xi64>
  %same = onnx.Identity_25(%sizes) : (tensor<2xi64>) -> tensor<2xi64>
  %0 = onnx.ConstantOfShape_25(%same) : (tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
