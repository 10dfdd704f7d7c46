//===- CopiesToLinalg.cpp - strided copies are loops ----------------------===//
#include "Codegen/Passes.h"
#include "GPU/DeviceMemory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata {
#define GEN_PASS_DEF_COPIESTOLINALG
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
struct CopiesToLinalgPass
    : strata::impl::CopiesToLinalgBase<CopiesToLinalgPass> {
  void runOnOperation() override {
    getOperation().walk([](memref::CopyOp op) {
      auto source = dyn_cast<MemRefType>(op.getSource().getType());
      auto target = dyn_cast<MemRefType>(op.getTarget().getType());
      // The host cannot look into device memory; such copies are contiguous.
      if (!source || !target || strata::isDeviceMemory(source) ||
          strata::isDeviceMemory(target) ||
          (source.getLayout().isIdentity() && target.getLayout().isIdentity()))
        return;
      OpBuilder b(op);
      AffineMap identity = b.getMultiDimIdentityMap(target.getRank());
      SmallVector<utils::IteratorType> parallel(target.getRank(),
                                                utils::IteratorType::parallel);
      b.create<linalg::GenericOp>(
          op.getLoc(), op.getSource(), op.getTarget(),
          ArrayRef<AffineMap>{identity, identity}, parallel,
          [](OpBuilder &b, Location loc, ValueRange values) {
            b.create<linalg::YieldOp>(loc, values.front());
          });
      op.erase();
    });
  }
};
} // namespace
