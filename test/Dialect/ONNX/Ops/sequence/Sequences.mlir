// RUN: strata-opt %s --onnx-infer-shapes --split-input-file | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --split-input-file | FileCheck %s

// An empty sequence gets the type of what is inserted; ranks of elements are checked when they are taken out.
// SHAPES-LABEL: @at
// SHAPES: SequenceInsert_11({{.*}}) : {{.*}} -> !onnx.seq<tensor<2x?xf32>>
// SHAPES: SequenceAt_11({{.*}}) : {{.*}} -> tensor<2x?xf32>
// CHECK-LABEL: @at
// CHECK: cf.assert {{.*}}, "the position is out of the sequence's range"
// CHECK: cf.assert {{.*}}, "the element has another rank than 2"
// CHECK: cf.assert {{.*}}, "the element has another size than 2 in dimension 0"
// CHECK: memref.alloc({{.*}}) : memref<2x?xf32>
// CHECK: call @strata_rt_tensor_read
func.func @at(%x: tensor<2x?xf32>, %i: tensor<i64>) -> tensor<*xf32> {
  %0 = onnx.SequenceEmpty_11() : () -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SequenceInsert_11(%0, %x) : (!onnx.seq<tensor<*xf32>>, tensor<2x?xf32>) -> !onnx.seq<tensor<*xf32>>
  %2 = onnx.SequenceAt_11(%1, %i) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// A sequence is a handle that its function's attributes tell the elements of.
// CHECK-LABEL: @identity
// CHECK-SAME: tensor<i64> {strata.dtype = "sequence", strata.element = [{dims = ["n"], dtype = "float", shape = array<i64: -1>}]}
func.func @identity(%s: !onnx.seq<tensor<?xf32, #onnx.dims<"n">>>) -> !onnx.seq<tensor<?xf32, #onnx.dims<"n">>> {
  return %s : !onnx.seq<tensor<?xf32, #onnx.dims<"n">>>
}

// -----

// SHAPES-LABEL: @parts
// SHAPES: SplitToSequence_24({{.*}}) : {{.*}} -> !onnx.seq<tensor<2x4xf32>>
// SHAPES: SplitToSequence_24({{.*}}) {{.*}} -> !onnx.seq<tensor<4xf32>>
// SHAPES: ConcatFromSequence_11({{.*}}) {{.*}} -> tensor<4x?xf32>
func.func @parts(%x: tensor<6x4xf32>) -> (!onnx.seq<tensor<*xf32>>, tensor<*xf32>) {
  %size = onnx.Initializer dense<2> : tensor<i64>
  %0 = onnx.SplitToSequence_24(%x, %size) : (tensor<6x4xf32>, tensor<i64>) -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SplitToSequence_24(%x) {keepdims = 0 : i64} : (tensor<6x4xf32>) -> !onnx.seq<tensor<*xf32>>
  %2 = onnx.ConcatFromSequence_11(%1) {axis = 1 : i64, new_axis = 1 : i64} : (!onnx.seq<tensor<*xf32>>) -> tensor<*xf32>
  return %0, %2 : !onnx.seq<tensor<*xf32>>, tensor<*xf32>
}
