//===- SupportTable.h - what is supported, as a page ------------*- C++ -*-===//

#ifndef STRATA_DIALECT_SUPPORTTABLE_H
#define STRATA_DIALECT_SUPPORTTABLE_H

#include "llvm/Support/raw_ostream.h"

namespace strata {

/// Prints docs/operators.md: every operator of ONNX at every version with its element types and how it is compiled, from
/// the tables that the compiler itself uses.
void printSupportTable(llvm::raw_ostream &out);

} // namespace strata

#endif // STRATA_DIALECT_SUPPORTTABLE_H
