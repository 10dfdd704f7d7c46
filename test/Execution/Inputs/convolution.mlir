ml_program.global private @w(dense<0.25> : tensor<64x32x3x3xf32>) : tensor<64x32x3x3xf32>
func.func @main(%x: tensor<1x32x30x30xf32>) -> tensor<1x64x28x28xf32> {
  %w = ml_program.global_load_const @w : tensor<64x32x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x28x28xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x32x30x30xf32>, tensor<64x32x3x3xf32>) outs(%c : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  return %0 : tensor<1x64x28x28xf32>
}
