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

  /// The addresses of an innermost loop; whether anything changed.
  bool share();
  /// Those behind or before the loops within it, where steps are unknown.
  bool shareAround(const LoopInfo &loops);

private:
  /// The constant that is a part of the value, which is left without it.
  APInt takeConstant(const SCEV *&value);
  /// What the loops around have added to the value, which is left without it; null: nothing, or only what is known.
  const SCEV *takeMoved(const SCEV *&value);
  std::optional<Address> match(Value *pointer);
  /// Uses of addresses that are not the same in each iteration.
  SmallVector<Use *> addressesIn(BasicBlock &block);
  /// What was moved, computed there: loop strength reduction sees one value, and counts none for each of its users.
  Value *frozen(const SCEV *moved, BasicBlock::iterator place);
  /// The address without its offset: the start before the loop, and in the loop's header what it adds.
  Value *moved(const Address &address);
  void replace(Use &use, Value *pointer, const APInt &offset);
  /// Deletes what made the addresses that were replaced; whether there are any.
  bool finish();

  Loop &loop;
  ScalarEvolution &evolution;
  SCEVExpander expander;
  /// What the header held first: what is added comes before it, in the order in which it is made.
  BasicBlock::iterator first;
  DenseMap<const SCEV *, Value *> starts;
  DenseMap<std::pair<const SCEV *, const SCEV *>, Value *> moving;
  DenseMap<std::pair<const SCEV *, BasicBlock *>, Value *> offsets;
  SmallVector<WeakTrackingVH> dead;
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

/// The sum of what is part of `value` and moves.
static const SCEV *takeMovedParts(ScalarEvolution &evolution, const SCEV *&value) {
  const SCEV *moved = evolution.getZero(evolution.getEffectiveSCEVType(value->getType()));
  if (auto *sum = dyn_cast<SCEVAddExpr>(value)) {
    SmallVector<const SCEV *> terms(sum->operands());
    for (const SCEV *&term : terms)
      moved = evolution.getAddExpr(moved, takeMovedParts(evolution, term));
    if (!moved->isZero())
      value = evolution.getAddExpr(terms);
  } else if (auto *address = dyn_cast<SCEVAddRecExpr>(value); address && address->isAffine()) {
    value = address->getStart();
    const SCEV *own =
        evolution.getAddRecExpr(moved, address->getStepRecurrence(evolution), address->getLoop(), SCEV::FlagAnyWrap);
    moved = evolution.getAddExpr(takeMovedParts(evolution, value), own);
  }
  return moved;
}

const SCEV *Starts::takeMoved(const SCEV *&value) {
  const SCEV *left = value, *moved = takeMovedParts(evolution, left);
  bool isKnown = !SCEVExprContains(moved, [&](const SCEV *part) {
    auto *address = dyn_cast<SCEVAddRecExpr>(part);
    return address && !isa<SCEVConstant>(address->getStepRecurrence(evolution));
  });
  if (isKnown || !left->getType()->isPointerTy())
    return nullptr;
  value = left;
  return moved;
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

Value *Starts::frozen(const SCEV *moved, BasicBlock::iterator place) {
  Value *&value = offsets[{moved, place->getParent()}];
  if (!value)
    value = IRBuilder<>(&*place).CreateFreeze(expander.expandCodeFor(moved, moved->getType(), place), "moved");
  return value;
}

Value *Starts::moved(const Address &address) {
  Value *&start = starts[address.start];
  if (!start) {
    Instruction *entry = loop.getLoopPreheader()->getTerminator();
    IRBuilder<> builder(entry);
    const SCEV *base = address.start, *around = takeMoved(base);
    start = expander.expandCodeFor(base, base->getType(), entry->getIterator());
    if (around)
      start = builder.CreatePtrAdd(start, frozen(around, entry->getIterator()));
    start = builder.CreateFreeze(start, "start");
  }
  Value *&pointer = moving[{address.start, address.step}];
  if (!pointer) {
    Type *type = address.step->getType();
    const SCEV *added = evolution.getAddRecExpr(evolution.getZero(type), address.step, &loop, SCEV::FlagAnyWrap);
    pointer = IRBuilder<>(&*first).CreatePtrAdd(start, expander.expandCodeFor(added, type, first));
  }
  return pointer;
}

SmallVector<Use *> Starts::addressesIn(BasicBlock &block) {
  SmallVector<Use *> addresses;
  for (Instruction &instruction : block) {
    if (isa<GetElementPtrInst, PHINode>(instruction))
      continue;
    for (Use &use : instruction.operands())
      if (use->getType()->isPointerTy() && !loop.isLoopInvariant(use))
        addresses.push_back(&use);
  }
  return addresses;
}

void Starts::replace(Use &use, Value *pointer, const APInt &offset) {
  IRBuilder<> builder(cast<Instruction>(use.getUser()));
  if (!offset.isZero())
    pointer = builder.CreatePtrAdd(pointer, builder.getInt(offset));
  dead.push_back(use.get());
  use.set(pointer);
}

bool Starts::finish() {
  bool any = !dead.empty();
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
  return any;
}

bool Starts::share() {
  SmallVector<Use *> pointers;
  for (BasicBlock *block : loop.blocks())
    pointers.append(addressesIn(*block));
  if (pointers.size() < fewestAddresses)
    return false;
  for (Use *use : pointers)
    if (std::optional<Address> address = match(*use))
      replace(*use, moved(*address), address->offset);
  return finish();
}

bool Starts::shareAround(const LoopInfo &loops) {
  for (BasicBlock *block : loop.blocks()) {
    if (loops.getLoopFor(block) != &loop)
      continue;
    BasicBlock::iterator begin = block->getFirstInsertionPt();
    DenseMap<const SCEV *, Value *> bases;
    for (Use *use : addressesIn(*block)) {
      const SCEV *base = evolution.getSCEV(use->get());
      APInt offset = takeConstant(base);
      const SCEV *around = takeMoved(base);
      if (!around || !expander.isSafeToExpandAt(base, &*begin) || !expander.isSafeToExpandAt(around, &*begin))
        continue;
      Value *moved = frozen(around, begin), *&start = bases[base];
      if (!start)
        start = expander.expandCodeFor(base, base->getType(), begin);
      replace(*use, IRBuilder<>(cast<Instruction>(use->getUser())).CreatePtrAdd(start, moved), offset);
    }
  }
  return finish();
}

PreservedAnalyses ShareStartsPass::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isLoopSimplifyForm())
      continue;
    Starts starts(*loop, evolution, function.getDataLayout());
    changed |= loop->isInnermost() ? starts.share() : starts.shareAround(loops);
  }
  if (!changed)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace strata
