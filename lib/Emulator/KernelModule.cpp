//===- KernelModule.cpp - NVPTX's IR as code for this machine -------------===//
#include "Block.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/DebugUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectTransformLayer.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include <set>

using namespace llvm;

namespace strata::emulator {

struct KernelModule::State {
  std::unique_ptr<orc::LLJIT> jit;
  StringMap<Kernel> kernels;
};

KernelModule::KernelModule() : state(std::make_unique<State>()) {}
KernelModule::~KernelModule() = default;

const Kernel *KernelModule::find(const std::string &name) const {
  auto found = state->kernels.find(name);
  return found == state->kernels.end() ? nullptr : &found->second;
}

/// The functions that are marked as kernels.
static std::vector<Function *> kernelsOf(Module &module) {
  std::vector<Function *> kernels;
  if (NamedMDNode *annotations = module.getNamedMetadata("nvvm.annotations"))
    for (MDNode *node : annotations->operands())
      for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2)
        if (auto *kind = dyn_cast<MDString>(node->getOperand(i)); kind && kind->getString() == "kernel")
          if (auto *function = mdconst::dyn_extract_or_null<Function>(node->getOperand(0)))
            kernels.push_back(function);
  return kernels;
}

/// Whether threads that call `function` may have to wait for others.
static bool meets(Function &function, SmallPtrSetImpl<Function *> &seen) {
  if (!seen.insert(&function).second)
    return false;
  StringRef name = function.getName();
  if (name.starts_with("llvm.nvvm."))
    return !name.starts_with("llvm.nvvm.read.ptx.sreg.");
  for (BasicBlock &block : function)
    for (Instruction &instruction : block)
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (Function *callee = call->getCalledFunction(); callee && meets(*callee, seen))
          return true;
  return false;
}

/// Two numbers of f32 as a pair of 16 bits, the first one behind the second.
static Value *roundPair(CallInst *call) {
  IRBuilder<> b(call);
  Value *pair = PoisonValue::get(call->getType());
  for (unsigned i = 0; i < 2; ++i) {
    Value *narrow = b.CreateFPTrunc(call->getArgOperand(1 - i), call->getType()->getScalarType());
    pair = b.CreateInsertElement(pair, narrow, i);
  }
  return pair;
}

