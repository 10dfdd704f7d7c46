//===- WinogradMatrices.h - minimal filtering F(m x m, 3 x 3) ---*- C++ -*-===//
//
// Winograd's minimal filtering algorithms for m outputs of a filter of three taps g over d (m + 2 inputs):
//
//     y = outputs ((filter g) . (inputs d))
//
// with '.' by element, nested for two dimensions (Lavin, Gray: Fast Algorithms for Convolutional Neural Networks. CVPR
// 2016). `recover` is a left inverse of `filter`.
//
// Of integers there is one of m = 2 whose matrices are integers, and whose outputs are twice y: those of two dimensions
// are four times, and exactly so.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_WINOGRADMATRICES_H
#define STRATA_CODEGEN_WINOGRADMATRICES_H

#include "llvm/ADT/ArrayRef.h"

namespace strata {

/// Row-major matrices of one algorithm.
struct WinogradMatrices {
  int64_t m;
  llvm::ArrayRef<float> filter;  ///< (m + 2) x 3
  llvm::ArrayRef<float> recover; ///< 3 x (m + 2)
  llvm::ArrayRef<float> inputs;  ///< (m + 2) x (m + 2)
  llvm::ArrayRef<float> outputs; ///< m x (m + 2)

  int64_t points() const { return m + 2; }
};

namespace winograd {
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
} // namespace winograd

/// m is 2 or 4.
inline WinogradMatrices getWinogradMatrices(int64_t m) {
  using namespace winograd;
  return m == 2 ? WinogradMatrices{2, filter2, recover2, inputs2, outputs2}
                : WinogradMatrices{4, filter4, recover4, inputs4, outputs4};
}

/// F(2x2, 3x3) of integers. With |d| <= D and |g| <= G the transformed ones are at most 4 D and 9 G.
inline WinogradMatrices getIntegerWinogradMatrices() {
  using namespace winograd;
  return {2, integerFilter, integerRecover, inputs2, integerOutputs};
}

/// On a convolution of transformed weights: m.
constexpr const char kWinograd[] = "strata.winograd";

} // namespace strata

#endif // STRATA_CODEGEN_WINOGRADMATRICES_H
