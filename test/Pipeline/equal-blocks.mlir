// RUN: strata-compile %s --march=x86-64 --mcpu=haswell --emit=obj -o %t.o
//
// The sine of a row and that of several rows end in blocks that are equal but for what they compute with. They stay
// apart: merged, they would have arguments of wrong types.
func.func @main(%x: tensor<1x18x8xf32>, %w: tensor<18x96x5xf32>, %b: tensor<96xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.ConvTranspose_11(%x, %w, %b) {group = 1 : i64, kernel_shape = array<i64: 5>, output_padding = array<i64: 0>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<1x18x8xf32>, tensor<18x96x5xf32>, tensor<96xf32>) -> tensor<*xf32>
  %1 = onnx.Sin_7(%0) : (tensor<*xf32>) -> tensor<*xf32>
  %2 = onnx.LogSoftmax_13(%1) {axis = -1 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  return %1, %2 : tensor<*xf32>, tensor<*xf32>
}
