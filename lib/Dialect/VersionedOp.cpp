//===- VersionedOp.cpp - verifier, parser and printer of versioned ops ----===//

#include "Dialect/VersionedOp.h"
#include "Dialect/FormalParameters.h"
#include "Dialect/ONNX/IR/ElementKinds.h"
#include "Dialect/OpBehavior.h"
#include "Dialect/StatedRules.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace strata {

#include "Dialect/VersionedOpInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Signatures and behaviours
//===----------------------------------------------------------------------===//

static SmallVector<Formal, 4> parseFormals(StringRef text) {
  SmallVector<Formal, 4> formals;
  for (text = text.trim(); !text.empty();) {
    Formal formal;
    formal.name = text.take_while([](char c) { return c != ':' && !StringRef("?*+~").contains(c); });
    text = text.drop_front(formal.name.size());
    for (; text.front() != ':'; text = text.drop_front()) {
      formal.optional |= text.front() == '?';
      formal.variadic |= text.front() == '*' || text.front() == '+';
      formal.atLeastOne |= text.front() == '+';
      formal.heterogeneous |= text.front() == '~';
    }
    text = text.drop_front();
    // Up to the next comma outside of parentheses: `map(int64,tensor(float))` is one type.
    size_t end = 0;
    for (int nesting = 0; end < text.size() && (nesting > 0 || text[end] != ','); ++end)
      nesting += (text[end] == '(') - (text[end] == ')');
    formal.type = text.take_front(end);
    formals.push_back(formal);
    text = text.drop_front(end).ltrim(", ");
  }
  return formals;
}

Signature Signature::parse(StringRef text) {
  auto [inputs, outputs] = text.split(") -> (");
  return {parseFormals(inputs.drop_front()), parseFormals(outputs.drop_back())};
}

StringRef getUnversionedName(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return name.take_front(name.rfind('_'));
}

const OpBehavior &OperatorSet::lookup(StringRef name) const {
  static const OpBehavior none;
  auto found = behaviors.find(name);
  return found == behaviors.end() ? none : found->second;
}

