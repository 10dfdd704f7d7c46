//===- CrossProducts.cpp - additions instead of multiplications -----------===//
//
// Winograd's inner product (A New Algorithm for Inner Product, 1968):
//
//   a0 w0 + a1 w1 = (a0 + w1) (a1 + w0) - a0 a1 - w0 w1
//
// What is taken away again depends on the row or on the lane alone. Of floats the sums would be rounded; of integers
// they are exact, and i32 wraps to the same.
//
//===----------------------------------------------------------------------===//
#include "CrossProducts.h"
#include "Blocks.h"
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "LinalgQueries.h"
#include "Padding.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace strata {
#define GEN_PASS_DEF_CROSSPRODUCTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

std::optional<CrossedSum> strata::matchCrossedSum(linalg::GenericOp op) {
  Value addend = op.getNumDpsInputs() == 4 ? getAddend(op) : Value();
  auto product = addend && addend.getType().isInteger(32) ? addend.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!product)
    return std::nullopt;
  CrossedSum result;
  unsigned seen = 0;
  for (auto [f, factor] : llvm::enumerate(product->getOperands())) {
    auto extension = factor.getDefiningOp<arith::ExtSIOp>();
    auto sum = extension ? extension.getIn().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
    if (!sum || !sum.getType().isInteger(16))
      return std::nullopt;
    for (auto [i, operand] : llvm::enumerate(sum->getOperands())) {
      auto input = dyn_cast<BlockArgument>(operand);
      if (!input || input.getOwner() != op.getBody() || input.getArgNumber() >= 4)
        return std::nullopt;
      seen |= 1u << input.getArgNumber();
      result.factors[f][i] = input.getArgNumber();
    }
  }
  return seen == 0xf ? std::optional(result) : std::nullopt;
}

namespace {
/// An operand whose groups are pieces of two halves, and how an operation with one more loop, over the groups of a
/// half, reads each half.
struct Halves {
  Value value;
  AffineMap maps[2];
};

struct CrossProductsPass : strata::impl::CrossProductsBase<CrossProductsPass> {
  using CrossProductsBase::CrossProductsBase;

  void runOnOperation() override {
    ConstantExpressions constants(getOperation());
    SmallVector<std::pair<linalg::GenericOp, unsigned>> found; // with the loop that is cut into pieces
    getOperation().walk([&](linalg::GenericOp op) {
      if (std::optional<unsigned> depth = depthOf(op, constants))
        found.push_back({op, *depth});
    });
    for (auto [op, depth] : found)
      cross(op, depth);
  }

private:
  /// The sums of a row cost as much as a few lanes' products.
  static constexpr int64_t leastLanes = 64;
  /// Groups of half a piece: the data of both halves shares a line of the cache, and vectors multiply them for the sums
  /// of a row.
  static constexpr int64_t half = 4;

  /// The loop over the groups of the reduction, if it is the only one with several iterations and pays.
  static std::optional<unsigned> depthOf(linalg::GenericOp op, const ConstantExpressions &constants) {
    std::optional<ProductSum> sum = matchProductSum(op);
    if (!sum || !op.hasPureTensorSemantics() || !op->hasAttr(kLargestProduct) || !getPaddedLoops(op).empty() ||
        !op.getIndexingMapsArray().back().isProjectedPermutation() || !sum->elements[0].isInteger(16) ||
        !sum->elements[1].isInteger(16))
      return std::nullopt;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    for (unsigned weights : {0u, 1u}) {
      OpOperand *w = op.getDpsInputOperand(weights), *data = op.getDpsInputOperand(1 - weights);
      std::optional<unsigned> lane = getLaneOf(op, weights), group = getGroup(op, data);
      if (!constants.isConstant(w->get()) || constants.isConstant(data->get()) || !lane || !group ||
          ranges[*lane] < leastLanes)
        continue;
      std::optional<unsigned> depth;
      bool isOnly = true;
      for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
        if (kind == utils::IteratorType::reduction && loop != *group && ranges[loop] != 1) {
          isOnly &= !depth;
          depth = loop;
        }
      auto isPlainIn = [&](OpOperand *operand) {
        AffineMap map = op.getMatchingIndexingMap(operand);
        return positionOf(map, *depth) &&
               llvm::count_if(map.getResults(), [&](AffineExpr e) { return e.isFunctionOfDim(*depth); }) == 1;
      };
      if (depth && isOnly && ranges[*depth] > 0 && ranges[*depth] % (2 * half) == 0 && isPlainIn(w) && isPlainIn(data))
        return depth;
    }
    return std::nullopt;
  }

