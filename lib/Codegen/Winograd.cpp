//===- Winograd.cpp - convolutions with transformed weights ---------------===//
//
// Where it pays, the weights g of a convolution with several taps along one dimension
// or two are transformed once, at load, to U = G g or G g G^T. The convolution stays a
// linalg.generic that says what it computes, a sum over the elements of U that turns
// them back into g; how it is computed is up to the emitter (WinogradEmitter.cpp).
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
/// A window of any number of taps as the sum of windows of at most three: how many, the taps of each, and how many lie
/// from one to the next. A tap that two of them have is the earlier one's.
struct Parts {
  int64_t count = 1, taps = 1, step = 0;

  /// Those with the fewest products, with tiles of four.
  static Parts of(int64_t taps) {
    if (taps <= 3)
      return {1, taps, 0};
    Parts best;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int64_t each : {3, 2}) {
      int64_t count = llvm::divideCeil(taps, each);
      while ((taps - each) % (count - 1))
        ++count;
      if (int64_t products = count * (4 + each - 1); products < least) {
        least = products;
        best = {count, each, (taps - each) / (count - 1)};
      }
    }
    return best;
  }
  /// Whether a tap of a part is not an earlier part's.
  bool isOwn(int64_t part, int64_t tap) const { return part == 0 || tap >= taps - step; }
};

/// One of the dimensions of an image: rows or columns.
struct Axis {
  unsigned image, tap; ///< dimensions of the generic
  int64_t taps;        ///< of the window

  Parts parts() const { return Parts::of(taps); }
  bool inParts() const { return parts().count > 1; }
  WinogradMatrices matrices(int64_t m, bool integers) const { return getWinogradMatrices(m, parts().taps, integers); }
};

/// A convolution with any window of more than one tap, perhaps in parts, and stride 1: out(n, h, w, f) +=
/// data(n, h + kh, w + kw, c) * weights, perhaps with a dilation, of which kh and kw are times so much, or of lines,
/// without h and kh. Or one of volumes, whose slices are such images: out(n, d, h, w, f) += data(n, slice, h + kh, w +
/// kw, c) * weights, where the slice is any sum of d and kd, and may be any of the three.
struct Convolution : WinogradSize {
  linalg::GenericOp op;
  unsigned dataInput;
  Value weights;
  AffineMap weightsMap;
  unsigned n, f, c; ///< dimensions of the generic
  SmallVector<Axis, 2> axes;
  bool volume = false;
  unsigned d, kd; ///< of volumes

  Value data() const { return linalg::GenericOp(op).getDpsInputs()[dataInput]; }
  AffineMap dataMap() const { return linalg::GenericOp(op).getIndexingMapsArray()[dataInput]; }
  Type element() const { return getElementTypeOrSelf(weights); }
  bool integers() const { return perLane > 1; }
  bool isLine() const { return axes.size() == 1; }
  bool inParts() const {
    return llvm::any_of(axes, [](const Axis &axis) { return axis.inParts(); });
  }
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
    for (const Axis &axis : convolution.axes)
      if (loop.tap == static_cast<int>(axis.tap))
        share *= loop.share(linalg::GenericOp(convolution.op).getStaticLoopRanges()[axis.image], axis.taps);
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
      if (convolution->volume || convolution->dilation > 1 || convolution->inParts())
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
          rewrite(convolution, m);
  }

private:
  /// What transformed weights may add to the model's weights beyond a third of these, and what more of them have to
  /// save; not where they are so many times as large, as those of long windows are.
  static constexpr int64_t spareBytes = 16 << 20, mostTimes = 4;
  static constexpr double cyclesPerByte = 1;

  int64_t lanes() const { return vectorBits / 32; }
  int64_t bytesOfWeights(const ConstantExpressions &constants);
  SmallVector<int64_t> choose(ArrayRef<SmallVector<Convolution>> groups, int64_t room) const;

  static std::optional<Convolution> match(linalg::GenericOp op, const ConstantExpressions &constants);
  void rewrite(const Convolution &convolution, int64_t m) const;
  Value transformed(OpBuilder &b, Location loc, const Convolution &convolution, int64_t m) const;
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

