//===- DeviceRuntime.cpp - launches and copies as calls of the runtime ----===//
#include "DeviceRuntime.h"
#include "Codegen/NodeNames.h"
#include "DeviceMemory.h"

#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace strata;

static LLVM::LLVMFuncOp declare(ConversionPatternRewriter &rewriter, Operation *from, StringRef name, Type result,
                                ArrayRef<Type> arguments) {
  auto module = from->getParentOfType<ModuleOp>();
  if (auto found = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return found;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  return rewriter.create<LLVM::LLVMFuncOp>(rewriter.getUnknownLoc(), name,
                                           LLVM::LLVMFunctionType::get(result, arguments));
}

/// A string that ends with a zero, made once.
static LLVM::GlobalOp stringNamed(ConversionPatternRewriter &rewriter, Operation *from, StringRef symbol,
                                  StringRef text) {
  auto module = from->getParentOfType<ModuleOp>();
  if (auto found = module.lookupSymbol<LLVM::GlobalOp>(symbol))
    return found;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  std::string terminated = text.str();
  terminated.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(rewriter.getI8Type(), terminated.size());
  return rewriter.create<LLVM::GlobalOp>(rewriter.getUnknownLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                         symbol, rewriter.getStringAttr(terminated), /*alignment=*/64);
}

/// The names of the nodes that a location stands for, for messages.
static Value namesOf(ConversionPatternRewriter &rewriter, Operation *op) {
  std::string names = joinNodeNames(op->getLoc(), ", ");
  LLVM::GlobalOp text = stringNamed(
      rewriter, op, "strata_gpu_node_" + llvm::utohexstr(llvm::hash_value(names), /*LowerCase=*/true), names);
  return rewriter.create<LLVM::AddressOfOp>(op->getLoc(), LLVM::LLVMPointerType::get(rewriter.getContext()),
                                            text.getSymName());
}

namespace {

/// { image, its bytes }, and for each kernel { that, name } (strata_runtime.h).
struct LowerBinary : ConvertOpToLLVMPattern<gpu::BinaryOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(gpu::BinaryOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto object = cast<gpu::ObjectAttr>(op.getObjects()[0]);
    Location loc = op.getLoc();
    LLVM::GlobalOp data =
        stringNamed(rewriter, op, ("strata_gpu_data_" + op.getName()).str(), object.getObject().getValue());
    Type pointer = getVoidPtrType(), i64 = rewriter.getI64Type();
    auto type = LLVM::LLVMStructType::getLiteral(getContext(), {pointer, i64});
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    auto image = rewriter.create<LLVM::GlobalOp>(loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                                 ("strata_gpu_image_" + op.getName()).str(), Attribute());
    rewriter.createBlock(&image.getInitializerRegion());
    Value value = rewriter.create<LLVM::UndefOp>(loc, type);
    Value address = rewriter.create<LLVM::AddressOfOp>(loc, pointer, data.getSymName());
    Value bytes =
        rewriter.create<LLVM::ConstantOp>(loc, i64, rewriter.getI64IntegerAttr(object.getObject().getValue().size()));
    value = rewriter.create<LLVM::InsertValueOp>(loc, value, address, 0);
    value = rewriter.create<LLVM::InsertValueOp>(loc, value, bytes, 1);
    rewriter.create<LLVM::ReturnOp>(loc, value);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerLaunch : ConvertOpToLLVMPattern<gpu::LaunchFuncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type pointer = getVoidPtrType(), i64 = rewriter.getI64Type();
    SmallVector<Value> arguments =
        getTypeConverter()->promoteOperands(loc, op.getKernelOperands(), adaptor.getKernelOperands(), rewriter);
    // In the function's frame, not in a loop's.
    auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
    auto frame = [&](Type type) -> Value {
      OpBuilder::InsertionGuard guard(rewriter);
      if (function)
        rewriter.setInsertionPointToStart(&function.getBody().front());
      Value one = rewriter.create<LLVM::ConstantOp>(loc, i64, rewriter.getI64IntegerAttr(1));
      return rewriter.create<LLVM::AllocaOp>(loc, pointer, type, one);
    };
    // Tensor maps come last, and are passed by value.
    size_t maps =
        llvm::count_if(op.getKernelOperands().getTypes(), [](Type type) { return isa<LLVM::LLVMPointerType>(type); });
    SmallVector<Type> types;
    for (Value argument : arguments)
      types.push_back(argument.getType());
    auto valuesType = LLVM::LLVMStructType::getLiteral(getContext(), types);
    auto pointersType = LLVM::LLVMArrayType::get(pointer, std::max<size_t>(1, arguments.size()));
    auto shapeType = LLVM::LLVMArrayType::get(i64, 7);
    Value values = frame(valuesType), pointers = frame(pointersType), shape = frame(shapeType);
    auto place = [&](Type type, Value base, int32_t i) -> Value {
      return rewriter.create<LLVM::GEPOp>(loc, pointer, type, base, ArrayRef<LLVM::GEPArg>{0, i});
    };
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      bool isMap = i + maps >= arguments.size();
      Value address = isMap ? argument : place(valuesType, values, i);
      if (!isMap)
        rewriter.create<LLVM::StoreOp>(loc, argument, address);
      rewriter.create<LLVM::StoreOp>(loc, address, place(pointersType, pointers, i));
    }
    SmallVector<Value> sizes = {adaptor.getGridSizeX(),  adaptor.getGridSizeY(),  adaptor.getGridSizeZ(),
                                adaptor.getBlockSizeX(), adaptor.getBlockSizeY(), adaptor.getBlockSizeZ()};
    Value shared = adaptor.getDynamicSharedMemorySize();
    if (shared)
      shared = rewriter.create<LLVM::ZExtOp>(loc, i64, shared);
    else
      shared = rewriter.create<LLVM::ConstantOp>(loc, i64, rewriter.getI64IntegerAttr(0));
    sizes.push_back(shared);
    for (auto [i, size] : llvm::enumerate(sizes))
      rewriter.create<LLVM::StoreOp>(loc, size, place(shapeType, shape, i));
    auto voidType = LLVM::LLVMVoidType::get(getContext());
    LLVM::LLVMFuncOp launch =
        declare(rewriter, op, "strata_rt_gpu_launch", voidType, {pointer, pointer, pointer, pointer});
    Value kernel = rewriter.create<LLVM::AddressOfOp>(loc, pointer, kernelRecord(rewriter, op).getSymName());
    rewriter.create<LLVM::CallOp>(loc, launch, ValueRange{kernel, namesOf(rewriter, op), shape, pointers});
    rewriter.eraseOp(op);
    return success();
  }

private:
  LLVM::GlobalOp kernelRecord(ConversionPatternRewriter &rewriter, gpu::LaunchFuncOp op) const {
    auto module = op->getParentOfType<ModuleOp>();
    std::string symbol = ("strata_gpu_kernel_" + op.getKernelName().getValue()).str();
    if (auto found = module.lookupSymbol<LLVM::GlobalOp>(symbol))
      return found;
    Location loc = rewriter.getUnknownLoc();
    LLVM::GlobalOp name = stringNamed(rewriter, op, symbol + "_name", op.getKernelName());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    Type pointer = getVoidPtrType();
    auto type = LLVM::LLVMStructType::getLiteral(getContext(), {pointer, pointer});
    auto record =
        rewriter.create<LLVM::GlobalOp>(loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, symbol, Attribute());
    rewriter.createBlock(&record.getInitializerRegion());
    Value value = rewriter.create<LLVM::UndefOp>(loc, type);
    Value image = rewriter.create<LLVM::AddressOfOp>(loc, pointer,
                                                     ("strata_gpu_image_" + op.getKernelModuleName().getValue()).str());
    Value nameAddress = rewriter.create<LLVM::AddressOfOp>(loc, pointer, name.getSymName());
    value = rewriter.create<LLVM::InsertValueOp>(loc, value, image, 0);
    value = rewriter.create<LLVM::InsertValueOp>(loc, value, nameAddress, 1);
    rewriter.create<LLVM::ReturnOp>(loc, value);
    return record;
  }
};

