//===- DeferDivision.cpp - a softmax before a product is divided behind it ===//
//
// The weights of a row are exponentials divided by their sum; the product with
// the rows of V is linear in them. So it may take the exponentials, and its
// results be divided: fewer numbers, and while they are in registers. No
// exponential is larger than 1 and none of their sums smaller, since the row's
// largest score is subtracted first.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "Conversions.h"
#include "GPU/Attention.h"
#include "LinalgQueries.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace strata {
#define GEN_PASS_DEF_DEFERDIVISION
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

/// What becomes of a weight that is no number, where anything does.
static arith::SelectOp guardOf(GenericOp weight) {
  return withoutConversions(yielded(weight)).getDefiningOp<arith::SelectOp>();
}

/// `map` by other dimensions: by loop of the map, the expression that takes its place; null where there is none, which
/// fails.
static AffineMap replaceDims(AffineMap map, ArrayRef<AffineExpr> expressions, unsigned dims) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    results.push_back(dim ? expressions[dim.getPosition()] : result);
    if (!results.back())
      return {};
  }
  return AffineMap::get(dims, 0, results, map.getContext());
}

namespace {
/// The operations of one softmax, and how what its rows have is read elsewhere.
class Deferral {
public:
  /// Of the softmax in front of `values`, if its weights are read for that alone.
  static std::optional<Deferral> find(GenericOp values);
  void apply();

private:
  GenericOp exponential, sum, weight, values;
  OpOperand *weights;    ///< of the product
  Value factor, maximum; ///< of each row
  Type type;             ///< of the weights
  Operation *conversion; ///< to this type; null where there is none
  AffineMap ofResults;   ///< the factor by the dimensions of the results
  AffineMap ofFactors;   ///< the maximum by the dimensions of the factor

  bool findMaps(OpOperand *read);
  Value guardedFactor(OpBuilder &b);
  void narrowExponentials();
  void fuseWithUser(GenericOp divided);
};
} // namespace

bool Deferral::findMaps(OpOperand *read) {
  AffineMap rows = weight.getMatchingIndexingMap(read);
  // The results' dimension for each of the weights', which are the weights' loops.
  AffineMap in = values.getMatchingIndexingMap(weights), out = values.getIndexingMapsArray().back();
  SmallVector<AffineExpr> results(in.getNumResults());
  for (auto [dim, expr] : llvm::enumerate(in.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    std::optional<unsigned> position = loop ? positionOf(out, loop.getPosition()) : std::nullopt;
    results[dim] = !loop ? expr : position ? getAffineDimExpr(*position, expr.getContext()) : AffineExpr();
  }
  ofResults = replaceDims(rows, results, out.getNumResults());
  SmallVector<AffineExpr> factors(rows.getNumDims());
  for (auto [dim, expr] : llvm::enumerate(rows.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      factors[loop.getPosition()] = getAffineDimExpr(dim, expr.getContext());
  for (OpOperand *input : exponential.getDpsInputOperands())
    if (input->get() == maximum)
      ofFactors = replaceDims(exponential.getMatchingIndexingMap(input), factors, rows.getNumResults());
  return ofResults && ofFactors && out.isProjectedPermutation();
}

std::optional<Deferral> Deferral::find(GenericOp values) {
  std::optional<Attention> a = findAttention(values);
  if (!a)
    return std::nullopt;
  Deferral d;
  d.exponential = a->exponential;
  d.sum = a->sum;
  d.weight = a->weight;
  d.values = values;
  d.weights = values.getDpsInputOperand(a->probability);
  d.maximum = a->maximum->getResult(0);
  d.type = getElementTypeOrSelf(d.weight->getResult(0));
  d.conversion = yielded(d.weight).getDefiningOp<arith::TruncFOp>();
  OpOperand *read = inputFrom(d.weight, d.exponential), *factor = nullptr;
  for (OpOperand *input : d.weight.getDpsInputOperands())
    factor = input == read ? factor : input;
  d.factor = factor->get();
  for (Operation *user : d.exponential->getUsers())
    if (user != d.sum && user != d.weight)
      return std::nullopt;
  // Sums that begin with something are not in proportion to the weights.
  Value start = filledWith(values.getDpsInits()[0]);
  if (!start || !matchPattern(start, m_AnyZeroFloat()))
    return std::nullopt;
  auto isPlain = [](GenericOp op, OpOperand *operand) { return op.getMatchingIndexingMap(operand).isIdentity(); };
  if (!d.weight->hasOneUse() || !isPlain(d.weight, read) || !isPlain(d.weight, d.weight.getDpsInitOperand(0)) ||
      !isPlain(d.exponential, d.exponential.getDpsInitOperand(0)) || !d.findMaps(factor) ||
      !getElementTypeOrSelf(values->getResult(0)).isF32() || !getElementTypeOrSelf(d.factor).isF32() ||
      (d.type != getElementTypeOrSelf(d.exponential->getResult(0)) && !d.conversion))
    return std::nullopt;
  return d;
}

/// Where weights that are no numbers become 0, the factor of such rows is none: what the weight of the row's largest
/// score would be tells them.
Value Deferral::guardedFactor(OpBuilder &b) {
  Location loc = weight.getLoc();
  int64_t rank = ofFactors.getNumDims();
  AffineMap maps[] = {b.getMultiDimIdentityMap(rank), ofFactors, b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  Value init = b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, factor), b.getF32Type());
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    IRMapping mapping;
    auto clone = [&](GenericOp op) {
      for (Operation &inner : op.getBody()->without_terminator())
        b.clone(inner, mapping);
      return mapping.lookupOrDefault(yielded(op));
    };
    // The largest score is one of them, and may be of their narrower type.
    for (OpOperand *input : exponential.getDpsInputOperands()) {
      BlockArgument argument = exponential.getMatchingBlockArgument(input);
      Value score = args[1];
      if (argument.getType() != score.getType())
        score = b.create<arith::TruncFOp>(loc, argument.getType(), score);
      mapping.map(argument, score);
    }
    Value largest = clone(exponential);
    for (OpOperand *input : weight.getDpsInputOperands())
      mapping.map(weight.getMatchingBlockArgument(input), input->get() == factor ? args[0] : largest);
    clone(weight);
    Value none = b.create<arith::ConstantOp>(
        loc, b.getFloatAttr(b.getF32Type(), APFloat::getQNaN(b.getF32Type().getFloatSemantics())));
    Value isNone = mapping.lookup(guardOf(weight).getCondition());
    b.create<linalg::YieldOp>(loc, b.create<arith::SelectOp>(loc, isNone, none, args[0]).getResult());
  };
  return b.create<GenericOp>(loc, init.getType(), ValueRange{factor, maximum}, init, maps, kinds, body).getResult(0);
}

/// The exponentials become what the product reads, which its results are divided by the sum of.
void Deferral::narrowExponentials() {
  Type own = getElementTypeOrSelf(exponential->getResult(0));
  if (type == own)
    return;
  Location loc = exponential.getLoc();
  OpBuilder b(exponential);
  OpOperand &init = exponential.getDpsInitsMutable()[0];
  init.set(b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, init.get()), type));
  exponential->getResult(0).setType(cast<RankedTensorType>(init.get().getType()));
  exponential.getBody()->getArguments().back().setType(type);
  Operation *yield = exponential.getBody()->getTerminator();
  conversion->moveBefore(yield);
  conversion->setOperand(0, yield->getOperand(0));
  yield->setOperand(0, conversion->getResult(0));
  BlockArgument argument = sum.getMatchingBlockArgument(inputFrom(sum, exponential));
  argument.setType(type);
  b.setInsertionPointToStart(sum.getBody());
  Value wide = b.create<arith::ExtFOp>(loc, own, argument);
  argument.replaceAllUsesExcept(wide, wide.getDefiningOp());
}

