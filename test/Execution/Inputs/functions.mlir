func.func @main(%x: tensor<64x512xf32>, %y: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %0 = "onnx.Exp_13"(%x) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %1 = "onnx.Erf_13"(%0) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %2 = "onnx.Tanh_13"(%1) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %3 = "onnx.Log_13"(%2) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %4 = "onnx.Softplus_22"(%3) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %5 = "onnx.Elu_22"(%4) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %6 = "onnx.Gelu_20"(%5) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %7 = "onnx.Softmax_13"(%6) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %8 = "onnx.Sin_22"(%7) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %9 = "onnx.Cos_22"(%8) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %10 = "onnx.Tan_22"(%9) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %11 = "onnx.Asin_22"(%10) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %12 = "onnx.Acos_22"(%11) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %13 = "onnx.Atan_22"(%12) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %14 = "onnx.Sinh_22"(%13) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %15 = "onnx.Cosh_22"(%14) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %16 = "onnx.Asinh_22"(%15) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %17 = "onnx.Acosh_22"(%16) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %18 = "onnx.Atanh_22"(%17) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %19 = "onnx.Pow_15"(%18, %y) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  return %19 : tensor<64x512xf32>
}
