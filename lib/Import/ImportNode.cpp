//===- ImportNode.cpp - NodeProto to an op, or to a function's body -------===//

#include "Dialect/FormalParameters.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OperatorSets.h"
#include "GraphImporter.h"
#include "mlir/IR/Verifier.h"

using namespace llvm;
using namespace mlir;
using ::onnx::AttributeProto;
using ::onnx::NodeProto;

namespace strata::importer {

/// A model whose functions call each other too often would otherwise grow without bound.
static constexpr uint64_t kMostNodes = 1'000'000;
static constexpr unsigned kDeepestCalls = 64;

/// Names without the empty ones at the end, which say nothing.
static SmallVector<StringRef> trimmed(const google::protobuf::RepeatedPtrField<std::string> &names) {
  SmallVector<StringRef> result(names.begin(), names.end());
  while (!result.empty() && result.back().empty())
    result.pop_back();
  return result;
}

/// `Conv-11`, `com.acme::Gelu-1`.
static std::string operatorText(const NodeProto &node, std::optional<int64_t> version) {
  std::string text = node.domain().empty() ? node.op_type() : node.domain() + "::" + node.op_type();
  return version ? text + "-" + std::to_string(*version) : text;
}

/// A node without a name is called after its operator and first output. The names of the op's results are the child.
static Location nodeLocation(const NodeProto &node, ArrayRef<StringRef> results, const Frame &frame, Builder builder) {
  SmallVector<Location> names;
  for (StringRef result : results)
    names.push_back(NameLoc::get(builder.getStringAttr(result)));
  std::string name = frame.prefix + node.name();
  if (node.name().empty())
    name += node.op_type() + ":" + (results.empty() ? "" : results.front().str());
  Location child = names.empty()       ? Location(UnknownLoc::get(builder.getContext()))
                   : names.size() == 1 ? names.front()
                                       : FusedLoc::get(builder.getContext(), names);
  return NameLoc::get(builder.getStringAttr(name), child);
}

LogicalResult GraphImporter::importNode(const NodeProto &node, size_t index, Scope &scope, const Trace &graphTrace) {
  std::string where = "node " + std::to_string(index);
  if (!node.name().empty())
    where += " '" + node.name() + "'";
  Location location = nodeLocation(node, trimmed(node.output()), scope.frame, builder);
  StringRef domain = normalizeDomain(node.domain());

  Trace unversioned(graphTrace, where + " (" + operatorText(node, std::nullopt) + ")", location);
  LocalFunction *function = findFunction(node);
  ++importedNodes;
  if (importedNodes + (function ? countNodes(*function, 0) : 0) > kMostNodes)
    return unversioned.error() << "the model has more than " << kMostNodes << " nodes";
  if (node.op_type().empty())
    return unversioned.error() << "has no operator";
  if (function)
    return importCall(node, *function, scope, unversioned);

  auto opset = scope.frame.opsets->find(domain);
  if (opset == scope.frame.opsets->end())
    return unversioned.error() << "its domain '" << domain << "' is not among the opset imports";
  int64_t version = opset->second;
  OperatorLookup found = lookupOperator(context, domain, node.op_type(), version);
  // Versions of the others' operators are those of their own specifications, not of the domain in ONNX.
  if (!isStandardDomain(domain) && !found.versions.empty())
    found = lookupOperator(context, domain, node.op_type(), found.versions.back());
  if (found.name) {
    auto *op = found.name->getInterface<VersionedOpInterface>();
    Trace trace(graphTrace, where + " (" + operatorText(node, op->getSinceVersion()) + ")", location);
    if (op->isDeprecated())
      return trace.error() << "the operator is deprecated since opset " << op->getSinceVersion()
                           << " and not part of opset " << version;
    return importOperator(node, *found.name, scope, trace);
  }
  if (!found.versions.empty())
    return unversioned.error() << "the operator begins with opset " << found.versions.front() << " of '" << domain
                               << "', the model imports opset " << version;
  if (isStandardDomain(domain)) {
    InFlightDiagnostic error = unversioned.error() << "'" << domain << "' has no such operator";
    if (int64_t newest = getNewestOpset(domain); version > newest)
      error << " up to opset " << newest << ", the newest known; the model imports opset " << version;
    return error;
  }
  return importCustom(node, version, scope,
                      Trace(graphTrace, where + " (" + operatorText(node, version) + ")", location));
}

//===----------------------------------------------------------------------===//
// Known operators
//===----------------------------------------------------------------------===//

/// Distributes `names` over formal parameters: how many values each gets. Present names are appended to `present`.
static FailureOr<SmallVector<int32_t>> assign(ArrayRef<StringRef> names, ArrayRef<Formal> formals, StringRef what,
                                              bool namesMayBeEmpty, SmallVectorImpl<StringRef> &present,
                                              const Trace &trace) {
  size_t least = countNeeded(formals);
  bool open = !formals.empty() && formals.back().variadic;
  if (names.size() < least || (!open && names.size() > formals.size()))
    return trace.error() << "has " << names.size() << " " << what << (names.size() == 1 ? "" : "s") << "; "
                         << describe(formals, what),
           failure();
  SmallVector<int32_t> sizes(formals.size(), 0);
  for (auto [i, name] : llvm::enumerate(names)) {
    size_t k = std::min<size_t>(i, formals.size() - 1);
    if (name.empty() && formals[k].optional)
      continue;
    if (name.empty() && !namesMayBeEmpty)
      return trace.error() << what << " #" << i << " '" << formals[k].name << "' may not be absent; "
                           << describe(formals, what),
             failure();
    ++sizes[k];
    present.push_back(name);
  }
  return sizes;
}

static bool needsSegments(ArrayRef<Formal> formals) {
  return llvm::count_if(formals, [](const Formal &f) { return f.optional || f.variadic; }) > 1;
}

/// Types for the arguments of a graph attribute that does not declare them.
static SmallVector<Type> bodyArgumentTypes(StringRef op, ValueRange operands, ArrayRef<int32_t> segments,
                                           MLIRContext *context) {
  SmallVector<Type> types;
  Builder b(context);
  if (op == "Loop") {
    types = {RankedTensorType::get({}, b.getI64Type()), RankedTensorType::get({}, b.getI1Type())};
    operands = operands.drop_front(segments[0] + segments[1]);
  }
  for (Value operand : operands) {
    Type type = operand.getType();
    if (auto seq = dyn_cast<onnx::SeqType>(type); seq && op == "SequenceMap")
      type = seq.getElement();
    types.push_back(op == "SequenceMap" ? type : eraseShape(type));
  }
  return types;
}

LogicalResult GraphImporter::addDocumentation(const NodeProto &node, OperationState &state, const Trace &trace) {
  if (!node.doc_string().empty())
    state.addAttribute("onnx.doc_string", builder.getStringAttr(node.doc_string()));
  FailureOr<DictionaryAttr> metadata = importMetadata(node.metadata_props(), trace);
  if (failed(metadata))
    return failure();
  if (*metadata)
    state.addAttribute("onnx.metadata_props", *metadata);
  return success();
}

/// The inputs of a node; absent ones are empty.
static SmallVector<StringRef> inputsOf(const NodeProto &node, const Scope &scope) {
  SmallVector<StringRef> inputs(node.input().begin(), node.input().end());
  for (StringRef &input : inputs)
    if (scope.isAbsent(input))
      input = "";
  while (!inputs.empty() && inputs.back().empty())
    inputs.pop_back();
  return inputs;
}

LogicalResult GraphImporter::importOperator(const NodeProto &node, RegisteredOperationName name, Scope &scope,
                                            const Trace &trace) {
  const Signature &signature = name.getInterface<VersionedOpInterface>()->getSignature();
  SmallVector<StringRef> inputs, outputs;
  auto inputSizes = assign(inputsOf(node, scope), signature.inputs, "input", /*namesMayBeEmpty=*/false, inputs, trace);
  if (failed(inputSizes))
    return failure();
  auto outputSizes =
      assign(trimmed(node.output()), signature.outputs, "output", /*namesMayBeEmpty=*/true, outputs, trace);
  if (failed(outputSizes))
    return failure();

  OperationState state(nodeLocation(node, outputs, scope.frame, builder), name);
  for (StringRef input : inputs) {
    Value value = scope.lookup(input);
    if (!value)
      return trace.error() << "input '" << input << "' is not defined in this graph or one around it";
    state.operands.push_back(value);
  }
  if (needsSegments(signature.inputs))
    state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(*inputSizes));
  if (needsSegments(signature.outputs))
    state.addAttribute("resultSegmentSizes", builder.getDenseI32ArrayAttr(*outputSizes));

