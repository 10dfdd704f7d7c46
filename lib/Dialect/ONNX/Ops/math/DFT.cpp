//===- DFT.cpp - DFT, STFT -------------------------------------------------===//
//
// A Fourier transform is a product with a matrix of the roots of unity, two
// numbers per complex one; of a known length with factors, two shorter ones after
// another (J. W. Cooley, J. W. Tukey, "An Algorithm for the Machine Calculation of
// Complex Fourier Series", 1965); of a large prime or unknown length a convolution
// by transforms of a length with factors (L. I. Bluestein, "A Linear Filtering
// Approach to the Computation of Discrete Fourier Transform", 1970). Angles are
// reduced as integers and all is computed in double precision: sums of a whole
// signal that cancel would show each error.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include "Dialect/VersionSteps.h"

static LogicalResult verifyFlags(Operation *op) {
  for (StringRef name : {"inverse", "onesided"})
    if (auto flag = op->getAttrOfType<IntegerAttr>(name); flag && flag.getInt() != 0 && flag.getInt() != 1)
      return op->emitOpError("'") << name << "' is " << flag.getInt() << ", not 0 or 1";
  return success();
}

// The last dimension of a signal: 1 if it is real, 2 if it is complex.
static LogicalResult checkParts(ShapeContext &c, const Shape &shape) {
  if (shape.back().isStatic() && shape.back().size != 1 && shape.back().size != 2)
    return c.emitError() << "has a last dimension of " << shape.back().size << ", not 1 (real) or 2 (complex)";
  return success();
}

static Dim halfPlusOne(const Dim &length) { return length.isStatic() ? Dim(length.size / 2 + 1) : Dim(); }

static LogicalResult inferDFT(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  int64_t rank = shape->size();
  if (rank < 2)
    return c.emitError() << "needs an input of rank at least 2, not " << rank;
  if (failed(checkParts(c, *shape)))
    return failure();
  bool inverse = c.integer("inverse", 0), onesided = c.integer("onesided", 0);
  // All sizes but the parts' are unknown where the axis is.
  int64_t axis = c.integer("axis", 1);
  if (c.version() >= 20) {
    axis = -2;
    if (c.hasInput(2)) {
      auto known = c.integers(2);
      if (!known || known->size() != 1) {
        // Whole transforms keep the sizes, whichever it is.
        Shape result = c.hasInput(1) || onesided ? Shape(rank) : *shape;
        result.back() = Dim(inverse && onesided ? 1 : 2);
        c.setShape(0, result);
        return success();
      }
      axis = known->front();
    }
  }
  FailureOr<int64_t> normal = c.normalizeAxis(axis, rank);
  if (failed(normal))
    return failure();
  if (*normal == rank - 1)
    return c.emitError() << "has the last dimension, which holds the parts of a number, as its axis";
  Dim &size = (*shape)[*normal], length = size;
  if (c.hasInput(1)) {
    auto values = c.values(1);
    length = values && values->size() == 1 ? values->front() : Dim();
  } else if (inverse && onesided) {
    length = size.isStatic() ? Dim(2 * (size.size - 1)) : Dim();
  }
  if (length.isStatic() && length.size < 1 && (c.hasInput(1) || (inverse && onesided)))
    return c.emitError() << "has a length of " << length.size << ", less than 1";
  size = onesided && !inverse ? halfPlusOne(length) : length;
  shape->back() = Dim(onesided && inverse ? 1 : 2);
  c.setShape(0, *shape);
  return success();
}

// Up to 17 the axis was an attribute, 1 by default.
static LogicalResult upgradeDFT(Operation *op, PatternRewriter &rewriter) {
  auto attr = op->getAttrOfType<IntegerAttr>("axis");
  Value axis = makeIntegers(rewriter, op->getLoc(), attr ? attr.getInt() : 1, /*scalar=*/true);
  Value length = op->getNumOperands() > 1 ? op->getOperand(1) : Value();
  replaceByNext(op, rewriter, {op->getOperand(0), length, axis}, {"axis"});
  return success();
}

