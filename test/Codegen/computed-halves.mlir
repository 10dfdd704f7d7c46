// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-narrow-products{bf16-tiles=true computed=true},strata-pack-nibbles),cse)' | FileCheck %s --check-prefix=NARROW
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-narrow-products{bf16-tiles=true computed=true},strata-pack-nibbles,strata-group-reductions{bf16=true},strata-pack-weights{vector-bits=512 registers=32 bf16-tiles=true}),cse)' | FileCheck %s --check-prefix=GROUP
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 fma=true bf16-tiles=true int8-tiles=true threads=false},canonicalize,cse))' | FileCheck %s

// Of 128 rows the data is rounded to bf16, once for both products, and what the body makes of the codes, too. A word has
// eight codes, of which two make 32 bits.
// NARROW-LABEL: func.func @many(
// NARROW-COUNT-1: linalg.generic {{.*}} ins(%{{.*}} : tensor<128x2x16xf32>) outs(%{{.*}} : tensor<128x2x16xbf16>)
// NARROW:         linalg.generic {{.*}} ins(%[[X:.*]], %{{.*}}, %{{.*}} : tensor<128x2x2x8xbf16>, tensor<2x2x40xi32>, tensor<2x40xf32>)
// NARROW-NEXT:    ^bb0(%[[A:.*]]: bf16, %{{.*}}: i32, %[[S:.*]]: f32, %[[SUM:.*]]: f32):
// NARROW-DAG:       %[[DATA:.*]] = arith.extf %[[A]] : bf16 to f32
// NARROW-DAG:       %[[REAL:.*]] = arith.mulf %{{.*}}, %[[S]] : f32
// NARROW:           %[[HALF:.*]] = arith.truncf %[[REAL]] fastmath<afn> : f32 to bf16
// NARROW:           %[[W:.*]] = arith.extf %[[HALF]] : bf16 to f32
// NARROW:           %[[P:.*]] = arith.mulf %[[DATA]], %[[W]] : f32
// NARROW:           arith.addf %[[SUM]], %[[P]] : f32
// NARROW:         linalg.generic {{.*}} ins(%[[X]], %{{.*}}, %{{.*}} : tensor<128x2x2x8xbf16>,
// GROUP-LABEL:  func.func @many(
// GROUP:          linalg.generic {{{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<128x2x2x4x2xbf16>, tensor<2x2x2x32xi32>, tensor<2x2x32xf32>)
// GROUP-DAG:        %[[PAIR:.*]] = linalg.index 4
// GROUP-DAG:        %[[HALF:.*]] = linalg.index 5
// GROUP:            %[[FIRST:.*]] = arith.muli %[[PAIR]], %c2
// GROUP:            arith.addi %[[FIRST]], %[[HALF]]
#x = affine_map<(m, n, b, j) -> (m, b, j)>
#w = affine_map<(m, n, b, j) -> (b, j, n)>
#s = affine_map<(m, n, b, j) -> (b, n)>
#o = affine_map<(m, n, b, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<2x16x40xi8>) : tensor<2x16x40xi8>
ml_program.global private @s(dense<0.5> : tensor<2x40xf32>) : tensor<2x40xf32>
func.func @many(%x: tensor<128x2x16xf32>, %c: tensor<128x40xf32>) -> (tensor<128x40xf32>, tensor<128x40xf32>) {
  %w = ml_program.global_load_const @w : tensor<2x16x40xi8>
  %s = ml_program.global_load_const @s : tensor<2x40xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s : tensor<128x2x16xf32>, tensor<2x16x40xi8>, tensor<2x40xf32>) outs(%c : tensor<128x40xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %sum: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %f : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.addf %sum, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<128x40xf32>
  %5 = linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s : tensor<128x2x16xf32>, tensor<2x16x40xi8>, tensor<2x40xf32>) outs(%0 : tensor<128x40xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %sum: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %f : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.addf %sum, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<128x40xf32>
  return %0, %5 : tensor<128x40xf32>, tensor<128x40xf32>
}

// -----

