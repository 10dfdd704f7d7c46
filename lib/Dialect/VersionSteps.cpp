//===- VersionSteps.cpp - what steps between versions are made of ---------===//

#include "Dialect/VersionSteps.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OpBehavior.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace strata {

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

static std::string nameOfVersion(Operation *op, int64_t version) {
  StringRef name = op->getName().getStringRef();
  return (name.take_front(name.rfind('_') + 1) + Twine(version)).str();
}

OperationName getVersion(Operation *op, int64_t version) {
  return OperationName(nameOfVersion(op, version), op->getContext());
}

int64_t getPreviousVersion(Operation *op) {
  int64_t version = cast<VersionedOpInterface>(op).getSinceVersion() - 1;
  while (version > 0 && !RegisteredOperationName::lookup(nameOfVersion(op, version), op->getContext()))
    --version;
  return version;
}

//===----------------------------------------------------------------------===//
// Making ops
//===----------------------------------------------------------------------===//

static bool isSegmentSizes(StringRef name) { return name == "operandSegmentSizes" || name == "resultSegmentSizes"; }

SmallVector<NamedAttribute> attributesWithout(Operation *op, ArrayRef<StringRef> names) {
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : op->getAttrs())
    if (!isSegmentSizes(attr.getName()) && !llvm::is_contained(names, attr.getName().getValue()))
      attrs.push_back(attr);
  return attrs;
}

static const Signature &signatureOf(OperationName name) {
  return name.getInterface<VersionedOpInterface>()->getSignature();
}

// Adds what says how many values each formal parameter has. Parameters after the given ones have none.
static void addSegments(OperationState &state, SmallVector<int32_t> operands, SmallVector<int32_t> results) {
  Builder builder(state.getContext());
  const Signature &signature = signatureOf(state.name);
  operands.resize(signature.inputs.size(), 0);
  results.resize(signature.outputs.size(), 0);
  if (state.name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(operands));
  if (state.name.hasTrait<OpTrait::AttrSizedResultSegments>())
    state.addAttribute("resultSegmentSizes", builder.getDenseI32ArrayAttr(results));
}

static SmallVector<int32_t> addInputs(OperationState &state, ArrayRef<Value> inputs) {
  SmallVector<int32_t> segments;
  for (Value input : inputs) {
    segments.push_back(input ? 1 : 0);
    if (input)
      state.addOperands(input);
  }
  return segments;
}

Operation *createVersion(RewriterBase &rewriter, Location loc, StringRef name, int64_t version, ArrayRef<Value> inputs,
                         ArrayRef<NamedAttribute> attrs, TypeRange results) {
  OperationState state(loc, ("onnx." + name + "_" + Twine(version)).str());
  SmallVector<int32_t> operands = addInputs(state, inputs);
  state.addAttributes(attrs);
  state.addTypes(results);
  addSegments(state, operands, SmallVector<int32_t>(results.size(), 1));
  return rewriter.create(state);
}

static SmallVector<int32_t> resultSegments(Operation *op) {
  auto versioned = cast<VersionedOpInterface>(op);
  SmallVector<int32_t> segments;
  for (unsigned i = 0, e = signatureOf(op->getName()).outputs.size(); i < e; ++i)
    segments.push_back(versioned.getOutputGroup(i).size());
  return segments;
}

static Operation *createSibling(Operation *op, RewriterBase &rewriter, int64_t version, ArrayRef<Value> inputs,
                                ArrayRef<NamedAttribute> attrs) {
  OperationState state(op->getLoc(), getVersion(op, version));
  SmallVector<int32_t> operands = addInputs(state, inputs);
  state.addAttributes(attrs);
  state.addTypes(op->getResultTypes());
  addSegments(state, operands, resultSegments(op));
  return rewriter.create(state);
}

Operation *replaceByVersion(Operation *op, RewriterBase &rewriter, int64_t version, ArrayRef<Value> inputs,
                            ArrayRef<NamedAttribute> attrs) {
  Operation *replacement = createSibling(op, rewriter, version, inputs, attrs);
  rewriter.replaceOp(op, replacement);
  return replacement;
}

