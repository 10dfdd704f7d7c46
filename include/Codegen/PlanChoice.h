//===- PlanChoice.h - what may be chosen otherwise in a kernel --*- C++ -*-===//
//
// The plan of a nest follows from an analytical model (NestPlan.cpp). Some of its
// decisions may be taken otherwise, by who has measured: an attribute of the
// nest's reduction, strata.plan = array<i64: rows, vectors, lanesOutermost,
// rowBlock>, says which.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_PLANCHOICE_H
#define STRATA_CODEGEN_PLANCHOICE_H

#include "Codegen/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// The decisions of a nest's plan (NestPlan.h) that do not change what is computed.
struct PlanChoice {
  int64_t rows = 1, vectors = 1;
  bool lanesOutermost = false;
  int64_t rowBlock = 0;

  bool operator==(const PlanChoice &other) const {
    return rows == other.rows && vectors == other.vectors && lanesOutermost == other.lanesOutermost &&
           rowBlock == other.rowBlock;
  }
};

/// Writes a choice where the emitter looks for it. One that is not possible there is ignored, with a warning.
void setPlanChoice(mlir::linalg::GenericOp reduction, const PlanChoice &choice);
std::optional<PlanChoice> getPlanChoice(mlir::linalg::GenericOp reduction);

/// A nest of a kernel whose plan has alternatives.
struct TunableNest {
  mlir::linalg::GenericOp reduction; ///< in the kernel
  PlanChoice choice;                 ///< what is emitted now
  mlir::SmallVector<PlanChoice> alternatives;
  double work; ///< iterations of all its loops
};

/// The nests of a kernel on buffers of known sizes, in order, that are worth measuring: products, convolutions, other
/// reductions with rows. Not those of a matrix unit or of minimal filtering.
mlir::SmallVector<TunableNest> findTunableNests(mlir::func::FuncOp kernel, const TargetFacts &target, bool threads);

} // namespace strata

#endif // STRATA_CODEGEN_PLANCHOICE_H
