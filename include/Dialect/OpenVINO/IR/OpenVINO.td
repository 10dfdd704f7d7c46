//===- OpenVINO.td - operators of OpenVINO ----------------------*- tablegen -*-===//

#ifndef STRATA_DIALECT_OPENVINO_IR_OPENVINO_TD
#define STRATA_DIALECT_OPENVINO_IR_OPENVINO_TD

include "Dialect/ONNX/IR/ONNXTypeSets.td"

def OpenVINO_Dialect : Dialect {
  let name = "ov";
  let dependentDialects = ["::strata::onnx::ONNXDialect"];
  let cppNamespace = "::strata::ov";
  let summary = "OpenVINO operators that ONNX models carry";
  let description = "Imported from nodes of the domain `org.openvinotoolkit`.";
}

def OV_Numeric : Onnx_TypeSet<[E_float16, E_float, E_double, E_bfloat16, E_float8e4m3fn, E_float8e5m2, E_int8, E_int16,
                               E_int32, E_int64, E_uint8, E_uint16, E_uint32, E_uint64, E_int4, E_uint4]>;

def OV_Range_4Op : VersionedOp<OpenVINO_Dialect, "org.openvinotoolkit", "", "Range", 4, [Pure]> {
  let description = [{
    start, start + step, ... up to stop, exclusive. The inputs are scalars of numeric types, not necessarily the same;
    `output_type` is OpenVINO's name of the result's element type.

    ```mlir
    %y = ov.Range_4(%start, %stop, %step) {output_type = "i32"}
        : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi32>
    ```
  }];
  let signature = "(start:T1, stop:T2, step:T3) -> (output:output_type)";
  let arguments = (ins OV_Numeric:$start, OV_Numeric:$stop, OV_Numeric:$step, StrAttr:$output_type);
  let results = (outs OV_Numeric:$output);
}

#endif // STRATA_DIALECT_OPENVINO_IR_OPENVINO_TD
