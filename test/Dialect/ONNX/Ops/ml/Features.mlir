// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @vectorize
// CHECK-SAME: -> (tensor<?x5xf32>
// CHECK: cf.assert {{.*}}, "the inputs have different numbers of rows"
func.func @vectorize(%x: tensor<?x2xi64>, %y: tensor<?x3xi64>) -> tensor<*xf32> {
  %0 = onnx.ml.FeatureVectorizer_1(%x, %y) {inputdimensions = array<i64: 2, 3>} : (tensor<?x2xi64>, tensor<?x3xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
