//===- WinogradMatrices.h - minimal filtering F(m, r) -----------*- C++ -*-===//
//
// Winograd's minimal filtering algorithms for m outputs of a filter g of r taps, two or three, over d (m + r - 1
// inputs):
//
//     y = outputs ((filter g) . (inputs d))
//
// with '.' by element, nested for two dimensions (Lavin, Gray: Fast Algorithms for Convolutional Neural Networks. CVPR
// 2016). Their points are 0, 1, -1, 2, -2 and infinity, the first ones of these. `recover` is a left inverse of
// `filter`. Along a dimension in which the window has one tap, m is 1 and all of them are 1.
//
// Of integers there is one of m = 2 whose matrices are integers, and whose outputs are twice y, and exactly so: those
// of two dimensions are four times.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_WINOGRADMATRICES_H
#define STRATA_CODEGEN_WINOGRADMATRICES_H

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

namespace strata {

/// Row-major matrices of one algorithm.
struct WinogradMatrices {
  int64_t m;
  llvm::ArrayRef<float> filter;  ///< points x taps
  llvm::ArrayRef<float> recover; ///< taps x points
  llvm::ArrayRef<float> inputs;  ///< points x points
  llvm::ArrayRef<float> outputs; ///< m x points
  int64_t taps;

  int64_t points() const { return m + taps - 1; }
};

namespace winograd {
inline constexpr float one[] = {1};
inline constexpr float filter2[] = {1, 0, 0, .5f, .5f, .5f, .5f, -.5f, .5f, 0, 0, 1};
inline constexpr float recover2[] = {1, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1};
inline constexpr float inputs2[] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1};
inline constexpr float outputs2[] = {1, 1, 1, 0, 0, 1, -1, -1};
inline constexpr float integerFilter[] = {1, 0, 0, 1, 1, 1, 1, -1, 1, 0, 0, 1};
inline constexpr float integerRecover[] = {1, 0, 0, 0, -1, 1, 0, -1, 0, 0, 0, 1};
inline constexpr float integerOutputs[] = {2, 1, 1, 0, 0, 1, -1, -2};
inline constexpr float filter4[] = {1.f / 4,  0,         0,        -1.f / 6, -1.f / 6, -1.f / 6,
                                    -1.f / 6, 1.f / 6,   -1.f / 6, 1.f / 24, 1.f / 12, 1.f / 6,
                                    1.f / 24, -1.f / 12, 1.f / 6,  0,        0,        1};
inline constexpr float recover4[] = {4, 0, 0, 0, 0, 0, 0, -3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1};
inline constexpr float inputs4[] = {4, 0,  -5, 0, 1, 0, 0, -4, -4, 1,  1, 0, 0, 4, -4, -1, 1, 0,
                                    0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0,  -5, 0, 1};
inline constexpr float outputs4[] = {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0, 0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1};
inline constexpr float filterTwo2[] = {1, 0, 1, 1, 0, 1};
inline constexpr float recoverTwo2[] = {1, 0, 0, 0, 0, 1};
inline constexpr float inputsTwo2[] = {1, -1, 0, 0, 1, 0, 0, -1, 1};
inline constexpr float outputsTwo2[] = {1, 1, 0, 0, 1, 1};
inline constexpr float filterTwo4[] = {1.f / 2, 0, -1.f / 2, -1.f / 2, -1.f / 6, 1.f / 6, 1.f / 6, 1.f / 3, 0, 1};
inline constexpr float recoverTwo4[] = {2, 0, 0, 0, 0, 0, 0, 0, 0, 1};
inline constexpr float inputsTwo4[] = {2, -1, -2, 1,  0, 0, -2, -1, 1, 0,  0,  2, -3,
                                       1, 0,  0,  -1, 0, 1, 0,  0,  2, -1, -2, 1};
inline constexpr float outputsTwo4[] = {1, 1, 1, 1, 0, 0, 1, -1, 2, 0, 0, 1, 1, 4, 0, 0, 1, -1, 8, 1};
} // namespace winograd

/// m is 2 or 4, of integers 2, with three taps: with |d| <= D and |g| <= G the transformed ones of two dimensions are
/// at most 4 D and 9 G.
inline WinogradMatrices getWinogradMatrices(int64_t m, int64_t taps, bool integers) {
  using namespace winograd;
  if (taps == 1)
    return {1, one, one, one, one, 1};
  if (integers)
    return {2, integerFilter, integerRecover, inputs2, integerOutputs, 3};
  if (taps == 2)
    return m == 2 ? WinogradMatrices{2, filterTwo2, recoverTwo2, inputsTwo2, outputsTwo2, 2}
                  : WinogradMatrices{4, filterTwo4, recoverTwo4, inputsTwo4, outputsTwo4, 2};
  return m == 2 ? WinogradMatrices{2, filter2, recover2, inputs2, outputs2, 3}
                : WinogradMatrices{4, filter4, recover4, inputs4, outputs4, 3};
}

/// On a convolution of transformed weights: m.
constexpr const char kWinograd[] = "strata.winograd";
/// And how many products of the window and the channels a result is the sum of, which the profile counts.
constexpr const char kProducts[] = "strata.products";

/// The loops of such a convolution, in their order, or -1: of an image; of a line, without h, kh and i; of a volume
/// also d and kd; of a window in parts these, gh along rows and gw along columns; of integers also the elements of a
/// pair of channels.
struct WinogradLoops {
  int n, h, w, f, kh, kw, i, j, c, d, kd, gh, gw, pair, count = 0;

  /// Of one to three dimensions.
  static WinogradLoops of(unsigned dims, bool inParts, bool pairs) {
    WinogradLoops l;
    bool isImage = dims > 1, isVolume = dims > 2;
    const std::pair<int *, bool> loops[] = {{&l.n, true},     {&l.h, isImage},   {&l.w, true},
                                            {&l.f, true},     {&l.kh, isImage},  {&l.kw, true},
                                            {&l.i, isImage},  {&l.j, true},      {&l.c, true},
                                            {&l.d, isVolume}, {&l.kd, isVolume}, {&l.gh, isImage && inParts},
                                            {&l.gw, inParts}, {&l.pair, pairs}};
    for (auto [loop, isThere] : loops)
      *loop = isThere ? l.count++ : -1;
    return l;
  }
  /// By their kinds.
  static WinogradLoops of(llvm::ArrayRef<mlir::utils::IteratorType> kinds, bool pairs) {
    unsigned dims = llvm::count(kinds, mlir::utils::IteratorType::parallel) - 2;
    return of(dims, static_cast<int>(kinds.size()) > of(dims, false, pairs).count, pairs);
  }
};

} // namespace strata

#endif // STRATA_CODEGEN_WINOGRADMATRICES_H
