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
#include "llvm/ADT/SmallBitVector.h"

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

namespace {
/// What is taken out of a tensor, without the dimensions that have one place.
struct Part {
  SmallVector<OpFoldResult> offsets, sizes, steps;
  RankedTensorType type;

  Part(OpBuilder &b, Location loc, Value tensor, function_ref<Value(unsigned dim)> placeOf)
      : sizes(tensor::getMixedSizes(b, loc, tensor)) {
    auto whole = cast<RankedTensorType>(tensor.getType());
    offsets.assign(whole.getRank(), b.getIndexAttr(0));
    steps.assign(whole.getRank(), b.getIndexAttr(1));
    SmallVector<int64_t> kept;
    for (unsigned dim = 0; dim < whole.getRank(); ++dim) {
      if (Value place = placeOf(dim)) {
        offsets[dim] = place;
        sizes[dim] = b.getIndexAttr(1);
      } else {
        kept.push_back(whole.getDimSize(dim));
      }
    }
    type = RankedTensorType::get(kept, whole.getElementType());
  }

  Value of(OpBuilder &b, Location loc, Value tensor) const {
    if (type == tensor.getType())
      return tensor;
    return b.create<tensor::ExtractSliceOp>(loc, type, tensor, offsets, sizes, steps);
  }
};
} // namespace

void ReadGatheredPass::rewrite(GenericOp product, OpOperand &input, Gather gather) {
  OpBuilder b(product);
  Location loc = product.getLoc();
  AffineMap map = product.getMatchingIndexingMap(&input), out = product.getIndexingMapsArray().back();
  Value init = product.getDpsInits()[0];
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (fill)
    init = fill.getOutputs()[0];

  // One loop for each leading dimension.
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0), one = b.create<arith::ConstantIndexOp>(loc, 1), sums = init;
  DenseMap<unsigned, Value> at; // by the product's loop
  llvm::SmallBitVector looped(map.getNumDims());
  scf::ForOp outermost;
  for (AffineExpr expr : map.getResults().take_front(gather.leading)) {
    Value size =
        getValueOrCreateConstantIndexOp(b, loc, tensor::getMixedSize(b, loc, init, *out.getResultPosition(expr)));
    auto each = b.create<scf::ForOp>(loc, zero, size, one, sums);
    if (outermost)
      b.create<scf::YieldOp>(loc, each.getResults());
    else
      outermost = each;
    b.setInsertionPointToStart(each.getBody());
    sums = each.getRegionIterArg(0);
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    at[loop] = each.getInductionVar();
    looped.set(loop);
  }
  auto partOf = [&](Value tensor, AffineMap map) {
    return Part(b, loc, tensor, [&](unsigned dim) { return at.lookup(map.getDimPosition(dim)); });
  };

  // The matrix, by the gather's own computation of where it is.
  IRMapping mapping;
  for (Operation &op : gather.op.getBody()->without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(op);
    if (index && index.getDim() < gather.leading)
      mapping.map(index.getResult(), at.lookup(map.getDimPosition(index.getDim())));
    else if (!index && &op != gather.extract)
      b.clone(op, mapping);
  }
  ValueRange indices = gather.extract.getIndices();
  unsigned chosen = indices.size() + gather.leading - map.getNumResults();
  Value source = gather.extract.getTensor();
  Part matrix(b, loc, source,
              [&](unsigned dim) { return dim < chosen ? mapping.lookupOrDefault(indices[dim]) : Value(); });

  // The product without these loops.
  SmallVector<Value> inputs;
  for (OpOperand *operand : product.getDpsInputOperands()) {
    Value tensor = operand->get();
    inputs.push_back(operand == &input ? matrix.of(b, loc, source)
                                       : partOf(tensor, product.getMatchingIndexingMap(operand)).of(b, loc, tensor));
  }
  Part place = partOf(sums, out);
  Value sum = place.of(b, loc, sums);
  if (fill)
    sum = b.create<linalg::FillOp>(loc, fill.getInputs(), sum).getResult(0);
  SmallVector<AffineMap> maps;
  for (AffineMap whole : product.getIndexingMapsArray()) {
    llvm::SmallBitVector dropped(whole.getNumResults());
    for (unsigned dim = 0; dim < whole.getNumResults(); ++dim)
      dropped[dim] = looped[whole.getDimPosition(dim)];
    maps.push_back(projectDims(whole.dropResults(dropped), looped, /*compressDimsFlag=*/true));
  }
  SmallVector<utils::IteratorType> kinds;
  for (auto [loop, kind] : llvm::enumerate(product.getIteratorTypesArray()))
    if (!looped.test(loop))
      kinds.push_back(kind);
  auto part = b.create<GenericOp>(loc, sum.getType(), inputs, sum, maps, kinds);
  part.getRegion().takeBody(product.getRegion());
  Value inserted =
      b.create<tensor::InsertSliceOp>(loc, part.getResult(0), sums, place.offsets, place.sizes, place.steps);
  b.create<scf::YieldOp>(loc, inserted);
  product.replaceAllUsesWith(outermost.getResults());
  product.erase();
  gather.op.erase();
  if (fill && fill->use_empty())
    fill.erase();
}
