//===- ONNXDialect.td - the onnx dialect -----------------------*- tablegen -*-===//

#ifndef STRATA_DIALECT_ONNX_IR_ONNXDIALECT_TD
#define STRATA_DIALECT_ONNX_IR_ONNXDIALECT_TD

include "mlir/IR/DialectBase.td"

def ONNX_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::strata::onnx";
  let summary = "Every operator of ONNX at every version";
  let description = [{
    `onnx.Conv_11` is ONNX's Conv as opset 11 defines it; a name never changes its meaning. Operators of the other ONNX
    domains carry a prefix: `onnx.ml.LabelEncoder_4`, `onnx.training.Adam_1`, `onnx.preview.FlexAttention_1`.

    Signless integers are ONNX's signed ones (`i8` is int8), `ui8` is uint8, `i1` is bool. Operands and results that are
    absent print as `none`:

    ```mlir
    %y = onnx.Clip_13(%x, none, %max) : (tensor<4xf32>, none, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
#define ONNX_FAMILY(name) void register_##name();
#include "Dialect/ONNX/IR/ONNXFamilies.def"
  }];
}

#endif // STRATA_DIALECT_ONNX_IR_ONNXDIALECT_TD
