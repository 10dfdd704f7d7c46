// RUN: strata-opt --split-input-file --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg %s | FileCheck %s

// A positive step is a slice; the attributes of version 1 become inputs. Ends are clamped.
// CHECK-LABEL: @attributes
// CHECK: tensor.extract_slice %{{.*}}[1, 0] [3, 5] [1, 1] : tensor<4x5xf32> to tensor<3x5xf32>
func.func @attributes(%x: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %y = onnx.Slice_1(%x) {axes = array<i64: 0>, ends = array<i64: 1000>, starts = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// A negative step reads by index.
// CHECK-LABEL: @reverse
// CHECK: linalg.generic
// CHECK: tensor.extract %{{.*}} : tensor<4xf32>
func.func @reverse(%x: tensor<4xf32>) -> tensor<4xf32> {
  %starts = onnx.Initializer dense<-1> : tensor<1xi64>
  %ends = onnx.Initializer dense<-9> : tensor<1xi64>
  %y = onnx.Slice_13(%x, %starts, %ends, none, %starts) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, none, tensor<1xi64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A symbolic dimension that is sliced from its start to its end keeps its name.
// CHECK-LABEL: @open_end
// CHECK-NOT: arith.minsi
// CHECK: return
func.func @open_end(%x: tensor<?x5xf32, #onnx.dims<"n", "">>) -> tensor<?x5xf32, #onnx.dims<"n", "">> {
  %starts = onnx.Initializer dense<0> : tensor<1xi64>
  %ends = onnx.Initializer dense<9223372036854775807> : tensor<1xi64>
  %y = onnx.Slice_13(%x, %starts, %ends) : (tensor<?x5xf32, #onnx.dims<"n", "">>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x5xf32, #onnx.dims<"n", "">>
  return %y : tensor<?x5xf32, #onnx.dims<"n", "">>
}

// -----

// PyTorch's "from the first on" is the least integer; the values of a shape go through.
// CHECK-LABEL: @from_least
// CHECK-SAME: -> (tensor<?x3x?xf32> {
func.func @from_least(%x: tensor<?x3x4x3xf32>) -> tensor<*xf32> {
  %least = onnx.Initializer dense<-9223372036854775808> : tensor<1xi64>
  %end = onnx.Initializer dense<-2> : tensor<1xi64>
  %rest = onnx.Initializer dense<-1> : tensor<1xi64>
  %shape = onnx.Shape_25(%x) {start = 0 : i64} : (tensor<?x3x4x3xf32>) -> tensor<4xi64>
  %head = onnx.Slice_13(%shape, %least, %end) : (tensor<4xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %all = onnx.Concat_13(%head, %rest) {axis = 0 : i64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = onnx.Reshape_25(%x, %all) {allowzero = 0 : i64} : (tensor<?x3x4x3xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The first n of a table, such as positions, have n rows where they are added to n rows: nothing is repeated at run time.
// CHECK-LABEL: @first_rows
// CHECK-SAME:  -> (tensor<2x?x8xf32> {{{.*}}strata.dims = ["", "n", ""]
// CHECK:         %[[N:.*]] = tensor.dim %{{.*}}, %c1
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %{{.*}}, %[[N]]
// CHECK:         cf.assert %[[SAME]], "sizes do not broadcast in dimension 1"
// CHECK:         %[[INIT:.*]] = tensor.empty(%[[N]]) : tensor<2x?x8xf32>
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x?x8xf32>, tensor<1x?x8xf32>) outs(%[[INIT]]
func.func @first_rows(%x: tensor<2x?x8xf32, #onnx.dims<"", "n", "">>, %table: tensor<1x32x8xf32>) -> tensor<*xf32> {
  %zero = onnx.Initializer dense<0> : tensor<1xi64>
  %one = onnx.Initializer dense<1> : tensor<1xi64>
  %shape = onnx.Shape_25(%x) {start = 0 : i64} : (tensor<2x?x8xf32, #onnx.dims<"", "n", "">>) -> tensor<3xi64>
  %n = onnx.Gather_13(%shape, %one) {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %first = onnx.Slice_13(%table, %zero, %n, %one) : (tensor<1x32x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %y = onnx.Add_14(%x, %first) : (tensor<2x?x8xf32, #onnx.dims<"", "n", "">>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
