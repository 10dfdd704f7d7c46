//===- If.cpp - If --------------------------------------------------------===//

#include "../Slice.h"

static Block &getBranch(Operation *op, bool taken) {
  // Alphabetical: else_branch, then_branch.
  return op->getRegion(taken ? 1 : 0).front();
}

static LogicalResult verifyIf(Operation *op) {
  for (bool taken : {true, false}) {
    Block &branch = getBranch(op, taken);
    StringRef name = taken ? "then_branch" : "else_branch";
    if (branch.getNumArguments() != 0)
      return op->emitOpError() << name << " has " << branch.getNumArguments() << " inputs; it must have none";
    if (branch.getTerminator()->getNumOperands() != op->getNumResults())
      return op->emitOpError("has ") << op->getNumResults() << " outputs, but " << name << " has "
                                     << branch.getTerminator()->getNumOperands();
  }
  return success();
}

// The condition where it is known at compile time.
static std::optional<bool> getCondition(const ValueAnalysis::Values &values) {
  if (values && values->size() == 1 && values->front().isStatic())
    return values->front().size != 0;
  return std::nullopt;
}

static LogicalResult inferIf(ShapeContext &c) {
  Operation *op = c.getOperation();
  std::optional<bool> condition = getCondition(c.values(0));
  // What is wrong in a branch that no run takes does no harm.
  for (bool taken : {true, false})
    if (taken == condition.value_or(taken) && failed(inferTypesInBlock(getBranch(op, taken), c.getAnalysis())))
      return failure();
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    Type a = getBranch(op, true).getTerminator()->getOperand(i).getType();
    Type b = getBranch(op, false).getTerminator()->getOperand(i).getType();
    Type joined = condition ? (*condition ? a : b) : joinTypes(a, b);
    if (!joined)
      return c.emitError() << "makes output " << i << " " << onnx::getTypeString(a) << " in one branch and "
                           << onnx::getTypeString(b) << " in the other";
    c.setType(0, joined, i);
  }
  return success();
}

static FailureOr<SmallVector<Value>> lowerIf(Operation *op, ValueRange operands, LinalgBuilder &b) {
  if (std::optional<bool> condition = getCondition(b.getAnalysis().get(op->getOperand(0))))
    return b.lowerBlock(getBranch(op, *condition), {});
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(getSeamType(type));
  auto branches = b.create<scf::IfOp>(types, b.extractScalar(operands[0]), /*withElseRegion=*/true);
  for (bool taken : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(taken ? branches.thenBlock() : branches.elseBlock());
    FailureOr<SmallVector<Value>> values = b.lowerBlock(getBranch(op, taken), {});
    if (failed(values))
      return failure();
    for (auto [value, type] : llvm::zip_equal(*values, types)) {
      if (!value || !tensor::CastOp::areCastCompatible(value.getType(), type))
        return op->emitOpError("cannot be compiled: a branch makes a value of another rank");
      value = b.castTo(value, type);
    }
    b.create<scf::YieldOp>(*values);
  }
  return SmallVector<Value>(branches.getResults());
}

STRATA_SLICE(If) { ops.add("If", {.verify = verifyIf, .inferShapes = inferIf, .lower = lowerIf, .handles = true}); }
