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

/// The rows and bytes of a row of a product's sums, if both are known.
static std::optional<std::pair<unsigned, unsigned>> shapeOfSums(const Instruction &instruction) {
  auto *product = dyn_cast<IntrinsicInst>(&instruction);
  if (!product)
    return std::nullopt;
  switch (product->getIntrinsicID()) {
  case Intrinsic::x86_tdpbf16ps_internal:
  case Intrinsic::x86_tdpfp16ps_internal:
  case Intrinsic::x86_tdpbssd_internal:
  case Intrinsic::x86_tdpbsud_internal:
  case Intrinsic::x86_tdpbusd_internal:
  case Intrinsic::x86_tdpbuud_internal:
    break;
  default:
    return std::nullopt;
  }
  auto *rows = dyn_cast<ConstantInt>(product->getArgOperand(0));
  auto *bytes = dyn_cast<ConstantInt>(product->getArgOperand(1));
  if (!rows || !bytes)
    return std::nullopt;
  return std::pair(rows->getZExtValue(), bytes->getZExtValue());
}

Error strata::checkTiles(const Function &function) {
  std::optional<std::pair<unsigned, unsigned>> shape;
  for (const Instruction &instruction : instructions(function)) {
    auto other = shapeOfSums(instruction);
    if (!other)
      continue;
    if (shape && *shape != *other)
      return createStringError(
          "the function '%s' sums up in tiles of %ux%u and of %ux%u (rows x bytes); the matrix unit "
          "has one configuration per function",
          function.getName().str().c_str(), shape->first, shape->second, other->first, other->second);
    shape = other;
  }
  return Error::success();
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