// Few rows, and a number of them that only the run tells, keep their f32.
// NARROW-LABEL: func.func @few(
// NARROW-NOT:     bf16
// GROUP-LABEL:  func.func @few(
// GROUP-NOT:      bf16
// GROUP:          return
#x = affine_map<(m, n, j) -> (m, j)>
#w = affine_map<(m, n, j) -> (j, n)>
#s = affine_map<(m, n, j) -> (n)>
#o = affine_map<(m, n, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<32x40xi8>) : tensor<32x40xi8>
ml_program.global private @s(dense<0.5> : tensor<40xf32>) : tensor<40xf32>
func.func @few(%x: tensor<127x32xf32>, %c: tensor<127x40xf32>, %y: tensor<?x32xf32>, %d: tensor<?x40xf32>) -> (tensor<127x40xf32>, tensor<?x40xf32>) {
  %w = ml_program.global_load_const @w : tensor<32x40xi8>
  %s = ml_program.global_load_const @s : tensor<40xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w, %s : tensor<127x32xf32>, tensor<32x40xi8>, tensor<40xf32>) outs(%c : tensor<127x40xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %sum: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %f : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.addf %sum, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<127x40xf32>
  %5 = linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y, %w, %s : tensor<?x32xf32>, tensor<32x40xi8>, tensor<40xf32>) outs(%d : tensor<?x40xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %sum: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %f : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.addf %sum, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?x40xf32>
  return %0, %5 : tensor<127x40xf32>, tensor<?x40xf32>
}

// -----

// So do blocks of many terms.
// NARROW-LABEL: func.func @long(
// NARROW-NOT:     bf16
// NARROW:         return
#x = affine_map<(m, n, j) -> (m, j)>
#w = affine_map<(m, n, j) -> (j, n)>
#s = affine_map<(m, n, j) -> (n)>
#o = affine_map<(m, n, j) -> (m, n)>
ml_program.global private @w(dense<7> : tensor<64x40xi8>) : tensor<64x40xi8>
ml_program.global private @s(dense<0.5> : tensor<40xf32>) : tensor<40xf32>
func.func @long(%x: tensor<128x64xf32>, %c: tensor<128x40xf32>) -> tensor<128x40xf32> {
  %w = ml_program.global_load_const @w : tensor<64x40xi8>
  %s = ml_program.global_load_const @s : tensor<40xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w, %s : tensor<128x64xf32>, tensor<64x40xi8>, tensor<40xf32>) outs(%c : tensor<128x40xf32>) {
  ^bb0(%a: f32, %i: i8, %f: f32, %sum: f32):
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %f : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.addf %sum, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<128x40xf32>
  return %0 : tensor<128x40xf32>
}

// -----

// The kernel: a panel of 32 lanes, all that these have along the sum, in pairs of bf16; then the unit's tiles of all rows.
// CHECK-LABEL:  func.func @panel(
// CHECK-DAG:    %[[PANEL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2048xbf16>
// CHECK:        scf.for
// CHECK:          scf.parallel {{.*}} step (%c16)
// CHECK:            %[[A:.*]] = arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK:            %[[B:.*]] = arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK:            %[[PAIRS:.*]] = vector.interleave %[[A]], %[[B]] : vector<16xbf16>
// CHECK:            vector.store %[[PAIRS]], %[[PANEL]]
// CHECK:          strata.apart
// CHECK:          scf.for
// CHECK-NOT:        memref.prefetch {{.*}}, read
// CHECK:            "amx.tdpbf16ps"
// CHECK:        memref.dealloc %[[PANEL]]
#x = affine_map<(m, n, j, e) -> (m, j, e)>
#w = affine_map<(m, n, j, e) -> (n floordiv 32, j, e, n mod 32)>
#s = affine_map<(m, n, j, e) -> (n floordiv 32, n mod 32)>
#o = affine_map<(m, n, j, e) -> (m, n)>
func.func @panel(%x: memref<128x32x2xbf16>, %w: memref<2x32x2x32xi8>, %s: memref<2x32xf32>, %y: memref<128x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s : memref<128x32x2xbf16>, memref<2x32x2x32xi8>, memref<2x32xf32>) outs(%y : memref<128x64xf32>) {
  ^bb0(%a: bf16, %i: i8, %f: f32, %sum: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.sitofp %i : i8 to f32
    %2 = arith.mulf %1, %f : f32
    %3 = arith.truncf %2 : f32 to bf16
    %4 = arith.extf %3 : bf16 to f32
    %5 = arith.mulf %0, %4 : f32
    %6 = arith.addf %sum, %5 : f32
    linalg.yield %6 : f32
  }
  return
}
