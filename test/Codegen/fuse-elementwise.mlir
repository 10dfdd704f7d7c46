// RUN: strata-opt %s --strata-fuse-elementwise=packs-weights | FileCheck %s
// RUN: strata-opt %s --strata-fuse-elementwise | FileCheck %s --check-prefix=UNPACKED

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @chain(
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     linalg.generic
func.func @chain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %1 = math.exp %i : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %1 = arith.addf %i, %j : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// A contraction reads its operands many times: not computed again each time.
// CHECK-LABEL: func.func @product(
// CHECK:         math.exp
// CHECK:         linalg.generic
// CHECK:           arith.mulf
func.func @product(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %1 = math.exp %i : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %1 = arith.mulf %i, %j : f32
    %3 = arith.addf %1, %o : f32
    linalg.yield %3 : f32
  } -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// A narrower copy of what others read, too, is made where that is.
// CHECK-LABEL: func.func @conversion(
// CHECK:         %[[R:.*]]:2 = linalg.generic
// CHECK:           %[[E:.*]] = math.exp
// CHECK:           %[[T:.*]] = arith.truncf %[[E]] : f32 to bf16
// CHECK:           linalg.yield %[[E]], %[[T]]
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @conversion(%x: tensor<?x8xf32>, %e: tensor<?x8xf32>, %n: tensor<?x8xbf16>) -> (tensor<?x8xf32>, tensor<?x8xbf16>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %1 = math.exp %i : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<?x8xf32>) outs(%n : tensor<?x8xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %1 = arith.truncf %i : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<?x8xbf16>
  return %0, %2 : tensor<?x8xf32>, tensor<?x8xbf16>
}

// What is quantised, dequantised and quantised again stays a float; of scaled sums of a product the scale is divided, and
// dequantised ones that are divided by the same scale are what they were.
// CHECK-LABEL: func.func @requantise(
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x8xi32>)
// CHECK:         linalg.generic {{.*}} ins(%[[SUMS]] : tensor<4x8xi32>)
// CHECK-NOT:       f64
// CHECK:           %[[F:.*]] = arith.sitofp
// CHECK-NEXT:      %[[Q:.*]] = arith.mulf %[[F]], %{{.*}} : f32
// CHECK-NEXT:      %[[R:.*]] = math.roundeven %[[Q]]
// CHECK-NEXT:      %[[LOW:.*]] = arith.maxnumf %[[R]]
// CHECK-NEXT:      %[[N:.*]] = arith.minnumf %[[LOW]]
// CHECK-NEXT:      %[[LOW2:.*]] = arith.maxnumf %[[N]]
// CHECK-NEXT:      %[[N2:.*]] = arith.minnumf %[[LOW2]]
// CHECK-NEXT:      %[[I:.*]] = arith.fptosi %[[N2]]
// CHECK-NEXT:      arith.trunci %[[I]]
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func @requantise(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>) -> tensor<4x8xi8> {
  %zero = arith.constant 0 : i32
  %scale = arith.constant 0.1 : f32
  %product = arith.constant 0.2 : f32
  %quotient = arith.constant 10.0 : f64
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %e = tensor.empty() : tensor<4x8xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  %sums = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x8xi8>, tensor<8x8xi8>) outs(%f : tensor<4x8xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %0 = arith.extui %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<4x8xi32>
  %g = tensor.empty() : tensor<4x8xi8>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sums : tensor<4x8xi32>) outs(%g : tensor<4x8xi8>) {
  ^bb0(%i: i32, %o: i8):
    %0 = arith.sitofp %i : i32 to f32
    %1 = arith.mulf %0, %product : f32
    %2 = arith.extf %1 : f32 to f64
    %3 = arith.mulf %2, %quotient : f64
    %4 = arith.truncf %3 : f64 to f32
    %5 = math.roundeven %4 : f32
    %6 = arith.maxnumf %5, %low : f32
    %7 = arith.minnumf %6, %high : f32
    %8 = arith.fptosi %7 : f32 to i32
    %9 = arith.trunci %8 : i32 to i8
    linalg.yield %9 : i8
  } -> tensor<4x8xi8>
  %h = tensor.empty() : tensor<4x8xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<4x8xi8>) outs(%h : tensor<4x8xf32>) {
  ^bb0(%i: i8, %o: f32):
    %0 = arith.extui %i : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %scale : f32
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  %again = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<4x8xf32>) outs(%g : tensor<4x8xi8>) {
  ^bb0(%i: f32, %o: i8):
    %2 = arith.extf %i : f32 to f64
    %3 = arith.mulf %2, %quotient : f64
    %4 = arith.truncf %3 : f64 to f32
    %5 = math.roundeven %4 : f32
    %6 = arith.maxnumf %5, %low : f32
    %7 = arith.minnumf %6, %high : f32
    %8 = arith.fptosi %7 : f32 to i32
    %9 = arith.trunci %8 : i32 to i8
    linalg.yield %9 : i8
  } -> tensor<4x8xi8>
  return %again : tensor<4x8xi8>
}