static LogicalResult downgradeDFT(Operation *op, PatternRewriter &rewriter) {
  if (getPreviousVersion(op) != 17)
    return downgradeStep(op, rewriter);
  std::optional<Shape> shape = getShape(op->getOperand(0).getType());
  SmallVector<int64_t> axis{-2};
  if (getFormalInput(op, 2)) {
    FailureOr<SmallVector<int64_t>> known = requireIntegers(op, 2);
    if (failed(known))
      return failure();
    axis = *known;
  }
  if (axis[0] < 0 && !shape)
    return refuseDowngrade(op) << "its axis counts from the end of a tensor of unknown rank";
  return replaceByPrevious(
      op, rewriter, {op->getOperand(0), getFormalInput(op, 1)}, {},
      rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(axis[0] < 0 ? axis[0] + shape->size() : axis[0])));
}

// How the transform of n elements is made of shorter ones: of n1 * n2 elements, n2 transforms of n1, then n1 of n2,
// with each number between them turned by its share. Costs are multiplications for each complex number, a quarter of
// them.
namespace {
class Plan {
public:
  static constexpr int64_t convolution = 0;

  /// The factor n1 to begin with; n itself where a product with the whole matrix is best, `convolution` where that is.
  /// Vectors lie along the `inner` elements behind each of the signal's, or, if there is only one, along the results.
  static int64_t firstFactor(int64_t n, int64_t inner) {
    Plan plan;
    return plan.best(n, inner).second;
  }
  /// The length, `least` or more, that a convolution by transforms takes least time with.
  static int64_t convolutionLength(int64_t least, int64_t inner) {
    Plan plan;
    return plan.bestLength(least, inner).second;
  }

private:
  static constexpr int64_t lanes = 8, longest = 32;
  static constexpr double turn = 1.5;
  DenseMap<std::pair<int64_t, int64_t>, std::pair<double, int64_t>> known;

  static bool hasLargeFactor(int64_t n) {
    for (int64_t factor = 2; factor <= longest; ++factor)
      while (n % factor == 0)
        n /= factor;
    return n > 1;
  }

  /// The cost of a transform and of turning its numbers, and the length.
  std::pair<double, int64_t> bestLength(int64_t least, int64_t inner) {
    std::pair<double, int64_t> result{std::numeric_limits<double>::infinity(), 0};
    for (int64_t odd : {1, 3, 5, 9, 15}) {
      int64_t length = odd << llvm::Log2_64_Ceil(llvm::divideCeil(least, odd));
      result = std::min(result, {length * (best(length, inner).first + turn), length});
    }
    return result;
  }

  /// What is computed for each element that is needed.
  static double waste(int64_t size) { return static_cast<double>(llvm::alignTo(size, lanes)) / size; }

  std::pair<double, int64_t> best(int64_t n, int64_t inner) {
    // Wider than a few vectors makes no difference.
    inner = std::min<int64_t>(inner, 4 * lanes);
    if (auto found = known.find({n, inner}); found != known.end())
      return found->second;
    std::pair<double, int64_t> result{n * waste(inner == 1 ? n : inner), n};
    for (int64_t n1 = 2; n1 <= longest && 2 * n1 <= n; ++n1)
      if (n % n1 == 0) {
        double cost = n1 * waste(inner == 1 ? n1 : inner) + turn + best(n / n1, inner * n1).first;
        result = std::min(result, {cost, n1});
      }
    // Lengths that it is done with have no such factors.
    if (hasLargeFactor(n))
      result = std::min(result, {(2 * bestLength(2 * n - 1, inner).first) / n + 2 * turn, convolution});
    return known[{n, inner}] = result;
  }
};

// Signals are [parts, outer, n, inner]: what lies along vectors is then next to each other.
struct Transform {
  LinalgBuilder &b;
  Type compute; // f64
  Value length; // of the signal, as an index
  bool inverse = false, onesided = false;

