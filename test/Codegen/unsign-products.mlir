// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-unsign-products),canonicalize,cse)' | FileCheck %s

// The data is kept greater by 128 from where it is computed on: behind the padding and the pool, whose constants are moved,
// too. The sums of the weights take the 128 off.
// CHECK-LABEL: func.func @pool
// CHECK-DAG:     %[[FLIP:.*]] = arith.constant -128 : i8
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant 0 : i8
// CHECK-DAG:     %[[BORDER:.*]] = arith.constant -123 : i8
// CHECK:         %[[KEPT:.*]] = linalg.generic {{.*}} ins(%arg0 :
// CHECK:           arith.xori %{{.*}}, %[[FLIP]]
// CHECK:         linalg.fill ins(%[[LEAST]]
// CHECK:         %[[POOL:.*]] = linalg.generic {{.*}} ins(%[[KEPT]],
// CHECK:           arith.maxui
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[POOL]]
// CHECK:           tensor.yield %[[BORDER]]
// CHECK:         %[[PRODUCT:.*]] = linalg.generic {{.*}} ins(%[[PADDED]], %[[WEIGHTS:.*]] : tensor<1x4x8xi8>, 
// CHECK:           %[[X:.*]] = arith.extui
// CHECK:           %[[W:.*]] = arith.extsi
// CHECK:           arith.muli %[[X]], %[[W]]
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[WEIGHTS]] : tensor<5x4x3xi8>) outs(%{{.*}} : tensor<5xi32>)
// CHECK:           arith.shli
// CHECK:           arith.subi
// CHECK:         linalg.generic {{.*}} ins(%[[PRODUCT]], %[[SUMS]] :
// CHECK:           arith.addi
#in = affine_map<(n, c, x, k) -> (n, c, x * 2 + k)>
#window = affine_map<(n, c, x, k) -> (k)>
#out = affine_map<(n, c, x, k) -> (n, c, x)>
#data = affine_map<(n, f, x, c, k) -> (n, c, x + k)>
#weights = affine_map<(n, f, x, c, k) -> (f, c, k)>
#result = affine_map<(n, f, x, c, k) -> (n, f, x)>
ml_program.global private @w(dense<3> : tensor<5x4x3xi8>) : tensor<5x4x3xi8>
func.func @pool(%x: tensor<1x4x12xi8>) -> tensor<1x5x6xi32> {
  %w = ml_program.global_load_const @w : tensor<5x4x3xi8>
  %least = arith.constant -128 : i8
  %border = arith.constant 5 : i8
  %zero = arith.constant 0 : i32
  %k = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<1x4x6xi8>
  %start = linalg.fill ins(%least : i8) outs(%e : tensor<1x4x6xi8>) -> tensor<1x4x6xi8>
  %pool = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %k : tensor<1x4x12xi8>, tensor<2xf32>) outs(%start : tensor<1x4x6xi8>) {
  ^bb0(%a: i8, %b: f32, %m: i8):
    %0 = arith.maxsi %m, %a : i8
    linalg.yield %0 : i8
  } -> tensor<1x4x6xi8>
  %padded = tensor.pad %pool low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %border : i8
  } : tensor<1x4x6xi8> to tensor<1x4x8xi8>
  %f = tensor.empty() : tensor<1x5x6xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%f : tensor<1x5x6xi32>) -> tensor<1x5x6xi32>
  %y = linalg.generic {indexing_maps = [#data, #weights, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%padded, %w : tensor<1x4x8xi8>, tensor<5x4x3xi8>) outs(%zeros : tensor<1x5x6xi32>) {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<1x5x6xi32>
  return %y : tensor<1x5x6xi32>
}

// -----

#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (k, n)>
#sum = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>

// What computes elements takes the 128 off: the data is kept in one form.
// CHECK-LABEL: func.func @elements
// CHECK:         %[[X:.*]] = linalg.generic {{.*}} ins(%arg0 :
// CHECK:           arith.trunci
// CHECK:         %[[KEPT:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK:         linalg.generic {{.*}} ins(%[[KEPT]], %
// CHECK:           arith.extui
// CHECK-NOT:     ins(%[[X]]
// CHECK:         linalg.generic {{.*}} ins(%[[KEPT]] : tensor<4x8xi8>) outs({{.*}} : tensor<4x8xf32>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: i8,
// CHECK-NEXT:      %[[BYTE:.*]] = arith.xori %[[IN]]
// CHECK-NEXT:      arith.sitofp %[[BYTE]]
ml_program.global private @w(dense<3> : tensor<8x8xi8>) : tensor<8x8xi8>
func.func @elements(%i: tensor<4x8xi32>) -> (tensor<4x8xi32>, tensor<4x8xf32>) {
  %w = ml_program.global_load_const @w : tensor<8x8xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x8xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  %c = tensor.empty() : tensor<4x8xi8>
  %x = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<4x8xi32>) outs(%c : tensor<4x8xi8>) {
  ^bb0(%a: i32, %b: i8):
    %0 = arith.trunci %a : i32 to i8
    linalg.yield %0 : i8
  } -> tensor<4x8xi8>
  %y = linalg.generic {indexing_maps = [#row, #column, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xi8>, tensor<8x8xi8>) outs(%zeros : tensor<4x8xi32>) {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<4x8xi32>
  %d = tensor.empty() : tensor<4x8xf32>
  %z = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xi8>) outs(%d : tensor<4x8xf32>) {
  ^bb0(%a: i8, %b: f32):
    %0 = arith.sitofp %a : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %y, %z : tensor<4x8xi32>, tensor<4x8xf32>
}

// -----

#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (k, n)>
#sum = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>

// A product with what is given reads the data as it is; it is kept in both forms.
// CHECK-LABEL: func.func @given
// CHECK:         %[[X:.*]] = linalg.generic {{.*}} ins(%arg0 :
// CHECK:         %[[KEPT:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK:         linalg.generic {{.*}} ins(%[[KEPT]], %
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %arg1 :
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.extsi
ml_program.global private @w(dense<3> : tensor<8x8xi8>) : tensor<8x8xi8>
func.func @given(%i: tensor<4x8xi32>, %v: tensor<8x8xi8>) -> (tensor<4x8xi32>, tensor<4x8xi32>) {
  %w = ml_program.global_load_const @w : tensor<8x8xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x8xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  %c = tensor.empty() : tensor<4x8xi8>
  %x = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<4x8xi32>) outs(%c : tensor<4x8xi8>) {
  ^bb0(%a: i32, %b: i8):
    %0 = arith.trunci %a : i32 to i8
    linalg.yield %0 : i8
  } -> tensor<4x8xi8>
  %y = linalg.generic {indexing_maps = [#row, #column, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xi8>, tensor<8x8xi8>) outs(%zeros : tensor<4x8xi32>) {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<4x8xi32>
  %z = linalg.generic {indexing_maps = [#row, #column, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<4x8xi8>, tensor<8x8xi8>) outs(%zeros : tensor<4x8xi32>) {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<4x8xi32>
  return %y, %z : tensor<4x8xi32>, tensor<4x8xi32>
}

// -----

#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (k, n)>
#sum = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>

// The instruction takes unsigned weights of signed data.
// CHECK-LABEL: func.func @unsigned_weights
// CHECK-NOT:     arith.xori
ml_program.global private @w(dense<3> : tensor<8x8xi8>) : tensor<8x8xi8>
func.func @unsigned_weights(%i: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %w = ml_program.global_load_const @w : tensor<8x8xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x8xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  %c = tensor.empty() : tensor<4x8xi8>
  %x = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<4x8xi32>) outs(%c : tensor<4x8xi8>) {
  ^bb0(%a: i32, %b: i8):
    %0 = arith.trunci %a : i32 to i8
    linalg.yield %0 : i8
  } -> tensor<4x8xi8>
  %y = linalg.generic {indexing_maps = [#row, #column, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xi8>, tensor<8x8xi8>) outs(%zeros : tensor<4x8xi32>) {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extui %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<4x8xi32>
  return %y : tensor<4x8xi32>
}

// -----

#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (k, n)>
#sum = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#lanes = affine_map<(m, n) -> (0, n)>

// Where a constant is added for the zero point, it takes the 128 off, too.
// CHECK-LABEL: func.func @zero_point
// CHECK:         %[[PRODUCT:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:           arith.extui
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xi32>)
// CHECK:         %[[BOTH:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[SUMS]] : tensor<1x8xi32>, tensor<8xi32>)
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[PRODUCT]], %[[BOTH]] :
// CHECK:         return %[[Y]]
ml_program.global private @w(dense<3> : tensor<8x8xi8>) : tensor<8x8xi8>
ml_program.global private @z(dense<7> : tensor<1x8xi32>) : tensor<1x8xi32>
func.func @zero_point(%i: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %w = ml_program.global_load_const @w : tensor<8x8xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x8xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  %c = tensor.empty() : tensor<4x8xi8>
  %x = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<4x8xi32>) outs(%c : tensor<4x8xi8>) {
  ^bb0(%a: i32, %b: i8):
    %0 = arith.trunci %a : i32 to i8
    linalg.yield %0 : i8
  } -> tensor<4x8xi8>
  %y = linalg.generic {indexing_maps = [#row, #column, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xi8>, tensor<8x8xi8>) outs(%zeros : tensor<4x8xi32>) {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<4x8xi32>
  %z = ml_program.global_load_const @z : tensor<1x8xi32>
  %s = linalg.generic {indexing_maps = [#all, #lanes, #all], iterator_types = ["parallel", "parallel"]} ins(%y, %z : tensor<4x8xi32>, tensor<1x8xi32>) outs(%e : tensor<4x8xi32>) {
  ^bb0(%a: i32, %b: i32, %d: i32):
    %0 = arith.addi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<4x8xi32>
  return %s : tensor<4x8xi32>
}
