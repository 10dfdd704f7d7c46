// RUN: strata-opt %s --split-input-file --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPE
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// SHAPE-LABEL: @bernoulli
// SHAPE: onnx.Bernoulli_15({{.*}}) -> tensor<?x4xi1>
// CHECK-LABEL: @bernoulli
// CHECK: linalg.generic
// CHECK: %[[P:.*]] = arith.extf %{{.*}} : f16 to f64
// CHECK: %[[ONE:.*]] = arith.cmpf olt, %{{.*}}, %[[P]]
// CHECK: linalg.yield %[[ONE]] : i1
func.func @bernoulli(%p: tensor<?x4xf16>) -> tensor<*xi1> {
  %0 = onnx.Bernoulli_15(%p) {dtype = 9 : i64} : (tensor<?x4xf16>) -> tensor<*xi1>
  return %0 : tensor<*xi1>
}

// -----

// SHAPE-LABEL: @multinomial
// SHAPE: onnx.Multinomial_7({{.*}}) {sample_size = 7 : i64} {{.*}} -> tensor<?x7xi32>
// CHECK-LABEL: @multinomial
// CHECK: math.exp
// CHECK: scf.for
// CHECK: cf.assert %{{.*}}, "a row of log-probabilities has a NaN or an infinity, or no class that is possible"
// CHECK: arith.mului_extended
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.cmpf ole
func.func @multinomial(%x: tensor<?x4xf32>) -> tensor<*xi32> {
  %0 = onnx.Multinomial_7(%x) {sample_size = 7 : i64} : (tensor<?x4xf32>) -> tensor<*xi32>
  return %0 : tensor<*xi32>
}
