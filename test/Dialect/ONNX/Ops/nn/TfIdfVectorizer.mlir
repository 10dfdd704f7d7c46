// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @counts
// CHECK-SAME: -> (tensor<2x4xf32>
// CHECK: linalg.generic
// CHECK-COUNT-4: scf.for
// CHECK: arith.cmpi eq, {{.*}} : i64
func.func @counts(%x: tensor<2x6xi32>) -> tensor<*xf32> {
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<2x6xi32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