  /// What a number's part `from` counts for part `to` of the number turned by `turn` parts of `count`: exp(-i angle)
  /// forward, exp(i angle) back.
  Value root(ImplicitLocOpBuilder &n, Value turn, Value count, Value from, Value to) {
    using P = arith::CmpIPredicate;
    Value zero = n.create<arith::ConstantIndexOp>(0);
    auto toFloat = [&](Value index) -> Value {
      return n.create<arith::SIToFPOp>(compute, n.create<arith::IndexCastOp>(n.getI64Type(), index));
    };
    turn = n.create<arith::RemUIOp>(turn, count);
    // Angles up to half a turn either way.
    Value twice = n.create<arith::AddIOp>(turn, turn);
    Value isBack = n.create<arith::CmpIOp>(P::ugt, twice, count);
    turn = n.create<arith::SelectOp>(isBack, n.create<arith::SubIOp>(turn, count), turn);
    Value angle = n.create<arith::DivFOp>(n.create<arith::MulFOp>(toFloat(turn), constantFloat(n, compute, 2 * M_PI)),
                                          toFloat(count));
    Value cosine = n.create<math::CosOp>(angle), sine = n.create<math::SinOp>(angle);
    // The part that goes from real to imaginary, and the other way.
    Value minus = n.create<arith::NegFOp>(sine);
    Value toImaginary = inverse ? sine : minus, toReal = inverse ? minus : sine;
    Value isReal = n.create<arith::CmpIOp>(P::eq, to, zero);
    Value fromReal = n.create<arith::SelectOp>(isReal, cosine, toImaginary);
    Value fromImaginary = n.create<arith::SelectOp>(isReal, toReal, cosine);
    return n.create<arith::SelectOp>(n.create<arith::CmpIOp>(P::eq, from, zero), fromReal, fromImaginary);
  }

  /// table[parts of the signal, n, parts of the result, k]: what element n counts for element k of a transform of
  /// `count`. The last one divides by the whole length on the way back; there, to a real result, each element of the
  /// half spectrum also counts for its mirror image, if it has one.
  Value getTable(ArrayRef<OpFoldResult> sizes, Value count, bool isLast, bool half) {
    return b.generate(sizes, compute, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
      using P = arith::CmpIPredicate;
      Value factor = root(n, n.create<arith::MulIOp>(i[1], i[3]), count, i[0], i[2]);
      if (half) {
        // Element 0 and, of an even length, the middle one are their own mirror images.
        Value mirrored = n.create<arith::AddIOp>(i[1], i[1]), zero = n.create<arith::ConstantIndexOp>(0);
        Value own = n.create<arith::OrIOp>(n.create<arith::CmpIOp>(P::eq, i[1], zero),
                                           n.create<arith::CmpIOp>(P::eq, mirrored, count));
        Value weight = n.create<arith::SelectOp>(own, constantFloat(n, compute, 1), constantFloat(n, compute, 2));
        factor = n.create<arith::MulFOp>(factor, weight);
      }
      return inverse && isLast ? divideByLength(n, factor) : factor;
    });
  }

  Value divideByLength(ImplicitLocOpBuilder &n, Value factor) {
    Value whole = n.create<arith::IndexCastOp>(n.getI64Type(), length);
    return n.create<arith::DivFOp>(factor, n.create<arith::SIToFPOp>(compute, whole));
  }

  OpFoldResult halfLength() { return b.add(b.floorDiv(OpFoldResult(length), b.getIndexAttr(2)), b.getIndexAttr(1)); }

  AffineMap map(unsigned loops, ArrayRef<unsigned> dims) {
    return AffineMap::getMultiDimMapWithTargets(loops, dims, b.getContext());
  }

  /// The first `results` elements of the transform of `count`, by a product with its matrix.
  Value multiply(Value signal, Value count, OpFoldResult results, int64_t toParts, bool half) {
    Sizes sizes = b.sizes(signal);
    OpFoldResult parts = b.getIndexAttr(toParts);
    Value table = getTable({sizes[0], sizes[2], parts, results}, count, /*isLast=*/true, half);
    // Loops: parts of the result, outer, k, inner, parts of the signal, n.
    SmallVector<utils::IteratorType> iterators(6, utils::IteratorType::parallel);
    iterators[4] = iterators[5] = utils::IteratorType::reduction;
    return contract(b, signal, table, {map(6, {4, 1, 5, 3}), map(6, {4, 5, 0, 2}), map(6, {0, 1, 2, 3})}, iterators,
                    {parts, sizes[1], results, sizes[3]}, compute);
  }

