// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @lengths(%x: tensor<6xi64>) {
  // expected-error @+1 {{has n-grams of 1 to 0 elements}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 0 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @skip(%x: tensor<6xi64>) {
  // expected-error @+1 {{'max_skip_count' is -1}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = -1 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @index(%x: tensor<6xi64>) {
  // expected-error @+1 {{'ngram_indexes' holds -3}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, -3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @weights(%x: tensor<6xi64>) {
  // expected-error @+1 {{has 1 weights for 4 n-grams}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "IDF", weights = array<f32: 1.0>, ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @counts(%x: tensor<6xi64>) {
  // expected-error @+1 {{'ngram_counts' does not divide the pool of 6 into n-grams of 2}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 3>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @indexes(%x: tensor<6xi64>) {
  // expected-error @+1 {{'ngram_indexes' has 3 values, fewer than there are n-grams}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @mode(%x: tensor<6xi64>) {
  // expected-error @+1 {{'mode' is 'DF', not TF, IDF or TFIDF}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "DF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<1x2x6xi64>) {
  // expected-error @+1 {{needs an input of rank 1 or 2, not 3}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<1x2x6xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @strings(%x: tensor<6xi64>) -> tensor<4xf32> {
  // expected-error @+1 {{cannot be compiled: n-grams of strings}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_strings = ["a", "b", "c", "d", "e", "f"]} : (tensor<6xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