/// One elementwise operation behind the product is computed with it.
void Deferral::fuseWithUser(GenericOp divided) {
  if (!divided->hasOneUse())
    return;
  OpOperand &use = *divided->getResult(0).getUses().begin();
  auto user = dyn_cast<GenericOp>(use.getOwner());
  if (user && !user.getNumReductionLoops() && user.getMatchingIndexingMap(&use).isPermutation())
    fuseWithMaker(use);
}

void Deferral::apply() {
  OpBuilder b(values);
  Location loc = values.getLoc();
  bool guarded = bool(guardOf(weight));
  Value value = guarded ? withoutConversions(guardOf(weight).getFalseValue()) : withoutConversions(yielded(weight));
  bool divides = isa<arith::DivFOp>(value.getDefiningOp());
  Value ofRow = guarded ? guardedFactor(b) : factor;
  narrowExponentials();
  weights->set(exponential->getResult(0));
  weight.erase();
  b.setInsertionPointAfter(values);
  Value result = values->getResult(0);
  int64_t rank = ofResults.getNumDims();
  AffineMap maps[] = {b.getMultiDimIdentityMap(rank), ofResults, b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  Value init = b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, values.getDpsInits()[0]), b.getF32Type());
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    Value scaled = divides ? b.create<arith::DivFOp>(loc, args[0], args[1]).getResult()
                           : b.create<arith::MulFOp>(loc, args[0], args[1]);
    if (guarded) {
      Value isNone = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, args[1], args[1]);
      Value zero = b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(0));
      scaled = b.create<arith::SelectOp>(loc, isNone, zero, scaled);
    }
    b.create<linalg::YieldOp>(loc, scaled);
  };
  auto divided = b.create<GenericOp>(loc, result.getType(), ValueRange{result, ofRow}, init, maps, kinds, body);
  result.replaceAllUsesExcept(divided.getResult(0), divided);
  fuseWithUser(divided);
}

namespace {
struct DeferDivisionPass : strata::impl::DeferDivisionBase<DeferDivisionPass> {
  void runOnOperation() override {
    SmallVector<GenericOp> products;
    getOperation().walk([&](GenericOp op) {
      if (op.getNumReductionLoops() == 1)
        products.push_back(op);
    });
    for (GenericOp values : products)
      if (std::optional<Deferral> deferral = Deferral::find(values))
        deferral->apply();
  }
};
} // namespace
