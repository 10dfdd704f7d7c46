//===- SharedTile.h - an operand's part of a tile in shared memory --------===//
#ifndef STRATA_CODEGEN_GPU_SHAREDTILE_H
#define STRATA_CODEGEN_GPU_SHAREDTILE_H

#include "StageEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace strata {

/// What a block holds of one operand of a contraction at a time: `numbers` rows (or columns) by `depth` steps of the
/// reduction, which `threads` copy.
struct TileShape {
  int64_t numbers, depth, threads;
  bool matrix; ///< read by ldmatrix
  bool async;  ///< copied by cp.async, where elements lie so
  /// What a line is. Of pairs of steps a lane reads both, where others have one of each half of eight.
  enum class Lines { asInMemory, numbers, pairsOfSteps } lines = Lines::asInMemory;
};

/// The tile lies in lines of 16-byte chunks. A line is a row with its steps or a step with its rows, as neighbours are
/// in memory. Chunks are swizzled, so that what a warp reads at once, the same chunk of eight lines, is in all banks.
class SharedTile {
public:
  /// The last of `numberLoops` and of `stepLoops` counts fastest.
  SharedTile(StageEmitter &stages, const Access &access, llvm::ArrayRef<int> numberLoops, llvm::ArrayRef<int> stepLoops,
             TileShape shape);

  /// A line is a row (or column).
  bool alongDepth() const { return linesAreNumbers; }
  /// No instruction reads fragments of it: lines are steps, of elements of 32 bits.
  bool isLoadedSingly() const { return shape.matrix && !linesAreNumbers && bytesOfElement == 4; }
  bool isReadInPairs() const { return shape.lines == TileShape::Lines::pairsOfSteps; }
  int64_t elementBytes() const { return bytesOfElement; }
  int64_t pitch() const { return lineElements * bytesOfElement; }
  int64_t bytes() const { return shape.numbers * shape.depth * bytesOfElement; }
  /// Whether the threads copy whole lines, and each of them the same number of chunks.
  bool isCopiedEvenly() const {
    int64_t perLine = lineElements / chunk;
    return shape.threads % threadsOfLine() == 0 && lines * perLine % shape.threads == 0;
  }

  /// In bytes, where a chunk of a line lies. Lines that differ by a multiple of 8 lie that many pitches apart.
  mlir::Value offset(mlir::Value line, mlir::Value chunk) const;

  /// Computes which elements `thread` copies from now on: of the rows from `first` on, of which there are `size` in all
  /// (null: the tiles are whole).
  void prepare(mlir::Value thread, mlir::Value first, mlir::Value size, llvm::ArrayRef<mlir::Value> batchAt);

  /// Copies steps from `begin` on to `stage` (!llvm.ptr<3>), zeros where there is nothing: steps end at `end` (null:
  /// beyond the tile). Copies of 4 bytes and more are asynchronous where the GPU has such.
  void copy(mlir::Value begin, mlir::Value end, mlir::Value stage);

private:
  struct Element {
    mlir::Value position, inside, step;
  };
  struct Chunk {
    mlir::Value to; ///< in bytes
    llvm::SmallVector<Element> elements;
  };

  int64_t widestCopy(llvm::ArrayRef<int> loops) const;
  int64_t threadsOfLine() const { return neighboursAreLines ? lines : lineElements / chunk; }
  void copyWide(mlir::Value position, mlir::Value inside, mlir::Value to);

  StageEmitter &stages;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const Access &access;
  llvm::ArrayRef<int> numberLoops, stepLoops;
  TileShape shape;
  int64_t bytesOfElement, lineElements, lines;
  bool linesAreNumbers;
  bool neighboursAreLines = false; ///< of neighbouring threads
  bool isWide = false;             ///< elements of a chunk are copied at once
  int64_t chunk = 1;               ///< elements that are copied at once
  mlir::Value base;                ///< of the operand: !llvm.ptr<1>
  llvm::SmallVector<Chunk> chunks;
};

/// The address `bytes` (i32) behind a pointer.
mlir::Value addressAt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer, mlir::Value bytes);
mlir::Value addressAt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer, int64_t bytes);
/// What a kernel may use of shared memory without asking.
inline constexpr int64_t kStaticSharedBytes = 48 << 10;
/// Shared memory of which the launch says the size (!llvm.ptr<3>), from a multiple of 1024 on: a kernel with it has no
/// other.
mlir::Value dynamicSharedMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::gpu::GPUFuncOp function);
/// The pointer in a buffer's descriptor.
mlir::Value pointerTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value buffer, unsigned addressSpace);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_SHAREDTILE_H
