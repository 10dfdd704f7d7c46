//===- ComputedWeights.cpp - products whose weights the body makes --------===//
#include "ComputedWeights.h"
#include "ConstantExpressions.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace strata;

/// What is extended from bf16, or the value itself.
static Value beforeExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension && extension.getIn().getType().isBF16() ? extension.getIn() : value;
}

bool ComputedWeights::areConstant(linalg::GenericOp op, const ConstantExpressions &constants) const {
  return llvm::all_of(
      inputs, [&](BlockArgument input) { return constants.isConstant(op.getDpsInputs()[input.getArgNumber()]); });
}

std::optional<ComputedWeights> strata::matchComputedWeights(linalg::GenericOp op) {
  Value addend = getAddend(op);
  auto product = addend ? addend.getDefiningOp<arith::MulFOp>() : nullptr;
  AffineMap out = op.getIndexingMapsArray().back();
  auto lane = out.getNumResults() ? dyn_cast<AffineDimExpr>(out.getResults().back()) : nullptr;
  if (!product || !product->hasOneUse() || !product.getType().isF32() || !lane)
    return std::nullopt;
  for (unsigned side : {0u, 1u}) {
    auto data = dyn_cast<BlockArgument>(beforeExtension(product->getOperand(side)));
    Value value = beforeExtension(product->getOperand(1 - side));
    if (!data || data.getArgNumber() >= op.getNumDpsInputs() || !value.getDefiningOp() ||
        data.getType() != value.getType())
      continue;
    ComputedWeights result{data.getArgNumber(), lane.getPosition(), value, {}, {}};
    llvm::SetVector<Value> wanted;
    wanted.insert(value);
    bool converts = false, fits = true;
    for (unsigned i = 0; i < wanted.size(); ++i) {
      if (auto input = dyn_cast<BlockArgument>(wanted[i])) {
        fits &= input != data && input.getArgNumber() < op.getNumDpsInputs();
        result.inputs.push_back(input);
        continue;
      }
      Operation *maker = wanted[i].getDefiningOp();
      if (maker->getBlock() != op.getBody())
        continue; // a number
      converts |= isa<arith::SIToFPOp, arith::UIToFPOp, arith::BitcastOp>(maker);
      wanted.insert(maker->operand_begin(), maker->operand_end());
    }
    auto depends = [&](BlockArgument input, unsigned dim) {
      return op.getIndexingMapsArray()[input.getArgNumber()].isFunctionOfDim(dim);
    };
    // Of the loops over the results, the lanes alone.
    for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::parallel)
        for (BlockArgument input : result.inputs)
          fits &= dim == result.lane || !depends(input, dim);
    if (!converts || !fits || result.inputs.empty() || depends(data, result.lane))
      continue;
    for (Operation &inner : *op.getBody())
      if (llvm::any_of(inner.getResults(), [&](Value made) { return wanted.contains(made); }))
        result.operations.push_back(&inner);
    return result;
  }
  return std::nullopt;
}
