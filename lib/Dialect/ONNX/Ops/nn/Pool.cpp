//===- Pool.cpp - MaxPool, AveragePool, LpPool ----------------------------===//

#include "../Norms.h"
#include "../Windows.h"

using utils::IteratorType;

// Version 1 of LpPool may leave out kernel_shape, which every later version has.
static LogicalResult inferPool(ShapeContext &c) {
  auto kernel = c.integerArray("kernel_shape");
  std::optional<Shape> x = c.shape(0);
  if (x && x->size() < 3)
    return c.emitError() << "'X' has rank " << x->size()
                         << "; a batch, channels and at least one spatial dimension are needed";
  if (!kernel || !x)
    return success();
  if (kernel->size() != x->size() - 2)
    return c.emitError() << "'kernel_shape' has " << kernel->size() << " values for " << x->size() - 2
                         << " spatial dimensions";
  FailureOr<Windows> windows = Windows::get(c.getOperation(), *kernel, /*dropLast=*/true);
  if (failed(windows))
    return failure();
  Shape result{(*x)[0], (*x)[1]};
  for (int64_t i = 0; i < windows->rank(); ++i) {
    const Dim &in = (*x)[2 + i];
    result.push_back(windows->outSize(in, i));
    if (in.isStatic() && in.size > 0 && result.back().is(0))
      return c.emitError() << "the window covers " << windows->extent(i) << " positions of dimension " << 2 + i
                           << ", which has only " << in.size + windows->low[i] + windows->high[i]
                           << " with its padding";
  }
  c.setShape(0, result);
  c.setShape(1, result);
  return success();
}

// p FLOAT -> INT (1 of LpPool); an absent kernel_shape is the whole of the spatial dimensions. All other steps add
// attributes whose defaults are the old meaning, or keep the windows that every version's text counts.
static LogicalResult upgradePool(Operation *op, PatternRewriter &rewriter) {
  SmallVector<NamedAttribute, 2> added;
  if (failed(upgradeNorm(op, rewriter, added)))
    return failure();
  if (getUnversionedName(op) == "LpPool" && !op->getAttr("kernel_shape")) {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!type || type.getRank() < 3 || ShapedType::isDynamicShape(type.getShape().drop_front(2)))
      return op->emitOpError("cannot be upgraded: it has no 'kernel_shape' and the sizes of 'X' are not known");
    added.push_back(
        rewriter.getNamedAttr("kernel_shape", rewriter.getDenseI64ArrayAttr(type.getShape().drop_front(2))));
  }
  return changeAttributes(op, rewriter, {}, added);
}

namespace {
struct Pool {
  Windows windows; // Without what lies behind the data in any case.
  Value x;         // As the operand, without padding.
  Sizes sizes, low, high;
  Type element, compute;
  int64_t rank;
  Windows declared = windows; // By the attributes.
};
} // namespace

static FailureOr<Pool> getPool(Operation *op, Value x, LinalgBuilder &b) {
  auto kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape");
  FailureOr<Windows> windows = Windows::get(op, kernel.asArrayRef(), /*dropLast=*/true);
  if (failed(windows))
    return failure();
  Type element = getElementType(op->getResult(0));
  Pool pool{*windows, x, {b.dim(x, 0), b.dim(x, 1)}, {}, {}, element, scalar::getComputeType(element), windows->rank()};
  pool.low.assign(2, b.getIndexAttr(0));
  pool.high.assign(2, b.getIndexAttr(0));
  for (int64_t i = 0; i < pool.rank; ++i) {
    OpFoldResult in = b.dim(x, 2 + i), out = windows->outSize(b, in, i);
    // With ceil_mode a window may be many times the data, which is not padded to its size.
    if (auto known = getConstantIntValue(in); known && isConstantIntValue(out, 1) && windows->ceil) {
      int64_t &kernel = pool.windows.kernel[i];
      kernel = std::min<int64_t>(kernel, llvm::divideCeil(*known + windows->low[i], windows->dilations[i]));
    }
    auto [before, after] = pool.windows.padding(b, in, out, i);
    pool.sizes.push_back(out);
    pool.low.push_back(before);
    pool.high.push_back(after);
  }
  return pool;
}

