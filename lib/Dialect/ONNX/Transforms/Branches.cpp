//===- Branches.cpp - Ifs and Loops whose ranks depend on the run ---------===//

#include "Branches.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OpBehavior.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace strata {

static bool isIf(Operation *op) { return isa<VersionedOpInterface>(op) && getUnversionedName(op) == "If"; }

// The branches are in alphabetical order: else_branch, then_branch.
static Block &getBranch(Operation *op, bool taken) { return op->getRegion(taken ? 1 : 0).front(); }

static std::optional<int64_t> getScalar(Value value) {
  auto known = getIntegers(getConstant(value));
  return known && known->size() == 1 ? std::optional(known->front()) : std::nullopt;
}

static std::optional<bool> getCondition(Operation *op) {
  std::optional<int64_t> known = getScalar(op->getOperand(0));
  return known ? std::optional(*known != 0) : std::nullopt;
}

// The branch in the place of the If.
static void inlineBranch(Operation *op, bool taken) {
  Block &branch = getBranch(op, taken);
  Operation *terminator = branch.getTerminator();
  OpBuilder builder(terminator);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), terminator->getOperands())) {
    if (value.getType() != result.getType())
      value = builder.create<onnx::CastShapeOp>(op->getLoc(), result.getType(), value);
    result.replaceAllUsesWith(value);
  }
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), branch.getOperations());
  op->erase();
}

bool isUnusedIf(Operation *op) {
  return isIf(op) && op->use_empty() && !op->walk([&](Operation *inner) {
                                             bool goes = isa<onnx::RequireOp>(inner) || isIf(inner) ||
                                                         isMemoryEffectFree(inner) ||
                                                         inner->hasTrait<OpTrait::IsTerminator>();
                                             return goes ? WalkResult::advance() : WalkResult::interrupt();
                                           }).wasInterrupted();
}

bool inlineDecidedBranches(func::FuncOp function) {
  SmallVector<Operation *> decided;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isIf(op) && getCondition(op))
      decided.push_back(op);
  });
  // Those within a branch that goes are gone with it; those within one that stays move with its operations.
  llvm::DenseSet<Operation *> gone;
  for (Operation *op : decided) {
    if (gone.contains(op))
      continue;
    bool taken = *getCondition(op);
    getBranch(op, !taken).walk([&](Operation *inner) { gone.insert(inner); });
    inlineBranch(op, taken);
  }
  return !decided.empty();
}

// The ranks of a result in the two branches are known, but differ; so may those of an If within a branch.
static bool hasTwoRanks(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || !isa<UnrankedTensorType>(result.getType()) || !isIf(result.getOwner()))
    return false;
  return llvm::all_of(ArrayRef<bool>{true, false}, [&](bool taken) {
    Value made = getBranch(result.getOwner(), taken).getTerminator()->getOperand(result.getResultNumber());
    return isa<RankedTensorType>(made.getType()) || hasTwoRanks(made);
  });
}

// What is wrong with an op's operands, if anything is.
static std::optional<std::string> getError(Operation *op) {
  std::string error;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    if (error.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      error = diagnostic.str();
    return success();
  });
  if (auto cast = dyn_cast<onnx::CastShapeOp>(op)) {
    if (mergeTypes(cast.getInput().getType(), cast.getType()))
      return std::nullopt;
    llvm::raw_string_ostream(error) << "a value is " << cast.getInput().getType() << ", but declared as "
                                    << cast.getType();
    return error;
  }
  ValueAnalysis values;
  ShapeContext context(op, values);
  return failed(inferResultTypes(context)) ? std::optional(error) : std::nullopt;
}

// An If in `user`'s place whose branches are those of `op` followed by `user`; the branch alone where `user` cannot
// follow the other.
static void sink(Operation *op, Operation *user) {
  OpBuilder builder(user);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addAttributes(op->getAttrs());
  state.addTypes(user->getResultTypes());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *joined = builder.create(state);
  SmallVector<std::optional<std::string>> errors;
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), joined->getRegions())) {
    IRMapping mapping;
    from.cloneInto(&to, mapping);
    Operation *terminator = to.front().getTerminator();
    for (auto [result, value] : llvm::zip_equal(op->getResults(), terminator->getOperands()))
      mapping.map(result, value);
    builder.setInsertionPoint(terminator);
    Operation *copy = builder.clone(*user, mapping);
    terminator->setOperands(copy->getResults());
    errors.push_back(getError(copy));
  }
  user->replaceAllUsesWith(joined->getResults());
  user->erase();
  if (errors[0].has_value() == errors[1].has_value())
    return;
  bool taken = errors[0].has_value();
  builder.setInsertionPoint(joined);
  builder.create<onnx::RequireOp>(joined->getLoc(), joined->getOperand(0), taken,
                                  (Twine("takes its ") + (taken ? "else_branch" : "then_branch") +
                                   ", which what follows does not allow: " + *errors[taken ? 0 : 1])
                                      .str());
  inlineBranch(joined, taken);
}

