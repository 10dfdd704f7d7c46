// RUN: strata-opt %s --split-input-file --verify-diagnostics --onnx-infer-shapes

func.func @rank(%s: tensor<3xf32>, %l: tensor<3xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{needs scores of rank at least 2, not 1}}
  %0 = onnx.SoftmaxCrossEntropyLoss_13(%s, %l) : (tensor<3xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @labels(%s: tensor<3x5xf32>, %l: tensor<3x5xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{has labels of rank 2 for scores of rank 2}}
  %0 = onnx.SoftmaxCrossEntropyLoss_13(%s, %l) : (tensor<3x5xf32>, tensor<3x5xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @sizes(%s: tensor<3x5x4xf32>, %l: tensor<3x6xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{has labels of size 6 in dimension 1, where the scores have 4}}
  %0 = onnx.NegativeLogLikelihoodLoss_22(%s, %l) : (tensor<3x5x4xf32>, tensor<3x6xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @weights(%s: tensor<3x5xf32>, %l: tensor<3xi64>, %w: tensor<5x1xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{has weights of rank 2, not 1}}
  %0 = onnx.NegativeLogLikelihoodLoss_22(%s, %l, %w) : (tensor<3x5xf32>, tensor<3xi64>, tensor<5x1xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