// Scales and biases of channels are divided once, in tensors of their own.
// CHECK-LABEL: func.func @requantise_channels(
// CHECK-SAME:    %[[SCALE:[a-z0-9]+]]: tensor<8xf32>, %[[BIAS:[a-z0-9]+]]: tensor<8xf32>
// CHECK-DAG:     %[[S:.*]] = linalg.generic {{.*}} ins(%[[SCALE]] : tensor<8xf32>)
// CHECK-DAG:     %[[B:.*]] = linalg.generic {{.*}} ins(%[[BIAS]] : tensor<8xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[S]], %[[B]] : tensor<4x8xi32>, tensor<8xf32>, tensor<8xf32>)
// CHECK:           %[[F:.*]] = arith.sitofp
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[F]], %{{.*}} fastmath<contract>
// CHECK-NEXT:      %[[Q:.*]] = arith.addf %[[P]], %{{.*}} fastmath<contract>
// CHECK-NEXT:      math.roundeven %[[Q]]
#channel = affine_map<(m, n) -> (n)>
func.func @requantise_channels(%scale: tensor<8xf32>, %bias: tensor<8xf32>, %x: tensor<4x8xi8>, %w: tensor<8x8xi8>) -> tensor<4x8xi8> {
  %zero = arith.constant 0 : i32
  %quotient = arith.constant 10.0 : f64
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %e = tensor.empty() : tensor<4x8xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  %sums = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x8xi8>, tensor<8x8xi8>) outs(%f : tensor<4x8xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %0 = arith.extui %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<4x8xi32>
  %g = tensor.empty() : tensor<4x8xi8>
  %q = linalg.generic {indexing_maps = [#id, #channel, #channel, #id], iterator_types = ["parallel", "parallel"]} ins(%sums, %scale, %bias : tensor<4x8xi32>, tensor<8xf32>, tensor<8xf32>) outs(%g : tensor<4x8xi8>) {
  ^bb0(%i: i32, %s: f32, %b: f32, %o: i8):
    %0 = arith.sitofp %i : i32 to f32
    %1 = arith.mulf %0, %s : f32
    %biased = arith.addf %1, %b : f32
    %2 = arith.extf %biased : f32 to f64
    %3 = arith.mulf %2, %quotient : f64
    %4 = arith.truncf %3 : f64 to f32
    %5 = math.roundeven %4 : f32
    %6 = arith.maxnumf %5, %low : f32
    %7 = arith.minnumf %6, %high : f32
    %8 = arith.fptosi %7 : f32 to i32
    %9 = arith.trunci %8 : i32 to i8
    linalg.yield %9 : i8
  } -> tensor<4x8xi8>
  return %q : tensor<4x8xi8>
}

// A signed byte that is kept unsigned is quantised so: by another zero point, of rectified numbers none.
// CHECK-LABEL: func.func @unsigned(
// CHECK-NOT:     arith.xori
// CHECK:         %[[R:.*]] = math.roundeven %{{.*}}
// CHECK-NEXT:    %[[LOW:.*]] = arith.maxnumf %[[R]], %[[ZERO:.*]] : f32
// CHECK-NEXT:    %[[N:.*]] = arith.minnumf %[[LOW]], %{{.*}} : f32
// CHECK-NEXT:    %[[I:.*]] = arith.fptosi %[[N]]
// CHECK-NEXT:    arith.trunci %[[I]]
// CHECK:         %[[MOVED:.*]] = arith.addf %[[R]], %{{.*}}
// CHECK-NEXT:    arith.maxnumf %[[MOVED]], %[[ZERO]]
func.func @unsigned(%x: tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4x8xi8>) {
  %bit = arith.constant -128 : i8
  %least = arith.constant -128.0 : f32
  %most = arith.constant 127.0 : f32
  %z = arith.constant 5.0 : f32
  %e = tensor.empty() : tensor<4x8xi8>
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e, %e : tensor<4x8xi8>, tensor<4x8xi8>) {
  ^bb0(%i: f32, %o: i8, %p: i8):
    %0 = math.roundeven %i : f32
    %1 = arith.addf %0, %least : f32
    %2 = arith.maxnumf %1, %least : f32
    %3 = arith.minnumf %2, %most : f32
    %4 = arith.fptosi %3 : f32 to i32
    %5 = arith.trunci %4 : i32 to i8
    %6 = arith.xori %5, %bit : i8
    %7 = arith.addf %0, %z : f32
    %8 = arith.maxnumf %7, %least : f32
    %9 = arith.minnumf %8, %most : f32
    %10 = arith.fptosi %9 : f32 to i32
    %11 = arith.trunci %10 : i32 to i8
    %12 = arith.xori %11, %bit : i8
    linalg.yield %6, %12 : i8, i8
  } -> (tensor<4x8xi8>, tensor<4x8xi8>)
  return %y#0, %y#1 : tensor<4x8xi8>, tensor<4x8xi8>
}

