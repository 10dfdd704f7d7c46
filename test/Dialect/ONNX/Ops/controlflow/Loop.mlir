// RUN: strata-opt --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg %s | FileCheck %s

// A loop that only counts.
// CHECK-LABEL: @counts
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) -> (tensor<2xf32>, tensor<?x2xf32>)
// CHECK: tensor.insert_slice
func.func @counts(%trips: tensor<i64>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>) {
  %true = onnx.Initializer dense<true> : tensor<i1>
  %r:2 = onnx.Loop_16(%trips, %true, %x) graph {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<2xf32>):
    %next = onnx.Add_14(%v, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %c, %next, %next : tensor<i1>, tensor<2xf32>, tensor<2xf32>
  } : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<?x2xf32>
}

// -----

// A condition from the body, and a value that grows: its dimension is widened.
// CHECK-LABEL: @grows
// CHECK: scf.while {{.*}} : (index, i1, tensor<?xf32>) -> (index, i1, tensor<?xf32>)
// CHECK: scf.condition
func.func @grows(%go: tensor<i1>, %x: tensor<2xf32>) -> tensor<?xf32> {
  %limit = onnx.Initializer dense<9> : tensor<i64>
  %r = onnx.Loop_16(none, %go, %x) graph {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<?xf32>):
    %next = onnx.Concat_13(%v, %x) {axis = 0 : i64} : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
    %more = onnx.Less_13(%i, %limit) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    onnx.Yield %more, %next : tensor<i1>, tensor<?xf32>
  } : (none, tensor<i1>, tensor<2xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