const OpBehavior &getBehavior(Operation *op) {
  static const OpBehavior none;
  Dialect *dialect = op->getDialect();
  const OperatorSet *set = dialect ? dialect->getRegisteredInterface<OperatorSet>() : nullptr;
  return set ? set->lookup(getUnversionedName(op)) : none;
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

// Values of one type variable have one type, up to their shapes.
static LogicalResult verifyTypeVariables(VersionedOpInterface op, const Signature &signature) {
  llvm::DenseMap<StringRef, std::pair<Type, StringRef>> bound;
  auto check = [&](const Formal &formal, ValueRange values) -> LogicalResult {
    if (!formal.isTypeVariable() || formal.heterogeneous)
      return success();
    for (Value value : values) {
      Type type = eraseShape(value.getType());
      auto [it, isNew] = bound.try_emplace(formal.type, type, formal.name);
      if (!isNew && it->second.first != type)
        return op->emitOpError("'") << formal.name << "' is " << onnx::getTypeString(type) << " and '"
                                    << it->second.second << "' is " << onnx::getTypeString(it->second.first)
                                    << ", but both are of type " << formal.type;
    }
    return success();
  };
  for (auto [i, formal] : llvm::enumerate(signature.inputs))
    if (failed(check(formal, op.getInputGroup(i))))
      return failure();
  if (isBeforeInference())
    return success();
  for (auto [i, formal] : llvm::enumerate(signature.outputs))
    if (failed(check(formal, op.getOutputGroup(i))))
      return failure();
  return success();
}

static LogicalResult verifyAttributeNames(Operation *op) {
  for (NamedAttribute attr : op->getDiscardableAttrs()) {
    if (attr.getName().getValue().contains('.'))
      continue; // A dialect's annotation.
    InFlightDiagnostic error = op->emitOpError("has no attribute '") << attr.getName().getValue() << "'";
    auto names = llvm::make_filter_range(op->getName().getRegisteredInfo()->getAttributeNames(),
                                         [](StringAttr name) { return !name.getValue().ends_with("SegmentSizes"); });
    if (names.empty())
      return error << "; it has none";
    error << "; it has ";
    llvm::interleaveComma(names, error, [&](StringAttr name) { error << "'" << name.getValue() << "'"; });
    return error;
  }
  return success();
}

LogicalResult verifyVersionedOp(Operation *op) {
  auto versioned = cast<VersionedOpInterface>(op);
  const Signature &signature = versioned.getSignature();
  for (auto [i, formal] : llvm::enumerate(signature.inputs))
    if (formal.atLeastOne && versioned.getInputGroup(i).empty())
      return op->emitOpError("needs at least one '") << formal.name << "'";
  for (auto [i, formal] : llvm::enumerate(signature.outputs))
    if (formal.atLeastOne && versioned.getOutputGroup(i).empty())
      return op->emitOpError("needs at least one '") << formal.name << "'";
  if (failed(verifyAttributeNames(op)) || failed(verifyTypeVariables(versioned, signature)))
    return failure();
  if (failed(verifyStatedRules(op)))
    return failure();
  auto verify = getBehavior(op).verify;
  return verify ? verify(op) : success();
}

//===----------------------------------------------------------------------===//
// Custom assembly: onnx.Clip_13(%x, none, %max) {...} : (T, none, T) -> T
//===----------------------------------------------------------------------===//

static bool needsSegments(ArrayRef<Formal> formals) {
  return llvm::count_if(formals, [](const Formal &f) { return f.optional || f.variadic; }) > 1;
}

// `present[i]`: whether the i-th written value is there. Values past the last formal belong to it (it is variadic).
static LogicalResult addSegments(OperationState &state, ArrayRef<Formal> formals, ArrayRef<bool> present,
                                 StringRef attribute, StringRef what, function_ref<InFlightDiagnostic()> emitError) {
  bool isOpen = !formals.empty() && formals.back().variadic;
  if ((!isOpen && present.size() > formals.size()) || present.size() < countNeeded(formals))
    return emitError() << "has " << present.size() << " " << what << (present.size() == 1 ? "" : "s") << "; "
                       << describe(formals, what);
  SmallVector<int32_t> segments(formals.size(), 0);
  for (auto [i, there] : llvm::enumerate(present)) {
    const Formal &formal = formals[std::min(i, formals.size() - 1)];
    if (there)
      ++segments[std::min(i, formals.size() - 1)];
    else if (!formal.optional)
      return emitError() << what << " #" << i << " '" << formal.name << "' may not be absent; "
                         << describe(formals, what);
  }
  if (needsSegments(formals))
    state.addAttribute(attribute, Builder(state.getContext()).getDenseI32ArrayAttr(segments));
  return success();
}

ParseResult parseVersionedOp(OpAsmParser &parser, OperationState &state, const Signature &signature) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<bool> presentOperands, presentResults;
  auto parseOperand = [&]() -> ParseResult {
    bool absent = succeeded(parser.parseOptionalKeyword("none"));
    presentOperands.push_back(!absent);
    return absent ? ParseResult(success()) : parser.parseOperand(operands.emplace_back());
  };
  SMLoc loc = parser.getCurrentLocation();
  FunctionType type;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOperand) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  auto emitError = [&] { return parser.emitError(loc); };
  // Creation would drop an attribute of another kind. The parser's errors begin with the op's name.
  if (failed(state.name.verifyInherentAttrs(state.attributes, emitError)))
    return failure();
  while (succeeded(parser.parseOptionalKeyword("graph")))
    if (parser.parseRegion(*state.addRegion()))
      return failure();
  if (parser.parseColonType(type))
    return failure();
  if (type.getNumInputs() != presentOperands.size())
    return parser.emitError(loc) << presentOperands.size() << " operands, but " << type.getNumInputs() << " types";

  SmallVector<Type> operandTypes;
  for (auto [there, operandType] : llvm::zip_equal(presentOperands, type.getInputs())) {
    if (there == isa<NoneType>(operandType))
      return parser.emitError(loc, "an absent operand has the type none");
    if (there)
      operandTypes.push_back(operandType);
  }
  for (Type result : type.getResults()) {
    presentResults.push_back(!isa<NoneType>(result));
    if (presentResults.back())
      state.addTypes(result);
  }
  if (failed(addSegments(state, signature.inputs, presentOperands, "operandSegmentSizes", "operand", emitError)) ||
      failed(addSegments(state, signature.outputs, presentResults, "resultSegmentSizes", "result", emitError)))
    return failure();
  return parser.resolveOperands(operands, operandTypes, loc, state.operands);
}

void printVersionedOp(OpAsmPrinter &printer, Operation *op) {
  auto versioned = cast<VersionedOpInterface>(op);
  const Signature &signature = versioned.getSignature();
  // What is absent is written only in front of something that is there.
  SmallVector<Value> inputs, outputs;
  auto collect = [](ArrayRef<Formal> formals, auto group, SmallVectorImpl<Value> &out) {
    size_t used = 0;
    for (unsigned i = 0; i < formals.size(); ++i) {
      ValueRange values = group(i);
      if (values.empty() && !formals[i].variadic)
        out.push_back({});
      llvm::append_range(out, values);
      if (!values.empty())
        used = out.size();
    }
    out.resize(used);
  };
  collect(signature.inputs, [&](unsigned i) { return versioned.getInputGroup(i); }, inputs);
  collect(signature.outputs, [&](unsigned i) { return versioned.getOutputGroup(i); }, outputs);

  printer << '(';
  llvm::interleaveComma(inputs, printer, [&](Value value) {
    if (value)
      printer << value;
    else
      printer << "none";
  });
  printer << ')';
  printer.printOptionalAttrDict(op->getAttrs(), {"operandSegmentSizes", "resultSegmentSizes"});
  for (Region &region : op->getRegions()) {
    printer << " graph ";
    printer.printRegion(region);
  }
  auto typeOf = [&](Value value) -> Type { return value ? value.getType() : NoneType::get(op->getContext()); };
  printer << " : "
          << FunctionType::get(op->getContext(), llvm::map_to_vector(inputs, typeOf),
                               llvm::map_to_vector(outputs, typeOf));
}

} // namespace strata
