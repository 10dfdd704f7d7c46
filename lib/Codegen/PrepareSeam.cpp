//===- PrepareSeam.cpp - tensor operations without a buffer form ----------===//
//
// What one-shot bufferisation would refuse or copy needlessly is rewritten to
// linalg and slices here.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "ShareConcats.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace strata {
#define GEN_PASS_DEF_PREPARESEAM
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// The sizes as attributes, or nothing where one is dynamic.
static SmallVector<OpFoldResult> staticSizes(OpBuilder &b,
                                             RankedTensorType type) {
  if (!type.hasStaticShape())
    return {};
  return getAsIndexOpFoldResult(b.getContext(), type.getShape());
}

namespace {

/// The sizes of a result as they are known before `maker` runs: those of the
/// empty tensor that it writes. None if it writes another one.
static SmallVector<OpFoldResult> sizesBefore(linalg::LinalgOp maker,
                                             OpResult result) {
  Value init = maker.getDpsInits()[result.getResultNumber()];
  while (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getOutputs()[0];
  auto empty = init.getDefiningOp<tensor::EmptyOp>();
  return empty ? empty.getMixedSizes() : SmallVector<OpFoldResult>();
}

/// What makes the source of `part`.
linalg::LinalgOp makerOf(tensor::InsertSliceOp part) {
  return part.getSource().getDefiningOp<linalg::LinalgOp>();
}

/// The insertions of parts, one after another, that make `whole` of an empty tensor of known size, if nothing else reads
/// what they make in between, and they and the makers of the parts are all in `block`.
SmallVector<tensor::InsertSliceOp> insertedParts(Value whole, Block *block) {
  SmallVector<tensor::InsertSliceOp> parts;
  while (auto insert = whole.getDefiningOp<tensor::InsertSliceOp>()) {
    linalg::LinalgOp maker = makerOf(insert);
    if (!insert.getType().hasStaticShape() || !insert.getSourceType().hasStaticShape() ||
        ShapedType::isDynamicShape(insert.getStaticOffsets()) || (!parts.empty() && !insert->hasOneUse()) || !maker ||
        insert->getBlock() != block || maker->getBlock() != block)
      return {};
    parts.push_back(insert);
    whole = insert.getDest();
  }
  if (!whole.getDefiningOp<tensor::EmptyOp>())
    return {};
  std::reverse(parts.begin(), parts.end());
  return parts;
}

/// Each part is inserted as soon as it is made, into a tensor that is there before: then it may be made in its place.
void insertEarly(tensor::InsertSliceOp last) {
  bool isLast = llvm::none_of(last->getUsers(), [&](Operation *user) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(user);
    return insert && insert.getDest() == last;
  });
  if (!isLast)
    return;
  SmallVector<tensor::InsertSliceOp> parts = insertedParts(last, last->getBlock());
  if (parts.size() < 2)
    return;
  OpBuilder b(makerOf(parts.front()));
  Operation *empty = b.clone(*parts.front().getDest().getDefiningOp());
  parts.front().getDestMutable().set(empty->getResult(0));
  Operation *before = empty;
  for (tensor::InsertSliceOp part : parts) {
    Operation *maker = makerOf(part);
    part->moveAfter(before->isBeforeInBlock(maker) ? maker : before);
    before = part;
  }
}

/// tensor.pad with one padding value for all elements: the border slabs of an
/// empty tensor are filled, then the source goes into the middle. Filling only
/// the border leaves the middle to be written once, by its producer.
struct PadToSlabs : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    Value padding = op.getConstantPaddingValue();
    if (!padding)
      return rewriter.notifyMatchFailure(op, "the padding depends on the index");
    Location loc = op.getLoc();
    int64_t rank = op.getSourceType().getRank();
    // A negative amount crops; it is left to a slice of the source.
    SmallVector<OpFoldResult> low = op.getMixedLowPad(),
                              high = op.getMixedHighPad();
    for (auto [l, h] : llvm::zip(low, high))
      for (OpFoldResult amount : {l, h}) {
        std::optional<int64_t> known = getConstantIntValue(amount);
        if (known && *known < 0)
          return rewriter.notifyMatchFailure(op, "negative padding");
      }
    if (rank == 0) {
      rewriter.replaceOp(op, op.getSource());
      return success();
    }
    if (padding.getDefiningOp() && op->isAncestor(padding.getDefiningOp()))
      rewriter.moveOpBefore(padding.getDefiningOp(), op);

