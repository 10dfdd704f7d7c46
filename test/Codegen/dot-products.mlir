// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 byte-dots=true pair-dots=true bf16-dots=true threads=false},canonicalize,cse))' | FileCheck %s
// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 pair-dots=true threads=false},canonicalize,cse))' | FileCheck %s --check-prefix=PAIRS
// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 byte-dots=true pair-dots=true bf16-dots=true part-loads=true threads=false},canonicalize,cse))' | FileCheck %s --check-prefix=PARTS
// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 threads=false},canonicalize,cse))' | FileCheck %s --check-prefix=NONE

// NONE-NOT: llvm.x86

// Unsigned data and signed weights: four bytes of a row for all lanes, by four bytes of each of 16 columns.
// CHECK-LABEL: func.func @mixed(
// CHECK:         scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
// CHECK-COUNT-2:   vector.load {{.*}} vector<64xi8>
// CHECK:           %[[FOUR:.*]] = vector.load {{.*}} vector<4xi8>
// CHECK:           vector.bitcast %[[FOUR]] : vector<4xi8> to vector<1xi32>
// CHECK:           %[[DATA:.*]] = vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK-NOT:       arith.xori
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[DATA]], %{{.*}})

// Pairs of 16-bit integers: two sums for each lane, added behind the reduction.
// PAIRS-LABEL: func.func @mixed(
// PAIRS:           arith.extsi %{{.*}} : vector<16xi8> to vector<16xi16>
// PAIRS:           arith.extui %{{.*}} : vector<4xi8> to vector<4xi16>
// PAIRS:           llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PAIRS:           scf.yield
// PAIRS:         vector.shuffle %{{.*}} [0, 2, 4, 6] : vector<8xi32>
#x = affine_map<(m, n, k, g) -> (m, k, g)>
#w = affine_map<(m, n, k, g) -> (n floordiv 32, k, n mod 32, g)>
#o = affine_map<(m, n, k, g) -> (m, n)>
func.func @mixed(%x: memref<40x32x4xi8>, %w: memref<2x32x32x4xi8>, %y: memref<40x64xi32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<40x32x4xi8>, memref<2x32x32x4xi8>) outs(%y : memref<40x64xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extui %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  }
  return
}

// Signed data becomes unsigned, and 128 times the sums of the weights are taken back.
// CHECK-LABEL: func.func @signed(
// CHECK-DAG:     %[[ONES:.*]] = arith.constant dense<16843009> : vector<16xi32>
// CHECK-DAG:     %[[SIGNS:.*]] = arith.constant dense<-2139062144> : vector<16xi32>
// CHECK-DAG:     %[[SEVEN:.*]] = arith.constant dense<7> : vector<16xi32>
// CHECK:         scf.for
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[ONES]], %{{.*}})
// CHECK:           %[[DATA:.*]] = arith.xori %{{.*}}, %[[SIGNS]]
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[DATA]], %{{.*}})
// CHECK:         %[[MOVED:.*]] = arith.shli %{{.*}}, %[[SEVEN]]
// CHECK:         arith.subi %{{.*}}, %[[MOVED]]
func.func @signed(%x: memref<40x32x4xi8>, %w: memref<2x32x32x4xi8>, %y: memref<40x64xi32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<40x32x4xi8>, memref<2x32x32x4xi8>) outs(%y : memref<40x64xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extsi %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  }
  return
}

