//===- InlineAssembly.cpp - PTX in the kernels' IR ------------------------===//
//
// Instructions of sm_90a that LLVM 19 has no intrinsics for are PTX in the IR, one
// instruction in each text, at most with a loop around it.
//
//===----------------------------------------------------------------------===//
#include "Emulator.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace strata::emulator {

/// What a text begins with, or has in it, and the function in its place.
static const struct {
  const char *pattern, *function;
} instructions[] = {
    {"^fence\\.mbarrier_init", "fence_mbarrier_init"},
    {"^fence\\.proxy\\.async", "fence_proxy_async"},
    {"^mbarrier\\.arrive\\.expect_tx\\.shared\\.b64 _", "mbarrier_arrive_expect_tx"},
    {"mbarrier\\.try_wait\\.parity\\.shared\\.b64.*bra", "mbarrier_try_wait_parity"},
    {"^cp\\.async\\.bulk\\.tensor\\.1d\\.shared::cluster\\.global\\.mbarrier", "cp_async_bulk_tensor_1d"},
    {"^cp\\.async\\.bulk\\.tensor\\.2d\\.shared::cluster\\.global\\.mbarrier", "cp_async_bulk_tensor_2d"},
    {"^cp\\.async\\.bulk\\.tensor\\.3d\\.shared::cluster\\.global\\.mbarrier", "cp_async_bulk_tensor_3d"},
    {"^cp\\.async\\.bulk\\.tensor\\.4d\\.shared::cluster\\.global\\.mbarrier", "cp_async_bulk_tensor_4d"},
    {"^cp\\.async\\.bulk\\.tensor\\.5d\\.shared::cluster\\.global\\.mbarrier", "cp_async_bulk_tensor_5d"},
    {"^wgmma\\.fence", "wgmma_fence"},
    {"^wgmma\\.commit_group", "wgmma_commit_group"},
    {"^wgmma\\.wait_group", "wgmma_wait_group"},
    {"^prefetch\\.tensormap", "prefetch_tensormap"},
};

static void callInstead(CallInst *call, const char *function, ArrayRef<Value *> arguments) {
  IRBuilder<> b(call);
  SmallVector<Type *> types;
  for (Value *argument : arguments)
    types.push_back(argument->getType());
  FunctionCallee callee = call->getModule()->getOrInsertFunction(std::string("emulator_") + function,
                                                                 FunctionType::get(b.getVoidTy(), types, false));
  b.CreateCall(callee, arguments);
}

/// Operands in memory: a call's arguments from `first` on, as many as there are elements.
static Value *spill(CallInst *call, unsigned first, StructType *structure) {
  IRBuilder<> entry(&call->getFunction()->getEntryBlock(), call->getFunction()->getEntryBlock().begin());
  Value *memory = entry.CreateAlloca(structure);
  IRBuilder<> b(call);
  for (unsigned i = 0; i < structure->getNumElements(); ++i)
    b.CreateStore(call->getArgOperand(first + i), b.CreateStructGEP(structure, memory, i));
  return memory;
}

/// {sums} = PTX(sums, left, right descriptor, ...): the sums go through memory. The left side is a descriptor, and
/// whether sums are added to, signs and how operands lie follow as operands; or it is four registers, and those are in
/// the text.
static Error replaceProduct(CallInst *call, StringRef text, ArrayRef<StringRef> match) {
  static const StringRef elementKinds[] = {"f16", "bf16", "tf32", "s8", "u8"};
  auto kindOf = [&](StringRef name) { return std::distance(elementKinds, find(elementKinds, name)); };
  unsigned columns, steps, sums;
  match[1].getAsInteger(10, columns);
  match[2].getAsInteger(10, steps);
  auto *structure = cast<StructType>(call->getType());
  sums = structure->getNumElements();
  auto constant = [&](unsigned i) {
    auto *value = i < call->arg_size() ? dyn_cast<ConstantInt>(call->getArgOperand(i)) : nullptr;
    return value ? value->getSExtValue() : 0;
  };
  bool floats = structure->getElementType(0)->isFloatTy(), halves = match[4] == "f16" || match[4] == "bf16";
  static const unsigned stepsOf[] = {16, 16, 8, 32, 32};
  unsigned left = kindOf(match[4]), right = kindOf(match[5]);
  auto none = [&] { return createStringError("the emulator has no %s", match[0].str().c_str()); };
  if (left > 4 || right > 4 || steps != stepsOf[left] || sums != columns / 2)
    return none();
  IRBuilder<> b(call);
  Value *memory = spill(call, 0, structure);
  if (call->getArgOperand(sums)->getType()->isIntegerTy(32)) {
    std::string operands = "}, {";
    for (unsigned i = 0; i < 4; ++i)
      operands += "$" + std::to_string(2 * sums + i) + (i < 3 ? ", " : "}, ");
    operands += "$" + std::to_string(2 * sums + 4) + ", p, 1, 1, ";
    auto [before, across] = text.split(operands);
    if (!halves || call->arg_size() != sums + 5 || !before.contains("setp.ne.b32 p, 1, 0;") ||
        (!across.starts_with("0;") && !across.starts_with("1;")))
      return none();
    Value *registers = spill(call, sums, StructType::get(b.getContext(), SmallVector<Type *>(4, b.getInt32Ty())));
    callInstead(call, "wgmma_mma_async_registers",
                {memory, registers, call->getArgOperand(sums + 4), b.getInt32(columns), b.getInt32(left),
                 b.getInt32(across.starts_with("1;"))});
  } else {
    int64_t adds = constant(sums + 2);
    if ((adds != 0 && adds != 1) || (floats && (constant(sums + 3) != 1 || constant(sums + 4) != 1)))
      return none();
    callInstead(call, "wgmma_mma_async",
                {memory, call->getArgOperand(sums), call->getArgOperand(sums + 1), b.getInt32(columns),
                 b.getInt32(left), b.getInt32(right), b.getInt32(halves ? constant(sums + 5) : 0),
                 b.getInt32(halves ? constant(sums + 6) : 0), b.getInt32(adds)});
  }
  call->replaceAllUsesWith(b.CreateLoad(structure, memory));
  call->eraseFromParent();
  return Error::success();
}

static Error replace(CallInst *call, StringRef text) {
  static const Regex product("wgmma\\.mma_async\\.sync\\.aligned\\.m64n([0-9]+)k([0-9]+)\\.(f32|s32)\\.([a-z0-9]+)\\."
                             "([a-z0-9]+) ");
  SmallVector<StringRef> match;
  if (product.match(text, &match))
    return replaceProduct(call, text, match);
  std::string oneLine = text.str();
  std::replace(oneLine.begin(), oneLine.end(), '\n', ' ');
  for (const auto &instruction : instructions) {
    if (!Regex(instruction.pattern).match(oneLine))
      continue;
    callInstead(call, instruction.function, SmallVector<Value *>(call->args()));
    call->eraseFromParent();
    return Error::success();
  }
  return createStringError("the emulator has no %s", oneLine.c_str());
}

Error replaceInlineAssembly(Module &module) {
  SmallVector<CallInst *> calls;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (auto *call = dyn_cast<CallInst>(&instruction); call && call->isInlineAsm())
          calls.push_back(call);
  for (CallInst *call : calls)
    if (Error error = replace(call, cast<InlineAsm>(call->getCalledOperand())->getAsmString()))
      return error;
  return Error::success();
}

} // namespace strata::emulator