// Quantised behind a pool of maxima: the pool is one of integers.
// CHECK-LABEL: func.func @pool(
// CHECK:         %[[Q:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<8x4xf32>) outs(%{{.*}} : tensor<8x4xi8>)
// CHECK:         linalg.generic {{.*}} ins(%[[Q]], %{{.*}} : tensor<8x4xi8>, tensor<2xf32>) outs(%{{.*}} : tensor<4x4xi8>)
// CHECK:           arith.maxui
// CHECK-NOT:     linalg.generic
func.func @pool(%x: tensor<8x4xf32>) -> tensor<4x4xi8> {
  %least = arith.constant 0xFF800000 : f32
  %quotient = arith.constant 10.0 : f32
  %zero = arith.constant 7.0 : f32
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %window = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, c, k) -> (i * 2 + k, c)>, affine_map<(i, c, k) -> (k)>, affine_map<(i, c, k) -> (i, c)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %window : tensor<8x4xf32>, tensor<2xf32>) outs(%f : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.maximumf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>
  %g = tensor.empty() : tensor<4x4xi8>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%g : tensor<4x4xi8>) {
  ^bb0(%i: f32, %o: i8):
    %2 = arith.mulf %i, %quotient : f32
    %3 = math.roundeven %2 : f32
    %4 = arith.addf %3, %zero : f32
    %6 = arith.maxnumf %4, %low : f32
    %7 = arith.minnumf %6, %high : f32
    %8 = arith.fptosi %7 : f32 to i32
    %9 = arith.trunci %8 : i32 to i8
    linalg.yield %9 : i8
  } -> tensor<4x4xi8>
  return %1 : tensor<4x4xi8>
}

