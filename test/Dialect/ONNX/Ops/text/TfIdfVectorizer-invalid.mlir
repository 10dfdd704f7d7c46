// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @mode(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{mode is 'DF', but must be TF, IDF or TFIDF}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "DF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @lengths(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{has n-grams of lengths 1 to 0}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 0 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @skip(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{has a negative max_skip_count}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = -1 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @pools(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{has two pools: pool_strings and pool_int64s}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_strings = ["a"], pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @type(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{has a pool of another type than its input}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_strings = ["a", "b", "c", "d", "e", "f"]} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @few_counts(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{ngram_counts has 1 lengths of n-grams, at least 2 are needed}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @counts(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{ngram_counts does not divide the pool into n-grams: its part 1 is [3, 6) of 6}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 3>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @indexes(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{has 4 n-grams and 3 ngram_indexes}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @index(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{needs ngram_indexes that are not negative}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, -3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @weights(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{has 4 n-grams and 1 weights}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "IDF", weights = array<f32: 1.0>, ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @rank(%x: tensor<1x2x6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{needs an input of rank 1 or 2, not 3}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>, pool_int64s = array<i64: 2, 3, 5, 4, 5, 6>} : (tensor<1x2x6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @no_pool(%x: tensor<6xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{has no pool: neither pool_strings nor pool_int64s}}
  %0 = onnx.TfIdfVectorizer_9(%x) {max_gram_length = 2 : i64, max_skip_count = 3 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 0, 1, 2, 3>} : (tensor<6xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
