// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Version 1 spells its default so, and says whether it has a sequence.
// CHECK-LABEL: @old
// CHECK: onnx.GRU_22(%{{.*}}) {direction = "forward"} : {{.*}} -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>)
func.func @old(%0: tensor<5x1x3xf32>, %1: tensor<1x12x3xf32>, %2: tensor<1x12x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y, %z = onnx.GRU_1(%0, %1, %2) {direction = "foward", output_sequence = 1 : i64} : (tensor<5x1x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: @older
// CHECK: onnx.RNN_22(%{{.*}}) : {{.*}} -> tensor<5x1x1x4xf32>
func.func @older(%0: tensor<5x1x3xf32>, %1: tensor<1x4x3xf32>, %2: tensor<1x4x4xf32>) -> tensor<*xf32> {
  %y = onnx.RNN_7(%0, %1, %2) : (tensor<5x1x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The products with the operand of all steps come before the loops over the steps, one per direction.
// CHECK-LABEL: @both
// CHECK: onnx.LSTM_22{{.*}} -> (tensor<2x?x2x4xf16>, tensor<2x2x4xf16>, tensor<2x2x4xf16>)
// LOWER-LABEL: @both
// LOWER: linalg.transpose
// LOWER: arith.extf %{{.*}} : f16 to f32
// LOWER: arith.mulf
// LOWER: scf.for
// LOWER: math.tanh
// LOWER: scf.yield
// LOWER: scf.for
// LOWER: arith.truncf %{{.*}} : f32 to f16
// LOWER-NOT: scf.for
func.func @both(%0: tensor<2x?x3xf16>, %1: tensor<2x16x3xf16>, %2: tensor<2x16x4xf16>) -> (tensor<*xf16>, tensor<*xf16>, tensor<*xf16>) {
  %y, %z, %w = onnx.LSTM_22(%0, %1, %2) {direction = "bidirectional", layout = 1 : i64} : (tensor<2x?x3xf16>, tensor<2x16x3xf16>, tensor<2x16x4xf16>) -> (tensor<*xf16>, tensor<*xf16>, tensor<*xf16>)
  return %y, %z, %w : tensor<*xf16>, tensor<*xf16>, tensor<*xf16>
}

// -----

// The initial state knows the size of the batch, which the loop then carries.
// CHECK-LABEL: @batch_of_state
// CHECK: onnx.RNN_22{{.*}} -> tensor<?x1x3x4xf32>
// LOWER-LABEL: @batch_of_state
// LOWER: scf.for {{.*}} -> (tensor<3x4xf32>, tensor<?x1x3x4xf32>)
func.func @batch_of_state(%0: tensor<?x?x2xf32>, %1: tensor<1x4x2xf32>, %2: tensor<1x4x4xf32>, %3: tensor<1x3x4xf32>) -> tensor<*xf32> {
  %y = onnx.RNN_22(%0, %1, %2, none, none, %3) : (tensor<?x?x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, tensor<1x3x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The input knows it, and the initial state does not.
// LOWER-LABEL: @state_of_batch
// LOWER: scf.for {{.*}} -> (tensor<3x4xf32>, tensor<?x1x3x4xf32>)
func.func @state_of_batch(%0: tensor<?x3x2xf32>, %1: tensor<1x4x2xf32>, %2: tensor<1x4x4xf32>, %3: tensor<1x?x4xf32>) -> tensor<*xf32> {
  %y = onnx.RNN_22(%0, %1, %2, none, none, %3) : (tensor<?x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, tensor<1x?x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
