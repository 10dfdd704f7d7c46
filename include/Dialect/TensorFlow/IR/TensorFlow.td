//===- TensorFlow.td - operators of TensorFlow ------------------*- tablegen -*-===//

#ifndef STRATA_DIALECT_TENSORFLOW_IR_TENSORFLOW_TD
#define STRATA_DIALECT_TENSORFLOW_IR_TENSORFLOW_TD

include "Dialect/ONNX/IR/ONNXTypeSets.td"

def TensorFlow_Dialect : Dialect {
  let name = "tf";
  let dependentDialects = ["::strata::onnx::ONNXDialect"];
  let cppNamespace = "::strata::tf";
  let summary = "TensorFlow operators that ONNX models carry";
  let description = [{
    Imported from nodes of the domain `ai.onnx.converters.tensorflow`. Quantised types are the integers that hold them:
    qint8 is `i8`, quint8 `ui8`, qint16 `i16`, quint16 `ui16`, qint32 `i32`.
  }];
}

def TF_QuantizedTensor : Onnx_TypeSet<[E_int8, E_int16, E_int32, E_uint8, E_uint16]>;
def TF_FloatTensor : Onnx_TypeSet<[E_float]>;
def TF_DequantizedTensor : Onnx_TypeSet<[E_float, E_bfloat16]>;

def TF_Dequantize_1Op : VersionedOp<TensorFlow_Dialect, "ai.onnx.converters.tensorflow", "", "Dequantize", 1, [Pure]> {
  let description = [{
    Maps quantised values back to `[min_range, max_range]`. `mode` is MIN_COMBINED, MIN_FIRST or SCALED; `axis` -1 (or
    less) means one range for the whole tensor, otherwise one per slice along `axis`; `dtype` is 1 (float) or 16
    (bfloat16), as TensorProto.DataType numbers them.

    ```mlir
    %y = tf.Dequantize_1(%x, %min, %max) {mode = "SCALED"}
        : (tensor<4xui8>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let signature = "(input:T, min_range:tensor(float), max_range:tensor(float)) -> (output:dtype)";
  let arguments = (ins TF_QuantizedTensor:$input, TF_FloatTensor:$min_range, TF_FloatTensor:$max_range,
                       DefaultValuedOptionalStrAttr<StrAttr, "MIN_COMBINED">:$mode,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$narrow_range,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$axis,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$dtype);
  let results = (outs TF_DequantizedTensor:$output);
}

#endif // STRATA_DIALECT_TENSORFLOW_IR_TENSORFLOW_TD
