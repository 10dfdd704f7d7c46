//===- SliceSubsets.h - which slices of a tensor are the same ---*- C++ -*-===//

#ifndef STRATA_LIB_PIPELINE_SLICESUBSETS_H
#define STRATA_LIB_PIPELINE_SLICESUBSETS_H

#include "mlir/IR/DialectRegistry.h"

namespace strata {

/// Attaches the subset interfaces to tensor.extract_slice and tensor.insert_slice, in the place of upstream's
/// implementation. Two slices are the same if their offsets, sizes and strides are the same constants or values, and
/// disjoint if constants say so. Upstream's asks for equality by linear inequalities over all that the offsets are
/// computed from: bufferisation asks once for each pair of slices, and a detector whose sizes are known at run time only
/// took more than ten minutes.
void registerSliceSubsets(mlir::DialectRegistry &registry);

} // namespace strata

#endif // STRATA_LIB_PIPELINE_SLICESUBSETS_H