    // The border first, then its producer may write the middle in place.
    SmallVector<OpFoldResult> inner =
        staticSizes(rewriter, op.getSourceType());
    // All parts of it, if it is made of some, go there one by one.
    bool isKnown = !ShapedType::isDynamicShape(op.getStaticLow()) && !ShapedType::isDynamicShape(op.getStaticHigh()) &&
                   padding.getDefiningOp<arith::ConstantOp>();
    SmallVector<tensor::InsertSliceOp> parts;
    if (isKnown && !inner.empty() && op.getSource().hasOneUse())
      parts = insertedParts(op.getSource(), op->getBlock());
    auto maker = parts.empty() ? op.getSource().getDefiningOp<linalg::LinalgOp>() : makerOf(parts.front());
    if (maker && maker->getBlock() == op->getBlock() && isKnown) {
      if (inner.empty())
        inner = sizesBefore(maker, cast<OpResult>(op.getSource()));
      if (!inner.empty()) {
        Operation *constant = rewriter.clone(*padding.getDefiningOp());
        rewriter.moveOpBefore(constant, maker);
        padding = constant->getResult(0);
        rewriter.setInsertionPoint(maker);
      }
    }
    AffineExpr a, b, c;
    bindSymbols(op.getContext(), a, b, c);
    if (inner.empty())
      inner = tensor::getMixedSizes(rewriter, loc, op.getSource());
    SmallVector<OpFoldResult> outer;
    for (int64_t d = 0; d < rank; ++d)
      outer.push_back(affine::makeComposedFoldedAffineApply(
          rewriter, loc, a + b + c, {low[d], inner[d], high[d]}));
    RankedTensorType type = op.getResultType();
    for (int64_t d = 0; d < rank; ++d)
      if (!type.isDynamicDim(d))
        outer[d] = rewriter.getIndexAttr(type.getDimSize(d));
    Value result = rewriter.create<tensor::EmptyOp>(
        loc, outer, type.getElementType());
    SmallVector<OpFoldResult> ones(rank, rewriter.getIndexAttr(1));
    auto fillSlab = [&](int64_t dim, OpFoldResult offset, OpFoldResult size) {
      if (isConstantIntValue(size, 0))
        return;
      // Dimensions before `dim` are restricted to the middle: no corner twice.
      SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0));
      SmallVector<OpFoldResult> sizes = outer;
      for (int64_t d = 0; d < dim; ++d) {
        offsets[d] = low[d];
        sizes[d] = inner[d];
      }
      offsets[dim] = offset;
      sizes[dim] = size;
      // Each use of an empty tensor becomes one of its own.
      Value slab = result.getDefiningOp<tensor::EmptyOp>()
                       ? rewriter.create<tensor::EmptyOp>(
                             loc, sizes, type.getElementType())
                       : rewriter
                             .create<tensor::ExtractSliceOp>(
                                 loc, result, offsets, sizes, ones)
                             .getResult();
      slab = rewriter.create<linalg::FillOp>(loc, padding, slab).getResult(0);
      result = rewriter.create<tensor::InsertSliceOp>(loc, slab, result,
                                                      offsets, sizes, ones);
    };
    for (int64_t d = 0; d < rank; ++d) {
      fillSlab(d, rewriter.getIndexAttr(0), low[d]);
      fillSlab(d,
               affine::makeComposedFoldedAffineApply(rewriter, loc, a + b,
                                                     {low[d], inner[d]}),
               high[d]);
    }
    for (tensor::InsertSliceOp part : parts) {
      rewriter.setInsertionPoint(part);
      SmallVector<OpFoldResult> offsets = part.getMixedOffsets();
      for (auto [offset, first] : llvm::zip(offsets, low))
        offset = affine::makeComposedFoldedAffineApply(rewriter, loc, a + b, {offset, first});
      result = rewriter.create<tensor::InsertSliceOp>(part.getLoc(), part.getSource(), result, offsets,
                                                      part.getMixedSizes(), part.getMixedStrides());
    }
    rewriter.setInsertionPoint(op);
    if (parts.empty())
      result = rewriter.create<tensor::InsertSliceOp>(loc, op.getSource(), result, low, inner, ones);
    if (result.getType() != type)
      result = rewriter.create<tensor::CastOp>(loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// The remaining pads: crops (negative amounts) and padding by index.
struct CropPad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t rank = op.getSourceType().getRank();
    SmallVector<OpFoldResult> low = op.getMixedLowPad(),
                              high = op.getMixedHighPad();
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, op.getSource());
    SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(rank, rewriter.getIndexAttr(1));
    AffineExpr a, b;
    bindSymbols(op.getContext(), a, b);
    bool crops = false;
    for (int64_t d = 0; d < rank; ++d) {
      std::optional<int64_t> l = getConstantIntValue(low[d]),
                             h = getConstantIntValue(high[d]);
      if (l && *l < 0) {
        crops = true;
        offsets[d] = rewriter.getIndexAttr(-*l);
        sizes[d] = affine::makeComposedFoldedAffineApply(rewriter, loc, a + b,
                                                         {sizes[d], low[d]});
        low[d] = rewriter.getIndexAttr(0);
      }
      if (h && *h < 0) {
        crops = true;
        sizes[d] = affine::makeComposedFoldedAffineApply(rewriter, loc, a + b,
                                                         {sizes[d], high[d]});
        high[d] = rewriter.getIndexAttr(0);
      }
    }
    if (!crops)
      return failure();
    Value padding = op.getConstantPaddingValue();
    if (!padding)
      return rewriter.notifyMatchFailure(op, "the padding depends on the index");
    if (padding.getDefiningOp() && op->isAncestor(padding.getDefiningOp()))
      rewriter.moveOpBefore(padding.getDefiningOp(), op);
    Value cropped = rewriter.create<tensor::ExtractSliceOp>(
        loc, op.getSource(), offsets, sizes, ones);
    rewriter.replaceOpWithNewOp<tensor::PadOp>(op, op.getResultType(), cropped,
                                               low, high, padding);
    return success();
  }
};

