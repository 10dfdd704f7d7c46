//===- FuseAttention.cpp - products around a softmax become one kernel ----===//
//
// Scores grow with the square of the length, and would be written once and read
// three times. What is between the products is left as it is, in a loop of one
// iteration over all blocks of the GPU: the kernel takes from it what it needs.
//
//===----------------------------------------------------------------------===//
#include "Attention.h"
#include "Codegen/GPUPasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace strata {
#define GEN_PASS_DEF_FUSEATTENTION
#include "Codegen/GPUPasses.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

Value strata::filledWith(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  auto generic = tensor.getDefiningOp<GenericOp>();
  if (!generic || generic.getNumDpsInputs() || generic.getNumDpsInits() != 1 ||
      !llvm::hasSingleElement(*generic.getBody()))
    return nullptr;
  Value value = generic.getBody()->getTerminator()->getOperand(0);
  return value.getParentBlock() == generic.getBody() ? Value() : value;
}

tensor::EmptyOp strata::destinationBehind(Value init) {
  if (filledWith(init))
    init = cast<linalg::LinalgOp>(init.getDefiningOp()).getDpsInits()[0];
  return init.getDefiningOp<tensor::EmptyOp>();
}

bool strata::canMove(const Attention &a) {
  SmallVector<Operation *> members;
  for (auto [name, op] : a.ops())
    members.push_back(op);
  for (auto [name, op] : a.ops()) {
    Value init = op.getDpsInits()[0];
    if (op->getBlock() != members.back()->getBlock() || !destinationBehind(init))
      return false;
    if (op != members.back() &&
        !llvm::all_of(op->getUsers(), [&](Operation *user) { return llvm::is_contained(members, user); }))
      return false;
    if (!op.getNumReductionLoops())
      continue;
    APFloat start(0.0f);
    Value filled = filledWith(init);
    bool isNumber = filled && matchPattern(filled, m_ConstantFloat(&start));
    if (!isNumber || !(op == a.maximum ? start.isInfinity() && start.isNegative() : start.isZero()))
      return false;
  }
  return true;
}

void strata::readThroughTransposes(OpOperand &operand) {
  auto op = cast<GenericOp>(operand.getOwner());
  while (auto transpose = operand.get().getDefiningOp<linalg::TransposeOp>()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<AffineExpr> results(map.getNumResults());
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      results[from] = map.getResult(to);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[operand.getOperandNumber()] = AffineMap::get(map.getNumDims(), 0, results, op.getContext());
    op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
    operand.set(transpose.getInput());
  }
}

namespace {
struct FuseAttentionPass : strata::impl::FuseAttentionBase<FuseAttentionPass> {
  void runOnOperation() override {
    SmallVector<GenericOp> products;
    getOperation().walk([&](GenericOp op) {
      if (matchProductSum(op) && !op->getParentOfType<scf::ForallOp>())
        products.push_back(op);
    });
    for (GenericOp values : products) {
      std::optional<Attention> attention = findAttention(values);
      if (!attention || !canMove(*attention))
        continue;
      writeTransposed(*attention);
      if (GenericOp shared = shareRepeatedHeads(*attention))
        attention = findAttention(shared);
      if (attention && chooseAttentionTile(*attention))
        fuse(*attention);
    }
  }

private:
  /// The transposition of the result, if that is all that happens to it; it is then written so.
  static linalg::TransposeOp transposeBehind(Value result) {
    auto transpose = result.hasOneUse() ? dyn_cast<linalg::TransposeOp>(*result.user_begin()) : nullptr;
    if (!transpose || transpose->getBlock() != result.getParentBlock() || transpose.getInput() != result ||
        !transpose.getInit().getDefiningOp<tensor::EmptyOp>())
      return nullptr;
    return transpose;
  }

  /// The last operation writes what is made of its result by transpositions.
  static void writeTransposed(Attention &a) {
    while (linalg::TransposeOp transpose = transposeBehind(a.last()->getResult(0))) {
      GenericOp last = a.last();
      OpBuilder b(transpose);
      auto order = llvm::map_to_vector(transpose.getPermutation(), [](int64_t dim) { return unsigned(dim); });
      SmallVector<AffineMap> maps = last.getIndexingMapsArray();
      maps.back() = AffineMap::getPermutationMap(order, b.getContext()).compose(maps.back());
      SmallVector<Value> operands(last.getDpsInputs());
      Value place = b.clone(*transpose.getInit().getDefiningOp())->getResult(0);
      if (Value number = filledWith(last.getDpsInits()[0]))
        place = b.create<linalg::FillOp>(last.getLoc(), number, place).getResult(0);
      operands.push_back(place);
      auto copy = cast<GenericOp>(mlir::clone(b, last, place.getType(), operands));
      copy->setLoc(b.getFusedLoc({last.getLoc(), transpose.getLoc()}));
      copy.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
      transpose->getResult(0).replaceAllUsesWith(copy->getResult(0));
      transpose->erase();
      last->erase();
      (a.finish ? a.finish : a.values) = copy;
    }
  }

  static void fuse(const Attention &a) {
    for (auto [name, op] : a.ops()) {
      op->setAttr(kAttention, StringAttr::get(op->getContext(), name));
      for (OpOperand *input : op.getDpsInputOperands())
        readThroughTransposes(*input);
    }
    GenericOp last = a.last();
    Value result = last->getResult(0);
    OpBuilder b(last);
    SmallVector<Location> locations;
    for (auto [name, op] : a.ops())
      locations.push_back(op->getLoc());
    Location loc = FusedLoc::get(b.getContext(), locations);
    Value destination = b.clone(*destinationBehind(last.getDpsInits()[0]))->getResult(0);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, destination);
    // One iteration, of all blocks.
    auto blocks = gpu::GPUBlockMappingAttr::get(b.getContext(), gpu::MappingId::DimX);
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    auto loop =
        b.create<scf::ForallOp>(loc, ArrayRef(zero), ArrayRef(one), ArrayRef(one), destination, b.getArrayAttr(blocks));
    b.setInsertionPointToStart(loop.getBody());
    // That it begins at the number of the iteration, which is 0, keeps it a part: bufferization writes parts in place.
    SmallVector<OpFoldResult> begins(sizes.size(), zero), ones(sizes.size(), one);
    begins[0] = loop.getInductionVar(0);
    Value part = b.create<tensor::ExtractSliceOp>(loc, loop.getRegionIterArgs()[0], begins, sizes, ones);
    IRMapping inside;
    for (auto [name, op] : a.ops()) {
      Value init = op.getDpsInits()[0];
      Value place = op == last ? part : b.clone(*destinationBehind(init))->getResult(0);
      if (Value number = filledWith(init))
        place = b.create<linalg::FillOp>(op.getLoc(), number, place).getResult(0);
      SmallVector<Value> operands;
      for (Value input : op.getDpsInputs())
        operands.push_back(inside.lookupOrDefault(input));
      operands.push_back(place);
      inside.map(op->getResult(0), mlir::clone(b, op, place.getType(), operands)->getResult(0));
    }
    b.setInsertionPointToStart(loop.getTerminator().getBody());
    b.create<tensor::ParallelInsertSliceOp>(loc, inside.lookup(last->getResult(0)), loop.getRegionIterArgs()[0], begins,
                                            sizes, ones);
    result.replaceAllUsesWith(loop.getResult(0));
    auto ops = a.ops();
    for (auto [name, op] : llvm::reverse(ops))
      op->erase();
  }
};
} // namespace
