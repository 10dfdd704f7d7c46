//===- Winograd.cpp - 3x3 convolutions with transformed weights -----------===//
//
// Where it pays, the weights g of a convolution are transformed once, at load, to
// U = G g G^T. The convolution stays a linalg.generic that says what it computes, a
// sum over the elements of U that turns them back into g; how it is computed is up
// to the emitter (WinogradEmitter.cpp).
//
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "LinalgQueries.h"
#include "Padding.h"
#include "ProductSums.h"
#include "Transposed.h"
#include "WinogradCost.h"
#include "WinogradMatrices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

#include <limits>
#include <numeric>

namespace strata {
#define GEN_PASS_DEF_WINOGRAD
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

namespace {
/// A convolution with a 3x3 window and stride 1: out(n, h, w, f) += data(n, h + kh, w + kw, c) * weights, perhaps with
/// a dilation, of which kh and kw are times so much. Or one of volumes, whose slices are such images: out(n, d, h, w,
/// f) += data(n, slice, h + kh, w + kw, c) * weights, where the slice is any sum of d and kd.
struct Convolution : WinogradSize {
  linalg::GenericOp op;
  unsigned dataInput;
  Value weights;
  AffineMap weightsMap;
  unsigned n, h, w, f, kh, kw, c; ///< dimensions of the generic
  bool volume = false;
  unsigned d, kd;
  AffineExpr slice;

  Value data() const { return linalg::GenericOp(op).getDpsInputs()[dataInput]; }
  Type element() const { return getElementTypeOrSelf(weights); }
  /// Filters of one panel of transformed weights.
  int64_t block(int64_t lanes) const { return panelVectors(filters, lanes) * lanes; }
};

/// What is known of slices that are padding: which taps of a convolution of volumes need not be computed.
std::optional<PaddedLoop> paddedSlices(const Convolution &convolution) {
  for (const PaddedLoop &loop : getPaddedLoops(convolution.op))
    if (convolution.volume && loop.tap == static_cast<int>(convolution.kd))
      return loop;
  return std::nullopt;
}

/// The share of the window that is not padding, in the mean over the image, as far as that is known.
double paddedShare(const Convolution &convolution) {
  double share = 1;
  for (const PaddedLoop &loop : getPaddedLoops(convolution.op))
    for (auto [tap, size] : {std::pair(convolution.kh, convolution.rows), {convolution.kw, convolution.columns}})
      if (loop.tap == static_cast<int>(tap))
        share *= loop.share(size, 3);
  return share;
}

struct WinogradPass : WithTarget<strata::impl::WinogradBase<WinogradPass>> {
  using WithTarget::WithTarget;

  void runOnOperation() override {
    ConstantExpressions constants(getOperation());
    // By their weights, which are transformed once for all of them.
    llvm::MapVector<Value, SmallVector<Convolution>> convolutions;
    getOperation().walk([&](linalg::GenericOp op) {
      std::optional<Convolution> convolution = match(op, constants);
      if (!convolution || !canTileWinograd(*convolution, target()))
        return;
      if (convolution->volume || convolution->dilation > 1)
        markPadding(op);
      if (convolution->volume) {
        if (std::optional<PaddedLoop> padded = paddedSlices(*convolution))
          convolution->inside = padded->share(convolution->slices, convolution->taps);
      }
      convolution->read = paddedShare(*convolution);
      convolutions[convolution->weights].push_back(*convolution);
    });
    auto groups = llvm::to_vector(llvm::make_second_range(convolutions));
    SmallVector<int64_t> chosen = choose(groups, spareBytes + bytesOfWeights(constants) / 3);
    for (auto [group, m] : llvm::zip(groups, chosen))
      for (const Convolution &convolution : group)
        if (m && savedByWinograd(convolution, target(), m) > 0)
          rewrite(convolution, convolution.perLane > 1 ? getIntegerWinogradMatrices() : getWinogradMatrices(m));
  }

private:
  /// What transformed weights may add to the model's weights beyond a third of these, and what more of them have to
  /// save.
  static constexpr int64_t spareBytes = 16 << 20;
  static constexpr double cyclesPerByte = 1;

  int64_t lanes() const { return vectorBits / 32; }
  int64_t bytesOfWeights(const ConstantExpressions &constants);
  SmallVector<int64_t> choose(ArrayRef<SmallVector<Convolution>> groups, int64_t room) const;