Operation *recreate(Operation *op, OperationName name, RewriterBase &rewriter, ArrayRef<NamedAttribute> attrs) {
  auto versioned = cast<VersionedOpInterface>(op);
  OperationState state(op->getLoc(), name);
  SmallVector<int32_t> operands;
  for (unsigned i = 0, e = signatureOf(op->getName()).inputs.size(); i < e; ++i)
    operands.push_back(versioned.getInputGroup(i).size());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  state.addAttributes(attrs);
  addSegments(state, operands, resultSegments(op));
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  rewriter.setInsertionPoint(op);
  Operation *created = rewriter.create(state);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), created->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.end());
  return created;
}

Value makeIntegers(RewriterBase &rewriter, Location loc, ArrayRef<int64_t> values, bool scalar) {
  SmallVector<int64_t, 1> shape;
  if (!scalar)
    shape.push_back(values.size());
  auto type = RankedTensorType::get(shape, rewriter.getI64Type());
  return rewriter.create<onnx::InitializerOp>(loc, DenseIntElementsAttr::get(type, values));
}

Value makeScalar(RewriterBase &rewriter, Location loc, Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  if (auto floating = dyn_cast<FloatType>(element))
    return rewriter.create<onnx::InitializerOp>(
        loc, DenseElementsAttr::get(type, rewriter.getFloatAttr(floating, value).getValue()));
  auto integer = cast<IntegerType>(element);
  APInt bits(integer.getWidth(), static_cast<int64_t>(value), !integer.isUnsigned());
  return rewriter.create<onnx::InitializerOp>(loc, DenseElementsAttr::get(type, bits));
}

Value makeUnsqueeze(RewriterBase &rewriter, Location loc, Value value, ArrayRef<int64_t> axes) {
  Shape shape = *getShape(value.getType());
  for (int64_t axis : axes)
    shape.insert(shape.begin() + axis, Dim(1));
  Type type = makeTensorType(shape, cast<TensorType>(value.getType()).getElementType());
  return createVersion(rewriter, loc, "Unsqueeze", 25, {value, makeIntegers(rewriter, loc, axes)}, {}, type)
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// Upgrades
//===----------------------------------------------------------------------===//

LogicalResult upgradeStep(Operation *op, PatternRewriter &rewriter) {
  auto versioned = cast<VersionedOpInterface>(op);
  if (versioned.stepKeepsSignature())
    return keepAttributes(op, rewriter);
  if (auto upgrade = getBehavior(op).upgrade)
    return upgrade(op, rewriter);
  return op->emitOpError("cannot be upgraded to version ")
         << versioned.getNextVersion() << ": the operator has no upgrade step from version "
         << versioned.getSinceVersion();
}

static SmallVector<NamedAttribute> changedAttributes(Operation *op, ArrayRef<StringRef> dropped,
                                                     ArrayRef<NamedAttribute> added) {
  NamedAttrList attrs(attributesWithout(op, dropped));
  for (NamedAttribute attr : added)
    attrs.set(attr.getName(), attr.getValue());
  return llvm::to_vector(attrs.getAttrs());
}

Operation *replaceByNext(Operation *op, RewriterBase &rewriter, ArrayRef<Value> inputs, ArrayRef<StringRef> dropped,
                         ArrayRef<NamedAttribute> added) {
  return replaceByVersion(op, rewriter, getNextVersion(op), inputs, changedAttributes(op, dropped, added));
}

LogicalResult changeAttributes(Operation *op, RewriterBase &rewriter, ArrayRef<StringRef> dropped,
                               ArrayRef<NamedAttribute> added) {
  OperationName next = getVersion(op, getNextVersion(op));
  rewriter.replaceOp(op, recreate(op, next, rewriter, changedAttributes(op, dropped, added)));
  return success();
}

LogicalResult dropConsumedInputs(Operation *op, PatternRewriter &rewriter) {
  return changeAttributes(op, rewriter, {"consumed_inputs"});
}

LogicalResult keepAttributes(Operation *op, PatternRewriter &rewriter) { return changeAttributes(op, rewriter, {}); }

LogicalResult listToInput(Operation *op, RewriterBase &rewriter, StringRef name) {
  SmallVector<Value> inputs(op->getOperands());
  if (auto list = op->getAttrOfType<DenseI64ArrayAttr>(name))
    inputs.push_back(makeIntegers(rewriter, op->getLoc(), list));
  replaceByNext(op, rewriter, inputs, {name});
  return success();
}

//===----------------------------------------------------------------------===//
// Downgrades
//===----------------------------------------------------------------------===//

InFlightDiagnostic refuseDowngrade(Operation *op) {
  return op->emitOpError("cannot be downgraded to version ") << getPreviousVersion(op) << ": ";
}

// What `op`'s verifier says against it; empty if nothing.
static std::string findFault(Operation *op) {
  std::string fault;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    if (fault.empty())
      fault = diagnostic.str();
    return success();
  });
  if (succeeded(op->getName().verifyInvariants(op)))
    return "";
  StringRef text = fault;
  text.consume_front(("'" + op->getName().getStringRef() + "' op ").str());
  return text.empty() ? "it would be invalid" : text.str();
}

