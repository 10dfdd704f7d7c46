#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<4096xf16>) -> tensor<4096xf16> {
  %zero = arith.constant 0.0 : f32
  %slope = arith.constant 0.01 : f32
  %e = tensor.empty() : tensor<4096xf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4096xf16>) outs(%e : tensor<4096xf16>) {
  ^bb0(%a: f16, %o: f16):
    %1 = arith.extf %a fastmath<contract> : f16 to f32
    %2 = arith.cmpf olt, %1, %zero : f32
    %3 = arith.mulf %1, %slope : f32
    %4 = arith.select %2, %3, %1 : f32
    %5 = arith.truncf %4 fastmath<contract> : f32 to f16
    linalg.yield %5 : f16
  } -> tensor<4096xf16>
  return %0 : tensor<4096xf16>
}
