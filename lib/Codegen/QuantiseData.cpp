//===- QuantiseData.cpp - bytes of data for weights of few bits -----------===//
//
// With --precision=int8: where weights are constants of 8 or 4 bits, the data that
// they are multiplied with is rounded to 8 bits, in blocks of the reduction with a
// scale of their own, whenever the model runs.
//
//===----------------------------------------------------------------------===//
#include "BlockDots.h"
#include "Blocks.h"
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "Conversions.h"
#include "EqualSizes.h"
#include "LinalgQueries.h"
#include "ProductSums.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace strata {
#define GEN_PASS_DEF_QUANTISEDATA
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using strata::BlockDots;
using strata::NarrowCodes;

namespace {
/// Data as whole numbers times factors.
struct Quantised {
  Value bytes, factors, sums; ///< [.., blocks, size], [.., blocks], [.., blocks]
};

struct QuantiseDataPass : strata::impl::QuantiseDataBase<QuantiseDataPass> {
  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    SmallVector<std::pair<linalg::GenericOp, NarrowCodes>> found;
    getOperation().walk([&](linalg::GenericOp op) {
      std::optional<NarrowCodes> codes = strata::matchNarrowCodes(op);
      if (codes && codes->weights.areConstant(op, constants))
        found.push_back({op, *codes});
    });
    for (auto &[op, codes] : found)
      quantise(op, codes);
  }

private:
  DenseMap<std::pair<Value, int64_t>, Quantised> known; ///< what several products read

  const Quantised &quantised(OpBuilder &b, Location loc, Value data, int64_t size);
  void quantise(linalg::GenericOp op, NarrowCodes codes);
};

/// Loops over the elements of a tensor, the last one perhaps a reduction.
struct Rows {
  OpBuilder &b;
  Location loc;
  Value tensor;

  int64_t rank() const { return cast<RankedTensorType>(tensor.getType()).getRank(); }
  AffineMap outer() const { return b.getMultiDimIdentityMap(rank()).dropResult(rank() - 1); }

  Value empty(bool whole, Type element) const {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
    sizes.resize(rank() - !whole);
    return b.create<tensor::EmptyOp>(loc, sizes, element);
  }

  /// For each row, what `join` makes of its elements, one after the other, from `start` on.
  Value reduce(TypedAttr start, function_ref<Value(OpBuilder &, Value sum, Value x)> join) const {
    Value from = b.create<arith::ConstantOp>(loc, start);
    Value filled = b.create<linalg::FillOp>(loc, from, empty(false, start.getType())).getResult(0);
    SmallVector<utils::IteratorType> kinds(rank(), utils::IteratorType::parallel);
    kinds.back() = utils::IteratorType::reduction;
    SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(rank()), outer()};
    return b
        .create<linalg::GenericOp>(loc, filled.getType(), tensor, filled, maps, kinds,
                                   [&](OpBuilder &b, Location loc, ValueRange args) {
                                     b.create<linalg::YieldOp>(loc, join(b, args[1], args[0]));
                                   })
        .getResult(0);
  }
};
} // namespace

/// q = round(x / f) with f the largest magnitude over 127: from -127 to 127. Where that is no number, all results of
/// the row are none.
const Quantised &QuantiseDataPass::quantised(OpBuilder &b, Location loc, Value data, int64_t size) {
  auto type = cast<RankedTensorType>(data.getType());
  auto [place, isNew] = known.try_emplace({data, size});
  if (!isNew)
    return place->second;
  OpBuilder::InsertionGuard guard(b);
  strata::setInsertionPointBehindChecks(b, data);
  Type f32 = b.getF32Type(), i8 = b.getI8Type(), i32 = b.getI32Type();
  auto number = [&](OpBuilder &b, double value) {
    return b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(static_cast<float>(value)));
  };
  constexpr double most = 127;
  Rows x{b, loc, strata::inGroups(b, loc, data, type.getRank() - 1, size)};
  Value largest = x.reduce(b.getF32FloatAttr(0), [&](OpBuilder &b, Value sum, Value x) -> Value {
    return b.create<arith::MaximumFOp>(loc, sum, b.create<math::AbsFOp>(loc, x));
  });
  Value inverse =
      strata::mapElements(b, loc, largest, f32, [&](OpBuilder &b, Value m) -> Value {
        Value isSome = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, m, number(b, 0));
        return b.create<arith::SelectOp>(loc, isSome, b.create<arith::DivFOp>(loc, number(b, most), m), number(b, 0));
      }).getResult(0);
  Value factors = strata::mapElements(b, loc, largest, f32, [&](OpBuilder &b, Value m) -> Value {
                    Value none = b.create<arith::SubFOp>(loc, m, m); // of numbers, 0
                    return b.create<arith::AddFOp>(loc, b.create<arith::MulFOp>(loc, m, number(b, 1 / most)), none);
                  }).getResult(0);
  SmallVector<utils::IteratorType> kinds(x.rank(), utils::IteratorType::parallel);
  AffineMap all = b.getMultiDimIdentityMap(x.rank());
  Value empty = x.empty(true, i8);
  Value bytes =
      b.create<linalg::GenericOp>(
           loc, empty.getType(), ValueRange{x.tensor, inverse}, empty, ArrayRef<AffineMap>{all, x.outer(), all}, kinds,
           [&](OpBuilder &b, Location loc, ValueRange args) {
             Value q = b.create<math::RoundEvenOp>(loc, b.create<arith::MulFOp>(loc, args[0], args[1]));
             q = b.create<arith::MinNumFOp>(loc, b.create<arith::MaxNumFOp>(loc, q, number(b, -most)), number(b, most));
             b.create<linalg::YieldOp>(loc, b.create<arith::FPToSIOp>(loc, i8, q).getResult());
           })
          .getResult(0);
  Value sums = Rows{b, loc, bytes}.reduce(b.getI32IntegerAttr(0), [&](OpBuilder &b, Value sum, Value q) -> Value {
    return b.create<arith::AddIOp>(loc, sum, b.create<arith::ExtSIOp>(loc, i32, q));
  });
  return place->second = {bytes, factors, sums};
}