// Signed data and unsigned weights change places. The last columns are as many as are left.
// CHECK-LABEL: func.func @swapped(
// CHECK:           %[[WEIGHTS:.*]] = vector.bitcast %{{.*}} : vector<64xi8> to vector<16xi32>
// CHECK:           %[[DATA:.*]] = vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[WEIGHTS]], %[[DATA]])
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.128"
// Columns behind the last one are in the block, zeros: one pass for the second vector, of which 14 are stored.
// PARTS-LABEL: func.func @swapped(
// PARTS:         scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
// PARTS-COUNT-2:   vector.load {{.*}} vector<64xi8>
// PARTS:         scf.yield
// PARTS-NOT:     vector.load {{.*}} vector<32xi8>
// PARTS:         vector.store %{{.*}} vector<16xi32>
// PARTS:         vector.store %{{.*}} vector<8xi32>
// PARTS:         vector.store %{{.*}} vector<4xi32>
// PARTS:         vector.store %{{.*}} vector<2xi32>
func.func @swapped(%x: memref<40x32x4xi8>, %w: memref<1x32x32x4xi8>, %y: memref<40x30xi32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<40x32x4xi8>, memref<1x32x32x4xi8>) outs(%y : memref<40x30xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extsi %a : i8 to i32
    %2 = arith.extui %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  }
  return
}

// 16-bit integers are what the instruction takes: nothing is extended, and each lane has one sum.
// PAIRS-LABEL: func.func @words(
// PAIRS-NOT:       arith.ext
// PAIRS:           vector.load {{.*}} vector<16xi16>
// PAIRS:           %[[TWO:.*]] = vector.load {{.*}} vector<2xi16>
// PAIRS:           vector.bitcast %[[TWO]] : vector<2xi16> to vector<1xi32>
// PAIRS:           vector.broadcast %{{.*}} : i32 to vector<8xi32>
// PAIRS:           llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PAIRS-NOT:       vector.shuffle
// PAIRS:         return
#x2 = affine_map<(m, n, k, g) -> (m, k, g)>
#w2 = affine_map<(m, n, k, g) -> (n floordiv 16, k, n mod 16, g)>
func.func @words(%x: memref<36x32x2xi16>, %w: memref<4x32x16x2xi16>, %y: memref<36x64xi32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x2, #w2, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<36x32x2xi16>, memref<4x32x16x2xi16>) outs(%y : memref<36x64xi32>) {
  ^bb0(%a: i16, %b: i16, %s: i32):
    %1 = arith.extsi %a : i16 to i32
    %2 = arith.extsi %b : i16 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  }
  return
}

