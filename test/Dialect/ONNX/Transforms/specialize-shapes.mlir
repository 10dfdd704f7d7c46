// RUN: strata-opt %s -split-input-file --onnx-specialize-shapes=sizes=batch=2,seq=7 | FileCheck %s
// RUN: strata-opt %s -split-input-file --onnx-specialize-shapes=sizes=seq=7 --onnx-infer-shapes | FileCheck %s --check-prefix=SOME

// Every dimension of that name gets the size; shape inference finds what follows from it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<2x?x7xf32, #onnx.dims<"", "other", "">>, %{{.*}}: !onnx.seq<tensor<?xf32>>
// SOME-LABEL: func.func @main
// SOME-SAME: %[[X:.*]]: tensor<?x3xf32, #onnx.dims<"batch", "">>, %[[Y:.*]]: tensor<?x?x7xf32, #onnx.dims<"batch", "other", "">>
// SOME: onnx.Relu_14(%[[Y]]) : {{.*}} -> tensor<?x?x7xf32, #onnx.dims<"batch", "other", "">>
func.func @main(%x: tensor<?x3xf32, #onnx.dims<"batch", "">>,
                %y: tensor<?x?x?xf32, #onnx.dims<"batch", "other", "seq">>, %z: !onnx.seq<tensor<?xf32>>)
    -> (tensor<?x3xf32>, tensor<?x?x?xf32>) {
  %0 = onnx.Relu_14(%x) : (tensor<?x3xf32, #onnx.dims<"batch", "">>) -> tensor<?x3xf32>
  %1 = onnx.Relu_14(%y) : (tensor<?x?x?xf32, #onnx.dims<"batch", "other", "seq">>) -> tensor<?x?x?xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x?x?xf32>
}
