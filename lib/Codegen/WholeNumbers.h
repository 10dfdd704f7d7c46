//===- WholeNumbers.h - floats that are integers -----------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_WHOLENUMBERS_H
#define STRATA_CODEGEN_WHOLENUMBERS_H

#include "mlir/IR/Value.h"
#include <optional>

namespace strata {

/// Integers from `low` to `high`, of an integer type or a float's.
struct WholeRange {
  double low, high;
};

/// The number that a scalar constant is.
std::optional<double> floatOf(mlir::Value value);
std::optional<int64_t> integerOf(mlir::Value value);

/// The range of an integer that was extended, and perhaps moved by a constant.
std::optional<WholeRange> rangeOfInteger(mlir::Value value);

/// The range of an integral float, by its clamp or by what it was converted from.
std::optional<WholeRange> rangeOf(mlir::Value value);

/// x of x * factor, rounded once, by way of f64 or not: how quotients by scales are computed.
mlir::Value matchQuotient(mlir::Value value, double &factor);

} // namespace strata

#endif // STRATA_CODEGEN_WHOLENUMBERS_H
