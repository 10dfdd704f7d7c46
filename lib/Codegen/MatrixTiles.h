//===- MatrixTiles.h - tiles of a nest on a matrix unit ---------*- C++ -*-===//
//
// x86's AMX: a tile register holds 16 rows of 64 bytes; one instruction adds the
// products of a tile of data and a tile of weights to a tile of sums. A tile of
// the nest is up to two tiles of rows by two of lanes. The sums are written to a
// scratch buffer, from which the vector code of the other stages reads them.
//
// The nest's sums live in memory here, because MLIR has no type for the register;
// PromoteTiles.cpp moves them there.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_MATRIXTILES_H
#define STRATA_CODEGEN_MATRIXTILES_H

#include "MatrixUnit.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace strata {

/// The shape of tiles for a kernel of several nests that the unit may compute: a function configures it once, eight
/// registers of one shape each. It is the one that costs least; a nest that it does not fit is left to the vectors.
std::optional<TileShape> chooseTileShape(mlir::func::FuncOp kernel, const NestOptions &options);

class MatrixTiles : MatrixUnit {
public:
  MatrixTiles(mlir::OpBuilder &b, mlir::Location loc, LoopNest &nest, const NestPlan &plan, const TargetFacts &target,
              TileEmitter &tileEmitter);

  /// What all tiles use, at a place before them that every thread passes for itself.
  void prepare();
  /// All rows and lanes of a tile: `finish` makes the other stages of one row.
  using Finish = llvm::function_ref<void(const Tile &)>;
  void emit(const Tile &tile, Finish finish);

private:
  LoopNest &nest;
  const NestPlan &plan;
  const TargetFacts &target;
  TileEmitter &tileEmitter;
  int64_t columnTiles = 0;
  mlir::Type element;                    ///< of the sums
  mlir::Value rows, rows16;              ///< of a tile, as index and i16
  llvm::SmallVector<mlir::Value> sums;   ///< a tile each: rows, then columns
  mlir::Value scratch;                   ///< [rowTiles, 16, columnTiles, 16], then a tile that nothing reads
  int64_t rowsAwake = 0, spare = 0;      ///< rows between products of nothing; where these go
  mlir::Value scratchRow, scratchColumn; ///< where product() reads

  struct Place {
    Tile tile;
    mlir::Value first; ///< the first row that no other tile has
  };
  Place placeRows(const Tile &tile, int64_t number);
  bool mayBeOdd() const;
  void choose(mlir::Value condition, llvm::function_ref<void()> emitThen, llvm::function_ref<void()> emitElse);
  void sumUp(llvm::ArrayRef<Place> places, int64_t columns, const Tile &tile);
  void reduce(llvm::ArrayRef<int> order, llvm::ArrayRef<Place> places, int64_t columns, Tile at);
  void multiply(llvm::ArrayRef<Place> places, int64_t columns, const Tile &at);
  int64_t linesOfStep() const;
  std::pair<Extent, mlir::Value> tilesOfBlock(const Tile &tile);
  void prefetch(mlir::Value block, mlir::Value within, const Extent &tiles, mlir::Value number);
  void prefetchNear(mlir::Value here, const Extent &tiles);
  void prefetchRows(llvm::ArrayRef<Place> places, int64_t columns, const Tile &at);
  llvm::SmallVector<int> reductionOrder();
  int64_t rowsUntilAsleep() const;
  void stayAwake();
  void finishRows(const Tile &tile, mlir::Value first, mlir::Value end, const Extent &most, Finish finish);
  void finishAcrossBorders(const Place &place, Finish finish);
};

} // namespace strata

#endif // STRATA_CODEGEN_MATRIXTILES_H
