//===- Search.h - constant keys that elements are looked up in --*- C++ -*-===//
//
// A number's place in a table is its distance from the smallest key where keys
// are dense, else the upper bits of a product, by a multiplier that was tried. A
// search compares with all entries from there on that a key of this place may be
// in, so that nothing branches.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_SEARCH_H
#define STRATA_LIB_DIALECT_ONNX_OPS_SEARCH_H

#include "Compute.h"
#include "Conversion/RuntimeCalls.h"
#include "Elementwise.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace strata::onnx {

/// Constant strings or numbers. NaN equals NaN, and zero both zeros. Made outside of loops.
class KeySearch {
public:
  KeySearch(LinalgBuilder &b, ElementsAttr keys) : type(keys.getElementType()) {
    if (isa<StringType>(type))
      strings.emplace(b, llvm::to_vector(cast<DenseStringElementsAttr>(keys).getValues<StringRef>()));
    else if (auto integers = getIntegers(keys))
      layOut(b, *integers);
    else
      layOut(b, llvm::map_to_vector(*getFloats(keys), [](double key) {
               return llvm::bit_cast<int64_t>(std::isnan(key) ? std::numeric_limits<double>::quiet_NaN() : key + 0.0);
             }));
  }

  /// For each element of `x`, of the type `from`, the position of the last key that equals it, or -1: i64.
  Value findAll(LinalgBuilder &b, Value x, Type from) const {
    Type i64 = b.getI64Type();
    if (strings)
      return mapElements(b, x, i64, [&](ValueRange element) { return strings->find(b, element[0]); });
    return b.elementwise(x, i64, [&](ImplicitLocOpBuilder &n, ValueRange element) {
      if (isa<IntegerType>(type))
        return find(n, scalar::convert(n, element[0], from, i64));
      Value number = scalar::convert(n, element[0], from, n.getF64Type());
      Value isNaN = n.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, number, number);
      number =
          n.create<arith::SelectOp>(isNaN, constantFloat(n, n.getF64Type(), std::numeric_limits<double>::quiet_NaN()),
                                    n.create<arith::AddFOp>(number, constantFloat(n, n.getF64Type(), 0)));
      return find(n, n.create<arith::BitcastOp>(i64, number));
    });
  }

private:
  uint64_t placeOf(int64_t key) const {
    uint64_t from = static_cast<uint64_t>(key) - offset;
    return isDense ? std::min(from, size) : from * multiplier >> shift;
  }

  void layOut(LinalgBuilder &b, ArrayRef<int64_t> keys) {
    SmallVector<std::pair<int64_t, int64_t>> sorted;
    for (auto [position, key] : llvm::enumerate(keys))
      sorted.push_back({key, position});
    llvm::sort(sorted);
    // Of equal keys the last one counts.
    SmallVector<std::pair<int64_t, int64_t>> known;
    for (auto entry : sorted)
      if (!known.empty() && known.back().first == entry.first)
        known.back() = entry;
      else
        known.push_back(entry);
    if (known.empty())
      known.push_back({0, -1});
    offset = known.front().first;
    size = static_cast<uint64_t>(known.back().first) - offset;
    isDense = size < 8 * known.size() + 64;
    SmallVector<int64_t> entries;
    if (isDense) {
      fill(known, ++size, entries);
    } else {
      offset = 0;
      size = llvm::PowerOf2Ceil((known.size() < 10000 ? 4 : 2) * known.size());
      shift = 64 - llvm::Log2_64(size);
      // Many keys have neighbours with any multiplier, and each trial takes its time.
      constexpr size_t mostWork = 1 << 20;
      uint64_t state = 0x9e3779b97f4a7c15, best = state, least = ~uint64_t(0);
      for (size_t trial = 0; trial < 32 && trial * known.size() < mostWork && least > 2; ++trial) {
        multiplier = state | 1;
        if (uint64_t needed = fill(known, size, entries); needed < least) {
          least = needed;
          best = multiplier;
        }
        state = state * 6364136223846793005 + 1442695040888963407;
      }
      multiplier = best;
      fill(known, size, entries);
    }
    table = b.constant(DenseElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(entries.size())}, b.getI64Type()), ArrayRef<int64_t>(entries)));
  }

  /// Key and position for each place and those behind the last one. Returns and sets how many a search looks at.
  uint64_t fill(ArrayRef<std::pair<int64_t, int64_t>> known, uint64_t places, SmallVector<int64_t> &entries) {
    entries.assign(2 * (places + 1), 0);
    for (size_t i = 1; i < entries.size(); i += 2)
      entries[i] = -1;
    probes = 1;
    for (auto [key, position] : known) {
      uint64_t first = placeOf(key), at = first;
      for (; 2 * at < entries.size() && entries[2 * at + 1] >= 0; ++at)
        ;
      if (2 * at == entries.size())
        entries.append({0, -1});
      entries[2 * at] = key;
      entries[2 * at + 1] = position;
      probes = std::max(probes, at - first + 1);
    }
    while (entries.size() < 2 * (places + probes))
      entries.append({0, -1});
    return probes;
  }

  Value find(ImplicitLocOpBuilder &n, Value key) const {
    auto integer = [&](uint64_t value) -> Value {
      return n.create<arith::ConstantOp>(n.getI64IntegerAttr(static_cast<int64_t>(value)));
    };
    auto read = [&](Value at) -> Value {
      return n.create<tensor::ExtractOp>(table, n.create<arith::IndexCastOp>(n.getIndexType(), at).getResult());
    };
    Value place = n.create<arith::SubIOp>(key, integer(offset));
    if (isDense)
      place = n.create<arith::MinUIOp>(place, integer(size));
    else
      place = n.create<arith::ShRUIOp>(n.create<arith::MulIOp>(place, integer(multiplier)), integer(shift));
    Value first = n.create<arith::ShLIOp>(place, integer(1)), none = integer(~uint64_t(0)), result = none;
    // An empty entry has a key, too.
    for (uint64_t probe = 0; probe < probes; ++probe) {
      Value own = read(n.create<arith::AddIOp>(first, integer(2 * probe)));
      Value position = read(n.create<arith::AddIOp>(first, integer(2 * probe + 1)));
      Value isEqual = n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, own, key);
      result = n.create<arith::MaxSIOp>(result, n.create<arith::SelectOp>(isEqual, position, none));
    }
    return result;
  }

  Type type;
  std::optional<StringSearch> strings;
  Value table;
  bool isDense = false;
  uint64_t offset = 0, size = 0, multiplier = 1, shift = 0, probes = 1;
};

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_SEARCH_H