// Quantised behind borders that repeat what is inside, and repeated pixels: what is moved and repeated is quantised once.
// CHECK-LABEL: func.func @borders(
// CHECK-DAG:     %[[PADDING:.*]] = arith.constant 27 : i8
// CHECK:         %[[Q:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x8xf32>) outs(%{{.*}} : tensor<2x8xi8>)
// CHECK:           arith.mulf
// CHECK:           arith.trunci
// CHECK:         %[[REPEATED:.*]] = linalg.generic {{.*}} ins(%[[Q]] : tensor<2x8xi8>) outs(%{{.*}} : tensor<2x3x8xi8>)
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %[[REPEATED]] {{.*}} : tensor<2x3x8xi8> into tensor<6x8xi8>
// CHECK:         %[[INSIDE:.*]] = tensor.insert_slice %[[ROWS]] into %{{.*}}[1, 0]
// CHECK:         %[[BORDER:.*]] = linalg.generic
// CHECK:           tensor.extract %[[ROWS]]
// CHECK:         %[[ALL:.*]] = tensor.insert_slice %[[BORDER]] into %[[INSIDE]][0, 0]
// CHECK:         tensor.pad %[[ALL]]
// CHECK:           tensor.yield %[[PADDING]] : i8
// CHECK-NOT:     linalg.generic
func.func @borders(%x: tensor<2x8xf32>) -> tensor<7x10xi8> {
  %quotient = arith.constant 10.0 : f32
  %zero = arith.constant 7.0 : f32
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %two = arith.constant 2.0 : f32
  %c1 = arith.constant 1 : index
  %e0 = tensor.empty() : tensor<2x3x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, k, c) -> (i, c)>, affine_map<(i, k, c) -> (i, k, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<2x8xf32>) outs(%e0 : tensor<2x3x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  } -> tensor<2x3x8xf32>
  %rows = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x3x8xf32> into tensor<6x8xf32>
  %e1 = tensor.empty() : tensor<7x8xf32>
  %1 = tensor.insert_slice %rows into %e1[1, 0] [6, 8] [1, 1] : tensor<6x8xf32> into tensor<7x8xf32>
  %e2 = tensor.empty() : tensor<1x8xf32>
  %2 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e2 : tensor<1x8xf32>) {
  ^bb0(%o: f32):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %s = arith.addi %r, %c1 : index
    %v = tensor.extract %rows[%s, %c] : tensor<6x8xf32>
    linalg.yield %v : f32
  } -> tensor<1x8xf32>
  %3 = tensor.insert_slice %2 into %1[0, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<7x8xf32>
  %4 = tensor.pad %3 low[0, 1] high[0, 1] {
  ^bb0(%r: index, %c: index):
    tensor.yield %two : f32
  } : tensor<7x8xf32> to tensor<7x10xf32>
  %g = tensor.empty() : tensor<7x10xi8>
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<7x10xf32>) outs(%g : tensor<7x10xi8>) {
  ^bb0(%i: f32, %o: i8):
    %6 = arith.mulf %i, %quotient : f32
    %7 = math.roundeven %6 : f32
    %8 = arith.addf %7, %zero : f32
    %9 = arith.maxnumf %8, %low : f32
    %10 = arith.minnumf %9, %high : f32
    %11 = arith.fptosi %10 : f32 to i32
    %12 = arith.trunci %11 : i32 to i8
    linalg.yield %12 : i8
  } -> tensor<7x10xi8>
  return %5 : tensor<7x10xi8>
}

// Of what is read elsewhere as it was nothing is made narrower before it is moved.
// CHECK-LABEL: func.func @read_elsewhere(
// CHECK:         %[[PAD:.*]] = tensor.pad %{{.*}}
// CHECK:         %[[N:.*]] = linalg.generic {{.*}} ins(%[[PAD]] : tensor<6x4xf32>) outs(%{{.*}} : tensor<6x4xf16>)
// CHECK:         return %[[N]], %[[PAD]]
func.func @read_elsewhere(%x: tensor<4x4xf32>) -> (tensor<6x4xf16>, tensor<6x4xf32>) {
  %one = arith.constant 1.0 : f32
  %0 = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%r: index, %c: index):
    tensor.yield %one : f32
  } : tensor<4x4xf32> to tensor<6x4xf32>
  %e = tensor.empty() : tensor<6x4xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<6x4xf32>) outs(%e : tensor<6x4xf16>) {
  ^bb0(%i: f32, %o: f16):
    %2 = arith.truncf %i : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<6x4xf16>
  return %1, %0 : tensor<6x4xf16>, tensor<6x4xf32>
}

