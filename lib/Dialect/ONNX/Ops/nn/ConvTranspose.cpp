//===- ConvTranspose.cpp - transposed convolution -------------------------===//
//
// Lowered as a convolution with the kernel turned around. Of a stride s, each of
// the s elements between two of the operand reads every s-th tap: these are s
// kernels, whose results are put side by side. Kernels of few filters are computed
// together, those of many one by one, each on as much of the result as it has and with
// the taps that it has. Where the taps of a kernel lie apart, too, the operand is spread
// out with zeros between its elements.
//
//===----------------------------------------------------------------------===//

#include "../Convolve.h"
#include "../Dequantized.h"
#include "Dialect/VersionSteps.h"

namespace {
struct Geometry {
  Windows windows;
  SmallVector<int64_t> outputPadding, outputShape;

  static FailureOr<Geometry> get(Operation *op, ArrayRef<int64_t> kernel) {
    FailureOr<Windows> windows = Windows::get(op, kernel);
    if (failed(windows))
      return failure();
    Geometry g{*windows, {}, {}};
    auto read = [&](StringRef name, SmallVector<int64_t> &into) -> LogicalResult {
      auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
      if (!attr)
        return success();
      into.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
      if (into.size() != kernel.size())
        return op->emitOpError("'") << name << "' has " << into.size() << " values for " << kernel.size()
                                    << " spatial dimensions";
      for (int64_t value : into)
        if (value < 0)
          return op->emitOpError("'") << name << "' holds " << value << ", less than 0";
      return success();
    };
    if (failed(read("output_padding", g.outputPadding)) || failed(read("output_shape", g.outputShape)))
      return failure();
    if (g.outputPadding.empty())
      g.outputPadding.assign(kernel.size(), 0);
    return g;
  }

  bool isGiven() const { return !outputShape.empty(); }

  /// Size of the result and of what is cut off in front.
  std::pair<OpFoldResult, OpFoldResult> sizes(LinalgBuilder &b, OpFoldResult in, int64_t i) const {
    auto number = [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); };
    OpFoldResult stride = number(windows.strides[i]);
    OpFoldResult full = b.add(b.mul(b.sub(in, number(1)), stride), number(outputPadding[i] + windows.extent(i)));
    if (!isGiven() && !windows.isSame())
      return {b.sub(full, number(windows.low[i] + windows.high[i])), number(windows.low[i])};
    OpFoldResult out = isGiven() ? number(outputShape[i]) : b.mul(in, stride);
    OpFoldResult total = b.maximum(b.sub(full, out), number(0)), half = b.floorDiv(total, number(2));
    return {out, windows.sameUpper ? half : b.sub(total, half)};
  }
  Dim size(const Dim &in, int64_t i) const {
    if (isGiven())
      return Dim(outputShape[i]);
    if (windows.isSame())
      return in * Dim(windows.strides[i]);
    return (in - Dim(1)) * Dim(windows.strides[i]) +
           Dim(outputPadding[i] + windows.extent(i) - windows.low[i] - windows.high[i]);
  }
};
} // namespace

static LogicalResult inferConvTranspose(ShapeContext &c) {
  if (failed(checkConvolution(c)))
    return failure();
  std::optional<Shape> x = c.shape(0), w = c.shape(1), known = x ? x : w;
  if (!known)
    return success();
  int64_t group = c.integer("group", 1);
  if (x && w) {
    const Dim &channels = (*x)[1], &read = (*w)[0];
    if (channels.isStatic() && read.isStatic() && channels.size != read.size)
      return c.emitError() << "'X' has " << channels.size << " channels, but 'W' reads " << read.size;
    if (read.isStatic() && read.size % group != 0)
      return c.emitError() << "has " << read.size << " channels, which do not divide into " << group << " groups";
  }
  std::optional<SmallVector<int64_t>> kernel = getKernel(c.getOperation(), w);
  if (kernel && failed(checkKernel(c, *kernel, known->size())))
    return failure();
  Shape result(known->size());
  if (x)
    result[0] = (*x)[0];
  if (w)
    result[1] = (*w)[1] * Dim(group);
  if (failed(checkBias(c, result[1])))
    return failure();
  if (kernel) {
    FailureOr<Geometry> geometry = Geometry::get(c.getOperation(), *kernel);
    if (failed(geometry))
      return failure();
    if (x)
      for (size_t i = 0; i < kernel->size(); ++i) {
        result[2 + i] = geometry->size((*x)[2 + i], i);
        if (result[2 + i].isStatic() && result[2 + i].size < 0)
          return c.emitError() << "its pads cut off all of dimension " << 2 + i;
      }
  }
  c.setShape(0, result);
  return success();
}

