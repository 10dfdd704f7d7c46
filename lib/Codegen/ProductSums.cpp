//===- ProductSums.cpp - reductions that are sums of products -------------===//
#include "ProductSums.h"
#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace strata;

Value strata::getAddend(linalg::GenericOp op) {
  std::optional<Combiner> combiner = op.getNumReductionLoops() ? matchCombiner(op) : std::nullopt;
  if (!combiner || combiner->kind != vector::CombiningKind::ADD)
    return {};
  Operation *sum = combiner->op;
  return sum->getOperand(sum->getOperand(0) == op.getBody()->getArguments().back() ? 1 : 0);
}

std::optional<ProductSum> strata::matchProductSum(linalg::GenericOp op) {
  Value addend = op.getNumDpsInputs() == 2 ? getAddend(op) : Value();
  Operation *product = addend ? addend.getDefiningOp() : nullptr;
  Block *body = op.getBody();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product) || !product->hasOneUse())
    return std::nullopt;
  ProductSum result;
  result.sum = addend.getType();
  unsigned seen = 0, extensions = 0;
  for (Value factor : product->getOperands()) {
    Operation *extension = factor.getDefiningOp();
    if (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(extension)) {
      factor = extension->getOperand(0);
      ++extensions;
    }
    auto input = dyn_cast<BlockArgument>(factor);
    if (!input || input.getOwner() != body || input.getArgNumber() > 1)
      return std::nullopt;
    seen |= 1u << input.getArgNumber();
    result.elements[input.getArgNumber()] = input.getType();
    result.isUnsigned[input.getArgNumber()] = isa_and_nonnull<arith::ExtUIOp>(extension);
  }
  // Sum, product, terminator.
  if (seen != 3 || body->getOperations().size() != 3 + extensions)
    return std::nullopt;
  return result;
}

void strata::buildProductSum(OpBuilder &b, Location loc, ValueRange args) {
  auto extended = [&](Value factor) -> Value {
    if (factor.getType() == args[2].getType())
      return factor;
    if (factor.getType().isInteger())
      return b.create<arith::SIToFPOp>(loc, args[2].getType(), factor);
    return b.create<arith::ExtFOp>(loc, args[2].getType(), factor);
  };
  Value x = extended(args[0]), product = b.create<arith::MulFOp>(loc, x, extended(args[1]));
  b.create<linalg::YieldOp>(loc, b.create<arith::AddFOp>(loc, args[2], product).getResult());
}

std::optional<unsigned> strata::getLaneOf(linalg::GenericOp op, unsigned weights) {
  AffineMap out = op.getIndexingMapsArray().back();
  auto dim = out.getNumResults() ? dyn_cast<AffineDimExpr>(out.getResults().back()) : nullptr;
  auto depends = [&](unsigned input) {
    return op.getMatchingIndexingMap(op.getDpsInputOperand(input)).isFunctionOfDim(dim.getPosition());
  };
  if (!dim || !depends(weights) || depends(1 - weights))
    return std::nullopt;
  return dim.getPosition();
}

int64_t strata::getUses(linalg::GenericOp op, OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  int64_t uses = 1;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (!map.isFunctionOfDim(loop))
      uses *= ShapedType::isDynamic(size) ? 16 : size;
  return uses;
}

bool strata::isWorthCopyingInGroups(linalg::GenericOp op, OpOperand *operand) {
  constexpr int64_t rows = 48, elements = 1 << 12;
  if (op->hasAttr(kPaddedKeys))
    return true;
  // Of an unknown number of matrices there may be one.
  int64_t known = 1;
  AffineMap map = op.getMatchingIndexingMap(operand), out = op.getIndexingMapsArray().back();
  for (auto [expr, size] : llvm::zip(map.getResults(), cast<RankedTensorType>(operand->get().getType()).getShape())) {
    if (ShapedType::isDynamic(size) && !llvm::is_contained(out.getResults().drop_back(), expr))
      return false;
    known *= ShapedType::isDynamic(size) ? 1 : size;
  }
  return known >= elements && getUses(op, operand) >= rows;
}

std::optional<unsigned> strata::innermost(AffineMap map) {
  auto dim = map.getNumResults() ? dyn_cast<AffineDimExpr>(map.getResults().back()) : nullptr;
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

bool strata::canGroup(linalg::GenericOp op, unsigned weights, const ConstantExpressions &constants) {
  if (!op.hasPureTensorSemantics())
    return false;
  OpOperand *w = op.getDpsInputOperand(weights), *data = op.getDpsInputOperand(1 - weights);
  AffineMap map = op.getMatchingIndexingMap(w), dataMap = op.getMatchingIndexingMap(data);
  std::optional<unsigned> depth = innermost(dataMap);
  if (constants.isConstant(data->get()) || !isPlain(map) || !getLaneOf(op, weights) || !depth ||
      (!constants.isConstant(w->get()) && !isWorthCopyingInGroups(op, w)) ||
      op.getIteratorTypesArray()[*depth] != utils::IteratorType::reduction ||
      ShapedType::isDynamic(op.getStaticLoopRanges()[*depth]))
    return false;
  return llvm::count(map.getResults(), getAffineDimExpr(*depth, op.getContext())) == 1 &&
         llvm::count_if(dataMap.getResults(), [&](AffineExpr e) { return e.isFunctionOfDim(*depth); }) == 1;
}

bool strata::isPlain(AffineMap map) {
  return llvm::all_of(map.getResults(), [](AffineExpr e) { return isa<AffineDimExpr, AffineConstantExpr>(e); });
}

std::optional<unsigned> strata::getGroup(linalg::GenericOp op, OpOperand *data) {
  AffineMap map = op.getMatchingIndexingMap(data);
  auto dim = map.getNumResults() ? dyn_cast<AffineDimExpr>(map.getResults().back()) : nullptr;
  Type element = getElementTypeOrSelf(data->get().getType());
  if (!dim || !element.isIntOrFloat() || element.getIntOrFloatBitWidth() >= 32 ||
      op.getIteratorTypesArray()[dim.getPosition()] != utils::IteratorType::reduction ||
      op.getStaticLoopRanges()[dim.getPosition()] * element.getIntOrFloatBitWidth() != 32)
    return std::nullopt;
  return dim.getPosition();
}

bool strata::isForMatrixUnit(linalg::GenericOp op, OpOperand *data, const TargetFacts &target) {
  Type element = getElementTypeOrSelf(data->get().getType());
  return (element.isBF16() ? target.bf16Tiles : element.isInteger(8) && target.int8Tiles) && getGroup(op, data);
}

void strata::replaceLoops(linalg::GenericOp &op, ValueRange inputs, ArrayRef<AffineMap> maps,
                          ArrayRef<utils::IteratorType> kinds) {
  OpBuilder b(op);
  auto moved = b.create<linalg::GenericOp>(op.getLoc(), op.getResultTypes(), inputs, op.getDpsInits(), maps, kinds);
  moved.getRegion().takeBody(op.getRegion());
  for (const char *name : {kLargestProduct, kExactPairs, kPaddedKeys})
    if (Attribute noted = op->getAttr(name))
      moved->setAttr(name, noted);
  op.replaceAllUsesWith(moved);
  op.erase();
  op = moved;
}
