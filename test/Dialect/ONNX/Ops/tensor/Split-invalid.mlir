// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @both(%x: tensor<5xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-error @below {{needs either the input 'split' or the attribute 'num_outputs'}}
  %y, %z = onnx.Split_18(%x) : (tensor<5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @count(%x: tensor<6xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-error @below {{has 2 outputs, but num_outputs is 3}}
  %y, %z = onnx.Split_18(%x) {num_outputs = 3 : i64} : (tensor<6xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @sizes(%x: tensor<6xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %a = onnx.Initializer dense<[1, 2, 3]> : tensor<3xi64>
  // expected-error @below {{has 2 outputs, but 3 sizes}}
  %y, %z = onnx.Split_18(%x, %a) : (tensor<6xf32>, tensor<3xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @negative(%x: tensor<6xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %a = onnx.Initializer dense<[-1, 7]> : tensor<2xi64>
  // expected-error @below {{has a part of size -1}}
  %y, %z = onnx.Split_18(%x, %a) : (tensor<6xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @sum(%x: tensor<6xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %a = onnx.Initializer dense<[2, 3]> : tensor<2xi64>
  // expected-error @below {{splits a dimension of size 6 into 5}}
  %y, %z = onnx.Split_18(%x, %a) : (tensor<6xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @equal(%x: tensor<5xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-error @below {{splits a dimension of size 5 into 2 equal parts}}
  %y, %z = onnx.Split_13(%x) : (tensor<5xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @old(%x: tensor<5xf32>, %a: tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-error @below {{cannot be upgraded to version 2: its input 'split' is not a constant}}
  %y, %z = onnx.Split_1(%x, %a) : (tensor<5xf32>, tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}
