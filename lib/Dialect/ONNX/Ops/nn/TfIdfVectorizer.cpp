//===- TfIdfVectorizer.cpp - TfIdfVectorizer ------------------------------===//
//
// Each result element counts where in a row its n-grams are: consecutive
// elements, or elements up to max_skip_count apart. Single elements count once.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include <map>

namespace {
struct NGrams {
  /// Sorted by result element: those of element i are [starts[i], starts[i + 1]).
  SmallVector<int64_t> starts, lengths;
  /// longest elements per n-gram.
  SmallVector<int64_t> items;
  /// One per n-gram; empty if they are all 1.
  SmallVector<float> weights;
  int64_t longest = 1, size = 0;

  static FailureOr<NGrams> get(Operation *op);
};
} // namespace

FailureOr<NGrams> NGrams::get(Operation *op) {
  auto vectorizer = cast<TfIdfVectorizerOp>(op);
  NGrams grams;
  ArrayRef<int64_t> counts = vectorizer.getNgramCounts(), indexes = vectorizer.getNgramIndexes();
  ArrayRef<int64_t> pool = vectorizer.getPoolInt64s().value_or(ArrayRef<int64_t>());
  int64_t total = vectorizer.getPoolStrings() ? vectorizer.getPoolStrings()->size() : pool.size();
  int64_t least = vectorizer.getMinGramLength(), most = vectorizer.getMaxGramLength();
  if (least < 1 || most < least)
    return op->emitOpError("has n-grams of ") << least << " to " << most << " elements";
  if (static_cast<int64_t>(vectorizer.getMaxSkipCount()) < 0)
    return op->emitOpError("'max_skip_count' is ") << static_cast<int64_t>(vectorizer.getMaxSkipCount());
  for (int64_t index : indexes) {
    if (index < 0)
      return op->emitOpError("'ngram_indexes' holds ") << index;
    grams.size = std::max(grams.size, index + 1);
  }
  ArrayRef<float> weights = vectorizer.getWeights().value_or(ArrayRef<float>());
  if (!weights.empty() && weights.size() != indexes.size())
    return op->emitOpError("has ") << weights.size() << " weights for " << indexes.size() << " n-grams";

  // Of an n-gram that is listed more than once the last one counts.
  std::map<SmallVector<int64_t>, int64_t> numberOf;
  int64_t id = 0;
  for (auto [i, first] : llvm::enumerate(counts)) {
    int64_t length = i + 1, end = i + 1 < counts.size() ? counts[i + 1] : total;
    if (first < 0 || end < first || end > total || (end - first) % length != 0)
      return op->emitOpError("'ngram_counts' does not divide the pool of ") << total << " into n-grams of " << length;
    for (int64_t at = first; at < end; at += length, ++id) {
      if (id >= static_cast<int64_t>(indexes.size()))
        return op->emitOpError("'ngram_indexes' has ") << indexes.size() << " values, fewer than there are n-grams";
      if (length >= least && length <= most && !pool.empty())
        numberOf[SmallVector<int64_t>(pool.slice(at, length))] = id;
    }
  }
  SmallVector<SmallVector<std::pair<SmallVector<int64_t>, int64_t>>> byResult(grams.size);
  for (auto &[gram, number] : numberOf) {
    byResult[indexes[number]].emplace_back(gram, number);
    grams.longest = std::max<int64_t>(grams.longest, gram.size());
  }
  for (auto &list : byResult) {
    grams.starts.push_back(grams.lengths.size());
    for (auto &[gram, number] : list) {
      if (!weights.empty() && vectorizer.getMode() != "TF")
        grams.weights.push_back(weights[number]);
      grams.lengths.push_back(gram.size());
      gram.resize(grams.longest, 0);
      grams.items.append(gram);
    }
  }
  grams.starts.push_back(grams.lengths.size());
  return grams;
}