namespace {
/// One transposed convolution: x [N, G*C, s...] with w [G*C, F, k...].
struct Lowering {
  LinalgBuilder &b;
  const Geometry &geometry;
  ArrayRef<int64_t> kernel;
  int64_t group;
  Value x, w;
  ProductTypes types;
  /// What the elements around x are.
  Value padding;
  /// The numbers that sums [N, S*F, s...] are of; null: they are the numbers. `weights` [S*F, C, t...] are what was
  /// summed up, for S phases; null: nothing was.
  std::function<Value(Value sums, Value weights)> finish = nullptr;

  Type element = getElementType(w);
  const Windows &windows = geometry.windows;
  int64_t rank = windows.rank();
  OpFoldResult perGroup = b.dim(w, 1), inGroup = b.floorDiv(b.dim(w, 0), number(group));
  OpFoldResult filters = b.mul(perGroup, number(group));

  OpFoldResult number(int64_t value) { return b.getIndexAttr(value); }

  bool isOfPhases() const {
    return llvm::all_of(windows.dilations, [](int64_t d) { return d == 1; }) &&
           llvm::any_of(windows.strides, [](int64_t s) { return s > 1; });
  }

  /// One phase of one dimension: result s * m + number is the sum of x[m + ahead - t] * w[first + s * t].
  struct Phase {
    int64_t ahead, first, taps;
  };
  /// What the phases are of each dimension, if they fill vectors, and if less is computed one by one: together they all
  /// have the most taps, and begin before what is cut off. They have the same number of results, of which the last may
  /// be behind what is wanted.
  std::optional<SmallVector<SmallVector<Phase>>> separatePhases();
  /// The convolution by kernels for each phase of the strides, together.
  Value convolvePhases();
  /// The same, one by one.
  Value convolveEachPhase(ArrayRef<SmallVector<Phase>> phases);
  /// The convolution of the operand with zeros between its elements.
  Value convolveSpread();
  /// A convolution of `sizes` with kernels that are not turned around, by strides of 1.
  Value convolveDense(Value data, Value weights, Windows dense, ArrayRef<OpFoldResult> sizes) {
    dense.strides.assign(rank, 1);
    Value sums = convolve(b, data, weights, dense, group, sizes, types);
    return finish ? finish(sums, weights) : sums;
  }
  /// What it is without any taps.
  Value convolveNothing(ArrayRef<OpFoldResult> sizes) {
    Value sums = b.fill(sizes, b.scalar(scalar::getComputeType(types.sum), 0));
    return finish ? finish(sums, {}) : sums;
  }
};
} // namespace

