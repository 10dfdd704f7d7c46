//===- PadKeys.cpp - any number of keys in whole blocks -------------------===//
#include "Codegen/Passes.h"
#include "Conversions.h"
#include "GPU/Attention.h"
#include "Halves.h"
#include "LinalgQueries.h"
#include "ProductSums.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace strata {
#define GEN_PASS_DEF_PADKEYS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

static bool comesLast(AffineMap map, unsigned loop) {
  std::optional<unsigned> last = innermost(map);
  return last && *last == loop;
}

static AffineMap mapOf(OpOperand &operand) {
  return cast<GenericOp>(operand.getOwner()).getMatchingIndexingMap(&operand);
}

/// The one loop of a sum of products.
static unsigned termsOf(GenericOp op) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  return reduced.front();
}

/// Whether enough queries read keys that may be no whole blocks to pay for a copy of these, and the products are as the
/// unit takes them: scores along the keys, and results along the columns of V.
static bool isWorthPadding(const Attention &a) {
  constexpr int64_t leastTerms = 8, leastColumns = 16, manyQueries = 48;
  GenericOp scores = a.scores, values = a.values;
  SmallVector<int64_t> sizes = scores.getStaticLoopRanges();
  std::optional<unsigned> columns = getLaneOf(values, 1 - a.probability);
  int64_t keys = sizes[a.key], filled = llvm::alignTo(keys, kKeyBlock);
  // Each of those that are added costs an exponential.
  bool isWorthFilling = ShapedType::isDynamic(keys) || (filled != keys && 3 * (filled - keys) <= keys);
  if (!isWorthFilling || ShapedType::isDynamic(sizes[a.depth]) || sizes[a.depth] < leastTerms || !columns ||
      ShapedType::isDynamic(values.getStaticLoopRanges()[*columns]) ||
      values.getStaticLoopRanges()[*columns] < leastColumns)
    return false;
  if (!getElementTypeOrSelf((a.score ? a.score : scores)->getResult(0)).isF32())
    return false;
  for (GenericOp product : {scores, values})
    for (Value input : product.getDpsInputs())
      if (Type element = getElementTypeOrSelf(input); !element.isF32() && !element.isBF16())
        return false;
  if (!comesLast(scores.getIndexingMapsArray().back(), a.key) || !comesLast(mapOf(a.queries()), a.depth) ||
      !comesLast(values.getMatchingIndexingMap(values.getDpsInputOperand(a.probability)), termsOf(values)))
    return false;
  int64_t queries = 1;
  for (int row : a.rows)
    queries *= ShapedType::isDynamic(sizes[row]) ? manyQueries : sizes[row];
  bool areUnknown = llvm::any_of(a.rows, [&](int row) { return ShapedType::isDynamic(sizes[row]); });
  return queries >= manyQueries && !(areUnknown && isCache(a.keys().get(), sizes[a.key]));
}

namespace {
/// The operations of an attention once more, in whole blocks of keys.
class KeyBlocks {
public:
  explicit KeyBlocks(const Attention &a) : a(a), b(GenericOp(a.scores)) {
    Value keys = a.keys().get();
    Location loc = keys.getLoc();
    AffineExpr n = b.getAffineSymbolExpr(0);
    number = tensor::getMixedSize(b, loc, keys, *positionOf(mapOf(a.keys()), a.key));
    padded = affine::makeComposedFoldedAffineApply(b, loc, n.ceilDiv(kKeyBlock) * kKeyBlock, {number});
    more = affine::makeComposedFoldedAffineApply(b, loc, n.ceilDiv(kKeyBlock) * kKeyBlock - n, {number});
  }

  void apply() {
    SmallVector<GenericOp> replaced;
    for (auto [name, op] : a.ops()) {
      std::optional<unsigned> loop = op == a.scores ? std::optional<unsigned>(a.key) : keyLoop(op);
      if (!loop)
        continue;
      replaced.push_back(op);
      b.setInsertionPoint(op);
      GenericOp copy = remake(op, *loop);
      Value result = copy.getResult(0);
      if (op == a.scores || op == a.values)
        readHalves(op, copy);
      std::optional<unsigned> dim = positionOf(op.getIndexingMapsArray().back(), *loop);
      if (op == (a.score ? a.score : a.scores))
        result = hide(copy, *dim);
      if (dim)
        remade[op->getResult(0)] = {result, *dim};
      else
        op->getResult(0).replaceAllUsesWith(result);
    }
    erase(replaced);
    joinWithMakers();
  }

private:
  Attention a;
  OpBuilder b;
  Halves halves;
  OpFoldResult number, padded, more; ///< keys: how many there are, in whole blocks, and by how many these are more
  RemadeValues remade;               ///< by the dimension of the keys

  std::optional<unsigned> keyLoop(GenericOp op) const {
    for (OpOperand *input : op.getDpsInputOperands())
      if (remade.contains(input->get()))
        return remadeLoop(op, remade);
    return std::nullopt;
  }

  /// With what was made for them alone.
  static void erase(ArrayRef<GenericOp> ops) {
    llvm::SmallSetVector<Operation *, 16> dead;
    auto eraseOne = [&](Operation *op) {
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp())
          dead.insert(maker);
      dead.remove(op);
      op->erase();
    };
    for (GenericOp op : llvm::reverse(ops))
      eraseOne(op);
    while (!dead.empty()) {
      Operation *op = dead.pop_back_val();
      if (isOpTriviallyDead(op))
        eraseOne(op);
    }
  }