/// tensor.concat of many parts: each is copied into its place of a buffer. The time that bufferisation takes for a chain
/// of insertions into one tensor grows with the third power of its length.
struct LongConcatToCopies : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  static constexpr size_t chain = 24;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    if (op.getInputs().size() <= chain)
      return failure();
    Location loc = op.getLoc();
    RankedTensorType type = op.getResultType();
    int64_t rank = type.getRank();
    SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0)), ones(rank, rewriter.getIndexAttr(1));
    SmallVector<SmallVector<OpFoldResult>> sizes, places;
    AffineExpr sum = rewriter.getAffineSymbolExpr(0) + rewriter.getAffineSymbolExpr(1);
    for (Value part : op.getInputs()) {
      sizes.push_back(tensor::getMixedSizes(rewriter, loc, part));
      places.push_back(offsets);
      OpFoldResult &at = offsets[op.getDim()];
      at = affine::makeComposedFoldedAffineApply(rewriter, loc, sum, {at, sizes.back()[op.getDim()]});
    }
    SmallVector<OpFoldResult> whole = sizes.front();
    whole[op.getDim()] = offsets[op.getDim()];
    SmallVector<Value> dynamic;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (type.isDynamicDim(dim))
        dynamic.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, whole[dim]));
    auto buffer = MemRefType::get(type.getShape(), type.getElementType());
    Value result = rewriter.create<memref::AllocOp>(loc, buffer, dynamic);
    for (auto [part, size, at] : llvm::zip_equal(op.getInputs(), sizes, places)) {
      Value place = rewriter.create<memref::SubViewOp>(loc, result, at, size, ones);
      rewriter.create<bufferization::MaterializeInDestinationOp>(loc, TypeRange(), part, place, /*restrict=*/true,
                                                                 /*writable=*/true);
    }
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, type, result, /*restrict=*/true, /*writable=*/false);
    return success();
  }
};

/// What sizes are computed from at or behind `point`, in order, to move before
/// it; nothing if it may depend on what comes later, on data for example.
static std::optional<SetVector<Operation *>> findSizeArithmetic(ArrayRef<OpFoldResult> sizes, Operation *point) {
  BackwardSliceOptions options([&](Operation *op) {
    return op->getBlock() == point->getBlock() && !op->isBeforeInBlock(point);
  });
  options.inclusive = true;
  SetVector<Operation *> found;
  for (OpFoldResult size : sizes)
    if (auto value = dyn_cast<Value>(size))
      getBackwardSlice(value, &found, options);
  auto canMove = [](Operation *op) {
    return isPure(op) && (isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) || isa<tensor::DimOp>(op));
  };
  return llvm::all_of(found, canMove) ? std::optional(found) : std::nullopt;
}

