//===- Halves.h - tensors that are kept as bf16 -----------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_HALVES_H
#define STRATA_CODEGEN_HALVES_H

#include "KeptElements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace strata {

/// Subnormal numbers may be 0, as they are for the instructions that multiply.
mlir::arith::TruncFOp roundToHalf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value element);

class Halves : public KeptElements {
public:
  /// Tells of a product and the number of its weights whether it reads f32 in any case. It must live as long.
  using IsWide = llvm::function_ref<bool(mlir::linalg::GenericOp, unsigned weights)>;
  explicit Halves(IsWide isWide = nullptr) : isWide(isWide) {}

protected:
  mlir::Type typeOf(mlir::Type element) const override { return mlir::BFloat16Type::get(element.getContext()); }
  mlir::Value convert(mlir::OpBuilder &b, mlir::Location loc, mlir::Value element) const override;
  mlir::TypedAttr convert(mlir::TypedAttr constant) const override;
  mlir::Value restore(mlir::OpBuilder &b, mlir::Location loc, mlir::Value element) const override;
  bool isKept(mlir::Value value) const override { return getElementTypeOrSelf(value).isBF16(); }
  bool canRead(mlir::linalg::GenericOp op, mlir::OpOperand &use) const override {
    return !isWide || !isWide(op, 1 - use.getOperandNumber());
  }
  void prepare(mlir::Operation *maker) override;

private:
  IsWide isWide;
};

} // namespace strata

#endif // STRATA_CODEGEN_HALVES_H
