//===- SinkThroughGather.cpp - transposes go behind interpolations -------===//
//
// An interpolation, as of Resize, reads its data in the body, at rows and columns that a table tells, and at the
// channel that it writes. Where the channels lie last in what is transposed for it, whole vectors of them are read at
// each place, and what comes next finds them last, too.
//
//===----------------------------------------------------------------------===//
#include "SinkThroughGather.h"
#include "Transposed.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace strata;

bool strata::isReturned(Value value) {
  llvm::SmallSetVector<Operation *, 8> readers;
  auto add = [&](Value read) {
    for (Operation *user : read.getUsers())
      if (!isa<tensor::DimOp>(user))
        readers.insert(isa<tensor::ExtractOp>(user) ? user->getParentOp() : user);
  };
  add(value);
  for (size_t i = 0; i < readers.size(); ++i) {
    Operation *reader = readers[i];
    if (reader->hasTrait<OpTrait::IsTerminator>())
      return true;
    if (isa<linalg::GenericOp, tensor::PadOp, tensor::InsertSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            reader))
      if (auto sums = dyn_cast<linalg::LinalgOp>(reader); !sums || sums.getNumReductionLoops() == 0)
        for (Value result : reader->getResults())
          add(result);
  }
  return false;
}

namespace {
struct SinkThroughGather : OpRewritePattern<linalg::GenericOp> {
  SinkThroughGather(MLIRContext *context, int64_t lanes) : OpRewritePattern(context), lanes(lanes) {}

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op->getNumResults() != 1)
      return failure();
    tensor::ExtractOp gather;
    linalg::TransposeOp transpose;
    for (auto extract : op.getBody()->getOps<tensor::ExtractOp>())
      if (auto before = transposeBefore(op, extract.getTensor())) {
        if (gather)
          return failure();
        gather = extract;
        transpose = before;
      }
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap &result = maps.back();
    if (!gather || gather.getTensor().getType().getRank() != result.getNumResults() || isReturned(op->getResult(0)))
      return failure();
    ArrayRef<int64_t> order = transpose.getPermutation();
    SmallVector<int64_t> back = invertPermutationVector(order);
    if (!keepsChannels(op, gather, back.back(), result))
      return failure();
    Location loc = op.getLoc();
    result = mapBehind(transpose, result);
    Value init = transposed(rewriter, loc, op.getDpsInits()[0], back);
    auto moved = rewriter.create<linalg::GenericOp>(loc, init.getType(), op.getDpsInputs(), init, maps,
                                                    op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), moved.getRegion(), moved.getRegion().begin());
    rewriter.modifyOpInPlace(gather, [&] {
      gather.getIndicesMutable().assign(applyPermutation(SmallVector<Value>(gather.getIndices()), back));
      gather.getTensorMutable().assign(transpose.getInput());
    });
    rewriter.replaceOp(op, transposed(rewriter, loc, moved.getResult(0), order));
    return success();
  }

private:
  /// Whether it reads at the channel that it writes: `channels` is what the last dimension was transposed to.
  bool keepsChannels(linalg::GenericOp op, tensor::ExtractOp gather, int64_t channels, AffineMap result) const {
    auto index = gather.getIndices()[channels].getDefiningOp<linalg::IndexOp>();
    auto loop = dyn_cast<AffineDimExpr>(result.getResult(channels));
    return index && loop && index.getDim() == loop.getPosition() && channels + 1 < result.getNumResults() &&
           cast<ShapedType>(op->getResult(0).getType()).getDimSize(channels) >= lanes;
  }

  int64_t lanes;
};
} // namespace

void strata::populateSinkThroughGather(RewritePatternSet &patterns, int64_t lanes) {
  patterns.add<SinkThroughGather>(patterns.getContext(), lanes);
}
