// Seeds of a session and of a node, from the JIT and from a compiled file; test/Specifications/philox.py gives these
// numbers.

// RUN: strata-run %s --seed=7 | FileCheck %s --check-prefixes=SEVEN,NODE
// RUN: strata-run %s --seed=7 --advance-seeds -O0 | FileCheck %s --check-prefixes=SEVEN,NODE
// RUN: strata-run %s --seed=8 | FileCheck %s --check-prefixes=EIGHT,NODE
// RUN: strata-compile %s -o %t.so
// RUN: strata-run %t.so --seed=7 | FileCheck %s --check-prefixes=SEVEN,NODE
// SEVEN: output 'free': float[4] [0.74922216, 0.13299826, 0.31151339, 0.47038698]
// EIGHT: output 'free': float[4] [0.34272921, 0.37976226, 0.34892827, 0.78642476]
// NODE: output 'fixed': float[4] [0.44728893, 0.25139362, 0.92607379, 0.028329307]

// Another seed for each session.
// RUN: strata-run %s | grep free > %t.1
// RUN: strata-run %s | grep free > %t.2
// RUN: not diff %t.1 %t.2
func.func @main() -> (tensor<4xf32> {onnx.name = "free"}, tensor<4xf32> {onnx.name = "fixed"}) {
  %0 = onnx.RandomUniform_22() {shape = array<i64: 4>} : () -> tensor<4xf32>
  %1 = onnx.RandomUniform_1() {shape = array<i64: 4>, seed = 1.0 : f32} : () -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