// Of the padded operand, the window and the result: loops n, c, o..., k...
static SmallVector<AffineMap> getMaps(LinalgBuilder &b, const Pool &pool) {
  int64_t loops = 2 + 2 * pool.rank;
  SmallVector<AffineExpr> read{b.getAffineDimExpr(0), b.getAffineDimExpr(1)}, window;
  for (int64_t i = 0; i < pool.rank; ++i) {
    AffineExpr k = b.getAffineDimExpr(2 + pool.rank + i);
    read.push_back(b.getAffineDimExpr(2 + i) * pool.windows.strides[i] + k * pool.windows.dilations[i]);
    window.push_back(k);
  }
  SmallVector<int64_t> reduced = llvm::to_vector(llvm::seq<int64_t>(2 + pool.rank, loops));
  return {AffineMap::get(loops, 0, read, b.getContext()), AffineMap::get(loops, 0, window, b.getContext()),
          mapWithout(b.getContext(), loops, reduced)};
}

// Combines the elements of each window, starting from `init`; padding reads `padding`.
static Value reduceWindows(LinalgBuilder &b, const Pool &pool, Value padding, Value init, ScalarFn combine) {
  Value padded = b.pad(pool.x, pool.low, pool.high, padding);
  int64_t loops = 2 + 2 * pool.rank;
  SmallVector<AffineMap> maps = getMaps(b, pool);
  SmallVector<IteratorType> iterators(loops, IteratorType::parallel);
  std::fill(iterators.begin() + 2 + pool.rank, iterators.end(), IteratorType::reduction);
  Value window = b.create<tensor::EmptyOp>(pool.windows.kernel, getElementType(padded));
  Value accumulator = b.fill(pool.sizes, init);
  return b
      .create<linalg::GenericOp>(accumulator.getType(), ValueRange{padded, window}, accumulator, maps, iterators,
                                 [&](OpBuilder &nested, Location loc, ValueRange args) {
                                   ImplicitLocOpBuilder n(loc, nested);
                                   n.create<linalg::YieldOp>(combine(n, {args[0], args[2]}));
                                 })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// MaxPool
//===----------------------------------------------------------------------===//

// Values and the positions of the first maxima in the operand without padding, row-major or (storage_order 1) with the
// spatial dimensions in column-major order.
static SmallVector<Value> maxPoolWithIndices(LinalgBuilder &b, const Pool &pool, Value lowest, bool columnMajor) {
  bool isFloat = isa<FloatType>(pool.compute);
  Value padded = b.pad(pool.x, pool.low, pool.high, lowest);
  int64_t loops = 2 + 2 * pool.rank;
  SmallVector<AffineMap> maps = getMaps(b, pool);
  maps.push_back(maps[2]);
  SmallVector<IteratorType> iterators(loops, IteratorType::parallel);
  std::fill(iterators.begin() + 2 + pool.rank, iterators.end(), IteratorType::reduction);
  Value window = b.create<tensor::EmptyOp>(pool.windows.kernel, getElementType(padded));
  Type i64 = b.getI64Type();
  SmallVector<Value> inits{b.fill(pool.sizes, lowest), b.fill(pool.sizes, b.scalarInt(i64, -1))};
  SmallVector<Value> spatial, before;
  for (int64_t i = 0; i < pool.rank; ++i) {
    spatial.push_back(b.index(b.dim(pool.x, 2 + i)));
    before.push_back(b.index(pool.low[2 + i]));
  }
  Value channels = b.index(b.dim(pool.x, 1));
  SmallVector<Type> types{inits[0].getType(), inits[1].getType()};
  auto generic = b.create<linalg::GenericOp>(
      types, ValueRange{padded, window}, inits, maps, iterators, [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder n(loc, nested);
        auto position = [&](int64_t i) { return n.create<linalg::IndexOp>(i).getResult(); };
        Value plane = n.create<arith::AddIOp>(n.create<arith::MulIOp>(position(0), channels), position(1));
        Value inside, offset = n.create<arith::ConstantIndexOp>(0);
        SmallVector<Value> at;
        for (int64_t i = 0; i < pool.rank; ++i) {
          Value start =
              n.create<arith::MulIOp>(position(2 + i), n.create<arith::ConstantIndexOp>(pool.windows.strides[i]));
          Value step = n.create<arith::MulIOp>(position(2 + pool.rank + i),
                                               n.create<arith::ConstantIndexOp>(pool.windows.dilations[i]));
          at.push_back(n.create<arith::SubIOp>(n.create<arith::AddIOp>(start, step), before[i]));
          // Unsigned: negative positions are large.
          Value in = n.create<arith::CmpIOp>(arith::CmpIPredicate::ult, at[i], spatial[i]);
          inside = inside ? n.create<arith::AndIOp>(inside, in).getResult() : in;
        }
        Value elements = n.create<arith::ConstantIndexOp>(1);
        for (int64_t i = 0; i < pool.rank; ++i) {
          int64_t d = columnMajor ? pool.rank - 1 - i : i;
          offset = n.create<arith::AddIOp>(n.create<arith::MulIOp>(offset, spatial[d]), at[d]);
          elements = n.create<arith::MulIOp>(elements, spatial[d]);
        }
        offset = n.create<arith::AddIOp>(n.create<arith::MulIOp>(plane, elements), offset);
        Value index = n.create<arith::IndexCastOp>(i64, offset);

        Value v = args[0], best = args[2], none = n.create<arith::ConstantOp>(n.getI64IntegerAttr(-1));
        Value greater;
        if (isFloat) {
          Value vf = scalar::decode(n, v, pool.element), bestf = scalar::decode(n, best, pool.element);
          greater = n.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, vf, bestf);
          Value isNaN = n.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, vf, vf);
          Value bestIsNumber = n.create<arith::CmpFOp>(arith::CmpFPredicate::ORD, bestf, bestf);
          greater = n.create<arith::OrIOp>(greater, n.create<arith::AndIOp>(isNaN, bestIsNumber));
        } else {
          auto predicate = scalar::isUnsigned(pool.element) ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
          greater = n.create<arith::CmpIOp>(predicate, v, best);
        }
        Value first = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, args[3], none);
        Value take = n.create<arith::AndIOp>(inside, n.create<arith::OrIOp>(first, greater));
        Value newBest = n.create<arith::SelectOp>(take, v, best),
              newIndex = n.create<arith::SelectOp>(take, index, args[3]);
        n.create<linalg::YieldOp>(ValueRange{newBest, newIndex});
      });
  return {generic.getResult(0), generic.getResult(1)};
}

