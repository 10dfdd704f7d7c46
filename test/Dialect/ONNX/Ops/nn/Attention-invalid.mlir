// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @past(%x: tensor<1x4x3x8xf32>, %a: tensor<1x4x3x8xf32>, %b: tensor<1x4x3x8xf32>, %d: tensor<1x4x3x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{has only one of 'past_key' and 'past_value'}}
  %y = onnx.Attention_25(%x, %a, %b, none, %d) : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, none, tensor<1x4x3x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @valid(%x: tensor<1x4x3x8xf32>, %a: tensor<1x4x3x8xf32>, %b: tensor<1x4x3x8xf32>, %d: tensor<1x4x3x8xf32>, %e: tensor<1x4x3x8xf32>, %f: tensor<1xi64>) -> tensor<*xf32> {
  // expected-error @below {{has both 'nonpad_kv_seqlen' and 'past_key'}}
  %y = onnx.Attention_25(%x, %a, %b, none, %d, %e, %f) : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, none, tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @mode(%x: tensor<1x4x3x8xf32>, %a: tensor<1x4x3x8xf32>, %b: tensor<1x4x3x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{'qk_matmul_output_mode' is 4, not 0, 1, 2 or 3}}
  %y = onnx.Attention_25(%x, %a, %b) {qk_matmul_output_mode = 4 : i64} : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @window(%x: tensor<1x4x3x8xf32>, %a: tensor<1x4x3x8xf32>, %b: tensor<1x4x3x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{'left_window_size' is -2, less than -1}}
  %y = onnx.Attention_25(%x, %a, %b) {left_window_size = -2 : i64} : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @precision(%x: tensor<1x4x3x8xf32>, %a: tensor<1x4x3x8xf32>, %b: tensor<1x4x3x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{'softmax_precision' is 7, not 1, 10, 11 or 16}}
  %y = onnx.Attention_25(%x, %a, %b) {softmax_precision = 7 : i64} : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%x: tensor<1x4x3x8xf32>, %a: tensor<2x3xf32>, %b: tensor<1x4x3x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{'K' has rank 2, not 3 or 4}}
  %y = onnx.Attention_25(%x, %a, %b) : (tensor<1x4x3x8xf32>, tensor<2x3xf32>, tensor<1x4x3x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @ranks(%x: tensor<1x4x3x8xf32>, %a: tensor<1x4x8xf32>, %b: tensor<1x4x3x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{'Q', 'K' and 'V' have ranks 4, 3 and 4}}
  %y = onnx.Attention_25(%x, %a, %b) : (tensor<1x4x3x8xf32>, tensor<1x4x8xf32>, tensor<1x4x3x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @heads(%x: tensor<1x4x8xf32>, %a: tensor<1x4x8xf32>, %b: tensor<1x4x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{operands of rank 3 need 'q_num_heads' and 'kv_num_heads'}}
  %y = onnx.Attention_25(%x, %a, %b) : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @divide(%x: tensor<1x4x8xf32>, %a: tensor<1x4x8xf32>, %b: tensor<1x4x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{'Q' has 8 elements, which do not divide into 3 heads}}
  %y = onnx.Attention_25(%x, %a, %b) {q_num_heads = 3 : i64, kv_num_heads = 1 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @groups(%x: tensor<1x4x3x8xf32>, %a: tensor<1x3x3x8xf32>, %b: tensor<1x3x3x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{has 4 heads of queries, which do not divide among 3 heads of keys}}
  %y = onnx.Attention_25(%x, %a, %b) : (tensor<1x4x3x8xf32>, tensor<1x3x3x8xf32>, tensor<1x3x3x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @sizes(%x: tensor<1x4x3x8xf32>, %a: tensor<1x4x3x7xf32>, %b: tensor<1x4x3x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{multiplies queries of 8 elements by keys of 7}}
  %y = onnx.Attention_25(%x, %a, %b) : (tensor<1x4x3x8xf32>, tensor<1x4x3x7xf32>, tensor<1x4x3x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @past_rank(%x: tensor<1x4x3x8xf32>, %a: tensor<1x4x3x8xf32>, %b: tensor<1x4x3x8xf32>, %d: tensor<1x4x8xf32>, %e: tensor<1x4x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{'past_key' has rank 3, not 4}}
  %y = onnx.Attention_25(%x, %a, %b, none, %d, %e) : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, none, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @mask(%x: tensor<1x4x3x8xf32>, %a: tensor<1x4x3x8xf32>, %b: tensor<1x4x3x8xf32>, %c: tensor<1x1x1x3x3xf32>) -> tensor<1x4x3x8xf32> {
  // expected-error @below {{'attn_mask' has rank 5, not 1 to 4}}
  %y = onnx.Attention_25(%x, %a, %b, %c) : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, tensor<1x1x1x3x3xf32>) -> tensor<1x4x3x8xf32>
  return %y : tensor<1x4x3x8xf32>
}
