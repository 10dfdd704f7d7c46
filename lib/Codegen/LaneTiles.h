//===- LaneTiles.h - tiles along the lanes of vectors -----------*- C++ -*-===//
//
// Along the lanes a nest is full tiles, and what is left behind the last one: of
// it few vectors are left, the last of which is there in part.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_LANETILES_H
#define STRATA_CODEGEN_LANETILES_H

#include "NestPlan.h"
#include "TileEmitter.h"

namespace strata {

class LaneTiles : IndexMath {
public:
  LaneTiles(mlir::OpBuilder &b, mlir::Location loc, LoopNest &nest, const NestPlan &plan, const NestOptions &options)
      : IndexMath{b, loc}, nest(nest), plan(plan), options(options) {}

  /// The tile's rows, for all lanes from its place on, no more than a full tile has.
  void emit(Tile tile, TileEmitter &by);

private:
  LoopNest &nest;
  const NestPlan &plan;
  const NestOptions &options;
  TileEmitter *emitter = nullptr;

  bool canRepeat();
  bool canLeave();
  void emit(Tile tile, mlir::Value at, int64_t vectors, int64_t lanes, llvm::ArrayRef<Extent> present = {});
  void emitKnownRest(const Tile &tile, int64_t left);
  void emitInOnePass(const Tile &tile, int64_t left);
  void emitUnknownRest(const Tile &tile);
  void emitAnyRest(const Tile &tile, mlir::Value left, int64_t vectors);
};

} // namespace strata

#endif // STRATA_CODEGEN_LANETILES_H
