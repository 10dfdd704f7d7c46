//===- WinogradCost.h - where minimal filtering pays ------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_WINOGRADCOST_H
#define STRATA_CODEGEN_WINOGRADCOST_H

#include "Codegen/Target.h"
#include "llvm/ADT/ArrayRef.h"

namespace strata {

/// A convolution with a window of one to three rows and columns and stride 1: of images, of lines (images of one row),
/// or of volumes, of which every slice of the result is a sum over so many images. Or one that is the sum of some with
/// smaller windows.
struct WinogradSize {
  int64_t rows, columns;     ///< of the result; perhaps dynamic
  int64_t filters, channels; ///< of the result; of the data
  int64_t
      slices = 1,
      taps = 1; ///< of the result, perhaps dynamic, and of the data that one of them is made of, or parts of the window
  double inside = 1;    ///< the share of the latter that is not padding
  int64_t dilation = 1; ///< of the window: with d, images of every d-th row and column are d times d
  double read = 1;      ///< the share of the window that is not padding, which alone a sum over it reads
  double own = 1;       ///< the share of the taps of a window's parts that are not an earlier part's, too
  int64_t perLane = 1;  ///< elements of the data in 32 bits, whose products an instruction adds: 2 of 16-bit integers
  int64_t rowTaps = 3, columnTaps = 3; ///< rows and columns of the window

  int64_t window() const { return rowTaps * columnTaps; }
  /// Of the transformed window, with tiles of m.
  int64_t points(int64_t m) const {
    auto along = [&](int64_t taps) { return taps == 1 ? 1 : m + taps - 1; };
    return along(rowTaps) * along(columnTaps);
  }
};

/// Rows or columns of an image whose size only the run tells: deeper layers have smaller ones.
int64_t usualSide(int64_t channels);
/// Slices of a volume whose size only the run tells.
constexpr int64_t usualSlices = 8;

/// How many tiles of m lie along so many rows or columns.
int64_t tilesAlong(int64_t size, int64_t dilation, int64_t m);

/// How many vectors of filters a panel of transformed weights has: two, or one where filters fill up less so.
int64_t panelVectors(int64_t filters, int64_t lanes);

/// Whether its channels are whole vectors, as the emitter takes them.
bool canTileWinograd(const WinogradSize &size, const TargetFacts &target);

/// The cycles that tiles of m are estimated to save of those of the sum over the window.
double savedByWinograd(const WinogradSize &size, const TargetFacts &target, int64_t m);

/// The size m of tiles, and the cycles that they save; m is 0 where the sum over the window is faster.
struct WinogradChoice {
  int64_t m = 0;
  double saved = 0;
};

/// For convolutions by the same weights the tiles whose estimated time is least, of m up to `most`. Of integers m is 2
/// or 0, and exact. `group` is how many products of one lane an instruction of the sum over the window adds where this
/// is not `perLane`: 2 of bf16.
WinogradChoice chooseWinograd(llvm::ArrayRef<WinogradSize> sizes, const TargetFacts &target, int64_t group = 1,
                              int64_t most = 4);

} // namespace strata

#endif // STRATA_CODEGEN_WINOGRADCOST_H
