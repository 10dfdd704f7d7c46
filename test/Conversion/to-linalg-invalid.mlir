// RUN: strata-opt %s --split-input-file --convert-onnx-to-linalg --verify-diagnostics

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{operator 'Foo' of the domain 'com.acme' cannot be compiled: the operator is not known; operators of the domain 'com.acme' are not part of ONNX; the model can define this one as a function of its own (a FunctionProto)}}
  %y = onnx.Custom "com.acme" "Foo"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// What ONNX Runtime writes.
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{need none of its own operators in the QDQ format (quantize_static and MatMulNBitsQuantizer with quant_format=QuantFormat.QDQ)}}
  %y = onnx.Custom "com.microsoft" "BiasGelu"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