Value Lowering::convolvePhases() {
  // Element u = s * m + r of the result, counted from before what is cut off, is the sum of x[m - t] * w[r + s * t].
  SmallVector<int64_t> taps, phases(windows.strides);
  Sizes low(2, number(0)), high(2, number(0)), used{b.dim(x, 0), b.dim(x, 1)}, from(2, number(0));
  Sizes steps, results, cut(2, number(0)), cutSizes{b.dim(x, 0), filters};
  for (int64_t i = 0; i < rank; ++i) {
    int64_t s = phases[i];
    taps.push_back(llvm::divideCeil(kernel[i], s));
    OpFoldResult in = b.dim(x, 2 + i);
    auto [out, first] = geometry.sizes(b, in, i);
    steps.push_back(b.ceilDiv(b.add(first, out), number(s)));
    low.push_back(number(taps[i] - 1));
    high.push_back(b.maximum(b.sub(steps[i], in), number(0)));
    used.push_back(b.add(steps[i], number(taps[i] - 1)));
    from.push_back(number(0));
    results.push_back(b.mul(steps[i], number(s)));
    cut.push_back(first);
    cutSizes.push_back(out);
  }
  Value data = b.slice(b.pad(x, low, high, padding), from, used);

  // w as [G, r..., F, C/G, t...], where t counts down, then [G*r...*F, C/G, t...].
  Sizes single{number(group)}, joined;
  OpFoldResult all = filters;
  for (int64_t s : phases) {
    single.push_back(number(s));
    all = b.mul(all, number(s));
  }
  single.append({perGroup, inGroup});
  joined.append({all, inGroup});
  for (int64_t count : taps) {
    single.push_back(number(count));
    joined.push_back(number(count));
  }
  Value channels = b.index(inGroup), zero = b.scalar(element, 0);
  Value turned = b.generate(single, element, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
    auto constant = [&](int64_t value) -> Value { return n.create<arith::ConstantIndexOp>(value); };
    Value channel = n.create<arith::AddIOp>(n.create<arith::MulIOp>(i[0], channels), i[2 + rank]);
    SmallVector<Value> place{channel, i[1 + rank]};
    Value exists;
    for (int64_t d = 0; d < rank; ++d) {
      Value tap = n.create<arith::SubIOp>(constant(taps[d] - 1), i[3 + rank + d]);
      Value at = n.create<arith::AddIOp>(n.create<arith::MulIOp>(tap, constant(phases[d])), i[1 + d]);
      Value inside = n.create<arith::CmpIOp>(arith::CmpIPredicate::ult, at, constant(kernel[d]));
      exists = exists ? n.create<arith::AndIOp>(exists, inside).getResult() : inside;
      place.push_back(n.create<arith::MinUIOp>(at, constant(kernel[d] - 1)));
    }
    return n.create<arith::SelectOp>(exists, n.create<tensor::ExtractOp>(w, place), zero);
  });
  Windows dense = windows;
  dense.kernel = taps;
  Sizes sizes{b.dim(x, 0), all};
  sizes.append(steps);
  Value sum = convolveDense(data, b.reshape(turned, joined), dense, sizes);

  // [N, G, r..., F, m...] becomes [N, G, F, m, r, m, r...].
  Sizes parts{b.dim(x, 0), number(group)}, whole{b.dim(x, 0), filters};
  SmallVector<int64_t> order{0, 1, 2 + rank};
  for (int64_t i = 0; i < rank; ++i) {
    parts.push_back(number(phases[i]));
    order.append({3 + rank + i, 2 + i});
  }
  parts.push_back(perGroup);
  parts.append(steps);
  whole.append(results);
  Value sorted = b.reshape(b.transpose(b.reshape(sum, parts), order), whole);
  return b.slice(sorted, cut, cutSizes);
}

std::optional<SmallVector<SmallVector<Lowering::Phase>>> Lowering::separatePhases() {
  constexpr int64_t leastFilters = 16, mostKernels = 8;
  std::optional<int64_t> numFilters = getConstantIntValue(perGroup);
  int64_t kernels = 1;
  for (int64_t s : windows.strides)
    kernels *= s;
  if (group != 1 || kernels > mostKernels || !numFilters || *numFilters < leastFilters)
    return std::nullopt;
  double together = 1, separate = 1;
  SmallVector<SmallVector<Phase>> result;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t s = windows.strides[i], all = 0;
    OpFoldResult in = b.dim(x, 2 + i);
    auto [size, first] = geometry.sizes(b, in, i);
    auto out = getConstantIntValue(size), cut = getConstantIntValue(first);
    if (!getConstantIntValue(in) || !out || !cut || *out < 1 || *cut < 0)
      return std::nullopt;
    SmallVector<Phase> phases;
    for (int64_t number = 0; number < s; ++number) {
      int64_t from = number + *cut, tap = from % s;
      phases.push_back({from / s, tap, kernel[i] > tap ? llvm::divideCeilSigned(kernel[i] - tap, s) : 0});
      all += phases.back().taps;
    }
    together *= static_cast<double>(llvm::divideCeil(*cut + *out, s) * s * llvm::divideCeil(kernel[i], s));
    separate *= static_cast<double>(llvm::divideCeil(*out, s) * all);
    result.push_back(std::move(phases));
  }
  constexpr double leastGain = 1.05;
  return together > leastGain * separate ? std::optional(std::move(result)) : std::nullopt;
}