  /// signal[parts, outer, n1 * n2, inner] to [2, outer, n2, n1, inner]: the n2 transforms of n1 elements, n2 apart,
  /// element k of column c turned by c * k parts of the whole.
  Value transformColumns(Value signal, OpFoldResult n1, OpFoldResult n2) {
    Sizes sizes = b.sizes(signal);
    OpFoldResult two = b.getIndexAttr(2);
    Value table = getTable({sizes[0], n1, two, n1}, b.index(n1), /*isLast=*/false, /*half=*/false);
    signal = b.reshape(signal, {sizes[0], sizes[1], n1, n2, sizes[3]});
    // Loops: parts of the result, outer, the column, k, inner, parts of the signal, n.
    SmallVector<utils::IteratorType> iterators(7, utils::IteratorType::parallel);
    iterators[5] = iterators[6] = utils::IteratorType::reduction;
    Value columns = contract(b, signal, table, {map(7, {5, 1, 6, 2, 4}), map(7, {5, 6, 0, 3}), map(7, {0, 1, 2, 3, 4})},
                             iterators, {two, sizes[1], n2, n1, sizes[3]}, compute);
    Value count = b.index(b.mul(n1, n2));
    return multiplyEach(columns, {n2, n1}, [&](ImplicitLocOpBuilder &at, ValueRange i) -> Value {
      return root(at, at.create<arith::MulIOp>(i[2], i[3]), count, i[0], i[1]);
    });
  }

  /// numbers[parts, outer, positions, inner] to [2, ...]: each times a number of its position. factor(from, to,
  /// position) is what its part `from` counts for part `to` of the product.
  Value multiplyEach(Value numbers, ArrayRef<OpFoldResult> positions, ScalarFn factor) {
    Sizes sizes = b.sizes(numbers), tableSizes{sizes[0], b.getIndexAttr(2)};
    llvm::append_range(tableSizes, positions);
    Value table = b.generate(tableSizes, compute, factor);
    unsigned loops = sizes.size();
    auto partOf = [&](int64_t part, ArrayRef<unsigned> dims) {
      return map(loops, dims).insertResult(b.getAffineConstantExpr(part), 0);
    };
    auto all = llvm::to_vector(llvm::seq<unsigned>(1, loops));
    SmallVector<unsigned> own{0};
    llvm::append_range(own, llvm::seq<unsigned>(2, loops - 1));
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (int64_t part = 0, parts = *getConstantIntValue(sizes[0]); part < parts; ++part) {
      inputs.append({numbers, table});
      maps.append({partOf(part, all), partOf(part, own)});
    }
    sizes[0] = b.getIndexAttr(2);
    return mapElements(b, inputs, maps, sizes, compute, [&](ImplicitLocOpBuilder &at, ValueRange v) -> Value {
      Value first = at.create<arith::MulFOp>(v[0], v[1]);
      return v.size() == 2 ? first : at.create<arith::AddFOp>(first, at.create<arith::MulFOp>(v[2], v[3]));
    });
  }

