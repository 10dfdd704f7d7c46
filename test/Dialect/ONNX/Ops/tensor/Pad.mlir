// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes | FileCheck %s
// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --onnx-upgrade-opset --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s --check-prefix=LOWER

// Attributes become inputs.
// CHECK-LABEL: @oldest
// CHECK: %[[PADS:.*]] = onnx.Initializer dense<[1, 0, 0, 2]>
// CHECK: onnx.Pad_25(%{{.*}}, %[[PADS]], %{{.*}}) : {{.*}} -> tensor<3x5xf32>
// LOWER-LABEL: @oldest
// LOWER: tensor.pad %{{.*}} low[1, 0] high[0, 2]
func.func @oldest(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %y = onnx.Pad_1(%x) {paddings = array<i64: 1, 0, 0, 2>, value = 2.0 : f32} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The data are copied; in front of them and behind them, elements are read again, by their reflected index.
// LOWER-LABEL: @reflect
// LOWER-SAME: (%[[X:[a-z0-9]+]]
// LOWER: %[[COPY:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[2]
// LOWER: %[[FRONT:.*]] = linalg.generic
// LOWER:   tensor.extract %[[X]]
// LOWER: %[[BEFORE:.*]] = tensor.insert_slice %[[FRONT]] into %[[COPY]][0] [2]
// LOWER: %[[BEHIND:.*]] = linalg.generic
// LOWER:   tensor.extract %[[X]]
// LOWER: tensor.insert_slice %[[BEHIND]] into %[[BEFORE]][%{{.*}}] [1]
// Rows above and below are as long as the data, which takes no index of their columns; what is left and right of them
// is as high as the result. Dimensions without pads have no borders.
// LOWER-LABEL: @images
// LOWER-COUNT-2: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x1x6xf32>)
// LOWER:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x7x2xf32>)
// LOWER-NOT: linalg.generic
// LOWER: return
func.func @reflect(%x: tensor<?xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<[2, 1]> : tensor<2xi64>
  %y = onnx.Pad_25(%x, %a) {mode = "reflect"} : (tensor<?xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
func.func @images(%x: tensor<4x5x6xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<[0, 1, 2, 0, 1, 0]> : tensor<6xi64>
  %y = onnx.Pad_25(%x, %a) {mode = "edge"} : (tensor<4x5x6xf32>, tensor<6xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Negative amounts crop.
// CHECK-LABEL: @one_axis
// CHECK: -> tensor<2x1xf32>
// LOWER-LABEL: @one_axis
// LOWER: tensor.extract_slice %{{.*}}[0, 1] [2, 1] [1, 1]
func.func @one_axis(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = onnx.Initializer dense<-1> : tensor<2xi64>
  %c = onnx.Initializer dense<1> : tensor<1xi64>
  %y = onnx.Pad_25(%x, %a, none, %c) : (tensor<2x3xf32>, tensor<2xi64>, none, tensor<1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
