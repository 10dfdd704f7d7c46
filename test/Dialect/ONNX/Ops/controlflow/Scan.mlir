// RUN: strata-opt --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg %s | FileCheck %s

// A state is carried, what is scanned is sliced, results are stacked.
// CHECK-LABEL: @sums
// CHECK-SAME: -> (tensor<3xf32> {{.*}}, tensor<?x3xf32>
// CHECK: scf.for {{.*}} -> (tensor<3xf32>, tensor<?x3xf32>)
// CHECK: tensor.extract_slice
// CHECK: arith.addf
// CHECK: tensor.insert_slice
func.func @sums(%s: tensor<3xf32>, %x: tensor<?x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %p, %q = onnx.Scan_9(%s, %x) {num_scan_inputs = 1 : i64} graph {
  ^bb0(%a: tensor<3xf32>, %e: tensor<3xf32>):
    %n = onnx.Add_14(%a, %e) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield %n, %n : tensor<3xf32>, tensor<3xf32>
  } : (tensor<3xf32>, tensor<?x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %p, %q : tensor<*xf32>, tensor<*xf32>
}
