// RUN: strata-opt %s --split-input-file --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPE
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s

// The key of a seed is its bits; ten rounds per element, in one loop; the value stays in [low, high).
// SHAPE-LABEL: @seeded
// SHAPE: onnx.RandomUniformLike_1({{.*}}) -> tensor<2x3xf16>
// CHECK: func.func private @strata_rt_random_advance(i64, i64) -> i64
// CHECK-LABEL: @seeded
// CHECK-DAG: %[[LAST:.*]] = arith.constant 0.99951171875 : f64
// CHECK-DAG: %[[NODE:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[SEED:.*]] = arith.constant 1065353216 : i64
// CHECK: %[[KEY:.*]] = call @strata_rt_random_advance(%[[NODE]], %[[SEED]])
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} outs(%{{.*}} : tensor<6xf16>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK-COUNT-17: arith.mului_extended
// CHECK-NOT: arith.mului_extended
// CHECK: arith.cmpf ogt, %{{.*}}, %[[LAST]]
// CHECK: arith.truncf %{{.*}} : f64 to f16
// CHECK: tensor.expand_shape
func.func @seeded(%x: tensor<2x3xi32>) -> tensor<*xf16> {
  %0 = onnx.RandomUniformLike_1(%x) {dtype = 10 : i64, seed = 1.0 : f32} : (tensor<2x3xi32>) -> tensor<*xf16>
  return %0 : tensor<*xf16>
}

// -----

// Without a seed: the session's, by the node's number.
// SHAPE-LABEL: @two
// CHECK-LABEL: @two
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i64
// CHECK: call @strata_rt_random_seed(%[[C0]])
// CHECK: call @strata_rt_random_seed(%[[C1]])
func.func @two(%x: tensor<?x3xf64>) -> (tensor<4xf32>, tensor<?x3xf64>) {
  %0 = onnx.RandomUniform_22() {shape = array<i64: 4>} : () -> tensor<4xf32>
  %1 = onnx.RandomUniformLike_22(%x) : (tensor<?x3xf64>) -> tensor<?x3xf64>
  return %0, %1 : tensor<4xf32>, tensor<?x3xf64>
}

// -----

// Nothing to draw.
// CHECK-LABEL: @equal
// CHECK-NOT: call
// CHECK: return
func.func @equal() -> tensor<4xf32> {
  %0 = onnx.RandomUniform_22() {shape = array<i64: 4>, low = 2.0 : f32, high = 2.0 : f32} : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
