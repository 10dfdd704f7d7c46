//===- ReadGathered.cpp - products of gathered matrices -------------------===//
//
// A mixture of experts gathers the weights of those that were chosen, and multiplies with them: they would be read,
// written and read again, where a product reads them once. So it reads each matrix where it lies, in a loop over the
// gathered ones.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "Codegen/Target.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace strata {
#define GEN_PASS_DEF_READGATHERED
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using linalg::GenericOp;

namespace {
/// gathered(i..., j...) = source(f(i...)..., j...): whole matrices, one for each of the leading indices.
struct Gather {
  GenericOp op;
  tensor::ExtractOp extract;
  unsigned leading; ///< dimensions of the result that choose a matrix
};

struct ReadGatheredPass : strata::WithTarget<strata::impl::ReadGatheredBase<ReadGatheredPass>> {
  using WithTarget::WithTarget;

  void runOnOperation() override {
    SmallVector<std::tuple<GenericOp, OpOperand *, Gather>> found;
    getOperation().walk([&](GenericOp op) {
      if (strata::matchProductSum(op) && op.hasPureTensorSemantics())
        for (OpOperand *input : op.getDpsInputOperands())
          if (auto gather = matchGather(input->get()); gather && canLoop(op, *input, *gather)) {
            found.push_back({op, input, *gather});
            break;
          }
    });
    for (auto [op, input, gather] : found)
      rewrite(op, *input, gather);
  }

private:
  std::optional<Gather> matchGather(Value value) const;
  static bool canLoop(GenericOp product, OpOperand &input, Gather gather);
  static void rewrite(GenericOp product, OpOperand &input, Gather gather);
};
} // namespace

std::optional<Gather> ReadGatheredPass::matchGather(Value value) const {
  auto op = value.getDefiningOp<GenericOp>();
  if (!op || !op->hasOneUse() || op.getNumDpsInputs() || op->getNumResults() != 1 || op.getNumReductionLoops() ||
      !op.hasPureTensorSemantics() || !op.getIndexingMapsArray()[0].isIdentity() ||
      !op.getBody()->getArgument(0).use_empty())
    return std::nullopt;
  auto extract = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  if (!extract || extract->getBlock() != op.getBody())
    return std::nullopt;
  auto source = cast<RankedTensorType>(extract.getTensor().getType()), type = cast<RankedTensorType>(value.getType());
  int64_t matrix = 0, elements = 1;
  for (int64_t limit = std::min(source.getRank(), type.getRank()); matrix < limit; ++matrix) {
    auto index = extract.getIndices()[source.getRank() - 1 - matrix].getDefiningOp<linalg::IndexOp>();
    int64_t dim = type.getRank() - 1 - matrix, size = type.getDimSize(dim);
    if (!index || static_cast<int64_t>(index.getDim()) != dim || !index->hasOneUse() || ShapedType::isDynamic(size) ||
        source.getDimSize(source.getRank() - 1 - matrix) != size)
      break;
    elements *= size;
  }
  // Small ones are copied in no time, and are too little work for several threads.
  if (matrix < 2 || matrix == type.getRank() || matrix == source.getRank() || !type.getElementType().isIntOrFloat() ||
      elements * type.getElementTypeBitWidth() / 8 < cacheBytes / 4)
    return std::nullopt;
  Gather gather{op, extract, static_cast<unsigned>(type.getRank() - matrix)};
  // What chooses the matrix does not depend on the place in it.
  for (auto index : op.getBody()->getOps<linalg::IndexOp>())
    if (index.getDim() >= gather.leading &&
        !llvm::all_of(index->getUsers(), [&](Operation *user) { return user == extract.getOperation(); }))
      return std::nullopt;
  return gather;
}

/// Whether the product does the same with each of the matrices, for a part of its result.
bool ReadGatheredPass::canLoop(GenericOp product, OpOperand &input, Gather gather) {
  AffineMap map = product.getMatchingIndexingMap(&input), out = product.getIndexingMapsArray().back();
  if (gather.op->getBlock() != product->getBlock() ||
      !llvm::all_of(product.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); }))
    return false;
  return llvm::all_of(map.getResults().take_front(gather.leading),
                      [&](AffineExpr loop) { return out.getResultPosition(loop).has_value(); });
}

/// `tensor` where the loops `at` stand at these values, without their dimensions.
static Value sliceAt(OpBuilder &b, Location loc, Value tensor, AffineMap map, const DenseMap<unsigned, Value> &at,
                     SmallVector<OpFoldResult> *offsets = nullptr, SmallVector<OpFoldResult> *sizes = nullptr) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> begin(type.getRank(), b.getIndexAttr(0)), extent = tensor::getMixedSizes(b, loc, tensor),
                                                                      ones(type.getRank(), b.getIndexAttr(1));
  SmallVector<int64_t> kept;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    Value place = at.lookup(cast<AffineDimExpr>(expr).getPosition());
    if (place) {
      begin[dim] = place;
      extent[dim] = b.getIndexAttr(1);
    } else {
      kept.push_back(type.getDimSize(dim));
    }
  }
  if (offsets)
    *offsets = begin;
  if (sizes)
    *sizes = extent;
  if (kept.size() == static_cast<size_t>(type.getRank()))
    return tensor;
  return b.create<tensor::ExtractSliceOp>(loc, RankedTensorType::get(kept, type.getElementType()), tensor, begin,
                                          extent, ones);
}

