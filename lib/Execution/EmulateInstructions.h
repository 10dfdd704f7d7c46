//===- EmulateInstructions.h - for tests on other CPUs ----------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_EMULATEINSTRUCTIONS_H
#define STRATA_LIB_EXECUTION_EMULATEINSTRUCTIONS_H

namespace llvm {
class Function;
}

namespace strata {

/// What vectors and AMX's tiles of CPUs with AVX-512 compute, by instructions that every CPU has. Tiles are computed by
/// functions of this process, in which alone the code can run.
void emulateInstructions(llvm::Function &function);

} // namespace strata

#endif // STRATA_LIB_EXECUTION_EMULATEINSTRUCTIONS_H
