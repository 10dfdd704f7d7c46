//===- PromoteTiles.h - tiles in memory become registers --------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_PROMOTETILES_H
#define STRATA_LIB_EXECUTION_PROMOTETILES_H

#include "llvm/Support/Error.h"

namespace llvm {
class Function;
}

namespace strata {

/// Fails if the sums of a function have different known shapes. The matrix unit is configured once per function, and
/// where its eight registers are not enough for the tiles of all shapes, LLVM 19 takes one of another shape, unseen.
llvm::Error checkTiles(const llvm::Function &function);

/// Stack slots that only AMX's loads and stores of whole tiles use become values of type x86_amx, as mem2reg would make
/// them of other types. MLIR has no such type, so sums that live through a loop come here in memory.
void promoteTiles(llvm::Function &function);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_PROMOTETILES_H