static FailureOr<SmallVector<Value>> lowerMaxPool(Operation *op, ValueRange operands, LinalgBuilder &b) {
  FailureOr<Pool> pool = getPool(op, operands[0], b);
  if (failed(pool))
    return failure();
  auto maxPool = cast<MaxPoolOp>(op);
  Type seam = getSeamElementType(pool->element);
  TypedAttr lowestAttr = scalar::getLowest(pool->element);
  if (lowestAttr.getType() != seam)
    lowestAttr = b.getFloatAttr(seam, -std::numeric_limits<double>::infinity());
  Value lowest = b.create<arith::ConstantOp>(lowestAttr);
  if (op->getNumResults() > 1)
    return maxPoolWithIndices(b, *pool, lowest, maxPool.getStorageOrder() != 0);
  if (pool->rank == 2) {
    Value padded = b.pad(pool->x, pool->low, pool->high, lowest);
    Value init = b.fill(pool->sizes, lowest);
    Value window = b.create<tensor::EmptyOp>(pool->windows.kernel, seam);
    auto i64s = [&](ArrayRef<int64_t> values) -> Attribute {
      return DenseIntElementsAttr::get(RankedTensorType::get({2}, b.getI64Type()), values);
    };
    SmallVector<NamedAttribute> attrs{b.getNamedAttr("strides", i64s(pool->windows.strides)),
                                      b.getNamedAttr("dilations", i64s(pool->windows.dilations))};
    if (!scalar::isUnsigned(pool->element))
      return SmallVector<Value>{
          b.create<linalg::PoolingNchwMaxOp>(init.getType(), ValueRange{padded, window}, init, attrs)->getResult(0)};
  }
  Value result = reduceWindows(b, *pool, lowest, lowest, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    return maximumOf(n, v[0], v[1], scalar::isUnsigned(pool->element));
  });
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// AveragePool
//===----------------------------------------------------------------------===//

