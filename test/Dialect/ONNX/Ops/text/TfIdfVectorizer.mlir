// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @integers
// CHECK-SAME: -> (tensor<2x4xf32>
// The words 2 to 6 are numbered. From the node of 5, which is 2, words 2 and 4 (4 and 6) lead on: keys 2 * 5 + 2 and
// 2 * 5 + 4. No n-gram ends at it.
// CHECK-DAG: arith.constant dense<[0, 1, -1, 2, 3]> : tensor<5xi64>
// CHECK-DAG: arith.constant dense<[-1, -1, 14, 4, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 12, 3]> : tensor<16xi64>
// CHECK-DAG: arith.constant dense<[0, 1, -1, 2, -1]> : tensor<5xi64>
// CHECK: %[[IDS:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x6xi64>) outs(%{{.*}} : tensor<2x6xi64>)
// CHECK: %[[ROWS:.*]] = tensor.cast %[[IDS]] : tensor<2x6xi64> to tensor<?x?xi64>
// CHECK: call @strata_rt_tfidf{{[^(]*}}(%[[ROWS]],
func.func @integers(%x: tensor<2x6xi32>) -> tensor<*xf32> {
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<2x6xi32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Strings are their positions among the different ones of the pool; one row is a matrix while it is counted.
// CHECK-LABEL: func.func @strings(
// CHECK-SAME: -> (tensor<3xf32>
// CHECK: call @strata_rt_string_find
// CHECK: call @strata_rt_tfidf
// CHECK: tensor.collapse_shape {{.*}} : tensor<1x3xf32> into tensor<3xf32>
func.func @strings(%x: tensor<?x!onnx.string>) -> tensor<*xf32> {
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "IDF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2>, pool_strings = ["a", "b", "a", "b"]} : (tensor<?x!onnx.string>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Of equal n-grams the last one counts.
// CHECK-LABEL: @repeated
// CHECK-DAG: arith.constant dense<[0, 1]> : tensor<2xi64>
// CHECK-DAG: arith.constant dense<1> : tensor<1xi64>
func.func @repeated(%x: tensor<?xi64>) -> tensor<*xf32> {
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0, 1>, pool_int64s = array<i64: 7, 7>} : (tensor<?xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
