// RUN: strata-opt %s --split-input-file --onnx-infer-shapes | FileCheck %s

// CHECK-LABEL: func.func @shapes
// CHECK: onnx.NegativeLogLikelihoodLoss_22{{.*}} -> tensor<f32>
// CHECK: onnx.NegativeLogLikelihoodLoss_22{{.*}} -> tensor<?x4xf32, #onnx.dims<"n", "">>
// CHECK: onnx.SoftmaxCrossEntropyLoss_13{{.*}} -> (tensor<?x4xf32, #onnx.dims<"n", "">>, tensor<?x5x4xf32, #onnx.dims<"n", "", "">>)
func.func @shapes(%s: tensor<?x5x4xf32, #onnx.dims<"n", "", "">>, %l: tensor<?x?xi64>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.NegativeLogLikelihoodLoss_22(%s, %l) {reduction = "sum"} : (tensor<?x5x4xf32, #onnx.dims<"n", "", "">>, tensor<?x?xi64>) -> tensor<*xf32>
  %1 = onnx.NegativeLogLikelihoodLoss_22(%s, %l) {reduction = "none"} : (tensor<?x5x4xf32, #onnx.dims<"n", "", "">>, tensor<?x?xi64>) -> tensor<*xf32>
  %2, %3 = onnx.SoftmaxCrossEntropyLoss_13(%s, %l) {reduction = "none"} : (tensor<?x5x4xf32, #onnx.dims<"n", "", "">>, tensor<?x?xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0, %1, %2, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
