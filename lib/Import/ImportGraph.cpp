//===- ImportGraph.cpp - GraphProto to a function or a region -------------===//

#include "Dialect/ONNX/IR/ONNXBase.h"
#include "GraphImporter.h"
#include "NodeOrder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ScopeExit.h"

using namespace llvm;
using namespace mlir;
using ::onnx::GraphProto;

namespace strata::importer {

/// Every level costs C++ stack here and in whatever walks the IR.
static constexpr unsigned kDeepestGraphs = 64;

LogicalResult GraphImporter::define(Scope &scope, StringRef name, Value value, const Trace &trace) {
  if (!scope.values.try_emplace(name, value).second)
    return trace.error() << "value '" << name << "' is defined twice";
  return success();
}

static bool hasType(const proto::ValueInfoProto &info) {
  return info.has_type() && info.type().value_case() != proto::TypeProto::VALUE_NOT_SET;
}

LogicalResult GraphImporter::declareValues(const GraphProto &graph, Scope &scope, const Trace &trace) {
  for (const auto &info : graph.value_info())
    if (hasType(info))
      scope.declared[info.name()] = &info.type();
  for (const auto &output : graph.output())
    if (hasType(output))
      scope.declared[output.name()] = &output.type();
  return success();
}

LogicalResult GraphImporter::importInitializers(const GraphProto &graph, Scope &scope, const Trace &trace) {
  auto create = [&](StringRef name, ElementsAttr value, const std::string &doc,
                    const Trace &trace) -> FailureOr<Operation *> {
    if (name.empty())
      return trace.error() << "has no name", failure();
    auto op = builder.create<onnx::InitializerOp>(NameLoc::get(builder.getStringAttr(name)), value);
    if (!doc.empty())
      op->setAttr("onnx.doc_string", builder.getStringAttr(doc));
    if (failed(define(scope, name, op->getResult(0), trace)))
      return failure();
    return op.getOperation();
  };
  for (const auto &initializer : graph.initializer()) {
    Trace tensorTrace(trace, "initializer '" + initializer.name() + "'");
    FailureOr<ElementsAttr> value = tensors.import(initializer, tensorTrace);
    if (failed(value) || failed(create(initializer.name(), *value, initializer.doc_string(), tensorTrace)))
      return failure();
  }
  for (const auto &initializer : graph.sparse_initializer()) {
    StringRef name = initializer.values().name();
    Trace tensorTrace(trace, "sparse initializer '" + name + "'");
    FailureOr<ElementsAttr> value = tensors.importDensified(initializer, tensorTrace);
    if (failed(value))
      return failure();
    FailureOr<Operation *> op = create(name, *value, initializer.values().doc_string(), tensorTrace);
    if (failed(op))
      return failure();
    bool linear = initializer.indices().dims_size() == 1;
    (*op)->setAttr("onnx.sparse", builder.getStringAttr(linear ? "linear" : "coordinates"));
  }
  return success();
}

LogicalResult GraphImporter::importNodes(const google::protobuf::RepeatedPtrField<proto::NodeProto> &nodes,
                                         Scope &scope, const Trace &trace) {
  FailureOr<SmallVector<int>> order =
      orderNodes(nodes, [&](StringRef name) { return scope.values.contains(name); }, trace);
  if (failed(order))
    return failure();
  for (int index : *order)
    if (failed(importNode(nodes[index], index, scope, trace)))
      return failure();
  return success();
}

FailureOr<SmallVector<Value>> GraphImporter::importOutputs(const GraphProto &graph, const Scope &scope,
                                                           const Trace &trace) {
  SmallVector<Value> outputs;
  for (auto [i, output] : llvm::enumerate(graph.output())) {
    Trace outputTrace(trace, "output " + Twine(i) + " '" + output.name() + "'");
    Value value = scope.lookup(output.name());
    if (!value)
      return outputTrace.error() << "is not defined", failure();
    FailureOr<Type> declared = declaredType(output.name(), scope, outputTrace);
    if (failed(declared))
      return failure();
    if (*declared && !mergeTypes(value.getType(), *declared)) {
      if (eraseShape(value.getType()) != eraseShape(*declared))
        return outputTrace.error() << "is declared as " << *declared << ", but is " << value.getType(), failure();
      if (!value.getDefiningOp()) // Results of nodes were looked at there.
        outputTrace.warning() << "is declared as " << *declared << ", but is " << value.getType()
                              << "; the declaration is ignored";
    }
    outputs.push_back(value);
  }
  return outputs;
}

FailureOr<Value> GraphImporter::addInput(const proto::ValueInfoProto &input, Type type, Block &block, Scope &scope,
                                         const Trace &trace) {
  Trace inputTrace(trace, "input '" + input.name() + "'");
  if (input.name().empty())
    return inputTrace.error() << "has no name", failure();
  if (hasType(input)) {
    FailureOr<Type> declared = importType(input.type(), inputTrace);
    if (failed(declared))
      return failure();
    type = *declared;
  }
  if (!type)
    return inputTrace.error() << "has no type", failure();
  Value argument = block.addArgument(type, NameLoc::get(builder.getStringAttr(input.name())));
  if (failed(define(scope, input.name(), argument, inputTrace)))
    return failure();
  return argument;
}

LogicalResult GraphImporter::importSubgraph(const GraphProto &graph, Region &region, const Scope &outer,
                                            ArrayRef<Type> argumentTypes, const Trace &parent) {
  Trace trace(parent, "graph '" + graph.name() + "'");
  if (graphDepth >= kDeepestGraphs)
    return trace.error() << "graphs are nested deeper than " << kDeepestGraphs << " levels";
  ++graphDepth;
  auto leave = llvm::make_scope_exit([&] { --graphDepth; });

  OpBuilder::InsertionGuard guard(builder);
  Block &block = region.emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  Scope scope{&outer, outer.frame, {}, {}, {}};
  if (failed(declareValues(graph, scope, trace)))
    return failure();
  for (auto [i, input] : llvm::enumerate(graph.input())) {
    Type given = i < argumentTypes.size() ? argumentTypes[i] : Type();
    FailureOr<Value> argument = addInput(input, given, block, scope, trace);
    if (failed(argument))
      return failure();
    // Exporters declare what a loop carries with the sizes of its first iteration: only the rank holds in all of them.
    auto declared = dyn_cast<RankedTensorType>(argument->getType());
    if (declared && isa_and_nonnull<UnrankedTensorType>(given))
      argument->setType(makeTensorType(Shape(declared.getRank()), declared.getElementType()));
  }
  if (failed(importInitializers(graph, scope, trace)) || failed(importNodes(graph.node(), scope, trace)))
    return failure();
  FailureOr<SmallVector<Value>> outputs = importOutputs(graph, scope, trace);
  if (failed(outputs))
    return failure();
  builder.create<onnx::YieldOp>(parent.getLocation(), *outputs);
  return success();
}

LogicalResult GraphImporter::importMain(const GraphProto &graph, const Frame &frame, ModuleOp module,
                                        const Trace &trace) {
  builder.setInsertionPointToEnd(module.getBody());
  auto function = builder.create<func::FuncOp>(UnknownLoc::get(context), "main", builder.getFunctionType({}, {}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  Scope scope{nullptr, frame, {}, {}, {}};
  if (failed(declareValues(graph, scope, trace)))
    return failure();

  llvm::StringSet<> constants;
  for (const auto &initializer : graph.initializer())
    constants.insert(initializer.name());
  for (const auto &initializer : graph.sparse_initializer())
    constants.insert(initializer.values().name());

  auto describe = [&](const proto::ValueInfoProto &info, const Trace &trace) -> FailureOr<DictionaryAttr> {
    NamedAttrList attrs;
    attrs.append("onnx.name", builder.getStringAttr(info.name()));
    if (!info.doc_string().empty())
      attrs.append("onnx.doc_string", builder.getStringAttr(info.doc_string()));
    if (!info.type().denotation().empty())
      attrs.append("onnx.denotation", builder.getStringAttr(info.type().denotation()));
    FailureOr<DictionaryAttr> metadata = importMetadata(info.metadata_props(), trace);
    if (failed(metadata))
      return failure();
    if (*metadata)
      attrs.append("onnx.metadata_props", *metadata);
    return attrs.getDictionary(context);
  };
  SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
  SmallVector<Attribute> inputOrder;
  for (const auto &input : graph.input()) {
    // Before IR version 4 every initializer is an input as well; later it may be, as a default. A constant either way.
    inputOrder.push_back(builder.getStringAttr(input.name()));
    if (constants.contains(input.name()))
      continue;
    FailureOr<Value> argument = addInput(input, {}, *block, scope, trace);
    FailureOr<DictionaryAttr> attrs = describe(input, Trace(trace, "input '" + input.name() + "'"));
    if (failed(argument) || failed(attrs))
      return failure();
    argumentAttrs.push_back(*attrs);
  }
  if (failed(importInitializers(graph, scope, trace)))
    return failure();
  for (const auto &input : graph.input()) {
    if (!constants.contains(input.name()) || !hasType(input))
      continue;
    Trace inputTrace(trace, "input '" + input.name() + "'");
    FailureOr<Type> declared = importType(input.type(), inputTrace);
    if (failed(declared))
      return failure();
    Type type = scope.lookup(input.name()).getType();
    if (!mergeTypes(type, *declared))
      return inputTrace.error() << "is declared as " << *declared << ", but its initializer is " << type;
  }
  if (failed(importNodes(graph.node(), scope, trace)))
    return failure();
  FailureOr<SmallVector<Value>> outputs = importOutputs(graph, scope, trace);
  if (failed(outputs))
    return failure();
  llvm::StringSet<> names;
  for (const auto &output : graph.output()) {
    Trace outputTrace(trace, "output '" + output.name() + "'");
    if (!names.insert(output.name()).second)
      return outputTrace.error() << "occurs twice";
    FailureOr<DictionaryAttr> attrs = describe(output, outputTrace);
    if (failed(attrs))
      return failure();
    resultAttrs.push_back(*attrs);
  }
  builder.create<func::ReturnOp>(UnknownLoc::get(context), *outputs);
  function.setType(builder.getFunctionType(block->getArgumentTypes(), TypeRange(ValueRange(*outputs))));
  function.setAllArgAttrs(argumentAttrs);
  function.setAllResultAttrs(resultAttrs);

  if (inputOrder.size() != argumentAttrs.size())
    function->setAttr("onnx.input_order", builder.getArrayAttr(inputOrder));
  if (!graph.doc_string().empty())
    function->setAttr("onnx.doc_string", builder.getStringAttr(graph.doc_string()));
  FailureOr<DictionaryAttr> metadata = importMetadata(graph.metadata_props(), trace);
  if (failed(metadata))
    return failure();
  if (*metadata)
    function->setAttr("onnx.metadata_props", *metadata);
  SmallVector<Attribute> annotations;
  for (const auto &annotation : graph.quantization_annotation()) {
    FailureOr<DictionaryAttr> parameters =
        importMetadata(annotation.quant_parameter_tensor_names(), Trace(trace, "quantization annotation"));
    if (failed(parameters))
      return failure();
    annotations.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("tensor", builder.getStringAttr(annotation.tensor_name())),
         builder.getNamedAttr("parameters", *parameters ? *parameters : builder.getDictionaryAttr({}))}));
  }
  if (!annotations.empty())
    function->setAttr("onnx.quantization_annotation", builder.getArrayAttr(annotations));
  return success();
}

} // namespace strata::importer
