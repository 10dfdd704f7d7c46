// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @scales(%x: tensor<2x3xf32>, %scale: tensor<2xf32>) {
  // expected-error @+1 {{there are 2 scales for size 3 of axis 1}}
  %0 = onnx.QuantizeLinear_28(%x, %scale) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xui8>
  return
}

// -----

func.func @axis(%x: tensor<2x3xf32>, %scale: tensor<2xf32>) {
  // expected-error @+1 {{axis 2 is out of range for rank 2}}
  %0 = onnx.QuantizeLinear_28(%x, %scale) {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xui8>
  return
}

// -----

func.func @blocks(%x: tensor<2x9xf32>, %scale: tensor<2x2xf32>) {
  // expected-error @+1 {{size 2 of dimension 1 of the scale should be 3}}
  %0 = onnx.QuantizeLinear_28(%x, %scale) {block_size = 4 : i64} : (tensor<2x9xf32>, tensor<2x2xf32>) -> tensor<*xui8>
  return
}

// -----

func.func @outputType(%x: tensor<2xf32>, %scale: tensor<f32>, %zero: tensor<i8>) {
  // expected-error @+1 {{output_dtype is uint8, but the zero point's type is int8}}
  %0 = onnx.QuantizeLinear_28(%x, %scale, %zero) {output_dtype = 2 : i64} : (tensor<2xf32>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  return
}

// -----

func.func @scaleType(%x: tensor<2xi8>, %scale: tensor<!onnx.f8E8M0>) {
  // expected-error @+1 {{a scale of type float8e8m0 needs output_dtype}}
  %0 = onnx.DequantizeLinear_28(%x, %scale) : (tensor<2xi8>, tensor<!onnx.f8E8M0>) -> tensor<*xf32>
  return
}
