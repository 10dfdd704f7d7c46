//===- KeepRoundings.cpp - operators round on GPUs -------------------------===//
#include "Codegen/GPUPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace strata {
#define GEN_PASS_DEF_KEEPROUNDINGS
#include "Codegen/GPUPasses.h.inc"
} // namespace strata

using namespace mlir;

template <typename Conversion> static void keep(Conversion op) {
  if (op.getFastmath() == arith::FastMathFlags::contract)
    op.removeFastmathAttr();
}

namespace {
struct KeepRoundingsPass : strata::impl::KeepRoundingsBase<KeepRoundingsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto extension = dyn_cast<arith::ExtFOp>(op))
        keep(extension);
      else if (auto rounding = dyn_cast<arith::TruncFOp>(op))
        keep(rounding);
    });
  }
};
} // namespace