  /// The first `results` elements of the transform of n elements, by a convolution of at least n + results - 1 elements
  /// with `transform(direction, signal, results)`: 2 j k = j^2 + k^2 - (k - j)^2, so that numbers are turned by j^2
  /// halves of an n-th, summed with those of the distances (k - j)^2, which turn back, and turned by k^2.
  Value convolve(Value signal, Value n, OpFoldResult results, OpFoldResult whole,
                 llvm::function_ref<Value(Transform direction, Value signal, OpFoldResult results)> transform) {
    using P = arith::CmpIPredicate;
    Sizes sizes = b.sizes(signal);
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1), two = b.getIndexAttr(2);
    Value count = b.index(whole), twice = b.index(b.mul(OpFoldResult(n), two)), reached = b.index(results);
    Transform forward{b, compute, count}, back{b, compute, count, /*inverse=*/true};
    auto chirp = [&](ImplicitLocOpBuilder &at, Value i, Value from, Value to) {
      return root(at, at.create<arith::MulIOp>(i, i), twice, from, to);
    };
    Value turned = multiplyEach(signal, {sizes[2]}, [&](ImplicitLocOpBuilder &at, ValueRange i) -> Value {
      return chirp(at, i[2], i[0], i[1]);
    });
    turned = b.pad(turned, {zero, zero, zero, zero}, {zero, zero, b.sub(whole, sizes[2]), zero}, b.scalar(compute, 0));
    // Distances back are at the end. What turns back is the conjugate, whose parts are what both parts count for the
    // real one.
    Value distances = b.generate({two, one, whole, one}, compute, [&](ImplicitLocOpBuilder &at, ValueRange i) -> Value {
      Value before = at.create<arith::SubIOp>(count, i[2]);
      Value isAhead = at.create<arith::CmpIOp>(P::ult, i[2], reached);
      Value isBack = at.create<arith::CmpIOp>(P::ult, before, n);
      Value distance = at.create<arith::SelectOp>(isAhead, i[2], before);
      Value real = at.create<arith::ConstantIndexOp>(0), back = chirp(at, distance, i[0], real);
      return at.create<arith::SelectOp>(at.create<arith::OrIOp>(isAhead, isBack), back, constantFloat(at, compute, 0));
    });
    Value spectrum = transform(forward, distances, whole);
    Value product =
        multiplyEach(transform(forward, turned, whole), {whole}, [&](ImplicitLocOpBuilder &at, ValueRange i) -> Value {
          Value start = at.create<arith::ConstantIndexOp>(0);
          Value part = at.create<arith::XOrIOp>(i[0], i[1]);
          Value x = at.create<tensor::ExtractOp>(spectrum, ValueRange{part, start, i[2], start});
          Value squared = at.create<arith::CmpIOp>(P::ugt, i[0], i[1]);
          return at.create<arith::SelectOp>(squared, at.create<arith::NegFOp>(x), x);
        });
    return multiplyEach(transform(back, product, results), {results},
                        [&](ImplicitLocOpBuilder &at, ValueRange i) -> Value {
                          Value factor = chirp(at, i[2], i[0], i[1]);
                          return inverse ? divideByLength(at, factor) : factor;
                        });
  }

  /// The first `results` elements of the transform of a known number of elements.
  Value transformKnown(Value signal, int64_t n, int64_t results) {
    Sizes sizes = b.sizes(signal);
    constexpr int64_t usual = 64;
    int64_t inner = getConstantIntValue(sizes[3]).value_or(usual), n1 = Plan::firstFactor(n, inner);
    if (n1 == n)
      return multiply(signal, b.index(n), b.getIndexAttr(results), 2, /*half=*/false);
    if (n1 == Plan::convolution) {
      int64_t whole = Plan::convolutionLength(n + results - 1, inner);
      return convolve(signal, b.index(n), b.getIndexAttr(results), b.getIndexAttr(whole),
                      [&](Transform direction, Value signal, OpFoldResult results) {
                        return direction.transformKnown(signal, whole, *getConstantIntValue(results));
                      });
    }
    int64_t n2 = n / n1, rows = llvm::divideCeil(results, n1);
    return joinRows(transformColumns(signal, b.getIndexAttr(n1), b.getIndexAttr(n2)), b.getIndexAttr(results),
                    [&](Value columns) { return transformKnown(columns, n2, rows); });
  }

  /// columns[2, outer, n2, n1, inner]: the transforms of n2 elements, of whose elements the first `results` come first.
  Value joinRows(Value columns, OpFoldResult results, llvm::function_ref<Value(Value columns)> transform) {
    Sizes sizes = b.sizes(columns);
    Value rows = transform(b.reshape(columns, {sizes[0], sizes[1], sizes[2], b.mul(sizes[3], sizes[4])}));
    OpFoldResult all = b.mul(b.dim(rows, 2), sizes[3]), zero = b.getIndexAttr(0);
    Value result = b.reshape(rows, {sizes[0], sizes[1], all, sizes[4]});
    return isEqualConstantIntOrValue(all, results)
               ? result
               : b.slice(result, {zero, zero, zero, zero}, {sizes[0], sizes[1], results, sizes[4]});
  }

  /// The same of a number that only the run tells: by a convolution whose length has two factors of about its root.
  Value transformUnknown(Value signal, OpFoldResult results) {
    auto asIndex = [&](Value x) -> OpFoldResult { return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), x); };
    OpFoldResult last = b.sub(b.add(OpFoldResult(length), results), b.getIndexAttr(2));
    Value number = b.create<arith::IndexCastOp>(b.getI64Type(), b.index(last));
    OpFoldResult bits = b.sub(b.getIndexAttr(64), asIndex(b.create<math::CountLeadingZerosOp>(number)));
    OpFoldResult some = b.floorDiv(bits, b.getIndexAttr(2));
    auto powerOfTwo = [&](OpFoldResult bits) -> OpFoldResult {
      return b.create<arith::ShLIOp>(b.index(int64_t(1)), b.index(bits)).getResult();
    };
    OpFoldResult n1 = powerOfTwo(some), n2 = powerOfTwo(b.sub(bits, some));
    return convolve(
        signal, length, results, b.mul(n1, n2), [&](Transform direction, Value signal, OpFoldResult results) {
          return direction.joinRows(direction.transformColumns(signal, n1, n2), results, [&](Value columns) {
            return direction.multiply(columns, b.index(n2), n2, 2, /*half=*/false);
          });
        });
  }

  /// signal[parts, outer, n / 2 + 1, inner] of half a spectrum to the whole one: each element also stands for its
  /// mirror image, which is its conjugate.
  Value mirror(Value signal) {
    Sizes sizes = b.sizes(signal);
    Value reached = b.index(sizes[2]);
    sizes[2] = length;
    return b.generate(sizes, compute, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
      using P = arith::CmpIPredicate;
      Value isGiven = n.create<arith::CmpIOp>(P::ult, i[2], reached), zero = n.create<arith::ConstantIndexOp>(0);
      Value at = n.create<arith::SelectOp>(isGiven, i[2], n.create<arith::SubIOp>(length, i[2]));
      Value x = n.create<tensor::ExtractOp>(signal, ValueRange{i[0], i[1], at, i[3]});
      Value isSame = n.create<arith::OrIOp>(isGiven, n.create<arith::CmpIOp>(P::eq, i[0], zero));
      return n.create<arith::SelectOp>(isSame, x, n.create<arith::NegFOp>(x));
    });
  }

  /// signal[outer, n, inner, parts] to [outer, k, inner, parts].
  Value apply(Value signal) {
    // Elements beyond the length do not count, and missing ones are zeros.
    bool half = inverse && onesided;
    OpFoldResult needed = half ? halfLength() : OpFoldResult(length), used = b.minimum(b.dim(signal, 1), needed);
    OpFoldResult results = onesided && !inverse ? halfLength() : OpFoldResult(length), zero = b.getIndexAttr(0);
    Sizes sizes = b.sizes(signal);
    sizes[1] = used;
    signal = b.transpose(b.slice(signal, {zero, zero, zero, zero}, sizes), {3, 0, 1, 2});
    std::optional<int64_t> n = getConstantIntValue(length);
    Value result;
    if (half && n && Plan::firstFactor(*n, 1) == *n) {
      result = multiply(signal, length, results, 1, half);
    } else {
      if (!isEqualConstantIntOrValue(used, needed))
        signal = b.pad(signal, {zero, zero, zero, zero}, {zero, zero, b.sub(needed, used), zero}, b.scalar(compute, 0));
      if (half)
        signal = mirror(signal);
      result = n ? transformKnown(signal, *n, *getConstantIntValue(results)) : transformUnknown(signal, results);
      if (half) {
        sizes = b.sizes(result);
        sizes[0] = b.getIndexAttr(1);
        result = b.slice(result, {zero, zero, zero, zero}, sizes);
      }
    }
    return b.transpose(result, {1, 2, 3, 0});
  }
};
} // namespace

