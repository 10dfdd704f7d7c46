// RUN: strata-opt %s --onnx-infer-shapes | strata-opt | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Integers are known at compile time.
// SHAPES-LABEL: @constant
// SHAPES: onnx.Initializer dense<[23, 20, 17, 14, 11, 8, 5]> : tensor<7xi32>
func.func @constant() -> tensor<*xi32> {
  %start = onnx.Initializer dense<23> : tensor<i64>
  %stop = onnx.Initializer dense<2> : tensor<i64>
  %step = onnx.Initializer dense<-3> : tensor<i32>
  %0 = ov.Range_4(%start, %stop, %step) {output_type = "i32"} : (tensor<i64>, tensor<i64>, tensor<i32>) -> tensor<*xi32>
  return %0 : tensor<*xi32>
}

// The count is that of 1.6, 2.6, 3.6, 4.6; the elements are computed in integers.
// SHAPES-LABEL: @truncated
// SHAPES: onnx.Initializer dense<[1, 2, 3, 4]> : tensor<4xi32>
func.func @truncated() -> tensor<*xi32> {
  %start = onnx.Initializer dense<1.6> : tensor<f32>
  %stop = onnx.Initializer dense<4.9> : tensor<f32>
  %step = onnx.Initializer dense<1.0> : tensor<f16>
  %0 = ov.Range_4(%start, %stop, %step) {output_type = "i32"} : (tensor<f32>, tensor<f32>, tensor<f16>) -> tensor<*xi32>
  return %0 : tensor<*xi32>
}

// Beyond 2^63, and over more than 2^64.
// SHAPES-LABEL: @unsigned
// SHAPES-DAG: onnx.Initializer dense<[18446744073709551613, 18446744073709551614]> : tensor<2xui64>
// SHAPES-DAG: onnx.Initializer dense<[9223372036854775809, 4, 9223372036854775815]> : tensor<3xui64>
func.func @unsigned() -> (tensor<*xui64>, tensor<*xui64>) {
  %start = onnx.Initializer dense<18446744073709551613> : tensor<ui64>
  %stop = onnx.Initializer dense<18446744073709551615> : tensor<ui64>
  %one = onnx.Initializer dense<1> : tensor<i8>
  %0 = ov.Range_4(%start, %stop, %one) {output_type = "u64"} : (tensor<ui64>, tensor<ui64>, tensor<i8>) -> tensor<*xui64>
  %lowest = onnx.Initializer dense<-9223372036854775807> : tensor<i64>
  %step = onnx.Initializer dense<9223372036854775811> : tensor<ui64>
  %1 = ov.Range_4(%lowest, %stop, %step) {output_type = "u64"} : (tensor<i64>, tensor<ui64>, tensor<ui64>) -> tensor<*xui64>
  return %0, %1 : tensor<*xui64>, tensor<*xui64>
}

// Floating point is computed by the same code whether the operands are known or not; the size is known here.
// SHAPES-LABEL: @known_size
// SHAPES: -> tensor<3xf32>
// CHECK-LABEL: @known_size
// CHECK:       linalg.generic
// CHECK:         %[[I:.*]] = arith.sitofp %{{.*}} : i64 to f64
// CHECK:         %[[VALUE:.*]] = math.fma %[[I]], %{{.*}}, %{{.*}} : f64
// CHECK:         arith.truncf %[[VALUE]] : f64 to f32
func.func @known_size() -> tensor<*xf32> {
  %start = onnx.Initializer dense<1.0> : tensor<f32>
  %stop = onnx.Initializer dense<2.5> : tensor<f32>
  %step = onnx.Initializer dense<0.5> : tensor<f32>
  %0 = ov.Range_4(%start, %stop, %step) {output_type = "f32"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// SHAPES-LABEL: @run_time
// SHAPES: -> tensor<?xf16>
// CHECK-LABEL: @run_time
// CHECK-DAG:   cf.assert %{{.*}}, "start is infinite or not a number"
// CHECK-DAG:   cf.assert %{{.*}}, "stop is infinite or not a number"
// CHECK-DAG:   cf.assert %{{.*}}, "step is infinite or not a number"
// CHECK-DAG:   cf.assert %{{.*}}, "step is zero"
// CHECK:       %[[SPAN:.*]] = arith.subf %{{.*}}, %{{.*}} : f64
// CHECK:       %[[QUOTIENT:.*]] = arith.divf %[[SPAN]], %{{.*}} : f64
// CHECK:       math.ceil %[[QUOTIENT]] : f64
// CHECK:       cf.assert %{{.*}}, "there are more elements than memory can hold"
// CHECK:       math.fma %{{.*}} : f32
func.func @run_time(%x: tensor<f32>, %y: tensor<ui8>) -> tensor<*xf16> {
  %0 = ov.Range_4(%x, %x, %x) {output_type = "f16"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<*xf16>
  return %0 : tensor<*xf16>
}

// Integers are counted in integers: the division is of 64 bits.
// SHAPES-LABEL: @integers
// SHAPES: -> tensor<?xi64>
// CHECK-LABEL: @integers
// CHECK:       cf.assert %{{.*}}, "step is zero"
// CHECK-NOT:   f64
// CHECK-NOT:   arith.divui {{.*}} : i128
// CHECK:       arith.divui {{.*}} : i64
// CHECK-NOT:   arith.divui {{.*}} : i128
// CHECK:       cf.assert %{{.*}}, "there are more elements than memory can hold"
// CHECK:       linalg.generic
func.func @integers(%start: tensor<i64>, %stop: tensor<ui64>, %step: tensor<i8>) -> tensor<*xi64> {
  %0 = ov.Range_4(%start, %stop, %step) {output_type = "i64"} : (tensor<i64>, tensor<ui64>, tensor<i8>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}

// SHAPES-LABEL: @symbol
// SHAPES: -> tensor<?xi64, #onnx.dims<"n">>
func.func @symbol(%x: tensor<?xf32, #onnx.dims<"n">>) -> tensor<*xi64> {
  %start = onnx.Initializer dense<0> : tensor<i64>
  %step = onnx.Initializer dense<1> : tensor<i64>
  %shape = onnx.Shape_25(%x) : (tensor<?xf32, #onnx.dims<"n">>) -> tensor<1xi64>
  %zero = onnx.Initializer dense<0> : tensor<i64>
  %stop = onnx.Gather_13(%shape, %zero) : (tensor<1xi64>, tensor<i64>) -> tensor<i64>
  %0 = ov.Range_4(%start, %stop, %step) {output_type = "i64"} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}
