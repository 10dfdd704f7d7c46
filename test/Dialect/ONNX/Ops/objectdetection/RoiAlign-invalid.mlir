// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --verify-diagnostics

func.func @mode(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x4xf32>, %batch: tensor<5xi64>) {
  // expected-error @+1 {{'mode' is 'sum', not avg or max}}
  %0 = onnx.RoiAlign_22(%x, %rois, %batch) {mode = "sum"} : (tensor<2x3x8x9xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @coordinates(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x4xf32>, %batch: tensor<5xi64>) {
  // expected-error @+1 {{'coordinate_transformation_mode' is 'asymmetric', not half_pixel or output_half_pixel}}
  %0 = onnx.RoiAlign_22(%x, %rois, %batch) {coordinate_transformation_mode = "asymmetric"} : (tensor<2x3x8x9xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @size(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x4xf32>, %batch: tensor<5xi64>) {
  // expected-error @+1 {{'output_width' is 0, less than 1}}
  %0 = onnx.RoiAlign_22(%x, %rois, %batch) {output_width = 0 : i64} : (tensor<2x3x8x9xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @regions(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x5xf32>, %batch: tensor<5xi64>) {
  // expected-error @+1 {{has regions of 5 numbers, not 4}}
  %0 = onnx.RoiAlign_22(%x, %rois, %batch) : (tensor<2x3x8x9xf32>, tensor<5x5xf32>, tensor<5xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @rank(%x: tensor<3x8x9xf32>, %rois: tensor<5x4xf32>, %batch: tensor<5xi64>) {
  // expected-error @+1 {{needs an input of rank 4, not 3}}
  %0 = onnx.RoiAlign_22(%x, %rois, %batch) : (tensor<3x8x9xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @region_rank(%x: tensor<2x3x8x9xf32>, %rois: tensor<5xf32>, %batch: tensor<5xi64>) {
  // expected-error @+1 {{needs regions of rank 2, not 1}}
  %0 = onnx.RoiAlign_22(%x, %rois, %batch) : (tensor<2x3x8x9xf32>, tensor<5xf32>, tensor<5xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @indices(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x4xf32>, %batch: tensor<6xi64>) {
  // expected-error @+1 {{has 5 regions, but 6 batch indices}}
  %0 = onnx.RoiAlign_22(%x, %rois, %batch) : (tensor<2x3x8x9xf32>, tensor<5x4xf32>, tensor<6xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @pooled(%x: tensor<2x3x8x9xf32>, %rois: tensor<5x5xf32>) {
  // expected-error @+1 {{'pooled_shape' is not two positive numbers}}
  %0 = onnx.MaxRoiPool_22(%x, %rois) {pooled_shape = array<i64: 2>} : (tensor<2x3x8x9xf32>, tensor<5x5xf32>) -> tensor<*xf32>
  return
}
