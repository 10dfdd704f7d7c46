//===- NarrowProducts.cpp - operands of products rounded to bf16 ----------===//
//
// What a matrix unit, or an instruction for dot products, would not speed up, or would not take, keeps its f32. A
// tensor that is rounded for a product, and of which all other readers are additions, activations, pools and the like,
// is kept as bf16 alone: what waits for a residual addition, or goes to a pool, is half of the bytes to write and to
// read. So is the result of a convolution that waits to be added to another one's.
//
//===----------------------------------------------------------------------===//
#include "BlockDots.h"
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "Halves.h"
#include "LinalgQueries.h"
#include "LoopNest.h"
#include "ProductSums.h"
#include "WinogradCost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace strata {
#define GEN_PASS_DEF_NARROWPRODUCTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// From where on the conversion costs less than is gained.
struct Least {
  int64_t depth;        ///< products per result
  int64_t lanes;        ///< results per weight
  int64_t windowLanes;  ///< of windows, which read an element several times after it is rounded once
  int64_t lanesAndTaps; ///< of these the product of both
};
static constexpr Least ofTiles{8, 16, 2, 8}, ofDots{16, 16, 4, 32};

/// A matrix unit takes less time with weights that are made bf16 once than with their codes, whose sums have to be
/// scaled block by block, for so many rows and blocks of so few terms.
static constexpr int64_t rowsOfPanel = 128, termsOfPanel = 32, productsOfTile = 32;

namespace {
struct NarrowProductsPass : strata::WithTarget<strata::impl::NarrowProductsBase<NarrowProductsPass>> {
  using WithTarget::WithTarget;

  void runOnOperation() override {
    strata::ConstantExpressions constants(getOperation());
    auto forWinograd = [this](linalg::GenericOp op, unsigned weights) { return isForWinograd(op, weights); };
    strata::Halves halves(forWinograd);
    if (computed)
      return narrowComputed(constants, halves);
    SmallVector<std::pair<linalg::GenericOp, unsigned>> found;
    SmallVector<Value> streamed;
    getOperation().walk([&](linalg::GenericOp op) {
      if (Value data = streamedData(op); data && !constants.isConstant(data))
        streamed.push_back(data);
      for (unsigned weights : {0u, 1u})
        if (isWorthNarrowing(op, weights, constants))
          found.push_back({op, weights});
    });
    auto isConvolution = [](auto &entry) {
      auto [op, weights] = entry;
      return !strata::isPlain(op.getMatchingIndexingMap(op.getDpsInputOperand(1 - weights)));
    };
    auto plain = std::stable_partition(found.begin(), found.end(), isConvolution);
    for (auto [op, weights] : llvm::make_range(found.begin(), plain))
      narrow(op, halves);
    for (Value data : streamed)
      (void)halves.keep(data);
    // Images only: the sums that transformers carry along are of more terms than the eight bits of bf16 bear.
    for (size_t i = 0; i < halves.converted.size(); ++i) // which may grow
      if (Value wide = halves.converted[i]; !constants.isConstant(wide) && halves.canAllRead(wide))
        halves.readKept(wide);
    for (Value late : lateTerms({found.begin(), plain}))
      if (halves.canAllRead(late))
        halves.readKept(late);
    for (auto [op, weights] : llvm::make_range(plain, found.end()))
      narrow(op, halves);
  }

private:
  /// Where what is computed of two convolutions meets, the first one's sums never leave the registers, those of the
  /// other one are written and read: what they give by then.
  static SmallVector<Value> lateTerms(ArrayRef<std::pair<linalg::GenericOp, unsigned>> convolutions) {
    SmallVector<Value> late;
    DenseSet<Operation *> readers; // of terms of a convolution that comes before
    for (auto [op, weights] : convolutions) {
      Value term = op->getResult(0);
      while (linalg::GenericOp reader = strata::elementwiseReader(term)) {
        if (!readers.insert(reader).second) {
          late.push_back(term);
          break;
        }
        term = reader.getResult(0);
      }
    }
    return late;
  }

