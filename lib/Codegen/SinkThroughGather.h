//===- SinkThroughGather.h - transposes go behind interpolations -*- C++ -*-===//
#ifndef STRATA_CODEGEN_SINKTHROUGHGATHER_H
#define STRATA_CODEGEN_SINKTHROUGHGATHER_H

#include "mlir/IR/PatternMatch.h"

namespace strata {

/// What reads a transposed tensor in its body, at rows and columns that tables tell, reads the tensor itself and writes
/// its result in the same order, where this makes its last dimension vectors: at least so many lanes.
void populateSinkThroughGather(mlir::RewritePatternSet &patterns, int64_t lanes);

} // namespace strata

#endif // STRATA_CODEGEN_SINKTHROUGHGATHER_H