/// Bytes of a contiguous buffer.
static Value bytesOf(const LLVMTypeConverter &converter, ConversionPatternRewriter &rewriter, Location loc,
                     MemRefType type, Value descriptor) {
  Type i64 = rewriter.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
  Value null = rewriter.create<LLVM::ZeroOp>(loc, pointer);
  Value next = rewriter.create<LLVM::GEPOp>(loc, pointer, converter.convertType(type.getElementType()), null,
                                            ArrayRef<LLVM::GEPArg>{1});
  Value bytes = rewriter.create<LLVM::PtrToIntOp>(loc, i64, next);
  MemRefDescriptor buffer(descriptor);
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Value size =
        type.isDynamicDim(i)
            ? buffer.size(rewriter, loc, i)
            : rewriter.create<LLVM::ConstantOp>(loc, i64, rewriter.getI64IntegerAttr(type.getDimSize(i))).getResult();
    bytes = rewriter.create<LLVM::MulOp>(loc, bytes, size);
  }
  return bytes;
}

static Value addressOf(const LLVMTypeConverter &converter, ConversionPatternRewriter &rewriter, Location loc,
                       MemRefType type, Value descriptor) {
  return MemRefDescriptor(descriptor).bufferPtr(rewriter, loc, converter, type);
}

/// Whether the type says that elements are not side by side.
static bool isKnownStrided(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset, expected = 1;
  if (failed(getStridesAndOffset(type, strides, offset)))
    return true;
  for (int64_t i = type.getRank(); i-- > 0;) {
    int64_t size = type.getDimSize(i);
    if (size == 1)
      continue;
    if (expected != ShapedType::kDynamic && strides[i] != ShapedType::kDynamic && strides[i] != expected)
      return true;
    expected = ShapedType::isDynamic(size) || expected == ShapedType::kDynamic ? ShapedType::kDynamic : expected * size;
  }
  return false;
}

