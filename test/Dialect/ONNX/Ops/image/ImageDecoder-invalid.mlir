// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --split-input-file --verify-diagnostics

func.func @format(%x: tensor<?xui8>) -> tensor<*xui8> {
  // expected-error @below {{pixel_format is 'RGBA', but must be RGB, BGR or Grayscale}}
  %0 = onnx.ImageDecoder_20(%x) {pixel_format = "RGBA"} : (tensor<?xui8>) -> tensor<*xui8>
  return %0 : tensor<*xui8>
}

// -----

func.func @rank(%x: tensor<1x?xui8>) -> tensor<*xui8> {
  // expected-error @below {{needs an encoded stream of rank 1, not 2}}
  %0 = onnx.ImageDecoder_20(%x) : (tensor<1x?xui8>) -> tensor<*xui8>
  return %0 : tensor<*xui8>
}

// -----

func.func @channels(%x: tensor<?xui8>) -> tensor<?x?x1xui8> {
  // expected-error @below {{3}}
  %0 = onnx.ImageDecoder_20(%x) {pixel_format = "BGR"} : (tensor<?xui8>) -> tensor<?x?x1xui8>
  return %0 : tensor<?x?x1xui8>
}
