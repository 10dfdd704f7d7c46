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

/// How many rows may be read side by side whose data lies `distance` bytes apart (nothing: unknown), so that a line of
/// each stays in the first-level cache. What is a page apart shares a set of lines.
int64_t mostRowsInCache(const TargetFacts &target, std::optional<int64_t> distance);

/// The tile with the least estimated time for so many rows and vectors of lanes (nothing: many); `mostVectors` is a
/// power of two, and so are the tile's. Rows are shared out evenly: the last tile is not much smaller than the others.
RegisterTile chooseRegisterTile(const TargetFacts &target, std::optional<int64_t> rows, std::optional<int64_t> vectors,
                                int64_t mostVectors = 8, int64_t mostRows = INT64_MAX);

} // namespace strata

#endif // STRATA_CODEGEN_REGISTERTILE_H
