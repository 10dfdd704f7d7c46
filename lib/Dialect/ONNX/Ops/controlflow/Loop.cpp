//===- Loop.cpp - Loop ----------------------------------------------------===//
//
// body(iteration, condition, carried...) -> (condition, carried..., scanned...).
// A loop that only counts, over values of fixed sizes, is an scf.for, any other
// one an scf.while.
//
//===----------------------------------------------------------------------===//

#include "../Containers.h"
#include "../LoopBody.h"
#include "Dialect/VersionSteps.h"

static unsigned numCarried(Operation *op) { return cast<VersionedOpInterface>(op).getInputGroup(2).size(); }

static LogicalResult verifyLoop(Operation *op) {
  Block &body = op->getRegion(0).front();
  unsigned carried = numCarried(op), results = op->getNumResults();
  if (body.getNumArguments() != carried + 2)
    return op->emitOpError("carries ") << carried << " values, so its body needs " << carried + 2 << " inputs; it has "
                                       << body.getNumArguments();
  if (body.getTerminator()->getNumOperands() != results + 1)
    return op->emitOpError("has ") << results << " outputs, so its body needs " << results + 1 << "; it has "
                                   << body.getTerminator()->getNumOperands();
  if (results < carried)
    return op->emitOpError("carries ") << carried << " values, but has only " << results << " outputs";
  return success();
}

// Whether the condition is true before the loop and after each iteration.
static bool onlyCounts(Operation *op, ValueAnalysis &analysis) {
  auto versioned = cast<VersionedOpInterface>(op);
  auto isTrue = [&](Value value) {
    const ValueAnalysis::Values &known = analysis.get(value);
    return known && known->size() == 1 && known->front().isStatic() && known->front().size != 0;
  };
  if (versioned.getInputGroup(0).empty())
    return false;
  if (OperandRange condition = versioned.getInputGroup(1); !condition.empty() && !isTrue(condition.front()))
    return false;
  Block &body = op->getRegion(0).front();
  Value next = body.getTerminator()->getOperand(0);
  while (Operation *identity = next.getDefiningOp()) {
    if (getUnversionedName(identity) != "Identity" || !isa<VersionedOpInterface>(identity))
      break;
    next = identity->getOperand(0);
  }
  return next == body.getArgument(1) || isTrue(next);
}

static LogicalResult inferLoop(ShapeContext &c) {
  Operation *op = c.getOperation();
  Block &body = op->getRegion(0).front();
  unsigned carried = numCarried(op);
  const unsigned widths[] = {64, 1};
  for (auto [i, width] : llvm::enumerate(widths))
    if (!isa<RankedTensorType>(body.getArgument(i).getType()))
      body.getArgument(i).setType(makeTensorType({}, IntegerType::get(op->getContext(), width)));
  SmallVector<Type> initial(op->getOperands().take_back(carried).getTypes());
  // What is put into an empty sequence tells what its elements are; if nothing is, its type does.
  SmallVector<Type> unfilled = initial;
  bool startsEmpty = false;
  for (auto [type, operand] : llvm::zip_equal(unfilled, op->getOperands().take_back(carried)))
    if (isa<SeqType>(type) && !elementOf(operand)) {
      type = SeqType::get(op->getContext(), NoneType::get(op->getContext()));
      startsEmpty = true;
    }
  FailureOr<SmallVector<Type>> types = loopbody::inferTypes(c, body, 2, 1, unfilled);
  if (succeeded(types) && startsEmpty) {
    for (auto [type, from] : llvm::zip_equal(*types, initial))
      if (auto seq = dyn_cast<SeqType>(type); seq && isa<NoneType>(seq.getElement()))
        type = from;
    types = loopbody::inferTypes(c, body, 2, 1, *types);
  }
  if (failed(types))
    return failure();
  for (auto [i, type] : llvm::enumerate(*types)) {
    // An optional sequence that the body makes a sequence is one behind the loop.
    Type made = body.getTerminator()->getOperand(i + 1).getType();
    c.setType(0, isa<OptionalType>(type) && isa<SeqType>(made) ? made : type, i);
  }
  Dim count;
  if (onlyCounts(op, c.getAnalysis()))
    if (auto trips = c.values(0); trips && trips->size() == 1)
      count = trips->front().isStatic() ? Dim(std::max<int64_t>(trips->front().size, 0)) : trips->front();
  for (unsigned i = carried; i < op->getNumResults(); ++i) {
    Type element = body.getTerminator()->getOperand(i + 1).getType();
    std::optional<Shape> shape = getShape(element);
    if (shape) {
      shape->insert(shape->begin(), count);
      element = makeTensorType(*shape, cast<TensorType>(element).getElementType());
    }
    c.setType(0, element, i);
  }
  return success();
}

// A scalar as the tensor that a body's argument is (of rank 0, or one element).
static Value asArgument(LinalgBuilder &b, Value scalar, Type type) {
  SmallVector<OpFoldResult> ones(cast<RankedTensorType>(getSeamType(type)).getRank(), b.getIndexAttr(1));
  return b.castTo(b.reshape(b.fromScalar(scalar), ones), getSeamType(type));
}

