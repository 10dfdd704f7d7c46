// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --split-input-file --verify-diagnostics

func.func @dtype() -> !onnx.seq<tensor<*xf32>> {
  // expected-error @below {{dtype = 99 is no element type}}
  %0 = onnx.SequenceEmpty_11() {dtype = 99 : i64} : () -> !onnx.seq<tensor<*xf32>>
  return %0 : !onnx.seq<tensor<*xf32>>
}

// -----

func.func @insert(%s: !onnx.seq<tensor<?xf32>>, %x: tensor<2xi64>) -> !onnx.seq<tensor<*xf32>> {
  // expected-error @below {{inserts tensor(int64) into seq(tensor(float))}}
  %0 = onnx.SequenceInsert_11(%s, %x) : (!onnx.seq<tensor<?xf32>>, tensor<2xi64>) -> !onnx.seq<tensor<*xf32>>
  return %0 : !onnx.seq<tensor<*xf32>>
}

// -----

func.func @unranked(%s: !onnx.seq<tensor<*xf32>>, %i: tensor<i64>) -> tensor<i64> {
  // expected-error @below {{cannot be compiled: the rank of its result is not known at compile time}}
  %0 = onnx.SequenceAt_11(%s, %i) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  %1 = onnx.Size_25(%0) : (tensor<*xf32>) -> tensor<i64>
  return %1 : tensor<i64>
}

// -----

func.func @axis(%s: !onnx.seq<tensor<?x2xf32>>) -> tensor<*xf32> {
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %0 = onnx.ConcatFromSequence_11(%s) {axis = 2 : i64} : (!onnx.seq<tensor<?x2xf32>>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @parts(%x: tensor<4xf32>) -> !onnx.seq<tensor<*xf32>> {
  %size = onnx.Initializer dense<0> : tensor<i64>
  // expected-error @below {{splits into parts of size 0}}
  %0 = onnx.SplitToSequence_24(%x, %size) : (tensor<4xf32>, tensor<i64>) -> !onnx.seq<tensor<*xf32>>
  return %0 : !onnx.seq<tensor<*xf32>>
}