/// Copies of which one side is the device.
struct LowerDeviceCopy : ConvertOpToLLVMPattern<memref::CopyOp> {
  LowerDeviceCopy(LLVMTypeConverter &converter) : ConvertOpToLLVMPattern(converter, /*benefit=*/20) {}

  LogicalResult matchAndRewrite(memref::CopyOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto source = dyn_cast<MemRefType>(op.getSource().getType());
    auto target = dyn_cast<MemRefType>(op.getTarget().getType());
    if (!source || !target || (!isDeviceMemory(source) && !isDeviceMemory(target)))
      return failure();
    // Strided copies are kernels; what folding of casts leaves here is contiguous, whatever its type does not say.
    if (isKnownStrided(source) || isKnownStrided(target))
      return op.emitOpError("of a strided buffer from or to the device");
    StringRef name = !isDeviceMemory(source)   ? "strata_rt_gpu_upload"
                     : !isDeviceMemory(target) ? "strata_rt_gpu_download"
                                               : "strata_rt_gpu_copy";
    Location loc = op.getLoc();
    Type pointer = getVoidPtrType();
    LLVM::LLVMFuncOp copy = declare(rewriter, op, name, LLVM::LLVMVoidType::get(getContext()),
                                    {pointer, pointer, rewriter.getI64Type(), pointer});
    Value to = addressOf(*getTypeConverter(), rewriter, loc, target, adaptor.getTarget());
    Value from = addressOf(*getTypeConverter(), rewriter, loc, source, adaptor.getSource());
    Value bytes = bytesOf(*getTypeConverter(), rewriter, loc, source, adaptor.getSource());
    rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, copy, ValueRange{to, from, bytes, namesOf(rewriter, op)});
    return success();
  }
};

/// Calls of the functions that kDeviceCall marks.
struct LowerDeviceCall : ConvertOpToLLVMPattern<func::CallOp> {
  LowerDeviceCall(LLVMTypeConverter &converter) : ConvertOpToLLVMPattern(converter, /*benefit=*/20) {}

