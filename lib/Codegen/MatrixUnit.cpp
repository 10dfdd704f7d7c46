//===- MatrixUnit.cpp - instructions of a matrix unit ---------------------===//
#include "MatrixUnit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace strata;

Value MatrixUnit::constant(int64_t number, unsigned bits) {
  return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(b.getIntegerType(bits), number));
}

Value MatrixUnit::bytesOf(const Access &access, Value elements) {
  Value bytes = times(elements, {access.element.getIntOrFloatBitWidth() / 8, {}});
  return b.create<arith::IndexCastOp>(loc, b.getI64Type(), bytes);
}

Value MatrixUnit::addressOf(const Access &access, Value elements) {
  return addressOf(access.base, times(elements, {access.element.getIntOrFloatBitWidth() / 8, {}}), 1);
}

Value MatrixUnit::call(StringRef intrinsic, ValueRange arguments, bool makesTile) {
  // The type of a tile is LLVM's x86_amx, which this only stands for: no operation but these intrinsics sees it.
  OperationState state(loc, intrinsic, arguments, TypeRange(), {});
  if (makesTile)
    state.addTypes(VectorType::get({mostRows * columns}, b.getI32Type()));
  Operation *made = b.create(state);
  return makesTile ? Value(made->getResult(0)) : Value();
}

Value MatrixUnit::zero(Value rows, Value columnBytes) {
  return call("amx.tilezero", {rows, columnBytes ? columnBytes : constant(4 * columns, 16)});
}

Value MatrixUnit::load(Value rows, Value columnBytes, Value address, Value stride) {
  return call("amx.tileloadd64", {rows, columnBytes, address, stride});
}

void MatrixUnit::store(Value rows, Value address, Value stride, Value tile) {
  call("amx.tilestored64", {rows, constant(4 * columns, 16), address, stride, tile}, /*makesTile=*/false);
}

Value MatrixUnit::addProducts(StringRef instruction, Value rows, Value bytes, Value sum, Value data, Value weights) {
  return call(instruction, {rows, constant(4 * columns, 16), bytes, sum, data, weights});
}
