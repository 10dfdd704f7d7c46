ml_program.global private @w(dense<0.25> : tensor<256x512xf16>) : tensor<256x512xf16>
#id = affine_map<(m, n) -> (m, n)>
func.func @main(%x: tensor<96x256xf16>) -> tensor<96x512xf16> {
  %w = ml_program.global_load_const @w : tensor<256x512xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x512xf32>
  %h = tensor.empty() : tensor<96x512xf16>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<96x512xf32>) -> tensor<96x512xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<96x256xf16>, tensor<256x512xf16>) outs(%c : tensor<96x512xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %2 = arith.extf %a fastmath<contract> : f16 to f32
    %3 = arith.extf %b fastmath<contract> : f16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %s, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<96x512xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<96x512xf32>) outs(%h : tensor<96x512xf16>) {
  ^bb0(%a: f32, %o: f16):
    %2 = arith.truncf %a fastmath<contract> : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<96x512xf16>
  return %1 : tensor<96x512xf16>
}
