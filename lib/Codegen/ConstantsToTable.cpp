//===- ConstantsToTable.cpp - weights become slots of a table -------------===//
//
// Weights never enter LLVM IR: code loads their addresses from a table that the
// loader (JIT) or the linker fills.
//
//===----------------------------------------------------------------------===//
#include "Codegen/Passes.h"
#include "Codegen/ShareConstants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace strata {
#define GEN_PASS_DEF_CONSTANTSTOTABLE
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using strata::kConstantKey;
using strata::kConstantShared;

/// Bytes of one element as it lies in memory.
static std::optional<int64_t> bytesOfElement(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    std::optional<int64_t> part = bytesOfElement(complex.getElementType());
    return part ? std::optional<int64_t>(2 * *part) : std::nullopt;
  }
  if (type.isIndex())
    return 8;
  if (type.isIntOrFloat())
    return llvm::PowerOf2Ceil(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  return 8; // handles and strings are pointers
}

/// Literal constants from here on are worth a slot: LLVM would carry each of
/// their elements through all of its passes.
static constexpr int64_t literalLimitBytes = 1024;

namespace {
struct ConstantsToTablePass : strata::impl::ConstantsToTableBase<ConstantsToTablePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    liftLargeLiterals(module);

    Builder b(module.getContext());
    SmallVector<Attribute> table;
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, module); // once: each question by itself would walk the module
    for (auto global : llvm::make_early_inc_range(module.getOps<ml_program::GlobalOp>())) {
      auto type = dyn_cast<RankedTensorType>(global.getType());
      if (!type || !type.hasStaticShape()) {
        global.emitOpError("needs a tensor type of static shape, has ") << global.getType();
        return signalPassFailure();
      }
      // The initial value's own type decides: the declared one may be wider.
      ArrayRef<Operation *> loads = users.getUsers(global);
      bool neededAtRunTime = llvm::any_of(loads, [](Operation *user) {
        auto function = user->getParentOfType<FunctionOpInterface>();
        return !function || function.getName() != "init";
      });
      if (loads.empty()) {
        global.erase();
        continue;
      }
      int64_t elementBytes = *bytesOfElement(type.getElementType());
      bool computed = global->hasAttr("strata.computed");
      NamedAttrList entry;
      entry.set("name", b.getStringAttr(nameOf(global)));
      entry.set("type", TypeAttr::get(type));
      entry.set("bytes", b.getI64IntegerAttr(type.getNumElements() * elementBytes));
      entry.set("alignment", b.getI64IntegerAttr(64));
      entry.set("computed", b.getBoolAttr(computed));
      entry.set("needed_at_run_time", b.getBoolAttr(neededAtRunTime));
      if (std::optional<Attribute> value = global.getValue(); value && isa<ElementsAttr>(*value))
        entry.set("value", *value);
      // From strata::shareConstants.
      if (Attribute key = global->getAttr(kConstantKey))
        entry.set("key", key);
      if (global->hasAttr(kConstantShared))
        entry.set("shared", b.getBoolAttr(true));
      auto buffer = MemRefType::get(type.getShape(), type.getElementType());
      OpBuilder builder(global);
      auto slot =
          builder.create<memref::GlobalOp>(global.getLoc(), global.getSymName(), b.getStringAttr("private"), buffer,
                                           /*initial_value=*/Attribute(), /*constant=*/false, b.getI64IntegerAttr(64));
      slot->setAttr("strata.slot", b.getI64IntegerAttr(table.size()));
      table.push_back(entry.getDictionary(module.getContext()));
      for (Operation *user : loads)
        if (failed(replaceUse(user, buffer, global.getSymName())))
          return signalPassFailure();
      global.erase();
    }
    module->setAttr("strata.constants", b.getArrayAttr(table));
  }

