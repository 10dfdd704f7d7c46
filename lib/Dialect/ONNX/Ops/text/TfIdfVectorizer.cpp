//===- TfIdfVectorizer.cpp - counts of n-grams ----------------------------===//
//
// Strings become their positions among the different strings of the pool (-1:
// none of them), so that the runtime compares integers only.
//
//===----------------------------------------------------------------------===//

#include "../Search.h"
#include "Runtime/strata_runtime.h"
#include "llvm/ADT/MapVector.h"

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

namespace {
/// What strata_rt_tfidf follows.
struct Trie {
  SmallVector<int64_t> first, edges, grams;

  /// `pool`: numbers of words below `words`; those from starts[n - 1] to starts[n] are n-grams of n words.
  Trie(ArrayRef<int64_t> pool, ArrayRef<int64_t> starts, int64_t words) : first(words, -1) {
    llvm::MapVector<std::pair<int64_t, int64_t>, int64_t> children;
    int64_t gram = 0;
    auto newNode = [&] {
      grams.push_back(-1);
      return static_cast<int64_t>(grams.size()) - 1;
    };
    for (size_t length = 1; length < starts.size(); ++length)
      for (int64_t at = starts[length - 1]; at < starts[length]; at += length, ++gram) {
        int64_t &root = first[pool[at]];
        if (root < 0)
          root = newNode();
        int64_t node = root;
        for (int64_t word : pool.slice(at + 1, length - 1)) {
          auto [child, isNew] = children.try_emplace({node, word}, 0);
          if (isNew)
            child->second = newNode();
          node = child->second;
        }
        grams[node] = gram; // of equal n-grams the last one counts
      }
    uint64_t places = llvm::PowerOf2Ceil(2 * children.size() + 1);
    edges.assign(2 * places, -1);
    for (auto &[edge, child] : children) {
      int64_t key = edge.first * words + edge.second;
      uint64_t at = strata_gram_place(key) % places;
      while (edges[2 * at] >= 0)
        at = (at + 1) % places;
      edges[2 * at] = key;
      edges[2 * at + 1] = child;
    }
  }
};
} // namespace

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
  SmallVector<int64_t> pool;
  // The numbers of the words in the pool; of one that repeats, the last, which is what a search finds.
  ElementsAttr words;
  if (auto strings = op->getAttrOfType<ArrayAttr>("pool_strings")) {
    llvm::MapVector<StringRef, int64_t> numbers;
    for (StringAttr string : strings.getAsRange<StringAttr>())
      pool.push_back(numbers.try_emplace(string.getValue(), numbers.size()).first->second);
    SmallVector<StringRef> list = llvm::map_to_vector(numbers, [](auto &entry) { return entry.first; });
    words = DenseStringElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(list.size())}, StringType::get(op->getContext())), list);
  } else {
    SmallVector<int64_t> list(integers(op, "pool_int64s"));
    llvm::sort(list);
    list.erase(llvm::unique(list), list.end());
    for (int64_t word : integers(op, "pool_int64s"))
      pool.push_back(llvm::lower_bound(list, word) - list.begin());
    words = DenseElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(list.size())}, i64),
                                   ArrayRef<int64_t>(list));
  }
  Value ids = operands[0];
  if (Type from = getElementType(op->getOperand(0)); !isa<StringType>(from))
    ids = b.elementwise(ids, i64,
                        [&](ImplicitLocOpBuilder &n, ValueRange x) { return scalar::convert(n, x[0], from, i64); });
  ids = KeySearch(b, words).findAll(b, ids, words.getElementType());
  int64_t rank = getRank(ids);
  if (rank == 1)
    ids = b.unsqueeze(ids, {0});
  SmallVector<int64_t> starts(integers(op, "ngram_counts")), indexes(integers(op, "ngram_indexes"));
  starts.push_back(pool.size());
  int64_t size = *llvm::max_element(indexes) + 1;
  Trie trie(pool, starts, words.getNumElements());
  SmallVector<float> weights(indexes.size(), 1.0f);
  if (auto attr = op->getAttrOfType<DenseF32ArrayAttr>("weights"))
    weights.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
  Value scale = b.constant(DenseFPElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(weights.size())}, b.getF32Type()), ArrayRef<float>(weights)));
  StringRef mode = op->getAttrOfType<StringAttr>("mode").getValue();
  Value buffer = makeBuffer(b, {b.dim(ids, 0), b.getIndexAttr(size)}, b.getF32Type());
  auto number = [&](int64_t value) { return b.scalarInt(i64, value); };
  callRuntime(b, "strata_rt_tfidf",
              {ids, integerTable(b, trie.first), integerTable(b, trie.edges), integerTable(b, trie.grams),
               integerTable(b, indexes), scale, number(integer(op, "min_gram_length")),
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
