// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @direction(%0: tensor<5x1x3xf32>, %1: tensor<1x12x3xf32>, %2: tensor<1x12x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'direction' is 'up', not forward, reverse or bidirectional}}
  %y = onnx.GRU_22(%0, %1, %2) {direction = "up"} : (tensor<5x1x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @activations(%0: tensor<5x1x3xf32>, %1: tensor<1x12x3xf32>, %2: tensor<1x12x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'activations' has 1 functions, not 2}}
  %y = onnx.GRU_22(%0, %1, %2) {activations = ["Tanh"]} : (tensor<5x1x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @layout(%0: tensor<5x1x3xf32>, %1: tensor<1x12x3xf32>, %2: tensor<1x12x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'layout' is 2, but must be 0 or 1}}
  %y = onnx.GRU_22(%0, %1, %2) {layout = 2 : i64} : (tensor<5x1x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank_of_state(%0: tensor<5x1x3xf32>, %1: tensor<1x16x3xf32>, %2: tensor<1x16x4xf32>, %3: tensor<1x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'initial_h' has rank 2, not 3}}
  %y = onnx.LSTM_22(%0, %1, %2, none, none, %3) {hidden_size = 4 : i64} : (tensor<5x1x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, none, tensor<1x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rank(%0: tensor<5x3xf32>, %1: tensor<1x12x3xf32>, %2: tensor<1x12x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has rank 2, not 3}}
  %y = onnx.GRU_22(%0, %1, %2) {hidden_size = 4 : i64} : (tensor<5x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @hidden(%0: tensor<5x1x3xf32>, %1: tensor<1x12x3xf32>, %2: tensor<1x12x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'hidden_size' is 5, but 'R' has 4}}
  %y = onnx.GRU_22(%0, %1, %2) {hidden_size = 5 : i64} : (tensor<5x1x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @directions(%0: tensor<5x1x3xf32>, %1: tensor<1x12x3xf32>, %2: tensor<1x12x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'W' has 1 directions, not 2}}
  %y = onnx.GRU_22(%0, %1, %2) {direction = "bidirectional"} : (tensor<5x1x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @rows(%0: tensor<5x1x3xf32>, %1: tensor<1x12x3xf32>, %2: tensor<1x16x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'R' has 16 rows, not 12}}
  %y = onnx.GRU_22(%0, %1, %2) {hidden_size = 4 : i64} : (tensor<5x1x3xf32>, tensor<1x12x3xf32>, tensor<1x16x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @features(%0: tensor<5x1x7xf32>, %1: tensor<1x12x3xf32>, %2: tensor<1x12x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'X' has 7 features, but 'W' reads 3}}
  %y = onnx.GRU_22(%0, %1, %2) {hidden_size = 4 : i64} : (tensor<5x1x7xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @function(%0: tensor<5x1x3xf32>, %1: tensor<1x12x3xf32>, %2: tensor<1x12x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{'activations' has the unknown function 'Cube', not Tanh, Sigmoid}}
  %y = onnx.GRU_22(%0, %1, %2) {activations = ["Cube", "Tanh"]} : (tensor<5x1x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
