// Moved: include "Dialect/VersionSteps.h" instead, whose functions are in namespace strata.
#include "Dialect/VersionSteps.h"
#include "Slice.h"

namespace strata::upgrade {
using strata::attributesWithout;
using strata::dropAttributes;
using strata::listToInput;
inline Value constantI64(PatternRewriter &rewriter, Location loc, ArrayRef<int64_t> values, bool scalar = false) {
  return makeIntegers(rewriter, loc, values, scalar);
}
inline Value constantScalar(PatternRewriter &rewriter, Location loc, Type element, double value) {
  return makeScalar(rewriter, loc, element, value);
}
inline Operation *create(PatternRewriter &rewriter, Location loc, StringRef name, int64_t version, ArrayRef<Value> inputs,
                         ArrayRef<NamedAttribute> attrs, TypeRange results) {
  return createVersion(rewriter, loc, name, version, inputs, attrs, results);
}
inline void replaceByNext(Operation *op, PatternRewriter &rewriter, ArrayRef<Value> inputs,
                          ArrayRef<NamedAttribute> attrs) {
  replaceByVersion(op, rewriter, getNextVersion(op), inputs, attrs);
}
inline LogicalResult identity(Operation *op, PatternRewriter &rewriter) { return keepAttributes(op, rewriter); }
} // namespace strata::upgrade
