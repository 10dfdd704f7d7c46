// RUN: strata-opt %s --onnx-infer-shapes --split-input-file | FileCheck %s --check-prefix=SHAPES
// RUN: strata-opt %s --onnx-infer-shapes --convert-onnx-to-linalg --split-input-file | FileCheck %s

// The size comes from the image; the number of channels from the pixel format, RGB if there is none.
// SHAPES-LABEL: @rgb
// SHAPES: onnx.ImageDecoder_20({{.*}} -> tensor<?x?x3xui8>
// CHECK-DAG: func.func private @[[OPEN:strata_rt_image_open_.*]](tensor<?xi8>) -> i64 attributes {{{.*}}strata.symbol = "strata_rt_image_open"}
// CHECK-DAG: func.func private @[[SIZE:strata_rt_image_size_.*]](i64, i64) -> i64
// CHECK-DAG: func.func private @[[PIXELS:strata_rt_image_pixels_.*]](i64, i64, memref<?x?x?xi8>)
// CHECK-LABEL: @rgb
// CHECK-SAME: %[[X:.*]]: tensor<?xi8>
// CHECK: %[[IMAGE:.*]] = call @[[OPEN]](%[[X]])
// CHECK: call @[[SIZE]](%[[IMAGE]], %{{.*}})
// CHECK: call @[[SIZE]](%[[IMAGE]], %{{.*}})
// CHECK: %[[BUFFER:.*]] = memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?x3xi8>
// CHECK: call @[[PIXELS]](%[[IMAGE]], %{{.*}})
// CHECK: bufferization.to_tensor %[[BUFFER]]
func.func @rgb(%x: tensor<?xui8>) -> tensor<*xui8> {
  %0 = onnx.ImageDecoder_20(%x) : (tensor<?xui8>) -> tensor<*xui8>
  return %0 : tensor<*xui8>
}

// -----

// SHAPES-LABEL: @gray
// SHAPES: -> tensor<?x?x1xui8>
// CHECK-LABEL: @gray
// CHECK: memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?x1xi8>
// CHECK: %[[GRAY:.*]] = arith.constant 2 : i64
// CHECK: call @strata_rt_image_pixels_{{.*}}(%{{[^,]*}}, %[[GRAY]],
func.func @gray(%x: tensor<100xui8>) -> tensor<*xui8> {
  %0 = onnx.ImageDecoder_20(%x) {pixel_format = "Grayscale"} : (tensor<100xui8>) -> tensor<*xui8>
  return %0 : tensor<*xui8>
}

// -----

// A declared size is checked.
// SHAPES-LABEL: @sized
// CHECK-LABEL: @sized
// CHECK: cf.assert {{.*}}32
func.func @sized(%x: tensor<?xui8>) -> tensor<32x?x3xui8> {
  %0 = onnx.ImageDecoder_20(%x) {pixel_format = "BGR"} : (tensor<?xui8>) -> tensor<32x?x3xui8>
  return %0 : tensor<32x?x3xui8>
}
