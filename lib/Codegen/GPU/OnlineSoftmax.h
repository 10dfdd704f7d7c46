//===- OnlineSoftmax.h - what a thread has of its rows ----------*- C++ -*-===//
//
// Of each row a thread knows the largest score so far, the sum of the exponentials
// of what the scores have less than that, and the sums of V weighted with them;
// both are scaled when a larger score comes. It is the same whatever multiplies.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_GPU_ONLINESOFTMAX_H
#define STRATA_CODEGEN_GPU_ONLINESOFTMAX_H

#include "AttentionNest.h"
#include "Integers.h"

namespace strata {

/// The base of what emits an attention's kernel: the tiles have `tileKeys` keys and `tileWidth` columns of V.
class OnlineSoftmax {
protected:
  OnlineSoftmax(mlir::OpBuilder &b, mlir::gpu::GPUFuncOp function, Attention &a, AttentionNest nest, int64_t tileKeys,
                int64_t tileWidth)
      : b(b), loc(function.getLoc()), function(function), a(a), all(std::move(nest)), stages{b, loc, all.nest},
        index{b, loc, b.getIndexType()}, i32{b, loc, b.getI32Type()}, combiner(*matchCombiner(a.maximum)),
        tileKeys(tileKeys), tileWidth(tileWidth) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::gpu::GPUFuncOp function;
  Attention &a;
  AttentionNest all;
  StageEmitter stages;
  Integers index, i32;
  Combiner combiner;
  int64_t tileKeys, tileWidth;

  /// The sums that a thread has of a tile of results: in which of its rows each is, and which column, beside the
  /// thread's first.
  struct Places {
    llvm::SmallVector<int64_t> slots, columns;
    void add(int64_t slot, int64_t column) {
      slots.push_back(slot);
      columns.push_back(column);
    }
  };
  Places scorePlaces, valuePlaces;
  mlir::Value scoreColumn, valueColumn;                     ///< the thread's first (index)
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> rowsAt; ///< of each slot, the numbers of the loops
  llvm::SmallVector<int64_t> distances;                     ///< to the lanes that share a row

  /// Exponentials are the GPU's own, of 22 bits: enough for what is rounded to 16.
  bool areApproximate = false;

  mlir::Value numKeys;
  mlir::Value firstKey, endOfKeys; ///< of those that any of the block's rows sees, by tiles

  /// Of the rows of a thread.
  struct State {
    llvm::SmallVector<mlir::Value> sums, maxima, totals;
    llvm::SmallVector<mlir::Value> flat() const;
    void assign(mlir::ValueRange list);
  };
  State firstState();

  mlir::Value single(double number) { return b.create<mlir::arith::ConstantOp>(loc, b.getF32FloatAttr(number)); }
  mlir::Value product(llvm::ArrayRef<int> loops) { return all.product(b, loc, loops); }
  /// Whether all tiles along these loops are full.
  bool isWhole(llvm::ArrayRef<int> loops, int64_t size) const;

  /// Finds the keys that are not hidden from all of these queries; false where none are hidden.
  bool findKeys(mlir::Value firstQuery, mlir::Value lastQuery);
  /// The scores with their scale, bias and mask; keys that there are not have none.
  llvm::SmallVector<mlir::Value> finishScores(llvm::ArrayRef<mlir::Value> sums, mlir::Value begin);
  /// Brings the maxima and totals to the maximum that is known with these scores; gives what the sums are to be scaled
  /// with.
  llvm::SmallVector<mlir::Value> raiseMaxima(llvm::ArrayRef<mlir::Value> scores, State &state);
  void scaleSums(State &state, llvm::ArrayRef<mlir::Value> scales);
  /// Exponentials of the scores, which the totals then have.
  llvm::SmallVector<mlir::Value> weigh(llvm::ArrayRef<mlir::Value> scores, State &state);
  /// Adds up what the lanes of a row have.
  void joinTotals(State &state);
  /// Stores the results of the slots' rows that are there (null: always).
  void finish(State &state, llvm::function_ref<mlir::Value(size_t slot)> isThere);

private:
  mlir::Value lowest() { return single(-std::numeric_limits<double>::infinity()); }
  mlir::Value exp(mlir::Value value);
  mlir::Value wide(mlir::Value value);
  mlir::Value numberOf(mlir::Value bound, mlir::Value query);
};

} // namespace strata

#endif // STRATA_CODEGEN_GPU_ONLINESOFTMAX_H
