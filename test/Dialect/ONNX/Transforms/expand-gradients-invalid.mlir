// Locations are the names of nodes and values here, so the messages are compared as text.
// RUN: not strata-opt %s --onnx-expand-gradients --split-input-file 2>&1 | FileCheck %s

func.func @rule(%a: tensor<3xf32> {onnx.name = "a"}) -> tensor<3xf32> {
  // CHECK: error: {{.*}}'onnx.CumProd_26' op cannot be differentiated: there is no rule for this operator
  %i = onnx.Constant_25() {value_int = 0 : i64} : () -> tensor<i64>
  %y = onnx.CumProd_26(%a, %i) : (tensor<3xf32>, tensor<i64>) -> tensor<3xf32> loc("c"("y"))
  %d = onnx.training.Gradient_1(%a) {xs = ["a"], y = "y"} : (tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// -----

func.func @name(%a: tensor<3xf32> {onnx.name = "a"}) -> tensor<3xf32> {
  // CHECK: error: {{.*}}cannot be compiled: no value before it is named 'y'
  %d = onnx.training.Gradient_1(%a) {xs = ["a"], y = "y"} : (tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// -----

func.func @inputs(%a: tensor<3xf32> {onnx.name = "a"}) -> tensor<3xf32> {
  // CHECK: error: {{.*}}has 2 inputs for 1 names in xs and zs
  %d = onnx.training.Gradient_1(%a, %a) {xs = ["a"], y = "a"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// -----

func.func @broadcast(%a: tensor<?xf32> {onnx.name = "a"}, %b: tensor<?xf32> {onnx.name = "b"}) -> tensor<?xf32> {
  // CHECK: error: {{.*}}cannot be differentiated: only the run tells whether dimension 0 of an operand is broadcast
  %y = onnx.Add_14(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> loc("m"("y"))
  %d = onnx.training.Gradient_1(%a) {xs = ["a"], y = "y"} : (tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}
