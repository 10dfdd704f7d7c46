//===- StageEmitter.h - one operation of a nest at one point --------------===//
#ifndef STRATA_CODEGEN_GPU_STAGEEMITTER_H
#define STRATA_CODEGEN_GPU_STAGEEMITTER_H

#include "../LoopNest.h"

namespace strata {

/// Scalar code for the stages of a nest, at given numbers of its loops.
struct StageEmitter {
  mlir::OpBuilder &b;
  mlir::Location loc;
  LoopNest &nest;

  mlir::Value index(int64_t number);
  mlir::Value materialize(const Extent &extent);

  /// The element of an input or output (`number` counts both).
  mlir::Value load(Stage &stage, unsigned number, llvm::ArrayRef<mlir::Value> at);
  void store(Stage &stage, unsigned output, mlir::Value value, llvm::ArrayRef<mlir::Value> at);
  /// The position of an element in the buffer of a strided access.
  mlir::Value position(const Access &access, llvm::ArrayRef<mlir::Value> at);

  /// What the body yields; `carried` is the previous stage's result, `outputs`
  /// are the elements of the outputs (null where the body does not use them).
  llvm::SmallVector<mlir::Value> evaluate(Stage &stage, llvm::ArrayRef<mlir::Value> at, mlir::Value carried,
                                          llvm::ArrayRef<mlir::Value> outputs);

  /// Products and sums of the body may be rounded once.
  static void allowFusedMultiplyAdd(mlir::linalg::GenericOp op);
};

/// The numbers of loops `which` (the last one counts fastest) of a linear one.
/// Others keep their value in `at`.
void delinearize(mlir::OpBuilder &b, mlir::Location loc, mlir::Value linear, const LoopNest &nest,
                 llvm::ArrayRef<int> which, llvm::SmallVectorImpl<mlir::Value> &at);

} // namespace strata

#endif // STRATA_CODEGEN_GPU_STAGEEMITTER_H
