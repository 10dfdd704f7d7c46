//===- BodyLoads.h - buffers that a body reads at computed places -*- C++ -*-===//
//
// Gather, slices with steps, padding and the like read elements with memref.load
// inside of the body. Where the last index counts along the lanes and the others
// are the same for all of them, the lanes' elements lie side by side: one vector.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_BODYLOADS_H
#define STRATA_CODEGEN_BODYLOADS_H

#include "LoopNest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata {

/// Whether every load of the bodies reads one element for all iterations of `loop`, or neighbours in its order.
bool bodyLoadsFit(LoopNest &nest, int loop);

/// The load whose elements, neighbours in the order of `loop`, are all that the last stage stores; null: there is none.
mlir::memref::LoadOp getRunOfBody(LoopNest &nest, int loop);

} // namespace strata

#endif // STRATA_CODEGEN_BODYLOADS_H
