// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @outputs(%0: !onnx.seq<tensor<?xf32>>) -> (!onnx.seq<tensor<?xf32>>, !onnx.seq<tensor<?xf32>>) {
  // expected-error @below {{has 2 outputs, but its body has 1}}
  %y, %z = onnx.SequenceMap_17(%0) graph {
  ^bb0(%a: tensor<?xf32>):
    onnx.Yield %a : tensor<?xf32>
  } : (!onnx.seq<tensor<?xf32>>) -> (!onnx.seq<tensor<?xf32>>, !onnx.seq<tensor<?xf32>>)
  return %y, %z : !onnx.seq<tensor<?xf32>>, !onnx.seq<tensor<?xf32>>
}

// -----

func.func @inputs(%0: !onnx.seq<tensor<?xf32>>) -> !onnx.seq<tensor<?xf32>> {
  // expected-error @below {{has 1 inputs, but its body has 2}}
  %y = onnx.SequenceMap_17(%0) graph {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>):
    onnx.Yield %a : tensor<?xf32>
  } : (!onnx.seq<tensor<?xf32>>) -> !onnx.seq<tensor<?xf32>>
  return %y : !onnx.seq<tensor<?xf32>>
}