  ArrayRef<StringLiteral> graphNames = getGraphAttributes(node.op_type());
  SmallVector<const proto::GraphProto *> graphs(graphNames.size(), nullptr);
  SmallVector<StringRef> subgraphNames(graphNames.size(), "");
  llvm::StringSet<> seen;
  for (const AttributeProto &written : node.attribute()) {
    Trace attributeTrace(trace, "attribute '" + written.name() + "'");
    if (written.name().empty())
      return trace.error() << "an attribute without a name";
    if (!seen.insert(written.name()).second)
      return attributeTrace.error() << "occurs twice";
    FailureOr<const AttributeProto *> attribute = resolve(written, scope.frame, attributeTrace);
    if (failed(attribute))
      return failure();
    if (!*attribute)
      continue;
    if (auto graph = llvm::find(graphNames, written.name()); graph != graphNames.end()) {
      if (kindOf(**attribute) != AttributeProto::GRAPH)
        return attributeTrace.error() << "is not a graph";
      if (*attribute != &written)
        return attributeTrace.error() << "a graph cannot be passed to a function";
      graphs[graph - graphNames.begin()] = &written.g();
      subgraphNames[graph - graphNames.begin()] = written.g().name();
      continue;
    }
    // A name of the op's own, not of the operator.
    StringRef name = getOpAttributeName(node.op_type(), written.name());
    if (name == "operandSegmentSizes" || name == "resultSegmentSizes" || name.contains('.'))
      return attributeTrace.error() << "is not an attribute of the operator";
    FailureOr<Attribute> value = importAttribute(**attribute, attributeTrace);
    if (failed(value))
      return failure();
    state.addAttribute(name, *value);
  }
  if (!graphNames.empty())
    state.addAttribute("onnx.graph_names", builder.getStrArrayAttr(subgraphNames));
  if (failed(state.name.verifyInherentAttrs(state.attributes, [&] { return trace.error(); })))
    return failure();