  /// Constant, or given in each run and used by so many rows that the copy that the unit needs pays.
  static bool isWorthPacking(linalg::GenericOp op, OpOperand *weights, const strata::ConstantExpressions &constants) {
    if (constants.isConstant(weights->get()))
      return true;
    return strata::isPlain(op.getMatchingIndexingMap(op.getDpsInputOperand(1 - weights->getOperandNumber()))) &&
           strata::isWorthCopyingInGroups(op, weights);
  }

  /// A convolution of images or volumes that fewer products of f32 compute sooner than twice as many, or half, of bf16.
  bool isForWinograd(linalg::GenericOp op, unsigned weights) const {
    if (!winograd || bf16Tiles || !strata::matchProductSum(op))
      return false;
    // It asks for the data first.
    FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(op);
    if (weights != 1 || failed(dims) || dims->outputImage.size() < 2 || dims->outputImage.size() > 3 ||
        dims->outputChannel.size() != 1 || dims->inputChannel.size() != 1 || !dims->depth.empty())
      return false;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    auto image = ArrayRef(dims->outputImage).take_back(2), window = ArrayRef(dims->filterLoop).take_back(2);
    strata::WinogradSize size{ranges[image[0]], ranges[image[1]], ranges[dims->outputChannel[0]],
                              ranges[dims->inputChannel[0]]};
    if (dims->outputImage.size() == 3) {
      size.slices = ranges[dims->outputImage[0]];
      size.taps = ranges[dims->filterLoop[0]];
    }
    auto isOne = [](int64_t size) { return size == 1; };
    return llvm::all_of(ArrayRef(dims->strides).take_back(2), isOne) &&
           llvm::all_of(ArrayRef(dims->dilations).take_back(2), isOne) &&
           llvm::all_of(window, [&](unsigned dim) { return ranges[dim] == 3; }) &&
           llvm::none_of(ArrayRef({size.filters, size.channels, size.taps}), ShapedType::isDynamic) &&
           strata::canTileWinograd(size, target()) && strata::chooseWinograd(size, target(), /*group=*/2).m;
  }

  bool isWorthNarrowing(linalg::GenericOp op, unsigned weights, const strata::ConstantExpressions &constants) const {
    std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
    if (!sum || !op.hasPureTensorSemantics() || !sum->sum.isF32() || !sum->elements[0].isF32() ||
        !sum->elements[1].isF32())
      return false;
    OpOperand *w = op.getDpsInputOperand(weights), *data = op.getDpsInputOperand(1 - weights);
    AffineMap map = op.getMatchingIndexingMap(w), dataMap = op.getMatchingIndexingMap(data);
    if (!isWorthPacking(op, w, constants) || constants.isConstant(data->get()) || !strata::isPlain(map) ||
        !op.getIndexingMapsArray().back().isProjectedPermutation())
      return false;
    // The channels of a window become the last dimension, those of a product are it.
    bool windowed = !strata::isPlain(dataMap);
    std::optional<unsigned> lane = strata::getLaneOf(op, weights);
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    int64_t lanes = 1, depth = 1, inner = 1, groups = 1;
    for (auto [dim, size] : llvm::enumerate(ranges)) {
      bool shared = map.isFunctionOfDim(dim) && dataMap.isFunctionOfDim(dim);
      if (kinds[dim] == utils::IteratorType::reduction) {
        if (!shared || ShapedType::isDynamic(size))
          return false;
        depth *= size;
        if (llvm::is_contained(dataMap.getResults(), getAffineDimExpr(dim, op.getContext())))
          inner = std::max(inner, size);
      } else if (windowed ? map.isFunctionOfDim(dim) && !shared : lane == dim) {
        lanes = std::max(lanes, size);
      } else if (shared) {
        groups *= ShapedType::isDynamic(size) ? 0 : size;
      }
    }
    if (strata::canShareVectors(target(), lanes)) {
      // Groups that share vectors leave a matrix unit idle, and dots of pairs add no more in a cycle than products do.
      if (bf16Tiles && windowed && groups != 1)
        return false;
      lanes *= bf16Tiles ? 1 : groups;
    }
    const Least &least = bf16Tiles ? ofTiles : ofDots;
    bool areMany = lanes >= least.lanes ||
                   (depth > inner && lanes >= least.windowLanes && lanes * (depth / inner) >= least.lanesAndTaps);
    return areMany && depth >= least.depth && inner > 1 && !isForWinograd(op, weights);
  }

