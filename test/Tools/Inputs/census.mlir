func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = onnx.Relu_6(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = onnx.Relu_6(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = onnx.Neg_13(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
