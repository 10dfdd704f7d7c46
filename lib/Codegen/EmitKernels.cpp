//===- EmitKernels.cpp - kernels become register-tiled vector loops -------===//
#include "Codegen/Passes.h"
#include "MatrixTiles.h"
#include "QuantisedBodies.h"
#include "RowLoop.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace strata {
#define GEN_PASS_DEF_EMITKERNELS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
struct EmitKernelsPass : strata::WithTarget<strata::impl::EmitKernelsBase<EmitKernelsPass>> {
  using WithTarget::WithTarget;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr("strata.kernel"))
      return;
    strata::NestOptions options{target(), threads};
    strata::quantiseFast(function, options.fma, options.integerPacks);
    options.tiles = strata::chooseTileShape(function, options);
    SmallVector<scf::ForallOp> loops(function.getOps<scf::ForallOp>());
    for (scf::ForallOp loop : loops)
      strata::emitRowLoop(loop, options);
    SmallVector<linalg::GenericOp> ops(function.getOps<linalg::GenericOp>());
    if (!ops.empty())
      strata::emitNest(ops, options);
  }
};
} // namespace