  for (auto [name, graph] : llvm::zip_equal(graphNames, graphs)) {
    Region *region = state.addRegion();
    if (graph && failed(importSubgraph(*graph, *region, scope,
                                       bodyArgumentTypes(node.op_type(), state.operands, *inputSizes, context),
                                       Trace(trace, "attribute '" + name + "'"))))
      return failure();
  }
  if (failed(addDocumentation(node, state, trace)))
    return failure();

  // Inference starts from what the model says of elements.
  for (StringRef output : outputs) {
    FailureOr<Type> declared = declaredType(output, scope, trace);
    if (failed(declared))
      return failure();
    state.types.push_back(*declared ? eraseShape(*declared) : Type(builder.getNoneType()));
  }
  Operation *op = builder.create(state);
  if (failed(inferTypes(op, outputs, scope, trace)))
    return failure();
  for (auto [result, name] : llvm::zip_equal(op->getResults(), outputs))
    if (!name.empty() && failed(defineResult(result, name, scope, trace)))
      return failure();
  return success();
}

/// Runs `action` with its diagnostics prefixed by the place in the model.
static LogicalResult withTrace(const Trace &trace, Operation *op, llvm::function_ref<LogicalResult()> action) {
  std::string prefix = ("'" + op->getName().getStringRef() + "' op ").str();
  ScopedDiagnosticHandler handler(trace.getContext(), [&](Diagnostic &diagnostic) {
    std::string text = diagnostic.str();
    StringRef rest = text;
    if (rest.consume_front(prefix) || diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      Diagnostic located(diagnostic.getLocation(), diagnostic.getSeverity());
      located << trace.path() << ": " << rest;
      for (Diagnostic &note : diagnostic.getNotes())
        if (!StringRef(note.str()).starts_with("see current operation"))
          located.attachNote(note.getLocation()) << note.str();
      diagnostic = std::move(located);
    }
    return failure(); // On to the handler outside.
  });
  return action();
}

LogicalResult GraphImporter::inferTypes(Operation *op, ArrayRef<StringRef> names, const Scope &scope,
                                        const Trace &trace) {
  return withTrace(trace, op, [&]() -> LogicalResult {
    // Rules of inference rely on operands and attributes being those of the operator.
    if (failed(verifyBeforeInference(op)))
      return failure();
    SmallVector<Type> types;
    {
      ShapeContext shapes(op, values);
      if (failed(cast<TypeInferenceInterface>(op).inferResultTypes(shapes)))
        return failure();
      types.assign(shapes.getResultTypes().begin(), shapes.getResultTypes().end());
    }
    for (auto [i, type] : llvm::enumerate(types)) {
      if (isa<NoneType>(type))
        return op->emitOpError("the type of output '")
               << names[i] << "' cannot be inferred, and the model does not declare it";
      op->getResult(i).setType(type);
    }
    // Not mlir::verify: it also looks at dominance, which needs the enclosing op of a subgraph, still to be made.
    return op->getName().verifyInvariants(op);
  });
}

