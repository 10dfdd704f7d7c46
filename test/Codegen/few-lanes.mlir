// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 part-loads=true threads=false},canonicalize,cse))' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 threads=false},canonicalize,cse))' | FileCheck %s --check-prefix=NONE
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 part-loads=true threads=false},canonicalize,cse))' | FileCheck %s --check-prefix=WIDE

// Three lanes are a vector of four, of which three are loaded and stored; what is one number for all lanes is no part.
// CHECK-LABEL: func.func @three(
// CHECK:         %[[MASK:.*]] = arith.constant dense<[true, true, true, false]> : vector<4xi1>
// CHECK:         scf.for {{.*}} iter_args
// CHECK:           vector.maskedload %{{.*}}, %[[MASK]], {{.*}} vector<4xf32>
// CHECK:           memref.load
// CHECK:           math.fma {{.*}} : vector<4xf32>
// CHECK:         vector.maskedload %{{.*}}, %[[MASK]], {{.*}} vector<4xf32>
// CHECK:         arith.addf {{.*}} : vector<4xf32>
// CHECK:         vector.store {{.*}} vector<2xf32>
// CHECK:         vector.store {{.*}} vector<1xf32>
// CHECK-NOT:     math.fma {{.*}} : f32
// NONE-LABEL:  func.func @three(
// NONE-NOT:      vector.maskedload
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#same = affine_map<(m, n) -> (m, n)>
#lanes = affine_map<(m, n) -> (n)>
func.func @three(%x: memref<40x32xf32>, %w: memref<32x3xf32>, %bias: memref<3xf32>, %y: memref<40x3xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<40x3xf32>
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<40x3xf32>) {
  ^bb0(%s: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<40x32xf32>, memref<32x3xf32>) outs(%sums : memref<40x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#same, #lanes, #same], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : memref<40x3xf32>, memref<3xf32>) outs(%y : memref<40x3xf32>) {
  ^bb0(%s: f32, %b: f32, %o: f32):
    %0 = arith.addf %s, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Bytes have no masks on every target, and the quotient of lanes that are not there would trap.
// CHECK-LABEL: func.func @bytes(
// CHECK-NOT:     vector.maskedload
// CHECK-LABEL: func.func @quotients(
// CHECK-NOT:     vector.maskedload
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
func.func @bytes(%x: memref<40x32xi32>, %w: memref<32x5xi8>, %y: memref<40x5xi32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<40x32xi32>, memref<32x5xi8>) outs(%y : memref<40x5xi32>) {
  ^bb0(%a: i32, %b: i8, %s: i32):
    %0 = arith.extsi %b : i8 to i32
    %1 = arith.muli %a, %0 : i32
    %2 = arith.addi %s, %1 : i32
    linalg.yield %2 : i32
  }
  return
}
func.func @quotients(%x: memref<40x32xi32>, %w: memref<32x5xi32>, %y: memref<40x5xi32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<40x32xi32>, memref<32x5xi32>) outs(%y : memref<40x5xi32>) {
  ^bb0(%a: i32, %b: i32, %s: i32):
    %0 = arith.divsi %a, %b : i32
    %1 = arith.addi %s, %0 : i32
    linalg.yield %1 : i32
  }
  return
}

// -----

