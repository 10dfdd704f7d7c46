//===- ONNXOps.td - ops of the onnx dialect that are no operators ----------===//

#ifndef STRATA_DIALECT_ONNX_IR_ONNXOPS_TD
#define STRATA_DIALECT_ONNX_IR_ONNXOPS_TD

include "Dialect/ONNX/IR/ONNXTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Onnx_InitializerOp : Op<ONNX_Dialect, "Initializer", [Pure, ConstantLike, AllTypesMatch<["value", "output"]>]> {
  let summary = "a constant of the graph: an initializer, or the result of folding";
  let description = [{
    Large values are resource handles, so that weights are not printed and not copied.
    ```mlir
    %w = onnx.Initializer dense_resource<w> : tensor<64x3x7x7xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{ build($_builder, $_state, value.getType(), value); }]>];
}

def Onnx_YieldOp : Op<ONNX_Dialect, "Yield", [Pure, ReturnLike, Terminator]> {
  let summary = "ends the body of a graph attribute with the graph's outputs";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ }]>];
}

def Onnx_CustomOp : Op<ONNX_Dialect, "Custom", []> {
  let summary = "an operator of a domain that Strata does not know";
  let description = [{
    Kept as it is; compiling it needs a plugin that lowers it. Absent optional inputs are marked in `present` (one flag per
    formal input of the node). The node's attributes are in `node_attributes`.
  }];
  let arguments = (ins StrAttr:$domain, StrAttr:$op_type, OptionalAttr<I64Attr>:$opset,
                       OptionalAttr<DictionaryAttr>:$node_attributes, OptionalAttr<DenseBoolArrayAttr>:$present,
                       Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<AnyRegion>:$graphs);
  let assemblyFormat = "$domain $op_type `(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $outputs) ($graphs^)?";
}

def Onnx_RequireOp : Op<ONNX_Dialect, "Require", []> {
  let summary = "a condition whose value the operators behind it need";
  let description = [{
    Takes the place of an If only one of whose branches can be followed by what follows it. If the condition, a tensor with
    one element, is another one at run time, the run fails with the message.
  }];
  let arguments = (ins AnyType:$condition, BoolAttr:$value, StrAttr:$message);
  let assemblyFormat = "$condition `is` $value `else` $message attr-dict `:` type($condition)";
}

def Onnx_CastShapeOp : Op<ONNX_Dialect, "CastShape", [Pure]> {
  let summary = "the same value under a type of other static knowledge (rank, sizes, symbolic names)";
  let description = [{
    Inserted where a refined type meets a fixed one (a graph's declared output). If a size that the result type fixes
    differs at run time, the run fails.
  }];
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasFolder = 1;
}

#endif // STRATA_DIALECT_ONNX_IR_ONNXOPS_TD
