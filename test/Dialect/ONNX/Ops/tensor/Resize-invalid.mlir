// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --verify-diagnostics

func.func @scales(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %b = onnx.Initializer dense<2.0> : tensor<1xf32>
  // expected-error @below {{has 1 scales for 2 axes}}
  %y = onnx.Resize_19(%x, none, %b) : (tensor<2x3xf32>, none, tensor<1xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @sizes(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %c = onnx.Initializer dense<4> : tensor<1xi64>
  // expected-error @below {{has 1 sizes for 2 axes}}
  %y = onnx.Resize_19(%x, none, none, %c) : (tensor<2x3xf32>, none, none, tensor<1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @scale(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %b = onnx.Initializer dense<-2.0> : tensor<2xf32>
  // expected-error @below {{has the scale -2}}
  %y = onnx.Resize_19(%x, none, %b) : (tensor<2x3xf32>, none, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @renamed(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<> : tensor<0xf32>
  %b = onnx.Initializer dense<2.0> : tensor<2xf32>
  // expected-error @below {{cannot be upgraded to version 13: tf_half_pixel_for_nn is no longer there, and only the nearest element rounded down has another name}}
  %y = onnx.Resize_11(%x, %a, %b) {coordinate_transformation_mode = "tf_half_pixel_for_nn", mode = "linear"} : (tensor<2x3xf32>, tensor<0xf32>, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @mode(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %b = onnx.Initializer dense<2.0> : tensor<2xf32>
  // expected-error @below {{attribute 'mode' has the unknown value 'sharp'; it must be 'nearest', 'linear' or 'cubic'}}
  %y = onnx.Resize_19(%x, none, %b) {mode = "sharp"} : (tensor<2x3xf32>, none, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @strings(%x: tensor<2x3x!onnx.string>) -> tensor<4x6x!onnx.string> {
  %c = onnx.Initializer dense<2.0> : tensor<2xf32>
  // expected-error @below {{cannot be compiled: it interpolates strings}}
  %y = onnx.Resize_19(%x, none, %c) {mode = "linear"} : (tensor<2x3x!onnx.string>, none, tensor<2xf32>) -> tensor<4x6x!onnx.string>
  return %y : tensor<4x6x!onnx.string>
}

// -----

func.func @neither(%x: tensor<2x3xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{needs either scales or sizes}}
  %y = onnx.Resize_19(%x) : (tensor<2x3xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

func.func @region(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %b = onnx.Initializer dense<2.0> : tensor<2xf32>
  // expected-error @below {{needs a region of interest for tf_crop_and_resize}}
  %y = onnx.Resize_19(%x, none, %b) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<2x3xf32>, none, tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
