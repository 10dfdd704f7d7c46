// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 gathers=true threads=false},canonicalize,cse))' | FileCheck %s --check-prefixes=CHECK,LONG
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 gathers=true threads=false},canonicalize,cse))' | FileCheck %s --check-prefixes=CHECK,SHORT
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 threads=false},canonicalize,cse))' | FileCheck %s --check-prefixes=NONE

// A column of each row, by its number: places of 32 bits reach all that a known size has. Shorter vectors gain nothing
// where nothing is computed.
// CHECK-LABEL:  func.func @columns(
// LONG-SAME:        %[[NUMBERS:.*]]: memref<64xi64>, %[[TABLE:.*]]: memref<12x100xf32>
// LONG:           scf.for %[[I:.*]] =
// LONG:             %[[NUMBER:.*]] = vector.load {{.*}} vector<8xi64>
// LONG:             %[[INDEX:.*]] = arith.index_cast %[[NUMBER]] : vector<8xi64> to vector<8xindex>
// LONG:             %[[PLACE:.*]] = arith.index_cast %[[INDEX]] : vector<8xindex> to vector<8xi32>
// LONG:             vector.gather %[[TABLE]][%[[I]], %c0] [%[[PLACE]]], {{.*}} : memref<12x100xf32>, vector<8xi32>
// SHORT-NOT:      vector
// NONE-LABEL:   func.func @columns(
// NONE-NOT:       vector
func.func @columns(%numbers: memref<64xi64>, %table: memref<12x100xf32>, %columns: memref<12x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%numbers : memref<64xi64>) outs(%columns : memref<12x64xf32>) {
  ^bb0(%number: i64, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %number : i64 to index
    %0 = memref.load %table[%i, %j] : memref<12x100xf32>
    linalg.yield %0 : f32
  }
  return
}

// -----

// No instruction gathers bytes, and three lanes are few.
// CHECK-LABEL:  func.func @bytes(
// CHECK-NOT:      vector.gather
// CHECK-LABEL:  func.func @few(
// CHECK-NOT:      vector.gather
func.func @bytes(%numbers: memref<64xi64>, %table: memref<12x100xi8>, %columns: memref<12x64xi8>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%numbers : memref<64xi64>) outs(%columns : memref<12x64xi8>) {
  ^bb0(%number: i64, %o: i8):
    %i = linalg.index 0 : index
    %j = arith.index_cast %number : i64 to index
    %0 = memref.load %table[%i, %j] : memref<12x100xi8>
    linalg.yield %0 : i8
  }
  return
}
func.func @few(%numbers: memref<3xi64>, %table: memref<12x100xf32>, %columns: memref<12x3xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%numbers : memref<3xi64>) outs(%columns : memref<12x3xf32>) {
  ^bb0(%number: i64, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %number : i64 to index
    %0 = memref.load %table[%i, %j] : memref<12x100xf32>
    linalg.yield %0 : f32
  }
  return
}

// -----

// Sizes that only the run tells: places of 64 bits, from the buffer's own strides. Enough is computed for any vector.
// CHECK-LABEL:  func.func @mixed(
// CHECK:          memref.extract_strided_metadata
// CHECK:          %[[PLACE:.*]] = arith.muli {{.*}} : vector<[[LANES:8|16]]xindex>
// CHECK:          vector.gather %{{.*}}[%c0, %c0] [%{{.*}}], {{.*}} : memref<?x?xf32>, vector<[[LANES]]xindex>
// CHECK:          arith.mulf {{.*}} : vector<[[LANES]]xf32>
// NONE-LABEL:   func.func @mixed(
// NONE-NOT:       vector
func.func @mixed(%at: memref<640xf32>, %x: memref<?x?xf32> {strata.given}, %o: memref<640xf32>) attributes {strata.kernel} {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : memref<640xf32>) outs(%o : memref<640xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.floor %a : f32
    %1 = arith.subf %a, %0 : f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.fptosi %0 : f32 to i32
    %4 = arith.index_cast %3 : i32 to index
    %5 = arith.fptosi %2 : f32 to i32
    %6 = arith.index_cast %5 : i32 to index
    %7 = memref.load %x[%4, %6] : memref<?x?xf32>
    %8 = arith.addf %1, %one : f32
    %9 = arith.addf %8, %2 : f32
    %10 = arith.mulf %7, %9 : f32
    linalg.yield %10 : f32
  }
  return
}

// -----

// Neighbours in the opposite order are loaded as they lie, from that of the last lane on.
// CHECK-LABEL:  func.func @backwards(
// NONE-LABEL:   func.func @backwards(
// LONG:           %[[LOADED:.*]] = vector.load %{{.*}} : memref<12x64xf32>, vector<16xf32>
// LONG:           vector.shuffle %[[LOADED]], %[[LOADED]] [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
// SHORT:          vector.shuffle {{.*}} [7, 6, 5, 4, 3, 2, 1, 0]
// NONE:           vector.shuffle
func.func @backwards(%x: memref<12x64xf32>, %y: memref<12x64xf32>) attributes {strata.kernel} {
  %last = arith.constant 63 : index
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%y : memref<12x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %back = arith.subi %last, %j : index
    %0 = memref.load %x[%i, %back] : memref<12x64xf32>
    linalg.yield %0 : f32
  }
  return
}
