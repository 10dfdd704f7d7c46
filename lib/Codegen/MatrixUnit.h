//===- MatrixUnit.h - instructions of a matrix unit -------------*- C++ -*-===//
//
// x86's AMX: a tile register holds 16 rows of 64 bytes; one instruction adds the
// products of a tile of data and a tile of weights to a tile of sums.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_MATRIXUNIT_H
#define STRATA_CODEGEN_MATRIXUNIT_H

#include "TileEmitter.h"

namespace strata {

struct MatrixUnit : IndexMath {
  /// Of a tile register, the columns being of 32 bits.
  static constexpr int64_t mostRows = 16, columns = 16;
  /// How many of `groups` of 32 bits of a row's elements one instruction multiplies: all have as many.
  static int64_t groupsOfStep(int64_t groups) {
    int64_t step = std::max<int64_t>(1, std::min(mostRows, groups));
    while (groups % step)
      --step;
    return step;
  }

  mlir::Value constant(int64_t number, unsigned bits);
  mlir::Value bytesOf(const Access &access, mlir::Value elements);
  mlir::Value addressOf(const Access &access, mlir::Value elements);
  using IndexMath::addressOf;

  mlir::Value zero(mlir::Value rows, mlir::Value columnBytes = {}); ///< of sums, if nothing is said
  mlir::Value load(mlir::Value rows, mlir::Value columnBytes, mlir::Value address, mlir::Value stride);
  void store(mlir::Value rows, mlir::Value address, mlir::Value stride, mlir::Value tile);
  /// `sum` + `data` * `weights`, of so many bytes of each row of the data.
  mlir::Value addProducts(mlir::StringRef instruction, mlir::Value rows, mlir::Value bytes, mlir::Value sum,
                          mlir::Value data, mlir::Value weights);

private:
  mlir::Value call(mlir::StringRef intrinsic, mlir::ValueRange arguments, bool makesTile = true);
};

} // namespace strata

#endif // STRATA_CODEGEN_MATRIXUNIT_H