void ReadGatheredPass::rewrite(GenericOp product, OpOperand &input, Gather gather) {
  OpBuilder b(product);
  Location loc = product.getLoc();
  AffineMap map = product.getMatchingIndexingMap(&input), out = product.getIndexingMapsArray().back();
  Value init = product.getDpsInits()[0];
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (fill)
    init = fill.getOutputs()[0];

  // One loop for each leading dimension.
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0), one = b.create<arith::ConstantIndexOp>(loc, 1);
  DenseMap<unsigned, Value> at;
  SmallVector<Value> places;
  scf::ForOp outermost;
  Value sums = init;
  for (unsigned dim = 0; dim < gather.leading; ++dim) {
    unsigned loop = cast<AffineDimExpr>(map.getResult(dim)).getPosition();
    Value size = getValueOrCreateConstantIndexOp(
        b, loc, tensor::getMixedSize(b, loc, init, *out.getResultPosition(map.getResult(dim))));
    auto each = b.create<scf::ForOp>(loc, zero, size, one, sums);
    if (outermost)
      b.create<scf::YieldOp>(loc, each.getResults());
    else
      outermost = each;
    b.setInsertionPointToStart(each.getBody());
    sums = each.getRegionIterArg(0);
    places.push_back(each.getInductionVar());
    at[loop] = each.getInductionVar();
  }

  // The matrix, by the gather's own computation of where it is.
  IRMapping mapping;
  for (Operation &op : gather.op.getBody()->without_terminator()) {
    if (&op == gather.extract)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      if (index.getDim() < gather.leading)
        mapping.map(index.getResult(), places[index.getDim()]);
    } else {
      b.clone(op, mapping);
    }
  }
  Value source = gather.extract.getTensor();
  auto sourceType = cast<RankedTensorType>(source.getType());
  int64_t matrix = map.getNumResults() - gather.leading, chosen = sourceType.getRank() - matrix;
  SmallVector<OpFoldResult> begin(sourceType.getRank(), b.getIndexAttr(0)),
      extent = tensor::getMixedSizes(b, loc, source), ones(sourceType.getRank(), b.getIndexAttr(1));
  for (int64_t dim = 0; dim < chosen; ++dim) {
    begin[dim] = mapping.lookupOrDefault(gather.extract.getIndices()[dim]);
    extent[dim] = b.getIndexAttr(1);
  }
  auto matrixType = RankedTensorType::get(sourceType.getShape().take_back(matrix), sourceType.getElementType());
  Value weights = b.create<tensor::ExtractSliceOp>(loc, matrixType, source, begin, extent, ones);

  // The product without these loops.
  SmallVector<Value> inputs;
  for (OpOperand *operand : product.getDpsInputOperands())
    inputs.push_back(operand == &input ? weights
                                       : sliceAt(b, loc, operand->get(), product.getMatchingIndexingMap(operand), at));
  SmallVector<OpFoldResult> offsets, sizes;
  Value sum = sliceAt(b, loc, sums, out, at, &offsets, &sizes);
  if (fill)
    sum = b.create<linalg::FillOp>(loc, fill.getInputs(), sum).getResult(0);
  SmallVector<AffineExpr> renumbered(out.getNumDims());
  SmallVector<utils::IteratorType> kinds;
  for (auto [loop, kind] : llvm::enumerate(product.getIteratorTypesArray()))
    if (!at.count(loop)) {
      renumbered[loop] = b.getAffineDimExpr(kinds.size());
      kinds.push_back(kind);
    }
  SmallVector<AffineMap> maps;
  for (AffineMap whole : product.getIndexingMapsArray()) {
    SmallVector<AffineExpr> results;
    for (AffineExpr expr : whole.getResults())
      if (AffineExpr kept = renumbered[cast<AffineDimExpr>(expr).getPosition()])
        results.push_back(kept);
    maps.push_back(AffineMap::get(kinds.size(), 0, results, b.getContext()));
  }
  auto part = b.create<GenericOp>(loc, sum.getType(), inputs, sum, maps, kinds);
  part.getRegion().takeBody(product.getRegion());
  SmallVector<OpFoldResult> steps(offsets.size(), b.getIndexAttr(1));
  Value inserted = b.create<tensor::InsertSliceOp>(loc, part.getResult(0), sums, offsets, sizes, steps);
  b.create<scf::YieldOp>(loc, inserted);
  product.replaceAllUsesWith(outermost.getResults());
  product.erase();
  gather.op.erase();
  if (fill && fill->use_empty())
    fill.erase();
}
