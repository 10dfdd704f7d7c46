// RUN: strata-opt %s --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// A column is searched for its largest element, then the rows below are reduced; float16 is computed in float32.
// CHECK-LABEL: @batch
// CHECK-SAME: -> (tensor<?xf16>
// CHECK: scf.for
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: math.absf {{.*}} : f32
// CHECK: arith.divf {{.*}} : f32
// CHECK: arith.truncf
func.func @batch(%x: tensor<?x3x3xf16>) -> tensor<?xf16> {
  %0 = onnx.Det_11(%x) : (tensor<?x3x3xf16>) -> tensor<?xf16>
  return %0 : tensor<?xf16>
}

// CHECK-LABEL: @sizes_at_run_time
// CHECK: cf.assert {{.*}}, "the matrices are not square"
func.func @sizes_at_run_time(%x: tensor<?x?xf32>) -> tensor<f32> {
  %0 = onnx.Det_22(%x) : (tensor<?x?xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
