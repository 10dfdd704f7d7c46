//===- UnsignProducts.cpp - signed data of products becomes unsigned ------===//
//
// Vectors add products of an unsigned and a signed byte. Where both are signed, the data
// would be moved by 128 in each step of the reduction; it is kept so from where it is
// made instead, and the sums of the weights, which are constants, take it back.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "KeptElements.h"
#include "LoopNest.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace strata {
#define GEN_PASS_DEF_UNSIGNPRODUCTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using linalg::GenericOp;

namespace {
/// Bytes x as x + 128: the sign's bit is the other one.
class Unsigned : public strata::KeptElements {
public:
  /// The products that may read their data so, and which input it is.
  llvm::MapVector<GenericOp, unsigned> products;

  void readAs(GenericOp op, OpOperand *use, Value kept) override {
    auto product = products.find(op);
    if (product != products.end() && product->second == use->getOperandNumber())
      return isKept(use->get()) ? void() : multiply(op, use, kept);
    KeptElements::readAs(op, use, kept);
  }

protected:
  Type typeOf(Type element) const override { return element; }
  Value convert(OpBuilder &b, Location loc, Value element) const override {
    return b.create<arith::XOrIOp>(loc, element, b.create<arith::ConstantOp>(loc, b.getI8IntegerAttr(INT8_MIN)));
  }
  TypedAttr convert(TypedAttr constant) const override {
    return IntegerAttr::get(constant.getType(), cast<IntegerAttr>(constant).getValue() ^ APInt::getSignedMinValue(8));
  }
  Value restore(OpBuilder &b, Location loc, Value element) const override { return convert(b, loc, element); }

  bool moves(Operation *op) const override { return KeptElements::moves(op) || getMaximum(op); }
  /// The largest of signed bytes are then those of unsigned ones.
  Value moved(OpBuilder &b, Operation *op, IRMapping &mapping) const override {
    Operation *maximum = getMaximum(op);
    if (!maximum)
      return KeptElements::moved(b, op, mapping);
    auto pool = cast<GenericOp>(op);
    auto fill = pool.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    TypedAttr least;
    matchPattern(fill.value(), m_Constant(&least));
    Value start = b.create<arith::ConstantOp>(op->getLoc(), convert(least));
    start = b.create<linalg::FillOp>(fill.getLoc(), start, fill.getOutputs()[0]).getResult(0);
    mapping.map(pool.getDpsInits()[0], start);
    auto result = cast<GenericOp>(b.clone(*op, mapping));
    maximum = getMaximum(result);
    b.setInsertionPoint(maximum);
    maximum->replaceAllUsesWith(
        b.create<arith::MaxUIOp>(maximum->getLoc(), maximum->getOperand(0), maximum->getOperand(1)));
    maximum->erase();
    b.setInsertionPointAfter(result);
    return result.getResult(0);
  }

