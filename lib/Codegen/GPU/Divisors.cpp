//===- Divisors.cpp - what sizes and strides are multiples of -------------===//
//
// A stride that only the run tells is a product of sizes, some of which are known.
//
//===----------------------------------------------------------------------===//
#include "Divisors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace strata;

int64_t strata::divisorOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MulIOp>(op))
    return llvm::SaturatingMultiply<uint64_t>(divisorOf(op->getOperand(0)), divisorOf(op->getOperand(1)));
  if (isa_and_nonnull<arith::AddIOp>(op))
    return std::gcd(divisorOf(op->getOperand(0)), divisorOf(op->getOperand(1)));
  auto metadata = dyn_cast_or_null<memref::ExtractStridedMetadataOp>(op);
  auto type = metadata ? dyn_cast<MemRefType>(metadata.getSource().getType()) : MemRefType();
  if (!type || !type.getLayout().isIdentity())
    return 1;
  for (auto [i, stride] : llvm::enumerate(metadata.getStrides())) {
    if (stride != value)
      continue;
    int64_t product = 1;
    for (int64_t size : type.getShape().drop_front(i + 1))
      product *= ShapedType::isDynamic(size) ? 1 : size;
    return product;
  }
  return 1;
}

int64_t strata::divisorOf(const Extent &extent) { return extent.isKnown() ? extent.known : divisorOf(extent.value); }
