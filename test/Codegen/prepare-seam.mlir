// RUN: strata-opt %s --strata-prepare-seam --split-input-file | FileCheck %s

// Concatenation: slices of one destination, so that producers write in place.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: tensor<2xf32> {bufferization.writable = false}
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<5xf32>
// CHECK:         %[[I:.*]] = tensor.insert_slice %[[A]] into %[[E]][0] [2] [1]
// CHECK:         tensor.insert_slice %{{.*}} into %[[I]][2] [3] [1]
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<5xf32> {
  %0 = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// A part that is there twice is inserted twice behind what makes it, and in order.
// CHECK-LABEL: func.func @repeated(
// CHECK:         %[[P:.*]] = linalg.generic
// CHECK:         %[[I:.*]] = tensor.insert_slice %[[P]] into %{{.*}}[0] [2] [1]
// CHECK-NEXT:    tensor.insert_slice %[[P]] into %[[I]][2] [2] [1]
func.func @repeated(%a: tensor<2xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%x: f32, %y: f32):
    %n = arith.negf %x : f32
    linalg.yield %n : f32
  } -> tensor<2xf32>
  %1 = tensor.concat dim(0) %0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Only the border is filled; a side without padding has no slab.
// CHECK-LABEL: func.func @pad(
// The tensor that it goes into is there before it, so that the border can be written in place.
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<5x6xf32>
// CHECK:         %[[S:.*]] = tensor.empty() : tensor<1x6xf32>
// CHECK:         %[[F:.*]] = linalg.fill {{.*}} outs(%[[S]]
// CHECK:         tensor.insert_slice %[[F]] into %[[E]][0, 0] [1, 6] [1, 1]
// CHECK:         tensor.extract_slice %{{.*}}[1, 4] [4, 2] [1, 1]
// CHECK:         linalg.fill
// CHECK-NOT:     linalg.fill
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[1, 0] [4, 4] [1, 1]
func.func @pad(%x: tensor<4x4xf32>) -> tensor<5x6xf32> {
  %z = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<4x4xf32> to tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

// A negative amount crops.
// CHECK-LABEL: func.func @crop(
// CHECK:         %[[C:.*]] = tensor.extract_slice %{{.*}}[1] [3] [1]
// CHECK:         linalg.fill
// CHECK:         tensor.insert_slice %[[C]] into %{{.*}}[0] [3] [1]
func.func @crop(%x: tensor<4xf32>) -> tensor<5xf32> {
  %z = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[-1] high[2] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<4xf32> to tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// CHECK: func.func private @strata_rt_topk_f32(tensor<?xf32> {bufferization.access = "read"}, i64)
func.func private @strata_rt_topk_f32(tensor<?xf32>, i64) -> (tensor<?xf32>, tensor<?xi64>) attributes {llvm.emit_c_interface}

// -----

// The buffers of literals are in the order of the code, whichever function bufferisation begins with.
// CHECK:      memref.global "private" constant @__constant_2xi64_0 : memref<2xi64> = dense<[3, 4]>
// CHECK-NEXT: memref.global "private" constant @__constant_2xi64 : memref<2xi64> = dense<[1, 2]>
// CHECK-NOT:  memref.global
func.func @first() -> tensor<2xi64> {
  %0 = arith.constant dense<[1, 2]> : tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @second() -> (tensor<2xi64>, tensor<2xi64>) {
  %0 = arith.constant dense<[3, 4]> : tensor<2xi64>
  %1 = arith.constant dense<[1, 2]> : tensor<2xi64>
  return %0, %1 : tensor<2xi64>, tensor<2xi64>
}

// -----

// A concatenation of many parts copies each into its place.
// CHECK-LABEL: func.func @many
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3xf32>{{.*}}, %[[B:[a-z0-9]+]]: tensor<2x?xf32>
// CHECK:         %[[BUFFER:.*]] = memref.alloc(%{{.*}}) : memref<2x?xf32>
// CHECK:         %[[FIRST:.*]] = memref.subview %[[BUFFER]][0, 0] [2, 3] [1, 1]
// CHECK:         bufferization.materialize_in_destination %[[A]] in restrict writable %[[FIRST]]
// CHECK:         %[[SECOND:.*]] = memref.subview %[[BUFFER]][0, 3] [2, %{{.*}}] [1, 1]
// CHECK:         bufferization.materialize_in_destination %[[B]] in restrict writable %[[SECOND]]
// CHECK:         bufferization.to_tensor %[[BUFFER]] restrict
func.func @many(%a: tensor<2x3xf32>, %b: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = tensor.concat dim(1) %a, %b, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a : (tensor<2x3xf32>, tensor<2x?xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// -----

// Concatenations that begin with one another are slices of one tensor.
// CHECK-LABEL: func.func @dense
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<4x2xf32>
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK:         %[[T0:.*]] = tensor.insert_slice %[[A]] into %[[E]][0, 0] [4, 2]
// CHECK:         %[[B:.*]] = linalg.exp
// CHECK:         %[[T1:.*]] = tensor.insert_slice %[[B]] into %[[T0]][0, 2] [4, 1]
// CHECK:         %[[AB:.*]] = tensor.extract_slice %[[T1]][0, 0] [4, 3]
// CHECK:         %[[C:.*]] = linalg.exp ins(%[[AB]] : tensor<4x3xf32>)
// CHECK:         %[[T2:.*]] = tensor.insert_slice %[[C]] into %[[T1]][0, 3] [4, 3]
// CHECK-NOT:     insert_slice
// CHECK:         return %[[T2]]
func.func @dense(%a: tensor<4x2xf32>, %x: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x1xf32>
  %b = linalg.exp ins(%x : tensor<4x1xf32>) outs(%e : tensor<4x1xf32>) -> tensor<4x1xf32>
  %ab = tensor.concat dim(1) %a, %b : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %f = tensor.empty() : tensor<4x3xf32>
  %c = linalg.exp ins(%ab : tensor<4x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
  %abc = tensor.concat dim(1) %a, %b, %c : (tensor<4x2xf32>, tensor<4x1xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
  return %abc : tensor<4x6xf32>
}

// -----

// Of symbolic sizes, too: the border comes before the producer, which then writes the middle.
// CHECK-LABEL: func.func @symbolic_pad(
// CHECK-SAME:      %[[N:[a-z0-9]+]]: index
// CHECK:         %[[OUTER:.*]] = affine.apply {{.*}}()[%[[N]]]
// CHECK:         tensor.empty(%[[OUTER]]) : tensor<?x8xf32>
// CHECK:         %[[BORDER:.*]] = tensor.insert_slice
// CHECK:         %[[Y:.*]] = math.exp
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[1, 1] [%[[N]], 6] [1, 1]
#id = affine_map<(i, j) -> (i, j)>
func.func @symbolic_pad(%x: tensor<?x6xf32>, %n: index) -> tensor<?x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x6xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x6xf32>) outs(%e : tensor<?x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<?x6xf32>
  %0 = tensor.pad %y low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x6xf32> to tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// What sizes are computed from moves up to the first part.
// CHECK-LABEL: func.func @symbolic_concat(
// CHECK:         %[[N:.*]] = tensor.dim
// CHECK:         %[[TWICE:.*]] = arith.muli %[[N]], %c2
// CHECK:         %[[SUM:.*]] = affine.apply {{.*}}()[%[[N]], %[[TWICE]]]
// CHECK:         %[[ALL:.*]] = tensor.empty(%[[SUM]]) : tensor<?xf32>
// CHECK:         math.exp
// CHECK:         %[[FIRST:.*]] = tensor.insert_slice %{{.*}} into %[[ALL]][0] [%[[N]]] [1]
// CHECK:         math.absf
// CHECK:         tensor.insert_slice %{{.*}} into %[[FIRST]][%[[N]]] [%[[TWICE]]] [1]
#id = affine_map<(i) -> (i)>
func.func @symbolic_concat(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %m = arith.muli %n, %c2 : index
  %f = tensor.empty(%m) : tensor<?xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %0 = tensor.concat dim(0) %p, %q : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A size that depends on a part is known too late: the parts are copied.
// CHECK-LABEL: func.func @late_concat(
// CHECK:         math.exp
// CHECK:         tensor.extract
// CHECK:         math.absf
// CHECK:         tensor.insert_slice
#id = affine_map<(i) -> (i)>
func.func @late_concat(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %value = tensor.extract %p[%c0] : tensor<?xf32>
  %whole = arith.fptosi %value : f32 to i64
  %m = arith.index_cast %whole : i64 to index
  %f = tensor.empty(%m) : tensor<?xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %0 = tensor.concat dim(0) %p, %q : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Parts that fit each other only if a check says so, which is behind them, are copied behind it.
// CHECK-LABEL: func.func @unequal_concat(
// CHECK:         math.exp
// CHECK:         math.absf
// CHECK:         cf.assert
// CHECK:         tensor.insert_slice
#id = affine_map<(i, j) -> (i, j)>
func.func @unequal_concat(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = tensor.dim %y, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<?x4xf32>
  %f = tensor.empty(%m) : tensor<?x4xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x4xf32>) outs(%f : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<?x4xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "sizes differ"
  %0 = tensor.concat dim(1) %p, %q : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// What is made in a part of a tensor and inserted there is one use of it; each other use has a tensor of its own.
// CHECK-LABEL: func.func @made_in_place(
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<3x4x5xf32>
// CHECK:         %[[PART:.*]] = tensor.extract_slice %[[E]][0, 0, 0] [2, 4, 5] [1, 1, 1]
// CHECK:         %[[MADE:.*]] = linalg.transpose {{.*}} outs(%[[PART]]
// CHECK:         tensor.insert_slice %[[MADE]] into %[[E]][0, 0, 0] [2, 4, 5] [1, 1, 1]
// CHECK:         %[[OTHER:.*]] = tensor.empty() : tensor<3x4x5xf32>
// CHECK:         linalg.copy {{.*}} outs(%[[OTHER]]
func.func @made_in_place(%x: tensor<2x5x4xf32>, %y: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<3x4x5xf32>) {
  %e = tensor.empty() : tensor<3x4x5xf32>
  %p = tensor.extract_slice %e[0, 0, 0] [2, 4, 5] [1, 1, 1] : tensor<3x4x5xf32> to tensor<2x4x5xf32>
  %t = linalg.transpose ins(%x : tensor<2x5x4xf32>) outs(%p : tensor<2x4x5xf32>) permutation = [0, 2, 1]
  %i = tensor.insert_slice %t into %e[0, 0, 0] [2, 4, 5] [1, 1, 1] : tensor<2x4x5xf32> into tensor<3x4x5xf32>
  %c = linalg.copy ins(%y : tensor<3x4x5xf32>) outs(%e : tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  return %i, %c : tensor<3x4x5xf32>, tensor<3x4x5xf32>
}

// -----

// Parts of an image are inserted as soon as they are made, so that they may be made in their places: into the middle of
// what is padded, whose border is filled before.
// CHECK-LABEL: func.func @parts(
// CHECK-COUNT-4: linalg.fill
// CHECK:         %[[A:.*]] = linalg.generic
// CHECK:         %[[ONE:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[1, 1] [2, 4] [2, 1] : tensor<2x4xf32> into tensor<6x6xf32>
// CHECK:         %[[B:.*]] = linalg.generic
// CHECK:         %[[TWO:.*]] = tensor.insert_slice %[[B]] into %[[ONE]][2, 1] [2, 4] [2, 1] : tensor<2x4xf32> into tensor<6x6xf32>
// CHECK:         return %[[TWO]]
#id = affine_map<(i, j) -> (i, j)>
func.func @parts(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<6x6xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<2x4xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<2x4xf32>
  %image = tensor.empty() : tensor<4x4xf32>
  %0 = tensor.insert_slice %a into %image[0, 0] [2, 4] [2, 1] : tensor<2x4xf32> into tensor<4x4xf32>
  %1 = tensor.insert_slice %b into %0[1, 0] [2, 4] [2, 1] : tensor<2x4xf32> into tensor<4x4xf32>
  %zero = arith.constant 0.0 : f32
  %2 = tensor.pad %1 low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x4xf32> to tensor<6x6xf32>
  return %2 : tensor<6x6xf32>
}

// -----

// A concatenation that begins with another one is a longer part of one tensor; one that nothing else reads is its parts.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<2xf32> {{.*}}, %[[B:[^:]*]]: tensor<3xf32> {{.*}}, %[[C:[^:]*]]: tensor<4xf32>
// CHECK:         %[[WHOLE:.*]] = tensor.empty() : tensor<14xf32>
// CHECK:         %[[ONE:.*]] = tensor.insert_slice %[[A]] into %[[WHOLE]][0] [2] [1]
// CHECK:         %[[TWO:.*]] = tensor.insert_slice %[[B]] into %[[ONE]][2] [3] [1]
// CHECK:         %[[SHORT:.*]] = tensor.extract_slice %[[TWO]][0] [5] [1]
// CHECK:         %[[THREE:.*]] = tensor.insert_slice %[[C]] into %[[TWO]][5] [4] [1]
// CHECK:         %[[FOUR:.*]] = tensor.insert_slice %[[A]] into %[[THREE]][9] [2] [1]
// CHECK:         %[[FIVE:.*]] = tensor.insert_slice %[[B]] into %[[FOUR]][11] [3] [1]
// CHECK-NOT:     tensor.insert_slice
// CHECK:         return %[[SHORT]], %[[FIVE]]
func.func @nested(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<4xf32>) -> (tensor<5xf32>, tensor<14xf32>) {
  %0 = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %1 = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %2 = tensor.concat dim(0) %0, %c, %1 : (tensor<5xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<14xf32>
  return %0, %2 : tensor<5xf32>, tensor<14xf32>
}