Value Lowering::convolveEachPhase(ArrayRef<SmallVector<Phase>> phases) {
  Sizes sizes{b.dim(x, 0), filters}, parts(sizes), whole(sizes), wanted(sizes);
  parts.pop_back();
  SmallVector<int64_t> order{0, 1 + rank}, at(rank, 0);
  for (int64_t i = 0; i < rank; ++i) {
    OpFoldResult out = geometry.sizes(b, b.dim(x, 2 + i), i).first;
    sizes.push_back(b.ceilDiv(out, number(windows.strides[i])));
    whole.push_back(b.mul(sizes.back(), number(windows.strides[i])));
    wanted.push_back(out);
    parts.push_back(number(windows.strides[i]));
    order.append({2 + rank + i, 1 + i});
  }
  parts.append(sizes.begin() + 1, sizes.end());

  SmallVector<Value> sums;
  auto next = [&] {
    for (int64_t i = rank; i-- > 0; at[i] = 0)
      if (++at[i] < windows.strides[i])
        return true;
    return false;
  };
  do {
    Sizes low(2, number(0)), high(2, number(0)), from(2, number(0)), used{b.dim(x, 0), b.dim(x, 1)};
    Sizes filterSizes{filters, b.dim(x, 1)};
    Windows dense = windows;
    for (int64_t i = 0; i < rank; ++i) {
      const Phase &phase = phases[i][at[i]];
      int64_t in = *getConstantIntValue(b.dim(x, 2 + i)), count = *getConstantIntValue(sizes[2 + i]);
      // x from the first to the last that is read.
      int64_t begin = phase.ahead - phase.taps + 1, end = phase.ahead + count;
      low.push_back(number(std::max<int64_t>(-begin, 0)));
      high.push_back(number(std::max<int64_t>(end - in, 0)));
      from.push_back(number(std::max<int64_t>(begin, 0)));
      used.push_back(number(end - begin));
      dense.kernel[i] = phase.taps;
      filterSizes.push_back(number(phase.taps));
    }
    if (llvm::is_contained(dense.kernel, 0)) {
      sums.push_back(convolveNothing(sizes));
      continue;
    }
    // w as [F, C, t...], where t counts down.
    Value turned = b.generate(filterSizes, element, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
      SmallVector<Value> place{i[1], i[0]};
      for (int64_t d = 0; d < rank; ++d) {
        const Phase &phase = phases[d][at[d]];
        auto constant = [&](int64_t value) -> Value { return n.create<arith::ConstantIndexOp>(value); };
        Value tap = n.create<arith::SubIOp>(constant(phase.taps - 1), i[2 + d]);
        place.push_back(
            n.create<arith::AddIOp>(n.create<arith::MulIOp>(tap, constant(windows.strides[d])), constant(phase.first)));
      }
      return n.create<tensor::ExtractOp>(w, place);
    });
    Value data = b.slice(b.pad(x, low, high, padding), from, used);
    sums.push_back(convolveDense(data, turned, dense, sizes));
  } while (next());

  // [N, r..., F, m...] becomes [N, F, m, r, m, r...].
  Value all = b.reshape(b.transpose(b.reshape(b.concat(sums, 1), parts), order), whole);
  return b.slice(all, Sizes(2 + rank, number(0)), wanted);
}