// What is computed and then put in another order is made narrower where it is computed, and moved once; what is
// not computed is made so while its order changes.
// CHECK-LABEL: func.func @reordered(
// CHECK:         %[[H:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4x2x4xf32>) outs(%{{.*}} : tensor<4x2x4xf16>)
// CHECK:           math.exp
// CHECK:           arith.truncf
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[H]] : tensor<4x2x4xf16>) {{.*}} permutation = [2, 0, 1]
// CHECK-NOT:     linalg
// CHECK:         return %[[T]]
// CHECK-LABEL: func.func @reordered_of_the_run(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<?x2x4xf32>) outs(%{{.*}} : tensor<?x2x4xf16>)
// CHECK:           math.exp
// CHECK:           arith.truncf
// CHECK-NOT:     linalg.generic
// CHECK-LABEL: func.func @reordered_data(
// CHECK-SAME:      %[[X:.*]]: tensor<4x8xf32>
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[X]] : tensor<4x8xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[T]] : tensor<8x4xf32>) outs(%{{.*}} : tensor<8x4xf16>)
func.func @reordered(%x: tensor<4x8xf32>) -> tensor<4x4x2xf16> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %3 = math.exp %i : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  %parts = tensor.expand_shape %0 [[0], [1, 2]] output_shape [4, 2, 4] : tensor<4x8xf32> into tensor<4x2x4xf32>
  %f = tensor.empty() : tensor<2x4x4xf32>
  %1 = linalg.transpose ins(%parts : tensor<4x2x4xf32>) outs(%f : tensor<2x4x4xf32>) permutation = [1, 0, 2]
  %g = tensor.empty() : tensor<4x4x2xf16>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j, i)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<2x4x4xf32>) outs(%g : tensor<4x4x2xf16>) {
  ^bb0(%i: f32, %o: f16):
    %3 = arith.truncf %i : f32 to f16
    linalg.yield %3 : f16
  } -> tensor<4x4x2xf16>
  return %2 : tensor<4x4x2xf16>
}
func.func @reordered_of_the_run(%x: tensor<?x8xf32>, %n: index) -> tensor<4x?x2xf16> {
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %3 = math.exp %i : f32
    linalg.yield %3 : f32
  } -> tensor<?x8xf32>
  %parts = tensor.expand_shape %0 [[0], [1, 2]] output_shape [%n, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
  %f = tensor.empty(%n) : tensor<2x?x4xf32>
  %1 = linalg.transpose ins(%parts : tensor<?x2x4xf32>) outs(%f : tensor<2x?x4xf32>) permutation = [1, 0, 2]
  %g = tensor.empty(%n) : tensor<4x?x2xf16>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j, i)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<2x?x4xf32>) outs(%g : tensor<4x?x2xf16>) {
  ^bb0(%i: f32, %o: f16):
    %3 = arith.truncf %i : f32 to f16
    linalg.yield %3 : f16
  } -> tensor<4x?x2xf16>
  return %2 : tensor<4x?x2xf16>
}
func.func @reordered_data(%x: tensor<4x8xf32>) -> tensor<8x4xf16> {
  %f = tensor.empty() : tensor<8x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%f : tensor<8x4xf32>) permutation = [1, 0]
  %g = tensor.empty() : tensor<8x4xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<8x4xf32>) outs(%g : tensor<8x4xf16>) {
  ^bb0(%i: f32, %o: f16):
    %3 = arith.truncf %i : f32 to f16
    linalg.yield %3 : f16
  } -> tensor<8x4xf16>
  return %1 : tensor<8x4xf16>
}

