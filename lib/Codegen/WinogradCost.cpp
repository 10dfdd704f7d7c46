//===- WinogradCost.cpp - where minimal filtering pays --------------------===//
#include "WinogradCost.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace strata;

static int64_t lanesOf(const TargetFacts &target) { return target.vectorBits / 32; }

int64_t strata::usualSide(int64_t channels) {
  constexpr int64_t side = 56, channelsThere = 128;
  return std::max<int64_t>(8, side * channelsThere / std::max(channels, channelsThere));
}

int64_t strata::tilesAlong(int64_t size, int64_t dilation, int64_t m) {
  return dilation * static_cast<int64_t>(llvm::divideCeil(llvm::divideCeil(size, dilation), m));
}

/// Of one vector, each number that is spread to the lanes is used once.
static constexpr double rateOfOneVector = 0.85;

int64_t strata::panelVectors(int64_t filters, int64_t lanes) {
  auto cost = [&](int64_t vectors, double rate) {
    return static_cast<double>(llvm::alignTo(filters, vectors * lanes)) / rate;
  };
  return cost(1, rateOfOneVector) < cost(2, 1) ? 1 : 2;
}

bool strata::canTileWinograd(const WinogradSize &size, const TargetFacts &target) {
  return size.channels % (lanesOf(target) * size.perLane) == 0;
}

/// An estimate of the cycles of one image or volume. m = 0 stands for the sum over the window itself.
static double cycles(const WinogradSize &c, const TargetFacts &target, int64_t group, int64_t m) {
  double lanes = static_cast<double>(lanesOf(target));
  // Multiply-adds per cycle, less what tiles lose: short sums lose more, and those of several taps are longer.
  double perLane = static_cast<double>(c.perLane);
  double direct = 0.85 * target.fmaPerCycle * perLane * static_cast<double>(group),
         products = (0.85 - 0.15 / static_cast<double>(c.taps)) * target.fmaPerCycle * perLane;
  double taps = static_cast<double>(c.taps) * c.inside; // of those slices that are not padding
  // Those of filters that fill up the last panel of weights are computed, too.
  int64_t vectors = panelVectors(c.filters, lanesOf(target));
  int64_t filters = m ? llvm::alignTo(c.filters, vectors * lanesOf(target)) : c.filters;
  if (vectors == 1)
    products *= rateOfOneVector;
  if (c.filters <= lanesOf(target))
    direct *= rateOfOneVector;
  double area = taps * static_cast<double>(c.channels * filters), pixels = static_cast<double>(c.rows * c.columns);
  double weights = m ? static_cast<double>(c.points(m)) : static_cast<double>(c.window()) * c.own;
  // They are rarely in the cache when their turn comes.
  double load = weights * area * sizeof(float) / perLane / target.memoryRate;
  double slices = static_cast<double>(c.slices);
  if (!m)
    return std::max(load / static_cast<double>(group), slices * (pixels * weights * c.read * area / lanes / direct));
  auto along = [&](int64_t size, int64_t taps) { return taps == 1 ? size : tilesAlong(size, c.dilation, m); };
  double tiles = static_cast<double>(along(c.rows, c.rowTaps) * along(c.columns, c.columnTaps));
  // Loads, arithmetic and stores of a transform take about as many cycles each.
  double transforms =
      tiles * (taps * static_cast<double>(c.channels) / perLane + static_cast<double>(filters)) / lanes * 3 * weights;
  // One slice after the other, with all weights.
  return slices * (std::max(load, tiles * weights * area / lanes / products) + transforms);
}

/// As `size`, with images of usual height, width and number where the run tells them; lines are as long as its rows
/// together.
static WinogradSize withUsualSides(WinogradSize size) {
  int64_t usual = usualSide(size.channels);
  for (int64_t *side : {&size.rows, &size.columns})
    if (mlir::ShapedType::isDynamic(*side))
      *side = size.rows == 1 ? usual * usual : usual;
  if (mlir::ShapedType::isDynamic(size.slices))
    size.slices = usualSlices;
  return size;
}

double strata::savedByWinograd(const WinogradSize &given, const TargetFacts &target, int64_t m) {
  WinogradSize size = withUsualSides(given);
  return cycles(size, target, /*group=*/1, 0) - cycles(size, target, /*group=*/1, m);
}

WinogradChoice strata::chooseWinograd(llvm::ArrayRef<WinogradSize> sizes, const TargetFacts &target, int64_t group,
                                      int64_t most) {
  // The transforms of numbers lose some digits, so there must be something to gain.
  bool isExact = sizes.front().perLane > 1;
  double worth = isExact ? 1 : 0.85;
  auto timeOf = [&](int64_t m) {
    double sum = 0;
    for (const WinogradSize &given : sizes) {
      WinogradSize size = withUsualSides(given);
      double direct = worth * cycles(size, target, group, 0);
      sum += m ? std::min(direct, cycles(size, target, group, m)) : direct;
    }
    return sum;
  };
  WinogradChoice best;
  double direct = timeOf(0), least = direct;
  for (int64_t m = 2; m <= (isExact ? 2 : most); m += 2)
    if (double time = timeOf(m); time < 0.95 * least) {
      best = {m, direct - time};
      least = time;
    }
  return best;
}
