// RUN: strata-opt %s --strata-expand-math --split-input-file | FileCheck %s --check-prefix=ALL
// RUN: strata-opt %s --strata-expand-math=known-numbers --split-input-file | FileCheck %s --check-prefix=KNOWN
// RUN: strata-opt %s --strata-expand-math='known-numbers device fused-products' --split-input-file | FileCheck %s --check-prefix=DEVICE
// RUN: strata-opt %s --pass-pipeline='builtin.module(strata-expand-math{known-numbers fused-products},func.func(strata-fuse-elementwise))' --split-input-file | FileCheck %s --check-prefix=FUSED

// Upstream's folding is that of the C library.
// ALL-LABEL:   func.func @literal
// ALL-NOT:     math.tanh
// ALL:         arith.divf
// KNOWN-LABEL: func.func @literal
// KNOWN-NOT:   math.tanh
// DEVICE-LABEL: func.func @literal
// DEVICE-NOT:   math.tanh
func.func @literal() -> f32 {
  %x = arith.constant 0.3 : f32
  %0 = math.tanh %x : f32
  return %0 : f32
}

// -----

// A list of one number is that number, and so is what is computed of it; of the other operand nothing is known.
#map = affine_map<(d0) -> (d0)>
// ALL-LABEL:    func.func @splat
// ALL-NOT:      math.{{sin|exp}}
// ALL:          return
// KNOWN-LABEL:  func.func @splat
// KNOWN:        linalg.generic
// KNOWN-NOT:    math.sin
// KNOWN:        linalg.generic
// KNOWN:          math.exp
// KNOWN-NOT:      math.sin
// DEVICE-LABEL: func.func @splat
// DEVICE:         %[[WIDE:.*]] = arith.extf %{{.*}} : f32 to f64
// DEVICE:         %[[SIN:.*]] = math.sin %[[WIDE]] : f64
// DEVICE:         arith.truncf %[[SIN]] : f64 to f32
// FUSED-LABEL:  func.func @splat
// FUSED:        %[[NUMBER:.*]] = arith.constant 0.{{.*}} : f32
// FUSED:        linalg.generic
// FUSED:          math.exp
// FUSED-NEXT:     arith.addf %{{.*}}, %[[NUMBER]]
// FUSED-NEXT:     linalg.yield
func.func @splat(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = arith.constant dense<0.7> : tensor<5xf32>
  %e = tensor.empty() : tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%c : tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = math.sin %a : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%0, %x : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = math.sin %a : f32
    %t = math.exp %b : f32
    %u = arith.addf %t, %s : f32
    linalg.yield %u : f32
  } -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

// Of a table there are several numbers, of f64 only the library's arctangent.
#map = affine_map<(d0) -> (d0)>
// KNOWN-LABEL: func.func @tables
// KNOWN:       math.cos
// KNOWN:       math.tan
// KNOWN-NOT:   math.log
// KNOWN:       math.atan %{{.*}} : f64
func.func @tables() -> (tensor<3xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf64>) {
  %c = arith.constant dense<[0.1, 0.2, 0.3]> : tensor<3xf32>
  %d = arith.constant dense<0.5> : tensor<1xf64>
  %e = tensor.empty() : tensor<3xf32>
  %f = tensor.empty() : tensor<1xf32>
  %g = tensor.empty() : tensor<1xf64>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%c : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = math.cos %a : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e : tensor<3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %s = math.tan %k : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %2 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%f : tensor<1xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %s = math.log1p %k : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%d : tensor<1xf64>) outs(%g : tensor<1xf64>) {
  ^bb0(%a: f64, %out: f64):
    %s = math.atan %a : f64
    linalg.yield %s : f64
  } -> tensor<1xf64>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf64>
}

// -----

// What large angles need is a function for each type, called behind the branch.
// ALL:           func.func private @strata_large_angle_8(%{{.*}}: vector<8xf32>) -> (vector<8xi32>, vector<8xf64>) attributes {passthrough = ["cold", "noinline"]}
// ALL-COUNT-3:     arith.muli %{{.*}} : vector<8xi64>
// ALL-NOT:       func.func private
// ALL-LABEL:     func.func @angles
// ALL:             scf.if
// ALL-NEXT:          call @strata_large_angle_8
// ALL:             scf.if
// ALL-NEXT:          call @strata_large_angle_8
// ALL-NOT:         arith.muli
// ALL:             return
// KNOWN-LABEL:   func.func @angles
// KNOWN:           math.sin
func.func @angles(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sin %x : vector<8xf32>
  %1 = math.tan %0 : vector<8xf32>
  return %1 : vector<8xf32>
}

// -----

// The factor of Mish needs one exponential, of constants as of others.
// ALL-LABEL:   func.func @mish
// ALL:           math.absf
// ALL-NOT:       math.
// ALL:           arith.divf
// ALL-NEXT:      return
// KNOWN-LABEL: func.func @mish
// KNOWN:         %[[D:.*]] = math.exp
// KNOWN:         %[[LOW:.*]] = arith.cmpf olt, %arg0
// KNOWN:         %[[S:.*]] = arith.select %[[LOW]], %[[D]], %[[ONE:.*]] :
// KNOWN:         %[[C:.*]] = arith.select %[[LOW]], %[[ONE]], %[[D]] :
// KNOWN-NOT:     math.
// KNOWN:         return
func.func @mish(%x: vector<8xf32>) -> vector<8xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = vector.broadcast %zero : f32 to vector<8xf32>
  %0 = math.absf %x : vector<8xf32>
  %1 = arith.negf %0 : vector<8xf32>
  %2 = math.exp %1 : vector<8xf32>
  %3 = math.log1p %2 : vector<8xf32>
  %4 = arith.maximumf %x, %zeros : vector<8xf32>
  %5 = arith.addf %4, %3 : vector<8xf32>
  %6 = math.tanh %5 : vector<8xf32>
  return %6 : vector<8xf32>
}

// -----

// A softplus of something else.
// KNOWN-LABEL: func.func @other
// KNOWN:         math.tanh
func.func @other(%x: f32, %y: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = math.absf %x : f32
  %1 = arith.negf %0 : f32
  %2 = math.exp %1 : f32
  %3 = math.log1p %2 : f32
  %4 = arith.maximumf %y, %zero : f32
  %5 = arith.addf %4, %3 : f32
  %6 = math.tanh %5 : f32
  return %6 : f32
}