static LogicalResult inferTfIdf(ShapeContext &c) {
  FailureOr<NGrams> grams = NGrams::get(c.getOperation());
  if (failed(grams))
    return failure();
  StringRef mode = c.string("mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return c.emitError() << "'mode' is '" << mode << "', not TF, IDF or TFIDF";
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  if (shape->size() > 2)
    return c.emitError() << "needs an input of rank 1 or 2, not " << shape->size();
  Shape result;
  if (shape->size() == 2)
    result.push_back(shape->front());
  result.push_back(Dim(grams->size));
  c.setShape(0, result);
  return success();
}

// A loop in an element's computation, with one carried value.
static Value repeat(ImplicitLocOpBuilder &n, Value low, Value high, Value start,
                    llvm::function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> body) {
  Value one = n.create<arith::ConstantIndexOp>(1);
  return n
      .create<scf::ForOp>(low, high, one, start,
                          [&](OpBuilder &nested, Location loc, Value index, ValueRange carried) {
                            ImplicitLocOpBuilder inner(loc, nested);
                            inner.create<scf::YieldOp>(body(inner, index, carried[0]));
                          })
      .getResult(0);
}

static FailureOr<SmallVector<Value>> lowerTfIdf(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto vectorizer = cast<TfIdfVectorizerOp>(op);
  if (vectorizer.getPoolStrings())
    return op->emitOpError("cannot be compiled: n-grams of strings");
  FailureOr<NGrams> grams = NGrams::get(op);
  if (failed(grams))
    return failure();
  Value x = operands[0];
  int64_t rank = getRank(x);
  if (rank < 2)
    x = b.reshape(x, {b.getIndexAttr(1), rank == 0 ? OpFoldResult(b.getIndexAttr(1)) : b.dim(x, 0)});
  Type i64 = b.getI64Type(), f32 = b.getF32Type();
  auto integers = [&](ArrayRef<int64_t> values) {
    SmallVector<int64_t> some(values);
    if (some.empty())
      some.push_back(0);
    return b.constant(DenseIntElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(some.size())}, i64), some));
  };
  Value starts = integers(grams->starts), lengths = integers(grams->lengths), items = integers(grams->items), weights;
  if (!grams->weights.empty()) {
    auto type = RankedTensorType::get({static_cast<int64_t>(grams->weights.size())}, f32);
    weights = b.constant(DenseElementsAttr::get(type, ArrayRef<float>(grams->weights)));
  }
  bool onlyWhether = vectorizer.getMode() == "IDF";
  Value width = b.index(b.dim(x, 1)), longest = b.index(grams->longest);
  Value distances = b.index(static_cast<int64_t>(vectorizer.getMaxSkipCount()) + 1);
  Sizes sizes{b.dim(x, 0), b.getIndexAttr(grams->size)};
  Value result = b.generate(sizes, f32, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
    using P = arith::CmpIPredicate;
    Value zero = n.create<arith::ConstantIndexOp>(0), one = n.create<arith::ConstantIndexOp>(1);
    auto read = [](ImplicitLocOpBuilder &m, Value from, Value i) -> Value {
      return m.create<arith::IndexCastOp>(m.getIndexType(), m.create<tensor::ExtractOp>(from, i));
    };
    Value first = read(n, starts, at[1]), end = read(n, starts, n.create<arith::AddIOp>(at[1], one));
    Value none = n.create<arith::ConstantOp>(n.getI64IntegerAttr(0));
    Value zeroFloat = constantFloat(n, f32, 0), oneFloat = constantFloat(n, f32, 1);
    Value sum = repeat(n, first, end, zeroFloat, [&](ImplicitLocOpBuilder &m, Value gram, Value ofGrams) -> Value {
      Value length = read(m, lengths, gram), base = m.create<arith::MulIOp>(gram, longest);
      Value isSingle = m.create<arith::CmpIOp>(P::eq, length, one);
      Value used = m.create<arith::SelectOp>(isSingle, one, distances);
      Value count = repeat(m, zero, used, none, [&](ImplicitLocOpBuilder &d, Value skipped, Value ofDistances) {
        Value distance = d.create<arith::AddIOp>(skipped, one);
        Value extent = d.create<arith::MulIOp>(distance, d.create<arith::SubIOp>(length, one));
        Value places = d.create<arith::MaxSIOp>(d.create<arith::SubIOp>(width, extent), zero);
        return repeat(d, zero, places, ofDistances, [&](ImplicitLocOpBuilder &p, Value place, Value sum) -> Value {
          Value yes = p.create<arith::ConstantOp>(p.getBoolAttr(true));
          Value equal = repeat(p, zero, length, yes, [&](ImplicitLocOpBuilder &e, Value i, Value so) -> Value {
            Value where = e.create<arith::AddIOp>(place, e.create<arith::MulIOp>(i, distance));
            Value element = e.create<tensor::ExtractOp>(x, ValueRange{at[0], where});
            if (element.getType() != i64)
              element = e.create<arith::ExtSIOp>(i64, element);
            Value item = e.create<tensor::ExtractOp>(items, ValueRange{e.create<arith::AddIOp>(base, i)});
            return e.create<arith::AndIOp>(so, e.create<arith::CmpIOp>(P::eq, element, item));
          });
          return p.create<arith::AddIOp>(sum, p.create<arith::ExtUIOp>(i64, equal));
        });
      });
      Value value = m.create<arith::SIToFPOp>(f32, count);
      if (onlyWhether)
        value = m.create<arith::MinimumFOp>(value, oneFloat);
      if (weights)
        value = m.create<arith::MulFOp>(value, m.create<tensor::ExtractOp>(weights, gram));
      return m.create<arith::AddFOp>(ofGrams, value);
    });
    return onlyWhether && !weights ? n.create<arith::MinimumFOp>(sum, oneFloat).getResult() : sum;
  });
  return SmallVector<Value>{rank < 2 ? b.reshape(result, {sizes[1]}) : result};
}

STRATA_SLICE(TfIdfVectorizer) { ops.add("TfIdfVectorizer", {.inferShapes = inferTfIdf, .lower = lowerTfIdf}); }
