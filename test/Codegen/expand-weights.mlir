// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-expand-weights))' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-expand-weights{block-sums=true}))' | FileCheck %s --check-prefix=SUMS

// Few rows: weights stay as they are, or scales come out of the sums of their blocks.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     linalg.fill
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>)
// SUMS-LABEL: func.func @main(
// SUMS:         %[[V:.*]] = linalg.generic {{.*}} ins(%w, %z : {{.*}}) outs(%{{.*}} : tensor<2x16x8xi8>)
// SUMS:           %[[D:.*]] = arith.subi
// SUMS:           arith.trunci %[[D]] : i32 to i8
// SUMS:         %[[T:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%{{.*}}, %[[V]] : tensor<4x2x16xf32>, tensor<2x16x8xi8>) outs(%{{.*}} : tensor<4x2x8xf32>)
// SUMS:           arith.sitofp
// SUMS:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[T]], %s : tensor<4x2x8xf32>, tensor<2x8xf32>) outs(%{{.*}} : tensor<4x8xf32>)
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
ml_program.global private @z(dense<1> : tensor<2x8xi8>) : tensor<2x8xi8>
func.func @main(%x: tensor<4x2x16xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x16x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %z = ml_program.global_load_const @z : tensor<2x8xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s, %z : tensor<4x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %k: i8, %sum: f32):
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.extsi %k : i8 to i32
    %3 = arith.subi %1, %2 : i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Many rows read weights of f32, which a constant expression makes.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%w, %s, %z : tensor<2x16x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%{{.*}} : tensor<2x16x8xf32>)
// CHECK:           arith.subi
// CHECK:           %[[F:.*]] = arith.sitofp
// CHECK:           arith.mulf %[[F]], %{{.*}} : f32
// CHECK:         linalg.generic {{.*}} ins(%arg0, %[[W]] : tensor<16x2x16xf32>, tensor<2x16x8xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[A]], %[[B]] : f32
// CHECK-NEXT:      arith.addf %[[SUM]], %[[P]] : f32
// SUMS-LABEL: func.func @main(
// SUMS:         outs(%{{.*}} : tensor<2x16x8xf32>)
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
ml_program.global private @z(dense<1> : tensor<2x8xi8>) : tensor<2x8xi8>
func.func @main(%x: tensor<16x2x16xf32>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x16x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %z = ml_program.global_load_const @z : tensor<2x8xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s, %z : tensor<16x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<16x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %k: i8, %sum: f32):
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.extsi %k : i8 to i32
    %3 = arith.subi %1, %2 : i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

// Unsigned bytes need more than eight bits as signed numbers.
// SUMS-LABEL: func.func @unsigned(
// SUMS:         arith.trunci %{{.*}} : i32 to i16
// CHECK-LABEL: func.func @unsigned(
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<250> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
func.func @unsigned(%x: tensor<4x2x16xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<2x16x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s : tensor<4x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %sum: f32):
    %1 = arith.extui %i : i8 to i32
    %4 = arith.sitofp %1 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Devices multiply halves as they are, by weights that are halves, too; here, what is multiplied is f32.
// CHECK-LABEL: func.func @halves(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<40x2x16xf32>, tensor<2x16x8xf32>) outs(%{{.*}} : tensor<40x8xf32>)
// SUMS-LABEL: func.func @halves(
// SUMS:         %[[W:.*]] = linalg.generic {{.*}} ins(%w, %s : {{.*}}) outs(%{{.*}} : tensor<2x16x8xf16>)
// SUMS:           arith.truncf %{{.*}} : f32 to f16
// SUMS:         linalg.generic {{.*}} ins(%arg0, %[[W]] : tensor<40x2x16xf16>, tensor<2x16x8xf16>) outs(%{{.*}} : tensor<40x8xf32>)
// What was cast to f32, and stays so, is multiplied as such.
// SUMS:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<40x2x16xf32>, tensor<2x16x8xf32>) outs(%{{.*}} : tensor<40x8xf32>)
#y = affine_map<(m, n) -> (m, n)>
#same = affine_map<(m, b, j) -> (m, b, j)>
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x16x8xi8>) : tensor<2x16x8xi8>
ml_program.global private @s(dense<0.5> : tensor<2x8xf32>) : tensor<2x8xf32>
func.func @halves(%x: tensor<40x2x16xf16>, %c: tensor<40x8xf32>) -> (tensor<40x8xf16>, tensor<40x8xf32>) {
  %w = ml_program.global_load_const @w : tensor<2x16x8xi8>
  %s = ml_program.global_load_const @s : tensor<2x8xf32>
  %e = tensor.empty() : tensor<40x2x16xf32>
  %wide = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<40x2x16xf16>) outs(%e : tensor<40x2x16xf32>) {
  ^bb0(%a: f16, %o: f32):
    %1 = arith.extf %a fastmath<contract> : f16 to f32
    linalg.yield %1 : f32
  } -> tensor<40x2x16xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%wide, %w, %s : tensor<40x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>) outs(%c : tensor<40x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %sum: f32):
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %2, %f : f32
    %4 = arith.mulf %a, %3 : f32
    %5 = arith.addf %sum, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<40x8xf32>
  %h = tensor.empty() : tensor<40x8xf16>
  %rounded = linalg.generic {indexing_maps = [#y, #y], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<40x8xf32>) outs(%h : tensor<40x8xf16>) {
  ^bb0(%a: f32, %o: f16):
    %1 = arith.truncf %a : f32 to f16
    linalg.yield %1 : f16
  } -> tensor<40x8xf16>
  %2 = linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%wide, %w, %s : tensor<40x2x16xf32>, tensor<2x16x8xi8>, tensor<2x8xf32>) outs(%c : tensor<40x8xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %sum: f32):
    %3 = arith.extsi %i : i8 to i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %4, %f : f32
    %6 = arith.mulf %a, %5 : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<40x8xf32>
  return %rounded, %2 : tensor<40x8xf16>, tensor<40x8xf32>
}