Value Lowering::convolveSpread() {
  // Zeros, and x in it at every stride-th position, behind as many zeros as the kernel may reach before the first.
  Sizes spread{b.dim(x, 0), b.dim(x, 1)}, at(2, number(0)), steps(2, number(1)), cut(2, number(0));
  Sizes cutSizes(spread), sizes{b.dim(x, 0), filters};
  for (int64_t i = 0; i < rank; ++i) {
    OpFoldResult in = b.dim(x, 2 + i);
    auto [out, low] = geometry.sizes(b, in, i);
    int64_t reach = windows.extent(i) - 1;
    OpFoldResult needed = b.add(out, number(reach));
    OpFoldResult filled = b.add(b.mul(b.sub(in, number(1)), number(windows.strides[i])), number(reach + 1));
    spread.push_back(b.maximum(filled, b.add(low, needed)));
    at.push_back(number(reach));
    steps.push_back(number(windows.strides[i]));
    cut.push_back(low);
    cutSizes.push_back(needed);
    sizes.push_back(out);
  }
  Value zeros = b.fill(spread, padding);
  Value spreadX = b.create<tensor::InsertSliceOp>(x, zeros, at, b.sizes(x), steps);
  Value read = b.slice(spreadX, cut, cutSizes);

  // w [C, F, k...] as [G*F, C/G, k...] with k reversed.
  Sizes filterSizes{sizes[1], inGroup};
  for (int64_t size : kernel)
    filterSizes.push_back(number(size));
  Value ofGroup = b.index(perGroup), channels = b.index(inGroup);
  Value turned = b.generate(filterSizes, element, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
    Value which = n.create<arith::DivUIOp>(i[0], ofGroup), f = n.create<arith::RemUIOp>(i[0], ofGroup);
    SmallVector<Value> from{n.create<arith::AddIOp>(n.create<arith::MulIOp>(which, channels), i[1]), f};
    for (int64_t d = 0; d < rank; ++d)
      from.push_back(n.create<arith::SubIOp>(n.create<arith::ConstantIndexOp>(kernel[d] - 1), i[2 + d]));
    return n.create<tensor::ExtractOp>(w, from);
  });
  return convolveDense(read, turned, windows, sizes);
}

// What x and w were dequantized from, if the result is a sum of products of these: of weights around 0.
static std::optional<DequantizedProduct> matchIntegers(ConvTransposeOp conv, LinalgBuilder &b) {
  auto w = dyn_cast<RankedTensorType>(conv.getW().getType());
  if (conv.getGroup() != 1 || !w || !w.hasStaticShape() || w.getNumElements() == 0)
    return std::nullopt;
  auto product = DequantizedProduct::match(conv.getX(), conv.getW(), 1, w.getNumElements() / w.getDimSize(1));
  if (!product || !product->w.zero)
    return product;
  std::optional<SmallVector<int64_t>> zeros = b.getIntegers(product->w.zero);
  return zeros && llvm::all_of(*zeros, [](int64_t zero) { return zero == 0; }) ? product : std::nullopt;
}

