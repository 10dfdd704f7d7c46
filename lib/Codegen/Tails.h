//===- Tails.h - results that are reduced while they are in registers -*- C++ -*-===//
//
// The sum of a row of exponentials, the largest of its scores: what one nest
// gives and a later one reduces is still in registers where it is stored. There
// each row's vector of parts, which waits in memory, takes it in, and the later
// nest reduces that vector instead of the row.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_TAILS_H
#define STRATA_CODEGEN_TAILS_H

#include "RowLoop.h"

namespace strata {

/// Moves reductions of what an earlier one of the nests gives into that one, as its last operations.
void joinTails(llvm::SmallVector<NestOps> &nests, const NestOptions &options);

} // namespace strata

#endif // STRATA_CODEGEN_TAILS_H
