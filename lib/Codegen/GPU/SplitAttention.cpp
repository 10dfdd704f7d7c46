//===- SplitAttention.cpp - keys among blocks, where rows are few ---------===//
//
// The next token's query has one row for each head, and all keys so far. A block
// that walks them alone would leave most of the GPU idle.
//
//===----------------------------------------------------------------------===//
#include "AttentionParts.h"
#include "Codegen/GPUPasses.h"
#include "DeviceMemory.h"
#include "LoopSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata {
#define GEN_PASS_DEF_SPLITATTENTION
#include "Codegen/GPUPasses.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

namespace {
/// An attention whose keys are divided, and its kernels.
struct Halves {
  Attention attention;
  func::FuncOp parts, join;
  MemRefType sums, marks;
};

struct SplitAttentionPass : strata::impl::SplitAttentionBase<SplitAttentionPass> {
  void runOnOperation() override {
    llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> launches;
    getOperation().walk([&](func::CallOp call) {
      if (call->hasAttr("strata.launch"))
        launches[getOperation().lookupSymbol<func::FuncOp>(call.getCallee())].push_back(call);
    });
    for (auto &[kernel, calls] : launches)
      if (std::optional<Halves> halves = split(kernel))
        for (func::CallOp call : calls)
          callBoth(call, *halves);
  }

private:
  /// The kernel with two more arguments, and another one; both still hold the whole attention.
  static std::optional<Halves> split(func::FuncOp kernel) {
    auto loops = kernel.getOps<scf::ForallOp>();
    std::optional<Attention> attention = loops.empty() ? std::nullopt : matchAttention(*loops.begin());
    std::optional<AttentionTile> tile = attention ? chooseAttentionTile(*attention) : std::nullopt;
    if (!tile || tile->parts == 1)
      return std::nullopt;
    Builder b(kernel.getContext());
    SmallVector<int64_t> ranges = attention->scores.getStaticLoopRanges();
    int64_t rows = 1;
    for (ArrayRef<int> loops : {ArrayRef(attention->batch), ArrayRef(attention->rows)})
      for (int loop : loops)
        rows = ShapedType::isDynamic(rows) || ShapedType::isDynamic(ranges[loop]) ? ShapedType::kDynamic
                                                                                  : rows * ranges[loop];
    auto width = llvm::find(attention->valueLoops, attention->scores.getNumLoops()) - attention->valueLoops.begin();
    auto buffer = [&](int64_t columns) {
      return inDeviceMemory(MemRefType::get({rows, tile->parts, columns}, b.getF32Type()));
    };
    Halves halves{*attention, kernel, {}, buffer(attention->values.getStaticLoopRanges()[width]), buffer(2)};
    for (MemRefType type : {halves.sums, halves.marks})
      kernel.insertArgument(kernel.getNumArguments(), type, {}, kernel.getLoc());
    halves.join = cast<func::FuncOp>(OpBuilder(kernel).clone(*kernel));
    halves.join.setName((kernel.getName() + "_join").str());
    kernel->setAttr(kAttentionParts, b.getStringAttr("parts"));
    halves.join->setAttr(kAttentionParts, b.getStringAttr("join"));
    return halves;
  }

  static void callBoth(func::CallOp call, Halves &halves) {
    OpBuilder b(call);
    Location loc = call.getLoc();
    SmallVector<Value> rows;
    if (!halves.sums.hasStaticShape()) {
      Value batch = loopSizes(b, loc, halves.attention.scores, halves.attention.batch, call);
      Value own = loopSizes(b, loc, halves.attention.scores, halves.attention.rows, call);
      rows.push_back(b.create<arith::MulIOp>(loc, batch, own));
    }
    SmallVector<Value> operands(call.getOperands()), buffers;
    for (MemRefType type : {halves.sums, halves.marks})
      buffers.push_back(b.create<memref::AllocOp>(loc, type, rows));
    llvm::append_range(operands, buffers);
    for (func::FuncOp kernel : {halves.parts, halves.join})
      b.create<func::CallOp>(loc, kernel, operands)->setAttr("strata.launch", b.getUnitAttr());
    for (Value buffer : buffers)
      b.create<memref::DeallocOp>(loc, buffer);
    call.erase();
  }
};
} // namespace
