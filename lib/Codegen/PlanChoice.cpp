//===- PlanChoice.cpp - what may be chosen otherwise in a kernel ----------===//
#include "Codegen/PlanChoice.h"
#include "NestPlan.h"
#include "RowLoop.h"
#include "WinogradMatrices.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace strata;

static constexpr const char kPlan[] = "strata.plan";

void strata::setPlanChoice(linalg::GenericOp reduction, const PlanChoice &choice) {
  int64_t numbers[] = {choice.rows, choice.vectors, choice.lanesOutermost, choice.rowBlock};
  reduction->setAttr(kPlan, DenseI64ArrayAttr::get(reduction.getContext(), numbers));
}

std::optional<PlanChoice> strata::getPlanChoice(linalg::GenericOp reduction) {
  auto numbers = reduction->getAttrOfType<DenseI64ArrayAttr>(kPlan);
  if (!numbers || numbers.size() != 4)
    return std::nullopt;
  return PlanChoice{numbers[0], numbers[1], numbers[2] != 0, numbers[3]};
}

/// Rows in blocks: nothing else is outside of the lanes, and all sizes are known.
static bool canBlockRows(const LoopNest &nest, const NestPlan &plan) {
  return plan.copied < 0 && llvm::all_of(
                                llvm::enumerate(nest.loops),
                                [&](auto entry) {
                                  int loop = entry.index();
                                  return entry.value().size.isKnown() &&
                                         (entry.value().reduction || loop == plan.lane || loop == plan.row);
                                });
}

/// Besides the sums: the weights, one number of the data, and, without fused operations, a product.
static int64_t mostRows(const TargetFacts &target, int64_t vectors) {
  return (static_cast<int64_t>(target.registers) - vectors - (target.fma ? 1 : 2)) / vectors;
}

bool strata::hasChoices(const LoopNest &nest, const NestPlan &plan) {
  bool onUnit = plan.matrix || plan.hasBlocksOnUnit();
  return nest.reduce && !onUnit && plan.lane >= 0 && plan.row >= 0 && !plan.laneIsReduction;
}

bool strata::isPossible(LoopNest &nest, const NestPlan &plan, const TargetFacts &target, const PlanChoice &choice) {
  constexpr int64_t mostVectors = 8, mostVariants = 8;
  if (!hasChoices(nest, plan) || choice.rows < 1 || choice.vectors < 1 || choice.vectors > mostVectors ||
      !llvm::isPowerOf2_64(choice.vectors) || choice.rows > mostRows(target, choice.vectors))
    return false;
  const Extent &rows = nest.loops[plan.row].size, &lanes = nest.loops[plan.lane].size;
  if (choice.rows > (rows.isKnown() ? rows.known : mostVariants))
    return false;
  // Vectors of a tile lie in one block of packed weights.
  for (const Access &access : nest.reduce->inputs)
    if (access.blockedLoop == plan.lane && choice.vectors > 1 && access.block % (choice.vectors * plan.width))
      return false;
  if (lanes.isKnown() && choice.vectors > 1 && (choice.vectors - 1) * plan.width >= lanes.known)
    return false;
  if (plan.copied >= 0 && !choice.lanesOutermost)
    return false;
  return choice.rowBlock == 0 || (choice.rowBlock > 0 && choice.lanesOutermost && canBlockRows(nest, plan) &&
                                  choice.rowBlock % choice.rows == 0 && choice.rowBlock < rows.known);
}

/// Other tiles with the loops around them as they are, and other loops around the tile.
static SmallVector<PlanChoice> alternatives(LoopNest &nest, const NestPlan &plan, const PlanChoice &now,
                                            const TargetFacts &target) {
  SmallVector<PlanChoice> result;
  auto add = [&](const PlanChoice &choice) {
    if (!(choice == now) && !llvm::is_contained(result, choice) && isPossible(nest, plan, target, choice))
      result.push_back(choice);
  };
  int64_t rows = nest.loops[plan.row].size.known;
  auto blocks = [](int64_t block, int64_t rows) -> int64_t { return llvm::divideCeil(block, rows) * rows; };
  for (int64_t vectors : {now.vectors, now.vectors * 2, now.vectors / 2, now.vectors / 4}) {
    if (vectors < 1 || mostRows(target, vectors) < 1)
      continue;
    // As few tiles as registers allow, or one more; all of about the same size.
    int64_t fewest = llvm::divideCeil(rows, mostRows(target, vectors));
    for (int64_t tiles : {fewest, fewest + 1, fewest + std::max<int64_t>(2, fewest / 2)}) {
      PlanChoice choice = now;
      choice.vectors = vectors;
      choice.rows = llvm::divideCeil(rows, tiles);
      choice.rowBlock = blocks(now.rowBlock, choice.rows);
      add(choice);
    }
  }
  add({now.rows, now.vectors, !now.lanesOutermost, 0});
  int64_t block = now.rowBlock ? now.rowBlock : rows;
  for (int64_t rowBlock : {int64_t(0), block / 2, block / 4, block * 2})
    add({now.rows, now.vectors, true, blocks(rowBlock, now.rows)});
  return result;
}

SmallVector<TunableNest> strata::findTunableNests(func::FuncOp kernel, const TargetFacts &target, bool threads) {
  // Below, what a call costs is as much as what a plan may gain.
  constexpr double leastWork = 1 << 15;
  auto isKnown = [](Type type) {
    auto buffer = dyn_cast<MemRefType>(type);
    return buffer && buffer.hasStaticShape() && buffer.getElementType().isIntOrFloat();
  };
  SmallVector<TunableNest> result;
  // What bodies load lies at computed places, and random numbers are none.
  bool loads = kernel.walk([](memref::LoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (loads || !llvm::all_of(kernel.getArgumentTypes(), isKnown))
    return result;
  KernelNests kernelNests = viewNests(kernel, target);
  for (auto &[nest, reduction, inLoop] : kernelNests.nests) {
    if (!reduction || reduction->hasAttr(kWinograd) ||
        !llvm::all_of(nest.loops, [](const Loop &loop) { return loop.size.isKnown(); }))
      continue;
    double work = 1;
    for (const Loop &loop : nest.loops)
      work *= static_cast<double>(loop.size.known);
    NestPlan plan = planNest(nest, NestOptions{target, threads && !inLoop});
    if (work < leastWork || !hasChoices(nest, plan))
      continue;
    PlanChoice now{plan.rowTile, plan.vectorTile, plan.laneOutermost, plan.rowBlock};
    if (SmallVector<PlanChoice> others = alternatives(nest, plan, now, target); !others.empty())
      result.push_back({reduction, now, std::move(others), work});
  }
  return result;
}