  LogicalResult matchAndRewrite(func::CallOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getCallee().starts_with("strata_gpu_"))
      return failure();
    auto [role, number] = op.getCallee().drop_front(strlen("strata_gpu_")).rsplit('_');
    Location loc = op.getLoc();
    Type pointer = getVoidPtrType(), nothing = LLVM::LLVMVoidType::get(getContext());
    std::string name = ("strata_rt_gpu_" + role).str();
    if (role == "graph_begin") {
      rewriter.replaceOp(
          op, beginGraph(op, adaptor, number,
                         declare(rewriter, op, name, rewriter.getI32Type(), {pointer, pointer, rewriter.getI64Type()}),
                         rewriter));
      return success();
    }
    if (role == "graph_end" || role == "timer_start") {
      rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, declare(rewriter, op, name, nothing, {}), ValueRange());
      return success();
    }
    if (role == "multiprocessors" || role == "timer_stop") {
      rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, declare(rewriter, op, name, rewriter.getI64Type(), {}),
                                                ValueRange());
      return success();
    }
    auto type = cast<MemRefType>(op.getOperand(0).getType());
    MemRefDescriptor buffer(adaptor.getOperands()[0]);
    if (role == "tensor_map") {
      rewriter.replaceOp(op, makeTensorMap(op, adaptor,
                                           declare(rewriter, op, name, nothing, {pointer, pointer, pointer, pointer}),
                                           rewriter));
      return success();
    }
    if (role == "host_wrote") {
      rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, declare(rewriter, op, name, nothing, {pointer, pointer}),
                                                ValueRange{buffer.alignedPtr(rewriter, loc), namesOf(rewriter, op)});
      return success();
    }
    SmallVector<Value> arguments = {buffer.alignedPtr(rewriter, loc)};
    SmallVector<Type> types = {pointer};
    if (role != "to_host") {
      arguments.push_back(bytesOf(*getTypeConverter(), rewriter, loc, type, buffer));
      types.push_back(rewriter.getI64Type());
    }
    arguments.push_back(namesOf(rewriter, op));
    types.push_back(pointer);
    LLVM::LLVMFuncOp function = declare(rewriter, op, name, pointer, types);
    Value moved = rewriter.create<LLVM::CallOp>(loc, function, arguments).getResult();
    MemRefDescriptor result(static_cast<Value>(buffer));
    result.setAllocatedPtr(rewriter, loc, moved);
    result.setAlignedPtr(rewriter, loc, moved);
    rewriter.replaceOp(op, static_cast<Value>(result));
    return success();
  }