static FailureOr<SmallVector<Value>> lowerLoop(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Block &body = op->getRegion(0).front();
  unsigned carried = numCarried(op), scanned = op->getNumResults() - carried;
  SmallVector<Type> types;
  SmallVector<Value> values;
  for (unsigned i = 0; i < carried; ++i) {
    Type type = body.getArgument(i + 2).getType();
    if (failed(loopbody::checkCarried(op, type)))
      return failure();
    types.push_back(getSeamType(type));
    values.push_back(b.castTo(operands.take_back(carried)[i], types.back()));
  }
  Type i64 = b.getI64Type();
  Value limit = b.operand(0), condition = b.operand(1);
  // Without a limit: more iterations than any run has.
  limit = limit ? b.extractScalar(limit) : b.scalarInt(i64, INT64_MAX);
  bool counts = onlyCounts(op, b.getAnalysis());
  OpFoldResult trips = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), limit);
  if (counts) {
    auto known = b.onnxOperand(0) ? b.getAnalysis().get(b.onnxOperand(0)) : std::nullopt;
    auto size = known && known->size() == 1 ? b.knownSize(known->front()) : std::nullopt;
    trips = b.maximum(size ? *size : trips, b.getIndexAttr(0));
  }
  SmallVector<loopbody::Stack> stacks;
  for (unsigned i = 0; i < scanned; ++i) {
    Type element = body.getTerminator()->getOperand(carried + 1 + i).getType();
    if (failed(loopbody::checkCarried(op, element)))
      return failure();
    stacks.push_back(
        {b, cast<RankedTensorType>(getSeamType(element)), counts ? std::optional(trips) : std::nullopt, element});
    values.push_back(stacks.back().start());
    types.push_back(stacks.back().getType());
  }

  // One iteration at the insertion point: the condition and the next values.
  auto iterate = [&](Value iteration, Value go, ValueRange current) -> FailureOr<SmallVector<Value>> {
    Value number = b.createOrFold<arith::IndexCastOp>(i64, iteration);
    SmallVector<Value> arguments{asArgument(b, number, body.getArgument(0).getType()),
                                 asArgument(b, go, body.getArgument(1).getType())};
    llvm::append_range(arguments, current.take_front(carried));
    FailureOr<SmallVector<Value>> yielded = b.lowerBlock(body, arguments);
    if (failed(yielded))
      return failure();
    SmallVector<Value> next{b.extractScalar((*yielded)[0])};
    for (unsigned i = 0; i < carried; ++i)
      next.push_back(b.castTo((*yielded)[i + 1], types[i]));
    for (unsigned i = 0; i < scanned; ++i)
      next.push_back(stacks[i].add(current[carried + i], (*yielded)[carried + 1 + i], iteration, iteration));
    return next;
  };

  Value iterations;
  SmallVector<Value> results;
  if (counts && !loopbody::mayChangeSize(ArrayRef(types).take_front(carried), stacks)) {
    iterations = b.index(trips);
    auto loop = b.create<scf::ForOp>(b.index(int64_t(0)), b.index(trips), b.index(int64_t(1)), values);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    FailureOr<SmallVector<Value>> next =
        iterate(loop.getInductionVar(), b.scalarInt(b.getI1Type(), 1), loop.getRegionIterArgs());
    if (failed(next))
      return failure();
    if (!values.empty())
      b.create<scf::YieldOp>(ArrayRef(*next).drop_front());
    llvm::append_range(results, loop.getResults());
  } else {
    SmallVector<Value> state{b.index(int64_t(0)),
                             condition ? b.extractScalar(condition) : b.scalarInt(b.getI1Type(), 1)};
    SmallVector<Type> stateTypes{b.getIndexType(), b.getI1Type()};
    llvm::append_range(state, values);
    llvm::append_range(stateTypes, types);
    auto loop = b.create<scf::WhileOp>(stateTypes, state);
    SmallVector<Location> locations(stateTypes.size(), b.getLoc());
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, stateTypes, locations);
    Value below = b.compare(arith::CmpIPredicate::slt, before->getArgument(0), trips);
    b.create<scf::ConditionOp>(b.create<arith::AndIOp>(below, before->getArgument(1)), before->getArguments());
    Block *after = b.createBlock(&loop.getAfter(), {}, stateTypes, locations);
    FailureOr<SmallVector<Value>> next =
        iterate(after->getArgument(0), after->getArgument(1), ValueRange(after->getArguments()).drop_front(2));
    if (failed(next))
      return failure();
    SmallVector<Value> yielded{b.index(b.add(after->getArgument(0), b.getIndexAttr(1)))};
    llvm::append_range(yielded, *next);
    b.create<scf::YieldOp>(yielded);
    iterations = loop.getResult(0);
    llvm::append_range(results, loop.getResults().drop_front(2));
  }
  for (unsigned i = 0; i < scanned; ++i)
    results[carried + i] = stacks[i].finish(results[carried + i], iterations);
  return results;
}

static LogicalResult upgradeLoop(Operation *op, PatternRewriter &rewriter) {
  // 1 to 11 only allows more.
  OperationState state(op->getLoc(), "onnx.Loop_11");
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  state.addAttributes(op->getAttrs());
  state.addRegion();
  Operation *next = rewriter.create(state);
  rewriter.inlineRegionBefore(op->getRegion(0), next->getRegion(0), next->getRegion(0).end());
  rewriter.replaceOp(op, next);
  return success();
}

STRATA_SLICE(Loop) {
  ops.add("Loop", {.verify = verifyLoop,
                   .inferShapes = inferLoop,
                   .upgrade = upgradeLoop,
                   .downgrade = downgradePlainly,
                   .lower = lowerLoop,
                   .handles = true});
}
