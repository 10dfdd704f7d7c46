//===- Winograd.cpp - 3x3 convolutions with transformed weights -----------===//
//
// Where it pays, the weights g of a convolution are transformed once, at load, to
// U = G g G^T. The convolution stays a linalg.generic that says what it computes, a
// sum over the elements of U that turns them back into g; how it is computed is up
// to the emitter (WinogradEmitter.cpp).
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "ConstantExpressions.h"
#include "Transposed.h"
#include "WinogradMatrices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace strata {
#define GEN_PASS_DEF_WINOGRAD
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

namespace {
/// A convolution with a 3x3 window and stride 1: out(n, h, w, f) += data(n, h + kh, w + kw, c) * weights.
struct Convolution {
  Value data, weights;
  AffineMap weightsMap;
  unsigned n, h, w, f, kh, kw, c; ///< dimensions of the generic
  int64_t rows, columns, filters, channels;
};

struct WinogradPass : strata::impl::WinogradBase<WinogradPass> {
  using WinogradBase::WinogradBase;

  void runOnOperation() override {
    ConstantExpressions constants(getOperation());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      if (std::optional<Convolution> convolution = match(op, constants))
        if (int64_t m = choose(*convolution))
          rewrite(op, *convolution, getWinogradMatrices(m));
  }

private:
  int64_t lanes() const { return vectorBits / 32; }

  static std::optional<Convolution> match(linalg::GenericOp op, const ConstantExpressions &constants);
  int64_t choose(const Convolution &convolution) const;
  double cycles(const Convolution &convolution, int64_t m) const;
  void rewrite(linalg::GenericOp op, const Convolution &convolution, const WinogradMatrices &matrices) const;
  Value transformed(OpBuilder &b, Location loc, const Convolution &convolution, const WinogradMatrices &matrices) const;
};
} // namespace

static bool isMultiplyAdd(linalg::GenericOp op) {
  Block *body = op.getBody();
  auto sum = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (body->getOperations().size() != 3 || !sum)
    return false;
  for (unsigned side : {0u, 1u})
    if (auto product = sum->getOperand(side).getDefiningOp<arith::MulFOp>())
      return sum->getOperand(1 - side) == body->getArgument(2) &&
             ((product.getLhs() == body->getArgument(0) && product.getRhs() == body->getArgument(1)) ||
              (product.getLhs() == body->getArgument(1) && product.getRhs() == body->getArgument(0)));
  return false;
}

static std::optional<unsigned> dimOf(AffineExpr expr) {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

std::optional<Convolution> WinogradPass::match(linalg::GenericOp op, const ConstantExpressions &constants) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumLoops() != 7 ||
      op.getNumReductionLoops() != 3 || !isMultiplyAdd(op))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap out = maps[2];
  if (!out.isProjectedPermutation() || out.getNumResults() != 4)
    return std::nullopt;
  Convolution found;
  unsigned *parallel[] = {&found.n, &found.h, &found.w, &found.f};
  for (auto [i, dim] : llvm::enumerate(parallel))
    *dim = out.getDimPosition(i);
  unsigned data = constants.usesWeights(op.getDpsInputs()[0]) ? 1 : 0;
  AffineMap x = maps[data];
  found.data = op.getDpsInputs()[data];
  found.weights = op.getDpsInputs()[1 - data];
  found.weightsMap = maps[1 - data];
  auto isF32 = [](Value value) { return getElementTypeOrSelf(value).isF32(); };
  if (!constants.usesWeights(found.weights) || !llvm::all_of(op->getOperands(), isF32) || x.getNumResults() != 4 ||
      dimOf(x.getResult(0)) != found.n || !found.weightsMap.isProjectedPermutation() ||
      found.weightsMap.getNumResults() != 4)
    return std::nullopt;
  std::optional<unsigned> channel = dimOf(x.getResult(3));
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (!channel || !llvm::is_contained(reductions, *channel))
    return std::nullopt;
  found.c = *channel;
  // h + kh, w + kw: stride and dilation are one.
  auto window = [&](unsigned position, unsigned parallel) -> std::optional<unsigned> {
    for (unsigned dim : reductions)
      if (dim != found.c &&
          x.getResult(position) == getAffineDimExpr(parallel, op.getContext()) + getAffineDimExpr(dim, op.getContext()))
        return dim;
    return std::nullopt;
  };
  std::optional<unsigned> kh = window(1, found.h), kw = window(2, found.w);
  if (!kh || !kw || found.weightsMap.isFunctionOfDim(found.n))
    return std::nullopt;
  found.kh = *kh;
  found.kw = *kw;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  found.rows = ranges[found.h];
  found.columns = ranges[found.w];
  found.filters = ranges[found.f];
  found.channels = ranges[found.c];
  bool known =
      llvm::none_of(ArrayRef({found.rows, found.columns, found.filters, found.channels}), ShapedType::isDynamic);
  // Where tiles end beyond the image, its size must be known.
  ArrayRef<int64_t> shape = cast<RankedTensorType>(found.data.getType()).getShape();
  known &= llvm::none_of(shape.drop_front(), ShapedType::isDynamic);
  if (!known || ranges[found.kh] != 3 || ranges[found.kw] != 3)
    return std::nullopt;
  return found;
}

