// RUN: strata-opt %s --split-input-file --strata-outline-kernels | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#bias = affine_map<(i, j) -> (j)>

// Initialisation, product and activation are one kernel, and the second, equal
// group is a call of the same one. The buffer between moves into it.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     linalg.generic
// CHECK:         call @kernel_0(
// CHECK:         call @kernel_0(
// CHECK-NOT:     linalg.generic
// CHECK:       func.func private @kernel_0(
// CHECK-SAME:      attributes {strata.kernel}
// CHECK:         memref.alloc() : memref<8x8xf32>
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT:   func.func
func.func @main(%a: memref<8x4xf32>, %b: memref<4x8xf32>, %c: memref<8xf32>) -> (memref<8x8xf32>, memref<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#bias, #id], iterator_types = ["parallel", "parallel"]} ins(%c : memref<8xf32>) outs(%t : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x4xf32>, memref<4x8xf32>) outs(%t : memref<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  %r = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : memref<8x8xf32>) outs(%r : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.maximumf %x, %z : f32
    linalg.yield %0 : f32
  }
  %t2 = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#bias, #id], iterator_types = ["parallel", "parallel"]} ins(%c : memref<8xf32>) outs(%t2 : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x4xf32>, memref<4x8xf32>) outs(%t2 : memref<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  %r2 = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t2 : memref<8x8xf32>) outs(%r2 : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.maximumf %x, %z : f32
    linalg.yield %0 : f32
  }
  return %r, %r2 : memref<8x8xf32>, memref<8x8xf32>
}

// -----

// A result that is returned, or seen through a view, is still what the accumulator starts in.
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @returned(
// CHECK-NOT:     linalg.generic
// CHECK:         call @kernel_0(
// CHECK-NOT:     call
// CHECK:         memref.expand_shape
// CHECK:       func.func private @kernel_0(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:   func.func
func.func @returned(%a: memref<8x4xf32>, %b: memref<4x8xf32>) -> (memref<8x8xf32>, memref<2x4x8xf32>) {
  %z = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, #id], iterator_types = ["parallel", "parallel"]} ins(%z : f32) outs(%t : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x4xf32>, memref<4x8xf32>) outs(%t : memref<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  %v = memref.expand_shape %t [[0, 1], [2]] output_shape [2, 4, 8] : memref<8x8xf32> into memref<2x4x8xf32>
  return %t, %v : memref<8x8xf32>, memref<2x4x8xf32>
}

// -----

// What reads the result in another order is a kernel of its own; the accumulator still starts within the product's.
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @transposed(
// CHECK:         call @kernel_0(
// CHECK:         call @kernel_1(
// CHECK-NOT:     call
// CHECK:       func.func private @kernel_0(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:       func.func private @kernel_1(
// CHECK:         linalg.generic
func.func @transposed(%a: memref<8x4xf32>, %b: memref<4x8xf32>) -> memref<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, #id], iterator_types = ["parallel", "parallel"]} ins(%z : f32) outs(%t : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x4xf32>, memref<4x8xf32>) outs(%t : memref<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }
  %r = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id], iterator_types = ["parallel", "parallel"]} ins(%t : memref<8x8xf32>) outs(%r : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return %r : memref<8x8xf32>
}

// -----