  /// Other sums of products have their own ways of reading bytes.
  bool canRead(GenericOp op, OpOperand &use) const override {
    auto product = products.find(op);
    return product != products.end() ? product->second == use.getOperandNumber() : !strata::matchProductSum(op);
  }

private:
  /// The product of unsigned data, and -128 times the weights' sums.
  static void multiply(GenericOp op, OpOperand *use, Value kept) {
    Operation *extension = *op.getMatchingBlockArgument(use).user_begin();
    OpBuilder b(extension);
    Value element = b.create<arith::ExtUIOp>(extension->getLoc(), b.getI32Type(), extension->getOperand(0));
    extension->replaceAllUsesWith(ValueRange(element));
    extension->erase();
    use->set(kept);
    b.setInsertionPointAfter(op);
    Location loc = op.getLoc();
    OpOperand *weights = op.getDpsInputOperand(1 - use->getOperandNumber());
    AffineMap read = op.getMatchingIndexingMap(weights), out = op.getIndexingMapsArray().back();
    SmallVector<utils::IteratorType> kinds(read.getNumResults(), utils::IteratorType::reduction);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, weights->get()), lanes;
    SmallVector<AffineExpr> ofWeights, ofResult;
    for (auto [dim, expr] : llvm::enumerate(read.getResults())) {
      std::optional<unsigned> position = out.getResultPosition(expr);
      if (!isa<AffineDimExpr>(expr) || !position)
        continue;
      kinds[dim] = utils::IteratorType::parallel;
      lanes.push_back(sizes[dim]);
      ofWeights.push_back(b.getAffineDimExpr(dim));
      ofResult.push_back(b.getAffineDimExpr(*position));
    }
    Type i32 = b.getI32Type();
    auto map = [&](unsigned dims, ArrayRef<AffineExpr> exprs) {
      return AffineMap::get(dims, 0, exprs, b.getContext());
    };
    Value zero = b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(0));
    Value empty = b.create<tensor::EmptyOp>(loc, lanes, i32);
    Value sums = b.create<linalg::FillOp>(loc, zero, empty).getResult(0);
    SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(kinds.size()), map(kinds.size(), ofWeights)};
    sums = b.create<GenericOp>(loc, sums.getType(), weights->get(), sums, maps, kinds,
                               [&](OpBuilder &b, Location loc, ValueRange args) {
                                 Value byte = b.create<arith::ExtSIOp>(loc, i32, args[0]);
                                 Value shift = b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(7));
                                 Value product = b.create<arith::ShLIOp>(loc, byte, shift);
                                 b.create<linalg::YieldOp>(loc,
                                                           b.create<arith::SubIOp>(loc, args[1], product).getResult());
                               })
               .getResult(0);
    if (joinConstants(b, op.getResult(0), sums, map(out.getNumResults(), ofResult)))
      return;
    Value result = op.getResult(0);
    kinds.assign(out.getNumResults(), utils::IteratorType::parallel);
    AffineMap all = b.getMultiDimIdentityMap(kinds.size());
    empty = b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, result), i32);
    auto sum = b.create<GenericOp>(loc, result.getType(), ValueRange{result, sums}, empty,
                                   ArrayRef<AffineMap>{all, map(kinds.size(), ofResult), all}, kinds, buildSum);
    result.replaceUsesWithIf(
        sum.getResult(0), [&](OpOperand &use) { return use.getOwner() != sum && !isa<tensor::DimOp>(use.getOwner()); });
  }

  static void buildSum(OpBuilder &b, Location loc, ValueRange args) {
    b.create<linalg::YieldOp>(loc, b.create<arith::AddIOp>(loc, args[0], args[1]).getResult());
  }

  /// Where a constant is all that is added to the product, for its zero point: `sums` are added to that. `read`: where
  /// they are, by the product's dimensions.
  static bool joinConstants(OpBuilder &b, Value product, Value sums, AffineMap read) {
    auto sum = product.hasOneUse() ? dyn_cast<GenericOp>(*product.user_begin()) : GenericOp();
    auto added = sum && sum.getNumDpsInputs() == 2 && sum.getNumReductionLoops() == 0
                     ? sum.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::AddIOp>()
                     : nullptr;
    if (!added || sum.getBody()->getOperations().size() != 2 || sum.getDpsInputs()[0] != product ||
        !sum.getIndexingMapsArray()[0].isIdentity())
      return false;
    BlockArgument x = sum.getBody()->getArgument(0), y = sum.getBody()->getArgument(1);
    OpOperand *other = sum.getDpsInputOperand(1);
    AffineMap ofOther = sum.getMatchingIndexingMap(other);
    auto type = dyn_cast<RankedTensorType>(other->get().getType());
    if (llvm::SmallDenseSet<Value>{added.getLhs(), added.getRhs()} != llvm::SmallDenseSet<Value>{x, y} || !type ||
        !type.hasStaticShape() || type.getNumElements() != cast<RankedTensorType>(sums.getType()).getNumElements())
      return false;
    SmallVector<AffineExpr> ofSums;
    for (AffineExpr expr : read.getResults()) {
      std::optional<unsigned> position = ofOther.getResultPosition(expr);
      if (!position)
        return false;
      ofSums.push_back(b.getAffineDimExpr(*position));
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(sum);
    Location loc = sum.getLoc();
    unsigned rank = type.getRank();
    AffineMap all = b.getMultiDimIdentityMap(rank);
    Value empty = b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, other->get()), b.getI32Type());
    SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
    auto joined = b.create<GenericOp>(loc, type, ValueRange{other->get(), sums}, empty,
                                      ArrayRef<AffineMap>{all, AffineMap::get(rank, 0, ofSums, b.getContext()), all},
                                      kinds, buildSum);
    other->set(joined.getResult(0));
    return true;
  }

  /// What a pool of maxima joins elements by.
  static Operation *getMaximum(Operation *op) {
    auto pool = dyn_cast<GenericOp>(op);
    if (!pool || !pool.getNumReductionLoops() || pool->getNumResults() != 1 || !pool.hasPureTensorSemantics() ||
        !getElementTypeOrSelf(pool.getResult(0)).isInteger(8))
      return nullptr;
    std::optional<strata::Combiner> combiner = strata::matchCombiner(pool);
    auto fill = pool.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    bool reads = combiner && llvm::all_of(combiner->op->getOperands(), [](Value x) { return isa<BlockArgument>(x); });
    return reads && isa<arith::MaxSIOp>(combiner->op) && fill && matchPattern(fill.value(), m_Constant()) ? combiner->op
                                                                                                          : nullptr;
  }
};

