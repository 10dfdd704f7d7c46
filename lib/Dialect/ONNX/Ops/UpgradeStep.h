// Moved: include "Dialect/VersionSteps.h" instead, whose functions are in namespace strata.
#include "Dialect/VersionSteps.h"
#include "Slice.h"

namespace strata::onnx {
inline Value makeFloat(PatternRewriter &rewriter, Location loc, Type element, double value) {
  return makeScalar(rewriter, loc, element, value);
}
} // namespace strata::onnx
