//===- PlanArena.cpp - device buffers share one allocation ----------------===//
#include "Codegen/Passes.h"
#include "DeviceMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata {
#define GEN_PASS_DEF_PLANARENA
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

/// Where the driver's own allocations start, too.
static constexpr int64_t alignment = 256;

namespace {
/// A buffer and the positions in the block between which it lives.
struct Tenant {
  memref::AllocOp alloc;
  memref::DeallocOp dealloc;
  int64_t begin, end, bytes, offset = 0;
};

struct PlanArenaPass : strata::impl::PlanArenaBase<PlanArenaPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    SmallVector<Tenant> tenants = findTenants(main);
    if (tenants.size() < 2)
      return;
    int64_t bytes = place(tenants);
    Block &block = main.getBody().front();
    OpBuilder b(&block, block.begin());
    Location loc = main.getLoc();
    auto type = inDeviceMemory(MemRefType::get({bytes}, b.getI8Type()));
    Value arena = b.create<memref::AllocOp>(loc, type, b.getI64IntegerAttr(alignment));
    for (Tenant &tenant : tenants) {
      OpBuilder at(tenant.alloc);
      Value offset = at.create<arith::ConstantIndexOp>(tenant.alloc.getLoc(), tenant.offset);
      Value view =
          at.create<memref::ViewOp>(tenant.alloc.getLoc(), tenant.alloc.getType(), arena, offset, ValueRange());
      tenant.dealloc.erase();
      tenant.alloc.replaceAllUsesWith(view);
      tenant.alloc.erase();
    }
    OpBuilder(block.getTerminator()).create<memref::DeallocOp>(loc, arena);
  }

private:
  static SmallVector<Tenant> findTenants(func::FuncOp main) {
    BufferViewFlowAnalysis views(main);
    Block &block = main.getBody().front();
    DenseMap<Operation *, int64_t> positions;
    for (auto [i, op] : llvm::enumerate(block))
      positions[&op] = i;
    // The runtime copies allocations as a whole to the host: not a whole arena.
    auto hostLooksInto = [&](Value buffer) {
      for (Value alias : views.resolve(buffer))
        for (Operation *user : alias.getUsers())
          if (auto call = dyn_cast<func::CallOp>(user))
            if (Operation *callee = SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr());
                callee && callee->hasAttr(kDeviceCall))
              return true;
      return false;
    };
    SmallVector<Tenant> tenants;
    for (auto alloc : block.getOps<memref::AllocOp>()) {
      MemRefType type = alloc.getType();
      if (!isDeviceMemory(type) || !type.hasStaticShape() || !type.getLayout().isIdentity() || hostLooksInto(alloc))
        continue;
      memref::DeallocOp dealloc;
      int deallocs = 0;
      for (Value alias : views.resolve(alloc))
        for (Operation *user : alias.getUsers())
          if (auto found = dyn_cast<memref::DeallocOp>(user)) {
            dealloc = found;
            ++deallocs;
          }
      if (deallocs != 1 || dealloc->getBlock() != &block || dealloc.getMemref() != alloc.getResult())
        continue;
      tenants.push_back({alloc, dealloc, positions[alloc], positions[dealloc],
                         type.getNumElements() * bytesPerElement(type)});
    }
    return tenants;
  }

  /// Offsets, large buffers first, each at the lowest place that is free while
  /// it lives; the size of the whole.
  static int64_t place(SmallVector<Tenant> &tenants) {
    SmallVector<Tenant *> order;
    for (Tenant &tenant : tenants)
      order.push_back(&tenant);
    llvm::sort(order, [](Tenant *a, Tenant *b) { return a->bytes != b->bytes ? a->bytes > b->bytes : a < b; });
    SmallVector<Tenant *> placed; // by offset
    int64_t total = 1;
    for (Tenant *tenant : order) {
      int64_t offset = 0;
      for (Tenant *other : placed) {
        if (other->end < tenant->begin || tenant->end < other->begin)
          continue;
        if (other->offset >= offset + tenant->bytes)
          break;
        offset = std::max(offset, static_cast<int64_t>(llvm::alignTo(other->offset + other->bytes, alignment)));
      }
      tenant->offset = offset;
      total = std::max(total, offset + tenant->bytes);
      placed.insert(llvm::upper_bound(placed, tenant, [](Tenant *a, Tenant *b) { return a->offset < b->offset; }),
                    tenant);
    }
    return total;
  }
};
} // namespace
