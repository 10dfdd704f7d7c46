// RUN: strata-opt %s | strata-opt | FileCheck %s
// RUN: strata-opt %s --emit-bytecode | strata-opt | FileCheck %s

// Every element type of ONNX, and the types that are no tensors.

// CHECK: @elements(tensor<2xf16>, tensor<2xf32>, tensor<2xf64>, tensor<2xbf16>,
// CHECK-SAME: tensor<2xf8E4M3FN>, tensor<2xf8E4M3FNUZ>, tensor<2xf8E5M2>, tensor<2xf8E5M2FNUZ>,
// CHECK-SAME: tensor<2x!onnx.f8E8M0>, tensor<2x!onnx.f6E2M3>, tensor<2x!onnx.f6E3M2>, tensor<2x!onnx.f4E2M1>,
// CHECK-SAME: tensor<2xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2xi64>, tensor<2xui8>, tensor<2xui16>, tensor<2xui32>, tensor<2xui64>,
// CHECK-SAME: tensor<2xi4>, tensor<2xui4>, tensor<2xi2>, tensor<2xui2>, tensor<2xi1>, tensor<2x!onnx.string>,
// CHECK-SAME: tensor<2xcomplex<f32>>, tensor<2xcomplex<f64>>)
func.func private @elements(
    tensor<2xf16>, tensor<2xf32>, tensor<2xf64>, tensor<2xbf16>,
    tensor<2xf8E4M3FN>, tensor<2xf8E4M3FNUZ>, tensor<2xf8E5M2>, tensor<2xf8E5M2FNUZ>,
    tensor<2x!onnx.f8E8M0>, tensor<2x!onnx.f6E2M3>, tensor<2x!onnx.f6E3M2>, tensor<2x!onnx.f4E2M1>,
    tensor<2xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2xi64>, tensor<2xui8>, tensor<2xui16>, tensor<2xui32>, tensor<2xui64>,
    tensor<2xi4>, tensor<2xui4>, tensor<2xi2>, tensor<2xui2>, tensor<2xi1>, tensor<2x!onnx.string>,
    tensor<2xcomplex<f32>>, tensor<2xcomplex<f64>>)

// CHECK: @others(!onnx.seq<tensor<?xf32>>, !onnx.optional<!onnx.seq<tensor<*xi64>>>, !onnx.map<!onnx.string, f32>,
// CHECK-SAME: !onnx.sparse_tensor<tensor<3x4xf32>>, tensor<?x?x768xf32, #onnx.dims<"batch", "seq", "">>)
func.func private @others(
    !onnx.seq<tensor<?xf32>>, !onnx.optional<!onnx.seq<tensor<*xi64>>>, !onnx.map<!onnx.string, f32>,
    !onnx.sparse_tensor<tensor<3x4xf32>>, tensor<?x?x768xf32, #onnx.dims<"batch", "seq", "">>)

// CHECK-LABEL: @constants
func.func @constants() {
  // CHECK: onnx.Initializer dense<[1, -2]> : tensor<2xi4>
  %0 = onnx.Initializer dense<[1, -2]> : tensor<2xi4>
  // CHECK: onnx.Initializer dense_resource<eight> : tensor<2x!onnx.f8E8M0>
  %1 = onnx.Initializer dense_resource<eight> : tensor<2x!onnx.f8E8M0>
  // CHECK: onnx.Initializer dense<["a", "b c"]> : tensor<2x!onnx.string>
  %2 = onnx.Initializer dense<["a", "b c"]> : tensor<2x!onnx.string>
  return
}

{-#
  dialect_resources: {
    builtin: {
      eight: "0x010000007F80"
    }
  }
#-}
