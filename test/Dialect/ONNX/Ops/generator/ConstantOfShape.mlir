// RUN: strata-opt %s --onnx-infer-shapes | strata-opt | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --onnx-upgrade-opset | FileCheck %s --check-prefix=UPGRADE
// RUN: strata-opt %s --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Without a value: float zeros. Known sizes are sizes of the type.
// SHAPES-LABEL: @known
// SHAPES: onnx.ConstantOfShape_9({{.*}}) : (tensor<2xi64>) -> tensor<2x300xf32>
// UPGRADE-LABEL: @known
// UPGRADE: onnx.ConstantOfShape_25
// CHECK-LABEL: @known
// CHECK:       %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:       %[[EMPTY:.*]] = tensor.empty() : tensor<2x300xf32>
// CHECK:       linalg.fill ins(%[[ZERO]] : f32) outs(%[[EMPTY]] : tensor<2x300xf32>)
func.func @known() -> tensor<*xf32> {
  %shape = onnx.Initializer dense<[2, 300]> : tensor<2xi64>
  %0 = onnx.ConstantOfShape_9(%shape) : (tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// The length of the input is the rank.
// SHAPES-LABEL: @rank
// SHAPES: -> tensor<?x?xui16>
// CHECK-LABEL: @rank
// CHECK-DAG:   %[[VALUE:.*]] = arith.constant -2 : i16
// CHECK-DAG:   cf.assert %{{.*}}, "size of dimension 0 is negative"
// CHECK-DAG:   cf.assert %{{.*}}, "size of dimension 1 is negative"
// CHECK:       cf.assert %{{.*}}, "the result has more elements than memory can hold"
// CHECK:       linalg.fill ins(%[[VALUE]] : i16)
func.func @rank(%shape: tensor<2xi64>) -> tensor<*xui16> {
  %0 = onnx.ConstantOfShape_21(%shape) {value = dense<65534> : tensor<1xui16>} : (tensor<2xi64>) -> tensor<*xui16>
  return %0 : tensor<*xui16>
}

// SHAPES-LABEL: @scalar
// SHAPES: onnx.Initializer dense<-3> : tensor<i4>
func.func @scalar() -> tensor<*xi4> {
  %shape = onnx.Initializer dense<> : tensor<0xi64>
  %0 = onnx.ConstantOfShape_23(%shape) {value = dense<-3> : tensor<1xi4>} : (tensor<0xi64>) -> tensor<*xi4>
  return %0 : tensor<*xi4>
}

// SHAPES-LABEL: @integers
// SHAPES: onnx.Initializer dense<7> : tensor<2x2xi64>
func.func @integers() -> tensor<*xi64> {
  %shape = onnx.Initializer dense<2> : tensor<2xi64>
  %0 = onnx.ConstantOfShape_20(%shape) {value = dense<7> : tensor<i64>} : (tensor<2xi64>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}

// However large the other sizes are, a zero makes it empty.
// SHAPES-LABEL: @empty
// SHAPES: -> tensor<0x4611686018427387904xf8E5M2>
// CHECK-LABEL: @empty
// CHECK:       tensor.empty() : tensor<0x4611686018427387904xi8>
func.func @empty() -> tensor<*xf8E5M2> {
  %shape = onnx.Initializer dense<[0, 4611686018427387904]> : tensor<2xi64>
  %0 = onnx.ConstantOfShape_25(%shape) {value = dense<1.0> : tensor<1xf8E5M2>} : (tensor<2xi64>) -> tensor<*xf8E5M2>
  return %0 : tensor<*xf8E5M2>
}

// Types without a constant of MLIR's own: the bits.
// SHAPES-LABEL: @bits
// SHAPES: -> tensor<300x!onnx.f4E2M1>
// CHECK-LABEL: @bits
// CHECK:       %[[VALUE:.*]] = arith.constant 13 : i8
// CHECK:       linalg.fill ins(%[[VALUE]] : i8)
func.func @bits() -> tensor<*x!onnx.f4E2M1> {
  %shape = onnx.Initializer dense<300> : tensor<1xi64>
  %0 = onnx.ConstantOfShape_25(%shape) {value = dense_resource<thirteen> : tensor<1x!onnx.f4E2M1>} : (tensor<1xi64>) -> tensor<*x!onnx.f4E2M1>
  return %0 : tensor<*x!onnx.f4E2M1>
}

// SHAPES-LABEL: @symbol
// SHAPES: -> tensor<?x4xf32, #onnx.dims<"n", "">>
func.func @symbol(%x: tensor<?x4xi8, #onnx.dims<"n", "">>) -> tensor<*xf32> {
  %shape = onnx.Shape_25(%x) : (tensor<?x4xi8, #onnx.dims<"n", "">>) -> tensor<2xi64>
  %0 = onnx.ConstantOfShape_25(%shape) : (tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// An input of any length; the declared rank is checked.
// SHAPES-LABEL: @any_length
// SHAPES: (tensor<?xi64>) -> tensor<?x?xf32>
// CHECK-LABEL: @any_length
// CHECK:       cf.assert %{{.*}}, "input must have 2 elements"
func.func @any_length(%shape: tensor<?xi64>) -> tensor<?x?xf32> {
  %0 = onnx.ConstantOfShape_25(%shape) : (tensor<?xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

{-#
  dialect_resources: {
    builtin: {
      thirteen: "0x010000000D"
    }
  }
#-}