  Value fillUp(Value value, int64_t dim, TypedAttr with) {
    Location loc = value.getLoc();
    // A transposition then still reaches the product.
    if (auto transpose = value.getDefiningOp<linalg::TransposeOp>()) {
      Value source = fillUp(transpose.getInput(), transpose.getPermutation()[dim], with);
      tensor::EmptyOp unpadded = destinationBehind(transpose.getInit());
      SmallVector<OpFoldResult> sizes =
          unpadded ? unpadded.getMixedSizes() : tensor::getMixedSizes(b, loc, transpose.getInit());
      sizes[dim] = padded;
      Value place = b.create<tensor::EmptyOp>(loc, sizes, getElementTypeOrSelf(value));
      return b.create<linalg::TransposeOp>(loc, source, place, transpose.getPermutation()).getResult()[0];
    }
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
    high[dim] = more;
    Value padding = b.create<arith::ConstantOp>(loc, with);
    return b.create<tensor::PadOp>(loc, Type(), value, low, high, padding);
  }

  GenericOp remake(GenericOp op, unsigned loop) {
    return strata::remake(b, op, loop, padded, remade, [&](Value given, unsigned dim) {
      bool isFilledLater = op == a.scores || op == a.values; // when it is rounded
      return isFilledLater ? given : fillUp(given, dim, cast<TypedAttr>(b.getZeroAttr(getElementTypeOrSelf(given))));
    });
  }

  /// The operands of a product are rounded where they are made, and then filled up.
  void readHalves(GenericOp op, GenericOp copy) {
    if (isa<Value>(padded))
      copy->setAttr(kPaddedKeys, b.getUnitAttr());
    for (OpOperand *input : copy.getDpsInputOperands()) {
      bool isHalf = getElementTypeOrSelf(input->get()).isBF16();
      Value kept = isHalf ? input->get() : halves.keep(input->get());
      OpOperand *read = op.getDpsInputOperand(input->getOperandNumber());
      std::optional<unsigned> dim = positionOf(mapOf(*read), op == a.scores ? a.key : termsOf(op));
      b.setInsertionPoint(copy);
      if (dim && !remade.contains(read->get()))
        kept = fillUp(kept, *dim, b.getZeroAttr(b.getBF16Type()));
      if (isHalf)
        input->set(kept);
      else
        halves.readAs(copy, input, kept);
    }
  }

  /// Its sizes are those of where it is written.
  void readSizesElsewhere(Value value) {
    auto maker = value.getDefiningOp<GenericOp>();
    tensor::EmptyOp place = maker ? destinationBehind(maker.getTiedOpOperand(cast<OpResult>(value))->get()) : nullptr;
    for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
      auto dim = dyn_cast<tensor::DimOp>(user);
      std::optional<int64_t> number = dim ? dim.getConstantIndex() : std::nullopt;
      if (!place || !number)
        continue;
      b.setInsertionPoint(dim);
      dim.replaceAllUsesWith(getValueOrCreateConstantIndexOp(b, dim.getLoc(), place.getMixedSizes()[*number]));
      dim->erase();
    }
  }

  /// What is only rounded is computed so, where that is elementwise.
  void joinWithMakers() {
    for (Value wide : halves.converted) {
      auto conversion = halves.keep(wide).getDefiningOp<GenericOp>();
      readSizesElsewhere(wide);
      if (wide.hasOneUse())
        fuseWithMaker(*conversion.getDpsInputOperand(0));
    }
  }

  /// The scores, of keys that there are not -inf.
  Value hide(GenericOp scored, unsigned dim) {
    b.setInsertionPointAfter(scored);
    Location loc = scored.getLoc();
    Value score = scored->getResult(0), zero = b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(0));
    Type element = getElementTypeOrSelf(score);
    Value place = b.create<tensor::EmptyOp>(loc, ArrayRef<OpFoldResult>{number}, b.getF32Type());
    Value seen = b.create<linalg::FillOp>(loc, zero, place).getResult(0);
    auto none = b.getFloatAttr(b.getF32Type(), APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true));
    Value bound = fillUp(seen, 0, none);
    int64_t rank = cast<RankedTensorType>(score.getType()).getRank();
    AffineMap same = b.getMultiDimIdentityMap(rank), key = AffineMap::get(rank, 0, b.getAffineDimExpr(dim));
    Value init = b.create<tensor::EmptyOp>(loc, destinationBehind(scored.getDpsInits()[0]).getMixedSizes(), element);
    SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
    auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
      Value isNone = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, args[1], zero);
      b.create<linalg::YieldOp>(loc, b.create<arith::SelectOp>(loc, isNone, args[1], args[0]).getResult());
    };
    auto hidden = b.create<GenericOp>(loc, init.getType(), ValueRange{score, bound}, init, ArrayRef{same, key, same},
                                      kinds, body);
    GenericOp fused = scored.getNumReductionLoops() ? nullptr : fuseWithMaker(*hidden.getDpsInputOperand(0));
    return (fused ? fused : hidden)->getResult(0);
  }
};

struct PadKeysPass : strata::WithTarget<strata::impl::PadKeysBase<PadKeysPass>> {
  using WithTarget::WithTarget;

  void runOnOperation() override {
    if (!bf16Tiles) // vectors would gain nothing
      return;
    SmallVector<GenericOp> products;
    getOperation().walk([&](GenericOp op) {
      if (op.getNumReductionLoops() == 1)
        products.push_back(op);
    });
    for (GenericOp values : products)
      if (std::optional<Attention> attention = findAttention(values);
          attention && canMove(*attention) && isWorthPadding(*attention))
        KeyBlocks(*attention).apply();
  }
};
} // namespace