// Minimal filtering has its consumer in the transform of its results, if that has a vector form.
#x = affine_map<(n, h, w, f, kh, kw, i, j, c) -> (n, h + kh, w + kw, c)>
#p = affine_map<(n, h, w, f, kh, kw, i, j, c) -> (kh, i)>
#q = affine_map<(n, h, w, f, kh, kw, i, j, c) -> (kw, j)>
#u = affine_map<(n, h, w, f, kh, kw, i, j, c) -> (f floordiv 32, i, j, c, f mod 32)>
#y = affine_map<(n, h, w, f, kh, kw, i, j, c) -> (n, h, w, f)>
#id = affine_map<(n, h, w, f) -> (n, h, w, f)>
// CHECK-LABEL: func.func @branches(
// CHECK:         call @kernel_0(
// CHECK:         call @kernel_1(
// CHECK:       func.func private @kernel_0(
// CHECK:         strata.winograd
// CHECK-NOT:     linalg.generic
// CHECK:       func.func private @kernel_1(
// CHECK:         scf.if
func.func @branches(%x: memref<1x6x6x32xf32>, %p: memref<3x6xf32>, %w: memref<1x6x6x32x32xf32>) -> memref<1x4x4x32xf32> {
  %z = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<1x4x4x32xf32>
  linalg.generic {indexing_maps = [affine_map<(n, h, w, f) -> ()>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%z : f32) outs(%t : memref<1x4x4x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#x, #p, #q, #u, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %p, %p, %w : memref<1x6x6x32xf32>, memref<3x6xf32>, memref<3x6xf32>, memref<1x6x6x32x32xf32>) outs(%t : memref<1x4x4x32xf32>) attrs = {strata.winograd = 4 : i64} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %o: f32):
    %0 = arith.mulf %c, %d : f32
    %1 = arith.mulf %b, %0 : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  }
  %r = memref.alloc() : memref<1x4x4x32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%t : memref<1x4x4x32xf32>) outs(%r : memref<1x4x4x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.cmpf ogt, %a, %z : f32
    %0 = scf.if %q -> f32 {
      scf.yield %a : f32
    } else {
      scf.yield %z : f32
    }
    linalg.yield %0 : f32
  }
  return %r : memref<1x4x4x32xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// What a loop over rows reads is one kernel with its initialisation, too.
// CHECK-LABEL: func.func @rows(
// CHECK:         %[[R:.*]] = memref.alloc() : memref<8x8xf32>
// CHECK-NEXT:    call @[[PRODUCT:.*]](%[[R]], %{{.*}}) : (memref<8x8xf32>, memref<8x4xf32>) -> ()
// CHECK-NEXT:    call @{{.*}}(%[[R]], %{{.*}}) : (memref<8x8xf32>, memref<8x8xf32>) -> ()
// CHECK-NEXT:    return
// CHECK:       func.func private @[[PRODUCT]](
// CHECK-COUNT-2: linalg.generic
func.func @rows(%a: memref<8x4xf32>, %out: memref<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %r = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, #id], iterator_types = ["parallel", "parallel"]} ins(%z : f32) outs(%r : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : memref<8x4xf32>) outs(%r : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %o : f32
    linalg.yield %0 : f32
  }
  scf.forall (%i) in (8) {
    %in = memref.subview %r[%i, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %to = memref.subview %out[%i, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%in : memref<1x8xf32, strided<[8, 1], offset: ?>>) outs(%to : memref<1x8xf32, strided<[8, 1], offset: ?>>) {
    ^bb0(%x: f32, %o: f32):
      %0 = math.exp %x : f32
      linalg.yield %0 : f32
    }
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Kernels that differ in what they fill with, or in the column that they read, are one. A zero stays in its kernel.
// CHECK-LABEL: func.func @numbers(
// CHECK-DAG:     %[[THREE:.*]] = arith.constant 3 : i64
// CHECK-DAG:     %[[FOUR:.*]] = arith.constant 4 : i64
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// CHECK:         call @[[FILL:.*]](%[[THREE]], %{{.*}}) : (i64, memref<8xi64>) -> ()
// CHECK:         call @[[FILL]](%[[FOUR]], %{{.*}}) : (i64, memref<8xi64>) -> ()
// CHECK:         call @{{.*}}(%{{.*}}) : (memref<8xi64>) -> ()
// CHECK:         call @[[COLUMN:.*]](%{{.*}}, %{{.*}}, %[[ONE]])
// CHECK:         call @[[COLUMN]](%{{.*}}, %{{.*}}, %[[TWO]])
func.func @numbers(%a: memref<8xi64>, %b: memref<8xf32>, %m: memref<8x4xf32>) {
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%c3 : i64) outs(%a : memref<8xi64>) {
  ^bb0(%x: i64, %o: i64):
    linalg.yield %x : i64
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%c4 : i64) outs(%a : memref<8xi64>) {
  ^bb0(%x: i64, %o: i64):
    linalg.yield %x : i64
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%c0 : i64) outs(%a : memref<8xi64>) {
  ^bb0(%x: i64, %o: i64):
    linalg.yield %x : i64
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%b : memref<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %x = memref.load %m[%i, %one] : memref<8x4xf32>
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%b : memref<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %x = memref.load %m[%i, %two] : memref<8x4xf32>
    linalg.yield %x : f32
  }
  return
}

// -----

// What runs once is one kernel whatever the numbers; zeros stay, and so do those of the main function.
// CHECK-LABEL: func.func @init(
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2.0
// CHECK-DAG:     %[[THREE:.*]] = arith.constant 3.0
// CHECK:         call @kernel_0(%{{.*}}, %{{.*}}, %[[TWO]]) : (memref<8xf32>, memref<8xf32>, f32) -> ()
// CHECK:         call @kernel_0(%{{.*}}, %{{.*}}, %[[THREE]]) :
// CHECK:         call @kernel_1(%{{.*}}, %{{.*}}) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-LABEL: func.func @main(
// CHECK:         call @kernel_2(%{{.*}}, %{{.*}}) : (memref<8xf32>, memref<8xf32>) -> ()
// What the model is given, and not its constants, may begin anywhere.
// CHECK:         func.func private @kernel_1(%{{[a-z0-9]*}}: memref<8xf32>, %{{[a-z0-9]*}}: memref<8xf32>)
// CHECK:         func.func private @kernel_2(%{{[a-z0-9]*}}: memref<8xf32> {strata.given}
#id = affine_map<(i) -> (i)>
memref.global "private" constant @w : memref<8xf32>
memref.global "private" @a : memref<8xf32>
func.func @init() {
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %w = memref.get_global @w : memref<8xf32>
  %a = memref.get_global @a : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%w : memref<8xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %two : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%w : memref<8xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %three : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%w : memref<8xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.maximumf %x, %zero : f32
    linalg.yield %0 : f32
  }
  return
}
func.func @main(%a: memref<8xf32>, %b: memref<8xf32>) {
  %two = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %two : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Which argument is the size of a buffer that the run tells.
// CHECK-LABEL: func.func @sizes(
// CHECK:         func.func private @kernel_0(%{{[a-z0-9]*}}: index,
// CHECK-SAME:      %{{[a-z0-9]*}}: memref<?x8x?xf32> {strata.given, strata.sizes = array<i64: -1, -1, 2>}, %{{[a-z0-9]*}}: index,
// CHECK-SAME:      %{{[a-z0-9]*}}: memref<?x8x?xf32> {strata.sizes = array<i64: 0, -1, 2>})
#id = affine_map<(n, c, i) -> (n, c, i)>
func.func @sizes(%x: memref<?x8x?xf32>, %n: index) -> memref<?x8x?xf32> {
  %two = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %size = memref.dim %x, %two : memref<?x8x?xf32>
  %y = memref.alloc(%n, %size) : memref<?x8x?xf32>
  scf.forall (%i) in (%n) {
    %a = memref.subview %x[%i, 0, 0] [1, 8, %size] [1, 1, 1] : memref<?x8x?xf32> to memref<1x8x?xf32, strided<[?, ?, 1], offset: ?>>
    %b = memref.subview %y[%i, 0, 0] [1, 8, %size] [1, 1, 1] : memref<?x8x?xf32> to memref<1x8x?xf32, strided<[?, ?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : memref<1x8x?xf32, strided<[?, ?, 1], offset: ?>>) outs(%b : memref<1x8x?xf32, strided<[?, ?, 1], offset: ?>>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.maximumf %v, %zero : f32
      linalg.yield %0 : f32
    }
  }
  return %y : memref<?x8x?xf32>
}

// -----

// Also of a buffer with a dimension in parts.
// CHECK-LABEL: func.func @sizes_of_groups(
// CHECK:         func.func private @kernel_0(
// CHECK-SAME:      memref<2x4x?xf32> {strata.given, strata.sizes = array<i64: -1, -1, {{[0-9]}}>}
#id = affine_map<(g, c, i) -> (g, c, i)>
func.func @sizes_of_groups(%x: memref<8x?xf32>) -> memref<2x4x?xf32> {
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %size = memref.dim %x, %one : memref<8x?xf32>
  %groups = memref.expand_shape %x [[0, 1], [2]] output_shape [2, 4, %size] : memref<8x?xf32> into memref<2x4x?xf32>
  %y = memref.alloc(%size) : memref<2x4x?xf32>
  scf.forall (%g) in (2) {
    %a = memref.subview %groups[%g, 0, 0] [1, 4, %size] [1, 1, 1] : memref<2x4x?xf32> to memref<1x4x?xf32, strided<[?, ?, 1], offset: ?>>
    %b = memref.subview %y[%g, 0, 0] [1, 4, %size] [1, 1, 1] : memref<2x4x?xf32> to memref<1x4x?xf32, strided<[?, ?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : memref<1x4x?xf32, strided<[?, ?, 1], offset: ?>>) outs(%b : memref<1x4x?xf32, strided<[?, ?, 1], offset: ?>>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.maximumf %v, %zero : f32
      linalg.yield %0 : f32
    }
  }
  return %y : memref<2x4x?xf32>
}
