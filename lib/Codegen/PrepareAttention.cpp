//===- PrepareAttention.cpp - heads that share keys; one query ------------===//
#include "Codegen/Passes.h"
#include "GPU/Attention.h"
#include "LinalgQueries.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace strata {
#define GEN_PASS_DEF_PREPAREATTENTION
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

bool strata::isCache(Value keys, int64_t count) {
  constexpr int64_t fewKeys = 64;
  if (!ShapedType::isDynamic(count))
    return count >= fewKeys;
  while (Operation *maker = keys.getDefiningOp()) {
    if (auto concat = dyn_cast<tensor::ConcatOp>(maker))
      return static_cast<int64_t>(concat.getDim()) + 1 < concat.getResultType().getRank();
    auto generic = dyn_cast<GenericOp>(maker);
    if (!isa<linalg::TransposeOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(maker) &&
        !(generic && generic.getNumDpsInputs() == 1 && !generic.getNumReductionLoops()))
      return false;
    keys = maker->getOperand(0);
  }
  return true; // an argument
}

/// The loop of the scores that walks the queries, where the run tells their number and the keys are a cache.
static std::optional<unsigned> findQueries(const Attention &a) {
  SmallVector<int64_t> sizes = GenericOp(a.scores).getStaticLoopRanges();
  auto isSymbolic = [&](int loop) { return ShapedType::isDynamic(sizes[loop]); };
  if (llvm::count_if(a.rows, isSymbolic) != 1 || !isCache(a.keys().get(), sizes[a.key]))
    return std::nullopt;
  return *llvm::find_if(a.rows, isSymbolic);
}

/// Dimensions of 1 of which no loop knows are gone from what is read: the rest is a permutation of loops.
static void dropUnitDims(OpOperand &operand) {
  auto op = cast<GenericOp>(operand.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<ReassociationIndices> groups(1);
  SmallVector<AffineExpr> results;
  for (auto [dim, result] : llvm::enumerate(map.getResults())) {
    if (!isa<AffineConstantExpr>(result)) {
      if (!results.empty())
        groups.emplace_back();
      results.push_back(result);
    }
    groups.back().push_back(dim);
  }
  if (results.empty() || results.size() == map.getNumResults())
    return;
  OpBuilder b(op);
  operand.set(b.create<tensor::CollapseShapeOp>(op.getLoc(), operand.get(), groups));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand.getOperandNumber()] = AffineMap::get(map.getNumDims(), 0, results, op.getContext());
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

namespace {
/// The operations of an attention once more, of one query.
class SingleQuery {
public:
  SingleQuery(OpBuilder &b, const Attention &a) : b(b), attention(a) {}

  /// The result of the last one, with the type that it had before.
  Value create(unsigned queries) {
    for (auto [name, op] : attention.ops())
      clone(op, op == attention.scores ? queries : remadeLoop(op, done));
    Value last = attention.last()->getResult(0);
    return b.create<tensor::CastOp>(last.getLoc(), last.getType(), done.lookup(last).tensor);
  }

private:
  void clone(GenericOp op, unsigned loop) {
    auto cast = [&](Value given, unsigned dim) -> Value {
      auto type = mlir::cast<RankedTensorType>(given.getType());
      SmallVector<int64_t> shape(type.getShape());
      shape[dim] = 1;
      return b.create<tensor::CastOp>(op.getLoc(), type.clone(shape), given);
    };
    Value result = remake(b, op, loop, b.getIndexAttr(1), done, cast)->getResult(0);
    done[op->getResult(0)] = {result, *positionOf(op.getIndexingMapsArray().back(), loop)};
  }

  OpBuilder &b;
  const Attention &attention;
  RemadeValues done; // by the queries' dimension
};

struct PrepareAttentionPass : strata::impl::PrepareAttentionBase<PrepareAttentionPass> {
  void runOnOperation() override {
    SmallVector<GenericOp> products;
    getOperation().walk([&](GenericOp op) {
      if (op.getNumReductionLoops() == 1)
        products.push_back(op);
    });
    for (GenericOp values : products) {
      std::optional<Attention> attention = findAttention(values);
      if (!attention || !canMove(*attention))
        continue;
      if (GenericOp shared = shareRepeatedHeads(*attention)) {
        attention = findAttention(shared);
        if (!attention)
          continue;
        for (OpOperand *read : {&attention->keys(), &attention->valuesOperand()})
          dropUnitDims(*read);
      }
      if (std::optional<unsigned> queries = findQueries(*attention)) {
        readThroughTransposes(attention->keys()); // which stay in front of the branches otherwise
        branch(*attention, *queries);
      }
    }
  }

private:
  static void branch(const Attention &a, unsigned queries) {
    GenericOp last = a.last();
    Location loc = last.getLoc();
    OpBuilder b(last);
    unsigned dim = *positionOf(GenericOp(a.scores).getMatchingIndexingMap(&a.queries()), queries);
    Value count = b.create<tensor::DimOp>(loc, a.queries().get(), dim), one = b.create<arith::ConstantIndexOp>(loc, 1);
    Value isOne = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, count, one);
    auto branches =
        b.create<scf::IfOp>(loc, last->getResultTypes(), isOne, /*addThenBlock=*/true, /*addElseBlock=*/true);
    last->getResult(0).replaceAllUsesWith(branches.getResult(0));
    b.setInsertionPointToStart(branches.thenBlock());
    b.create<scf::YieldOp>(loc, SingleQuery(b, a).create(queries));
    b.setInsertionPointToStart(branches.elseBlock());
    auto yield = b.create<scf::YieldOp>(loc, last->getResult(0));
    for (auto [name, op] : a.ops())
      op->moveBefore(yield);
  }
};
} // namespace
