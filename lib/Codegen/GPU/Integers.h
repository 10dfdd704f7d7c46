//===- Integers.h - short names for integer arithmetic --------------------===//
#ifndef STRATA_CODEGEN_GPU_INTEGERS_H
#define STRATA_CODEGEN_GPU_INTEGERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace strata {

/// Operations on unsigned numbers of one type; those with a literal fold what changes nothing.
struct Integers {
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;

  mlir::Value number(int64_t value) const {
    return b.create<mlir::arith::ConstantOp>(loc, b.getIntegerAttr(type, value));
  }
  mlir::Value add(mlir::Value x, mlir::Value y) const { return b.create<mlir::arith::AddIOp>(loc, x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) const { return b.create<mlir::arith::MulIOp>(loc, x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) const { return b.create<mlir::arith::DivUIOp>(loc, x, y); }
  mlir::Value rem(mlir::Value x, mlir::Value y) const { return b.create<mlir::arith::RemUIOp>(loc, x, y); }
  mlir::Value add(mlir::Value x, int64_t y) const { return y == 0 ? x : add(x, number(y)); }
  mlir::Value mul(mlir::Value x, int64_t y) const { return y == 1 ? x : mul(x, number(y)); }
  mlir::Value div(mlir::Value x, int64_t y) const { return y == 1 ? x : div(x, number(y)); }
  mlir::Value rem(mlir::Value x, int64_t y) const { return y == 1 ? number(0) : rem(x, number(y)); }
  mlir::Value exclusiveOr(mlir::Value x, mlir::Value y) const { return b.create<mlir::arith::XOrIOp>(loc, x, y); }
  mlir::Value less(mlir::Value x, mlir::Value y) const {
    return b.create<mlir::arith::CmpIOp>(loc, mlir::arith::CmpIPredicate::ult, x, y);
  }
  /// `value`, which may be an index, in this type.
  mlir::Value of(mlir::Value value) const {
    if (value.getType() == type)
      return value;
    return b.create<mlir::arith::IndexCastUIOp>(loc, type, value);
  }
};

/// Both conditions; null is true.
inline mlir::Value both(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y) {
  return !x ? y : !y ? x : b.create<mlir::arith::AndIOp>(loc, x, y).getResult();
}

} // namespace strata

#endif // STRATA_CODEGEN_GPU_INTEGERS_H