  static std::optional<Convolution> match(linalg::GenericOp op, const ConstantExpressions &constants);
  void rewrite(const Convolution &convolution, const WinogradMatrices &matrices) const;
  Value transformed(OpBuilder &b, Location loc, const Convolution &convolution, const WinogradMatrices &matrices) const;
};
} // namespace

/// Of all weights of the function, each once.
int64_t WinogradPass::bytesOfWeights(const ConstantExpressions &constants) {
  llvm::DenseMap<Attribute, int64_t> bytes;
  getOperation().walk([&](Operation *op) {
    auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : nullptr;
    if (type && type.hasStaticShape() && !op->getNumOperands() && constants.usesWeights(op->getResult(0)))
      bytes[op->getAttrDictionary()] = type.getNumElements() * bytesOf(type.getElementType());
  });
  return std::accumulate(bytes.begin(), bytes.end(), int64_t(0),
                         [](int64_t sum, const auto &entry) { return sum + entry.second; });
}

/// By weights, the size of the tiles of the convolutions by them, or 0. Transformed weights are 1.8 or 4 times as many:
/// those that save most for each byte come first; where they have no room, only those that save much, and smaller tiles
/// as far as there is room for these.
SmallVector<int64_t> WinogradPass::choose(ArrayRef<SmallVector<Convolution>> groups, int64_t room) const {
  struct Candidate {
    size_t group;
    int64_t m, bytes; ///< those added
    double saved;
  };
  SmallVector<int64_t> chosen(groups.size());
  for (int64_t most : {4, 2}) {
    SmallVector<Candidate> candidates;
    for (auto [number, group] : llvm::enumerate(groups)) {
      if (chosen[number])
        continue;
      const Convolution &c = group.front();
      auto sizes = llvm::map_to_vector(group, [](const Convolution &c) -> WinogradSize { return c; });
      WinogradChoice choice = chooseWinograd(sizes, target(), /*group=*/1, most);
      int64_t points = (choice.m + 2) * (choice.m + 2) - 9;
      if (choice.m)
        candidates.push_back(
            {number, choice.m, points * c.taps * c.channels * c.filters * bytesOf(c.element()), choice.saved});
    }
    llvm::stable_sort(candidates, [](const Candidate &x, const Candidate &y) {
      return x.saved * static_cast<double>(y.bytes) > y.saved * static_cast<double>(x.bytes);
    });
    for (const Candidate &candidate : candidates)
      if (candidate.bytes <= room || candidate.saved > cyclesPerByte * static_cast<double>(candidate.bytes)) {
        room -= candidate.bytes;
        chosen[candidate.group] = candidate.m;
      }
  }
  return chosen;
}

/// A sum of products of f32, or of integers of 16 bits that are bytes, with sums that i32 holds four times.
static bool isSupported(linalg::GenericOp op, int64_t depth) {
  std::optional<ProductSum> sum = matchProductSum(op);
  if (!sum || sum->elements[0] != sum->elements[1])
    return false;
  if (sum->sum.isF32())
    return sum->elements[0].isF32();
  auto most = op->getAttrOfType<IntegerAttr>(kLargestProduct);
  constexpr int64_t times = 4;
  return most && sum->elements[0].isInteger(16) && depth <= std::numeric_limits<int32_t>::max() / times / most.getInt();
}

static std::optional<unsigned> dimOf(AffineExpr expr) {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

/// Matches what the convolution of a volume has beyond that of an image: the fourth reduction, and d.
static bool matchVolume(linalg::GenericOp op, AffineMap data, ArrayRef<unsigned> reductions, Convolution &found) {
  found.d = op.getIndexingMapsArray()[2].getDimPosition(1);
  for (unsigned dim : reductions)
    if (!llvm::is_contained({found.kh, found.kw, found.c}, dim))
      found.kd = dim;
  found.slice = data.getResult(1);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  found.slices = ranges[found.d];
  found.taps = ranges[found.kd];
  return found.slice.isFunctionOfDim(found.d) && found.slice.isFunctionOfDim(found.kd) &&
         found.weightsMap.isFunctionOfDim(found.kd) && !ShapedType::isDynamic(found.slices) &&
         !ShapedType::isDynamic(found.taps);
}

std::optional<Convolution> WinogradPass::match(linalg::GenericOp op, const ConstantExpressions &constants) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap out = maps[2];
  Convolution found;
  found.volume = op.getNumLoops() == 9;
  unsigned rank = found.volume ? 5 : 4;
  if (op.getNumLoops() != 2 * rank - 1 || op.getNumReductionLoops() != rank - 1 || !out.isProjectedPermutation() ||
      out.getNumResults() != rank)
    return std::nullopt;
  found.n = out.getDimPosition(0);
  unsigned *parallel[] = {&found.h, &found.w, &found.f};
  for (auto [i, dim] : llvm::enumerate(parallel))
    *dim = out.getDimPosition(rank - 3 + i);
  unsigned data = constants.usesWeights(op.getDpsInputs()[0]) ? 1 : 0;
  AffineMap x = maps[data];
  found.op = op;
  found.dataInput = data;
  found.weights = op.getDpsInputs()[1 - data];
  found.weightsMap = maps[1 - data];
  if (!constants.usesWeights(found.weights) || x.getNumResults() != rank || dimOf(x.getResult(0)) != found.n ||
      !found.weightsMap.isProjectedPermutation() || found.weightsMap.getNumResults() != rank)
    return std::nullopt;
  std::optional<unsigned> channel = dimOf(x.getResult(rank - 1));
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (!channel || !llvm::is_contained(reductions, *channel))
    return std::nullopt;
  found.c = *channel;
  // h + kh, w + kw, with one dilation: the stride is one.
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  std::optional<PaddedLoop> h = matchWindow(x.getResult(rank - 3), kinds),
                            w = matchWindow(x.getResult(rank - 2), kinds);
  auto fits = [&](const std::optional<PaddedLoop> &window, unsigned position) {
    return window && window->position == static_cast<int>(position) && window->stride == 1 &&
           window->tap != static_cast<int>(found.c);
  };
  if (!fits(h, found.h) || !fits(w, found.w) || h->tap == w->tap || h->dilation != w->dilation)
    return std::nullopt;
  found.dilation = h->dilation;
  found.kh = h->tap;
  found.kw = w->tap;
  for (unsigned dim : {found.f, found.kh, found.kw, found.c})
    if (!found.weightsMap.isFunctionOfDim(dim))
      return std::nullopt;
  if (found.volume && !matchVolume(op, x, reductions, found))
    return std::nullopt;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  found.rows = ranges[found.h];
  found.columns = ranges[found.w];
  found.filters = ranges[found.f];
  found.channels = ranges[found.c];
  bool known = !ShapedType::isDynamic(found.filters) && !ShapedType::isDynamic(found.channels);
  if (!known || ranges[found.kh] != 3 || ranges[found.kw] != 3 || !isSupported(op, 9 * found.channels))
    return std::nullopt;
  found.perLane = found.element().isF32() ? 1 : 2;
  if (found.volume && found.perLane > 1)
    return std::nullopt;
  return found;
}

static Value constant(OpBuilder &b, Location loc, ArrayRef<float> values, ArrayRef<int64_t> shape, Type element) {
  auto type = RankedTensorType::get(shape, element);
  if (element.isF32())
    return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, values));
  auto integers = llvm::map_to_vector(values, [](float value) { return static_cast<int16_t>(value); });
  return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, ArrayRef<int16_t>(integers)));
}