// What one operator rounds and the next extends is not rounded in between where both say so.
// CHECK-LABEL: func.func @rounded(
// CHECK:           %[[SUM:.*]] = arith.addf
// CHECK-NEXT:      %[[KEPT:.*]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK-NEXT:      %[[LESS:.*]] = arith.extf %[[KEPT]]
// CHECK-NEXT:      %[[SQUARE:.*]] = arith.mulf %[[LESS]], %[[LESS]]
// CHECK-NEXT:      arith.subf %[[SQUARE]], %[[SQUARE]]
func.func @rounded(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %h = tensor.empty() : tensor<4x8xf16>
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%h : tensor<4x8xf16>) {
  ^bb0(%i: f32, %o: f16):
    %3 = arith.addf %i, %i : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<4x8xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x8xf16>) outs(%h : tensor<4x8xf16>) {
  ^bb0(%i: f16, %o: f16):
    %3 = arith.extf %i fastmath<contract> : f16 to f32
    %4 = arith.mulf %3, %3 : f32
    %5 = arith.truncf %4 fastmath<contract> : f32 to f16
    linalg.yield %5 : f16
  } -> tensor<4x8xf16>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x8xf16>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f16, %o: f32):
    %3 = arith.extf %i fastmath<contract> : f16 to f32
    %4 = arith.subf %3, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// A dimension of 1 goes before an elementwise operation, but not before a product, whose columns would lose their place.
// CHECK-LABEL: func.func @columns(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x8xf32>)
// CHECK:           arith.mulf
// CHECK:         tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2, 3]]
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x8x1x1xf32>)
// CHECK:           math.absf
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return
func.func @columns(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8x1x1xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x16xf32>, tensor<16x8xf32>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x8xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [4, 8, 1] : tensor<4x8xf32> into tensor<4x8x1xf32>
  %e = tensor.empty() : tensor<4x8x1xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<4x8x1xf32>) outs(%e : tensor<4x8x1xf32>) {
  ^bb0(%i: f32, %o: f32):
    %3 = math.absf %i : f32
    linalg.yield %3 : f32
  } -> tensor<4x8x1xf32>
  %5 = tensor.expand_shape %2 [[0], [1], [2, 3]] output_shape [4, 8, 1, 1] : tensor<4x8x1xf32> into tensor<4x8x1x1xf32>
  return %5 : tensor<4x8x1x1xf32>
}

// Columns of constant weights stay together, be their parts less than vectors or whole ones, if those are packed; those
// of a tensor that is an input become loops.
// CHECK-LABEL: func.func @parts_of_columns(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x49xf32>)
// CHECK:           arith.mulf
// CHECK:         tensor.expand_shape %{{.*}} output_shape [4, 7, 7]
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x32xf32>)
// CHECK:           arith.mulf
// CHECK:         tensor.expand_shape %{{.*}} output_shape [4, 2, 16]
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x2x16xf32>)
// CHECK:           arith.mulf
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return
// UNPACKED-LABEL: func.func @parts_of_columns(
// UNPACKED:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x7x7xf32>)
// UNPACKED:           arith.mulf
// UNPACKED:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x2x16xf32>)
// UNPACKED:           arith.mulf
// UNPACKED:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x2x16xf32>)
// UNPACKED:           arith.mulf
// UNPACKED-NOT:     tensor.expand_shape
// UNPACKED:         return
ml_program.global private @image(dense<2.0> : tensor<16x49xf32>) : tensor<16x49xf32>
ml_program.global private @heads(dense<3.0> : tensor<16x32xf32>) : tensor<16x32xf32>
func.func @parts_of_columns(%x: tensor<4x16xf32>, %u: tensor<16x32xf32>, %c: tensor<4x49xf32>, %d: tensor<4x32xf32>) -> (tensor<4x7x7xf32>, tensor<4x2x16xf32>, tensor<4x2x16xf32>) {
  %v = ml_program.global_load_const @image : tensor<16x49xf32>
  %w = ml_program.global_load_const @heads : tensor<16x32xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %v : tensor<4x16xf32>, tensor<16x49xf32>) outs(%c : tensor<4x49xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x49xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [4, 7, 7] : tensor<4x49xf32> into tensor<4x7x7xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x16xf32>, tensor<16x32xf32>) outs(%d : tensor<4x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x32xf32>
  %5 = tensor.expand_shape %2 [[0], [1, 2]] output_shape [4, 2, 16] : tensor<4x32xf32> into tensor<4x2x16xf32>
  %6 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %u : tensor<4x16xf32>, tensor<16x32xf32>) outs(%d : tensor<4x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x32xf32>
  %7 = tensor.expand_shape %6 [[0], [1, 2]] output_shape [4, 2, 16] : tensor<4x32xf32> into tensor<4x2x16xf32>
  return %1, %5, %7 : tensor<4x7x7xf32>, tensor<4x2x16xf32>, tensor<4x2x16xf32>
}