// What is added to a product's sums and lies along the rows: six of the eight elements of a line are loaded for each lane,
// and the square is transposed. Without partial loads they are loaded one by one.
// CHECK-LABEL: func.func @residual(
// CHECK:         %[[MASK:.*]] = arith.constant dense<[true, true, true, true, true, true, false, false]> : vector<8xi1>
// CHECK-COUNT-8: vector.maskedload %{{.*}}, %[[MASK]], {{.*}} vector<8xf32>
// CHECK:         vector.shuffle
// NONE-LABEL:  func.func @residual(
// NONE-NOT:      vector.maskedload
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#start = affine_map<(m, n) -> ()>
#rows = affine_map<(m, n) -> (m, n)>
#columns = affine_map<(m, n) -> (n, m)>
func.func @residual(%x: memref<48x32xf32>, %w: memref<32x64xf32>, %r: memref<64x48xf32>, %y: memref<48x64xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<48x64xf32>
  linalg.generic {indexing_maps = [#start, #rows], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%sums : memref<48x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<48x32xf32>, memref<32x64xf32>) outs(%sums : memref<48x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %r : memref<48x64xf32>, memref<64x48xf32>) outs(%y : memref<48x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  memref.dealloc %sums : memref<48x64xf32>
  return
}

// -----

// What is left of a row behind its vectors is added by one that loads so many of its lanes, to the sums that the last
// vector did not wait for; where only the run tells how much that is, if there is anything.
// CHECK-LABEL: func.func @rest(
// CHECK:         %[[MASK:.*]] = arith.constant dense<[true, true, true, true, true, false, false, false]> : vector<8xi1>
// CHECK:         %[[X:.*]] = vector.maskedload %{{.*}}, %[[MASK]], {{.*}} vector<8xf32>
// CHECK:         %[[SUM:.*]] = arith.addf %[[X]]
// CHECK:         arith.select %[[MASK]], %[[SUM]], {{.*}} : vector<8xi1>, vector<8xf32>
// CHECK:         vector.reduction <add>
// NONE-LABEL:  func.func @rest(
// NONE-NOT:      vector.maskedload
// NONE:          arith.addf {{.*}} : f32
// NONE:          vector.reduction <add>
func.func @rest(%x: memref<40x45xf32>, %y: memref<40xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<40x45xf32>) outs(%y : memref<40xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.addf %a, %s : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @unknown_rest(
// CHECK:         %[[SOME:.*]] = arith.cmpi ne, %[[REST:.*]], %c0
// CHECK:         scf.if %[[SOME]] -> (vector<8xf32>) {
// CHECK:           %[[COUNT:.*]] = arith.index_cast %[[REST]] : index to i32
// CHECK:           %[[COUNTS:.*]] = vector.broadcast %[[COUNT]] : i32 to vector<8xi32>
// CHECK:           %[[MASK:.*]] = arith.cmpi s{{[lg]}}t, {{.*}} : vector<8xi32>
// CHECK:           vector.maskedload %{{.*}}, %[[MASK]],
// CHECK:         } else {
func.func @unknown_rest(%x: memref<40x?xf32>, %y: memref<40xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<40x?xf32>) outs(%y : memref<40xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.addf %a, %s : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Elements of an unknown number: behind the full vectors one of which some lanes are there. What stores these alone
// takes long where vectors are short: there four, two and one of them are stored.
// CHECK-LABEL: func.func @unknown_number(
// CHECK:         math.sqrt {{.*}} : vector<8xf32>
// CHECK:         scf.if
// CHECK:           %[[RESULT:.*]] = math.sqrt %{{.*}} : vector<8xf32>
// CHECK:           scf.if
// CHECK:             vector.store %{{.*}} vector<4xf32>
// CHECK:           scf.if
// CHECK:             vector.store %{{.*}} vector<2xf32>
// CHECK:           scf.if
// CHECK:             vector.store %{{.*}} vector<1xf32>
// WIDE-LABEL:  func.func @unknown_number(
// WIDE:          %[[MASK:.*]] = arith.cmpi s{{[lg]}}t, {{.*}} : vector<16xi32>
// WIDE:          %[[SOME:.*]] = vector.maskedload %{{.*}}, %[[MASK]], {{.*}} vector<16xf32>
// WIDE:          %[[RESULT:.*]] = math.sqrt %[[SOME]]
// WIDE:          vector.maskedstore %{{.*}}, %[[MASK]], %[[RESULT]]
func.func @unknown_number(%z: memref<?xf32>, %r: memref<?xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
      ins(%z : memref<?xf32>) outs(%r : memref<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Of 29 columns in blocks of 16 the last 13 are a vector of eight and five lanes of another one, side by side: the block
// has zeros behind them.
// CHECK-LABEL: func.func @block(
// CHECK-NOT:     vector.maskedload
// CHECK:         } else {
// CHECK:           scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>
// CHECK-NOT:       vector.load {{.*}} vector<4xf32>
// CHECK:           vector.store {{.*}} vector<8xf32>
// CHECK:           vector.extract_strided_slice {{.*}} {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
// CHECK:           vector.store {{.*}} vector<4xf32>
// CHECK:           vector.extract_strided_slice {{.*}} {offsets = [4], sizes = [1], strides = [1]} : vector<8xf32> to vector<1xf32>
// CHECK:           vector.store {{.*}} vector<1xf32>
// NONE-LABEL:  func.func @block(
// NONE:          scf.for {{.*}} iter_args({{.*}}) -> (vector<4xf32>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#o = affine_map<(m, n, k) -> (m, n)>
func.func @block(%x: memref<40x32xf32>, %w: memref<2x32x16xf32>, %y: memref<40x29xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<40x32xf32>, memref<2x32x16xf32>) outs(%y : memref<40x29xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Booleans are bytes, of which the longest vectors load some lanes, too.
// WIDE-LABEL:  func.func @flags(
// WIDE:          %[[BYTES:.*]] = vector.maskedload {{.*}} vector<4xi8>
// WIDE:          %[[FLAGS:.*]] = arith.cmpi ne, %[[BYTES]], %{{.*}} : vector<4xi8>
// WIDE:          arith.select %[[FLAGS]], %{{.*}} : vector<4xi1>, vector<4xf32>
func.func @flags(%x: memref<40x3xf32>, %f: memref<40x3xi1>, %y: memref<3xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (n)>], iterator_types = ["reduction", "parallel"]}
      ins(%x, %f : memref<40x3xf32>, memref<40x3xi1>) outs(%y : memref<3xf32>) {
  ^bb0(%a: f32, %b: i1, %s: f32):
    %0 = arith.select %b, %a, %zero : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// What the next nest of a block reads at once is not stored in parts by a mask; what the last one gives is.
// WIDE-LABEL:  func.func @read_at_once(
// WIDE:          math.exp
// WIDE-NOT:      vector.maskedstore
// WIDE:          math.exp %{{.*}} : vector<8xf32>
// WIDE:          math.exp %{{.*}} : vector<4xf32>
// WIDE:          math.sqrt
// WIDE:          vector.maskedstore
#id = affine_map<(i, j) -> (i, j)>
func.func @read_at_once(%x: memref<64x?xf32>, %y: memref<64x?xf32>) attributes {strata.kernel} {
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<64x?xf32>
  scf.forall (%i) in (64) {
    %a = memref.subview %x[%i, 0] [1, %n] [1, 1] : memref<64x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    %b = memref.subview %y[%i, 0] [1, %n] [1, 1] : memref<64x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    %e = memref.alloc(%n) : memref<1x?xf32>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : memref<1x?xf32, strided<[?, 1], offset: ?>>) outs(%e : memref<1x?xf32>) attrs = {strata.nest = 0} {
    ^bb0(%p: f32, %o: f32):
      %0 = math.exp %p : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%e : memref<1x?xf32>) outs(%b : memref<1x?xf32, strided<[?, 1], offset: ?>>) attrs = {strata.nest = 1} {
    ^bb0(%p: f32, %o: f32):
      %0 = math.sqrt %p : f32
      linalg.yield %0 : f32
    }
    memref.dealloc %e : memref<1x?xf32>
  }
  return
}

// -----

// Columns that only the run counts, behind the last whole tile: one pass over the reduction, of one vector, two or four,
// of which the last ones are there in part or not at all.
// WIDE-LABEL: func.func @lanes_left(
// WIDE:         %[[LEFT:.*]] = arith.subi %[[COLUMNS:.*]], %{{.*}} : index
// WIDE:         %[[FEW:.*]] = arith.cmpi ule, %[[LEFT]], %c32
// WIDE:         scf.if %[[FEW]] {
// WIDE:           %[[ONE:.*]] = arith.cmpi ule, %[[LEFT]], %c16
// WIDE:           scf.if %[[ONE]] {
// WIDE:             %[[MASK:.*]] = arith.cmpi sgt, {{.*}} : vector<16xi32>
// WIDE:             vector.maskedload %{{.*}}, %[[MASK]]
// WIDE:             vector.maskedstore %{{.*}}, %[[MASK]]
// WIDE:           } else {
// WIDE:             arith.subi %[[LEFT]], %c16
// WIDE:             scf.for
// WIDE:               vector.load
// WIDE:               vector.maskedload
// WIDE:               scf.yield
// WIDE:         } else {
// WIDE-NEXT:      arith.subi %[[LEFT]], %c32
// WIDE-NEXT:      arith.subi %[[LEFT]], %c48
// WIDE-COUNT-4:   vector.maskedstore
// WIDE-NOT:       vector.maskedstore
// WIDE:         return
// NONE-LABEL: func.func @lanes_left(
// NONE-NOT:     vector.masked
func.func @lanes_left(%x: memref<2x64xf32>, %w: memref<64x?xf32>, %y: memref<2x?xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x64xf32>, memref<64x?xf32>) outs(%y : memref<2x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}