FailureOr<Type> GraphImporter::declaredType(StringRef name, const Scope &scope, const Trace &trace) {
  const proto::TypeProto *declared = name.empty() ? nullptr : scope.declared.lookup(name);
  if (!declared)
    return Type();
  return importType(*declared, Trace(trace, "declared type of '" + name + "'"));
}

LogicalResult GraphImporter::defineResult(Value value, StringRef name, Scope &scope, const Trace &trace) {
  FailureOr<Type> declared = declaredType(name, scope, trace);
  if (failed(declared))
    return failure();
  Type inferred = value.getType();
  if (*declared && *declared != inferred) {
    Type merged = mergeTypes(inferred, *declared);
    if (!merged && eraseShape(inferred) != eraseShape(*declared))
      return trace.error() << "output '" << name << "' is declared as " << *declared << ", but is " << inferred;
    if (!merged) {
      trace.warning() << "output '" << name << "' is declared as " << *declared << ", but is " << inferred
                      << "; the declaration is ignored";
    } else if (merged != inferred) {
      // Only what the model claims and inference cannot confirm: checked at run time.
      auto location =
          NameLoc::get(cast<NameLoc>(trace.getLocation()).getName(), NameLoc::get(builder.getStringAttr(name)));
      value = builder.create<onnx::CastShapeOp>(location, merged, value);
    }
  }
  return define(scope, name, value, trace);
}