// Sums of integers, as numbers of f32, with the bias: of those with x's zero point, in and around the data, it is taken
// away again. All but the sums are lists of one number for each filter.
static Value dequantize(LinalgBuilder &b, const DequantizedProduct &product, Value sums, Value weights, Value bias,
                        Type biasElement) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  OpFoldResult all = b.dim(sums, 1);
  auto alongFilters = [&](Value numbers) {
    if (getRank(numbers) == 0 || isConstantIntValue(b.dim(numbers, 0), 1))
      return numbers;
    OpFoldResult filters = b.dim(numbers, 0);
    Sizes sizes(getRank(sums) - 1, b.getIndexAttr(1));
    sizes[0] = all;
    return b.reshape(b.broadcast(numbers, {b.floorDiv(all, filters), filters}), sizes);
  };
  Type left = getElementType(product.x.scale), right = getElementType(product.w.scale);
  Value factor = b.elementwise(
      {b.lookup(product.x.scale), b.lookup(product.w.scale)}, f32, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
        return n.create<arith::MulFOp>(scalar::decode(n, v[0], left), scalar::decode(n, v[1], right));
      });
  SmallVector<Value> operands{sums, alongFilters(factor)};
  Value zero = weights ? product.x.zero : Value(); // nothing was summed up, nothing is taken away
  if (zero) {
    SmallVector<int64_t> terms = llvm::to_vector(llvm::seq<int64_t>(1, getRank(weights)));
    Value total = b.reduce(
        weights, terms, /*keepDims=*/false, b.scalarInt(i32, 0), [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
          return n.create<arith::AddIOp>(v[1], scalar::convert(n, v[0], getElementType(product.w.value), i32));
        });
    total = b.elementwise({total, b.lookup(zero)}, i32, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
      Value product = n.create<arith::MulIOp>(v[0], scalar::convert(n, v[1], getElementType(zero), i32));
      return n.create<arith::SubIOp>(n.create<arith::ConstantIntOp>(0, i32), product);
    });
    operands.push_back(alongFilters(total));
  }
  if (bias)
    operands.push_back(alongFilters(bias));
  return b.elementwise(operands, f32, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value sum = v[0];
    if (zero)
      sum = n.create<arith::AddIOp>(sum, v[2]);
    Value number = n.create<arith::MulFOp>(n.create<arith::SIToFPOp>(f32, sum), v[1]);
    return bias ? n.create<arith::AddFOp>(number, scalar::decode(n, v.back(), biasElement)).getResult() : number;
  });
}

static FailureOr<SmallVector<Value>> lowerConvTranspose(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto conv = cast<ConvTransposeOp>(op);
  Value x = operands[0], w = operands[1], bias = b.operand(2);
  FailureOr<SmallVector<int64_t>> kernel = requireKernel(op, b);
  if (failed(kernel))
    return failure();
  FailureOr<Geometry> geometry = Geometry::get(op, *kernel);
  if (failed(geometry))
    return failure();
  Type element = getElementType(conv.getY());
  b.checkEqual(b.dim(x, 1), b.dim(w, 0), "the filters do not fit the number of channels");
  ProductTypes types(element);
  Value padding;
  std::optional<DequantizedProduct> product = matchIntegers(conv, b);
  std::function<Value(Value, Value)> finish;
  if (product) {
    x = b.lookup(product->x.value);
    w = b.lookup(product->w.value);
    types = {getElementType(product->x.value), getElementType(product->w.value), b.getI32Type()};
    padding = product->x.zero ? b.extractScalar(b.lookup(product->x.zero)) : b.scalarInt(b.getI8Type(), 0);
    if (bias)
      b.checkEqual(b.dim(bias, 0), b.dim(w, 1), "the bias does not fit the number of filters");
    finish = [&](Value sums, Value weights) { return dequantize(b, *product, sums, weights, bias, element); };
  } else {
    padding = b.scalar(getSeamElementType(element), 0);
  }
  Lowering lowering{b, *geometry, *kernel, static_cast<int64_t>(conv.getGroup()), x, w, types, padding, finish};
  Value sum;
  if (!lowering.isOfPhases())
    sum = lowering.convolveSpread();
  else if (auto phases = lowering.separatePhases())
    sum = lowering.convolveEachPhase(*phases);
  else
    sum = lowering.convolvePhases();
  return SmallVector<Value>{addChannelBias(b, sum, finish ? Value() : bias, element)};
}

STRATA_SLICE(ConvTranspose) {
  // The text of 1 splits odd paddings the other way round; all runtimes split them as 11 says, and so do we.
  ops.add("ConvTranspose", {.inferShapes = inferConvTranspose,
                            .upgrade = keepAttributes,
                            .downgrade = downgradePlainly,
                            .lower = lowerConvTranspose});
}
