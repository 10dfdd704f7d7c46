//===- PixelProducts.cpp - convolutions of single pixels ------------------===//
#include "PixelProducts.h"
#include "LinalgQueries.h"
#include "Padding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace strata {

bool isPixelProduct(linalg::GenericOp op, unsigned data, const TargetFacts &target) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  constexpr int64_t manyVectors = 8;
  int64_t pixels = 1, manyPixels = manyVectors * target.vectorBits / 32;
  for (AffineExpr expr : op.getMatchingIndexingMap(op.getDpsInputOperand(data)).getResults()) {
    if (isa<AffineDimExpr>(expr))
      continue;
    std::optional<PaddedLoop> window = matchWindow(expr, kinds);
    if (!window || window->stride != 1 || ranges[window->tap] != 1)
      return false;
    // An image of any size whose channels nothing has moved is more often large: it was enlarged, or joined.
    pixels *= ShapedType::isDynamic(ranges[window->position]) ? manyPixels : ranges[window->position];
  }
  auto isWide = [](Value operand) {
    Type element = getElementTypeOrSelf(operand.getType());
    return element.isF32() || element.isF64(); // of others, matrix units want the channels last
  };
  return llvm::all_of(op->getOperands(), isWide) && pixels >= manyPixels;
}

namespace {
/// What pixel products and the elementwise operations between them read and write: images with the channels behind the
/// batch.
struct ImageOperation {
  linalg::GenericOp op;
  SmallVector<Value> images; ///< that it reads
  bool isProduct = false;

  static std::optional<ImageOperation> match(linalg::GenericOp op, const TargetFacts &target) {
    auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : RankedTensorType();
    if (!type || !op.hasPureTensorSemantics() || type.getRank() < 3)
      return std::nullopt;
    ImageOperation result{op, {}, false};
    bool isElementwise = !isReduction(op) && op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (isElementwise) {
        if (map == op.getMatchingIndexingMap(op.getDpsInitOperand(0)))
          result.images.push_back(input->get());
      } else if (llvm::count_if(map.getResults(), llvm::IsaPred<AffineBinaryOpExpr>) == type.getRank() - 2 &&
                 map.getNumResults() == type.getRank() && isPixelProduct(op, input->getOperandNumber(), target)) {
        result.images.push_back(input->get());
        result.isProduct = true;
      }
    }
    if (!isElementwise && result.images.size() != 1)
      return std::nullopt;
    return result;
  }
};
} // namespace

SmallVector<linalg::GenericOp> findPixelChains(func::FuncOp function, const TargetFacts &target) {
  llvm::MapVector<Operation *, ImageOperation> operations;
  function.walk([&](linalg::GenericOp op) {
    if (std::optional<ImageOperation> found = ImageOperation::match(op, target))
      operations.try_emplace(op, *found);
  });
  llvm::EquivalenceClasses<Operation *> chains;
  SmallVector<std::pair<Operation *, Value>> ends;
  llvm::DenseSet<Operation *> behindProducts; // with nothing else between, or products themselves
  llvm::DenseMap<Operation *, int64_t> between;
  auto channelsOf = [](Value image) {
    int64_t size = cast<RankedTensorType>(image.getType()).getDimSize(1);
    return ShapedType::isDynamic(size) ? std::numeric_limits<int32_t>::max() : size;
  };
  for (auto &[op, operation] : operations) {
    chains.insert(op);
    for (Value image : operation.images) {
      Operation *source = image.getDefiningOp();
      if (operations.contains(source)) {
        chains.unionSets(op, source);
        bool isBehind = behindProducts.contains(source);
        if (isBehind && operation.isProduct)
          between[op] = channelsOf(image);
        else if (isBehind)
          behindProducts.insert(op);
      } else if (!isa_and_nonnull<linalg::TransposeOp, linalg::FillOp, arith::ConstantOp>(source)) {
        ends.emplace_back(op, image);
      }
    }
    if (operation.isProduct)
      behindProducts.insert(op);
    // A reduction writes its result in the order of what it reads.
    auto isOutside = [&](Operation *user) {
      auto generic = dyn_cast<linalg::GenericOp>(user);
      return !operations.contains(user) && !isa<tensor::DimOp>(user) && !(generic && isReduction(generic));
    };
    if (llvm::any_of(op->getUsers(), isOutside))
      ends.emplace_back(op, op->getResult(0));
  }
  // What is gained, less what the transposes cost.
  llvm::DenseMap<Operation *, int64_t> gains;
  for (auto [op, channels] : between)
    gains[chains.getLeaderValue(op)] += channels;
  llvm::DenseSet<std::pair<Operation *, Value>> counted;
  for (auto [op, image] : ends)
    if (Operation *chain = chains.getLeaderValue(op); gains.contains(chain) && counted.insert({chain, image}).second)
      gains[chain] -= channelsOf(image);
  SmallVector<linalg::GenericOp> found;
  for (auto &[op, operation] : operations)
    if (auto gain = gains.find(chains.getLeaderValue(op));
        operation.isProduct && gain != gains.end() && gain->second >= 0)
      found.push_back(operation.op);
  return found;
}

/// Whether all that is done with an image, by operations that `seen` does not have, is to pad it, element by element.
static bool isPadded(Value image, llvm::DenseSet<Operation *> &seen) {
  bool found = false;
  for (OpOperand &use : image.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      continue;
    found = true;
    if (!seen.insert(user).second)
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(user);
    bool isThrough = generic && !isReduction(generic) && generic.getNumResults() == 1 && !generic.isDpsInit(&use);
    if (!isa<tensor::PadOp>(user) && !(isThrough && isPadded(generic.getResult(0), seen)))
      return false;
  }
  return found;
}

SmallVector<linalg::GenericOp> findPaddedPixels(func::FuncOp function, const TargetFacts &target) {
  constexpr int64_t cacheLine = 64;
  int64_t lanes = target.vectorBits / 32;
  SmallVector<linalg::GenericOp> found;
  function.walk([&](linalg::GenericOp op) {
    std::optional<ImageOperation> product = ImageOperation::match(op, target);
    if (!product || !product->isProduct)
      return;
    auto result = cast<RankedTensorType>(op.getResult(0).getType());
    int64_t channels = cast<RankedTensorType>(product->images[0].getType()).getDimSize(1);
    int64_t filters = result.getDimSize(1), columns = result.getShape().back();
    if (ShapedType::isDynamic(channels) || ShapedType::isDynamic(filters) ||
        (!ShapedType::isDynamic(columns) && columns % lanes == 0))
      return;
    bool isFull = 5 * static_cast<int64_t>(llvm::alignTo(filters, lanes)) <= 6 * filters;
    bool isNear = 6 * channels * cacheLine <= target.nearCacheBytes;
    llvm::DenseSet<Operation *> seen;
    if (isFull && isNear && isPadded(op.getResult(0), seen))
      found.push_back(op);
  });
  return found;
}

} // namespace strata
