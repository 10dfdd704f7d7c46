//===- BulkOperand.h - an operand as bulk copies take it --------*- C++ -*-===//
#ifndef STRATA_CODEGEN_GPU_BULKOPERAND_H
#define STRATA_CODEGEN_GPU_BULKOPERAND_H

#include "../LoopNest.h"

namespace strata {

/// What swizzling mixes at most, in bytes.
inline constexpr int64_t kLongestLine = 128;
/// Of a dimension, how many elements a copy takes at most; of steps of several, how long these are.
inline constexpr int64_t kLargestBox = 256, kLongestStep = 8;

/// A dimension of a tensor map: numbers of loops times factors say where in it an element lies.
struct MapDimension {
  struct Part {
    int loop;
    int64_t factor;
  };
  llvm::SmallVector<Part, 1> parts;
  Extent size, stride;       ///< stride in elements
  int64_t box = 1, step = 1; ///< elements of it that one copy takes, and how far they are from each other
};

/// An operand as bulk copies see it: a box of a tensor of up to five dimensions, the one of neighbours first.
struct BulkOperand {
  llvm::SmallVector<MapDimension, 5> dimensions;
  bool across;                      ///< a line in shared memory is a step with its rows, not a row with its steps
  llvm::SmallVector<int> loops;     ///< that count its rows (or columns), the fastest one of a tile first
  llvm::SmallVector<int64_t> boxes; ///< how far a tile goes along each of them
  int64_t elementBytes = 0;
  int64_t numbers = 0, depth = 0; ///< rows (or columns) and steps that a tile has room for
  int64_t lineBytes = 0;          ///< of a line in shared memory, within which copies swizzle

  int64_t tile() const {
    int64_t product = 1;
    for (int64_t box : boxes)
      product *= box;
    return product;
  }
  int64_t lineElements() const { return lineBytes / elementBytes; }
  int64_t lines() const { return across ? depth : numbers; }
  /// Each takes so much of a line, of all lines.
  int64_t copies() const { return llvm::divideCeil(across ? numbers : depth, lineElements()); }
  int64_t copyBytes() const { return lines() * lineBytes; }
  int64_t bytes() const { return copies() * copyBytes(); }
  /// What the copies bring: there may be room for more rows.
  int64_t arrivingBytes() const { return copies() * (across ? depth : tile()) * lineBytes; }
};

/// Whether the host can compute it where the kernel is launched: from the kernel's operands alone.
bool isKnownToHost(mlir::Value value);

/// The dimensions of an operand, by strides; nothing where a copy cannot take its boxes.
std::optional<llvm::SmallVector<MapDimension, 5>> findDimensions(const LoopNest &nest, const Access &access,
                                                                 int64_t elementBytes);

/// The boxes of the map's dimensions, once the tile is known, whose steps are those of a loop; false where there is no
/// such copy.
bool setBoxes(BulkOperand &operand, int stepLoop);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_BULKOPERAND_H
