//===- EmitKernels.cpp - kernels become register-tiled vector loops -------===//
#include "Codegen/Passes.h"
#include "NestEmitter.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

namespace strata {
#define GEN_PASS_DEF_EMITKERNELS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
struct EmitKernelsPass : strata::impl::EmitKernelsBase<EmitKernelsPass> {
  using EmitKernelsBase::EmitKernelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr("strata.kernel"))
      return;
    SmallVector<linalg::GenericOp> ops(function.getOps<linalg::GenericOp>());
    if (ops.empty())
      return;
    OpBuilder b(ops.back());
    FailureOr<strata::LoopNest> nest = strata::buildLoopNest(b, ops);
    if (failed(nest))
      return; // left to upstream's scalar loops
    strata::simplify(b, function.getLoc(), *nest);
    strata::NestOptions options;
    options.vectorBits = vectorBits;
    options.registers = registers;
    options.fma = fma;
    options.bf16Tiles = bf16Tiles;
    options.int8Tiles = int8Tiles;
    options.threads = threads;
    strata::emitLoopNest(b, function.getLoc(), *nest, options);
    llvm::SmallSetVector<Value, 4> buffers;
    for (linalg::GenericOp op : ops)
      buffers.insert(op.getDpsInits().begin(), op.getDpsInits().end());
    for (linalg::GenericOp op : llvm::reverse(ops))
      op.erase();
    // The buffer between the operations has lost its users.
    for (Value buffer : buffers)
      if (auto alloc = buffer.getDefiningOp<memref::AllocOp>();
          alloc && llvm::all_of(alloc->getUsers(), [](Operation *user) { return isa<memref::DeallocOp>(user); })) {
        for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
          user->erase();
        alloc.erase();
      }
  }
};
} // namespace
