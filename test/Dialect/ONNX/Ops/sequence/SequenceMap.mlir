// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// A loop over the elements, which are taken out, computed with and inserted; a tensor is the same in every run of the body.
// CHECK-LABEL: func.func @scale(
// CHECK-SAME: %[[S:.*]]: tensor<i64> {{.*}}, %[[X:.*]]: tensor<f32>
// CHECK-SAME: -> (tensor<i64>
// CHECK: %[[H:.*]] = tensor.extract %[[S]][]
// CHECK: call @strata_rt_seq_length{{.*}}(%[[H]])
// CHECK: %[[NONE:.*]] = call @strata_rt_seq_empty
// CHECK: scf.for {{.*}} iter_args(%[[DONE:.*]] = %[[NONE]])
// CHECK: func.call @strata_rt_seq_at{{.*}}(%[[H]],
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK: %[[NEXT:.*]] = func.call @strata_rt_seq_insert{{.*}}(%[[DONE]],
// CHECK: scf.yield %[[NEXT]]
func.func @scale(%0: !onnx.seq<tensor<?xf32>>, %1: tensor<f32>) -> !onnx.seq<tensor<?xf32>> {
  %y = onnx.SequenceMap_17(%0, %1) graph {
  ^bb0(%a: tensor<?xf32>, %b: tensor<f32>):
    %c = onnx.Mul_14(%a, %b) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    onnx.Yield %c : tensor<?xf32>
  } : (!onnx.seq<tensor<?xf32>>, tensor<f32>) -> !onnx.seq<tensor<?xf32>>
  return %y : !onnx.seq<tensor<?xf32>>
}

// -----

// Lengths are compared when the sequences are there.
// CHECK-LABEL: func.func @two(
// CHECK: cf.assert %{{.*}}, "the sequences have different lengths"
func.func @two(%0: !onnx.seq<tensor<?xf32>>, %1: !onnx.seq<tensor<?xf32>>) -> !onnx.seq<tensor<?xf32>> {
  %y = onnx.SequenceMap_17(%0, %1) graph {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>):
    onnx.Yield %b : tensor<?xf32>
  } : (!onnx.seq<tensor<?xf32>>, !onnx.seq<tensor<?xf32>>) -> !onnx.seq<tensor<?xf32>>
  return %y : !onnx.seq<tensor<?xf32>>
}
