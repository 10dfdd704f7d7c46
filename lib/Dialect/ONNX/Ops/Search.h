//===- Search.h - constant keys that elements are looked up in --*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_SEARCH_H
#define STRATA_LIB_DIALECT_ONNX_OPS_SEARCH_H

#include "Conversion/RuntimeCalls.h"
#include "Elementwise.h"
#include "llvm/ADT/STLExtras.h"

namespace strata::onnx {

/// Constant strings or numbers, sorted for the search. NaN equals NaN, and zero both zeros. Made outside of loops.
class KeySearch {
public:
  KeySearch(LinalgBuilder &b, ElementsAttr keys) : type(keys.getElementType()) {
    if (isa<StringType>(type)) {
      strings.emplace(b, llvm::to_vector(cast<DenseStringElementsAttr>(keys).getValues<StringRef>()));
    } else if (auto integers = getIntegers(keys)) {
      sort<int64_t>(b, *integers, b.getI64Type(), [](int64_t x, int64_t y) { return x < y; });
    } else {
      // The smallest first, NaN behind all.
      sort<double>(b, *getFloats(keys), b.getF64Type(),
                   [](double x, double y) { return std::isnan(y) ? !std::isnan(x) : x < y; });
    }
  }

  /// The position of the last key that equals `element`, or -1, an i64.
  Value find(LinalgBuilder &b, Value element) const {
    if (strings)
      return strings->find(b, element);
    Type i64 = b.getI64Type();
    if (isa<IntegerType>(type))
      return callRuntime(b, "strata_rt_integer_find", {table, positions, count, scalar::convert(b, element, type, i64)},
                         i64);
    Value number = scalar::convert(b, element, type, b.getF64Type());
    return callRuntime(b, "strata_rt_float_find", {table, positions, count, number}, i64);
  }

private:
  template <typename T, typename Less> void sort(LinalgBuilder &b, ArrayRef<T> keys, Type element, Less less) {
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, keys.size()));
    llvm::sort(order,
               [&](int64_t x, int64_t y) { return less(keys[x], keys[y]) || (!less(keys[y], keys[x]) && x < y); });
    SmallVector<T> sorted;
    SmallVector<int64_t> from;
    for (int64_t i : order) {
      if (!sorted.empty() && !less(sorted.back(), keys[i])) { // equal: the later one counts
        from.back() = i;
        continue;
      }
      sorted.push_back(keys[i]);
      from.push_back(i);
    }
    int64_t size = sorted.size();
    table = addressOf(b, b.constant(DenseElementsAttr::get(RankedTensorType::get(size, element), ArrayRef<T>(sorted))));
    positions = addressOf(
        b, b.constant(DenseElementsAttr::get(RankedTensorType::get(size, b.getI64Type()), ArrayRef<int64_t>(from))));
    count = b.scalarInt(b.getI64Type(), size);
  }

  Type type;
  std::optional<StringSearch> strings;
  Value table, positions, count;
};

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_SEARCH_H