struct UnsignProductsPass : strata::impl::UnsignProductsBase<UnsignProductsPass> {
  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    Unsigned bytes;
    SmallVector<GenericOp> wanted;
    getOperation().walk([&](GenericOp op) {
      if (std::optional<unsigned> data = getData(op, constants)) {
        bytes.products[op] = *data;
        if (haveLanes(op, 1 - *data))
          wanted.push_back(op);
      }
    });
    auto data = [&](GenericOp op) { return op.getDpsInputOperand(bytes.products[op]); };
    for (GenericOp op : wanted)
      bytes.keep(data(op)->get());
    for (size_t i = 0; i < bytes.converted.size(); ++i) // which may grow
      if (Value value = bytes.converted[i]; bytes.canAllRead(value))
        bytes.readKept(value);
    for (GenericOp op : wanted)
      bytes.readAs(op, data(op), bytes.keep(data(op)->get()));
  }

private:
  /// The signed data of a product with constant signed weights.
  static std::optional<unsigned> getData(GenericOp op, const strata::ConstantExpressions &constants) {
    std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
    if (!sum || !sum->sum.isInteger(32) || !op.hasPureTensorSemantics() ||
        !llvm::all_of(sum->elements, [](Type element) { return element.isInteger(8); }) ||
        llvm::is_contained(sum->isUnsigned, true))
      return std::nullopt;
    for (unsigned data : {0u, 1u}) {
      Value weights = op.getDpsInputs()[1 - data];
      if (!constants.isConstant(op.getDpsInputs()[data]) && constants.isConstant(weights) &&
          strata::isPlain(op.getMatchingIndexingMap(op.getDpsInputOperand(1 - data))) &&
          op.getIndexingMapsArray().back().isProjectedPermutation())
        return data;
    }
    return std::nullopt;
  }

  /// Whether weights have a loop that the data does not depend on.
  static bool haveLanes(GenericOp op, unsigned weights) {
    AffineMap ofWeights = op.getIndexingMapsArray()[weights], ofData = op.getIndexingMapsArray()[1 - weights];
    return llvm::any_of(ofWeights.getResults(), [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return dim && !ofData.isFunctionOfDim(dim.getPosition());
    });
  }
};
} // namespace