/// A product of all inputs, added to the result in its type.
static void sumOfProducts(OpBuilder &b, Location loc, ValueRange arguments) {
  Value sum = arguments.back(), product;
  for (Value factor : llvm::reverse(arguments.drop_back())) {
    if (factor.getType() != sum.getType())
      factor = b.create<arith::ExtSIOp>(loc, sum.getType(), factor);
    product = product ? vector::makeArithReduction(b, loc, vector::CombiningKind::MUL, factor, product) : factor;
  }
  b.create<linalg::YieldOp>(loc, vector::makeArithReduction(b, loc, vector::CombiningKind::ADD, sum, product));
}

/// [filters / block, points, points, channels, block] of G g G^T, a block one or two vectors, the last one filled up
/// with zeros; of volumes, channels are those of every tap. Of integers [filters / block, points, points, channels / 2,
/// block, 2].
Value WinogradPass::transformed(OpBuilder &b, Location loc, const Convolution &c,
                                const WinogradMatrices &matrices) const {
  int64_t block = c.block(lanes()), blocks = llvm::divideCeil(c.filters, block), points = matrices.points();
  auto position = [&](unsigned dim) {
    return static_cast<int64_t>(*c.weightsMap.getResultPosition(getAffineDimExpr(dim, b.getContext())));
  };
  int64_t split = position(c.f);
  auto at = [&](unsigned dim) { return position(dim) + (position(dim) > split); };
  Value weights = inGroups(b, loc, c.weights, split, block);
  int64_t depth = c.taps * c.channels;
  if (c.volume) {
    weights = transposed(b, loc, weights, {split, at(c.kh), at(c.kw), at(c.kd), at(c.c), split + 1});
    weights =
        b.create<tensor::CollapseShapeOp>(loc, weights, ArrayRef<ReassociationIndices>{{0}, {1}, {2}, {3, 4}, {5}});
  } else {
    weights = transposed(b, loc, weights, {split, at(c.kh), at(c.kw), at(c.c), split + 1});
  }
  // p, i, j, c, v, kh, kw
  MLIRContext *context = b.getContext();
  auto map = [&](ArrayRef<unsigned> dims) { return AffineMap::getMultiDimMapWithTargets(7, dims, context); };
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(c.element()));
  Value empty = b.create<tensor::EmptyOp>(loc, ArrayRef<int64_t>{blocks, points, points, depth, block}, c.element());
  Value start = b.create<linalg::FillOp>(loc, zero, empty).getResult(0);
  Value filter = constant(b, loc, matrices.filter, {points, 3}, c.element());
  SmallVector<utils::IteratorType> kinds(7, utils::IteratorType::parallel);
  kinds[5] = kinds[6] = utils::IteratorType::reduction;
  Value result =
      b.create<linalg::GenericOp>(loc, start.getType(), ValueRange{filter, filter, weights}, start,
                                  ArrayRef{map({1, 5}), map({2, 6}), map({0, 5, 6, 3, 4}), map({0, 1, 2, 3, 4})}, kinds,
                                  sumOfProducts)
          .getResult(0);
  if (c.perLane > 1)
    return transposed(b, loc, inGroups(b, loc, result, 3, c.perLane), {0, 1, 2, 3, 5, 4});
  if (!c.volume)
    return result;
  auto type = RankedTensorType::get({blocks, points, points, c.taps, c.channels, block}, c.element());
  return b.create<tensor::ExpandShapeOp>(loc, type, result, ArrayRef<ReassociationIndices>{{0}, {1}, {2}, {3, 4}, {5}});
}

