//===- CrossProducts.h - sums of products of sums ---------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_CROSSPRODUCTS_H
#define STRATA_CODEGEN_CROSSPRODUCTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// sum + (x + y) * (z + w) in i32 of sums in i16, where x, y, z, w are the operation's four inputs, each once.
struct CrossedSum {
  unsigned factors[2][2]; ///< the inputs that each factor adds
};

std::optional<CrossedSum> matchCrossedSum(mlir::linalg::GenericOp op);

} // namespace strata

#endif // STRATA_CODEGEN_CROSSPRODUCTS_H
