ml_program.global private @w(dense<0.25> : tensor<1x1x64x384xf32>) : tensor<1x1x64x384xf32>
#id = affine_map<(n, h, w, f) -> (n, h, w, f)>
func.func @main(%x: tensor<1x14x14x64xf32>, %b: tensor<384xf32>) -> tensor<1x14x14x384xf32> {
  %w = ml_program.global_load_const @w : tensor<1x1x64x384xf32>
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %e = tensor.empty() : tensor<1x14x14x384xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x14x14x64xf32>, tensor<1x1x64x384xf32>) outs(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32>
  %1 = linalg.generic {indexing_maps = [#id, affine_map<(n, h, w, f) -> (f)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %b : tensor<1x14x14x384xf32>, tensor<384xf32>) outs(%e : tensor<1x14x14x384xf32>) {
  ^bb0(%s: f32, %bias: f32, %o: f32):
    %2 = arith.addf %s, %bias : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.minimumf %3, %six : f32
    linalg.yield %4 : f32
  } -> tensor<1x14x14x384xf32>
  return %1 : tensor<1x14x14x384xf32>
}
