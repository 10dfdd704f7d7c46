//===- NarrowFloats.cpp - f16 and bf16 are computed in f32 ----------------===//

#include "NarrowFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace {
struct EmulateNarrowFloats : PassWrapper<EmulateNarrowFloats, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmulateNarrowFloats)

  StringRef getArgument() const override { return "emulate-narrow-floats"; }
  StringRef getDescription() const override { return "Computes f16 and bf16 in f32"; }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    Type narrow[] = {BFloat16Type::get(context), Float16Type::get(context)};
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(converter, narrow, Float32Type::get(context));
    RewritePatternSet patterns(context);
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    target.addDynamicallyLegalOp<arith::SelectOp>(
        [&](arith::SelectOp op) { return isa<BaseMemRefType>(op.getType()) || converter.isLegal(op); });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> strata::createEmulateNarrowFloats() { return std::make_unique<EmulateNarrowFloats>(); }
