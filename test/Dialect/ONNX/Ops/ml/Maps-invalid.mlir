// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @to(%0: !onnx.map<i64, f32>) -> tensor<*xf32> {
  // expected-error @below {{cast_to is 'TO_BOOL', but must be TO_FLOAT, TO_STRING or TO_INT64}}
  %y = onnx.ml.CastMap_1(%0) {cast_to = "TO_BOOL"} : (!onnx.map<i64, f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @form(%0: !onnx.map<i64, f32>) -> tensor<*xf32> {
  // expected-error @below {{map_form is 'THIN', but must be DENSE or SPARSE}}
  %y = onnx.ml.CastMap_1(%0) {map_form = "THIN"} : (!onnx.map<i64, f32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%0: tensor<1x2x3xf32>) -> !onnx.seq<!onnx.map<i64, f32>> {
  // expected-error @below {{needs an input of rank 1 or 2, not 3}}
  %y = onnx.ml.ZipMap_1(%0) {classlabels_int64s = array<i64: 1, 2, 3>} : (tensor<1x2x3xf32>) -> !onnx.seq<!onnx.map<i64, f32>>
  return %y : !onnx.seq<!onnx.map<i64, f32>>
}

// -----

func.func @no_labels(%0: tensor<2x3xf32>) -> !onnx.seq<!onnx.map<i64, f32>> {
  // expected-error @below {{needs one of the attributes 'classlabels_strings' and 'classlabels_int64s'}}
  %y = onnx.ml.ZipMap_1(%0) : (tensor<2x3xf32>) -> !onnx.seq<!onnx.map<i64, f32>>
  return %y : !onnx.seq<!onnx.map<i64, f32>>
}

// -----

func.func @two_vocabularies(%0: !onnx.map<i64, f32>) -> tensor<1x1xf32> {
  // expected-error @below {{needs one of the attributes 'string_vocabulary' and 'int64_vocabulary'}}
  %y = onnx.ml.DictVectorizer_1(%0) {string_vocabulary = ["a"], int64_vocabulary = array<i64: 1>} : (!onnx.map<i64, f32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// -----

func.func @keys(%0: !onnx.map<i64, f32>) -> tensor<1x1xf32> {
  // expected-error @below {{cannot be compiled: its vocabulary is not of the type of the keys}}
  %y = onnx.ml.DictVectorizer_1(%0) {string_vocabulary = ["a"]} : (!onnx.map<i64, f32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}