// How many positions of window `o` along dimension `i` count: those inside of the data, or with `includePad` also those
// in the declared padding.
static Value countPositions(ImplicitLocOpBuilder &n, const Windows &w, int64_t i, bool includePad, Value o, Value in,
                            Value before, Value after) {
  auto number = [&](int64_t value) { return n.create<arith::ConstantIndexOp>(value).getResult(); };
  Value start = n.create<arith::MulIOp>(o, number(w.strides[i]));
  Value end = n.create<arith::AddIOp>(in, before), dilation = number(w.dilations[i]);
  Value firstK = number(0);
  if (includePad)
    end = n.create<arith::AddIOp>(end, after);
  else
    firstK = n.create<arith::CeilDivSIOp>(n.create<arith::MaxSIOp>(n.create<arith::SubIOp>(before, start), number(0)),
                                          dilation);
  Value endK = n.create<arith::MinSIOp>(n.create<arith::CeilDivSIOp>(n.create<arith::SubIOp>(end, start), dilation),
                                        number(w.kernel[i]));
  return n.create<arith::MaxSIOp>(n.create<arith::SubIOp>(endK, firstK), number(1));
}

static FailureOr<SmallVector<Value>> lowerAveragePool(Operation *op, ValueRange operands, LinalgBuilder &b) {
  FailureOr<Pool> pool = getPool(op, operands[0], b);
  if (failed(pool))
    return failure();
  bool includePad = cast<AveragePoolOp>(op).getCountIncludePad() != 0;
  const Windows &w = pool->declared;
  Type seam = getSeamElementType(pool->element);
  Value zero = b.scalar(pool->compute, 0);
  Value sum;
  if (pool->rank == 2) {
    Value padded = b.pad(pool->x, pool->low, pool->high, b.scalar(seam, 0));
    Value window = b.create<tensor::EmptyOp>(pool->windows.kernel, pool->compute);
    auto i64s = [&](ArrayRef<int64_t> values) -> Attribute {
      return DenseIntElementsAttr::get(RankedTensorType::get({2}, b.getI64Type()), values);
    };
    SmallVector<NamedAttribute> attrs{b.getNamedAttr("strides", i64s(w.strides)),
                                      b.getNamedAttr("dilations", i64s(w.dilations))};
    Value init = b.fill(pool->sizes, zero);
    sum = b.create<linalg::PoolingNchwSumOp>(init.getType(), ValueRange{padded, window}, init, attrs)->getResult(0);
  } else {
    sum = reduceWindows(b, *pool, b.scalar(seam, 0), zero, [&](ImplicitLocOpBuilder &n, ValueRange v) {
      return addScalars(n, v[1], scalar::decode(n, v[0], pool->element));
    });
  }

  // One vector of counts per dimension where windows differ, and one number for the others.
  double whole = 1;
  SmallVector<Value> inputs{sum};
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(2 + pool->rank)};
  for (int64_t i = 0; i < pool->rank; ++i) {
    OpFoldResult in = b.dim(pool->x, 2 + i), out = pool->sizes[2 + i], before = pool->low[2 + i];
    // What lies behind the declared padding (by ceil_mode) never counts.
    OpFoldResult after = w.isSame() ? pool->high[2 + i] : OpFoldResult(b.getIndexAttr(w.high[i]));
    auto knownIn = getConstantIntValue(in), knownOut = getConstantIntValue(out),
         knownBefore = getConstantIntValue(before);
    auto knownAfter = getConstantIntValue(after);
    Value counts;
    if (knownIn && knownOut && knownBefore && knownAfter) {
      SmallVector<double> values;
      for (int64_t o = 0; o < *knownOut; ++o) {
        int64_t count = 0;
        for (int64_t k = 0; k < w.kernel[i]; ++k) {
          int64_t at = o * w.strides[i] + k * w.dilations[i] - *knownBefore;
          count += includePad ? at < *knownIn + *knownAfter : at >= 0 && at < *knownIn;
        }
        values.push_back(std::max<int64_t>(count, 1));
      }
      if (values.empty() || llvm::all_equal(values)) {
        whole *= values.empty() ? 1 : values[0];
        continue;
      }
      auto type = RankedTensorType::get({*knownOut}, pool->compute);
      SmallVector<Attribute> attrs;
      for (double value : values)
        attrs.push_back(b.getFloatAttr(pool->compute, value));
      counts = b.create<arith::ConstantOp>(DenseElementsAttr::get(type, attrs));
    } else if (!w.ceil && !w.isSame() && (includePad || (w.low[i] == 0 && w.high[i] == 0))) {
      whole *= w.kernel[i];
      continue;
    } else {
      Value vIn = b.index(in), vBefore = b.index(before), vAfter = b.index(after);
      counts = b.generate({out}, pool->compute, [&](ImplicitLocOpBuilder &n, ValueRange indices) -> Value {
        Value count = countPositions(n, w, i, includePad, indices[0], vIn, vBefore, vAfter);
        return n.create<arith::SIToFPOp>(pool->compute, n.create<arith::IndexCastOp>(n.getI64Type(), count));
      });
    }
    inputs.push_back(counts);
    maps.push_back(AffineMap::get(2 + pool->rank, 0, b.getAffineDimExpr(2 + i), b.getContext()));
  }
  Value result = mapElements(b, inputs, maps, pool->sizes, seam, [&](ImplicitLocOpBuilder &n, ValueRange v) {
    Value divisor = constantFloat(n, pool->compute, whole);
    for (Value count : v.drop_front())
      divisor = n.create<arith::MulFOp>(divisor, count);
    return scalar::encode(n, n.create<arith::DivFOp>(v[0], divisor), pool->element);
  });
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// LpPool
//===----------------------------------------------------------------------===//

