//===- ONNXTypes.td - types, attributes and type sets of onnx --*- tablegen -*-===//

#ifndef STRATA_DIALECT_ONNX_IR_ONNXTYPES_TD
#define STRATA_DIALECT_ONNX_IR_ONNXTYPES_TD

include "Dialect/VersionedOp.td"
include "Dialect/ONNX/IR/ONNXDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Onnx_Type<string name, string keyword, list<Trait> traits = []> : TypeDef<ONNX_Dialect, name, traits> {
  let mnemonic = keyword;
}

// Element types that MLIR 19 lacks. Constants hold one byte per element.
def Onnx_F4E2M1Type : Onnx_Type<"F4E2M1", "f4E2M1", [MemRefElementTypeInterface]> {
  let summary = "float4e2m1: sign, 2 exponent bits (bias 1), 1 mantissa bit; no infinity, no NaN";
}
def Onnx_F6E2M3Type : Onnx_Type<"F6E2M3", "f6E2M3", [MemRefElementTypeInterface]> {
  let summary = "float6e2m3: sign, 2 exponent bits (bias 1), 3 mantissa bits; no infinity, no NaN";
}
def Onnx_F6E3M2Type : Onnx_Type<"F6E3M2", "f6E3M2", [MemRefElementTypeInterface]> {
  let summary = "float6e3m2: sign, 3 exponent bits (bias 3), 2 mantissa bits; no infinity, no NaN";
}
def Onnx_F8E8M0Type : Onnx_Type<"F8E8M0", "f8E8M0", [MemRefElementTypeInterface]> {
  let summary = "float8e8m0: unsigned power of two 2^(e-127); 255 is NaN, no zero";
}
def Onnx_StringType : Onnx_Type<"String", "string", [MemRefElementTypeInterface]> {
  let summary = "UTF-8 string, an element type";
}
def Onnx_SeqType : Onnx_Type<"Seq", "seq"> {
  let summary = "sequence of values of one type";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}
def Onnx_OptionalType : Onnx_Type<"Optional", "optional"> {
  let summary = "a value of the type, or nothing";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}