void WinogradPass::rewrite(const Convolution &c, const WinogradMatrices &matrices) const {
  linalg::GenericOp op = c.op;
  OpBuilder b(op);
  Location loc = op.getLoc();
  MLIRContext *context = b.getContext();
  Value weights = transformed(b, loc, c, matrices);
  Value recover = constant(b, loc, matrices.recover, {3, matrices.points()}, c.element()), data = c.data();
  // n, h, w, f, kh, kw, i, j, c; of volumes also d, kd; of integers also the elements of a pair of channels
  enum { N, H, W, F, KH, KW, I, J, C, D, KD, Pair = D };
  unsigned count = c.volume ? KD + 1 : c.perLane > 1 ? Pair + 1 : C + 1;
  auto d = [&](unsigned dim) { return getAffineDimExpr(dim, context); };
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(count, 0, exprs, context); };
  int64_t block = c.block(lanes());
  SmallVector<AffineExpr> x = {d(N), d(H) + d(KH) * c.dilation, d(W) + d(KW) * c.dilation, d(C)},
                          y = {d(N), d(H), d(W), d(F)};
  SmallVector<AffineExpr> u = {d(F).floorDiv(block), d(I), d(J), d(C), d(F) % block};
  SmallVector<utils::IteratorType> kinds(count, utils::IteratorType::reduction);
  std::fill_n(kinds.begin(), 4, utils::IteratorType::parallel);
  if (c.volume) {
    x.insert(x.begin() + 1, c.slice.replace({{d(c.d), d(D)}, {d(c.kd), d(KD)}}));
    y.insert(y.begin() + 1, d(D));
    u.insert(u.begin() + 3, d(KD));
    kinds[D] = utils::IteratorType::parallel;
  }
  if (c.perLane > 1) {
    data = inGroups(b, loc, data, 3, c.perLane);
    x.push_back(d(Pair));
    u.push_back(d(Pair));
  }
  AffineMap maps[] = {map(x), map({d(KH), d(I)}), map({d(KW), d(J)}), map(u), map(y)};
  Value init = op.getDpsInits()[0];
  auto convolution = b.create<linalg::GenericOp>(loc, init.getType(), ValueRange{data, recover, recover, weights}, init,
                                                 maps, kinds, sumOfProducts);
  convolution->setAttr(kWinograd, b.getI64IntegerAttr(matrices.m));
  if (std::optional<PaddedLoop> padded = paddedSlices(c)) {
    padded->position = D;
    padded->tap = KD;
    setPaddedLoops(convolution, *padded);
  }
  op.getResult(0).replaceAllUsesWith(convolution.getResult(0));
  op.erase();
}
