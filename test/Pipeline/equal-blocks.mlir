// RUN: strata-compile %s --march=x86-64 --mcpu=haswell --compile-to=llvm -o %t.mlir && FileCheck %s < %t.mlir
//
// The sine of a row and that of several rows end in blocks that are equal but for what they compute with. They stay
// apart, each with an angle's quarter and rest for arguments: merged, they would have more, of wrong types.
// CHECK-LABEL: llvm.func internal @strata_large_angle_8(
// CHECK-NOT:   llvm.br {{.*}}vector<8xi32>, vector<8xf64>, vector
// CHECK:       llvm.call @strata_large_angle_8(
// CHECK:       llvm.br ^bb{{.*}} : vector<8xi32>, vector<8xf64>)
// CHECK-NOT:   llvm.br {{.*}}vector<8xi32>, vector<8xf64>, vector
// CHECK:       llvm.call @strata_large_angle_8(
// CHECK:       llvm.br ^bb{{.*}} : vector<8xi32>, vector<8xf64>)
// CHECK-NOT:   llvm.br {{.*}}vector<8xi32>, vector<8xf64>, vector
func.func @main(%x: tensor<1x18x8xf32>, %w: tensor<18x96x5xf32>, %b: tensor<96xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.ConvTranspose_11(%x, %w, %b) {group = 1 : i64, kernel_shape = array<i64: 5>, output_padding = array<i64: 0>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<1x18x8xf32>, tensor<18x96x5xf32>, tensor<96xf32>) -> tensor<*xf32>
  %1 = onnx.Sin_7(%0) : (tensor<*xf32>) -> tensor<*xf32>
  %2 = onnx.LogSoftmax_13(%1) {axis = -1 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  return %1, %2 : tensor<*xf32>, tensor<*xf32>
}
