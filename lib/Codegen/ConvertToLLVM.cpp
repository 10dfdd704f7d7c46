//===- ConvertToLLVM.cpp - to the LLVM dialect, with the entry ABI --------===//
#include "Codegen/Passes.h"
#include "EachFunction.h"
#include "GPU/DeviceMemory.h"
#include "GPU/DeviceRuntime.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/DialectConversion.h"

namespace strata {
#define GEN_PASS_DEF_CONVERTTOLLVM
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {

/// Declares the runtime function on first use.
LLVM::LLVMFuncOp runtimeFunction(OpBuilder &b, Operation *from, StringRef name, Type result, ArrayRef<Type> arguments) {
  auto module = from->getParentOfType<ModuleOp>();
  if (auto found = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return found;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return b.create<LLVM::LLVMFuncOp>(b.getUnknownLoc(), name, LLVM::LLVMFunctionType::get(result, arguments));
}

struct LowerAlloc : ConvertOpToLLVMPattern<memref::AllocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(memref::AllocOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemRefType type = op.getType();
    if (!isConvertibleAndHasIdentityMaps(type))
      return rewriter.notifyMatchFailure(op, "needs an identity layout");
    SmallVector<Value> sizes, strides;
    Value bytes;
    getMemRefDescriptorSizes(loc, type, adaptor.getDynamicSizes(), rewriter, sizes, strides, bytes);
    if (!type.hasStaticShape())
      bytes = saturatingBytes(rewriter, loc, type, sizes);
    Type index = getIndexType();
    Value alignment = rewriter.create<LLVM::ConstantOp>(
        loc, index, rewriter.getIntegerAttr(index, std::max<int64_t>(64, op.getAlignment().value_or(64))));
    LLVM::LLVMFuncOp alloc = runtimeFunction(rewriter, op,
                                             strata::isDeviceMemory(type) ? "strata_rt_gpu_alloc"
                                             : isTemporary(op)            ? "strata_rt_alloc_temporary"
                                                                          : "strata_rt_alloc",
                                             getVoidPtrType(), {index, index});
    Value pointer = rewriter.create<LLVM::CallOp>(loc, alloc, ValueRange{bytes, alignment}).getResult();
    Value descriptor = createMemRefDescriptor(loc, type, pointer, pointer, sizes, strides, rewriter);
    rewriter.replaceOp(op, descriptor);
    return success();
  }

private:
  /// Whether the same function frees it. Tasks' buffers are better found again by the thread that had them.
  static bool isTemporary(memref::AllocOp op) {
    auto function = op->getParentOfType<FunctionOpInterface>();
    return function && !function.getName().starts_with(strata::kTaskPrefix) &&
           llvm::any_of(op.getMemref().getUsers(), llvm::IsaPred<memref::DeallocOp>);
  }

  /// The size in bytes, or 2^64-1 where it does not fit: no allocator has that.
  Value saturatingBytes(ConversionPatternRewriter &rewriter, Location loc, MemRefType type,
                        ArrayRef<Value> sizes) const {
    Type index = getIndexType();
    Value total = getSizeInBytes(loc, type.getElementType(), rewriter);
    Type pair = LLVM::LLVMStructType::getLiteral(rewriter.getContext(), {index, rewriter.getI1Type()});
    Value overflow;
    for (Value size : sizes) {
      Value product = rewriter.create<LLVM::UMulWithOverflowOp>(loc, pair, total, size);
      total = rewriter.create<LLVM::ExtractValueOp>(loc, product, 0);
      Value bit = rewriter.create<LLVM::ExtractValueOp>(loc, product, 1);
      overflow = overflow ? rewriter.create<LLVM::OrOp>(loc, overflow, bit) : bit;
    }
    Value most = rewriter.create<LLVM::ConstantOp>(loc, index, rewriter.getIntegerAttr(index, -1));
    return rewriter.create<LLVM::SelectOp>(loc, overflow, most, total);
  }
};

struct LowerDealloc : ConvertOpToLLVMPattern<memref::DeallocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(memref::DeallocOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LLVM::LLVMFuncOp free = runtimeFunction(
        rewriter, op, strata::isDeviceMemory(op.getMemref().getType()) ? "strata_rt_gpu_free" : "strata_rt_free",
        LLVM::LLVMVoidType::get(op.getContext()), {getVoidPtrType()});
    Value pointer = MemRefDescriptor(adaptor.getMemref()).allocatedPtr(rewriter, op.getLoc());
    rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, free, pointer);
    return success();
  }
};

/// memref.get_global of a slot: its address is loaded from the table.
struct LowerSlotAddress : ConvertOpToLLVMPattern<memref::GetGlobalOp> {
  LowerSlotAddress(LLVMTypeConverter &converter, StringRef table, const DenseMap<StringAttr, int64_t> &slots)
      : ConvertOpToLLVMPattern(converter, /*benefit=*/10), table(table), slots(slots) {}

