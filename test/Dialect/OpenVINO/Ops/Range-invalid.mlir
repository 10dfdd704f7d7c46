// RUN: strata-opt %s --split-input-file --verify-diagnostics --onnx-infer-shapes

func.func @type(%x: tensor<f32>) {
  // expected-error@+1 {{attribute 'output_type' is 'float'; allowed are f16, f32, f64, bf16, i8 to i64 and u8 to u64}}
  %0 = ov.Range_4(%x, %x, %x) {output_type = "float"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @vector(%x: tensor<1xf32>) {
  // expected-error@+1 {{start, stop and step must be scalars, found rank 1}}
  %0 = ov.Range_4(%x, %x, %x) {output_type = "f32"} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @result(%x: tensor<f32>) {
  // expected-error@+1 {{output_type is i32, but the result holds 'f32'}}
  %0 = ov.Range_4(%x, %x, %x) {output_type = "i32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @zero() {
  %0 = onnx.Initializer dense<0> : tensor<i32>
  // expected-error@+1 {{step is zero}}
  %1 = ov.Range_4(%0, %0, %0) {output_type = "i32"} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>
  return
}