// The number of parts of a signal's elements. Where only the run tells, real ones get an imaginary part of zero.
static int64_t getParts(LinalgBuilder &b, Value &signal) {
  int64_t parts = cast<RankedTensorType>(signal.getType()).getShape().back();
  if (!ShapedType::isDynamic(parts))
    return parts;
  Sizes sizes = b.sizes(signal);
  Value given = b.index(sizes.back()), one = b.index(int64_t(1));
  sizes.back() = b.getIndexAttr(2);
  Value fits = b.compare(arith::CmpIPredicate::ule, b.sub(OpFoldResult(given), b.getIndexAttr(1)), b.getIndexAttr(1));
  b.check(fits, "the last dimension is neither 1 (real) nor 2 (complex)");
  Type element = getElementType(signal);
  Value zero = b.scalar(element, 0), from = signal;
  signal = b.generate(sizes, element, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
    SmallVector<Value> place(at);
    Value exists = n.create<arith::CmpIOp>(arith::CmpIPredicate::ult, at.back(), given);
    place.back() = n.create<arith::MinUIOp>(at.back(), n.create<arith::SubIOp>(given, one));
    return n.create<arith::SelectOp>(exists, n.create<tensor::ExtractOp>(from, place), zero);
  });
  return 2;
}

// In double precision, and back.
static Value toDouble(ImplicitLocOpBuilder &n, Value element, Type onnx) {
  Value x = scalar::decode(n, element, onnx);
  return x.getType().isF64() ? x : n.create<arith::ExtFOp>(n.getF64Type(), x).getResult();
}
static Value fromDouble(LinalgBuilder &b, Value tensor, Type onnx) {
  Type seam = getSeamElementType(onnx);
  if (seam.isF64())
    return tensor;
  return b.elementwise(tensor, seam, [&](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    return n.create<arith::TruncFOp>(seam, x[0]);
  });
}