private:
  /// The resource's key where there is one: that is what a loader looks up.
  static StringRef nameOf(ml_program::GlobalOp global) {
    if (std::optional<Attribute> value = global.getValue())
      if (auto resource = dyn_cast<DenseResourceElementsAttr>(*value))
        return resource.getRawHandle().getKey();
    return global.getSymName();
  }

  /// Lets the op whose result `use` reads, and those that it updates, write into `destination` instead of a tensor that
  /// starts empty. True if they do.
  static bool writeInto(OpOperand &use, Value destination) {
    Operation *op = use.get().getDefiningOp();
    if (!op)
      return false;
    if (isa<tensor::EmptyOp>(op)) {
      use.set(destination);
      return true;
    }
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      // A part is computed in its place, which is a slice of the same tensor.
      Value before = insert.getDest();
      if (!writeInto(insert.getDestMutable(), destination))
        return false;
      if (auto maker = insert.getSource().getDefiningOp<DestinationStyleOpInterface>())
        for (OpOperand &init : maker.getDpsInitsMutable())
          if (auto place = init.get().getDefiningOp<tensor::ExtractSliceOp>();
              place && place.getSource() == before && before != insert.getDest()) {
            OpBuilder b(place);
            auto own = cast<tensor::ExtractSliceOp>(b.clone(*place));
            own.getSourceMutable().assign(insert.getDest());
            init.set(own);
          }
      return true;
    }
    auto maker = dyn_cast<DestinationStyleOpInterface>(op);
    if (!maker)
      return false;
    auto result = cast<OpResult>(use.get());
    if (isa<linalg::FillOp>(op) && !result.hasOneUse()) {
      // What else starts from such values is not computed there.
      OpBuilder b(op);
      maker = cast<DestinationStyleOpInterface>(b.clone(*op));
      result = maker->getResult(0);
      use.set(result);
    }
    return writeInto(*maker.getTiedOpOperand(result), destination);
  }

  static LogicalResult replaceUse(Operation *user, MemRefType buffer, StringRef name) {
    OpBuilder builder(user);
    Location loc = user->getLoc();
    // A destination stands before what computes its value, which can then be written there at once.
    if (isa<ml_program::GlobalStoreOp>(user))
      builder.setInsertionPointToStart(user->getBlock());
    Value address = builder.create<memref::GetGlobalOp>(loc, buffer, name);
    if (auto store = dyn_cast<ml_program::GlobalStoreOp>(user)) {
      Value destination = builder.create<bufferization::ToTensorOp>(loc, address, /*restrict=*/true, /*writable=*/true);
      writeInto(store.getValueMutable(), destination);
      builder.setInsertionPoint(user);
      builder.create<bufferization::MaterializeInDestinationOp>(loc, TypeRange(), store.getValue(), address,
                                                                /*restrict=*/true,
                                                                /*writable=*/true);
      store.erase();
      return success();
    }
    if (!isa<ml_program::GlobalLoadConstOp, ml_program::GlobalLoadOp>(user))
      return user->emitOpError("is not a supported use of a constant");
    Value tensor = builder.create<bufferization::ToTensorOp>(loc, address, /*restrict=*/true, /*writable=*/false);
    if (tensor.getType() != user->getResult(0).getType())
      return user->emitOpError("loads another type than the constant has");
    user->getResult(0).replaceAllUsesWith(tensor);
    user->erase();
    return success();
  }

  /// arith.constant of many elements (never a splat: that is a fill) to a global.
  static void liftLargeLiterals(ModuleOp module) {
    SymbolTable symbols(module);
    SmallVector<arith::ConstantOp> literals;
    module.walk([&](arith::ConstantOp op) {
      auto value = dyn_cast<ElementsAttr>(op.getValue());
      auto type = dyn_cast<RankedTensorType>(op.getType());
      if (!value || !type || value.isSplat())
        return;
      if (isa<DenseResourceElementsAttr>(value) ||
          type.getNumElements() * *bytesOfElement(type.getElementType()) > literalLimitBytes)
        literals.push_back(op);
    });
    DenseMap<Attribute, ml_program::GlobalOp> known;
    for (arith::ConstantOp op : literals) {
      ml_program::GlobalOp &global = known[op.getValue()];
      OpBuilder builder(op);
      if (!global) {
        OpBuilder top(module.getBodyRegion());
        global = top.create<ml_program::GlobalOp>(op.getLoc(), "literal", op.getType(), /*is_mutable=*/false,
                                                  op.getValue(), top.getStringAttr("private"));
        symbols.insert(global);
      }
      op.replaceAllUsesWith(builder
                                .create<ml_program::GlobalLoadConstOp>(op.getLoc(), op.getType(),
                                                                       FlatSymbolRefAttr::get(global.getSymNameAttr()))
                                .getResult());
      op.erase();
    }
  }
};
} // namespace
