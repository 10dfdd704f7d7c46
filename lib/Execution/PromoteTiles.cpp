//===- PromoteTiles.cpp - tiles in memory become registers ----------------===//

#include "PromoteTiles.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

/// The loads and stores of a slot, if it has no other users. They are of one shape by construction.
static std::optional<SmallVector<IntrinsicInst *>> accessesOf(AllocaInst &slot) {
  SmallVector<IntrinsicInst *> accesses;
  for (User *user : slot.users()) {
    auto *access = dyn_cast<IntrinsicInst>(user);
    if (!access || (access->getIntrinsicID() != Intrinsic::x86_tileloadd64_internal &&
                    access->getIntrinsicID() != Intrinsic::x86_tilestored64_internal))
      return std::nullopt;
    accesses.push_back(access);
  }
  return accesses;
}

void strata::promoteTiles(Function &function) {
  SmallVector<AllocaInst *> slots, registers;
  for (Instruction &instruction : instructions(function))
    if (auto *slot = dyn_cast<AllocaInst>(&instruction))
      slots.push_back(slot);
  for (AllocaInst *slot : slots) {
    auto accesses = accessesOf(*slot);
    if (!accesses || accesses->empty())
      continue;
    IRBuilder<> b(slot);
    Type *tile = Type::getX86_AMXTy(function.getContext());
    AllocaInst *value = b.CreateAlloca(tile);
    for (IntrinsicInst *access : *accesses) {
      b.SetInsertPoint(access);
      if (access->getIntrinsicID() == Intrinsic::x86_tileloadd64_internal)
        access->replaceAllUsesWith(b.CreateLoad(tile, value));
      else
        b.CreateStore(access->getArgOperand(4), value);
      access->eraseFromParent();
    }
    slot->eraseFromParent();
    registers.push_back(value);
  }
  if (registers.empty())
    return;
  DominatorTree dominators(function);
  PromoteMemToReg(registers, dominators);
}
