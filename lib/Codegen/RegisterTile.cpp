//===- RegisterTile.cpp - what of a product stays in registers ------------===//
#include "RegisterTile.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

using namespace strata;

/// Cycles of one step of the reduction: the arithmetic, or its operands' loads (as many in a cycle as multiply-adds; each
/// line of weights also has to be asked for), or, of few sums, the time until one is there. A part of the loads is not
/// hidden.
static double stepCycles(const TargetFacts &target, int64_t rows, int64_t vectors) {
  if (!rows || !vectors)
    return 0;
  double sums = static_cast<double>(rows * vectors), loads = static_cast<double>(rows + 2 * vectors);
  constexpr double notHidden = 0.4;
  return std::max({sums / target.fmaPerCycle, loads / target.fmaPerCycle, static_cast<double>(target.fmaLatency)}) +
         notHidden * loads / target.fmaPerCycle;
}

/// So many rows in tiles of `tile`, for all vectors.
static double cycles(const TargetFacts &target, int64_t rows, int64_t vectors, RegisterTile tile) {
  int64_t full = (rows - 1) / tile.rows;
  auto column = [&](int64_t width) {
    if (tile.even) {
      int64_t tiles = full + 1, shorter = tiles * tile.rows - rows;
      return (tiles - shorter) * stepCycles(target, tile.rows, width) +
             shorter * stepCycles(target, tile.rows - 1, width);
    }
    return full * stepCycles(target, tile.rows, width) + stepCycles(target, rows - full * tile.rows, width);
  };
  return vectors / tile.vectors * column(tile.vectors) + column(vectors % tile.vectors);
}

int64_t strata::mostRowsInCache(const TargetFacts &target, std::optional<int64_t> distance) {
  if (!distance || *distance == 0)
    return INT64_MAX;
  // The weights pass through the same lines.
  int64_t lines = target.nearCacheBytes / std::gcd(*distance, target.pageBytes);
  return std::max<int64_t>(1, 3 * lines / 4);
}

RegisterTile strata::chooseRegisterTile(const TargetFacts &target, std::optional<int64_t> rows,
                                        std::optional<int64_t> vectors, int64_t mostVectors, int64_t mostRows) {
  // Many: a multiple of all that fits.
  constexpr int64_t many = 27720;
  int64_t allRows = std::max<int64_t>(1, rows.value_or(many)),
          allVectors = std::max<int64_t>(1, vectors.value_or(many));
  RegisterTile best{1, 1};
  double least = cycles(target, allRows, allVectors, best);
  auto consider = [&](RegisterTile tile) {
    double time = cycles(target, allRows, allVectors, tile);
    if (time >= least)
      return;
    least = time;
    best = tile;
  };
  for (int64_t width = 1; width <= std::min(mostVectors, allVectors); width *= 2) {
    // Besides the sums: the weights, one number of the data, and, without fused operations, a product.
    int64_t most = (static_cast<int64_t>(target.registers) - width - (target.fma ? 1 : 2)) / width;
    most = std::min(most, mostRows);
    if (most < 1)
      break;
    int64_t tiles = llvm::divideCeil(allRows, most), tileRows = llvm::divideCeil(allRows, tiles);
    consider({tileRows, width, /*even=*/false});
    if (tileRows > 1)
      consider({tileRows, width, /*even=*/true});
  }
  return best;
}
