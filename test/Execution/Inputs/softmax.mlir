func.func @main(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %0 = "onnx.Softmax_13"(%x) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  return %0 : tensor<64x512xf32>
}