  LogicalResult matchAndRewrite(memref::GetGlobalOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto slot = slots.find(op.getNameAttr().getAttr());
    if (slot == slots.end())
      return failure();
    Location loc = op.getLoc();
    Type pointer = getVoidPtrType();
    Value base = rewriter.create<LLVM::AddressOfOp>(loc, pointer, table);
    Value address = rewriter.create<LLVM::GEPOp>(loc, pointer, pointer, base,
                                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(slot->second)});
    auto load = rewriter.create<LLVM::LoadOp>(loc, pointer, address);
    load.setInvariant(true);
    Value descriptor = MemRefDescriptor::fromStaticShape(rewriter, loc, *getTypeConverter(), op.getType(), load);
    rewriter.replaceOp(op, descriptor);
    return success();
  }

  StringRef table;
  const DenseMap<StringAttr, int64_t> &slots;
};

/// Stores past the caches: the kernels make them of whole vectors at aligned addresses, as the instructions ask for.
struct LowerStreamingStore : ConvertOpToLLVMPattern<vector::StoreOp> {
  LowerStreamingStore(LLVMTypeConverter &converter) : ConvertOpToLLVMPattern(converter, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(vector::StoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    VectorType type = op.getVectorType();
    if (!op.getNontemporal() || !type.getElementType().isIntOrFloat())
      return failure();
    Value pointer =
        getStridedElementPtr(op.getLoc(), op.getMemRefType(), adaptor.getBase(), adaptor.getIndices(), rewriter);
    unsigned bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, adaptor.getValueToStore(), pointer, /*alignment=*/bytes,
                                               /*isVolatile=*/false, /*isNonTemporal=*/true);
    return success();
  }
};

struct EraseSlot : ConvertOpToLLVMPattern<memref::GlobalOp> {
  EraseSlot(LLVMTypeConverter &converter) : ConvertOpToLLVMPattern(converter, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(memref::GlobalOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op->hasAttr("strata.slot"))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertToLLVMPass : strata::impl::ConvertToLLVMBase<ConvertToLLVMPass> {
  using ConvertToLLVMBase::ConvertToLLVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    OpBuilder top(module.getBodyRegion());

    std::string table = modelName + "_constants";
    DenseMap<StringAttr, int64_t> slots;
    for (auto global : module.getOps<memref::GlobalOp>())
      if (auto slot = global->getAttrOfType<IntegerAttr>("strata.slot"))
        slots[global.getSymNameAttr()] = slot.getInt();
    auto pointer = LLVM::LLVMPointerType::get(context);
    // One slot at least, so that the symbol always has an address.
    auto tableType = LLVM::LLVMArrayType::get(pointer, std::max<uint64_t>(1, slots.size()));
    auto tableOp = top.create<LLVM::GlobalOp>(top.getUnknownLoc(), tableType, /*isConstant=*/false,
                                              LLVM::Linkage::External, table, Attribute(), /*alignment=*/8);
    {
      OpBuilder::InsertionGuard guard(top);
      top.createBlock(&tableOp.getInitializerRegion());
      Value zero = top.create<LLVM::ZeroOp>(top.getUnknownLoc(), tableType);
      top.create<LLVM::ReturnOp>(top.getUnknownLoc(), zero);
    }

    // Types of the entries, as long as they can be read off.
    struct Entry {
      std::string inner, outer;
      FunctionType type;
    };
    SmallVector<Entry> entries;
    for (auto [name, outer] : {std::pair("main", "_main"), {"init", "_init"}})
      if (auto function = module.lookupSymbol<func::FuncOp>(name)) {
        std::string inner = modelName + outer + "_body";
        if (failed(SymbolTable::replaceAllSymbolUses(function, StringAttr::get(context, inner), module)))
          return signalPassFailure();
        function.setName(inner);
        function.setPrivate();
        entries.push_back({inner, modelName + outer, function.getFunctionType()});
      }

    // What bufferization was told of arguments would be taken for something that LLVM should know.
    for (auto function : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, bufferization::BufferizationDialect::kBufferAccessAttrName);

    for (auto function : module.getOps<func::FuncOp>())
      passAddresses(function);

    // Vectors of several dimensions and their kin, before the conversion.
    {
      RewritePatternSet patterns(context);
      vector::populateVectorBroadcastLoweringPatterns(patterns);
      vector::populateVectorMaskOpLoweringPatterns(patterns);
      vector::populateVectorShapeCastLoweringPatterns(patterns);
      vector::populateVectorTransferLoweringPatterns(patterns, /*maxRank=*/1);
      if (failed(strata::applyToEachFunction(module, std::move(patterns))))
        return signalPassFailure();
    }

    // Declarations of runtime functions, one for each combination of types.
    SmallVector<std::pair<std::string, std::string>> runtime;
    for (auto function : module.getOps<func::FuncOp>())
      if (auto symbol = function->getAttrOfType<StringAttr>("strata.symbol"))
        runtime.emplace_back(("_mlir_ciface_" + function.getName()).str(), symbol.str());

    LowerToLLVMOptions options(context);
    LLVMTypeConverter converter(context, options);
    RewritePatternSet patterns(context);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateComplexToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    // Sums of vectors are our own choice of order: a tree is as good as a chain.
    populateVectorToLLVMConversionPatterns(converter, patterns,
                                           /*reassociateFPReductions=*/true);
    patterns.add<LowerAlloc, LowerDealloc>(converter, /*benefit=*/10);
    patterns.add<LowerSlotAddress>(converter, table, slots);
    patterns.add<EraseSlot, LowerStreamingStore>(converter);
    strata::populateDeviceRuntimePatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalDialect<amx::AMXDialect>(); // intrinsics only
    target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
    // One after the other: a conversion keeps what it has replaced until its end.
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (failed(applyFullConversion(&op, target, frozen)))
        return signalPassFailure();

    // LLVM 19 has no fast-math flags on these; arith's attribute stays behind.
    module.walk([](Operation *op) {
      if (isa<LLVM::FPExtOp, LLVM::FPTruncOp>(op))
        op->removeDiscardableAttr("fastmath");
    });
    for (const auto &[name, symbol] : runtime)
      if (failed(bindToRuntime(module, name, symbol)))
        return signalPassFailure();
    for (const Entry &entry : entries)
      makeEntry(module, converter, entry.inner, entry.outer, entry.type);
    std::string width = std::to_string(vectorBits);
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      if (function.isExternal())
        continue;
      if (!function->hasAttr("strata.entry"))
        function.setLinkage(LLVM::Linkage::Internal);
      function->removeAttr("strata.entry");
      SmallVector<Attribute> passthrough;
      if (ArrayAttr given = function.getPassthroughAttr())
        llvm::append_range(passthrough, given);
      passthrough.push_back(top.getStrArrayAttr({"prefer-vector-width", width}));
      function.setPassthroughAttr(ArrayAttr::get(context, passthrough));
    }
  }

private:
  /// Where the types of all arguments say all but the addresses, only these are passed.
  static void passAddresses(func::FuncOp function) {
    auto isAddress = [](Type type) {
      auto buffer = dyn_cast<BaseMemRefType>(type);
      return !buffer || LLVMTypeConverter::canConvertToBarePtr(buffer);
    };
    if (function->hasAttr("strata.kernel") && !function.isExternal() && function.getNumResults() == 0 &&
        llvm::all_of(function.getArgumentTypes(), isAddress))
      function->setAttr("llvm.bareptr", UnitAttr::get(function.getContext()));
  }