// An integer scalar of the source op as an index.
static Value getScalar(LinalgBuilder &b, unsigned formal) {
  if (auto known = b.getIntegers(b.onnxOperand(formal)); known && known->size() == 1)
    return b.index(known->front());
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), b.extractScalar(b.operand(formal)));
}

static FailureOr<SmallVector<Value>> lowerDFT(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto dft = cast<DFTOp>(op);
  Value signal = operands[0];
  int64_t rank = getRank(signal);
  getParts(b, signal);
  Type element = getElementType(op->getOperand(0));
  Transform transform{b, b.getF64Type(), Value(), dft.getInverse() != 0, dft.getOnesided() != 0};
  using P = arith::CmpIPredicate;
  auto number = [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); };
  // The axis may be known at run time only.
  OpFoldResult axis = number(rank - 2);
  if (b.onnxOperand(2)) {
    Value given = getScalar(b, 2);
    axis = b.select(b.compare(P::slt, given, number(0)), b.add(given, number(rank)), given);
    if (std::optional<int64_t> known = getConstantIntValue(axis))
      axis = number(*known);
    b.check(b.compare(P::ult, axis, number(rank - 1)), "the axis is out of range");
  }
  Sizes sizes = b.sizes(signal);
  OpFoldResult outer = number(1), size = number(1), inner = number(1);
  for (int64_t i = 0; i < rank - 1; ++i) {
    Value isAxis = b.compare(P::eq, number(i), axis);
    outer = b.mul(outer, b.select(b.compare(P::slt, number(i), axis), sizes[i], number(1)));
    size = b.select(isAxis, sizes[i], size);
    inner = b.mul(inner, b.select(b.compare(P::sgt, number(i), axis), sizes[i], number(1)));
  }
  if (b.onnxOperand(1))
    transform.length = getScalar(b, 1);
  else if (transform.inverse && transform.onesided)
    transform.length = b.index(b.mul(b.sub(size, number(1)), number(2)));
  else
    transform.length = b.index(size);
  b.check(b.compare(P::sge, OpFoldResult(transform.length), number(1)), "the length is less than 1");
  Value wide = b.elementwise(signal, transform.compute,
                             [&](ImplicitLocOpBuilder &n, ValueRange x) { return toDouble(n, x[0], element); });
  Value result = transform.apply(b.reshape(wide, {outer, size, inner, sizes.back()}));
  for (int64_t i = 0; i < rank - 1; ++i)
    sizes[i] = b.select(b.compare(P::eq, number(i), axis), b.dim(result, 1), sizes[i]);
  sizes.back() = b.dim(result, 3);
  return SmallVector<Value>{b.reshape(fromDouble(b, result, element), sizes)};
}