/// tensor.concat: slices of one destination. Where all sizes are known, and
/// known to fit, before the parts are, the destination comes first and each part is inserted as
/// soon as it is there, so that bufferisation lets its producer write in place.
struct ConcatToSlices : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    Block *block = op->getBlock();
    auto maker = [&](Value value) -> Operation * {
      Operation *found = value.getDefiningOp();
      return found && found->getBlock() == block ? found : nullptr;
    };
    struct Part {
      Value value;
      SmallVector<OpFoldResult> sizes;
      OpFoldResult at;
    };
    RankedTensorType type = op.getResultType();
    SmallVector<Part> parts;
    Operation *first = op;
    for (Value value : op.getInputs()) {
      SmallVector<OpFoldResult> sizes = staticSizes(rewriter, cast<RankedTensorType>(value.getType()));
      Operation *made = maker(value);
      if (auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(made); sizes.empty() && linalgOp)
        sizes = sizesBefore(linalgOp, cast<OpResult>(value));
      if (sizes.empty() && type.getRank())
        return failure();
      if (made && made->isBeforeInBlock(first))
        first = made;
      parts.push_back({value, sizes, {}});
    }
    SmallVector<OpFoldResult> sizes;
    for (Part &part : parts)
      for (auto [dim, size] : llvm::enumerate(part.sizes)) {
        sizes.push_back(size);
        // What checks that they fit runs behind the parts.
        if (dim != op.getDim() && !isEqualConstantIntOrValue(size, parts.front().sizes[dim]))
          return rewriter.notifyMatchFailure(op, "parts may not fit each other");
      }
    auto above = findSizeArithmetic(sizes, first);
    if (!above)
      return rewriter.notifyMatchFailure(op, "sizes depend on the parts");
    for (Operation *arithmetic : *above)
      rewriter.moveOpBefore(arithmetic, first);

    Location loc = op.getLoc();
    rewriter.setInsertionPoint(first);
    AffineExpr sum = rewriter.getAffineSymbolExpr(0) + rewriter.getAffineSymbolExpr(1);
    SmallVector<OpFoldResult> whole = parts.front().sizes;
    OpFoldResult &offset = whole[op.getDim()] = rewriter.getIndexAttr(0);
    for (Part &part : parts) {
      part.at = offset;
      offset = affine::makeComposedFoldedAffineApply(rewriter, loc, sum, {offset, part.sizes[op.getDim()]});
    }
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (!ShapedType::isDynamic(size))
        whole[dim] = rewriter.getIndexAttr(size);
    Value result = rewriter.create<tensor::EmptyOp>(loc, whole, type.getElementType());
    llvm::stable_sort(parts, [&](const Part &x, const Part &y) {
      Operation *a = maker(x.value), *b = maker(y.value);
      return b && a != b && (!a || a->isBeforeInBlock(b));
    });
    SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
    Operation *last = nullptr;
    for (const Part &part : parts) {
      SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
      offsets[op.getDim()] = part.at;
      // A part that is there twice, or two of one op, follow each other.
      if (Operation *made = maker(part.value); made && made != last) {
        rewriter.setInsertionPointAfter(made);
        last = made;
      }
      result = rewriter.create<tensor::InsertSliceOp>(loc, part.value, result, offsets, part.sizes, ones);
    }
    if (result.getType() != type) {
      rewriter.setInsertionPoint(op);
      result = rewriter.create<tensor::CastOp>(loc, type, result);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// The insertion of what is made in the place `part` into the tensor that `part` is of; null if there is none.
tensor::InsertSliceOp insertionOf(tensor::ExtractSliceOp part) {
  if (!part->hasOneUse())
    return nullptr;
  Operation *maker = *part->user_begin();
  if (maker->getNumResults() != 1 || !maker->getResult(0).hasOneUse())
    return nullptr;
  auto insertion = dyn_cast<tensor::InsertSliceOp>(*maker->getResult(0).user_begin());
  bool isSame = insertion && insertion.getDest() == part.getSource() &&
                insertion.getMixedOffsets() == part.getMixedOffsets() &&
                insertion.getMixedSizes() == part.getMixedSizes() &&
                insertion.getMixedStrides() == part.getMixedStrides();
  return isSame ? insertion : nullptr;
}

/// Each destination has one user: shared ones (common subexpressions) would be
/// copied by bufferisation, or keep producers from writing in place.
void unshareDestinations(Operation *root) {
  // Fills first: their clones share the empty tensor below them.
  SmallVector<Operation *> destinations, empties;
  root->walk([&](Operation *op) {
    if (isa<tensor::EmptyOp>(op))
      empties.push_back(op);
    else if (auto fill = dyn_cast<linalg::FillOp>(op))
      if (fill.hasPureTensorSemantics())
        destinations.push_back(op);
  });
  destinations.append(empties);
  for (Operation *op : destinations) {
    Value result = op->getResult(0);
    // Before what writes the slabs of a padding, or they could not be written in place.
    if (result.hasOneUse() && isa<tensor::InsertSliceOp>(*result.user_begin()))
      continue;
    // Parts first: what is made in one and inserted there is one use.
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    llvm::stable_sort(uses, [](OpOperand *x, OpOperand *y) {
      return isa<tensor::ExtractSliceOp>(x->getOwner()) > isa<tensor::ExtractSliceOp>(y->getOwner());
    });
    for (OpOperand *use : uses) {
      if (use->get() != result)
        continue;
      auto part = dyn_cast<tensor::ExtractSliceOp>(use->getOwner());
      tensor::InsertSliceOp insertion = part ? insertionOf(part) : nullptr;
      OpBuilder b(use->getOwner());
      // A part of its user's work, whoever else has an equal one; what is returned as it is has no user.
      Operation *own = b.clone(*op);
      if (!use->getOwner()->hasTrait<OpTrait::IsTerminator>())
        own->setLoc(use->getOwner()->getLoc());
      use->set(own->getResult(0));
      if (insertion)
        insertion.getDestMutable().set(own->getResult(0));
    }
    op->erase();
  }
}

/// A value that is returned twice is two buffers: the caller owns each.
void copyRepeatedResults(func::FuncOp function) {
  if (function.isExternal() || !function.isPublic())
    return;
  function.walk([](func::ReturnOp op) {
    DenseSet<Value> seen;
    for (OpOperand &operand : op->getOpOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.get().getType());
          type && !seen.insert(operand.get()).second) {
        OpBuilder b(op);
        operand.set(b.create<bufferization::AllocTensorOp>(
            op.getLoc(), type, /*dynamicSizes=*/ValueRange(),
            /*copy=*/operand.get()));
      }
  });
}

