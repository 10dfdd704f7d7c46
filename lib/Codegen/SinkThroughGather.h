//===- SinkThroughGather.h - transposes go behind interpolations -*- C++ -*-===//
#ifndef STRATA_CODEGEN_SINKTHROUGHGATHER_H
#define STRATA_CODEGEN_SINKTHROUGHGATHER_H

#include "mlir/IR/PatternMatch.h"

namespace strata {

/// Whether elements of the value are a result of the function, as they are or changed one by one. Then a transpose in
/// front of it is left to do, and of more elements than before if there are more.
bool isReturned(mlir::Value value);

/// What reads a transposed tensor in its body, at rows and columns that tables tell, reads the tensor itself and writes
/// its result in the same order, where this makes its last dimension vectors: at least so many lanes.
void populateSinkThroughGather(mlir::RewritePatternSet &patterns, int64_t lanes);

} // namespace strata

#endif // STRATA_CODEGEN_SINKTHROUGHGATHER_H