/// Calls of an NVVM intrinsic become calls of the emulator's function of that name. What is no integer of 32 bits
/// travels as its bits; a pair { value, inside } is made here, other structures are written to memory.
static Error replaceIntrinsic(Function &intrinsic) {
  Module &module = *intrinsic.getParent();
  LLVMContext &context = module.getContext();
  Type *i32 = Type::getInt32Ty(context);
  std::string name = "emulator_" + intrinsic.getName().drop_front(strlen("llvm.nvvm.")).str();
  std::replace(name.begin(), name.end(), '.', '_');
  auto *structure = dyn_cast<StructType>(intrinsic.getReturnType());
  bool shuffles = StringRef(name).starts_with("emulator_shfl_sync_");
  if (shuffles || StringRef(name).ends_with("_p3"))
    name = name.substr(0, name.rfind('_')); // without the type
  if (name == "emulator_ff2f16x2_rn" || name == "emulator_ff2bf16x2_rn") {
    for (User *user : make_early_inc_range(intrinsic.users())) {
      user->replaceAllUsesWith(roundPair(cast<CallInst>(user)));
      cast<CallInst>(user)->eraseFromParent();
    }
    return Error::success();
  }
  if (none_of(deviceFunctions(), [&](const DeviceFunction &function) { return name == function.name; }))
    return createStringError("the emulator has no %s", intrinsic.getName().str().c_str());
  auto isBits = [&](Type *type) { return type != i32 && type->isSized() && type->getPrimitiveSizeInBits() == 32; };
  for (User *user : make_early_inc_range(intrinsic.users())) {
    auto *call = cast<CallInst>(user);
    IRBuilder<> b(call);
    SmallVector<Value *> arguments;
    SmallVector<Type *> types;
    Type *value = structure && shuffles ? structure->getElementType(0) : call->getType();
    Value *written = nullptr;
    if (structure && !shuffles) {
      IRBuilder<> entry(&call->getFunction()->getEntryBlock(), call->getFunction()->getEntryBlock().begin());
      written = entry.CreateAlloca(structure);
      arguments.push_back(written);
      value = b.getVoidTy();
    }
    for (Value *argument : call->args())
      arguments.push_back(isBits(argument->getType()) ? b.CreateBitCast(argument, i32) : argument);
    for (Value *argument : arguments)
      types.push_back(argument->getType());
    Type *raw = isBits(value) ? i32 : value;
    FunctionCallee callee = module.getOrInsertFunction(name, FunctionType::get(raw, types, false));
    Value *result = b.CreateCall(callee, arguments);
    if (raw != value)
      result = b.CreateBitCast(result, value);
    if (written)
      result = b.CreateLoad(structure, written);
    else if (structure)
      result = b.CreateInsertValue(b.CreateInsertValue(UndefValue::get(structure), result, 0), b.getTrue(), 1);
    if (!call->getType()->isVoidTy())
      call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
  return Error::success();
}

/// void NAME(void **arguments): loads the parameters and calls the kernel.
static void makeEntry(Function &kernel, const std::string &name) {
  Module &module = *kernel.getParent();
  IRBuilder<> b(module.getContext());
  auto *pointer = b.getPtrTy();
  auto *entry =
      Function::Create(FunctionType::get(b.getVoidTy(), {pointer}, false), GlobalValue::ExternalLinkage, name, module);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", entry));
  SmallVector<Value *> arguments;
  for (Argument &parameter : kernel.args()) {
    Value *slot = b.CreateConstGEP1_64(pointer, entry->getArg(0), parameter.getArgNo());
    Value *address = b.CreateLoad(pointer, slot);
    arguments.push_back(parameter.hasByValAttr() ? address : b.CreateLoad(parameter.getType(), address));
  }
  b.CreateCall(&kernel, arguments);
  b.CreateRetVoid();
}

/// The names of the functions that use a variable.
static std::set<std::string> usersOf(const Value &variable) {
  std::set<std::string> names;
  for (const User *user : variable.users()) {
    if (const auto *instruction = dyn_cast<Instruction>(user))
      names.insert(instruction->getFunction()->getName().str());
    else
      names.merge(usersOf(*user));
  }
  return names;
}

/// STRATA_EMULATOR_KEEP=FOLDER: N.bc is what was loaded as the Nth module, N.o this machine's code for it.
static void keep(StringRef bitcode, orc::LLJIT &jit) {
  static unsigned loaded = 0;
  const char *folder = std::getenv("STRATA_EMULATOR_KEEP");
  if (!folder)
    return;
  std::string number = std::to_string(loaded++);
  std::error_code error;
  raw_fd_ostream file(std::string(folder) + "/" + number + ".bc", error);
  if (error) {
    errs() << "emulator: nothing can be kept in '" << folder << "': " << error.message() << '\n';
    return;
  }
  file << bitcode;
  jit.getObjTransformLayer().setTransform(orc::DumpObjects(folder, number));
}

Expected<std::unique_ptr<KernelModule>> KernelModule::load(StringRef bitcode) {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  auto context = std::make_unique<LLVMContext>();
  auto module = parseBitcodeFile(MemoryBufferRef(bitcode, "kernels"), *context);
  if (!module)
    return module.takeError();
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  Module &ir = **module;
  std::vector<Function *> kernels = kernelsOf(ir);
  std::unique_ptr<KernelModule> result(new KernelModule());
  State &state = *result->state;
  for (Function *kernel : kernels) {
    SmallPtrSet<Function *, 16> seen;
    state.kernels[kernel->getName()].meets = meets(*kernel, seen);
  }

  ir.setTargetTriple((*machine)->getTargetTriple().str());
  ir.setDataLayout((*machine)->createDataLayout());
  if (NamedMDNode *annotations = ir.getNamedMetadata("nvvm.annotations"))
    annotations->eraseFromParent();
  for (Function &function : make_early_inc_range(ir)) {
    for (const char *attribute : {"target-cpu", "target-features"})
      function.removeFnAttr(attribute);
    function.setCallingConv(CallingConv::C);
    if (!function.getName().starts_with("llvm.nvvm."))
      continue;
    if (Error error = replaceIntrinsic(function))
      return std::move(error);
    function.eraseFromParent();
  }
  if (Error error = replaceInlineAssembly(ir))
    return std::move(error);
  std::vector<std::pair<std::string, uint64_t>> sharedMemory;
  std::vector<std::string> dynamicNames;
  size_t dynamicAlignment = 16;
  for (GlobalVariable &global : ir.globals()) {
    if (global.getAddressSpace() != 3)
      continue;
    if (global.isDeclaration()) {
      // Its size is the launch's.
      dynamicNames.push_back(global.getName().str());
      dynamicAlignment = std::max<size_t>(dynamicAlignment, global.getAlign().valueOrOne().value());
      continue;
    }
    global.setLinkage(GlobalValue::ExternalLinkage);
    global.setInitializer(Constant::getNullValue(global.getValueType()));
    sharedMemory.emplace_back(global.getName().str(), ir.getDataLayout().getTypeAllocSize(global.getValueType()));
    for (const std::string &user : usersOf(global))
      if (auto kernel = state.kernels.find(user); kernel != state.kernels.end())
        kernel->getValue().ownShared += sharedMemory.back().second;
  }
  std::vector<std::string> names;
  for (Function *kernel : kernels) {
    names.push_back(kernel->getName().str());
    for (Argument &argument : kernel->args())
      state.kernels[names.back()].parameters.push_back(ir.getDataLayout().getTypeAllocSize(
          argument.hasByValAttr() ? argument.getParamByValType() : argument.getType()));
    makeEntry(*kernel, "run_" + names.back());
    // What is passed by value is where the launch has it: nobody writes to it.
    for (Argument &argument : kernel->args())
      argument.removeAttr(Attribute::ByVal);
  }
  std::string message;
  raw_string_ostream os(message);
  if (verifyModule(ir, &os))
    return createStringError("the kernels are not valid on this machine: %s", message.c_str());
  {
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager sccs;
    ModuleAnalysisManager modules;
    PassBuilder passes(machine->get());
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(sccs);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, sccs, modules);
    passes.buildPerModuleDefaultPipeline(OptimizationLevel::O1).run(ir, modules);
  }

  auto jit = orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*builder)).create();
  if (!jit)
    return jit.takeError();
  state.jit = std::move(*jit);
  keep(bitcode, *state.jit);
  orc::SymbolMap symbols;
  for (const DeviceFunction &function : deviceFunctions())
    symbols[state.jit->mangleAndIntern(function.name)] = {orc::ExecutorAddr::fromPtr(function.address),
                                                          JITSymbolFlags::Exported};
  for (const std::string &name : dynamicNames)
    symbols[state.jit->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(sharedWindow() + dynamicAlignment),
                                                 JITSymbolFlags::Exported};
  if (Error error = state.jit->getMainJITDylib().define(orc::absoluteSymbols(symbols)))
    return std::move(error);
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(state.jit->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  state.jit->getMainJITDylib().addGenerator(std::move(*process));
  if (Error error = state.jit->addIRModule(orc::ThreadSafeModule(std::move(*module), std::move(context))))
    return std::move(error);
  std::vector<SharedMemory> memory;
  for (auto &[name, bytes] : sharedMemory) {
    auto address = state.jit->lookup(name);
    if (!address)
      return address.takeError();
    memory.push_back({address->toPtr<char *>(), static_cast<size_t>(bytes)});
  }
  for (const std::string &name : names) {
    auto address = state.jit->lookup("run_" + name);
    if (!address)
      return address.takeError();
    state.kernels[name].run = address->toPtr<void (*)(void **)>();
    state.kernels[name].shared = memory;
    state.kernels[name].dynamicAlignment = dynamicAlignment;
  }
  return std::move(result);
}

} // namespace strata::emulator
