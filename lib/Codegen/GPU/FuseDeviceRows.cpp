//===- FuseDeviceRows.cpp - the CPU's groups of rows, for threads ---------===//
//
// A row is what a block of threads can hold in its registers. Products of
// matrices stay alone: tensor cores want many rows at once.
//
//===----------------------------------------------------------------------===//
#include "../FuseRows.h"
#include "../ProductSums.h"
#include "Attention.h"
#include "Codegen/GPUPasses.h"
#include "RowKernel.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace strata {
#define GEN_PASS_DEF_FUSEDEVICEROWS
#include "Codegen/GPUPasses.h.inc"
} // namespace strata

using namespace mlir;

/// A reduction along memory, whose threads then load many elements at once.
static bool reducesAlongMemory(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || strata::matchProductSum(op))
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  auto last = map.getNumResults() ? dyn_cast<AffineDimExpr>(map.getResults().back()) : nullptr;
  return last && op.getIteratorTypesArray()[last.getPosition()] == utils::IteratorType::reduction;
}

namespace {
struct FuseDeviceRowsPass : strata::impl::FuseDeviceRowsBase<FuseDeviceRowsPass> {
  void runOnOperation() override {
    strata::RowLimits limits;
    limits.rowBytes = 256 << 10; // the registers of a multiprocessor
    limits.products = false;
    limits.blocks = false;
    // What an attention holds is no group of rows.
    limits.suits = [](linalg::GenericOp op) { return !op->hasAttr(strata::kAttention) && strata::canShareRows(op); };
    limits.isLoop = reducesAlongMemory;
    limits.windows = false;
    limits.sharedPlaces = false; // registers have none
    strata::fuseRows(getOperation(), limits);
  }
};
} // namespace
