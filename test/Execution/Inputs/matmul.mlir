ml_program.global private @w(dense<0.25> : tensor<256x512xf32>) : tensor<256x512xf32>
func.func @main(%x: tensor<96x256xf32>) -> tensor<96x512xf32> {
  %w = ml_program.global_load_const @w : tensor<256x512xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<96x512xf32>) -> tensor<96x512xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<96x256xf32>, tensor<256x512xf32>) outs(%c : tensor<96x512xf32>) -> tensor<96x512xf32>
  return %0 : tensor<96x512xf32>
}
