//===- ShareConcats.cpp - concatenations that begin with others -----------===//
#include "ShareConcats.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

static bool isStatic(tensor::ConcatOp op) {
  return op.getResultType().hasStaticShape() && llvm::all_of(op.getInputs().getTypes(), [](Type type) {
           return cast<RankedTensorType>(type).hasStaticShape();
         });
}

static bool beginsWith(tensor::ConcatOp longer, tensor::ConcatOp shorter) {
  ValueRange all = longer.getInputs(), first = shorter.getInputs();
  return longer.getDim() == shorter.getDim() && first.size() < all.size() && first == all.take_front(first.size());
}

/// What another concatenation makes is one part only: its parts are parts of `op`, where it is the beginning of this, or
/// nothing else reads it.
static void flatten(tensor::ConcatOp op) {
  SmallVector<Value> parts;
  for (auto [number, part] : llvm::enumerate(op.getInputs())) {
    auto inner = part.getDefiningOp<tensor::ConcatOp>();
    if (inner && inner.getDim() == op.getDim() && isStatic(inner) && (number == 0 || inner->hasOneUse()))
      llvm::append_range(parts, inner.getInputs());
    else
      parts.push_back(part);
  }
  if (parts.size() != op.getInputs().size())
    op.getInputsMutable().assign(parts);
}

/// From the shortest to the longest.
static void share(ArrayRef<tensor::ConcatOp> chain) {
  tensor::ConcatOp whole = chain.back();
  Block *block = whole->getBlock();
  uint64_t dim = whole.getDim();
  OpBuilder b(whole);
  b.setInsertionPointToStart(block);
  RankedTensorType type = whole.getResultType();
  Value grown = b.create<tensor::EmptyOp>(whole.getLoc(), type.getShape(), type.getElementType());
  Operation *last = grown.getDefiningOp();
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), ones(type.getRank(), b.getIndexAttr(1));
  int64_t at = 0;
  const tensor::ConcatOp *next = chain.begin();
  for (auto [number, part] : llvm::enumerate(whole.getInputs())) {
    tensor::ConcatOp concat = *next;
    // As soon as the part is there, so that what makes it can write it in its place.
    if (Operation *maker = part.getDefiningOp(); maker && maker->getBlock() == block && last->isBeforeInBlock(maker))
      last = maker;
    b.setInsertionPointAfter(last);
    auto own = cast<RankedTensorType>(part.getType());
    offsets[dim] = b.getIndexAttr(at);
    auto insert = b.create<tensor::InsertSliceOp>(concat.getLoc(), part, grown, offsets,
                                                  getAsIndexOpFoldResult(b.getContext(), own.getShape()), ones);
    grown = insert;
    last = insert;
    at += own.getDimSize(dim);
    if (number + 1 < concat.getInputs().size())
      continue;
    ++next;
    if (concat == whole) {
      concat.replaceAllUsesWith(grown);
      break;
    }
    SmallVector<OpFoldResult> zeros(type.getRank(), b.getIndexAttr(0));
    RankedTensorType view = concat.getResultType();
    auto slice = b.create<tensor::ExtractSliceOp>(concat.getLoc(), grown, zeros,
                                                  getAsIndexOpFoldResult(b.getContext(), view.getShape()), ones);
    last = slice;
    concat.replaceAllUsesWith(slice.getResult());
  }
  for (tensor::ConcatOp concat : chain)
    concat.erase();
}

void strata::shareConcats(func::FuncOp function) {
  function.walk([](Block *block) {
    SmallVector<tensor::ConcatOp> concats;
    for (auto op : block->getOps<tensor::ConcatOp>())
      if (isStatic(op))
        flatten(op);
    for (auto op : block->getOps<tensor::ConcatOp>())
      if (isStatic(op) && !op->use_empty())
        concats.push_back(op);
    llvm::sort(concats, [](tensor::ConcatOp x, tensor::ConcatOp y) {
      size_t a = x.getInputs().size(), b = y.getInputs().size();
      return a != b ? a < b : x->isBeforeInBlock(y);
    });
    SmallVector<SmallVector<tensor::ConcatOp>> chains;
    for (tensor::ConcatOp concat : concats) {
      auto *chain = llvm::find_if(chains, [&](auto &chain) { return beginsWith(concat, chain.back()); });
      if (chain == chains.end())
        chains.push_back({concat});
      else
        chain->push_back(concat);
    }
    for (ArrayRef<tensor::ConcatOp> chain : chains)
      if (chain.size() > 1)
        share(chain);
  });
}