//===----------------------------------------------------------------------===//
// STFT: the transforms of overlapping frames
//===----------------------------------------------------------------------===//

static LogicalResult inferSTFT(ShapeContext &c) {
  std::optional<Shape> signal = c.shape(0);
  Dim batch, frames, length;
  if (c.hasInput(3)) {
    if (auto values = c.values(3); values && values->size() == 1)
      length = values->front();
  } else if (c.hasInput(2)) {
    if (auto window = c.shape(2))
      length = window->empty() ? Dim() : window->front();
  } else if (signal && signal->size() == 3) {
    length = (*signal)[1];
  }
  if (signal) {
    if (signal->size() != 3)
      return c.emitError() << "needs a signal of rank 3, not " << signal->size();
    if (failed(checkParts(c, *signal)))
      return failure();
    batch = signal->front();
    auto step = c.integers(1);
    if (step && step->size() == 1 && step->front() < 1)
      return c.emitError() << "has frames " << step->front() << " elements apart, less than 1";
    if (length.isStatic() && (*signal)[1].isStatic()) {
      if (length.size < 1 || length.size > (*signal)[1].size)
        return c.emitError() << "has frames of " << length.size << " elements, but a signal of " << (*signal)[1].size;
      if (step && step->size() == 1)
        frames = Dim(((*signal)[1].size - length.size) / step->front() + 1);
    }
  }
  if (auto rank = c.rank(2); rank && *rank != 1)
    return c.emitError() << "needs a window of rank 1, not " << *rank;
  c.setShape(0, {batch, frames, c.integer("onesided", 1) ? halfPlusOne(length) : length, Dim(2)});
  return success();
}

static FailureOr<SmallVector<Value>> lowerSTFT(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value signal = operands[0], window = b.operand(2);
  int64_t parts = getParts(b, signal);
  Type element = getElementType(op->getOperand(0)), compute = b.getF64Type();
  Value step = getScalar(b, 1), length;
  if (b.onnxOperand(3))
    length = getScalar(b, 3);
  else
    length = b.index(window ? b.dim(window, 0) : b.dim(signal, 1));
  if (window)
    b.checkEqual(b.dim(window, 0), OpFoldResult(length), "the window does not have the length of a frame");
  using P = arith::CmpIPredicate;
  OpFoldResult size = b.dim(signal, 1), one = b.getIndexAttr(1);
  b.check(b.compare(P::sge, OpFoldResult(step), one), "the frames are less than one element apart");
  b.check(b.compare(P::sge, OpFoldResult(length), one), "a frame has no elements");
  b.check(b.compare(P::sle, OpFoldResult(length), size), "a frame is longer than the signal");
  OpFoldResult frames = b.add(b.floorDiv(b.sub(size, OpFoldResult(length)), OpFoldResult(step)), one);
  Sizes sizes{b.dim(signal, 0), frames, OpFoldResult(length), b.getIndexAttr(parts)};
  Value framed = b.generate(sizes, compute, [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
    Value at = n.create<arith::AddIOp>(n.create<arith::MulIOp>(i[1], step), i[2]);
    Value x = toDouble(n, n.create<tensor::ExtractOp>(signal, ValueRange{i[0], at, i[3]}), element);
    if (!window)
      return x;
    return n.create<arith::MulFOp>(x, toDouble(n, n.create<tensor::ExtractOp>(window, i[2]), element));
  });
  Value flat = b.reshape(framed, {b.mul(sizes[0], frames), sizes[2], one, sizes[3]});
  Transform transform{b, compute, length, false, cast<STFTOp>(op).getOnesided() != 0};
  Value result = transform.apply(flat);
  Sizes full{sizes[0], frames, b.dim(result, 1), b.getIndexAttr(2)};
  return SmallVector<Value>{b.reshape(fromDouble(b, result, element), full)};
}

STRATA_SLICE(DFT) {
  ops.add("DFT", {.verify = verifyFlags,
                  .inferShapes = inferDFT,
                  .upgrade = upgradeDFT,
                  .downgrade = downgradeDFT,
                  .lower = lowerDFT});
  ops.add("STFT", {.verify = verifyFlags, .inferShapes = inferSTFT, .lower = lowerSTFT});
}
