//===- Passes.h - passes on the onnx dialect --------------------*- C++ -*-===//

#ifndef STRATA_DIALECT_ONNX_TRANSFORMS_PASSES_H
#define STRATA_DIALECT_ONNX_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace strata {
class ValueAnalysis;

#define GEN_PASS_DECL
#include "Dialect/ONNX/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Dialect/ONNX/Transforms/Passes.h.inc"

} // namespace strata

#endif // STRATA_DIALECT_ONNX_TRANSFORMS_PASSES_H
