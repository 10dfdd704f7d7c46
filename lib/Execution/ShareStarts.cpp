//===- ShareStarts.cpp - Where the addresses of a loop start --------------===//

#include "ShareStarts.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace strata {

namespace {
/// An address of a loop, `start + trips * step + offset`: the start holds no constant.
struct Address {
  const SCEV *start;
  const SCEV *step;
  APInt offset;
};

/// A loop of fewer addresses takes no time worth saving, and may be so short that sums before it count.
constexpr unsigned fewestAddresses = 8;

class Starts {
public:
  Starts(Loop &loop, ScalarEvolution &evolution, const DataLayout &layout)
      : loop(loop), evolution(evolution), expander(evolution, layout, "start"),
        first(loop.getHeader()->getFirstInsertionPt()) {}

  /// Whether anything changed.
  bool share();

private:
  /// The constant that is a part of the value, which is left without it.
  APInt takeConstant(const SCEV *&value);
  std::optional<Address> match(Value *pointer);
  /// The address without its offset: the start before the loop, and in the loop's header what it adds.
  Value *moved(const Address &address);

  Loop &loop;
  ScalarEvolution &evolution;
  SCEVExpander expander;
  /// What the header held first: what is added comes before it, in the order in which it is made.
  BasicBlock::iterator first;
  DenseMap<const SCEV *, Value *> starts;
  DenseMap<std::pair<const SCEV *, const SCEV *>, Value *> moving;
};
} // namespace

APInt Starts::takeConstant(const SCEV *&value) {
  APInt constant(evolution.getTypeSizeInBits(value->getType()), 0);
  if (auto *whole = dyn_cast<SCEVConstant>(value)) {
    constant = whole->getAPInt();
    value = evolution.getZero(value->getType());
  } else if (auto *sum = dyn_cast<SCEVAddExpr>(value)) {
    SmallVector<const SCEV *> terms(sum->operands());
    for (const SCEV *&term : terms)
      constant += takeConstant(term);
    if (!constant.isZero())
      value = evolution.getAddExpr(terms);
  } else if (auto *moved = dyn_cast<SCEVAddRecExpr>(value)) {
    SmallVector<const SCEV *> terms(moved->operands());
    constant = takeConstant(terms.front());
    if (!constant.isZero())
      value = evolution.getAddRecExpr(terms, moved->getLoop(), SCEV::FlagAnyWrap);
  } else if (auto *product = dyn_cast<SCEVMulExpr>(value); product && isa<SCEVConstant>(product->getOperand(0))) {
    SmallVector<const SCEV *> factors(drop_begin(product->operands()));
    const SCEV *factor = evolution.getMulExpr(factors);
    constant = takeConstant(factor) * cast<SCEVConstant>(product->getOperand(0))->getAPInt();
    if (!constant.isZero())
      value = evolution.getMulExpr(product->getOperand(0), factor);
  }
  return constant;
}

std::optional<Address> Starts::match(Value *pointer) {
  auto *address = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(pointer));
  if (!address || address->getLoop() != &loop || !address->isAffine())
    return std::nullopt;
  const SCEV *start = address->getStart();
  APInt offset = takeConstant(start);
  // One value is what loop strength reduction makes the least of.
  if (isa<SCEVUnknown>(start) || !start->getType()->isPointerTy())
    return std::nullopt;
  const SCEV *step = address->getStepRecurrence(evolution);
  const Instruction *entry = loop.getLoopPreheader()->getTerminator();
  if (!expander.isSafeToExpandAt(start, entry) || !expander.isSafeToExpandAt(step, entry))
    return std::nullopt;
  return Address{start, step, offset};
}

Value *Starts::moved(const Address &address) {
  Value *&start = starts[address.start];
  if (!start) {
    Instruction *entry = loop.getLoopPreheader()->getTerminator();
    start = IRBuilder<>(entry).CreateFreeze(
        expander.expandCodeFor(address.start, address.start->getType(), entry->getIterator()), "start");
  }
  Value *&pointer = moving[{address.start, address.step}];
  if (!pointer) {
    Type *type = address.step->getType();
    const SCEV *added = evolution.getAddRecExpr(evolution.getZero(type), address.step, &loop, SCEV::FlagAnyWrap);
    pointer = IRBuilder<>(&*first).CreatePtrAdd(start, expander.expandCodeFor(added, type, first));
  }
  return pointer;
}

bool Starts::share() {
  SmallVector<Use *> pointers;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (isa<GetElementPtrInst, PHINode>(instruction))
        continue;
      for (Use &use : instruction.operands())
        if (use->getType()->isPointerTy() && !loop.isLoopInvariant(use))
          pointers.push_back(&use);
    }
  if (pointers.size() < fewestAddresses)
    return false;
  SmallVector<WeakTrackingVH> dead;
  for (Use *use : pointers) {
    std::optional<Address> address = match(*use);
    if (!address)
      continue;
    Value *pointer = moved(*address);
    if (!address->offset.isZero()) {
      IRBuilder<> builder(cast<Instruction>(use->getUser()));
      pointer = builder.CreatePtrAdd(pointer, builder.getInt(address->offset));
    }
    dead.push_back(use->get());
    use->set(pointer);
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
  return !starts.empty();
}

PreservedAnalyses ShareStartsPass::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  bool changed = false;
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost() && loop->isLoopSimplifyForm())
      changed |= Starts(*loop, evolution, function.getDataLayout()).share();
  if (!changed)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace strata
