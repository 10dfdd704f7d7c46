// RUN: strata-opt %s --onnx-infer-shapes | strata-opt | FileCheck %s

// CHECK-LABEL: @constant
func.func @constant() -> tensor<*xi32> {
  %start = onnx.Initializer dense<23> : tensor<i64>
  %stop = onnx.Initializer dense<2> : tensor<i64>
  %step = onnx.Initializer dense<-3> : tensor<i32>
  // CHECK: ov.Range_4({{.*}}) {output_type = "i32"} : (tensor<i64>, tensor<i64>, tensor<i32>) -> tensor<7xi32>
  %0 = ov.Range_4(%start, %stop, %step) {output_type = "i32"} : (tensor<i64>, tensor<i64>, tensor<i32>) -> tensor<*xi32>
  return %0 : tensor<*xi32>
}

// CHECK-LABEL: @run_time
func.func @run_time(%x: tensor<f32>) -> tensor<*xf16> {
  // CHECK: -> tensor<?xf16>
  %0 = ov.Range_4(%x, %x, %x) {output_type = "f16"} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<*xf16>
  return %0 : tensor<*xf16>
}
