//===- LeastDims.h - the smaller one of two sizes ---------------*- C++ -*-===//
#ifndef STRATA_DIALECT_LEASTDIMS_H
#define STRATA_DIALECT_LEASTDIMS_H

#include "Dialect/ShapeContext.h"

namespace strata {

/// The smaller one of a symbolic size and of a number.
Dim least(const Dim &dim, int64_t most);

/// Whether `dim` is the smaller one of `other` and of a number above 1: it is 1 only where `other` is, and where the
/// two broadcast they are equal.
bool isLeastOf(const Dim &dim, const Dim &other);

} // namespace strata

#endif // STRATA_DIALECT_LEASTDIMS_H