//===----------------------------------------------------------------------===//
// Unknown domains
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::importCustom(const NodeProto &node, int64_t opset, Scope &scope, const Trace &trace) {
  SmallVector<Value> operands;
  SmallVector<bool> present;
  for (StringRef input : inputsOf(node, scope)) {
    present.push_back(!input.empty());
    if (input.empty())
      continue;
    Value value = scope.lookup(input);
    if (!value)
      return trace.error() << "input '" << input << "' is not defined in this graph or one around it";
    operands.push_back(value);
  }
  OperationState state(trace.getLocation(), onnx::CustomOp::getOperationName());
  state.addOperands(operands);
  state.addAttribute("domain", builder.getStringAttr(node.domain()));
  state.addAttribute("op_type", builder.getStringAttr(node.op_type()));
  state.addAttribute("opset", builder.getI64IntegerAttr(opset));
  if (!llvm::all_of(present, [](bool there) { return there; }))
    state.addAttribute("present", builder.getDenseBoolArrayAttr(present));

  NamedAttrList attributes;
  SmallVector<StringRef> graphNames, subgraphNames;
  for (const AttributeProto &written : node.attribute()) {
    Trace attributeTrace(trace, "attribute '" + written.name() + "'");
    if (written.name().empty())
      return trace.error() << "an attribute without a name";
    if (attributes.get(written.name()) || llvm::is_contained(graphNames, written.name()))
      return attributeTrace.error() << "occurs twice";
    FailureOr<const AttributeProto *> attribute = resolve(written, scope.frame, attributeTrace);
    if (failed(attribute))
      return failure();
    if (!*attribute)
      continue;
    if (kindOf(**attribute) == AttributeProto::GRAPH && *attribute == &written) {
      graphNames.push_back(written.name());
      subgraphNames.push_back(written.g().name());
      if (failed(importSubgraph(written.g(), *state.addRegion(), scope, {}, attributeTrace)))
        return failure();
      continue;
    }
    FailureOr<Attribute> value = importAttribute(**attribute, attributeTrace);
    if (failed(value))
      return failure();
    attributes.append(written.name(), *value);
  }
  if (!attributes.empty())
    state.addAttribute("node_attributes", attributes.getDictionary(context));
  if (!graphNames.empty()) {
    state.addAttribute("onnx.graphs", builder.getStrArrayAttr(graphNames));
    state.addAttribute("onnx.graph_names", builder.getStrArrayAttr(subgraphNames));
  }
  if (failed(addDocumentation(node, state, trace)))
    return failure();

  SmallVector<StringRef> outputs = trimmed(node.output());
  for (StringRef output : outputs) {
    FailureOr<Type> declared = declaredType(output, scope, trace);
    if (failed(declared))
      return failure();
    if (!output.empty() && !*declared)
      return trace.error() << "the operator is not known, nor does the model declare the type of its output '" << output
                           << "' (value_info); " << describeForeign(node.domain());
    state.types.push_back(output.empty() ? Type(builder.getNoneType()) : *declared);
  }
  Operation *op = builder.create(state);
  for (auto [result, name] : llvm::zip_equal(op->getResults(), outputs))
    if (!name.empty() && failed(define(scope, name, result, trace)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Model-local functions
//===----------------------------------------------------------------------===//

LocalFunction *GraphImporter::findFunction(const NodeProto &node) {
  auto found = functions.find((normalizeDomain(node.domain()) + "::" + node.op_type() + ":" + node.overload()).str());
  return found == functions.end() ? nullptr : &found->second;
}

uint64_t GraphImporter::countNodes(LocalFunction &function, unsigned depth) {
  if (depth == kDeepestCalls)
    return 0;
  if (!function.nodes) {
    function.nodes = 0; // for calls of itself
    function.nodes = countNodes(function.proto->node(), depth + 1);
  }
  return *function.nodes;
}

uint64_t GraphImporter::countNodes(const google::protobuf::RepeatedPtrField<NodeProto> &nodes, unsigned depth) {
  uint64_t count = nodes.size();
  for (const NodeProto &node : nodes) {
    for (const AttributeProto &attribute : node.attribute()) {
      count += countNodes(attribute.g().node(), depth);
      for (const proto::GraphProto &graph : attribute.graphs())
        count += countNodes(graph.node(), depth);
    }
    if (LocalFunction *function = findFunction(node))
      count += countNodes(*function, depth);
    count = std::min(count, kMostNodes + 1);
  }
  return count;
}

LogicalResult GraphImporter::importCall(const NodeProto &node, const LocalFunction &callee, Scope &scope,
                                        const Trace &trace) {
  const proto::FunctionProto &function = *callee.proto;
  unsigned depth = 0;
  for (const Frame *frame = &scope.frame; frame; frame = frame->outer) {
    if (frame->function == &function)
      return trace.error() << "function '" << function.name() << "' calls itself";
    if (++depth > kDeepestCalls)
      return trace.error() << "function calls are nested deeper than " << kDeepestCalls << " levels";
  }
  Frame frame;
  frame.outer = &scope.frame;
  frame.function = &function;
  frame.opsets = &callee.opsets;
  frame.prefix = (cast<NameLoc>(trace.getLocation()).getName().getValue() + "/").str();

  for (const std::string &name : function.attribute())
    frame.attributes[name] = nullptr;
  for (const AttributeProto &attribute : function.attribute_proto())
    frame.attributes[attribute.name()] = &attribute;
  llvm::StringSet<> given; // A call may leave any attribute out: nodes that refer to it then do without.
  for (const AttributeProto &written : node.attribute()) {
    Trace attributeTrace(trace, "attribute '" + written.name() + "'");
    if (!given.insert(written.name()).second)
      return attributeTrace.error() << "occurs twice";
    auto slot = frame.attributes.find(written.name());
    if (slot == frame.attributes.end())
      return attributeTrace.error() << "is not an attribute of function '" << function.name() << "'";
    FailureOr<const AttributeProto *> attribute = resolve(written, scope.frame, attributeTrace);
    if (failed(attribute))
      return failure();
    if (*attribute)
      slot->second = *attribute;
  }
  Trace body(trace, "function '" + function.name() + "'");
  Scope inner{nullptr, frame, {}, {}, {}};
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    return trace.error() << "has " << node.input_size() << " inputs and " << node.output_size()
                         << " outputs, the function takes at most " << function.input_size() << " and gives "
                         << function.output_size();
  for (auto [formal, name] : llvm::zip(function.input(), node.input())) {
    if (name.empty() || scope.isAbsent(name)) {
      inner.absent.insert(formal);
      continue;
    }
    Value value = scope.lookup(name);
    if (!value)
      return trace.error() << "input '" << name << "' is not defined in this graph or one around it";
    if (failed(define(inner, formal, value, body)))
      return failure();
  }
  // Inputs that the call leaves out are absent wherever the body uses them.
  for (int i = node.input_size(); i < function.input_size(); ++i)
    inner.absent.insert(function.input(i));
  for (const proto::ValueInfoProto &info : function.value_info())
    if (info.has_type())
      inner.declared[info.name()] = &info.type();
  if (failed(importNodes(function.node(), inner, body)))
    return failure();
  for (auto [formal, name] : llvm::zip(function.output(), node.output())) {
    if (name.empty())
      continue;
    Value value = inner.lookup(formal);
    if (!value)
      return body.error() << "output '" << formal << "' is not defined";
    if (failed(defineResult(value, name, scope, trace)))
      return failure();
  }
  return success();
}

} // namespace strata::importer
