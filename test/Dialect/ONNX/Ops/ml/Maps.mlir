// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// A map for each row.
// CHECK-LABEL: func.func @zip(
// CHECK-SAME: -> (tensor<i64>
// CHECK: call @strata_rt_zip_map
func.func @zip(%0: tensor<?x2xf32>) -> !onnx.seq<!onnx.map<!onnx.string, f32>> {
  %y = onnx.ml.ZipMap_1(%0) {classlabels_strings = ["a", "b"]} : (tensor<?x2xf32>) -> !onnx.seq<!onnx.map<!onnx.string, f32>>
  return %y : !onnx.seq<!onnx.map<!onnx.string, f32>>
}

// -----

// The values of a vocabulary's keys.
// CHECK-LABEL: func.func @vectorize(
// CHECK-SAME: -> (tensor<1x3xf32>
// CHECK: arith.constant dense<[3, 1, 2]> : tensor<3xi64>
// CHECK: memref.alloc() : memref<1x3xf32>
// CHECK: call @strata_rt_map_values
func.func @vectorize(%0: !onnx.map<i64, f32>) -> tensor<1x?xf32> {
  %y = onnx.ml.DictVectorizer_1(%0) {int64_vocabulary = array<i64: 3, 1, 2>} : (!onnx.map<i64, f32>) -> tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}

// -----

// Values as numbers, in as many places as asked for.
// CHECK-LABEL: func.func @sparse(
// CHECK-SAME: -> (tensor<1x4xf32>
// CHECK-NOT: call @strata_rt_map_size
// CHECK: call @strata_rt_map_list
// CHECK: call @strata_rt_string_to_float
func.func @sparse(%0: !onnx.map<i64, !onnx.string>) -> tensor<1x?xf32> {
  %y = onnx.ml.CastMap_1(%0) {map_form = "SPARSE", max_map = 4 : i64} : (!onnx.map<i64, !onnx.string>) -> tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}

// -----

// As many as the map has.
// CHECK-LABEL: func.func @dense(
// CHECK-SAME: -> (tensor<1x?xf32>
// CHECK: %[[SIZE:.*]] = call @strata_rt_map_size
// CHECK: arith.index_cast %[[SIZE]] : i64 to index
// CHECK: call @strata_rt_map_list
func.func @dense(%0: !onnx.map<i64, f32>) -> tensor<1x?xf32> {
  %y = onnx.ml.CastMap_1(%0) : (!onnx.map<i64, f32>) -> tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}
