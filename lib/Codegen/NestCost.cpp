//===- NestCost.cpp - an estimate of the time of a nest's results ---------===//
#include "BodyLoads.h"
#include "NestPlan.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace strata;

/// Cycles of the reduction's sums that become one result: products of tiles.
static double matrixCycles(LoopNest &nest, const NestPlan &plan, const TargetFacts &target) {
  double steps = 1;
  for (const Loop &loop : nest.loops)
    if (loop.reduction)
      steps *= loop.size.isKnown() ? loop.size.known : 64;
  const MatrixPlan &matrix = *plan.matrix;
  steps /= static_cast<double>(matrix.depthStep * nest.loops[matrix.group].size.known);
  constexpr double tileRows = 16;
  return steps * target.tileCycles / (tileRows * plan.width);
}

double strata::estimatePointNs(LoopNest &nest, const NestPlan &plan, const TargetFacts &target) {
  // What comes from memory and goes there; what all lanes share stays in registers.
  double cycles = 0;
  nest.forEachAccess([&](Access &access) {
    if (access.base && !(plan.lane >= 0 && stride(access, plan.lane).is(0)))
      cycles +=
          (access.element.isIntOrFloat() ? access.element.getIntOrFloatBitWidth() / 8.0 : 8.0) / target.streamRate;
  });
  double lanes = plan.lane >= 0 ? plan.width : 1;
  for (std::optional<Stage> *stage : {&nest.init, &nest.reduce, &nest.finish}) {
    if (!*stage)
      continue;
    if (stage == &nest.reduce && plan.matrix) {
      cycles += matrixCycles(nest, plan, target);
      continue;
    }
    double cost = 0.4 * ((*stage)->inputs.size() + (*stage)->outputs.size());
    LanesLoads loads = lanesOfLoads(**stage, plan.lane);
    for (Operation &op : *(*stage)->op.getBody())
      if (auto load = loads.find(&op); load != loads.end())
        cost += plan.lane >= 0 && load->second == LanesLoad::apart ? lanes : 4.0;
      else
        cost += isa<math::MathDialect>(op.getDialect()) ? 16.0 : 0.6;
    if (stage == &nest.reduce) {
      // Per iteration, with the loads shared by the tile.
      cost /= std::max<int64_t>(1, plan.rowTile / 2);
      for (const Loop &loop : nest.loops)
        if (loop.reduction)
          cost *= loop.size.isKnown() ? loop.size.known : 64;
      if (plan.dots)
        cost /= nest.loops[plan.dots->group].size.known;
    }
    cycles += cost / lanes;
  }
  return cycles / target.cyclesPerNs;
}
