//===- Passes.h - conversions between operator sets and linalg --*- C++ -*-===//

#ifndef STRATA_CONVERSION_PASSES_H
#define STRATA_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace strata {

#define GEN_PASS_DECL
#include "Conversion/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Conversion/Passes.h.inc"

} // namespace strata

#endif // STRATA_CONVERSION_PASSES_H
