//===- Indexing.h - indices that are data ------------------------*- C++ -*-===//
//
// Shared by the gathers and scatters: an index counts from the end if negative,
// and out of range it is an error of the run.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_INDEXING_H
#define STRATA_LIB_DIALECT_ONNX_OPS_INDEXING_H

#include "Slice.h"

namespace strata::indexing {

/// An element of an index tensor as a position below `size` (an index value).
inline Value wrap(ImplicitLocOpBuilder &b, Value element, Value size) {
  Value position = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), element);
  Value zero = b.create<arith::ConstantIndexOp>(0);
  Value negative = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, position, zero);
  return b.createOrFold<arith::SelectOp>(negative, b.createOrFold<arith::AddIOp>(position, size), position);
}

/// Ends the run unless every element of `indices` is in [-size, size). `onnxIndices`: the source value, whose elements
/// may be known.
inline void checkRange(LinalgBuilder &b, Value indices, OpFoldResult size, Value onnxIndices, const Twine &message) {
  if (std::optional<int64_t> limit = getConstantIntValue(size))
    if (auto known = onnxIndices ? b.getIntegers(onnxIndices) : std::nullopt)
      if (llvm::all_of(*known, [&](int64_t i) { return i >= -*limit && i < *limit; }))
        return;
  Type element = getElementType(indices);
  Value high = b.createOrFold<arith::IndexCastOp>(element, b.index(size));
  Value low = b.createOrFold<arith::SubIOp>(b.scalarInt(element, 0), high);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, getRank(indices)));
  Value ok = b.reduce(indices, axes, false, b.scalarInt(b.getI1Type(), 1),
                      [&](ImplicitLocOpBuilder &nested, ValueRange args) -> Value {
                        Value above = nested.create<arith::CmpIOp>(arith::CmpIPredicate::sge, args[0], low);
                        Value below = nested.create<arith::CmpIOp>(arith::CmpIPredicate::slt, args[0], high);
                        Value both = nested.create<arith::AndIOp>(above, below);
                        return nested.create<arith::AndIOp>(args[1], both);
                      });
  b.check(b.extractScalar(ok), message);
}

} // namespace strata::indexing

#endif // STRATA_LIB_DIALECT_ONNX_OPS_INDEXING_H
