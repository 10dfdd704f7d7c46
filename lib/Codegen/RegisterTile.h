//===- RegisterTile.h - what of a product stays in registers ----*- C++ -*-===//
#ifndef STRATA_CODEGEN_REGISTERTILE_H
#define STRATA_CODEGEN_REGISTERTILE_H

#include "Codegen/Target.h"
#include <optional>

namespace strata {

/// Rows and vectors of a product's result: their sums stay in registers over the whole reduction, in each step of which
/// one number is read per row and one vector of weights per vector.
struct RegisterTile {
  int64_t rows, vectors;
  bool even = false; ///< the rows are shared out so that no tile has less by more than one; else the last one has less
};

/// The tile with the least estimated time for so many rows and vectors of lanes (nothing: many); `mostVectors` is a
/// power of two, and so are the tile's. Rows are shared out evenly: the last tile is not much smaller than the others.
RegisterTile chooseRegisterTile(const TargetFacts &target, std::optional<int64_t> rows, std::optional<int64_t> vectors,
                                int64_t mostVectors = 8);

} // namespace strata

#endif // STRATA_CODEGEN_REGISTERTILE_H
