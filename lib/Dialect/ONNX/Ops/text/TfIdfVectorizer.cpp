//===- TfIdfVectorizer.cpp - counts of n-grams ----------------------------===//
//
// Strings become their positions among the different strings of the pool (-1:
// none of them), so that the runtime compares integers only.
//
//===----------------------------------------------------------------------===//

#include "../Elementwise.h"
#include "Conversion/RuntimeCalls.h"
#include "llvm/ADT/MapVector.h"
#include <map>

static ArrayRef<int64_t> integers(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return attr ? attr.asArrayRef() : ArrayRef<int64_t>();
}

static int64_t integer(Operation *op, StringRef name) { return op->getAttrOfType<IntegerAttr>(name).getInt(); }

static LogicalResult verifyTfIdf(Operation *op) {
  StringRef mode = op->getAttrOfType<StringAttr>("mode").getValue();
  if (!llvm::is_contained({"TF", "IDF", "TFIDF"}, mode))
    return op->emitOpError("mode is '") << mode << "', but must be TF, IDF or TFIDF";
  int64_t least = integer(op, "min_gram_length"), most = integer(op, "max_gram_length");
  if (least < 1 || most < least)
    return op->emitOpError("has n-grams of lengths ") << least << " to " << most;
  if (integer(op, "max_skip_count") < 0)
    return op->emitOpError("has a negative max_skip_count");
  auto strings = op->getAttrOfType<ArrayAttr>("pool_strings");
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>("pool_int64s");
  if (!strings && !numbers)
    return op->emitOpError("has no pool: neither pool_strings nor pool_int64s");
  if (strings && numbers)
    return op->emitOpError("has two pools: pool_strings and pool_int64s");
  if (!strings && !numbers)
    return success(); // A use without effect, which lowering refuses.
  if (auto type = dyn_cast<TensorType>(op->getOperand(0).getType()))
    if (isa<StringType>(type.getElementType()) != static_cast<bool>(strings))
      return op->emitOpError("has a pool of another type than its input");
  int64_t size = strings ? strings.size() : numbers.size(), grams = 0;
  ArrayRef<int64_t> counts = integers(op, "ngram_counts"), indexes = integers(op, "ngram_indexes");
  if (static_cast<int64_t>(counts.size()) < most)
    return op->emitOpError("ngram_counts has ")
           << counts.size() << " lengths of n-grams, at least " << most << " are needed";
  for (auto [i, start] : llvm::enumerate(counts)) {
    int64_t end = i + 1 < counts.size() ? counts[i + 1] : size, length = i + 1;
    if (start < 0 || start > end || end > size || (end - start) % length)
      return op->emitOpError("ngram_counts does not divide the pool into n-grams: its part ")
             << i << " is [" << start << ", " << end << ") of " << size;
    grams += (end - start) / length;
  }
  if (grams != static_cast<int64_t>(indexes.size()))
    return op->emitOpError("has ") << grams << " n-grams and " << indexes.size() << " ngram_indexes";
  if (indexes.empty() || *llvm::min_element(indexes) < 0)
    return op->emitOpError("needs ngram_indexes that are not negative");
  if (auto weights = op->getAttrOfType<DenseF32ArrayAttr>("weights"); weights && weights.size() != grams)
    return op->emitOpError("has ") << grams << " n-grams and " << weights.size() << " weights";
  return success();
}

// Of an n-gram that is listed more than once the last one counts: the others get no place in the result.
static void dropRepeated(ArrayRef<int64_t> pool, ArrayRef<int64_t> starts, MutableArrayRef<int64_t> indexes) {
  std::map<SmallVector<int64_t>, int64_t> positions;
  int64_t position = 0;
  for (size_t length = 1; length < starts.size(); ++length)
    for (int64_t at = starts[length - 1]; at < starts[length]; at += length, ++position) {
      auto [found, isNew] = positions.try_emplace(SmallVector<int64_t>(pool.slice(at, length)), position);
      if (!isNew)
        indexes[std::exchange(found->second, position)] = -1;
    }
}

static LogicalResult inferTfIdf(ShapeContext &c) {
  ArrayRef<int64_t> indexes = integers(c.getOperation(), "ngram_indexes");
  std::optional<Shape> shape = c.shape(0);
  if (!shape || indexes.empty())
    return success();
  if (shape->empty() || shape->size() > 2)
    return c.emitError() << "needs an input of rank 1 or 2, not " << shape->size();
  shape->back() = Dim(*llvm::max_element(indexes) + 1);
  c.setShape(0, *shape);
  return success();
}

static FailureOr<SmallVector<Value>> lowerTfIdf(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type i64 = b.getI64Type();
  SmallVector<int64_t> pool(integers(op, "pool_int64s"));
  Value ids = operands[0];
  if (auto strings = op->getAttrOfType<ArrayAttr>("pool_strings")) {
    llvm::MapVector<StringRef, int64_t> positions;
    for (StringAttr string : strings.getAsRange<StringAttr>())
      pool.push_back(positions.try_emplace(string.getValue(), positions.size()).first->second);
    SmallVector<StringRef> words = llvm::map_to_vector(positions, [](auto &entry) { return entry.first; });
    StringSearch search(b, words);
    ids = mapElements(b, ids, i64, [&](ValueRange x) { return search.find(b, x[0]); });
  } else {
    Type from = getElementType(op->getOperand(0));
    ids = b.elementwise(ids, i64,
                        [&](ImplicitLocOpBuilder &n, ValueRange x) { return scalar::convert(n, x[0], from, i64); });
  }
  int64_t rank = getRank(ids);
  if (rank == 1)
    ids = b.unsqueeze(ids, {0});
  auto constant = [&](ArrayRef<int64_t> values) {
    SmallVector<int64_t> some(values);
    if (some.empty())
      some.push_back(0);
    return b.constant(DenseIntElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(some.size())}, i64),
                                                ArrayRef<int64_t>(some)));
  };
  SmallVector<int64_t> starts(integers(op, "ngram_counts")), indexes(integers(op, "ngram_indexes"));
  starts.push_back(pool.size());
  int64_t size = *llvm::max_element(indexes) + 1;
  dropRepeated(pool, starts, indexes);
  SmallVector<float> weights(indexes.size(), 1.0f);
  if (auto attr = op->getAttrOfType<DenseF32ArrayAttr>("weights"))
    weights.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
  Value scale = b.constant(DenseFPElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(weights.size())}, b.getF32Type()), ArrayRef<float>(weights)));
  StringRef mode = op->getAttrOfType<StringAttr>("mode").getValue();
  Value buffer = makeBuffer(b, {b.dim(ids, 0), b.getIndexAttr(size)}, b.getF32Type());
  auto number = [&](int64_t value) { return b.scalarInt(i64, value); };
  callRuntime(b, "strata_rt_tfidf",
              {ids, constant(pool), constant(starts), constant(indexes), scale, number(integer(op, "min_gram_length")),
               number(integer(op, "max_gram_length")), number(integer(op, "max_skip_count")),
               number(mode == "TF"    ? 0
                      : mode == "IDF" ? 1
                                      : 2),
               buffer});
  Value result = bufferToTensor(b, buffer);
  if (rank == 1)
    result = b.squeeze(result, {0});
  return SmallVector<Value>{result};
}

STRATA_SLICE(TfIdfVectorizer) {
  ops.add("TfIdfVectorizer", {.verify = verifyTfIdf, .inferShapes = inferTfIdf, .lower = lowerTfIdf, .handles = true});
}
