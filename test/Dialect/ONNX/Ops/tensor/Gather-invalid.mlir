// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @axis(%x: tensor<4xf32>, %a: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @below {{axis 1 is out of range for rank 1}}
  %y = onnx.Gather_13(%x, %a) {axis = 1 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @ranks(%x: tensor<2x3xf32>, %a: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @below {{has indices of rank 1 for data of rank 2}}
  %y = onnx.GatherElements_13(%x, %a) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @scalars(%x: tensor<4xf32>, %a: tensor<i64>) -> tensor<*xf32> {
  // expected-error @below {{needs data and indices of rank at least 1}}
  %y = onnx.GatherND_13(%x, %a) : (tensor<4xf32>, tensor<i64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @batch(%x: tensor<4xf32>, %a: tensor<2x1xi64>) -> tensor<*xf32> {
  // expected-error @below {{batch_dims 1 is out of range for ranks 1 and 2}}
  %y = onnx.GatherND_13(%x, %a) {batch_dims = 1 : i64} : (tensor<4xf32>, tensor<2x1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @tuples(%x: tensor<4xf32>, %a: tensor<2x2xi64>) -> tensor<*xf32> {
  // expected-error @below {{has index tuples of 2 elements for 1 dimensions}}
  %y = onnx.GatherND_13(%x, %a) : (tensor<4xf32>, tensor<2x2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
