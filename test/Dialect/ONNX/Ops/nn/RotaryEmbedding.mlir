// RUN: strata-opt %s --split-input-file --onnx-infer-shapes --convert-onnx-to-linalg --canonicalize | FileCheck %s

// Rows of the caches by position, which is checked once; the halves of each head are a pair. The first is where it goes
// before the second is computed: so both are computed in place.
// CHECK-LABEL: @rows
// CHECK: tensor.expand_shape {{.*}} : tensor<2x3x8xf32> into tensor<2x3x2x4xf32>
// CHECK: arith.cmpi ult
// CHECK: cf.assert %{{.*}}, "a position is out of range of the cosine and sine caches"
// CHECK-COUNT-2: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x2xf32>)
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [2, 3, 2, 2] [1, 1, 1, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 2] [2, 3, 2, 2] [1, 1, 1, 1]
// CHECK: %[[WHOLE:.*]] = tensor.empty() : tensor<2x3x2x4xf32>
// CHECK: arith.subf
// CHECK: %[[HALF:.*]] = tensor.insert_slice %{{.*}} into %[[WHOLE]]
// CHECK: arith.addf
// CHECK: tensor.insert_slice %{{.*}} into %[[HALF]]
// CHECK: tensor.collapse_shape {{.*}} into tensor<2x3x8xf32>
func.func @rows(%0: tensor<2x3x8xf32>, %1: tensor<50x2xf32>, %2: tensor<50x2xf32>, %3: tensor<2x3xi64>) -> tensor<2x3x8xf32> {
  %y = onnx.RotaryEmbedding_23(%0, %1, %2, %3) {num_heads = 2 : i64} : (tensor<2x3x8xf32>, tensor<50x2xf32>, tensor<50x2xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// -----

// Neighbours are a pair; what is behind the rotated part stays.
// CHECK-LABEL: @interleaved
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [2, 2, 3, 3] [1, 1, 1, 2]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 1] [2, 2, 3, 3] [1, 1, 1, 2]
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: tensor.insert_slice %{{.*}} into %arg0[0, 0, 0, 0] [2, 2, 3, 3] [1, 1, 1, 2]
// CHECK: tensor.insert_slice %{{.*}}[0, 0, 0, 1] [2, 2, 3, 3] [1, 1, 1, 2]
func.func @interleaved(%0: tensor<2x2x3x8xf16>, %1: tensor<2x3x3xf16>, %2: tensor<2x3x3xf16>) -> tensor<2x2x3x8xf16> {
  %y = onnx.RotaryEmbedding_23(%0, %1, %2) {interleaved = 1 : i64, rotary_embedding_dim = 6 : i64} : (tensor<2x2x3x8xf16>, tensor<2x3x3xf16>, tensor<2x3x3xf16>) -> tensor<2x2x3x8xf16>
  return %y : tensor<2x2x3x8xf16>
}
