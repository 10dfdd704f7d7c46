// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --split-input-file | FileCheck %s

// Strings are handles; the runtime is called for each element.
// CHECK: func.func private @[[CONCAT:strata_rt_string_concat_.*]](i64, i64) -> i64 attributes {llvm.emit_c_interface, strata.symbol = "strata_rt_string_concat"}
// CHECK-LABEL: @concat
// CHECK-SAME: tensor<?xi64> {{.*}}strata.dtype = "string"
// CHECK: scf.for
// CHECK: call @[[CONCAT]](
// CHECK: tensor.insert
func.func @concat(%x: tensor<?x!onnx.string>, %y: tensor<1x!onnx.string>) -> tensor<?x!onnx.string> {
  %0 = onnx.StringConcat_20(%x, %y) : (tensor<?x!onnx.string>, tensor<1x!onnx.string>) -> tensor<?x!onnx.string>
  return %0 : tensor<?x!onnx.string>
}

// -----

// What only moves elements knows nothing of strings. Constants are a table of bytes.
// CHECK: ml_program.global private @[[TABLE:.*]](dense<{{.*}}> : tensor<{{[0-9]+}}xi8>)
// CHECK-LABEL: @constant
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<2xi64>
// CHECK: ml_program.global_load_const @[[TABLE]]
// CHECK: call @strata_rt_string_constants_
// CHECK: bufferization.to_tensor %[[BUFFER]]
// CHECK-NOT: call
func.func @constant(%i: tensor<3xi64>) -> tensor<3x!onnx.string> {
  %0 = onnx.Initializer dense<["a", "b"]> : tensor<2x!onnx.string>
  %1 = onnx.Gather_13(%0, %i) : (tensor<2x!onnx.string>, tensor<3xi64>) -> tensor<3x!onnx.string>
  return %1 : tensor<3x!onnx.string>
}

// -----

// CHECK-LABEL: @normalize
// CHECK-SAME: -> (tensor<?xi64>
func.func @normalize(%x: tensor<3x!onnx.string>) -> tensor<*x!onnx.string> {
  %0 = onnx.StringNormalizer_10(%x) {stopwords = ["a"]} : (tensor<3x!onnx.string>) -> tensor<*x!onnx.string>
  return %0 : tensor<*x!onnx.string>
}
