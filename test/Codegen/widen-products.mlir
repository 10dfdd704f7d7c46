// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-widen-products))' | FileCheck %s

// The data is extended before the padding, by what makes it; its bytes stay for another reader.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<64x40xi8>) outs(%{{.*}} : tensor<64x40xi16>)
// CHECK:           arith.extsi
// CHECK:         %[[BOTH:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<30x64xi8>, tensor<30x64xi16>)
// CHECK:           %[[BYTE:.*]] = arith.fptoui
// CHECK:           %[[WORD:.*]] = arith.extui %[[BYTE]] : i8 to i16
// CHECK:           linalg.yield %[[BYTE]], %[[WORD]]
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[BOTH]]#1
// CHECK:           tensor.yield %c200_i16
// CHECK:         linalg.generic {{.*}} ins(%[[PADDED]], %[[W]] : tensor<32x64xi16>, tensor<64x40xi16>)
// CHECK-COUNT-2:   arith.extsi %{{.*}} : i16 to i32
// CHECK:         return %{{.*}}, %[[BOTH]]#0
#same = affine_map<(i, j) -> (i, j)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<64x40xi8>) : tensor<64x40xi8>
func.func @main(%f: tensor<30x64xf32>, %c: tensor<32x40xi32>) -> (tensor<32x40xi32>, tensor<30x64xi8>) {
  %w = ml_program.global_load_const @w : tensor<64x40xi8>
  %e = tensor.empty() : tensor<30x64xi8>
  %x = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%f : tensor<30x64xf32>) outs(%e : tensor<30x64xi8>) {
  ^bb0(%a: f32, %o: i8):
    %1 = arith.fptoui %a : f32 to i8
    linalg.yield %1 : i8
  } -> tensor<30x64xi8>
  %zero = arith.constant 200 : i8
  %p = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : i8
  } : tensor<30x64xi8> to tensor<32x64xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %w : tensor<32x64xi8>, tensor<64x40xi8>) outs(%c : tensor<32x40xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extui %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<32x40xi32>
  return %0, %x : tensor<32x40xi32>, tensor<30x64xi8>
}

// -----

// Of few rows, the bytes of the weights are what takes time.
// CHECK-LABEL: func.func @few_rows(
// CHECK-NOT:     i16
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
ml_program.global private @w(dense_resource<w> : tensor<64x40xi8>) : tensor<64x40xi8>
func.func @few_rows(%x: tensor<4x64xi8>, %c: tensor<4x40xi32>) -> tensor<4x40xi32> {
  %w = ml_program.global_load_const @w : tensor<64x40xi8>
  %0 = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x64xi8>, tensor<64x40xi8>) outs(%c : tensor<4x40xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %1 = arith.extui %a : i8 to i32
    %2 = arith.extsi %b : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %s, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<4x40xi32>
  return %0 : tensor<4x40xi32>
}
