// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset | FileCheck %s --check-prefix=UPGRADE
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// The axis was an attribute, 1 by default. A product with the roots of unity, in double precision.
// UPGRADE-LABEL: @old
// UPGRADE: %[[AXIS:.*]] = onnx.Initializer dense<1> : tensor<i64>
// UPGRADE: onnx.DFT_20(%arg0, none, %[[AXIS]])
// CHECK-LABEL: @old
// CHECK-SAME: -> (tensor<2x5x4x2xf32>
// CHECK: math.cos {{.*}} : f64
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK: arith.truncf
func.func @old(%x: tensor<2x5x4x1xf32>) -> tensor<*xf32> {
  %0 = onnx.DFT_17(%x, none) : (tensor<2x5x4x1xf32>, none) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Half a spectrum back to a real signal.
// CHECK-LABEL: @back
// CHECK-SAME: -> (tensor<2x8x1xf32>
func.func @back(%x: tensor<2x5x2xf32>) -> tensor<*xf32> {
  %0 = onnx.DFT_20(%x, none, none) {inverse = 1 : i64, onesided = 1 : i64} : (tensor<2x5x2xf32>, none, none) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// A large prime: a convolution by transforms of 1024 elements, 32 * 32. No matrix of 509 x 509.
// CHECK-LABEL: @prime
// CHECK-NOT: 509x2x509xf64
// CHECK: tensor.pad
// CHECK: tensor<{{.*}}x1024x1xf64>
// CHECK-NOT: 509x2x509xf64
// CHECK: return
func.func @prime(%x: tensor<3x509x1xf32>) -> tensor<*xf32> {
  %0 = onnx.DFT_20(%x, none, none) : (tensor<3x509x1xf32>, none, none) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// A length that the run tells: the same with two factors of about the root, powers of two.
// CHECK-LABEL: @length_at_run_time
// CHECK: math.ctlz
// CHECK: arith.shli
// CHECK: arith.shli
// CHECK: tensor.pad
func.func @length_at_run_time(%x: tensor<3x?x1xf32>) -> tensor<*xf32> {
  %0 = onnx.DFT_20(%x, none, none) : (tensor<3x?x1xf32>, none, none) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// CHECK-LABEL: @axis_at_run_time
// CHECK-SAME: -> (tensor<2x5x2xf32>
// CHECK: cf.assert {{.*}}, "the axis is out of range"
func.func @axis_at_run_time(%x: tensor<2x5x2xf32>, %axis: tensor<i64>) -> tensor<*xf32> {
  %0 = onnx.DFT_20(%x, none, %axis) : (tensor<2x5x2xf32>, none, tensor<i64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// CHECK-LABEL: @frames
// CHECK-SAME: -> (tensor<1x7x5x2xf32>
func.func @frames(%x: tensor<1x20x1xf32>, %window: tensor<8xf32>) -> tensor<*xf32> {
  %step = onnx.Initializer dense<2> : tensor<i64>
  %0 = onnx.STFT_17(%x, %step, %window, none) : (tensor<1x20x1xf32>, tensor<i64>, tensor<8xf32>, none) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
