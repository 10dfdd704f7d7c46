// Hand-written IR: names are made, the opset is the oldest that has all ops.
// RUN: split-file %s %t
// RUN: strata-translate --export-onnx-text %t/names.mlir | FileCheck %t/names.mlir
// RUN: strata-translate --export-onnx-text %t/named.mlir | FileCheck %t/named.mlir
// RUN: strata-translate --export-onnx-text %t/domains.mlir | FileCheck %t/domains.mlir
// RUN: strata-translate --export-onnx %t/sparse.mlir -o %t/sparse.onnx && strata-translate --import-onnx %t/sparse.onnx | FileCheck %t/sparse.mlir
// RUN: not strata-translate --export-onnx %t/opsets.mlir -o %t/out.onnx 2>&1 | FileCheck %t/opsets.mlir
// RUN: not strata-translate --export-onnx %t/foreign.mlir -o %t/out.onnx 2>&1 | FileCheck %t/foreign.mlir
// RUN: not strata-translate --export-onnx %t/nomain.mlir -o %t/out.onnx 2>&1 | FileCheck %t/nomain.mlir
// RUN: not strata-translate --export-onnx %t/missing.mlir -o %t/out.onnx 2>&1 | FileCheck %t/missing.mlir
// RUN: not strata-translate --export-onnx %t/type.mlir -o %t/out.onnx 2>&1 | FileCheck %t/type.mlir
// RUN: not strata-translate --export-onnx %t/none.mlir -o %t/out.onnx 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: not strata-translate %t/names.mlir 2>&1 | FileCheck --check-prefix=ACTION %s
// RUN: not strata-translate --export-onxx %t/names.mlir 2>&1 | FileCheck --check-prefix=FLAG %s
// RUN: not ls %t/out.onnx
// RUN: not strata-translate --export-onnx %t/names.mlir -o %t/no/such/folder.onnx 2>&1 | FileCheck --check-prefix=OUTPUT %s

// NONE: error: {{.*}}none.mlir
// ACTION: error: say what to do: --import-onnx, --import-onnx-text, --export-onnx or --export-onnx-text
// FLAG: Did you mean '--export-onnx'?
// OUTPUT: error: {{.*}}folder.onnx

//--- names.mlir
// CHECK: opset_import: ["" : 14]
// CHECK: main (float[n,4] x, float x_0) => (float[?,4] [[OUT:v_[0-9]+]], float[?,4] [[OTHER:v_[0-9]+]])
// CHECK-NEXT: float[4] [[W:v_[0-9]+]] =  {2,2,2,2}
// CHECK: [[A:v_[0-9]+]] = Clip (x, "", x_0)
// CHECK: [[OUT]] = Mul ([[A]], [[W]])
// CHECK: [[OTHER]] = Identity ([[OUT]])
func.func @main(%x: tensor<?x4xf32, #onnx.dims<"n", "">>, %max: tensor<f32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %w = onnx.Initializer dense<2.0> : tensor<4xf32>
  %a = onnx.Clip_13(%x, none, %max) : (tensor<?x4xf32, #onnx.dims<"n", "">>, none, tensor<f32>) -> tensor<?x4xf32>
  %b = onnx.Mul_14(%a, %w) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %b, %b : tensor<?x4xf32>, tensor<?x4xf32>
}

//--- named.mlir
// The declared opset stays where the ops allow it; outputs keep their names; a cast of shapes is nothing.
// CHECK: ir_version: 9
// CHECK-NEXT: opset_import: ["" : 15]
// CHECK: g (float[2] x) => (float[2] y)
// CHECK: [n1] y = Relu (x)
// CHECK-NOT: Identity
module attributes {onnx.ir_version = 9 : i64, onnx.opset_import = {ai.onnx = 15 : i64}, onnx.graph_name = "g"} {
  func.func @main(%x: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "y"}) {
    %a = onnx.Relu_14(%x) : (tensor<2xf32>) -> tensor<*xf32> loc("n1")
    %b = onnx.CastShape %a : tensor<*xf32> -> tensor<2xf32>
    return %b : tensor<2xf32>
  }
}

//--- domains.mlir
// CHECK: opset_import: ["com.acme" : 3, "ai.onnx.ml" : 1]
// CHECK: ai.onnx.ml.Normalizer <norm: string = "L1">
// CHECK: com.acme.Foo <k: int = 7> ({{.*}}, "", {{.*}})
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %a = onnx.ml.Normalizer_1(%x) {norm = "L1"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = onnx.Custom "com.acme" "Foo"(%a, %x) attributes {node_attributes = {k = 7 : i64}, opset = 3 : i64, present = array<i1: true, false, true>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %b : tensor<2x2xf32>
}

//--- sparse.mlir
// CHECK: onnx.Initializer {onnx.sparse = "coordinates"} dense<{{\[\[}}0.000000e+00, 1.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 2.000000e+00]]>
func.func @main() -> (tensor<2x3xf32> {onnx.name = "y"}) {
  %w = onnx.Initializer {onnx.sparse = "coordinates"} dense<[[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]> : tensor<2x3xf32>
  %y = onnx.Identity_16(%w) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

//--- opsets.mlir
// CHECK: opsets.mlir:[[#@LINE+2]]:8: error: 'onnx.Relu_6' op cannot be exported together with 'onnx.Relu_14': in opset 14 of 'ai.onnx', Relu is that of version 13 or newer
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = onnx.Relu_6(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.Relu_14(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}

//--- foreign.mlir
// CHECK: error: 'func.call' op has no form in ONNX
func.func private @f(tensor<2xf32>) -> tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %a : tensor<2xf32>
}

//--- nomain.mlir
// CHECK: error: has no function @main to export
module {}

//--- missing.mlir
// CHECK: error: initializer '{{.*}}': the data of resource 'w' is missing
func.func @main() -> tensor<2xf32> {
  %w = onnx.Initializer dense_resource<w> : tensor<2xf32>
  return %w : tensor<2xf32>
}

//--- type.mlir
// CHECK: error: value 'x': ONNX has no element type for 'i7'
func.func @main(%x: tensor<2xi7> {onnx.name = "x"}) -> tensor<2xi7> {
  return %x : tensor<2xi7>
}
