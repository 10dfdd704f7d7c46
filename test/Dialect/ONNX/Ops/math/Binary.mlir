// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset | FileCheck %s --check-prefix=UPGRADE
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg | FileCheck %s

// B is spread from an axis of A on: as NumPy, after dimensions of size 1 at its end.
// UPGRADE-LABEL: @axis
// UPGRADE-DAG: %[[AXES:.*]] = onnx.Initializer dense<[2, 3]> : tensor<2xi64>
// UPGRADE: %[[B:.*]] = onnx.Unsqueeze_25(%arg1, %[[AXES]])
// UPGRADE: onnx.Add_14(%arg0, %[[B]]) :
// CHECK-LABEL: @axis
// CHECK: tensor.expand_shape
// CHECK: arith.addf
func.func @axis(%a: tensor<2x3x4x5xf32>, %b: tensor<2x3xf32>) -> tensor<*xf32> {
  %0 = onnx.Add_6(%a, %b) {axis = 0 : i64, broadcast = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// UPGRADE-LABEL: @hint
// UPGRADE: onnx.Max_13(%arg0, %arg0) :
func.func @hint(%a: tensor<2xf32>) -> tensor<*xf32> {
  %0 = onnx.Max_1(%a, %a) {consumed_inputs = array<i64: 0, 0>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// A list of slopes was one per channel, the second dimension.
// UPGRADE-LABEL: @slopes
// UPGRADE: %[[SLOPE:.*]] = onnx.Unsqueeze_25(%arg1, %{{.*}}) : (tensor<3xf32>, tensor<2xi64>) -> tensor<3x1x1xf32>
// UPGRADE: onnx.PRelu_16(%arg0, %[[SLOPE]])
func.func @slopes(%x: tensor<1x3x2x2xf32>, %slope: tensor<3xf32>) -> tensor<*xf32> {
  %0 = onnx.PRelu_6(%x, %slope) : (tensor<1x3x2x2xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Dimensions of one name are equal: nothing to check at run time.
// SHAPES-LABEL: @symbols
// SHAPES: onnx.Mul_14{{.*}} -> tensor<?x4xi32, #onnx.dims<"n", "">>
// CHECK-LABEL: @symbols
// CHECK-NOT: cf.assert
// CHECK: arith.muli
func.func @symbols(%a: tensor<?x4xi32, #onnx.dims<"n", "">>, %b: tensor<?x1xi32, #onnx.dims<"n", "">>) -> tensor<*xi32> {
  %0 = onnx.Mul_14(%a, %b) : (tensor<?x4xi32, #onnx.dims<"n", "">>, tensor<?x1xi32, #onnx.dims<"n", "">>) -> tensor<*xi32>
  return %0 : tensor<*xi32>
}

// -----

// Unnamed ones may be 1 or equal.
// CHECK-LABEL: @unknown
// CHECK: cf.assert {{.*}}, "sizes do not broadcast in dimension 0"
func.func @unknown(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = onnx.Add_14(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// No operand of an integer division traps.
// CHECK-LABEL: @divide
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: %[[MINUS:.*]] = arith.cmpi eq, %{{.*}}, %c-1
// CHECK: %[[BAD:.*]] = arith.ori %[[ZERO]], %[[MINUS]]
// CHECK: %[[SAFE:.*]] = arith.select %[[BAD]], %c1
// CHECK: arith.divsi %{{.*}}, %[[SAFE]]
func.func @divide(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %0 = onnx.Div_14(%a, %b) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Halves are computed in f32 and rounded once; signs come from the type.
// CHECK-LABEL: @half
// CHECK: arith.extf
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.truncf
// CHECK: arith.maxui
func.func @half(%a: tensor<4xf16>, %u: tensor<4xui8>) -> (tensor<4xf16>, tensor<4xui8>) {
  %0 = onnx.Mul_14(%a, %a) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %1 = onnx.Max_13(%u, %u) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %0, %1 : tensor<4xf16>, tensor<4xui8>
}

// -----

// A known exponent needs no power function.
// CHECK-LABEL: @square
// CHECK-NOT: math.powf
// CHECK: arith.mulf
func.func @square(%a: tensor<4xf32>) -> tensor<4xf32> {
  %two = onnx.Initializer dense<2.0> : tensor<f32>
  %0 = onnx.Pow_15(%a, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @reciprocal_root
// CHECK-NOT: math.powf
// CHECK: math.sqrt
// CHECK: arith.divf
func.func @reciprocal_root(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = onnx.Initializer dense<-0.5> : tensor<f32>
  %0 = onnx.Pow_15(%a, %e) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Elements of shapes are known at compile time, wrapped to their type.
// SHAPES-LABEL: @values
// SHAPES-DAG: onnx.Initializer dense<[3, -2]> : tensor<2xi64>
// SHAPES-DAG: onnx.Initializer dense<-56> : tensor<i8>
// SHAPES-DAG: onnx.Initializer dense<[true, false]> : tensor<2xi1>
func.func @values() -> (tensor<2xi64>, tensor<i8>, tensor<2xi1>) {
  %a = onnx.Initializer dense<[7, -5]> : tensor<2xi64>
  %two = onnx.Initializer dense<2> : tensor<i64>
  %x = onnx.Initializer dense<100> : tensor<i8>
  %0 = onnx.Div_14(%a, %two) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  %1 = onnx.Add_14(%x, %x) : (tensor<i8>, tensor<i8>) -> tensor<i8>
  %2 = onnx.Greater_13(%a, %two) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  return %0, %1, %2 : tensor<2xi64>, tensor<i8>, tensor<2xi1>
}