/// Bufferisation finds the buffers of constants made: it visits functions in no fixed order, and would number them so.
LogicalResult makeConstantBuffers(ModuleOp module) {
  uint64_t alignment = bufferization::BufferizationOptions().bufferAlignment;
  WalkResult result = module.walk([&](arith::ConstantOp op) {
    bool made = !isa<TensorType>(op.getType()) || op.use_empty() ||
                succeeded(bufferization::getGlobalFor(op, alignment));
    return made ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct PrepareSeamPass : strata::impl::PrepareSeamBase<PrepareSeamPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    for (auto function : getOperation().getOps<func::FuncOp>())
      strata::shareConcats(function);
    SmallVector<tensor::InsertSliceOp> insertions;
    getOperation().walk([&](tensor::InsertSliceOp op) { insertions.push_back(op); });
    llvm::for_each(insertions, insertEarly);
    RewritePatternSet patterns(context);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    patterns.add<CropPad, ConcatToSlices>(context, /*benefit=*/2);
    patterns.add<LongConcatToCopies>(context, /*benefit=*/3);
    patterns.add<PadToSlabs>(context);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();

    unshareDestinations(getOperation());
    if (failed(makeConstantBuffers(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      copyRepeatedResults(function);
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
        if (!isa<TensorType>(function.getArgumentTypes()[i]))
          continue;
        if (function.isExternal())
          function.setArgAttr(
              i, bufferization::BufferizationDialect::kBufferAccessAttrName,
              StringAttr::get(context, "read"));
        else if (function.isPublic())
          function.setArgAttr(
              i, bufferization::BufferizationDialect::kWritableAttrName,
              BoolAttr::get(context, false));
      }
  }
};

} // namespace