/// An estimate of the time of one image. m = 0 stands for the sum over the window itself.
double WinogradPass::cycles(const Convolution &c, int64_t m) const {
  // Multiply-adds per cycle, less what tiles lose: short sums lose more.
  double direct = 0.85 * fmaPerCycle, products = 0.7 * fmaPerCycle;
  double area = static_cast<double>(c.channels) * c.filters, pixels = static_cast<double>(c.rows) * c.columns;
  int64_t weights = m ? (m + 2) * (m + 2) : 9;
  double load = weights * area * sizeof(float) / memoryRate; // they are rarely in the cache when their turn comes
  if (!m)
    return std::max(load, pixels * 9 * area / lanes() / direct);
  double tiles = static_cast<double>(llvm::divideCeil(c.rows, m)) * llvm::divideCeil(c.columns, m);
  // Loads, arithmetic and stores of a transform take about as many cycles each.
  double transforms = tiles * (c.channels + c.filters) / lanes() * 3 * weights;
  return std::max(load, tiles * weights * area / lanes() / products) + transforms;
}

/// The size of output tiles that costs least, 0 if the sum over the window does.
int64_t WinogradPass::choose(const Convolution &c) const {
  if (c.channels % lanes() || c.filters % (2 * lanes()))
    return 0;
  // The transforms lose some digits, so there must be something to gain.
  int64_t best = 0;
  double least = 0.85 * cycles(c, 0);
  for (int64_t m : {2, 4})
    if (double time = cycles(c, m); time < 0.95 * least) {
      best = m;
      least = time;
    }
  return best;
}

static Value constant(OpBuilder &b, Location loc, ArrayRef<float> values, ArrayRef<int64_t> shape) {
  return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(RankedTensorType::get(shape, b.getF32Type()), values));
}

/// A product of all inputs, added to the result.
static void sumOfProducts(OpBuilder &b, Location loc, ValueRange arguments) {
  Value product = arguments[arguments.size() - 2];
  for (Value factor : llvm::reverse(arguments.drop_back(2)))
    product = b.create<arith::MulFOp>(loc, factor, product);
  b.create<linalg::YieldOp>(loc, b.create<arith::AddFOp>(loc, arguments.back(), product).getResult());
}

/// [filters / block, points, points, channels, block] of G g G^T.
Value WinogradPass::transformed(OpBuilder &b, Location loc, const Convolution &c,
                                const WinogradMatrices &matrices) const {
  int64_t block = 2 * lanes(), blocks = c.filters / block, points = matrices.points();
  int64_t split = -1, at[4]; // of f, kh, kw, c
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (auto [i, expr] : llvm::enumerate(c.weightsMap.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    int64_t position = shape.size();
    groups.push_back({position});
    if (dim == c.f) {
      split = position;
      groups.back().push_back(position + 1);
      llvm::append_values(shape, blocks, block);
      continue;
    }
    at[dim == c.kh ? 1 : dim == c.kw ? 2 : 3] = position;
    shape.push_back(dim == c.c ? c.channels : 3);
  }
  Value weights = b.create<tensor::ExpandShapeOp>(loc, RankedTensorType::get(shape, b.getF32Type()), c.weights, groups);
  weights = transposed(b, loc, weights, {split, at[1], at[2], at[3], split + 1});
  // p, i, j, c, v, kh, kw
  MLIRContext *context = b.getContext();
  auto map = [&](ArrayRef<unsigned> dims) { return AffineMap::getMultiDimMapWithTargets(7, dims, context); };
  Value zero = b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(0));
  Value empty =
      b.create<tensor::EmptyOp>(loc, ArrayRef<int64_t>{blocks, points, points, c.channels, block}, b.getF32Type());
  Value start = b.create<linalg::FillOp>(loc, zero, empty).getResult(0);
  Value filter = constant(b, loc, matrices.filter, {points, 3});
  SmallVector<utils::IteratorType> kinds(7, utils::IteratorType::parallel);
  kinds[5] = kinds[6] = utils::IteratorType::reduction;
  return b
      .create<linalg::GenericOp>(loc, start.getType(), ValueRange{filter, filter, weights}, start,
                                 ArrayRef{map({1, 5}), map({2, 6}), map({0, 5, 6, 3, 4}), map({0, 1, 2, 3, 4})}, kinds,
                                 sumOfProducts)
      .getResult(0);
}

void WinogradPass::rewrite(linalg::GenericOp op, const Convolution &c, const WinogradMatrices &matrices) const {
  OpBuilder b(op);
  Location loc = op.getLoc();
  MLIRContext *context = b.getContext();
  Value weights = transformed(b, loc, c, matrices);
  Value recover = constant(b, loc, matrices.recover, {3, matrices.points()});
  // n, h, w, f, kh, kw, i, j, c
  enum { N, H, W, F, KH, KW, I, J, C, count };
  auto d = [&](unsigned dim) { return getAffineDimExpr(dim, context); };
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(count, 0, exprs, context); };
  int64_t block = 2 * lanes();
  AffineMap maps[] = {map({d(N), d(H) + d(KH), d(W) + d(KW), d(C)}), map({d(KH), d(I)}), map({d(KW), d(J)}),
                      map({d(F).floorDiv(block), d(I), d(J), d(C), d(F) % block}), map({d(N), d(H), d(W), d(F)})};
  SmallVector<utils::IteratorType> kinds(count, utils::IteratorType::reduction);
  std::fill_n(kinds.begin(), 4, utils::IteratorType::parallel);
  Value init = op.getDpsInits()[0];
  auto convolution = b.create<linalg::GenericOp>(loc, init.getType(), ValueRange{c.data, recover, recover, weights},
                                                 init, maps, kinds, sumOfProducts);
  convolution->setAttr(kWinograd, b.getI64IntegerAttr(matrices.m));
  op.getResult(0).replaceAllUsesWith(convolution.getResult(0));
  op.erase();
}