  static Halves halve(OpBuilder &b, linalg::GenericOp op, OpOperand *operand, unsigned depth) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    int64_t at = *positionOf(map, depth);
    Halves halves;
    halves.value = inGroups(b, op.getLoc(), inGroups(b, op.getLoc(), operand->get(), at, 2 * half), at + 1, half);
    for (unsigned number : {0u, 1u}) {
      SmallVector<AffineExpr> results(map.getResults());
      AffineExpr more[] = {b.getAffineConstantExpr(number), b.getAffineDimExpr(map.getNumDims())};
      results.insert(results.begin() + at + 1, std::begin(more), std::end(more));
      halves.maps[number] = AffineMap::get(map.getNumDims() + 1, 0, results, b.getContext());
    }
    return halves;
  }

  /// The sums over the reduction of the products of both halves of an operand, and how `op` reads them.
  static std::pair<Value, AffineMap> sumOfHalves(OpBuilder &b, linalg::GenericOp op, const Halves &halves) {
    Location loc = op.getLoc();
    SmallVector<utils::IteratorType> kinds, all = op.getIteratorTypesArray();
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    all.push_back(utils::IteratorType::reduction);
    ranges.push_back(half);
    SmallVector<AffineExpr> dims(ranges.size(), b.getAffineConstantExpr(0)); // of both, as those of the sums
    for (auto [loop, kind] : llvm::enumerate(all))
      if (halves.maps[0].isFunctionOfDim(loop) && (kind == utils::IteratorType::parallel || ranges[loop] != 1)) {
        dims[loop] = b.getAffineDimExpr(kinds.size());
        kinds.push_back(kind);
      }
    auto renumbered = [&](AffineMap map) { return map.replaceDimsAndSymbols(dims, {}, kinds.size(), 0); };
    SmallVector<AffineExpr> out, read;
    SmallVector<OpFoldResult> result = tensor::getMixedSizes(b, loc, op.getDpsInits()[0]), sizes;
    for (auto [expr, size] : llvm::zip(op.getIndexingMapsArray().back().getResults(), result))
      if (auto dim = cast<AffineDimExpr>(expr); halves.maps[0].isFunctionOfDim(dim.getPosition())) {
        read.push_back(expr);
        out.push_back(dims[dim.getPosition()]);
        sizes.push_back(size);
      }
    Value zero = b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(0));
    Value init = b.create<tensor::EmptyOp>(loc, sizes, b.getI32Type());
    init = b.create<linalg::FillOp>(loc, zero, init).getResult(0);
    AffineMap maps[] = {renumbered(halves.maps[0]), renumbered(halves.maps[1]),
                        AffineMap::get(kinds.size(), 0, out, b.getContext())};
    auto sums =
        b.create<linalg::GenericOp>(loc, init.getType(), ValueRange{halves.value, halves.value}, init, maps, kinds,
                                    [](OpBuilder &b, Location loc, ValueRange arguments) {
                                      Value x = b.create<arith::ExtSIOp>(loc, b.getI32Type(), arguments[0]),
                                            y = b.create<arith::ExtSIOp>(loc, b.getI32Type(), arguments[1]);
                                      Value product = b.create<arith::MulIOp>(loc, x, y);
                                      Value sum = b.create<arith::AddIOp>(loc, arguments[2], product);
                                      b.create<linalg::YieldOp>(loc, sum);
                                    });
    return {sums.getResult(0), AffineMap::get(op.getNumLoops(), 0, read, b.getContext())};
  }

  /// What the sums of `op` start with: less by all `parts`, which `op` would read by their maps.
  static Value startWithout(OpBuilder &b, linalg::GenericOp op, ArrayRef<std::pair<Value, AffineMap>> parts) {
    Location loc = op.getLoc();
    Value start = op.getDpsInits()[0];
    AffineMap out = op.getIndexingMapsArray().back();
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    unsigned rank = out.getNumResults();
    // The loops of `op` that walk the result, as dimensions of it.
    SmallVector<AffineExpr> dims(out.getNumDims(), b.getAffineConstantExpr(0));
    for (auto [i, expr] : llvm::enumerate(out.getResults()))
      dims[cast<AffineDimExpr>(expr).getPosition()] = b.getAffineDimExpr(i);
    for (auto [value, map] : parts) {
      inputs.push_back(value);
      maps.push_back(map.replaceDimsAndSymbols(dims, {}, rank, 0));
    }
    auto fill = start.getDefiningOp<linalg::FillOp>();
    bool startsWithZero = fill && matchPattern(fill.getInputs()[0], m_Zero());
    if (!startsWithZero) {
      inputs.push_back(start);
      maps.push_back(b.getMultiDimIdentityMap(rank));
    }
    Value empty = b.create<tensor::EmptyOp>(loc, tensor::getMixedSizes(b, loc, start), b.getI32Type());
    maps.push_back(b.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
    auto made = b.create<linalg::GenericOp>(
        loc, empty.getType(), inputs, empty, maps, kinds, [&](OpBuilder &b, Location loc, ValueRange arguments) {
          Value result = startsWithZero ? b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(0)).getResult()
                                        : arguments[parts.size()];
          for (unsigned i = 0; i < parts.size(); ++i)
            result = b.create<arith::SubIOp>(loc, result, arguments[i]);
          b.create<linalg::YieldOp>(loc, result);
        });
    return made.getResult(0);
  }

  static void cross(linalg::GenericOp op, unsigned depth) {
    OpBuilder b(op);
    Halves x = halve(b, op, op.getDpsInputOperand(0), depth), y = halve(b, op, op.getDpsInputOperand(1), depth);
    std::pair<Value, AffineMap> parts[] = {sumOfHalves(b, op, x), sumOfHalves(b, op, y)};
    Value start = startWithout(b, op, parts);
    Value inputs[] = {x.value, x.value, y.value, y.value};
    AffineMap out = op.getIndexingMapsArray().back();
    AffineMap maps[] = {x.maps[0], x.maps[1], y.maps[0], y.maps[1],
                        AffineMap::get(out.getNumDims() + 1, 0, out.getResults(), b.getContext())};
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    kinds.push_back(utils::IteratorType::reduction);
    auto crossed = b.create<linalg::GenericOp>(
        op.getLoc(), start.getType(), inputs, start, maps, kinds,
        [](OpBuilder &b, Location loc, ValueRange arguments) {
          auto factor = [&](unsigned i, unsigned j) -> Value {
            Value sum = b.create<arith::AddIOp>(loc, arguments[i], arguments[j]);
            return b.create<arith::ExtSIOp>(loc, b.getI32Type(), sum);
          };
          Value x = factor(0, 3), y = factor(1, 2);
          Value product = b.create<arith::MulIOp>(loc, x, y);
          Value sum = b.create<arith::AddIOp>(loc, arguments[4], product);
          b.create<linalg::YieldOp>(loc, sum);
        });
    op->getResult(0).replaceAllUsesWith(crossed.getResult(0));
    op.erase();
  }
};
} // namespace