def Onnx_MapType : Onnx_Type<"Map", "map"> {
  let summary = "map from int64 or string to a scalar type or tensor";
  let parameters = (ins "::mlir::Type":$key, "::mlir::Type":$value);
  let assemblyFormat = "`<` $key `,` $value `>`";
}
def Onnx_SparseTensorType : Onnx_Type<"SparseTensor", "sparse_tensor"> {
  let summary = "sparse tensor of the given dense type";
  let parameters = (ins "::mlir::RankedTensorType":$dense);
  let assemblyFormat = "`<` $dense `>`";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Onnx_DimsAttr : AttrDef<ONNX_Dialect, "Dims"> {
  let mnemonic = "dims";
  let summary = "symbolic names of a tensor's dimensions, its encoding; empty where there is none";
  let description = [{
    Two dynamic dimensions of the same name have the same size in one run.
    ```mlir
    tensor<?x?x768xf32, #onnx.dims<"batch", "seq", "">>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let assemblyFormat = "`<` $names `>`";
}

def Onnx_SparseTensorAttr : AttrDef<ONNX_Dialect, "SparseElements"> {
  let mnemonic = "sparse";
  let summary = "a sparse tensor: values, their indices (linear [NNZ] or coordinates [NNZ, rank]) and the dense shape";
  let parameters = (ins "::mlir::ElementsAttr":$values, "::mlir::ElementsAttr":$indices,
                        ArrayRefParameter<"int64_t">:$shape);
  let assemblyFormat = "`<` $values `,` $indices `,` `[` $shape `]` `>`";
}

//===----------------------------------------------------------------------===//
// Type sets
//===----------------------------------------------------------------------===//

class Onnx_Element<int b, string n> {
  int flag = !shl(1, b);
  string name = n;
}
// The order is that of strata::onnx::ElementKind.
def E_float16 : Onnx_Element<0, "float16">;
def E_float : Onnx_Element<1, "float">;
def E_double : Onnx_Element<2, "double">;
def E_bfloat16 : Onnx_Element<3, "bfloat16">;
def E_float8e4m3fn : Onnx_Element<4, "float8e4m3fn">;
def E_float8e4m3fnuz : Onnx_Element<5, "float8e4m3fnuz">;
def E_float8e5m2 : Onnx_Element<6, "float8e5m2">;
def E_float8e5m2fnuz : Onnx_Element<7, "float8e5m2fnuz">;
def E_float8e8m0 : Onnx_Element<8, "float8e8m0">;
def E_float6e2m3 : Onnx_Element<9, "float6e2m3">;
def E_float6e3m2 : Onnx_Element<10, "float6e3m2">;
def E_float4e2m1 : Onnx_Element<11, "float4e2m1">;
def E_int8 : Onnx_Element<12, "int8">;
def E_int16 : Onnx_Element<13, "int16">;
def E_int32 : Onnx_Element<14, "int32">;
def E_int64 : Onnx_Element<15, "int64">;
def E_uint8 : Onnx_Element<16, "uint8">;
def E_uint16 : Onnx_Element<17, "uint16">;
def E_uint32 : Onnx_Element<18, "uint32">;
def E_uint64 : Onnx_Element<19, "uint64">;
def E_int4 : Onnx_Element<20, "int4">;
def E_uint4 : Onnx_Element<21, "uint4">;
def E_int2 : Onnx_Element<22, "int2">;
def E_uint2 : Onnx_Element<23, "uint2">;
def E_bool : Onnx_Element<24, "bool">;
def E_string : Onnx_Element<25, "string">;
def E_complex64 : Onnx_Element<26, "complex64">;
def E_complex128 : Onnx_Element<27, "complex128">;

// Maps: key (int64, string) times value, in the order of strata::onnx::mapKind.
def Map_int64_float : Onnx_Element<0, "map(int64, float)">;
def Map_int64_double : Onnx_Element<1, "map(int64, double)">;
def Map_int64_string : Onnx_Element<2, "map(int64, string)">;
def Map_string_float : Onnx_Element<4, "map(string, float)">;
def Map_string_double : Onnx_Element<5, "map(string, double)">;
def Map_string_int64 : Onnx_Element<7, "map(string, int64)">;

class Onnx_Mask<list<Onnx_Element> elements> {
  int mask = !foldl(0, elements, sum, e, !or(sum, e.flag));
  string names = !interleave(!foreach(e, elements, e.name), ", ");
}

class Onnx_SetSummary<string kind, string names> {
  string text = !if(!empty(names), "", kind # names);
}

// The types a formal parameter allows: tensors, sequences, optionals and optional sequences of the listed element types,
// maps, and sequences of maps.
class Onnx_TypeSet<list<Onnx_Element> tensor, list<Onnx_Element> seq = [], list<Onnx_Element> optional = [],
                   list<Onnx_Element> optionalSeq = [], list<Onnx_Element> maps = [], list<Onnx_Element> seqMaps = []>
    : AllowedTypes<"::strata::onnx::TypeSet{" # Onnx_Mask<tensor>.mask # ", " # Onnx_Mask<seq>.mask # ", "
                   # Onnx_Mask<optional>.mask # ", " # Onnx_Mask<optionalSeq>.mask # ", " # Onnx_Mask<maps>.mask # ", "
                   # Onnx_Mask<seqMaps>.mask # "}",
                   !interleave(!filter(text, [Onnx_SetSummary<"tensor of ", Onnx_Mask<tensor>.names>.text,
                                              Onnx_SetSummary<"sequence of ", Onnx_Mask<seq>.names>.text,
                                              Onnx_SetSummary<"optional of ", Onnx_Mask<optional>.names>.text,
                                              Onnx_SetSummary<"optional sequence of ", Onnx_Mask<optionalSeq>.names>.text,
                                              Onnx_Mask<maps>.names,
                                              Onnx_SetSummary<"sequence of ", Onnx_Mask<seqMaps>.names>.text],
                                       !not(!empty(text))), "; ")>;

class Onnx_Op<string domain, string prefix, string name, int since, list<Trait> traits = []>
    : VersionedOp<ONNX_Dialect, domain, prefix, name, since, traits>;

#endif // STRATA_DIALECT_ONNX_IR_ONNXTYPES_TD