// Puts `created` in the place of `op`, or takes it back.
static LogicalResult replaceIfValid(Operation *op, RewriterBase &rewriter, Operation *created) {
  std::string fault = findFault(created);
  if (fault.empty()) {
    rewriter.replaceOp(op, created);
    return success();
  }
  for (auto [from, to] : llvm::zip(created->getRegions(), op->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.end());
  rewriter.eraseOp(created);
  return refuseDowngrade(op) << fault;
}

static bool isNeutral(Attribute value, const Neutral &neutral) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getInt() == neutral.number;
  if (auto floating = dyn_cast<FloatAttr>(value))
    return floating.getValueAsDouble() == neutral.number;
  if (auto text = dyn_cast<StringAttr>(value))
    return text.getValue() == neutral.text;
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    return llvm::all_of(list.asArrayRef(), [&](int64_t element) { return element == neutral.number; });
  return false;
}

// The attributes of the op as far as the version knows them.
static FailureOr<SmallVector<NamedAttribute>> keepKnown(Operation *op, OperationName name, ArrayRef<Neutral> neutral) {
  ArrayRef<StringAttr> known = name.getRegisteredInfo()->getAttributeNames();
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : attributesWithout(op)) {
    StringRef own = attr.getName();
    auto hasNoMeaning = [&](const Neutral &n) { return n.name == own && isNeutral(attr.getValue(), n); };
    if (own.contains('.') || llvm::is_contained(known, attr.getName()))
      attrs.push_back(attr);
    else if (!llvm::any_of(neutral, hasNoMeaning))
      return refuseDowngrade(op) << "it has no attribute '" << own << "', which is " << attr.getValue(), failure();
  }
  return attrs;
}

static LogicalResult checkFormals(Operation *op, OperationName name) {
  auto versioned = cast<VersionedOpInterface>(op);
  const Signature &mine = signatureOf(op->getName()), &theirs = signatureOf(name);
  for (unsigned i = theirs.inputs.size(); i < mine.inputs.size(); ++i)
    if (!versioned.getInputGroup(i).empty())
      return refuseDowngrade(op) << "it has no input '" << mine.inputs[i].name << "'";
  for (unsigned i = theirs.outputs.size(); i < mine.outputs.size(); ++i)
    if (!versioned.getOutputGroup(i).empty())
      return refuseDowngrade(op) << "it has no output '" << mine.outputs[i].name << "'";
  return success();
}

