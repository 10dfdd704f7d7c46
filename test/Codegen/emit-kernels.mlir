// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 threads=false},cse))' | FileCheck %s
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16},cse))' | FileCheck %s --check-prefix=TASKS
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 threads=false},cse))' | FileCheck %s --check-prefix=WIDE
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 fma=true threads=false},cse))' | FileCheck %s --check-prefix=FUSED
// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=256 registers=16 fma=true threads=false integer-packs=true},cse))' | FileCheck %s --check-prefix=PACKS

// A matrix product: 6 rows of 2 vectors stay in registers over the reduction.
// 12 = 2 * 6 rows, 16 columns: no remainder.
// CHECK-LABEL: func.func @matmul
// CHECK:         %[[R:.*]]:12 = scf.for
// CHECK:           vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-12:  math.fma {{.*}} : vector<8xf32>
// CHECK:           scf.yield
// CHECK-NOT:     linalg.generic
// CHECK-NOT:     scf.parallel
// TASKS-LABEL: func.func @matmul
// TASKS-NOT:     scf.parallel
func.func @matmul(%a: memref<12x32xf32>, %b: memref<32x16xf32>, %c: memref<12x16xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<12x32xf32>, memref<32x16xf32>) outs(%c : memref<12x16xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Elementwise over a contiguous tensor: one loop of 1200 elements, the remainder
// (1200 = 37 * 32 + 16) in narrower tiles.
// CHECK-LABEL: func.func @add
// CHECK:         %[[STEP:.*]] = arith.constant 32 : index
// CHECK:         scf.for
// CHECK-NOT:     scf.for
// CHECK:         scf.if
// CHECK-COUNT-4:   arith.addf {{.*}} : vector<8xf32>
// CHECK:         } else {
// CHECK-COUNT-2:   arith.addf {{.*}} : vector<8xf32>
// CHECK-NOT:       arith.addf
func.func @add(%a: memref<10x12x10xf32>, %c: memref<10x12x10xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : memref<10x12x10xf32>) outs(%c : memref<10x12x10xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// The sum of a row: four accumulators, combined at the end. Large: tasks.
// CHECK-LABEL: func.func @row_sums
// CHECK:         scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK:         vector.reduction <add>
// TASKS-LABEL: func.func @row_sums
// TASKS:         scf.parallel
func.func @row_sums(%a: memref<1024x1024xf32>, %c: memref<1024xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<1024x1024xf32>) outs(%c : memref<1024xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Bools are bytes in memory.
// CHECK-LABEL: func.func @not
// CHECK:         vector.load {{.*}} vector<{{.*}}xi8>
// CHECK:         arith.extui {{.*}}xi1> to vector<{{.*}}xi8>
// CHECK:         vector.store
func.func @not(%a: memref<64xi1>, %c: memref<64xi1>) attributes {strata.kernel} {
  %t = arith.constant true
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<64xi1>) outs(%c : memref<64xi1>) {
  ^bb0(%x: i1, %o: i1):
    %0 = arith.xori %x, %t : i1
    linalg.yield %0 : i1
  }
  return
}

// -----

// A body that branches has no vector form.
// CHECK-LABEL: func.func @branch
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NOT:     linalg.index
// CHECK:         scf.if
// CHECK:           arith.index_cast %{{.*}} : index to i64
func.func @branch(%a: memref<8x7xi64>, %c: memref<8x7xi64>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<8x7xi64>) outs(%c : memref<8x7xi64>) {
  ^bb0(%x: i64, %o: i64):
    %z = arith.constant 0 : i64
    %p = arith.cmpi slt, %x, %z : i64
    %j = linalg.index 1 : index
    %0 = scf.if %p -> i64 {
      %k = arith.index_cast %j : index to i64
      scf.yield %k : i64
    } else {
      scf.yield %x : i64
    }
    linalg.yield %0 : i64
  }
  return
}

// -----

// Nothing to compute.
// CHECK-LABEL: func.func @empty
// CHECK-NOT:     scf.for
// CHECK:         return
func.func @empty(%a: memref<0x7xf32>, %c: memref<0x7xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<0x7xf32>) outs(%c : memref<0x7xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// Large weights in blocks of 16 columns, 512 x 16 elements each: the next block is fetched ahead, an eighth of it (2 of 16
// columns' elements per iteration, 1024 in all) by each of the 8 tiles of 6 rows that use the block before it. The block
// itself, from the second-level cache, 16 iterations of 6 cycles ahead. While the last block is used, it is asked for
// again, and nothing behind it.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @large_weights
// CHECK:         scf.for %[[K:.*]] = {{.*}} iter_args
// CHECK:           %[[TILE:.*]] = arith.divui %{{.*}}, %c6
// CHECK:           %[[LAST:.*]] = arith.muli %c31, %c8192
// CHECK:           %[[BEHIND:.*]] = arith.addi %{{.*}}, %c8192
// CHECK:           %[[NEXT:.*]] = arith.minui %[[BEHIND]], %[[LAST]]
// CHECK:           %[[SHARE:.*]] = arith.muli %[[TILE]], %c1024
// CHECK:           %[[START:.*]] = arith.addi %[[NEXT]], %[[SHARE]]
// CHECK:           %[[STEP:.*]] = arith.muli %[[K]], %c2
// CHECK:           %[[THERE:.*]] = arith.addi %[[START]], %[[STEP]]
// CHECK:           memref.prefetch %{{.*}}[%[[THERE]]], read, locality<2>, data
// CHECK:           %[[DISTANCE:.*]] = arith.muli %c16, %c16
// CHECK:           %[[NEAR:.*]] = arith.addi %[[HERE:.*]], %[[DISTANCE]]
// CHECK:           memref.prefetch %{{.*}}[%[[NEAR]]], read, locality<3>, data
// CHECK-NOT:       memref.prefetch
// CHECK:           vector.load %{{.*}}[%[[HERE]]]
func.func @large_weights(%x: memref<48x512xf32>, %w: memref<32x512x16xf32>, %y: memref<48x512xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<48x512xf32>, memref<32x512x16xf32>) outs(%y : memref<48x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// One block has no other behind it.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @one_block
// CHECK-NOT:     locality<2>
// CHECK:         return
func.func @one_block(%x: memref<48x8192xf32>, %w: memref<1x8192x16xf32>, %y: memref<48x16xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<48x8192xf32>, memref<1x8192x16xf32>) outs(%y : memref<48x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A matrix of more than half of the first-level cache that a model is given may lie across the lines of the cache: the
// first tile of rows stores what it loads where a line begins, in a block of 16 lanes, and the others read that.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @given
// CHECK:         %[[COPY:.*]] = memref.alloc() {alignment = 64 : i64} : memref<6400xf32>
// CHECK:         vector.store %{{.*}}, %{{.*}} : memref<?xf32, strided<[1]>>, vector<8xf32>
// CHECK:         memref.dealloc %[[COPY]]
// Nothing is copied of our own buffers, which are small enough.
// CHECK-LABEL: func.func @own
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @given(%x: memref<48x400xf32>, %w: memref<400x16xf32> {strata.given}, %y: memref<48x16xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<48x400xf32>, memref<400x16xf32>) outs(%y : memref<48x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
func.func @own(%x: memref<48x400xf32>, %w: memref<400x16xf32>, %y: memref<48x16xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<48x400xf32>, memref<400x16xf32>) outs(%y : memref<48x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A number of rows that only the run tells is shared out to tiles that differ by one row at most: there is code for each
// number from one to six. Tiles that may have neighbours fetch an eighth of the next block, again and again; of fewer
// than three rows there is but one tile, which reads all weights in order. The data of 42 tiles stays in the cache for all
// weights.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @large_weights_of_some_rows
// CHECK:         %[[ROWS:.*]] = memref.dim
// CHECK:         %[[TILES:.*]] = arith.ceildivui %[[ROWS]], %c6
// CHECK:         scf.for %[[BLOCK:.*]] = %c0 to %[[TILES]] step %c42
// CHECK:           scf.for %{{.*}} = %c0 to %c512 step %c16
// CHECK:             scf.for %[[NUMBER:.*]] = %[[BLOCK]] to %{{.*}} step %c1
// CHECK:           %[[PRODUCT:.*]] = arith.muli %[[NUMBER]], %[[ROWS]]
// CHECK:           %[[FIRST:.*]] = arith.divui %[[PRODUCT]], %[[TILES]]
// CHECK:           %[[NEXT:.*]] = arith.addi %[[NUMBER]], %c1
// CHECK:           %[[PRODUCT2:.*]] = arith.muli %[[NEXT]], %[[ROWS]]
// CHECK:           %[[LAST:.*]] = arith.divui %[[PRODUCT2]], %[[TILES]]
// CHECK:           %[[COUNT:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK:           scf.index_switch %[[COUNT]]
// CHECK:           case 1
// CHECK-NOT:         prefetch
// CHECK:           case 2
// CHECK-NOT:         locality<2>
// CHECK:             %[[AHEAD:.*]] = arith.muli %c128, %c16
// CHECK:             memref.prefetch {{.*}} locality<3>
// CHECK-NOT:         locality<2>
// CHECK:           case 3
// CHECK:             %[[ROUND:.*]] = arith.remui %[[NUMBER]], %c8
// CHECK:             arith.muli %[[ROUND]], %c1024
// CHECK:             memref.prefetch {{.*}} locality<2>
// CHECK-NOT:         locality<2>
// CHECK:           case 4
// CHECK:           case 5
// CHECK:           default
func.func @large_weights_of_some_rows(%x: memref<?x512xf32>, %w: memref<32x512x16xf32>, %y: memref<?x512xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x512xf32>, memref<32x512x16xf32>) outs(%y : memref<?x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Steps of a known number are rows, rather than a batch that may be a single one: all 18 read the weights once a tile.
#x = affine_map<(t, m, n, k) -> (m, t, k)>
#w = affine_map<(t, m, n, k) -> (n floordiv 16, k, n mod 16)>
#y = affine_map<(t, m, n, k) -> (t, m, n)>
// CHECK-LABEL: func.func @steps_of_a_batch
// CHECK:         scf.for %{{.*}} = %c0 to %c512 step %c16
// CHECK:           scf.for %{{.*}} = %c0 to %{{.*}} step %c1
// CHECK:             scf.for %{{.*}} = %c0 to %c18 step %c6
// CHECK-NOT:     index_switch
func.func @steps_of_a_batch(%x: memref<?x18x512xf32>, %w: memref<32x512x16xf32>, %y: memref<18x?x512xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x18x512xf32>, memref<32x512x16xf32>) outs(%y : memref<18x?x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Rows of a window that slides along the steps read again what their neighbours read a step before, or two of them: no
// iteration has both, for which there would be no registers.
#x = affine_map<(m, n, k) -> (m + k)>
#x2 = affine_map<(m, n, k) -> (m * 2 + k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @window
// CHECK:         scf.for %{{.*}} = %c0 to %c128 step %c1 iter_args
// CHECK-COUNT-12:  math.fma
// CHECK:           scf.yield
func.func @window(%x: memref<223xf32>, %w: memref<4x128x16xf32>, %y: memref<96x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<223xf32>, memref<4x128x16xf32>) outs(%y : memref<96x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @window_by_twos
// CHECK:         scf.for %{{.*}} = %c0 to %c128 step %c2 iter_args
// CHECK-COUNT-24:  math.fma
// CHECK:           scf.yield
func.func @window_by_twos(%x: memref<318xf32>, %w: memref<4x128x16xf32>, %y: memref<96x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x2, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<318xf32>, memref<4x128x16xf32>) outs(%y : memref<96x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A right-hand side that is given in each run and too large for the nearest cache: the first six rows copy the 16 columns
// of a block, so that the others read them from one place. With so little for each block, blocks are the tasks. A step
// reads one line: four of them make an iteration.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @given
// CHECK-SAME:      (%{{.*}}: memref<48x512xf32>, %[[W:.*]]: memref<512x512xf32>,
// CHECK:         %[[COPY:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8192xf32>
// CHECK:         %[[FLAT:.*]] = memref.cast %[[COPY]]
// CHECK:         scf.for %{{.*}} = %c0 to %c512 step %c16
// CHECK:           scf.for %[[K:.*]] = %c0 to %c512 step %c4 iter_args
// CHECK:             memref.prefetch %{{.*}}, locality<3>
// CHECK:             %[[FIRST:.*]] = vector.load
// CHECK:             %[[AT:.*]] = arith.muli %[[K]], %c16
// CHECK:             vector.store %[[FIRST]], %[[FLAT]][%{{.*}}]
// CHECK:           scf.for %{{.*}} = %c6 to %c48 step %c6
// CHECK:             scf.for
// CHECK-COUNT-8:       vector.load %[[FLAT]]
// CHECK-NOT:           vector.load
// CHECK:             scf.yield
// CHECK:         memref.dealloc %[[COPY]]
// TASKS-LABEL: func.func @given
// TASKS:         %[[COUNT:.*]] = arith.constant 32 : index
// TASKS:         scf.parallel (%{{.*}}) = (%c0) to (%{{.*}})
// TASKS:           memref.alloc
// TASKS:           memref.dealloc
func.func @given(%x: memref<48x512xf32>, %w: memref<512x512xf32>, %y: memref<48x512xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<48x512xf32>, memref<512x512xf32>) outs(%y : memref<48x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The same with the data of more rows than the cache has room for: blocks of rows would each copy the columns again, so
// all rows use a copy, and those of the next tile are asked for, six elements for each step, line by line in an iteration
// of four. Steps of four lines are an iteration each.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @many_rows
// CHECK:         scf.for %{{.*}} = %c0 to %c512 step %c16
// CHECK:           scf.for %[[ROW:.*]] = %c6 to %c1026 step %c6
// CHECK:             scf.for %[[K:.*]] = %c0 to %c512 step %c4 iter_args
// CHECK:               %[[SHARE:.*]] = arith.muli %[[K]], %c6
// CHECK:               %[[NEXT:.*]] = arith.addi %[[SHARE]], %c3072
// CHECK:               %[[AT:.*]] = arith.addi %{{.*}}, %[[NEXT]]
// CHECK:               memref.prefetch %{{.*}}[%[[AT]]], read, locality<2>
// CHECK:               %[[SECOND:.*]] = arith.addi %[[AT]], %c16
// CHECK:               memref.prefetch %{{.*}}[%[[SECOND]]], read, locality<2>
// CHECK-COUNT-48:      math.fma
// CHECK-NOT:           locality<2>
// CHECK:               scf.yield
// WIDE-LABEL: func.func @many_rows
// WIDE:           scf.for %{{.*}} = %c6 to %c1026 step %c6
// WIDE:             scf.for %{{.*}} = %c0 to %c512 step %c1 iter_args
func.func @many_rows(%x: memref<1026x512xf32>, %w: memref<512x512xf32>, %y: memref<1026x512xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1026x512xf32>, memref<512x512xf32>) outs(%y : memref<1026x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Eight blocks of columns are few tasks, and their last ones may be small: rows are four blocks, each with a copy. One
// thread needs none.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @few_columns
// CHECK:         scf.for %{{.*}} = %c6 to %c1026 step %c6
// TASKS-LABEL: func.func @few_columns
// TASKS:         %[[COUNT:.*]] = arith.muli %c4, %c8
// TASKS:         scf.parallel (%{{.*}}) = (%c0) to (%[[COUNT]]) step (%c1)
// TASKS:           %[[BLOCK:.*]] = arith.divui %{{.*}}, %c8
// TASKS:           %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c258
// TASKS:           %[[END:.*]] = arith.addi %[[FIRST]], %c258
// TASKS:           %[[LAST:.*]] = arith.minui %[[END]], %c1026
// TASKS:           %[[SECOND:.*]] = arith.addi %[[FIRST]], %c6
// TASKS:           scf.for %{{.*}} = %[[SECOND]] to %[[LAST]] step %c6
func.func @few_columns(%x: memref<1026x512xf32>, %w: memref<512x128xf32>, %y: memref<1026x128xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1026x512xf32>, memref<512x128xf32>) outs(%y : memref<1026x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// What is contiguous as it is needs no copy, however many dimensions it has.
#x = affine_map<(m, n, k, l) -> (m, k, l)>
#w = affine_map<(m, n, k, l) -> (k, l, n)>
#y = affine_map<(m, n, k, l) -> (m, n)>
// CHECK-LABEL: func.func @contiguous
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @contiguous(%x: memref<48x64x40xf32, strided<[4096, 64, 1]>>, %w: memref<64x40x16xf32>, %y: memref<48x16xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<48x64x40xf32, strided<[4096, 64, 1]>>, memref<64x40x16xf32>) outs(%y : memref<48x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Seven rows are four and three, not six and one.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @seven_rows
// CHECK:         scf.for {{.*}} step %c4
// CHECK:           scf.if
// CHECK-COUNT-8:     math.fma
// CHECK-NOT:         math.fma
// CHECK:           else
// CHECK-COUNT-6:     math.fma
// CHECK-NOT:         math.fma
// CHECK:         return
func.func @seven_rows(%x: memref<7x64xf32>, %w: memref<4x64x16xf32>, %y: memref<7x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<7x64xf32>, memref<4x64x16xf32>) outs(%y : memref<7x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Small ones stay in the cache by themselves.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @small_weights
// CHECK-NOT:     memref.prefetch
func.func @small_weights(%x: memref<48x64xf32>, %w: memref<4x64x16xf32>, %y: memref<48x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<48x64xf32>, memref<4x64x16xf32>) outs(%y : memref<48x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Lanes that lie apart in the source: 8 rows of it are loaded as they lie and transposed in registers, in three steps.
#s = affine_map<(i, j) -> (j, i)>
#d = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @transpose
// CHECK-COUNT-8:   vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-24:  vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK-NOT:       vector.shuffle
// CHECK-COUNT-8:   vector.store {{.*}} vector<8xf32>
func.func @transpose(%x: memref<64x32xf32>, %y: memref<32x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#s, #d], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%y : memref<32x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Four lanes and eight rows: rows are no more than lanes, which are what the result has.
#s = affine_map<(i, j) -> (j, i)>
#d = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @narrow
// CHECK-COUNT-4:   vector.load {{.*}} vector<4xf32>
// CHECK-COUNT-8:   vector.shuffle {{.*}} : vector<4xf32>, vector<4xf32>
// CHECK-COUNT-4:   vector.store {{.*}} vector<4xf32>
func.func @narrow(%x: memref<4x32xf32>, %y: memref<32x4xf32, strided<[8, 1]>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#s, #d], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x32xf32>) outs(%y : memref<32x4xf32, strided<[8, 1]>>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Sixteen vectors of sixteen bytes: their halves are interleaved four times.
#s = affine_map<(i, j) -> (j, i)>
#d = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @bytes
// CHECK-COUNT-16:  vector.load {{.*}} vector<16xi8>
// CHECK:           vector.shuffle {{.*}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xi8>
// CHECK:           vector.shuffle {{.*}} [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31] : vector<16xi8>
// CHECK-COUNT-62:  vector.shuffle {{.*}} : vector<16xi8>, vector<16xi8>
// CHECK-NOT:       vector.shuffle
func.func @bytes(%x: memref<16x32xi8>, %y: memref<32x16xi16>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#s, #d], iterator_types = ["parallel", "parallel"]} ins(%x : memref<16x32xi8>) outs(%y : memref<32x16xi16>) {
  ^bb0(%a: i8, %b: i16):
    %0 = arith.extui %a : i8 to i16
    linalg.yield %0 : i16
  }
  return
}

// -----

// Rows of a table, by their numbers: each is read in vectors, its number once for several of them.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME:      %{{.*}}: memref<12xi64>, %[[TABLE:.*]]: memref<100x64xf32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           scf.for %[[J:.*]] =
// CHECK:             %[[NUMBER:.*]] = memref.load {{.*}}[%[[I]]] : memref<?xi64, strided<[1]>>
// CHECK-NOT:         memref.load
// CHECK-COUNT-4:     vector.load %[[TABLE]]{{.*}} : memref<100x64xf32>, vector<8xf32>
// CHECK-NOT:         memref.load
func.func @gather(%numbers: memref<12xi64>, %table: memref<100x64xf32>, %rows: memref<12x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%numbers : memref<12xi64>) outs(%rows : memref<12x64xf32>) {
  ^bb0(%number: i64, %o: f32):
    %i = arith.index_cast %number : i64 to index
    %j = linalg.index 1 : index
    %0 = memref.load %table[%i, %j] : memref<100x64xf32>
    linalg.yield %0 : f32
  }
  return
}

// -----

// A column of each row: nothing lies side by side.
// CHECK-LABEL: func.func @gather_columns
// CHECK-NOT:     vector
func.func @gather_columns(%numbers: memref<64xi64>, %table: memref<12x100xf32>, %columns: memref<12x64xf32>) attributes {strata.kernel} {
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

// Columns that are one column for all results, if the run says so: its element for all lanes, or neighbours.
// CHECK-LABEL: func.func @either_size(
// CHECK-SAME:      %{{.*}}, %[[IS_ONE:.*]]: i1, %[[X:.*]]: memref<?x?xi1>
// CHECK:           %[[LANES:.*]] = scf.if %[[IS_ONE]] -> (vector<8xi1>)
// CHECK:             %[[ONE:.*]] = memref.load %[[X]]
// CHECK:             %[[SPREAD:.*]] = vector.broadcast %[[ONE]] : i1 to vector<8xi1>
// CHECK:             scf.yield %[[SPREAD]]
// CHECK:           } else {
// CHECK:             %[[BYTES:.*]] = vector.load {{.*}} : memref<?x?xi8>, vector<8xi8>
// CHECK:             %[[BITS:.*]] = arith.cmpi ne, %[[BYTES]]
// CHECK:             scf.yield %[[BITS]]
// CHECK:           arith.select %[[LANES]]
func.func @either_size(%y: memref<?x?xf32>, %isOne: i1, %x: memref<?x?xi1> {strata.given}, %o: memref<?x?xf32>) attributes {strata.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<?x?xf32>) outs(%o : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %0 = arith.select %isOne, %c0, %j : index
    %1 = memref.load %x[%i, %0] : memref<?x?xi1>
    %2 = arith.select %1, %a, %zero : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

// A copy computes nothing, and takes as long as its bytes.
// CHECK-LABEL: func.func @large_copy
// TASKS-LABEL: func.func @large_copy
// TASKS:         scf.parallel
func.func @large_copy(%a: memref<512x12x64xf32>, %c: memref<12x512x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : memref<512x12x64xf32>) outs(%c : memref<12x512x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// TASKS-LABEL: func.func @small_copy
// TASKS-NOT:     scf.parallel
func.func @small_copy(%a: memref<16x12x64xf32>, %c: memref<12x16x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : memref<16x12x64xf32>) outs(%c : memref<12x16x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// The largest of a row, NaN passed over: comparisons and selections throughout, at the end of halves of a vector.
// CHECK-LABEL: func.func @largest
// TASKS-LABEL: func.func @largest
// CHECK:         scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-4:   arith.cmpf ogt, {{.*}} : vector<8xf32>
// CHECK:         vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK:         arith.cmpf ogt, {{.*}} : vector<4xf32>
// CHECK:         arith.cmpf ogt, {{.*}} : vector<2xf32>
// CHECK:         vector.extract
// CHECK-NOT:     vector.reduction
func.func @largest(%a: memref<64x1024xf32>, %c: memref<64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<64x1024xf32>) outs(%c : memref<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.cmpf ogt, %x, %o : f32
    %1 = arith.select %0, %x, %o : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Rows that two nests read: the one that computes more fetches those of the next block, 2 * 4096 elements ahead. So does
// the one that writes the results, since they have left all caches.
// CHECK-LABEL: func.func @ahead
// TASKS-LABEL: func.func @ahead
// CHECK-NOT:     memref.prefetch
// CHECK:         vector.reduction <add>
// CHECK-NOT:     memref.prefetch
// CHECK:         %[[AHEAD:.*]] = arith.addi %[[AT:.*]], %c8192
// CHECK:         memref.prefetch %[[X:.*]][%[[AHEAD]]], read, locality<3>, data
// CHECK:         vector.load %[[X]][%[[AT]]]
// CHECK:         math.exp
// CHECK:         %[[THERE:.*]] = arith.addi %[[RESULT:.*]], %c8192
// CHECK:         memref.prefetch %[[Y:.*]][%[[THERE]]], write, locality<3>, data
// CHECK:         vector.store %{{.*}}, %[[Y]][%[[RESULT]]]
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @ahead(%x: memref<512x4096xf32>, %y: memref<512x4096xf32>) attributes {strata.kernel} {
  scf.forall (%i) = (0) to (512) step (2) {
    %a = memref.subview %x[%i, 0] [2, 4096] [1, 1] : memref<512x4096xf32> to memref<2x4096xf32, strided<[4096, 1], offset: ?>>
    %b = memref.subview %y[%i, 0] [2, 4096] [1, 1] : memref<512x4096xf32> to memref<2x4096xf32, strided<[4096, 1], offset: ?>>
    %sum = memref.alloc() : memref<2xf32>
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%a : memref<2x4096xf32, strided<[4096, 1], offset: ?>>) outs(%sum : memref<2xf32>) attrs = {strata.nest = 0} {
    ^bb0(%e: f32, %o: f32):
      %0 = arith.addf %e, %o : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %sum : memref<2x4096xf32, strided<[4096, 1], offset: ?>>, memref<2xf32>)
        outs(%b : memref<2x4096xf32, strided<[4096, 1], offset: ?>>) attrs = {strata.nest = 1} {
    ^bb0(%e: f32, %s: f32, %o: f32):
      %0 = math.exp %e : f32
      %1 = arith.mulf %0, %s : f32
      linalg.yield %1 : f32
    }
    memref.dealloc %sum : memref<2xf32>
  }
  return
}

// -----

// Sums of columns: those of many neighbours (of 1024 where threads share them) wait in a buffer while 8 rows at a time are
// added to them.
// CHECK-LABEL: func.func @column_sums
// CHECK:         %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<2048xf32>
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %c4096 step %c8
// CHECK:           %[[LAST:.*]] = arith.addi %[[ROW]], %c8
// CHECK:           scf.for
// CHECK:             vector.load %[[SUMS]]
// CHECK:             scf.for %{{.*}} = %[[ROW]] to %[[LAST]] step %c1
// CHECK:               arith.addf
// CHECK:             vector.store %{{.*}}, %[[SUMS]]
// CHECK:         vector.load %[[SUMS]]
// TASKS-LABEL: func.func @column_sums
// TASKS:         scf.parallel
// TASKS:           memref.alloca() {{.*}} : memref<1024xf32>
func.func @column_sums(%a: memref<4096x2048xf32>, %c: memref<2048xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<4096x2048xf32>) outs(%c : memref<2048xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// More than a cache holds: whole lines are written past it. A row of 1023 begins within a line.
// CHECK-LABEL: func.func @large
// CHECK:         vector.store {{.*}} {nontemporal = true} : memref<?xf32, strided<[1]>>, vector<8xf32>
// WIDE-LABEL: func.func @large
// WIDE:         vector.store {{.*}} {nontemporal = true} : memref<?xf32, strided<[1]>>, vector<16xf32>
#id = affine_map<(i, j) -> (i, j)>
func.func @large(%a: memref<8192x1024xf32>, %c: memref<8192x1024xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8192x1024xf32>) outs(%c : memref<8192x1024xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %x : f32
    linalg.yield %0 : f32
  }
  return
}
// A transpose then reads in order: the innermost loop goes along the source's rows.
// Lines of two vectors are written whole.
// CHECK-LABEL: func.func @large_transpose
// CHECK:         scf.for %{{.*}} = %c0 to %c4096 step %c16
// CHECK:           scf.for %{{.*}} = %c0 to %c2048 step %c8
// CHECK-COUNT-16:    vector.store {{.*}} {nontemporal = true} : memref<?xf32, strided<[1]>>, vector<8xf32>
// WIDE-LABEL: func.func @large_transpose
// WIDE:         scf.for %{{.*}} = %c0 to %c4096 step %c16
// WIDE:           scf.for %{{.*}} = %c0 to %c2048 step %c16
// WIDE:             vector.load
func.func @large_transpose(%a: memref<4096x2048xf32>, %c: memref<2048x4096xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4096x2048xf32>) outs(%c : memref<2048x4096xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}
// WIDE-LABEL: func.func @ragged
// WIDE-NOT:     nontemporal
func.func @ragged(%a: memref<1x1023xf32>, %c: memref<8192x1023xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (0, j)>, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<1x1023xf32>) outs(%c : memref<8192x1023xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// 13 rows are tiles of 4, 4 and 5, not of 5, 5 and 3. What comes of their sums is long: a loop over rows of sums in memory,
// two vectors at a time, as there are 16 registers.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#y = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
#s = affine_map<(m, n) -> ()>
// FUSED-LABEL: func.func @shared_out_rows
// FUSED:         %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<80xf32>
// FUSED:         scf.for %[[TILE:.*]] = %{{.*}} to %c3 step
// FUSED:           %[[ROWS:.*]] = arith.muli %[[TILE]], %c13
// FUSED:           arith.divui %[[ROWS]], %c3
// FUSED:           scf.index_switch
// FUSED-NEXT:      case 4 {
// FUSED-COUNT-8:     vector.store %{{.*}}, %[[SUMS]]
// FUSED:             scf.for %{{.*}} = %{{.*}} to %c4 step %c1 {
// FUSED:               vector.load %[[SUMS]]
// FUSED:               vector.load %[[SUMS]]
// FUSED:               math.erf
// FUSED-NEXT:          math.erf
// FUSED-NOT:         math.erf
// FUSED:           default {
// FUSED-COUNT-10:    vector.store %{{.*}}, %[[SUMS]]
// FUSED:             scf.for %{{.*}} = %{{.*}} to %c5 step %c1 {
// FUSED:               math.erf
// FUSED-NEXT:          math.erf
// FUSED-NOT:         math.erf
// FUSED:         return
func.func @shared_out_rows(%x: memref<13x64xf32>, %w: memref<4x64x16xf32>, %y: memref<13x64xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<13x64xf32>
  linalg.generic {indexing_maps = [#s, #e], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%sums : memref<13x64xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<13x64xf32>, memref<4x64x16xf32>) outs(%sums : memref<13x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<13x64xf32>) outs(%y : memref<13x64xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = math.erf %a : f32
    %1 = arith.mulf %0, %a : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %sums : memref<13x64xf32>
  return
}

// -----

// The operations of a long body wait for one another: those of two vectors stand side by side, as there are 16 registers.
// CHECK-LABEL: func.func @long(
// CHECK:         math.roundeven
// CHECK-NEXT:    math.roundeven
// CHECK-NEXT:    arith.addf
// CHECK:         vector.store
#id = affine_map<(i) -> (i)>
func.func @long(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%e: f32, %o: f32):
    %0 = arith.mulf %e, %e : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.addf %1, %e : f32
    %3 = arith.mulf %2, %2 : f32
    %4 = arith.addf %3, %e : f32
    %5 = arith.mulf %4, %4 : f32
    %6 = arith.addf %5, %e : f32
    %7 = arith.mulf %6, %6 : f32
    %8 = arith.addf %7, %e : f32
    %9 = arith.mulf %8, %8 : f32
    %10 = arith.addf %9, %e : f32
    %11 = arith.mulf %10, %10 : f32
    linalg.yield %11 : f32
  }
  return
}

// -----

// The mean over a middle dimension: batches are far from each other, so that their sums are no rows of one tile; all 768
// lanes of a batch wait in one buffer, as there are batches enough for all threads. Vectors do not tell zeros apart.
// TASKS-LABEL: func.func @middle
// TASKS:         scf.parallel
// TASKS:           memref.alloca() {{.*}} : memref<768xf32>
// TASKS:           arith.maximumf {{.*}} fastmath<nsz> : vector<8xf32>
// CHECK-LABEL: func.func @middle
// WIDE-LABEL: func.func @middle
func.func @middle(%a: memref<32x196x768xf32>, %c: memref<32x768xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(n, j, k) -> (n, k, j)>, affine_map<(n, j, k) -> (n, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a : memref<32x196x768xf32>) outs(%c : memref<32x768xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.maximumf %x, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A body may have a buffer of its own: the list that nothing was ever written to.
// CHECK-LABEL: func.func @own
// CHECK:         scf.for %[[I:[a-z0-9]+]] =
// CHECK:           %[[OWN:.*]] = memref.alloc(%{{.*}}) : memref<?xi64>
// CHECK:           memref.load %[[OWN]][%{{.*}}]
// WIDE-LABEL: func.func @own
// TASKS-LABEL: func.func @own
func.func @own(%a: memref<?xf32>, %n: index) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : memref<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %own = memref.alloc(%n) : memref<?xi64>
    %0 = memref.load %own[%i] : memref<?xi64>
    memref.dealloc %own : memref<?xi64>
    %1 = arith.sitofp %0 : i64 to f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A product of groups whose results lie side by side: tasks are made of pixels, with the groups inside, so that two
// threads do not write the same lines. (Of all groups the weights stay in the cache.)
// TASKS-LABEL: func.func @groups
// TASKS:         scf.parallel
// TASKS:           scf.for
// TASKS:             %[[PIXEL:.*]] = arith.muli %{{.*}}, %c6
// TASKS:             scf.for %[[GROUP:.*]] = %c0 to %c4 step %c1
// TASKS-NOT:           scf.for {{.*}} to %c784
// TASKS:         return
func.func @groups(%x: memref<784x4x32xf32>, %w: memref<4x32x32xf32>, %y: memref<784x4x32xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(g, p, c, k) -> (p, g, k)>, affine_map<(g, p, c, k) -> (g, k, c)>, affine_map<(g, p, c, k) -> (p, g, c)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<784x4x32xf32>, memref<4x32x32xf32>) outs(%y : memref<784x4x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Ten microseconds of work are worth a second thread.
// TASKS-LABEL: func.func @small
// TASKS:         scf.parallel
func.func @small(%x: memref<64x512xf32>, %y: memref<64x512xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x512xf32>) outs(%y : memref<64x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Pairs of two rows, as a matrix unit takes them: a vector of each is read, rounded, and both are mixed.
// CHECK-LABEL: func.func @pairs(
// CHECK:         %[[X:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK:         %[[A:.*]] = arith.truncf %[[X]]
// CHECK:         %[[Y:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK:         %[[B:.*]] = arith.truncf %[[Y]]
// CHECK:         %[[A_BITS:.*]] = vector.bitcast %[[A]] : vector<8xbf16> to vector<8xi16>
// CHECK:         %[[B_BITS:.*]] = vector.bitcast %[[B]] : vector<8xbf16> to vector<8xi16>
// CHECK:         %[[BITS:.*]] = vector.shuffle %[[A_BITS]], %[[B_BITS]] [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15] : vector<8xi16>, vector<8xi16>
// CHECK:         %[[BOTH:.*]] = vector.bitcast %[[BITS]] : vector<16xi16> to vector<16xbf16>
// CHECK:         vector.store %[[BOTH]]
func.func @pairs(%x: memref<8x2x4x32xf32>, %y: memref<4x8x32x2xbf16>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(n, k, l, g) -> (k, g, n, l)>, affine_map<(n, k, l, g) -> (n, k, l, g)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<8x2x4x32xf32>) outs(%y : memref<4x8x32x2xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  }
  return
}

// The channels of an image: three vectors become three others in one step.
// CHECK-LABEL: func.func @channels(
// CHECK:         %[[R:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK:         %[[G:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK:         %[[B:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK:         %[[RG:.*]] = vector.shuffle %[[R]], %[[G]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// CHECK:         %[[BB:.*]] = vector.shuffle %[[B]], %[[B]]
// CHECK:         %[[RGB:.*]] = vector.shuffle %[[RG]], %[[BB]] [0, 8, 16, 1, 9, 17, 2, 10, 18,
// CHECK:         vector.store %[[RGB]], {{.*}} vector<24xf32>
func.func @channels(%x: memref<3x64x64xf32>, %y: memref<64x64x3xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i, j)>, affine_map<(i, j, k) -> (i, j, k)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<3x64x64xf32>) outs(%y : memref<64x64x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// A window in steps of two: each of its elements is in two vectors, of which the last one ends with the last lane.
// CHECK-LABEL: func.func @steps(
// CHECK:         scf.for %[[K:.*]] = {{.*}} iter_args
// CHECK:           %[[AT:.*]] = arith.addi %{{.*}}, %[[K]]
// CHECK:           %[[FIRST:.*]] = vector.load %{{.*}}[%[[AT]]] : memref<?xf32, strided<[1]>>, vector<8xf32>
// CHECK:           %[[NEXT:.*]] = arith.addi %[[AT]], %c7
// CHECK:           %[[LAST:.*]] = vector.load %{{.*}}[%[[NEXT]]] : memref<?xf32, strided<[1]>>, vector<8xf32>
// CHECK:           vector.shuffle %[[FIRST]], %[[LAST]] [0, 2, 4, 6, 9, 11, 13, 15]
// CHECK-NOT:       memref.load
// CHECK:           arith.maximumf {{.*}} vector<8xf32>
func.func @steps(%x: memref<8x65xf32>, %window: memref<3xf32>, %y: memref<8x32xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(c, i, k) -> (c, i * 2 + k)>, affine_map<(c, i, k) -> (k)>,
                                   affine_map<(c, i, k) -> (c, i)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %window : memref<8x65xf32>, memref<3xf32>) outs(%y : memref<8x32xf32>) {
  ^bb0(%a: f32, %w: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// As large elements are mixed, too, of one row for all where each is repeated.
// CHECK-LABEL: func.func @repeated(
// CHECK:         %[[X:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK:         %[[TWICE:.*]] = vector.shuffle %[[X]], %[[X]] [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15] : vector<8xf32>, vector<8xf32>
// CHECK:         vector.store %[[TWICE]]
func.func @repeated(%x: memref<64x32xf32>, %y: memref<64x32x2xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<64x32xf32>) outs(%y : memref<64x32x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Pairs that stay together are one element.
// CHECK-LABEL: func.func @together(
// CHECK:         vector.load {{.*}} vector<8xi32>
// CHECK:         vector.shuffle
// CHECK:         vector.store {{.*}} vector<8xi32>
func.func @together(%x: memref<32x16x2xbf16>, %y: memref<16x32x2xbf16>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(k, n, g) -> (n, k, g)>, affine_map<(k, n, g) -> (k, n, g)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<32x16x2xbf16>) outs(%y : memref<16x32x2xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  }
  return
}

// -----

// So are pairs that are rounded on their way: what is transposed are their 64 bits.
// WIDE-LABEL: func.func @rounded(
// WIDE:         vector.load {{.*}} vector<8xi64>
// WIDE:         vector.shuffle {{.*}} vector<8xi64>
// WIDE:         %[[NUMBERS:.*]] = vector.bitcast %{{.*}} : vector<8xi64> to vector<16xf32>
// WIDE:         %[[ROUNDED:.*]] = arith.truncf %[[NUMBERS]] fastmath<afn> : vector<16xf32> to vector<16xbf16>
// WIDE:         %[[PAIRS:.*]] = vector.bitcast %[[ROUNDED]] : vector<16xbf16> to vector<8xi32>
// WIDE:         vector.store %[[PAIRS]]
func.func @rounded(%x: memref<32x16x2xf32>, %y: memref<16x32x2xbf16>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(k, n, g) -> (n, k, g)>, affine_map<(k, n, g) -> (k, n, g)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<32x16x2xf32>) outs(%y : memref<16x32x2xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a fastmath<afn> : f32 to bf16
    linalg.yield %0 : bf16
  }
  return
}

// -----

// The quotient is that of two factors, of which the second is what the first leaves of the reciprocal. A sum with
// 1.5 * 2^23 rounds it to the integer; x86 converts, and narrows by saturation.
// FUSED-LABEL: func.func @quantise(
// FUSED-DAG:     %[[M:.*]] = arith.constant 9.99999904 : f32
// FUSED-DAG:     %[[L:.*]] = arith.constant 8.0{{.*}}E-7 : f32
// FUSED-DAG:     arith.constant 0x4B400000 : f32
// FUSED:         %[[X:.*]] = arith.mulf %{{.*}} : vector<32xf32>
// FUSED:         %[[LEFT:.*]] = vector.broadcast %[[L]]
// FUSED:         %[[PART:.*]] = arith.mulf %[[X]], %[[LEFT]]
// FUSED:         %[[MOST:.*]] = vector.broadcast %[[M]]
// FUSED:         %[[Q:.*]] = math.fma %[[X]], %[[MOST]], %[[PART]]
// FUSED:         %[[ABOVE:.*]] = arith.cmpf ogt, %[[Q]], %[[LEAST:.*]] : vector<32xf32>
// FUSED:         %[[LOW:.*]] = arith.select %[[ABOVE]], %[[Q]], %[[LEAST]]
// FUSED:         arith.cmpf olt, %[[LOW]]
// FUSED:         %[[CLAMPED:.*]] = arith.select %{{.*}}, %[[LOW]]
// FUSED:         %[[SUM:.*]] = arith.addf %[[CLAMPED]]
// FUSED:         %[[BITS:.*]] = arith.bitcast %[[SUM]] : vector<32xf32> to vector<32xi32>
// FUSED:         %[[MOVED:.*]] = arith.addi %[[BITS]]
// FUSED:         arith.trunci %[[MOVED]]
// PACKS-LABEL: func.func @quantise(
// PACKS-DAG:     arith.constant 0 : i32
// PACKS-DAG:     arith.constant 255 : i32
// PACKS:         arith.cmpf olt
// PACKS:         %[[CLAMPED:.*]] = arith.select %{{.*}} : vector<32xi1>, vector<32xf32>
// PACKS:         %[[ROUNDED:.*]] = math.roundeven %[[CLAMPED]]
// PACKS:         %[[INTEGER:.*]] = arith.fptosi %[[ROUNDED]]
// PACKS:         %[[MOVED:.*]] = arith.addi %[[INTEGER]]
// PACKS:         %[[LOW:.*]] = arith.maxsi %[[MOVED]]
// PACKS:         %[[HIGH:.*]] = arith.minsi %[[LOW]]
// PACKS:         arith.trunci %[[HIGH]]
func.func @quantise(%x: memref<64xi8>, %y: memref<64xi8>) attributes {strata.kernel} {
  %scale = arith.constant 0.3 : f32
  %quotient = arith.constant 9.99999985098839 : f64
  %zero = arith.constant 7.0 : f32
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<64xi8>) outs(%y : memref<64xi8>) {
  ^bb0(%i: i8, %o: i8):
    %0 = arith.extui %i : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %scale : f32
    %3 = arith.extf %2 : f32 to f64
    %4 = arith.mulf %3, %quotient : f64
    %5 = arith.truncf %4 : f64 to f32
    %6 = math.roundeven %5 : f32
    %7 = arith.addf %6, %zero : f32
    %8 = arith.maxnumf %7, %low : f32
    %9 = arith.minnumf %8, %high : f32
    %10 = arith.fptosi %9 : f32 to i32
    %11 = arith.trunci %10 : i32 to i8
    linalg.yield %11 : i8
  }
  return
}

// Of any number.
// FUSED-LABEL: func.func @quantise_any(
// FUSED-NOT:     arith.maxnumf
// FUSED:         %[[PART:.*]] = arith.mulf %[[X:.*]], %{{.*}} : vector<8xf32>
// FUSED:         math.fma %[[X]], %{{.*}}, %[[PART]]
func.func @quantise_any(%x: memref<64xf32>, %y: memref<64xi8>) attributes {strata.kernel} {
  %quotient = arith.constant 3.3333332008785724 : f64
  %zero = arith.constant 7.0 : f32
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%y : memref<64xi8>) {
  ^bb0(%i: f32, %o: i8):
    %0 = arith.extf %i : f32 to f64
    %1 = arith.mulf %0, %quotient : f64
    %2 = arith.truncf %1 : f64 to f32
    %3 = math.roundeven %2 : f32
    %4 = arith.addf %3, %zero : f32
    %5 = arith.maxnumf %4, %low : f32
    %6 = arith.minnumf %5, %high : f32
    %7 = arith.fptosi %6 : f32 to i32
    %8 = arith.trunci %7 : i32 to i8
    linalg.yield %8 : i8
  }
  return
}

// By a scale and a zero point that only the run knows: the ends are moved instead of the number.
// FUSED-LABEL: func.func @quantise_by_arguments(
// FUSED:         %[[Q:.*]] = arith.divf
// FUSED-NOT:     math.roundeven
// FUSED:         arith.cmpf ogt, %[[Q]]
// FUSED:         %[[SUM:.*]] = arith.addf
// FUSED:         arith.bitcast %[[SUM]]
// FUSED:         arith.trunci
func.func @quantise_by_arguments(%x: memref<64xf32>, %scale: memref<f32>, %zero: memref<i8>, %y: memref<64xi8>) attributes {strata.kernel} {
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %scale, %zero : memref<64xf32>, memref<f32>, memref<i8>) outs(%y : memref<64xi8>) {
  ^bb0(%i: f32, %s: f32, %z: i8, %o: i8):
    %0 = arith.divf %i, %s : f32
    %1 = math.roundeven %0 : f32
    %2 = arith.uitofp %z : i8 to f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.maxnumf %3, %low : f32
    %5 = arith.minnumf %4, %high : f32
    %6 = arith.fptosi %5 : f32 to i32
    %7 = arith.trunci %6 : i32 to i8
    linalg.yield %7 : i8
  }
  return
}

// 14 lanes are two vectors of 8: the second one computes two again, which it does not store.
// CHECK-LABEL: func.func @lanes_again(
// CHECK:         scf.for
// CHECK-NOT:     vector<4xf32>
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} -> (vector<8xf32>)
// CHECK:         %[[FOUR:.*]] = vector.extract_strided_slice %[[SUM]] {offsets = [2], sizes = [4], strides = [1]}
// CHECK:         vector.store %[[FOUR]], {{.*}} vector<4xf32>
// CHECK:         %[[TWO:.*]] = vector.extract_strided_slice %[[SUM]] {offsets = [6], sizes = [2], strides = [1]}
// CHECK:         vector.store %[[TWO]], {{.*}} vector<2xf32>
// CHECK-NOT:     scf.for
// CHECK:         return
func.func @lanes_again(%x: memref<1x18xf32>, %k: memref<1x5xf32>, %y: memref<1x14xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(c, w, k) -> (c, w + k)>, affine_map<(c, w, k) -> (c, k)>, affine_map<(c, w, k) -> (c, w)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %k : memref<1x18xf32>, memref<1x5xf32>) outs(%y : memref<1x14xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %s : f32
    linalg.yield %1 : f32
  }
  return
}

// Sums that begin with what an argument holds, and what another operation makes of them: each its own loops.
// CHECK-LABEL: func.func @begun_sums(
// CHECK-COUNT-2: linalg.generic
func.func @begun_sums(%a: memref<8x16xf32>, %b: memref<16x8xf32>, %sums: memref<8x8xf32>, %y: memref<8x8xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x8xf32>) outs(%sums : memref<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<8x8xf32>) outs(%y : memref<8x8xf32>) {
  ^bb0(%s: f32, %o: f32):
    %0 = arith.negf %s : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Sizes that only the run tells, of buffers in which nothing lies between the rows: the elements are one loop.
#all = affine_map<(n, h, w, c) -> (n, h, w, c)>
// CHECK-LABEL: func.func @unknown_sizes
// CHECK:         %[[ROWS:.*]] = arith.muli %{{dim.*}}, %{{dim.*}} : index
// CHECK:         %[[ALL:.*]] = arith.muli %[[ROWS]], %c24
// CHECK:         scf.for %{{.*}} = %c0 to %[[ALL]] step %c32
func.func @unknown_sizes(%x: memref<1x?x?x24xf32>, %y: memref<1x?x?x24xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<1x?x?x24xf32>) outs(%y : memref<1x?x?x24xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Of a part of a larger one they are not.
#all = affine_map<(h, w) -> (h, w)>
// CHECK-LABEL: func.func @unknown_part
// CHECK:         scf.for
// CHECK:           scf.for
func.func @unknown_part(%x: memref<?x?xf32>, %y: memref<?x?xf32, strided<[?, 1]>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32, strided<[?, 1]>>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A window that covers a part of the data: its rows do not follow one another.
#data = affine_map<(c, h, w, i, j) -> (c, h * 3 + i, w * 3 + j)>
#kernel = affine_map<(c, h, w, i, j) -> (i, j)>
#pooled = affine_map<(c, h, w, i, j) -> (c, h, w)>
// CHECK-LABEL: func.func @part_of_the_data
// CHECK:         scf.for %[[I:.*]] = %c0 to %c3
// CHECK:           scf.for %[[J:.*]] = %c0 to %c3
func.func @part_of_the_data(%x: memref<64x4x4xf32>, %w: memref<3x3xf32>, %y: memref<64x1x1xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#data, #kernel, #pooled], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<64x4x4xf32>, memref<3x3xf32>) outs(%y : memref<64x1x1xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// One row by the weights of four heads, in blocks of a head's columns: one loop over the blocks, each of which is read
// in order, as if the columns were not split. The heads' results lie apart. The weights come from memory, which answers
// four at once: a quarter of the rows behind the first one, and so on.
// WIDE-LABEL: func.func @heads
// WIDE:         scf.for %[[COLUMN:.*]] = %c0 to %c256 step %c64
// WIDE:           %[[HEAD:.*]] = arith.divui %[[COLUMN]], %c64
// WIDE:           %[[DISTANCE:.*]] = arith.constant 1000
// WIDE:           arith.muli %[[HEAD]], %[[DISTANCE]]
// WIDE:           scf.for %[[ROW:.*]] = %c0 to %c1024 step %c1 iter_args
// WIDE-COUNT-4:     vector.load {{.*}} vector<16xf32>
// WIDE-NOT:         vector.load
// WIDE:             arith.addi %[[ROW]], %c1024
// WIDE-COUNT-4:     vector.load {{.*}} vector<16xf32>
// WIDE-NOT:         vector.load
// WIDE:             arith.addi %[[ROW]], %c2048
// WIDE-COUNT-4:     vector.load {{.*}} vector<16xf32>
// WIDE-NOT:         vector.load
// WIDE:             arith.addi %[[ROW]], %c3072
// WIDE-COUNT-4:     vector.load {{.*}} vector<16xf32>
// WIDE-NOT:         vector.load
// WIDE:             scf.yield
// Half as many weights stay in the cache: row after row.
// WIDE-LABEL: func.func @heads_in_cache
// WIDE:           scf.for %{{.*}} to %c2048 step %c1 iter_args
// WIDE-COUNT-4:     vector.load {{.*}} vector<16xf32>
// WIDE-NOT:         vector.load
// WIDE:             scf.yield
func.func @heads(%a: memref<4096xf32>, %b: memref<4x4096x64xf32>, %c: memref<4x64xf32, strided<[1000, 1]>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(h, d, k) -> (k)>, affine_map<(h, d, k) -> (h, k, d)>, affine_map<(h, d, k) -> (h, d)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4096xf32>, memref<4x4096x64xf32>) outs(%c : memref<4x64xf32, strided<[1000, 1]>>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  return
}
func.func @heads_in_cache(%a: memref<2048xf32>, %b: memref<4x2048x64xf32>, %c: memref<4x64xf32, strided<[1000, 1]>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(h, d, k) -> (k)>, affine_map<(h, d, k) -> (h, k, d)>, affine_map<(h, d, k) -> (h, d)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2048xf32>, memref<4x2048x64xf32>) outs(%c : memref<4x64xf32, strided<[1000, 1]>>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A buffer that only depends on the first row is filled with the first block of the second one, and tasks begin there.
// What each block fills for itself is not shared.
// CHECK-LABEL: func.func @shared_in_rows
// CHECK:         memref.alloc() {{.*}}: memref<1x16xf32>
// CHECK:         scf.for %[[I:.*]] = %c0 to %c2048 step %c1 {
// CHECK:           %[[BLOCK:.*]] = arith.remui %[[I]], %c64
// CHECK:           %[[ROW:.*]] = arith.muli %[[BLOCK]], %c4
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[ROW]], %c0
// CHECK:           scf.if %[[FIRST]] {
// CHECK-NOT:         math.exp
// CHECK:             vector.store
// CHECK:           }
// CHECK-NOT:       scf.if
// CHECK:           math.exp
// CHECK-NOT:       scf.if
// TASKS-LABEL: func.func @shared_in_rows
// TASKS:         scf.parallel ({{.*}}) = (%c0) to (%c2048) step (%c64) {
#bias = affine_map<(h, m, n) -> (h, n)>
#rows = affine_map<(h, m, n) -> (h, m, n)>
func.func @shared_in_rows(%a: memref<32x16xf32>, %b: memref<32x256x16xf32>, %c: memref<32x256x16xf32>) attributes {strata.kernel} {
  scf.forall (%h, %m) = (0, 0) to (32, 256) step (1, 4) {
    %one = memref.alloc() {alignment = 64 : i64} : memref<1x16xf32>
    %own = memref.alloc() {alignment = 64 : i64} : memref<1x4x16xf32>
    %x = memref.subview %a[%h, 0] [1, 16] [1, 1] : memref<32x16xf32> to memref<1x16xf32, strided<[16, 1], offset: ?>>
    %y = memref.subview %b[%h, %m, 0] [1, 4, 16] [1, 1, 1] : memref<32x256x16xf32> to memref<1x4x16xf32, strided<[4096, 16, 1], offset: ?>>
    %z = memref.subview %c[%h, %m, 0] [1, 4, 16] [1, 1, 1] : memref<32x256x16xf32> to memref<1x4x16xf32, strided<[4096, 16, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(h, n) -> (h, n)>, affine_map<(h, n) -> (h, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<1x16xf32, strided<[16, 1], offset: ?>>) outs(%one : memref<1x16xf32>) attrs = {strata.nest = 0 : i64} {
    ^bb0(%p: f32, %o: f32):
      %0 = arith.addf %p, %p : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#rows, #bias, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%y, %one : memref<1x4x16xf32, strided<[4096, 16, 1], offset: ?>>, memref<1x16xf32>) outs(%own : memref<1x4x16xf32>) attrs = {strata.nest = 1 : i64} {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.addf %p, %q : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    }
    linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%own : memref<1x4x16xf32>) outs(%z : memref<1x4x16xf32, strided<[4096, 16, 1], offset: ?>>) attrs = {strata.nest = 2 : i64} {
    ^bb0(%p: f32, %o: f32):
      %0 = arith.mulf %p, %p : f32
      linalg.yield %0 : f32
    }
    memref.dealloc %one : memref<1x16xf32>
    memref.dealloc %own : memref<1x4x16xf32>
  }
  return
}

// -----

// Long rows that are found by their numbers are copied as bytes, short ones as vectors.
// CHECK-LABEL: func.func @long_rows
// CHECK:         scf.for
// CHECK:           %[[NUMBER:.*]] = memref.load
// CHECK:           %[[ROW:.*]] = arith.index_cast %[[NUMBER]]
// CHECK-NOT:       vector.load
// CHECK:           "llvm.intr.memcpy"
// CHECK-LABEL: func.func @short_rows
// CHECK-NOT:     llvm.intr.memcpy
// CHECK:         vector.load
#row = affine_map<(m, n) -> (m)>
#all = affine_map<(m, n) -> (m, n)>
func.func @long_rows(%i: memref<8xi64>, %t: memref<100x768xf32>, %o: memref<8x768xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%i : memref<8xi64>) outs(%o : memref<8x768xf32>) {
  ^bb0(%a: i64, %b: f32):
    %0 = arith.index_cast %a : i64 to index
    %1 = linalg.index 1 : index
    %2 = memref.load %t[%0, %1] : memref<100x768xf32>
    linalg.yield %2 : f32
  }
  return
}
func.func @short_rows(%i: memref<8xi64>, %t: memref<100x64xf32>, %o: memref<8x64xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%i : memref<8xi64>) outs(%o : memref<8x64xf32>) {
  ^bb0(%a: i64, %b: f32):
    %0 = arith.index_cast %a : i64 to index
    %1 = linalg.index 1 : index
    %2 = memref.load %t[%0, %1] : memref<100x64xf32>
    linalg.yield %2 : f32
  }
  return
}

// -----

// Rows of images whose size only the run tells are interpolated one after the other, and not those of several images,
// which lie far apart.
// WIDE-LABEL: func.func @interpolated
// WIDE:         scf.for %[[IMAGE:.*]] = %c0 to %c64
// WIDE:           scf.for
// WIDE:             scf.for
// WIDE:               scf.for %{{.*}} = %c0 to %c2
// WIDE-COUNT-8:         vector.load %{{.*}}[%[[IMAGE]], %{{.*}}, %{{.*}}] : memref<64x?x?xf32>, vector<16xf32>
#tap = affine_map<(c, h, w, k) -> (h, k)>
#pixel = affine_map<(c, h, w, k) -> (c, h, w)>
func.func @interpolated(%weights: memref<?x2xf32>, %rows: memref<?x2xindex>, %x: memref<64x?x?xf32>, %o: memref<64x?x?xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%o : memref<64x?x?xf32>)
  linalg.generic {indexing_maps = [#tap, #tap, #pixel], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%weights, %rows : memref<?x2xf32>, memref<?x2xindex>) outs(%o : memref<64x?x?xf32>) {
  ^bb0(%weight: f32, %row: index, %sum: f32):
    %c = linalg.index 0 : index
    %w = linalg.index 2 : index
    %0 = memref.load %x[%c, %row, %w] : memref<64x?x?xf32>
    %1 = arith.mulf %weight, %0 : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

// Two sums would wait for each other: each of four steps has sums of its own, which come together at the end.
// FUSED-LABEL: func.func @few_sums
// FUSED:         %[[R:.*]]:8 = scf.for
// FUSED-COUNT-8:   math.fma {{.*}} : vector<8xf32>
// FUSED-NOT:       math.fma
// FUSED:           scf.yield
// FUSED:         %[[A:.*]] = arith.addf %[[R]]#0, %[[R]]#4
// FUSED:         %[[B:.*]] = arith.addf %[[R]]#1, %[[R]]#5
// FUSED:         %[[C:.*]] = arith.addf %[[R]]#2, %[[R]]#6
// FUSED:         %[[D:.*]] = arith.addf %[[R]]#3, %[[R]]#7
// FUSED:         arith.addf %[[A]], %[[C]]
// FUSED:         arith.addf %[[B]], %[[D]]
func.func @few_sums(%a: memref<1x64xf32>, %b: memref<64x16xf32>, %c: memref<1x16xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1x64xf32>, memref<64x16xf32>) outs(%c : memref<1x16xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Tasks are iterations of both loops. By the number of the inner one, which the run tells, only lines are divided.
// TASKS-LABEL: func.func @lines_of_the_run
// TASKS:         %[[COUNT:.*]] = memref.dim %{{.*}}, %c1
// TASKS:         scf.parallel (%[[FIRST:.*]]) =
// TASKS:           %[[STOP:.*]] = arith.minui
// TASKS:           %[[LINE:.*]] = arith.maxui %[[COUNT]], %c1
// TASKS:           %[[BEGIN:.*]] = arith.divui %[[FIRST]], %[[LINE]]
// TASKS:           %[[END:.*]] = arith.ceildivui %[[STOP]], %[[LINE]]
// TASKS:           scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]]
// TASKS:             %[[START:.*]] = arith.muli %[[I]], %[[LINE]]
// TASKS:             arith.maxui %[[FIRST]], %[[START]]
// TASKS:             arith.minui %[[STOP]]
// TASKS:             scf.for
// TASKS-NOT:           arith.{{div|rem}}
// TASKS:               vector.store
func.func @lines_of_the_run(%x: memref<?x?x8xf32>, %y: memref<?x8xf32>, %o: memref<?x?x8xf32>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : memref<?x?x8xf32>, memref<?x8xf32>) outs(%o : memref<?x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Planes of a size that the run tells are whole lines of their buffers: both loops are one. Of parts of lines they are
// two.
// CHECK-LABEL: func.func @planes(
// CHECK-SAME:    %[[H:[a-z0-9]*]]: index, %[[W:[a-z0-9]*]]: index
// CHECK:         scf.for
// CHECK:           %[[SIZE:.*]] = arith.muli %[[H]], %[[W]] : index
// CHECK:           arith.remui %[[SIZE]], %{{.*}} : index
// CHECK-LABEL: func.func @parts_of_planes(
// CHECK-SAME:    %[[H:[a-z0-9]*]]: index, %[[W:[a-z0-9]*]]: index
// CHECK-NOT:       arith.muli %[[H]], %[[W]] : index
#plane = affine_map<(c, i, j) -> (c, i, j)>
#sum = affine_map<(c, i, j) -> (c)>
func.func @planes(%x: memref<32x?x?xf32> {strata.sizes = array<i64: -1, 1, 2>}, %h: index, %w: index, %y: memref<32xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%c) in (32) {
    %a = memref.subview %x[%c, 0, 0] [1, %h, %w] [1, 1, 1] : memref<32x?x?xf32> to memref<1x?x?xf32, strided<[?, ?, 1], offset: ?>>
    %b = memref.subview %y[%c] [1] [1] : memref<32xf32> to memref<1xf32, strided<[1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%b : memref<1xf32, strided<[1], offset: ?>>)
    linalg.generic {indexing_maps = [#plane, #sum], iterator_types = ["parallel", "reduction", "reduction"]} ins(%a : memref<1x?x?xf32, strided<[?, ?, 1], offset: ?>>) outs(%b : memref<1xf32, strided<[1], offset: ?>>) {
    ^bb0(%v: f32, %o: f32):
      %s = arith.addf %o, %v : f32
      linalg.yield %s : f32
    }
  }
  return
}
func.func @parts_of_planes(%x: memref<32x?x?xf32> {strata.sizes = array<i64: -1, 1, -1>}, %h: index, %w: index, %y: memref<32xf32>) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%c) in (32) {
    %a = memref.subview %x[%c, 0, 0] [1, %h, %w] [1, 1, 1] : memref<32x?x?xf32> to memref<1x?x?xf32, strided<[?, ?, 1], offset: ?>>
    %b = memref.subview %y[%c] [1] [1] : memref<32xf32> to memref<1xf32, strided<[1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%b : memref<1xf32, strided<[1], offset: ?>>)
    linalg.generic {indexing_maps = [#plane, #sum], iterator_types = ["parallel", "reduction", "reduction"]} ins(%a : memref<1x?x?xf32, strided<[?, ?, 1], offset: ?>>) outs(%b : memref<1xf32, strided<[1], offset: ?>>) {
    ^bb0(%v: f32, %o: f32):
      %s = arith.addf %o, %v : f32
      linalg.yield %s : f32
    }
  }
  return
}

// -----

// A buffer of one size in all iterations is one buffer. A nest comes where its last operation is: what its first one
// reads is not given back before.
// CHECK-LABEL: func.func @scratch(
// CHECK:         %[[ONE:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK:         scf.for
// CHECK:           %[[EACH:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NOT:       memref.dealloc
// CHECK:           arith.maximumf {{.*}} : f32
// CHECK:           memref.dealloc %[[EACH]]
// CHECK:         }
// CHECK:         memref.dealloc %[[ONE]]
#line = affine_map<(i) -> (i)>
#window = affine_map<(i, k) -> (i + k)>
#taps = affine_map<(i, k) -> (k)>
#places = affine_map<(i, k) -> (i)>
func.func @scratch(%x: memref<32x?xf32> {strata.sizes = array<i64: -1, 1>}, %n: index, %w: memref<3xf32>, %y: memref<32x?xf32> {strata.sizes = array<i64: -1, 1>}) attributes {strata.kernel} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%c) in (32) {
    %padded = affine.apply affine_map<()[n] -> (n + 2)>()[%n]
    %more = affine.apply affine_map<(c)[n] -> (n + c)>(%c)[%n]
    %a = memref.alloc(%more) : memref<?xf32>
    %z = memref.alloc(%padded) : memref<?xf32>
    linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #line], iterator_types = ["parallel"]} ins(%zero : f32) outs(%a : memref<?xf32>) attrs = {strata.nest = 1 : i64} {
    ^bb0(%v: f32, %o: f32):
      linalg.yield %v : f32
    }
    %s = memref.subview %z[0] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
    linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #line], iterator_types = ["parallel"]} ins(%zero : f32) outs(%s : memref<?xf32, strided<[1]>>) attrs = {strata.nest = 2 : i64} {
    ^bb0(%v: f32, %o: f32):
      linalg.yield %v : f32
    }
    linalg.generic {indexing_maps = [#window, #taps, #places], iterator_types = ["parallel", "reduction"]} ins(%a, %w : memref<?xf32>, memref<3xf32>) outs(%s : memref<?xf32, strided<[1]>>) attrs = {strata.nest = 2 : i64} {
    ^bb0(%v: f32, %k: f32, %o: f32):
      %p = arith.mulf %v, %k : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    }
    memref.dealloc %a : memref<?xf32>
    %b = memref.subview %y[%c, 0] [1, %n] [1, 1] : memref<32x?xf32> to memref<?xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%s : memref<?xf32, strided<[1]>>) outs(%b : memref<?xf32, strided<[1], offset: ?>>) attrs = {strata.nest = 2 : i64} {
    ^bb0(%v: f32, %o: f32):
      %q = arith.maximumf %v, %zero : f32
      linalg.yield %q : f32
    }
    memref.dealloc %z : memref<?xf32>
  }
  return
}
