//===- LowerAsserts.cpp - cf.assert ends the run, not the process ---------===//
#include "Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace strata {
#define GEN_PASS_DEF_LOWERASSERTS
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

/// The ONNX node's name, or nothing.
static StringRef nodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = nodeName(part); !name.empty())
        return name;
  return {};
}

namespace {
struct LowerAssertsPass : strata::impl::LowerAssertsBase<LowerAssertsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    locateCalls(module);
    SmallVector<cf::AssertOp> asserts;
    module.walk([&](cf::AssertOp op) { asserts.push_back(op); });
    if (asserts.empty())
      return;
    OpBuilder top(module.getBodyRegion());
    Location unknown = top.getUnknownLoc();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto voidType = LLVM::LLVMVoidType::get(&getContext());
    auto declare = [&](StringRef name) {
      if (auto found = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
        return found;
      return top.create<LLVM::LLVMFuncOp>(unknown, name, LLVM::LLVMFunctionType::get(voidType, {pointer}));
    };
    llvm::StringMap<LLVM::GlobalOp> messages;
    for (cf::AssertOp op : asserts) {
      LLVM::LLVMFuncOp fail = declare("strata_rt_fail");
      std::string text = op.getMsg().str();
      if (StringRef name = nodeName(op.getLoc()); !name.empty())
        text = (name + ": " + text).str();
      LLVM::GlobalOp &message = messages[text];
      if (!message) {
        auto type = LLVM::LLVMArrayType::get(top.getI8Type(), text.size() + 1);
        message = top.create<LLVM::GlobalOp>(unknown, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                             "strata_message_" + std::to_string(messages.size() - 1),
                                             top.getStringAttr(StringRef(text.c_str(), text.size() + 1)));
      }
      OpBuilder b(op);
      Location loc = op.getLoc();
      Value yes = b.create<arith::ConstantIntOp>(loc, 1, 1);
      Value failed = b.create<arith::XOrIOp>(loc, op.getArg(), yes);
      b.create<scf::IfOp>(loc, failed, [&](OpBuilder &b, Location loc) {
        Value address = b.create<LLVM::AddressOfOp>(loc, message);
        b.create<LLVM::CallOp>(loc, fail, ValueRange{address});
        b.create<scf::YieldOp>(loc);
      });
      op.erase();
    }
  }

private:
  /// Functions that are `strata.located` get the address of the node's name
  /// as their last argument.
  static void locateCalls(ModuleOp module) {
    OpBuilder top(module.getBodyRegion());
    auto pointer = LLVM::LLVMPointerType::get(module.getContext());
    llvm::StringMap<LLVM::GlobalOp> names;
    module.walk([&](func::CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || !callee->hasAttr("strata.located"))
        return;
      std::string text = nodeName(call.getLoc()).str();
      LLVM::GlobalOp &name = names[text];
      if (!name) {
        auto type = LLVM::LLVMArrayType::get(top.getI8Type(), text.size() + 1);
        name = top.create<LLVM::GlobalOp>(top.getUnknownLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                          "strata_node_" + std::to_string(names.size() - 1),
                                          top.getStringAttr(StringRef(text.c_str(), text.size() + 1)));
      }
      OpBuilder b(call);
      Value address = b.create<LLVM::AddressOfOp>(call.getLoc(), pointer, name.getSymName());
      call->setOperand(call->getNumOperands() - 1, b.create<LLVM::PtrToIntOp>(call.getLoc(), b.getI64Type(), address));
    });
  }
};
} // namespace
