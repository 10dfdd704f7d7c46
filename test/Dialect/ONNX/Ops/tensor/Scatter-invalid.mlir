// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @reduction(%x: tensor<5xf32>, %a: tensor<2xi64>, %b: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @below {{has the unknown reduction 'max'}}
  %y = onnx.ScatterElements_16(%x, %a, %b) {reduction = "max"} : (tensor<5xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @complex(%x: tensor<5xcomplex<f32>>, %a: tensor<2xi64>, %b: tensor<2xcomplex<f32>>) -> tensor<5xcomplex<f32>> {
  // expected-error @below {{cannot be compiled: complex numbers have no max}}
  %y = onnx.ScatterElements_18(%x, %a, %b) {reduction = "max"} : (tensor<5xcomplex<f32>>, tensor<2xi64>, tensor<2xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  return %y : tensor<5xcomplex<f32>>
}

// -----

func.func @ranks(%x: tensor<5xf32>, %a: tensor<2xi64>, %b: tensor<2x1xf32>) -> tensor<*xf32> {
  // expected-error @below {{operands 'updates' and 'indices' must have the same shape, but have ranks 2 and 1}}
  %y = onnx.ScatterElements_18(%x, %a, %b) : (tensor<5xf32>, tensor<2xi64>, tensor<2x1xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @scalar(%x: tensor<5xf32>, %a: tensor<i64>, %b: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @below {{needs indices of rank at least 1}}
  %y = onnx.ScatterND_18(%x, %a, %b) : (tensor<5xf32>, tensor<i64>, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @tuples(%x: tensor<5xf32>, %a: tensor<3x2xi64>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @below {{has index tuples of 2 elements for data of rank 1}}
  %y = onnx.ScatterND_18(%x, %a, %b) : (tensor<5xf32>, tensor<3x2xi64>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @updates(%x: tensor<5xf32>, %a: tensor<3x1xi64>, %b: tensor<3x1xf32>) -> tensor<*xf32> {
  // expected-error @below {{has updates of rank 2 instead of 1}}
  %y = onnx.ScatterND_18(%x, %a, %b) : (tensor<5xf32>, tensor<3x1xi64>, tensor<3x1xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