static FailureOr<SmallVector<Value>> lowerLpPool(Operation *op, ValueRange operands, LinalgBuilder &b) {
  FailureOr<Pool> pool = getPool(op, operands[0], b);
  if (failed(pool))
    return failure();
  int64_t p = cast<LpPoolOp>(op).getP();
  Value sum = reduceWindows(b, *pool, b.scalar(getSeamElementType(pool->element), 0), b.scalar(pool->compute, 0),
                            [&](ImplicitLocOpBuilder &n, ValueRange v) {
                              return addScalars(n, v[1], powerOfAbs(n, scalar::decode(n, v[0], pool->element), p));
                            });
  Value result = b.elementwise(sum, getSeamElementType(pool->element), [&](ImplicitLocOpBuilder &n, ValueRange v) {
    return scalar::encode(n, rootOf(n, v[0], p), pool->element);
  });
  return SmallVector<Value>{result};
}

// Up to version 21, ceil_mode keeps windows that lie in the padding alone: whether there are any.
static LogicalResult refuseOtherWindows(Operation *op) {
  auto ceilMode = op->getAttrOfType<IntegerAttr>("ceil_mode");
  auto autoPad = op->getAttrOfType<StringAttr>("auto_pad");
  if (!ceilMode || ceilMode.getInt() == 0 || (autoPad && autoPad != "NOTSET"))
    return success();
  auto kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape");
  auto list = [&](StringRef name, size_t i, int64_t absent) {
    auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
    return attr ? attr[i] : absent;
  };
  std::optional<Shape> from = getShape(op->getOperand(0).getType()), to = getShape(op->getResult(0).getType());
  for (size_t i = 0, rank = kernel.size(); i < rank; ++i) {
    if (!from || !to || !(*from)[2 + i].isStatic() || !(*to)[2 + i].isStatic())
      return refuseDowngrade(op) << "ceil_mode also keeps windows in the padding alone, and its sizes are not known";
    int64_t padded = (*from)[2 + i].size + list("pads", i, 0) + list("pads", rank + i, 0);
    int64_t extent = (kernel[i] - 1) * list("dilations", i, 1) + 1;
    if (llvm::divideCeilSigned(padded - extent, list("strides", i, 1)) + 1 != (*to)[2 + i].size)
      return refuseDowngrade(op) << "ceil_mode also keeps windows in the padding alone, as there is one here";
  }
  return success();
}

static LogicalResult downgradePool(Operation *op, PatternRewriter &rewriter) {
  if (cast<VersionedOpInterface>(op).getSinceVersion() == 22 && failed(refuseOtherWindows(op)))
    return failure();
  return downgradeNorm(op, rewriter,
                       {{"ceil_mode", 0}, {"count_include_pad", 0}, {"dilations", 1}, {"storage_order", 0}});
}

STRATA_SLICE(Pool) {
  ops.add("AveragePool",
          {.inferShapes = inferPool, .upgrade = upgradePool, .downgrade = downgradePool, .lower = lowerAveragePool});
  ops.add("LpPool", {.verify = verifyNorm,
                     .inferShapes = inferPool,
                     .upgrade = upgradePool,
                     .downgrade = downgradePool,
                     .lower = lowerLpPool});
  ops.add("MaxPool",
          {.inferShapes = inferPool, .upgrade = upgradePool, .downgrade = downgradePool, .lower = lowerMaxPool});
}
