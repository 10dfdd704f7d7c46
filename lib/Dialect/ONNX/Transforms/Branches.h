//===- Branches.h - Ifs and Loops whose ranks depend on the run -*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_TRANSFORMS_BRANCHES_H
#define STRATA_LIB_DIALECT_ONNX_TRANSFORMS_BRANCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace strata {

/// An If without uses that does nothing but check what its own results would need.
bool isUnusedIf(mlir::Operation *op);

/// Puts the branch that is taken in the place of each If whose condition is a constant. True if there was one.
bool inlineDecidedBranches(mlir::func::FuncOp function);

/// Where the branches of an If make values of different ranks, moves copies of the operators that use its result into
/// the branches, one round of them. Where the ranks agree again, inference goes on. A branch that such an operator
/// cannot follow goes: an onnx.Require has the run check that it is not taken. True if there was one.
bool sinkIntoBranches(mlir::func::FuncOp function);

/// Where a Loop carries a value that its body makes, but does not read, and that has another rank at the start, starts
/// with an empty one of the body's rank: an onnx.Require has the run check that the loop is entered. True if there was
/// one.
bool dropUnreadStarts(mlir::func::FuncOp function);

} // namespace strata

#endif // STRATA_LIB_DIALECT_ONNX_TRANSFORMS_BRANCHES_H