  /// The data of a convolution in which each channel is by itself, if it takes much of the second level, or has no room
  /// there: its sums take less time than its reading.
  Value streamedData(linalg::GenericOp op) const {
    std::optional<strata::ProductSum> sum = strata::matchProductSum(op);
    if (!sum || !sum->elements[0].isF32() || !sum->elements[1].isF32() || !op.hasPureTensorSemantics())
      return {};
    AffineMap maps[] = {op.getIndexingMapsArray()[0], op.getIndexingMapsArray()[1]};
    unsigned weights = strata::isPlain(maps[0]) ? 0 : 1;
    if (strata::isPlain(maps[1 - weights]) || !strata::isPlain(maps[weights]))
      return {};
    // No step of the reduction is along the channels.
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (AffineExpr expr : maps[1 - weights].getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && kinds[dim.getPosition()] == utils::IteratorType::reduction)
        return {};
    auto type = cast<RankedTensorType>(op.getDpsInputs()[1 - weights].getType());
    return type.hasStaticShape() && type.getNumElements() * 4 >= cacheBytes / 2 ? op.getDpsInputs()[1 - weights]
                                                                                : Value();
  }

  /// Products whose bodies make their weights of few bits, where enough rows share them.
  void narrowComputed(const strata::ConstantExpressions &constants, strata::Halves &halves) {
    SmallVector<std::pair<linalg::GenericOp, strata::ComputedWeights>> found;
    getOperation().walk([&](linalg::GenericOp op) {
      SmallVector<int64_t> ranges = op.getStaticLoopRanges();
      int64_t depth = 1;
      for (auto [size, kind] : llvm::zip(ranges, op.getIteratorTypesArray()))
        depth *= kind == utils::IteratorType::reduction ? size : 1;
      if (llvm::any_of(ranges, ShapedType::isDynamic) || depth % productsOfTile)
        return;
      // Looks at each byte: only now.
      std::optional<strata::NarrowCodes> codes = strata::matchNarrowCodes(op);
      if (!codes || strata::getUses(op, op.getDpsInputOperand(codes->bytes.getArgNumber())) < rowsOfPanel)
        return;
      int64_t terms = strata::termsOfFactor(op, *codes);
      if (terms && terms <= termsOfPanel && codes->weights.areConstant(op, constants))
        found.push_back({op, codes->weights});
    });
    for (auto &[op, weights] : found) {
      OpOperand *data = op.getDpsInputOperand(weights.data);
      halves.readAs(op, data, halves.keep(data->get()));
      OpBuilder b(op.getContext());
      b.setInsertionPointAfterValue(weights.value);
      arith::TruncFOp rounded = strata::roundToHalf(b, op.getLoc(), weights.value);
      Value restored = b.create<arith::ExtFOp>(op.getLoc(), b.getF32Type(), rounded.getResult());
      weights.value.replaceAllUsesExcept(restored, rounded);
    }
  }

  /// In place: what is known of its result stays true.
  static void narrow(linalg::GenericOp op, strata::Halves &halves) {
    SmallVector<Value> inputs = llvm::map_to_vector(op.getDpsInputs(), [&](Value input) { return halves.keep(input); });
    SmallVector<OpOperand *> operands = op.getDpsInputOperands();
    for (OpOperand *input : llvm::reverse(operands))
      halves.readAs(op, input, inputs[input->getOperandNumber()]);
  }
};
} // namespace
