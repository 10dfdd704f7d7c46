// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @form(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x6xf32>) {
  // expected-error @+1 {{'center_point_box' is 2, but must be 0 or 1}}
  %0 = onnx.NonMaxSuppression_11(%boxes, %scores, none, none, none) {center_point_box = 2 : i64} : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, none, none, none) -> tensor<*xi64>
  return
}

// -----

func.func @rank(%boxes: tensor<6x4xf32>, %scores: tensor<1x2x6xf32>) {
  // expected-error @+1 {{needs boxes of rank 3, not 2}}
  %0 = onnx.NonMaxSuppression_11(%boxes, %scores, none, none, none) : (tensor<6x4xf32>, tensor<1x2x6xf32>, none, none, none) -> tensor<*xi64>
  return
}

// -----

func.func @numbers(%boxes: tensor<1x6x5xf32>, %scores: tensor<1x2x6xf32>) {
  // expected-error @+1 {{has boxes of 5 numbers, not 4}}
  %0 = onnx.NonMaxSuppression_11(%boxes, %scores, none, none, none) : (tensor<1x6x5xf32>, tensor<1x2x6xf32>, none, none, none) -> tensor<*xi64>
  return
}
