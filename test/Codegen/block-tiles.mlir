// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 fma=true byte-dots=true int8-tiles=true threads=false},canonicalize,cse))' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 fma=true byte-dots=true threads=false},canonicalize,cse))' | FileCheck %s --check-prefix=NONE

// Products of bytes, block by block, on a matrix unit. The codes of 16 lanes become signed bytes, once for all rows. While
// the sums of a block are scaled, those of the next one are added.
// NONE-LABEL:   func.func @rows
// NONE-NOT:     amx.
// CHECK-LABEL:  func.func @rows
// CHECK-DAG:    %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<512xi32>
// CHECK-DAG:    %[[CODES:.*]] = memref.alloc() {alignment = 64 : i64} : memref<640xi32>
// CHECK:        scf.for
// CHECK:          scf.for
// CHECK:            arith.shrui
// CHECK:            arith.subi %{{.*}} : vector<64xi8>
// CHECK:            vector.store %{{.*}}, %[[CODES]]
// CHECK:          scf.for
// CHECK:            "amx.tdpbssd"(%c16_i16, %c64_i16, %c32_i16,
// CHECK:            "amx.tilestored64"
// CHECK:            scf.for
// CHECK:              "amx.tdpbssd"
// CHECK:              vector.load %[[SUMS]][%c0]
// CHECK-COUNT-16:     math.fma
// CHECK:              "amx.tdpbssd"
// CHECK:              vector.load %[[SUMS]][%c256]
// CHECK-COUNT-16:     math.fma
// CHECK:            }
// CHECK-NOT:        amx.tdpbssd
// CHECK-COUNT-16:   math.fma
#x = affine_map<(m, n, b, w, t) -> (m, b, w, t)>
#f = affine_map<(m, n, b, w, t) -> (m, b)>
#w = affine_map<(m, n, b, w, t) -> (n floordiv 32, b, w, n mod 32)>
#s = affine_map<(m, n, b, w, t) -> (n floordiv 32, b, n mod 32)>
#o = affine_map<(m, n, b, w, t) -> (m, n)>
func.func @rows(%f: memref<32x5xf32>, %q: memref<32x5x4x8xi8>, %c: memref<1x5x4x32xi32>, %s: memref<1x5x32xf32>, %t: memref<32x5xi32>, %y: memref<32x32xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#f, #x, #w, #s, #f, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%f, %q, %c, %s, %t : memref<32x5xf32>, memref<32x5x4x8xi8>, memref<1x5x4x32xi32>, memref<1x5x32xf32>, memref<32x5xi32>) outs(%y : memref<32x32xf32>) {
  ^bb0(%factor: f32, %data: i8, %word: i32, %scale: f32, %total: i32, %sum: f32):
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c15 = arith.constant 15 : i32
    %c8 = arith.constant 8 : i32
    %c0 = arith.constant 0 : i32
    %0 = linalg.index 4 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.andi %1, %c3 : i32
    %3 = arith.shli %2, %c3 : i32
    %4 = arith.andi %1, %c4 : i32
    %5 = arith.ori %3, %4 : i32
    %6 = arith.shrui %word, %5 : i32
    %7 = arith.andi %6, %c15 : i32
    %8 = arith.extsi %data : i8 to i32
    %9 = arith.muli %8, %7 : i32
    %10 = arith.muli %total, %c8 : i32
    %11 = linalg.index 3 : index
    %12 = arith.index_cast %11 : index to i32
    %13 = arith.ori %12, %1 : i32
    %14 = arith.cmpi eq, %13, %c0 : i32
    %15 = arith.select %14, %10, %c0 : i32
    %16 = arith.subi %9, %15 : i32
    %17 = arith.sitofp %16 : i32 to f32
    %18 = arith.mulf %17, %scale : f32
    %19 = arith.mulf %18, %factor : f32
    %20 = arith.addf %sum, %19 : f32
    linalg.yield %20 : f32
  }
  return
}

// -----

// Of a number of rows that only the run tells, the last tile reads rows again that the one before has read: of its sums only
// those of its own are scaled. Few rows stay with the vectors, which read the words as they are.
// CHECK-LABEL:  func.func @any
// CHECK:        %[[FEW:.*]] = arith.cmpi ule, %{{.*}}, %c4
// CHECK:        scf.if %[[FEW]] {
// CHECK-NOT:      amx.
// CHECK:        } else {
// CHECK:          %[[ROWS:.*]] = arith.index_cast %{{.*}} : index to i16
// CHECK:          scf.index_switch
// CHECK-NEXT:     case 5 {
// CHECK:            arith.minui
// CHECK:            "amx.tdpbssd"(%[[ROWS]], %c64_i16, %c32_i16,
#x = affine_map<(m, n, b, w, t) -> (m, b, w, t)>
#f = affine_map<(m, n, b, w, t) -> (m, b)>
#w = affine_map<(m, n, b, w, t) -> (n floordiv 32, b, w, n mod 32)>
#s = affine_map<(m, n, b, w, t) -> (n floordiv 32, b, n mod 32)>
#o = affine_map<(m, n, b, w, t) -> (m, n)>
func.func @any(%f: memref<?x5xf32>, %q: memref<?x5x4x8xi8>, %c: memref<1x5x4x32xi32>, %s: memref<1x5x32xf32>, %t: memref<?x5xi32>, %y: memref<?x32xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#f, #x, #w, #s, #f, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%f, %q, %c, %s, %t : memref<?x5xf32>, memref<?x5x4x8xi8>, memref<1x5x4x32xi32>, memref<1x5x32xf32>, memref<?x5xi32>) outs(%y : memref<?x32xf32>) {
  ^bb0(%factor: f32, %data: i8, %word: i32, %scale: f32, %total: i32, %sum: f32):
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c15 = arith.constant 15 : i32
    %c8 = arith.constant 8 : i32
    %c0 = arith.constant 0 : i32
    %0 = linalg.index 4 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.andi %1, %c3 : i32
    %3 = arith.shli %2, %c3 : i32
    %4 = arith.andi %1, %c4 : i32
    %5 = arith.ori %3, %4 : i32
    %6 = arith.shrui %word, %5 : i32
    %7 = arith.andi %6, %c15 : i32
    %8 = arith.extsi %data : i8 to i32
    %9 = arith.muli %8, %7 : i32
    %10 = arith.muli %total, %c8 : i32
    %11 = linalg.index 3 : index
    %12 = arith.index_cast %11 : index to i32
    %13 = arith.ori %12, %1 : i32
    %14 = arith.cmpi eq, %13, %c0 : i32
    %15 = arith.select %14, %10, %c0 : i32
    %16 = arith.subi %9, %15 : i32
    %17 = arith.sitofp %16 : i32 to f32
    %18 = arith.mulf %17, %scale : f32
    %19 = arith.mulf %18, %factor : f32
    %20 = arith.addf %sum, %19 : f32
    linalg.yield %20 : f32
  }
  return
}