private:
  /// 128 bytes that describe a tensor at an offset of a buffer, by the numbers that follow.
  Value makeTensorMap(func::CallOp op, OpAdaptor adaptor, LLVM::LLVMFuncOp function,
                      ConversionPatternRewriter &rewriter) const {
    Location loc = op.getLoc();
    Type pointer = getVoidPtrType(), i64 = rewriter.getI64Type(), i8 = rewriter.getI8Type();
    auto constant = [&](int64_t value) -> Value {
      return rewriter.create<LLVM::ConstantOp>(loc, i64, rewriter.getI64IntegerAttr(value));
    };
    ValueRange numbers = adaptor.getOperands().drop_front(2);
    Value map, array;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      if (auto parent = op->getParentOfType<LLVM::LLVMFuncOp>())
        rewriter.setInsertionPointToStart(&parent.getBody().front());
      map = rewriter.create<LLVM::AllocaOp>(loc, pointer, i8, constant(128), /*alignment=*/64);
      array = rewriter.create<LLVM::AllocaOp>(loc, pointer, i64, constant(numbers.size()));
    }
    for (auto [i, value] : llvm::enumerate(numbers)) {
      Value place = rewriter.create<LLVM::GEPOp>(loc, pointer, i64, array, ArrayRef<LLVM::GEPArg>{int32_t(i)});
      rewriter.create<LLVM::StoreOp>(loc, value, place);
    }
    auto type = cast<MemRefType>(op.getOperand(0).getType());
    Value address = rewriter.create<LLVM::GEPOp>(
        loc, pointer, getTypeConverter()->convertType(type.getElementType()),
        addressOf(*getTypeConverter(), rewriter, loc, type, adaptor.getOperands()[0]), adaptor.getOperands()[1]);
    rewriter.create<LLVM::CallOp>(loc, function, ValueRange{map, address, array, namesOf(rewriter, op)});
    return map;
  }

  /// Whether the work that follows has to be asked for: it is not recorded for
  /// these operands.
  Value beginGraph(func::CallOp op, OpAdaptor adaptor, StringRef number, LLVM::LLVMFuncOp function,
                   ConversionPatternRewriter &rewriter) const {
    Location loc = op.getLoc();
    Type pointer = getVoidPtrType(), i8 = rewriter.getI8Type(), i64 = rewriter.getI64Type();
    SmallVector<Value> key;
    for (auto [operand, value] : llvm::zip(op.getOperands(), adaptor.getOperands()))
      addToKey(key, rewriter, loc, operand.getType(), value);
    auto constant = [&](int64_t value) -> Value {
      return rewriter.create<LLVM::ConstantOp>(loc, i64, rewriter.getI64IntegerAttr(value));
    };
    Value array;
    {
      // In the function's frame, not in a loop's.
      OpBuilder::InsertionGuard guard(rewriter);
      if (auto parent = op->getParentOfType<LLVM::LLVMFuncOp>())
        rewriter.setInsertionPointToStart(&parent.getBody().front());
      array = rewriter.create<LLVM::AllocaOp>(loc, pointer, i64, constant(std::max<size_t>(1, key.size())));
    }
    for (auto [i, value] : llvm::enumerate(key)) {
      Value place = rewriter.create<LLVM::GEPOp>(loc, pointer, i64, array, ArrayRef<LLVM::GEPArg>{int32_t(i)});
      rewriter.create<LLVM::StoreOp>(loc, value, place);
    }
    // Its address tells this place from others.
    std::string symbol = ("strata_gpu_place_" + number).str();
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(op->getParentOfType<ModuleOp>().getBody());
      rewriter.create<LLVM::GlobalOp>(loc, i8, /*isConstant=*/false, LLVM::Linkage::Internal, symbol,
                                      rewriter.getI8IntegerAttr(0));
    }
    Value place = rewriter.create<LLVM::AddressOfOp>(loc, pointer, symbol);
    Value answer =
        rewriter.create<LLVM::CallOp>(loc, function, ValueRange{place, array, constant(key.size())}).getResult();
    Value zero = rewriter.create<LLVM::ConstantOp>(loc, answer.getType(), rewriter.getI32IntegerAttr(0));
    return rewriter.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::ne, answer, zero);
  }

  /// What a run may choose of an operand: addresses, sizes, numbers.
  void addToKey(SmallVector<Value> &key, ConversionPatternRewriter &rewriter, Location loc, Type type,
                Value value) const {
    Type i64 = rewriter.getI64Type();
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref) {
      if (isa<FloatType>(type))
        value = rewriter.create<LLVM::BitcastOp>(loc, rewriter.getIntegerType(type.getIntOrFloatBitWidth()), value);
      bool narrow = !type.isIndex() && type.getIntOrFloatBitWidth() < 64;
      key.push_back(narrow ? rewriter.create<LLVM::ZExtOp>(loc, i64, value) : value);
      return;
    }
    MemRefDescriptor buffer(value);
    key.push_back(rewriter.create<LLVM::PtrToIntOp>(loc, i64, buffer.alignedPtr(rewriter, loc)));
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(getStridesAndOffset(memref, strides, offset)) || ShapedType::isDynamic(offset))
      key.push_back(buffer.offset(rewriter, loc));
    for (int64_t i = 0; i < memref.getRank(); ++i) {
      if (memref.isDynamicDim(i))
        key.push_back(buffer.size(rewriter, loc, i));
      if (strides.empty() || ShapedType::isDynamic(strides[i]))
        key.push_back(buffer.stride(rewriter, loc, i));
    }
  }
};

struct EraseDeviceDeclaration : ConvertOpToLLVMPattern<func::FuncOp> {
  EraseDeviceDeclaration(LLVMTypeConverter &converter) : ConvertOpToLLVMPattern(converter, /*benefit=*/20) {}

  LogicalResult matchAndRewrite(func::FuncOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (!op->hasAttr(kDeviceCall))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void strata::populateDeviceRuntimePatterns(LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  populateGpuMemorySpaceAttributeConversions(converter, [](gpu::AddressSpace) { return 0; });
  patterns.add<LowerBinary, LowerLaunch, LowerDeviceCopy, LowerDeviceCall, EraseDeviceDeclaration>(converter);
}
