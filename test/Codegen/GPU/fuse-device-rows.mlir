// RUN: strata-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(strata-fuse-device-rows,canonicalize,cse))' | FileCheck %s

#all = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>

// Single rows, whatever a cache could hold.
// CHECK-LABEL: func.func @normal(
// CHECK:         scf.forall (%[[I:.*]]) in (512) shared_outs(
// CHECK:           tensor.extract_slice %arg0[%[[I]], 0] [1, 256] [1, 1]
// CHECK:           linalg.generic
// CHECK:           linalg.generic
// CHECK-NOT:     linalg.generic
func.func @normal(%x: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<512xf32>
  %e = tensor.empty() : tensor<512x256xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%r : tensor<512xf32>) -> tensor<512xf32>
  %1 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<512x256xf32>) outs(%0 : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  %2 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %1 : tensor<512x256xf32>, tensor<512xf32>) outs(%e : tensor<512x256xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %q = arith.divf %a, %s : f32
    linalg.yield %q : f32
  } -> tensor<512x256xf32>
  return %2 : tensor<512x256xf32>
}

// -----

#x = affine_map<(i, j, k) -> (i, k)>
#y = affine_map<(i, j, k) -> (k, j)>
#z = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Products of computed matrices stay alone, for tensor cores.
// CHECK-LABEL: func.func @scores(
// CHECK:         linalg.generic {{.*}}"reduction"]} ins(%arg0, %arg1
// CHECK:         scf.forall
// CHECK-NOT:       arith.mulf
// CHECK:           arith.maximumf
// CHECK:           arith.subf
func.func @scores(%x: tensor<64x32xf32>, %y: tensor<32x100xf32>) -> tensor<64x100xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64x100xf32>
  %r = tensor.empty() : tensor<64xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64x100xf32>) -> tensor<64x100xf32>
  %1 = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<64x32xf32>, tensor<32x100xf32>) outs(%0 : tensor<64x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<64x100xf32>
  %2 = linalg.fill ins(%lowest : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %3 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<64x100xf32>) outs(%2 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  %4 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%1, %3 : tensor<64x100xf32>, tensor<64xf32>) outs(%e : tensor<64x100xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    linalg.yield %d : f32
  } -> tensor<64x100xf32>
  return %4 : tensor<64x100xf32>
}
