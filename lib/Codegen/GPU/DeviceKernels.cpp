//===- DeviceKernels.cpp - what the GPU can run ---------------------------===//
#include "Attention.h"
#include "DeviceMath.h"
#include "DeviceMemory.h"
#include "RowKernel.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace strata;

/// Operations that both sides compute alike.
static bool isSharedOperation(Operation *op) {
  if (isa<arith::ArithDialect>(op->getDialect()))
    return true;
  return isa<linalg::GenericOp, linalg::YieldOp, linalg::IndexOp, affine::AffineApplyOp, affine::AffineMinOp,
             memref::LoadOp, memref::DimOp, memref::SubViewOp, scf::IfOp, scf::ForOp, scf::WhileOp, scf::YieldOp,
             scf::ConditionOp, scf::InParallelOp, complex::CreateOp, complex::ReOp, complex::ImOp, complex::ConstantOp,
             func::ReturnOp>(op);
}

std::optional<std::string> strata::whyNotOnDevice(func::FuncOp kernel) {
  std::optional<std::string> reason;
  // The kernel's own buffers, between the operations that become one.
  auto isBetween = [](Operation *op) {
    return isa<memref::AllocOp, memref::DeallocOp>(op) && isa<func::FuncOp, scf::ForallOp>(op->getParentOp());
  };
  kernel.walk([&](Operation *op) {
    if (op == kernel || isSharedOperation(op) || isBetween(op) || isDeviceMath(op))
      return WalkResult::advance();
    if (auto loop = dyn_cast<scf::ForallOp>(op)) {
      std::optional<Attention> attention = matchAttention(loop);
      if (attention ? chooseAttentionTile(*attention).has_value() : matchRowGroup(loop).has_value())
        return WalkResult::advance();
      reason = "is a loop over rows that threads cannot share";
    } else if (isa<cf::AssertOp>(op)) {
      reason = "checks its input, which only the host can report";
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      reason = ("calls " + call.getCallee() + " of the runtime").str();
    } else {
      reason = "the GPU has no " + op->getName().getStringRef().str();
      if (op->getNumResults())
        llvm::raw_string_ostream(*reason) << " of " << op->getResult(0).getType();
    }
    return WalkResult::interrupt();
  });
  return reason;
}
