// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// SHAPES-LABEL: @eye
// SHAPES: onnx.EyeLike_22{{.*}} -> tensor<3x4xf64>
// Ones along the diagonal of a tensor of zeros.
// CHECK-LABEL: @eye
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.0{{.*}} : f64
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0.0{{.*}} : f64
// CHECK-DAG: %[[COUNT:.*]] = arith.constant 3 : index
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%[[NONE]]
// CHECK: scf.for %[[I:[a-z0-9]+]] = %{{.*}} to %[[COUNT]] {{.*}} iter_args(%{{.*}} = %[[ZEROS]])
// CHECK:   %[[COLUMN:.*]] = arith.addi %[[I]], %{{.*}}
// CHECK:   tensor.insert %[[ONE]] into %{{.*}}[%[[I]], %[[COLUMN]]]
func.func @eye(%x: tensor<3x4xi32>) -> tensor<*xf64> {
  %0 = onnx.EyeLike_9(%x) {dtype = 11 : i64, k = 1 : i64} : (tensor<3x4xi32>) -> tensor<*xf64>
  return %0 : tensor<*xf64>
}
