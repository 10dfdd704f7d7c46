//===- ProductPlan.h - how a GPU computes a sum of products -----*- C++ -*-===//
#ifndef STRATA_CODEGEN_GPU_PRODUCTPLAN_H
#define STRATA_CODEGEN_GPU_PRODUCTPLAN_H

#include "TiledContraction.h"
#include "WarpgroupPlan.h"

namespace strata {

/// One of the two; neither where the nest is no such sum, or tiles do not pay.
struct ProductPlan {
  std::optional<WarpgroupPlan> warpgroups;
  std::optional<ContractionTile> tile;

  bool isTiled() const { return warpgroups || tile; }
  TileChoice choice() const { return warpgroups ? warpgroups->choice() : tile->choice(); }
};

/// By the tile that the reduction's attribute says; where there is none, or that is not possible (a warning), by the
/// heuristic's. `chip` may be empty: one of NVIDIA's. May create operations that compute sizes.
ProductPlan planProduct(mlir::OpBuilder &b, mlir::Location loc, LoopNest &nest, llvm::StringRef chip, bool tf32);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_PRODUCTPLAN_H