/// By weights, the size of the tiles of the convolutions by them, or 0. Transformed weights are 1.3 to 7 times as many:
/// those that save most for each byte come first; where they have no room, only those that save much, and smaller tiles
/// as far as there is room for these.
SmallVector<int64_t> WinogradPass::choose(ArrayRef<SmallVector<Convolution>> groups, int64_t room) const {
  struct Candidate {
    size_t group;
    int64_t m, bytes; ///< those added
    double saved;
    bool mayExceed; ///< the room
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
      int64_t before = cast<RankedTensorType>(c.weights.getType()).getNumElements() * bytesOf(c.element());
      int64_t bytes = c.points(choice.m) * c.taps * c.channels * c.filters * bytesOf(c.element());
      if (choice.m)
        candidates.push_back({number, choice.m, bytes - before, choice.saved, bytes <= mostTimes * before});
    }
    llvm::stable_sort(candidates, [](const Candidate &x, const Candidate &y) {
      return x.saved * static_cast<double>(y.bytes) > y.saved * static_cast<double>(x.bytes);
    });
    for (const Candidate &candidate : candidates)
      if (candidate.bytes <= room ||
          (candidate.mayExceed && candidate.saved > cyclesPerByte * static_cast<double>(candidate.bytes))) {
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

/// Which of the spatial dimensions are an image, and which one are its slices, if there are three: those whose window
/// filters most. `dims` are of the result, before their sizes.
static bool matchAxes(linalg::GenericOp op, AffineMap data, ArrayRef<unsigned> dims, Convolution &found) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  found.volume = dims.size() == 3;
  int64_t most = 1;
  for (unsigned slice = 0; slice < (found.volume ? 3 : 1); ++slice) {
    SmallVector<Axis, 2> axes;
    int64_t window = 1, dilation = 1;
    bool fits = true;
    for (auto [i, dim] : llvm::enumerate(dims)) {
      if (found.volume && i == slice)
        continue;
      // h + kh, w + kw, with one dilation: the stride is one.
      std::optional<PaddedLoop> loop = matchWindow(data.getResult(1 + i), kinds);
      int64_t taps = loop ? ranges[loop->tap] : ShapedType::kDynamic;
      fits = !ShapedType::isDynamic(taps) && loop->position == static_cast<int>(dim) &&
             loop->tap != static_cast<int>(found.c) &&
             (taps == 1 || (loop->stride == 1 && (window == 1 || loop->dilation == dilation)));
      if (!fits)
        break;
      if (taps > 1)
        dilation = loop->dilation;
      window *= taps;
      axes.push_back({dim, static_cast<unsigned>(loop->tap), taps});
    }
    if (!fits || window <= most || (axes.size() == 2 && axes[0].tap == axes[1].tap))
      continue;
    most = window;
    found.axes = axes;
    found.dilation = dilation;
    found.d = dims[slice];
  }
  return most > 1;
}

/// Matches what the convolution of a volume has beyond that of an image: the fourth reduction, and d.
static bool matchVolume(linalg::GenericOp op, AffineMap data, ArrayRef<unsigned> reductions, Convolution &found) {
  for (unsigned dim : reductions)
    if (dim != found.c && llvm::none_of(found.axes, [&](const Axis &axis) { return axis.tap == dim; }))
      found.kd = dim;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  found.slices = ranges[found.d];
  found.taps = ranges[found.kd];
  auto isSlice = [&](AffineExpr expr) { return expr.isFunctionOfDim(found.d) && expr.isFunctionOfDim(found.kd); };
  return llvm::any_of(data.getResults(), isSlice) && found.weightsMap.isFunctionOfDim(found.kd) &&
         !ShapedType::isDynamic(found.taps);
}

std::optional<Convolution> WinogradPass::match(linalg::GenericOp op, const ConstantExpressions &constants) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap out = maps[2];
  unsigned rank = out.getNumResults();
  if (rank < 3 || rank > 5 || op.getNumLoops() != 2 * rank - 1 || op.getNumReductionLoops() != rank - 1 ||
      !out.isProjectedPermutation())
    return std::nullopt;
  Convolution found;
  SmallVector<unsigned> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(out.getDimPosition(i));
  found.n = dims.front();
  found.f = dims.back();
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
  if (!matchAxes(op, x, ArrayRef(dims).drop_front().drop_back(), found))
    return std::nullopt;
  auto isOfWeights = [&](unsigned dim) { return found.weightsMap.isFunctionOfDim(dim); };
  if (!isOfWeights(found.f) || !isOfWeights(found.c) ||
      !llvm::all_of(found.axes, [&](const Axis &axis) { return isOfWeights(axis.tap); }))
    return std::nullopt;
  if (found.volume && !matchVolume(op, x, reductions, found))
    return std::nullopt;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  const Axis &last = found.axes.back();
  found.rows = found.isLine() ? 1 : ranges[found.axes[0].image];
  found.rowTaps = found.isLine() ? 1 : found.axes[0].parts().taps;
  found.columns = ranges[last.image];
  found.columnTaps = last.parts().taps;
  int64_t window = 1, parts = 1;
  for (const Axis &axis : found.axes) {
    window *= axis.taps;
    parts *= axis.parts().count;
  }
  found.taps *= parts;
  found.own = static_cast<double>(window) / static_cast<double>(parts * found.window());
  found.filters = ranges[found.f];
  found.channels = ranges[found.c];
  bool known = !ShapedType::isDynamic(found.filters) && !ShapedType::isDynamic(found.channels);
  if (!known || !isSupported(op, window * found.channels))
    return std::nullopt;
  found.perLane = found.element().isF32() ? 1 : 2;
  // Of integers there are tiles of three taps alone.
  auto isThree = [](const Axis &axis) { return axis.taps == 1 || axis.taps == 3; };
  if (found.integers() && (found.volume || !llvm::all_of(found.axes, isThree)))
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
/// with zeros; of lines without the first points; of volumes and of windows in parts [..., taps, parts, parts,
/// channels, block]. Of integers [filters / block, points, points, channels / 2, block, 2].
Value WinogradPass::transformed(OpBuilder &b, Location loc, const Convolution &c, int64_t m) const {
  int64_t block = c.block(lanes()), blocks = llvm::divideCeil(c.filters, block);
  unsigned axes = c.axes.size();
  auto position = [&](unsigned dim) {
    return static_cast<int64_t>(*c.weightsMap.getResultPosition(getAffineDimExpr(dim, b.getContext())));
  };
  int64_t split = position(c.f);
  auto at = [&](unsigned dim) { return position(dim) + (position(dim) > split); };
  SmallVector<int64_t> order{split};
  for (const Axis &axis : c.axes)
    order.push_back(at(axis.tap));
  if (c.volume)
    order.push_back(at(c.kd));
  order.append({at(c.c), split + 1});
  Value weights = transposed(b, loc, inGroups(b, loc, c.weights, split, block), order);
  // p, i, j, kd, gh, gw, c, v, kh, kw, or as many of them as there are
  unsigned kd = 1 + axes, firstPart = kd + c.volume, depth = firstPart + (c.inParts() ? axes : 0), firstTap = depth + 2,
           count = firstTap + axes;
  auto d = [&](unsigned dim) { return b.getAffineDimExpr(dim); };
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(count, 0, exprs, b.getContext()); };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> shape{blocks}, counts;
  SmallVector<AffineExpr> from{d(0)};
  for (auto [i, axis] : llvm::enumerate(c.axes)) {
    WinogradMatrices matrices = axis.matrices(m, c.integers());
    AffineExpr tap = d(firstTap + i), part = d(firstPart + i);
    inputs.push_back(constant(b, loc, matrices.filter, {matrices.points(), matrices.taps}, c.element()));
    maps.push_back(map({d(1 + i), tap}));
    shape.push_back(matrices.points());
    Parts parts = axis.parts();
    counts.push_back(parts.count);
    from.push_back(axis.inParts() ? part * parts.step + tap : tap);
    if (!axis.inParts() || parts.step == parts.taps)
      continue;
    SmallVector<float> own;
    for (int64_t i = 0; i < parts.count * parts.taps; ++i)
      own.push_back(parts.isOwn(i / parts.taps, i % parts.taps));
    inputs.push_back(constant(b, loc, own, {parts.count, parts.taps}, c.element()));
    maps.push_back(map({part, tap}));
  }
  if (c.volume) {
    from.push_back(d(kd));
    shape.push_back(linalg::GenericOp(c.op).getStaticLoopRanges()[c.kd]);
  }
  if (c.inParts())
    llvm::append_range(shape, counts);
  shape.append({c.channels, block});
  from.append({d(depth), d(depth + 1)});
  inputs.push_back(weights);
  maps.push_back(map(from));
  maps.push_back(AffineMap::getMultiDimIdentityMap(count, b.getContext()).getMajorSubMap(firstTap));
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(c.element()));
  Value empty = b.create<tensor::EmptyOp>(loc, shape, c.element());
  Value start = b.create<linalg::FillOp>(loc, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> kinds(count, utils::IteratorType::parallel);
  std::fill(kinds.begin() + firstTap, kinds.end(), utils::IteratorType::reduction);
  Value result =
      b.create<linalg::GenericOp>(loc, start.getType(), inputs, start, maps, kinds, sumOfProducts).getResult(0);
  if (!c.integers())
    return result;
  Value pairs = inGroups(b, loc, result, depth, c.perLane);
  auto places = llvm::to_vector(llvm::seq<int64_t>(depth + 3));
  std::swap(places[depth + 1], places[depth + 2]);
  return transposed(b, loc, pairs, places);
}