// Axes count from the end since opset 11.
static LogicalResult makeAxesPositive(Operation *op, int64_t previous, SmallVectorImpl<NamedAttribute> &attrs) {
  auto versioned = cast<VersionedOpInterface>(op);
  if (versioned.getDomain() != "ai.onnx" || versioned.getSinceVersion() < 11 || previous >= 11 ||
      op->getNumOperands() == 0)
    return success();
  // Of operators that add dimensions they are those of the result.
  bool addsDimensions = versioned.getOperatorName() == "Unsqueeze" || versioned.getOperatorName() == "OneHot";
  Value counted = addsDimensions ? Value(op->getResult(0)) : op->getOperand(0);
  std::optional<Shape> shape = getShape(counted.getType());
  Builder b(op->getContext());
  for (NamedAttribute &attr : attrs) {
    StringRef name = attr.getName();
    if (name != "axis" && name != "axes")
      continue;
    auto one = dyn_cast<IntegerAttr>(attr.getValue());
    auto list = dyn_cast<DenseI64ArrayAttr>(attr.getValue());
    SmallVector<int64_t> axes;
    if (one)
      axes.push_back(one.getInt());
    else if (list)
      llvm::append_range(axes, list.asArrayRef());
    if (llvm::none_of(axes, [](int64_t axis) { return axis < 0; }))
      continue;
    if (!shape)
      return refuseDowngrade(op) << "its '" << name << "' counts from the end of a tensor of unknown rank";
    for (int64_t &axis : axes)
      axis += axis < 0 ? shape->size() : 0;
    attr.setValue(one ? Attribute(b.getI64IntegerAttr(axes[0])) : Attribute(b.getDenseI64ArrayAttr(axes)));
  }
  return success();
}

LogicalResult downgradeStep(Operation *op, RewriterBase &rewriter, ArrayRef<Neutral> neutral) {
  int64_t previous = getPreviousVersion(op);
  OperationName name = getVersion(op, previous);
  FailureOr<SmallVector<NamedAttribute>> attrs = keepKnown(op, name, neutral);
  if (failed(attrs) || failed(checkFormals(op, name)) || failed(makeAxesPositive(op, previous, *attrs)))
    return failure();
  return replaceIfValid(op, rewriter, recreate(op, name, rewriter, *attrs));
}

LogicalResult downgradePlainly(Operation *op, PatternRewriter &rewriter) { return downgradeStep(op, rewriter); }

LogicalResult replaceByPrevious(Operation *op, RewriterBase &rewriter, ArrayRef<Value> inputs,
                                ArrayRef<StringRef> dropped, ArrayRef<NamedAttribute> added) {
  int64_t previous = getPreviousVersion(op);
  SmallVector<NamedAttribute> attrs = changedAttributes(op, dropped, added);
  if (failed(makeAxesPositive(op, previous, attrs)))
    return failure();
  return replaceIfValid(op, rewriter, createSibling(op, rewriter, previous, inputs, attrs));
}

Value getFormalInput(Operation *op, unsigned index) {
  OperandRange group = cast<VersionedOpInterface>(op).getInputGroup(index);
  return group.empty() ? Value() : group.front();
}

FailureOr<SmallVector<int64_t>> requireIntegers(Operation *op, unsigned input) {
  if (auto elements = getIntegers(getConstant(getFormalInput(op, input))))
    return *elements;
  return refuseDowngrade(op) << "'" << signatureOf(op->getName()).inputs[input].name
                             << "' is a run-time input, there an attribute",
         failure();
}

LogicalResult inputToList(Operation *op, RewriterBase &rewriter, StringRef name, ArrayRef<StringRef> dropped) {
  SmallVector<NamedAttribute, 1> added;
  if (getFormalInput(op, 1)) {
    FailureOr<SmallVector<int64_t>> list = requireIntegers(op, 1);
    if (failed(list))
      return failure();
    if (!list->empty())
      added.push_back(rewriter.getNamedAttr(name, rewriter.getDenseI64ArrayAttr(*list)));
  }
  return replaceByPrevious(op, rewriter, getFormalInput(op, 0), dropped, added);
}

} // namespace strata