// What is read as if it were broadcast, because the run may say so, is read by what computes with it.
// CHECK-LABEL: func.func @either_size(
// CHECK-SAME:      %[[X:.*]]: tensor<?x?xf32>, %[[Y:.*]]: tensor<?x?xf32>, %[[IS_ONE:.*]]: i1
// CHECK:         linalg.generic {{.*}} ins(%[[Y]] : tensor<?x?xf32>)
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[AT:.*]] = arith.select %[[IS_ONE]], %{{.*}}, %[[J]]
// CHECK:           tensor.extract %[[X]][%{{.*}}, %[[AT]]]
// CHECK:           arith.addf
// CHECK:           math.exp
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @either_size(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %isOne: i1, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = arith.select %isOne, %c0, %j : index
    %3 = tensor.extract %x[%i, %at] : tensor<?x?xf32>
    linalg.yield %3 : f32
  } -> tensor<?x?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<?x?xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.exp %a : f32
    linalg.yield %3 : f32
  } -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// A place that differs from one iteration to the next would keep all of it from vectors.
// CHECK-LABEL: func.func @chosen_places(
// CHECK:         linalg.generic
// CHECK:           tensor.extract
// CHECK:         linalg.generic
// CHECK:           math.exp
func.func @chosen_places(%x: tensor<?x?xf32>, %n: index, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %isOut = arith.cmpi sge, %j, %n : index
    %at = arith.select %isOut, %c0, %j : index
    %3 = tensor.extract %x[%i, %at] : tensor<?x?xf32>
    linalg.yield %3 : f32
  } -> tensor<?x?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.exp %a : f32
    linalg.yield %3 : f32
  } -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// What narrows the sums of a product stays with them where its reader has sums of its own.
// CHECK-LABEL: func.func @late(
// CHECK:         %[[FIRST:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x4xf32>)
// CHECK:         %[[LATE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x4xf32>)
// CHECK:         %[[NARROW:.*]] = linalg.generic {{.*}} ins(%[[LATE]] : tensor<4x4xf32>) outs(%{{.*}} : tensor<4x4xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%[[FIRST]], %[[NARROW]] : tensor<4x4xf32>, tensor<4x4xbf16>)
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#sums = affine_map<(i, j, k) -> (i, j)>
func.func @late(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#left, #right, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %h = tensor.empty() : tensor<4x4xbf16>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x4xf32>) outs(%h : tensor<4x4xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %t = arith.truncf %i : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x4xbf16>
  %e = tensor.empty() : tensor<4x4xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %2 : tensor<4x4xf32>, tensor<4x4xbf16>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f32, %j: bf16, %o: f32):
    %t = arith.extf %j : bf16 to f32
    %s = arith.addf %i, %t : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// Of two that are narrowed one joins its reader, or none would be computed with the reader's sums.
// CHECK-LABEL: func.func @both(
// CHECK-COUNT-2: outs(%{{.*}} : tensor<4x4xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4x4xf32>) outs(%{{.*}} : tensor<4x4xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xbf16>)
// CHECK:           arith.truncf
// CHECK:           arith.addf
// CHECK-NOT:     linalg.generic
func.func @both(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#left, #right, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %h = tensor.empty() : tensor<4x4xbf16>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x4xf32>) outs(%h : tensor<4x4xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %t = arith.truncf %i : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x4xbf16>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%h : tensor<4x4xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %t = arith.truncf %i : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x4xbf16>
  %e = tensor.empty() : tensor<4x4xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%4, %2 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: bf16, %j: bf16, %o: f32):
    %a = arith.extf %i : bf16 to f32
    %t = arith.extf %j : bf16 to f32
    %s = arith.addf %a, %t : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
