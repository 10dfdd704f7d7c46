//===- ShareStarts.h - Where the addresses of a loop start ------*- C++ -*-===//

#ifndef STRATA_EXECUTION_SHARESTARTS_H
#define STRATA_EXECUTION_SHARESTARTS_H

#include "llvm/IR/PassManager.h"

namespace strata {

/// Addresses that an innermost loop moves along count from where they are at its entry, computed once before it and
/// frozen: one value for all that differ by constants. LLVM's loop strength reduction would look through a start that
/// is a sum (of a row, a column, a channel and a group, each a product) and weigh every way to add these up in the
/// loop: more than half of the time of code generation for windows and minimal filtering, with nothing to gain.
///
/// Where steps are unknown, addresses of the loops around differ by more than constants, and each would be counted up
/// by itself in all of them. What these loops have moved is a value of its own there, frozen, for each block of code;
/// to it is added, where it is used, what does not move.
struct ShareStartsPass : llvm::PassInfoMixin<ShareStartsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace strata

#endif // STRATA_EXECUTION_SHARESTARTS_H