  /// A declaration gets the name of the C function: with pointers for all
  /// tensors, their types are one.
  static LogicalResult bindToRuntime(ModuleOp module, StringRef name, StringRef symbol) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!function)
      return success();
    auto symbolName = StringAttr::get(module.getContext(), symbol);
    if (failed(SymbolTable::replaceAllSymbolUses(function, symbolName, module)))
      return failure();
    auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
    if (!known)
      function.setName(symbol);
    else if (known.getFunctionType() == function.getFunctionType())
      function.erase();
    else
      return function.emitError() << "is declared as " << function.getFunctionType() << " and as "
                                  << known.getFunctionType();
    return success();
  }

  /// void NAME(void **args): descriptors of the results, then of the inputs.
  void makeEntry(ModuleOp module, LLVMTypeConverter &converter, StringRef inner, StringRef outer, FunctionType type) {
    MLIRContext *context = &getContext();
    OpBuilder b(context);
    b.setInsertionPointToEnd(module.getBody());
    Location loc = b.getUnknownLoc();
    auto pointer = LLVM::LLVMPointerType::get(context);
    auto entry = b.create<LLVM::LLVMFuncOp>(loc, outer,
                                            LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer}));
    entry->setAttr("strata.entry", b.getUnitAttr());
    Block *block = entry.addEntryBlock(b);
    b.setInsertionPointToStart(block);
    auto address = [&](unsigned position) -> Value {
      Value slot = b.create<LLVM::GEPOp>(loc, pointer, pointer, block->getArgument(0),
                                         ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
      return b.create<LLVM::LoadOp>(loc, pointer, slot);
    };
    unsigned results = type.getNumResults();
    SmallVector<Value> arguments;
    for (auto [i, input] : llvm::enumerate(type.getInputs())) {
      auto buffer = cast<MemRefType>(input);
      Value descriptor = b.create<LLVM::LoadOp>(loc, converter.convertType(buffer), address(results + i));
      MemRefDescriptor::unpack(b, loc, descriptor, buffer, arguments);
    }
    auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(inner);
    auto call = b.create<LLVM::CallOp>(loc, callee, arguments);
    for (unsigned i = 0; i < results; ++i) {
      Value descriptor = call.getResult();
      if (results > 1)
        descriptor = b.create<LLVM::ExtractValueOp>(loc, descriptor, i);
      b.create<LLVM::StoreOp>(loc, descriptor, address(i));
    }
    b.create<LLVM::ReturnOp>(loc, ValueRange());
  }
};

} // namespace
