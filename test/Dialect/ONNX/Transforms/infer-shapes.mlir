// RUN: strata-opt %s --onnx-infer-shapes --split-input-file | FileCheck %s
// RUN: strata-opt %s --onnx-infer-shapes=assume-ranks --split-input-file | FileCheck %s --check-prefix=ASSUMED

// Symbolic names travel with the dimensions, and results become as precise as their operands allow.

// CHECK-LABEL: @names
// CHECK-SAME: -> (tensor<?x3xf32, #onnx.dims<"N", "">> {onnx.name = "y"})
func.func @names(%x: tensor<?x3xf32, #onnx.dims<"N", "">>) -> (tensor<*xf32> {onnx.name = "y"}) {
  // CHECK: onnx.Relu_6({{.*}}) : (tensor<?x3xf32, #onnx.dims<"N", "">>) -> tensor<?x3xf32, #onnx.dims<"N", "">>
  %0 = onnx.Relu_6(%x) : (tensor<?x3xf32, #onnx.dims<"N", "">>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// What the graph declares beyond what is inferred stays, as a checked cast.

// CHECK-LABEL: @declared
// CHECK-SAME: -> tensor<4xf32>
func.func @declared(%x: tensor<?xf32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.*]] = onnx.Exp_13
  // CHECK: %[[C:.*]] = onnx.CastShape %[[Y]] : tensor<?xf32> -> tensor<4xf32>
  // CHECK: return %[[C]]
  %0 = onnx.Exp_13(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = onnx.CastShape %0 : tensor<?xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A declaration that says less than what is inferred goes, also before further operators.

// CHECK-LABEL: @weaker
// CHECK-SAME: -> tensor<4xf32>
func.func @weaker(%x: tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NOT: CastShape
  // CHECK: onnx.Exp_13({{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = onnx.CastShape %x : tensor<4xf32> -> tensor<*xf32>
  %1 = onnx.Exp_13(%0) : (tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// One that says more counts for what follows.

// CHECK-LABEL: @stronger
// CHECK-SAME: -> tensor<4xf32>
func.func @stronger(%x: tensor<*xf32>) -> tensor<*xf32> {
  // CHECK: %[[C:.*]] = onnx.CastShape %{{.*}} : tensor<*xf32> -> tensor<4xf32>
  // CHECK: onnx.Exp_13(%[[C]]) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = onnx.CastShape %x : tensor<*xf32> -> tensor<4xf32>
  %1 = onnx.Exp_13(%0) : (tensor<4xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// The branch that is taken takes the place of an If whose condition is known, here by what an outer If yields.

// CHECK-LABEL: @branches
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<3xf32>) -> tensor<3x2xf32>
func.func @branches(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<*xf32> {
  // CHECK-NOT: onnx.If_25
  // CHECK: %[[T:.*]] = onnx.Transpose_25(%[[X]])
  // CHECK-NEXT: return %[[T]]
  %yes = onnx.Initializer dense<true> : tensor<i1>
  %shape = onnx.If_25(%yes) graph {
    %0 = onnx.Shape_25(%y) : (tensor<3xf32>) -> tensor<1xi64>
    onnx.Yield %0 : tensor<1xi64>
  } graph {
    %0 = onnx.Shape_25(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
    onnx.Yield %0 : tensor<2xi64>
  } : (tensor<i1>) -> tensor<?xi64>
  %size = onnx.Size_25(%shape) : (tensor<?xi64>) -> tensor<i64>
  %two = onnx.Initializer dense<2> : tensor<i64>
  %matrix = onnx.Equal_19(%size, %two) : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %result = onnx.If_25(%matrix) graph {
    onnx.Yield %y : tensor<3xf32>
  } graph {
    %0 = onnx.Transpose_25(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
    onnx.Yield %0 : tensor<3x2xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  return %result : tensor<*xf32>
}

// -----

// What no run reaches may be wrong: the other branch reshapes 6 elements into 5.

// CHECK-LABEL: @dead
func.func @dead(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  // CHECK: onnx.Initializer dense<6> : tensor<1xi64>
  // CHECK-NOT: onnx.Initializer
  // CHECK: return
  %no = onnx.Initializer dense<false> : tensor<i1>
  %six = onnx.Initializer dense<6> : tensor<1xi64>
  %five = onnx.Initializer dense<5> : tensor<1xi64>
  %result = onnx.If_25(%no) graph {
    %0 = onnx.Reshape_25(%x, %six) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
    onnx.Yield %0 : tensor<6xf32>
  } graph {
    %0 = onnx.Reshape_25(%x, %five) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
    onnx.Yield %0 : tensor<6xf32>
  } : (tensor<i1>) -> tensor<6xf32>
  return %result : tensor<6xf32>
}

// -----

// Branches of different ranks: what uses their results moves into both, up to where the ranks agree.

// CHECK-LABEL: @ranks
// CHECK-SAME: -> tensor<?x3xf32>
func.func @ranks(%c: tensor<i1>, %x: tensor<3xf32>, %y: tensor<?x3xf32>) -> tensor<*xf32> {
  // CHECK: %[[R:.*]] = onnx.If_25(%{{.*}}) graph {
  // CHECK:   onnx.Neg_13
  // CHECK:   onnx.Mul_14({{.*}}) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  // CHECK: } graph {
  // CHECK:   onnx.Neg_13
  // CHECK:   onnx.Mul_14({{.*}}) : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  // CHECK: } : (tensor<i1>) -> tensor<?x3xf32>
  // CHECK-NOT: onnx.If_25
  // CHECK: %[[E:.*]] = onnx.Exp_13(%[[R]])
  // CHECK: return %[[E]]
  %0 = onnx.If_25(%c) graph {
    onnx.Yield %y : tensor<?x3xf32>
  } graph {
    onnx.Yield %x : tensor<3xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  %1 = onnx.Neg_13(%0) : (tensor<*xf32>) -> tensor<*xf32>
  %2 = onnx.Mul_14(%1, %y) : (tensor<*xf32>, tensor<?x3xf32>) -> tensor<*xf32>
  %3 = onnx.Exp_13(%2) : (tensor<*xf32>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}

// -----

// What a Squeeze without axes removes is open, unless an axis behind it needs every dimension that may stay.

// CHECK-LABEL: @squeezed
// CHECK-SAME: -> (tensor<*xf32>, tensor<?x1xf32>)
func.func @squeezed(%x: tensor<?x1x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.Squeeze_25(%x) : (tensor<?x1x3xf32>) -> tensor<*xf32>
  // CHECK: onnx.Squeeze_25(%{{.*}}) : (tensor<?x1x3xf32>) -> tensor<?x3xf32>
  %1 = onnx.Squeeze_25(%x) : (tensor<?x1x3xf32>) -> tensor<*xf32>
  %2:3 = onnx.Split_18(%1) {axis = 1 : i64, num_outputs = 3 : i64} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %0, %2#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// With assume-ranks it removes what is known to be 1, unless another rank is declared of what is computed from it.

// CHECK-LABEL: @assumed
// CHECK-SAME: -> (tensor<*xf32>, tensor<f32>)
// ASSUMED-LABEL: @assumed
// ASSUMED-SAME: -> (tensor<?x3xf32, #onnx.dims<"n", "">>, tensor<f32>)
func.func @assumed(%x: tensor<?x1x3xf32, #onnx.dims<"n", "", "">>, %y: tensor<?x1xf32>, %f: tensor<f32>) -> (tensor<*xf32>, tensor<f32>) {
  // ASSUMED: onnx.Squeeze_25(%{{.*}}) : (tensor<?x1x3xf32, #onnx.dims<"n", "", "">>) -> tensor<?x3xf32, #onnx.dims<"n", "">>
  // ASSUMED: onnx.Squeeze_25(%{{.*}}) : (tensor<?x1xf32>) -> tensor<f32>
  %0 = onnx.Squeeze_25(%x) : (tensor<?x1x3xf32, #onnx.dims<"n", "", "">>) -> tensor<*xf32>
  %1 = onnx.Squeeze_25(%y) : (tensor<?x1xf32>) -> tensor<*xf32>
  %2 = onnx.Mul_14(%f, %1) : (tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  %3 = onnx.CastShape %2 : tensor<*xf32> -> tensor<f32>
  return %0, %3 : tensor<*xf32>, tensor<f32>
}

// -----

// A value that a loop makes, but does not read, may start as anything: with assume-ranks it starts with the rank that it
// has, and the run checks that there is an iteration. One element of a region may be a scalar, as it is declared.

// CHECK-LABEL: @unread
// CHECK-SAME: -> tensor<*xf32>
// ASSUMED-LABEL: @unread
// ASSUMED-SAME: -> tensor<?x4xf32>
func.func @unread(%c: tensor<i1>, %x: tensor<?x4xf32>, %start: tensor<f32>) -> tensor<*xf32> {
  %limit = onnx.Initializer dense<9> : tensor<i64>
  // ASSUMED: %[[START:.*]] = onnx.Initializer dense<0.000000e+00> : tensor<0x4xf32>
  // ASSUMED: onnx.Require %{{.*}} is true else "has no iteration, but a result whose rank is that of one" : tensor<i1>
  // ASSUMED: onnx.Loop_25(%{{.*}}, %{{.*}}, %[[START]]) graph
  %0 = onnx.Loop_25(%limit, %c, %start) graph {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %unread: tensor<f32>):
    %one = onnx.Initializer dense<true> : tensor<1xi1>
    %more = onnx.And_7(%go, %one) : (tensor<i1>, tensor<1xi1>) -> tensor<1xi1>
    // ASSUMED: onnx.CastShape %{{.*}} : tensor<1xi1> -> tensor<i1>
    %scalar = onnx.CastShape %more : tensor<1xi1> -> tensor<i1>
    %y = onnx.Relu_14(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    onnx.Yield %scalar, %y : tensor<i1>, tensor<?x4xf32>
  } : (tensor<i64>, tensor<i1>, tensor<f32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// What follows an If may allow one of its branches only: the run checks that it is the one. Ranks of an inner If may differ,
// too.

// CHECK-LABEL: @only
// CHECK-SAME: -> tensor<1x1x?x4xf32
func.func @only(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<?x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>) -> tensor<*xf32> {
  // CHECK: onnx.Require %{{.*}} is false else "takes its then_branch, which what follows does not allow: 'onnx.LSTM_22' op 'X' has rank 4, not 3" : tensor<i1>
  // CHECK: onnx.Require %{{.*}} is true else "takes its else_branch, which what follows does not allow: 'onnx.LSTM_22' op 'X' has rank 2, not 3" : tensor<i1>
  // CHECK-NOT: onnx.If
  // CHECK: onnx.LSTM_22
  // CHECK-NOT: onnx.If
  %axis = onnx.Initializer dense<0> : tensor<1xi64>
  %0 = onnx.If_25(%c) graph {
    %1 = onnx.If_25(%d) graph {
      onnx.Yield %x : tensor<?x3xf32>
    } graph {
      %2 = onnx.Unsqueeze_25(%x, %axis) : (tensor<?x3xf32>, tensor<1xi64>) -> tensor<1x?x3xf32>
      onnx.Yield %2 : tensor<1x?x3xf32>
    } : (tensor<i1>) -> tensor<*xf32>
    onnx.Yield %1 : tensor<*xf32>
  } graph {
    %axes = onnx.Initializer dense<[0, 1]> : tensor<2xi64>
    %1 = onnx.Unsqueeze_25(%x, %axes) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<1x1x?x3xf32>
    onnx.Yield %1 : tensor<1x1x?x3xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  %y, %h, %last = onnx.LSTM_22(%0, %w, %r) {hidden_size = 4 : i64} : (tensor<*xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y : tensor<*xf32>
}

// -----

// The remainder has the divisor's sign, or with fmod the dividend's.

// CHECK-LABEL: @remainders
func.func @remainders() -> (tensor<4xi64>, tensor<4xi64>) {
  // CHECK-DAG: %[[A:.*]] = onnx.Initializer dense<[1, 2, -2, -1]> : tensor<4xi64>
  // CHECK-DAG: %[[B:.*]] = onnx.Initializer dense<[1, -1, 1, -1]> : tensor<4xi64>
  // CHECK: return %[[A]], %[[B]]
  %x = onnx.Initializer dense<[7, -7, 7, -7]> : tensor<4xi64>
  %y = onnx.Initializer dense<[3, 3, -3, -3]> : tensor<4xi64>
  %0 = onnx.Mod_28(%x, %y) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %1 = onnx.Mod_28(%x, %y) {fmod = 1 : i64} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %0, %1 : tensor<4xi64>, tensor<4xi64>
}