void QuantiseDataPass::quantise(linalg::GenericOp op, NarrowCodes codes) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned data = codes.weights.data, bytes = codes.bytes.getArgNumber();
  int64_t size = strata::termsOfFactor(op, codes);
  if (!size)
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  const Quantised &x = quantised(b, loc, op.getDpsInputs()[data], size);
  // The loop over the terms is one over groups of them; then words, then the terms of a word.
  unsigned wordLoop = op.getNumLoops(), termLoop = wordLoop + 1, loops = termLoop + 1;
  AffineExpr word = b.getAffineDimExpr(wordLoop), term = b.getAffineDimExpr(termLoop);
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(loops, 0, exprs, b.getContext()); };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> read;
  auto take = [&](Value value, ArrayRef<AffineExpr> exprs) {
    inputs.push_back(value);
    read.push_back(map(exprs));
    return static_cast<int>(inputs.size()) - 1;
  };
  BlockDots dots{};
  dots.bits = codes.bits;
  SmallVector<AffineExpr> dataExprs(maps[data].getResults()), wordExprs(maps[bytes].getResults());
  dots.factor = take(x.factors, dataExprs);
  dataExprs.append({word, term});
  dots.data = take(strata::inGroups(b, loc, x.bytes, dataExprs.size() - 2, codes.perWord()), dataExprs);
  unsigned at = *strata::positionOf(maps[bytes], codes.terms);
  wordExprs.insert(wordExprs.begin() + at + 1, word);
  Value groups = strata::inGroups(b, loc, op.getDpsInputs()[bytes], at, size);
  dots.words = take(strata::makeWords(b, loc, groups, at + 1, codes,
                                      [&](OpBuilder &b, Location loc, Value term) {
                                        return strata::placeInBytes(b, loc, term, codes.bits);
                                      }),
                    wordExprs);
  if (BlockArgument scale = codes.scale())
    dots.scale =
        take(op.getDpsInputs()[scale.getArgNumber()], SmallVector<AffineExpr>(maps[scale.getArgNumber()].getResults()));
  if (codes.zero) {
    Value zeros = op.getDpsInputs()[codes.zero.getArgNumber()];
    if (int64_t offset = codes.offset())
      zeros = strata::mapElements(b, loc, zeros, b.getI8Type(), [&](OpBuilder &b, Value zero) -> Value {
                return b.create<arith::AddIOp>(loc, zero, b.create<arith::ConstantOp>(loc, b.getI8IntegerAttr(offset)));
              }).getResult(0);
    dots.zero = take(zeros, SmallVector<AffineExpr>(maps[codes.zero.getArgNumber()].getResults()));
  }
  dots.zeroPoint = codes.offset() + codes.zeroPoint;
  if (codes.zero || dots.zeroPoint)
    dots.sums = take(x.sums, SmallVector<AffineExpr>(maps[data].getResults()));
  read.push_back(map(SmallVector<AffineExpr>(maps.back().getResults())));
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.append(2, utils::IteratorType::reduction);
  auto product = b.create<linalg::GenericOp>(loc, op.getResultTypes(), inputs, op.getDpsInits(), read, kinds,
                                             [&](OpBuilder &b, Location loc, ValueRange args) {
                                               strata::buildBlockDots(b, loc, args, dots, wordLoop, termLoop);
                                             });
  op->replaceAllUsesWith(product);
  op.erase();
}