void WinogradPass::rewrite(const Convolution &c, int64_t m) const {
  linalg::GenericOp op = c.op;
  OpBuilder b(op);
  Location loc = op.getLoc();
  MLIRContext *context = b.getContext();
  Value weights = transformed(b, loc, c, m), data = c.data();
  auto loops = WinogradLoops::of(c.axes.size() + c.volume, c.inParts(), c.integers());
  auto d = [&](int dim) { return getAffineDimExpr(dim, context); };
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(loops.count, 0, exprs, context); };
  // What the dimensions become.
  SmallVector<AffineExpr> become(op.getNumLoops());
  become[c.n] = d(loops.n);
  become[c.f] = d(loops.f);
  become[c.c] = d(loops.c);
  int64_t block = c.block(lanes());
  SmallVector<AffineExpr> u{d(loops.f).floorDiv(block)};
  SmallVector<Value> inputs{data};
  SmallVector<AffineMap> maps(1);
  for (auto [number, axis] : llvm::enumerate(c.axes)) {
    bool isRows = number + 1 < c.axes.size();
    int tap = isRows ? loops.kh : loops.kw, point = isRows ? loops.i : loops.j, part = isRows ? loops.gh : loops.gw;
    become[axis.image] = d(isRows ? loops.h : loops.w);
    become[axis.tap] = axis.inParts() ? d(tap) + d(part) * axis.parts().step : d(tap);
    WinogradMatrices matrices = axis.matrices(m, c.integers());
    inputs.push_back(constant(b, loc, matrices.recover, {matrices.taps, matrices.points()}, c.element()));
    maps.push_back(map({d(tap), d(point)}));
    u.push_back(d(point));
  }
  SmallVector<utils::IteratorType> kinds(loops.count, utils::IteratorType::reduction);
  std::fill_n(kinds.begin(), loops.f + 1, utils::IteratorType::parallel);
  for (int loop : {loops.kd, loops.gh, loops.gw})
    if (loop >= 0)
      u.push_back(d(loop));
  if (c.volume) {
    become[c.d] = d(loops.d);
    become[c.kd] = d(loops.kd);
    kinds[loops.d] = utils::IteratorType::parallel;
  }
  u.append({d(loops.c), d(loops.f) % block});
  auto became = [&](AffineMap old) {
    return llvm::map_to_vector(old.getResults(), [&](AffineExpr expr) {
      return simplifyAffineExpr(expr.replaceDims(become), loops.count, 0);
    });
  };
  SmallVector<AffineExpr> x = became(c.dataMap()), y = became(op.getIndexingMapsArray().back());
  if (c.integers()) {
    inputs[0] = inGroups(b, loc, data, x.size() - 1, c.perLane);
    x.push_back(d(loops.pair));
    u.push_back(d(loops.pair));
  }
  maps[0] = map(x);
  inputs.push_back(weights);
  maps.append({map(u), map(y)});
  Value init = op.getDpsInits()[0];
  auto convolution = b.create<linalg::GenericOp>(loc, init.getType(), inputs, init, maps, kinds, sumOfProducts);
  convolution->setAttr(kWinograd, b.getI64IntegerAttr(m));
  convolution->setAttr(kProducts,
                       b.getI64IntegerAttr(cast<RankedTensorType>(c.weights.getType()).getNumElements() / c.filters));
  if (std::optional<PaddedLoop> padded = paddedSlices(c)) {
    padded->position = loops.d;
    padded->tap = loops.kd;
    setPaddedLoops(convolution, *padded);
  }
  op.getResult(0).replaceAllUsesWith(convolution.getResult(0));
  op.erase();
}
