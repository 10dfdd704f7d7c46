//===- Registration.h - all dialects and passes, for the generic tools ----===//
#ifndef STRATA_TOOLS_COMMON_REGISTRATION_H
#define STRATA_TOOLS_COMMON_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace strata {
/// The operator sets and everything that they are lowered through.
void registerAllDialects(mlir::DialectRegistry &registry);
/// Strata's passes and phase pipelines, and the upstream passes that work on these dialects.
void registerAllPasses();
} // namespace strata

#endif // STRATA_TOOLS_COMMON_REGISTRATION_H
