// The matrix unit has one configuration per function: sums of two shapes are refused, where LLVM might mix them up.
// RUN: not strata-compile %s --precision=bf16 --mcpu=sapphirerapids --emit=asm 2>&1 | FileCheck %s
// CHECK: error: the function '{{.*}}main{{.*}}' sums up in tiles of 16x64 and of 12x64 (rows x bytes); the matrix unit has one configuration per function
module attributes {strata.constants = [], strata.phase = "buffers", strata.interface = {
    inputs = [{dims = [""], dtype = "float", name = "x", shape = array<i64: 1>}],
    outputs = [{dims = [""], dtype = "float", name = "y", shape = array<i64: 1>}]}} {
func.func @main(%x: memref<1xf32>) -> memref<1xf32> {
  %one = llvm.mlir.constant(1 : i64) : i64
  %16 = arith.constant 16 : i16
  %12 = arith.constant 12 : i16
  %64 = arith.constant 64 : i16
  %line = arith.constant 64 : i64
  %tile = llvm.alloca %one x vector<256xi32> : (i64) -> !llvm.ptr
  %a = "amx.tileloadd64"(%16, %64, %tile, %line) : (i16, i16, !llvm.ptr, i64) -> vector<256xi32>
  %b = "amx.tileloadd64"(%12, %64, %tile, %line) : (i16, i16, !llvm.ptr, i64) -> vector<256xi32>
  %zero = "amx.tilezero"(%16, %64) : (i16, i16) -> vector<256xi32>
  %none = "amx.tilezero"(%12, %64) : (i16, i16) -> vector<256xi32>
  %0 = "amx.tdpbf16ps"(%16, %64, %64, %zero, %a, %a) : (i16, i16, i16, vector<256xi32>, vector<256xi32>, vector<256xi32>) -> vector<256xi32>
  %1 = "amx.tdpbf16ps"(%12, %64, %64, %none, %b, %a) : (i16, i16, i16, vector<256xi32>, vector<256xi32>, vector<256xi32>) -> vector<256xi32>
  "amx.tilestored64"(%16, %64, %tile, %line, %0) : (i16, i16, !llvm.ptr, i64, vector<256xi32>) -> ()
  "amx.tilestored64"(%12, %64, %tile, %line, %1) : (i16, i16, !llvm.ptr, i64, vector<256xi32>) -> ()
  return %x : memref<1xf32>
}
}