// The If without results that nothing uses, one of which has no known rank.
static void dropUnusedResults(Operation *op) {
  SmallVector<unsigned> used;
  bool needed = false;
  for (OpResult result : op->getResults()) {
    if (!result.use_empty())
      used.push_back(result.getResultNumber());
    else
      needed |= isa<UnrankedTensorType>(result.getType());
  }
  // An If that nothing uses at all goes as a whole.
  if (used.empty() || !needed)
    return;
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addAttributes(op->getAttrs());
  for (unsigned i : used)
    state.addTypes(op->getResult(i).getType());
  for (Region &region : op->getRegions()) {
    Operation *terminator = region.front().getTerminator();
    terminator->setOperands(llvm::map_to_vector(used, [&](unsigned i) { return terminator->getOperand(i); }));
    state.addRegion()->takeBody(region);
  }
  Operation *smaller = builder.create(state);
  for (auto [i, result] : llvm::zip_equal(used, smaller->getResults()))
    op->getResult(i).replaceAllUsesWith(result);
  op->erase();
}

bool sinkIntoBranches(func::FuncOp function) {
  // Every round copies the branches once per user.
  constexpr size_t mostOperations = 1000;
  SmallVector<Operation *> candidates;
  function.walk([&](Operation *op) {
    if (isIf(op) && llvm::any_of(op->getResults(), hasTwoRanks))
      candidates.push_back(op);
  });
  bool changed = false;
  for (Operation *op : candidates) {
    size_t operations = 0;
    op->walk([&](Operation *) { ++operations; });
    if (operations > mostOperations)
      continue;
    llvm::SetVector<Operation *> users;
    for (OpResult result : op->getResults())
      if (hasTwoRanks(result))
        users.insert(result.user_begin(), result.user_end());
    for (Operation *user : users) {
      // Of a value that leaves the graph the rank must be known.
      if (!isa<VersionedOpInterface, onnx::CastShapeOp>(user) || user->getNumRegions() != 0 ||
          !isMemoryEffectFree(user))
        continue;
      sink(op, user);
      changed = true;
    }
    dropUnusedResults(op);
  }
  return changed;
}

// Whether a Loop has a first iteration if its condition holds at the start.
static bool hasIterations(VersionedOpInterface loop) {
  ValueRange limit = loop.getInputGroup(0);
  if (limit.empty() || isa<NoneType>(limit.front().getType()))
    return true;
  return getScalar(limit.front()).value_or(0) > 0;
}

bool dropUnreadStarts(func::FuncOp function) {
  bool changed = false;
  function.walk([&](VersionedOpInterface loop) {
    if (getUnversionedName(loop) != "Loop" || !hasIterations(loop))
      return;
    OpBuilder builder(loop);
    Block &body = loop->getRegion(0).front();
    ValueRange carried = loop.getInputGroup(2);
    bool isUsed = false;
    for (auto [i, start] : llvm::enumerate(carried)) {
      auto type = dyn_cast<RankedTensorType>(start.getType());
      auto made = dyn_cast<RankedTensorType>(body.getTerminator()->getOperand(i + 1).getType());
      if (!type || !made || type.getRank() == made.getRank() || !body.getArgument(i + 2).use_empty())
        continue;
      SmallVector<int64_t> sizes(made.getShape());
      std::replace(sizes.begin(), sizes.end(), ShapedType::kDynamic, int64_t(0));
      auto zeros =
          dyn_cast_or_null<ElementsAttr>(builder.getZeroAttr(RankedTensorType::get(sizes, made.getElementType())));
      if (!zeros)
        continue;
      Value empty = builder.create<onnx::InitializerOp>(loop.getLoc(), zeros);
      loop->setOperand(loop->getNumOperands() - carried.size() + i, empty);
      isUsed |= !loop->getResult(i).use_empty();
      changed = true;
    }
    ValueRange condition = loop.getInputGroup(1);
    if (isUsed && !condition.empty() && !isa<NoneType>(condition.front().getType()))
      builder.create<onnx::RequireOp>(loop.getLoc(), condition.front(), true,
                                      "has no iteration, but a result whose rank is that of one");
  });
  return changed;
}

} // namespace strata