// Pairs of bf16 to sums of f32; of the last two columns, whose vectors would be too short, by multiply-adds.
// CHECK-LABEL: func.func @floats(
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK:         scf.for
// CHECK:           %[[WEIGHTS:.*]] = vector.load {{.*}} vector<32xbf16>
// CHECK:           %[[TWO:.*]] = vector.load {{.*}} vector<2xbf16>
// CHECK:           vector.bitcast %[[TWO]] : vector<2xbf16> to vector<1xi32>
// CHECK:           %[[ALL:.*]] = vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK:           %[[DATA:.*]] = vector.bitcast %[[ALL]] : vector<16xi32> to vector<32xbf16>
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %[[DATA]], %[[WEIGHTS]])
// CHECK:           vector.shuffle %{{.*}} [0, 2] : vector<4xbf16>
// CHECK:           arith.extf %{{.*}} : vector<2xbf16> to vector<2xf32>
// CHECK:           vector.fma
// CHECK:         return
#w3 = affine_map<(m, n, k, g) -> (n floordiv 16, k, n mod 16, g)>
func.func @floats(%x: memref<36x32x2xbf16>, %w: memref<2x32x16x2xbf16>, %y: memref<36x18xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x2, #w3, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<36x32x2xbf16>, memref<2x32x16x2xbf16>) outs(%y : memref<36x18xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Rows of one product that are parts of its columns: all share the data, each has weights of its own.
// CHECK-LABEL: func.func @heads(
// CHECK:         scf.for
// CHECK-COUNT-4:   vector.load {{.*}} vector<32xbf16>
// CHECK-COUNT-4:   llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK:         return
#x4 = affine_map<(h, n, k, g) -> (k, g)>
#w4 = affine_map<(h, n, k, g) -> (h, n floordiv 16, k, n mod 16, g)>
func.func @heads(%x: memref<32x2xbf16>, %w: memref<4x2x32x16x2xbf16>, %y: memref<4x32xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x4, #w4, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<32x2xbf16>, memref<4x2x32x16x2xbf16>) outs(%y : memref<4x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Without products of four bytes, of unsigned and signed ones whose neighbours' sums fit 16 bits.
// PAIRS-LABEL: func.func @exact(
// PAIRS-DAG:     %[[ONE:.*]] = arith.constant dense<1> : vector<16xi16>
// PAIRS:         scf.for
// PAIRS-COUNT-2:   vector.load {{.*}} vector<32xi8>
// PAIRS:           vector.load {{.*}} vector<4xi8>
// PAIRS:           %[[NEIGHBOURS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// PAIRS:           llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[NEIGHBOURS]], %[[ONE]])
// PAIRS-NOT:       arith.ext
// PAIRS:         return
// CHECK-LABEL: func.func @exact(
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
#w5 = affine_map<(m, n, k, g) -> (n floordiv 16, k, n mod 16, g)>
func.func @exact(%x: memref<40x32x4xi8>, %w: memref<4x32x16x4xi8>, %y: memref<40x64xi32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w5, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<40x32x4xi8>, memref<4x32x16x4xi8>) outs(%y : memref<40x64xi32>) attrs = {strata.exact_pairs} {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extui %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  }
  return
}

// Products of sums (strata-cross-products): both halves' data and weights for two vectors, four rows at a time.
// PAIRS-LABEL: func.func @crossed(
// PAIRS:         scf.for
// PAIRS:           %[[STARTS:.*]] = arith.subi
// PAIRS:           scf.for %{{.*}} = %c0 to %c16 step %c1 iter_args
// PAIRS-COUNT-16:    llvm.inline_asm has_side_effects {{.*}} "vpaddw {{.*}}vpaddw {{.*}}vpaddw {{.*}}vpaddw {{.*}}vpmaddwd {{.*}}vpmaddwd {{.*}}vpaddd {{.*}}vpaddd
// PAIRS-NOT:         llvm.inline_asm
// PAIRS:             scf.yield
// PAIRS:         return
#r = affine_map<(m, n) -> (m)>
#l = affine_map<(m, n) -> (n)>
#s = affine_map<(m, n) -> (m, n)>
#a0 = affine_map<(m, n, k, g, j) -> (m, k, 0, j, g)>
#a1 = affine_map<(m, n, k, g, j) -> (m, k, 1, j, g)>
#b0 = affine_map<(m, n, k, g, j) -> (n floordiv 16, k, 0, j, n mod 16, g)>
#b1 = affine_map<(m, n, k, g, j) -> (n floordiv 16, k, 1, j, n mod 16, g)>
#c = affine_map<(m, n, k, g, j) -> (m, n)>
func.func @crossed(%x: memref<40x16x2x4x2xi16>, %w: memref<4x16x2x4x16x2xi16>, %rows: memref<40xi32>, %lanes: memref<64xi32>, %y: memref<40x64xi32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#r, #l, #s], iterator_types = ["parallel", "parallel"]}
      ins(%rows, %lanes : memref<40xi32>, memref<64xi32>) outs(%y : memref<40x64xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %1 = arith.subi %a, %b : i32
    linalg.yield %1 : i32
  }
  linalg.generic {indexing_maps = [#a0, #a1, #b0, #b1, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %x, %w, %w : memref<40x16x2x4x2xi16>, memref<40x16x2x4x2xi16>, memref<4x16x2x4x16x2xi16>, memref<4x16x2x4x16x2xi16>) outs(%y : memref<40x64xi32>) {
  ^bb0(%a: i16, %b: i16, %v: i16, %u: i16, %s: i32):
    %1 = arith.addi %a, %u : i16
    %2 = arith.extsi %1 : i16 to i32
    %3 = arith.addi %b, %v : i16
    %4 = arith.extsi %3 : i16 to i32
    %5 = arith.muli %2, %4 : i32
    %6 = arith.addi %s, %5 : i32
    linalg.yield %6 : i32
  }
  return
}
