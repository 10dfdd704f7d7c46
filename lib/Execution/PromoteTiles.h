//===- PromoteTiles.h - tiles in memory become registers --------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_PROMOTETILES_H
#define STRATA_LIB_EXECUTION_PROMOTETILES_H

namespace llvm {
class Function;
}

namespace strata {

/// Stack slots that only AMX's loads and stores of whole tiles use become values of type x86_amx, as mem2reg would make
/// them of other types. MLIR has no such type, so sums that live through a loop come here in memory.
void promoteTiles(llvm::Function &function);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_PROMOTETILES_H
