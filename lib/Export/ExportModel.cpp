//===- ExportModel.cpp - modules of versioned ops to ModelProto -----------===//

#include "Dialect/ONNX/IR/ValueNames.h"
#include "Dialect/OperatorSets.h"
#include "Export/Export.h"
#include "ExportValues.h"
#include "Import/OperatorSpelling.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "onnx/defs/printer.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace mlir;

namespace strata {
namespace exporter {

namespace {
/// The opsets that an operator has one meaning in: from its since-version up to the next one (none: 0).
struct OpsetRange {
  int64_t first, next;
};

class ModelExporter {
public:
  ModelExporter(ModuleOp module, proto::ModelProto &model) : module(module), model(model) {}
  LogicalResult run();

private:
  LogicalResult chooseOpsets();
  LogicalResult exportMain(func::FuncOp function);
  LogicalResult exportBody(Block &block, proto::GraphProto &graph);
  LogicalResult exportNode(Operation *op, proto::GraphProto &graph);
  LogicalResult exportInitializer(onnx::InitializerOp op, proto::GraphProto &graph);
  LogicalResult exportValueInfo(Value value, StringRef name, proto::ValueInfoProto &out);
  LogicalResult addAttribute(Operation *op, StringRef name, Attribute value, proto::NodeProto &node);
  LogicalResult addOutput(Value value, StringRef name, proto::GraphProto &graph);
  void addMetadata(Attribute attr, google::protobuf::RepeatedPtrField<proto::StringStringEntryProto> &out);

  void reserve(StringRef name) { used.insert(name); }
  std::string unique(StringRef wish);
  /// Names that the model itself gives twice stay; ops that replace another one share its location.
  std::string nodeName(Location location);
  /// The name of a value, made at its definition.
  StringRef define(Value value, StringRef wish);
  StringRef nameOf(Value value);

  ModuleOp module;
  proto::ModelProto &model;
  llvm::DenseMap<Value, std::string> names;
  /// What the model's outputs are called.
  llvm::DenseMap<Value, std::string> outputNames;
  llvm::StringSet<> used, usedNodeNames;
  llvm::DenseSet<Location> nodeLocations;
};
} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static StringRef locationName(Location location) {
  auto name = dyn_cast<NameLoc>(location);
  return name ? name.getName().getValue() : StringRef();
}

std::string ModelExporter::unique(StringRef wish) {
  if (!wish.empty() && used.insert(wish).second)
    return wish.str();
  for (unsigned i = 0;; ++i)
    if (std::string name = (wish.empty() ? "v" : wish.str()) + "_" + std::to_string(i); used.insert(name).second)
      return name;
}

std::string ModelExporter::nodeName(Location location) {
  StringRef wish = locationName(location);
  std::string name = wish.str();
  bool isNew = nodeLocations.insert(location).second;
  for (unsigned i = 1; !usedNodeNames.insert(name).second && !isNew; ++i)
    name = (wish + "_" + Twine(i)).str();
  return name;
}

StringRef ModelExporter::define(Value value, StringRef wish) {
  if (auto output = outputNames.find(value); output != outputNames.end())
    return names[value] = output->second;
  return names[value] = unique(wish);
}

/// A cast of shapes has no form in ONNX: its result is its operand.
static Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<onnx::CastShapeOp>())
    value = cast.getInput();
  return value;
}

StringRef ModelExporter::nameOf(Value value) { return names.find(withoutCasts(value))->second; }

//===----------------------------------------------------------------------===//
// Opsets
//===----------------------------------------------------------------------===//

LogicalResult ModelExporter::chooseOpsets() {
  llvm::MapVector<StringRef, SmallVector<Operation *>> byDomain;
  llvm::MapVector<StringRef, int64_t> chosen;
  if (auto declared = module->getAttrOfType<DictionaryAttr>("onnx.opset_import"))
    for (NamedAttribute entry : declared)
      if (auto version = dyn_cast<IntegerAttr>(entry.getValue()))
        chosen[entry.getName().getValue()] = version.getInt();
  module.walk([&](Operation *op) {
    if (auto versioned = dyn_cast<VersionedOpInterface>(op)) {
      byDomain[versioned.getDomain()].push_back(op);
    } else if (auto custom = dyn_cast<onnx::CustomOp>(op)) {
      chosen.insert({normalizeDomain(custom.getDomain()), custom.getOpset().value_or(1)});
    }
  });
  for (auto &[domain, ops] : byDomain) {
    auto fits = [&](Operation *op, int64_t opset) {
      auto versioned = cast<VersionedOpInterface>(op);
      int64_t next = versioned.getNextVersion();
      return versioned.getSinceVersion() <= opset && (next == 0 || next > opset);
    };
    // What the module declares, if its ops are still of that opset; otherwise the oldest that has the newest of them.
    auto declared = chosen.find(domain);
    if (declared != chosen.end() && llvm::all_of(ops, [&](Operation *op) { return fits(op, declared->second); }))
      continue;
    Operation *newest = *llvm::max_element(ops, [](Operation *a, Operation *b) {
      return cast<VersionedOpInterface>(a).getSinceVersion() < cast<VersionedOpInterface>(b).getSinceVersion();
    });
    int64_t opset = cast<VersionedOpInterface>(newest).getSinceVersion();
    for (Operation *op : ops)
      if (!fits(op, opset)) {
        auto versioned = cast<VersionedOpInterface>(op);
        return op->emitOpError("cannot be exported together with '")
               << newest->getName() << "': in opset " << opset << " of '" << domain << "', "
               << versioned.getOperatorName() << " is that of version " << versioned.getNextVersion() << " or newer";
      }
    chosen[domain] = opset;
  }
  for (auto &[domain, version] : chosen) {
    auto *import = model.add_opset_import();
    import->set_domain(domain == "ai.onnx" ? "" : domain.str());
    import->set_version(version);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void ModelExporter::addMetadata(Attribute attr,
                                google::protobuf::RepeatedPtrField<proto::StringStringEntryProto> &out) {
  auto entries = dyn_cast_or_null<DictionaryAttr>(attr);
  if (!entries)
    return;
  for (NamedAttribute entry : entries) {
    auto value = dyn_cast<StringAttr>(entry.getValue());
    if (!value)
      continue;
    auto *added = out.Add();
    added->set_key(entry.getName().str());
    added->set_value(value.str());
  }
}

LogicalResult ModelExporter::addAttribute(Operation *op, StringRef name, Attribute value, proto::NodeProto &node) {
  auto *attribute = node.add_attribute();
  attribute->set_name(name.str());
  return exportAttribute(value, *attribute, [&] { return op->emitError() << "attribute '" << name << "': "; });
}

/// Writes one name per formal parameter, empty where it is absent, as far as anything is there.
static void addFormals(unsigned formals, llvm::function_ref<ValueRange(unsigned)> group,
                       llvm::function_ref<StringRef(Value)> nameOf,
                       google::protobuf::RepeatedPtrField<std::string> &out) {
  SmallVector<StringRef> written;
  size_t used = 0;
  for (unsigned i = 0; i < formals; ++i) {
    ValueRange values = group(i);
    if (values.empty())
      written.push_back("");
    for (Value value : values)
      written.push_back(nameOf(value));
    if (!values.empty())
      used = written.size();
  }
  for (StringRef name : ArrayRef(written).take_front(used))
    out.Add(name.str());
}

LogicalResult ModelExporter::exportNode(Operation *op, proto::GraphProto &graph) {
  auto versioned = dyn_cast<VersionedOpInterface>(op);
  auto custom = dyn_cast<onnx::CustomOp>(op);
  if (!versioned && !custom)
    return op->emitOpError("has no form in ONNX");
  auto &node = *graph.add_node();
  StringRef operatorName = versioned ? versioned.getOperatorName() : custom.getOpType();
  StringRef domain = versioned ? versioned.getDomain() : custom.getDomain();
  node.set_op_type(operatorName.str());
  if (domain != "ai.onnx")
    node.set_domain(domain.str());
  for (OpResult result : op->getResults())
    if (!isa<NoneType>(result.getType()))
      define(result, onnx::getValueName(result));
    else
      names[result] = "";

  StringRef first = op->getNumResults() ? onnx::getValueName(op->getResult(0)) : StringRef();
  if (StringRef name = locationName(op->getLoc()); !name.empty() && name != (operatorName + ":" + first).str())
    node.set_name(nodeName(op->getLoc()));
  auto use = [&](Value value) { return nameOf(value); };
  if (versioned) {
    const Signature &signature = versioned.getSignature();
    addFormals(
        signature.inputs.size(), [&](unsigned i) -> ValueRange { return versioned.getInputGroup(i); }, use,
        *node.mutable_input());
    addFormals(
        signature.outputs.size(), [&](unsigned i) -> ValueRange { return versioned.getOutputGroup(i); }, use,
        *node.mutable_output());
  } else {
    auto next = custom.getInputs().begin();
    ArrayRef<bool> present;
    if (auto flags = custom.getPresentAttr())
      present = flags.asArrayRef();
    for (bool there : present)
      node.add_input(there && next != custom.getInputs().end() ? nameOf(*next++).str() : "");
    for (; next != custom.getInputs().end(); ++next)
      node.add_input(nameOf(*next).str());
    for (Value output : custom.getOutputs())
      node.add_output(names[output]);
    for (NamedAttribute attr :
         custom.getNodeAttributesAttr() ? custom.getNodeAttributesAttr() : DictionaryAttr::get(op->getContext()))
      if (failed(addAttribute(op, attr.getName(), attr.getValue(), node)))
        return failure();
  }
  for (NamedAttribute attr : op->getAttrs()) {
    StringRef name = attr.getName();
    if (name == "onnx.doc_string") {
      if (auto doc = dyn_cast<StringAttr>(attr.getValue()))
        node.set_doc_string(doc.str());
    } else if (name == "onnx.metadata_props") {
      addMetadata(attr.getValue(), *node.mutable_metadata_props());
    } else if (versioned && !name.contains('.') && !name.ends_with("SegmentSizes")) {
      if (failed(addAttribute(op, getOnnxAttributeName(operatorName, name), attr.getValue(), node)))
        return failure();
    }
  }

  auto stringAt = [&](StringRef list, unsigned i) -> StringRef {
    auto array = op->getAttrOfType<ArrayAttr>(list);
    auto string = array && i < array.size() ? dyn_cast<StringAttr>(array[i]) : StringAttr();
    return string ? string.getValue() : StringRef();
  };
  for (auto [i, region] : llvm::enumerate(op->getRegions())) {
    if (region.empty())
      continue;
    ArrayRef<StringLiteral> known = getGraphAttributes(operatorName);
    StringRef name = versioned && i < known.size() ? StringRef(known[i]) : stringAt("onnx.graphs", i);
    auto *attribute = node.add_attribute();
    attribute->set_name(name.empty() ? "graph_" + std::to_string(i) : name.str());
    attribute->set_type(proto::AttributeProto::GRAPH);
    auto &body = *attribute->mutable_g();
    StringRef graphName = stringAt("onnx.graph_names", i);
    body.set_name(graphName.empty() ? attribute->name() : graphName.str());
    for (BlockArgument argument : region.getArguments())
      if (failed(exportValueInfo(argument, define(argument, locationName(argument.getLoc())), *body.add_input())))
        return failure();
    if (failed(exportBody(region.front(), body)))
      return failure();
    for (Value output : region.front().getTerminator()->getOperands())
      if (failed(addOutput(output, "", body)))
        return failure();
  }
  return success();
}

LogicalResult ModelExporter::exportInitializer(onnx::InitializerOp op, proto::GraphProto &graph) {
  std::string name = define(op.getResult(), onnx::getValueName(op->getResult(0))).str();
  auto error = [&] { return op->emitError() << "initializer '" << name << "': "; };
  StringRef doc;
  if (auto text = op->getAttrOfType<StringAttr>("onnx.doc_string"))
    doc = text;
  if (auto form = op->getAttrOfType<StringAttr>("onnx.sparse")) {
    auto &sparse = *graph.add_sparse_initializer();
    sparse.mutable_values()->set_name(name);
    if (!doc.empty())
      sparse.mutable_values()->set_doc_string(doc.str());
    return exportSparse(op.getValue(), form.getValue() == "linear", sparse, error);
  }
  auto &tensor = *graph.add_initializer();
  tensor.set_name(name);
  if (!doc.empty())
    tensor.set_doc_string(doc.str());
  return exportTensor(op.getValue(), tensor, error);
}

LogicalResult ModelExporter::exportBody(Block &block, proto::GraphProto &graph) {
  for (Operation &op : block.without_terminator()) {
    if (isa<onnx::CastShapeOp, onnx::RequireOp>(op)) // What they check has no form in ONNX.
      continue;
    auto initializer = dyn_cast<onnx::InitializerOp>(op);
    if (failed(initializer ? exportInitializer(initializer, graph) : exportNode(&op, graph)))
      return failure();
  }
  return success();
}

LogicalResult ModelExporter::exportValueInfo(Value value, StringRef name, proto::ValueInfoProto &out) {
  out.set_name(name.str());
  return exportType(value.getType(), *out.mutable_type(),
                    [&] { return emitError(value.getLoc()) << "value '" << name << "': "; });
}

/// No version of Identity takes sequences and optionals of the element types that came with version 13 and later.
static bool hasIdentity(Type type) {
  if (isa<TensorType>(type))
    return true;
  while (!isa<TensorType>(type)) {
    if (auto seq = dyn_cast<onnx::SeqType>(type))
      type = seq.getElement();
    else if (auto optional = dyn_cast<onnx::OptionalType>(type))
      type = optional.getElement();
    else
      return false;
  }
  Type element = cast<TensorType>(type).getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth() == 1 || integer.getWidth() >= 8;
  return isa<Float16Type, Float32Type, Float64Type, ComplexType, onnx::StringType>(element);
}

/// Adds a graph output of the wished name; an Identity where the value has another one.
LogicalResult ModelExporter::addOutput(Value value, StringRef name, proto::GraphProto &graph) {
  StringRef own = nameOf(value);
  auto taken = [&](StringRef output) {
    return llvm::any_of(graph.output(), [&](const auto &other) { return other.name() == output.str(); });
  };
  std::string written = name.empty() ? own.str() : name.str();
  bool isLocal =
      !name.empty() ||
      llvm::any_of(graph.node(), [&](const auto &node) { return llvm::is_contained(node.output(), own.str()); }) ||
      llvm::any_of(graph.input(), [&](const auto &input) { return input.name() == own.str(); }) ||
      llvm::any_of(graph.initializer(), [&](const auto &tensor) { return tensor.name() == own.str(); });
  // A value from outside of a body is named as it is if there is no other way.
  bool isNamedAsItIs = !isLocal && written == own && !taken(written) && !hasIdentity(value.getType());
  if (!isNamedAsItIs && (written != own || taken(written) || !isLocal)) {
    if (name.empty() || taken(written))
      written = unique(own);
    auto &node = *graph.add_node();
    node.set_op_type("Identity");
    node.add_input(own.str());
    node.add_output(written);
  }
  auto &info = *graph.add_output();
  if (failed(exportValueInfo(value, written, info)))
    return failure();
  // ONNX's shape inference gives the last of too many parts a negative size: sizes of ours would contradict it.
  if (auto split = value.getDefiningOp<VersionedOpInterface>();
      split && split.getOperatorName() == "Split" && &graph != model.mutable_graph())
    for (auto &dim : *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      dim.clear_dim_value();
  return success();
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

LogicalResult ModelExporter::exportMain(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("is not a graph");
  auto &graph = *model.mutable_graph();
  auto stringAttr = [](DictionaryAttr attrs, StringRef name) -> StringRef {
    auto attr = attrs ? attrs.getAs<StringAttr>(name) : StringAttr();
    return attr ? attr.getValue() : StringRef();
  };
  auto describe = [&](DictionaryAttr attrs, proto::ValueInfoProto &info) {
    if (StringRef doc = stringAttr(attrs, "onnx.doc_string"); !doc.empty())
      info.set_doc_string(doc.str());
    if (StringRef text = stringAttr(attrs, "onnx.denotation"); !text.empty())
      info.mutable_type()->set_denotation(text.str());
    if (attrs)
      addMetadata(attrs.get("onnx.metadata_props"), *info.mutable_metadata_props());
  };

  for (BlockArgument argument : function.getArguments()) {
    DictionaryAttr attrs = function.getArgAttrDict(argument.getArgNumber());
    StringRef wish = stringAttr(attrs, "onnx.name");
    auto &info = *graph.add_input();
    if (failed(exportValueInfo(argument, define(argument, wish.empty() ? "x" : wish), info)))
      return failure();
    describe(attrs, info);
  }
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<std::string> outputs;
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    StringRef name = stringAttr(function.getResultAttrDict(i), "onnx.name");
    outputs.push_back(name.empty() ? unique("") : name.str());
    reserve(outputs.back());
    if (Value source = withoutCasts(value); !isa<BlockArgument>(source))
      outputNames.try_emplace(source, outputs.back());
  }
  if (failed(exportBody(function.getBody().front(), graph)))
    return failure();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    if (failed(addOutput(value, outputs[i], graph)))
      return failure();
    describe(function.getResultAttrDict(i), *graph.mutable_output(graph.output_size() - 1));
  }

  // Initializers that were inputs as well.
  if (auto order = function->getAttrOfType<ArrayAttr>("onnx.input_order")) {
    llvm::StringMap<const proto::TensorProto *> initializers;
    for (const auto &tensor : graph.initializer())
      initializers[tensor.name()] = &tensor;
    google::protobuf::RepeatedPtrField<proto::ValueInfoProto> inputs;
    llvm::StringMap<const proto::ValueInfoProto *> written;
    for (const auto &input : graph.input())
      written[input.name()] = &input;
    for (auto name : order.getAsRange<StringAttr>()) {
      if (const auto *input = written.lookup(name.getValue())) {
        *inputs.Add() = *input;
      } else if (const auto *tensor = initializers.lookup(name.getValue())) {
        auto &input = *inputs.Add();
        input.set_name(tensor->name());
        input.mutable_type()->mutable_tensor_type()->set_elem_type(tensor->data_type());
        auto &shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape(); // There, even if it is a scalar's.
        for (int64_t dim : tensor->dims())
          shape.add_dim()->set_dim_value(dim);
      }
    }
    if (inputs.size() >= graph.input_size())
      *graph.mutable_input() = inputs;
  }
  if (auto doc = function->getAttrOfType<StringAttr>("onnx.doc_string"))
    graph.set_doc_string(doc.str());
  addMetadata(function->getAttr("onnx.metadata_props"), *graph.mutable_metadata_props());
  if (auto annotations = function->getAttrOfType<ArrayAttr>("onnx.quantization_annotation"))
    for (auto entry : annotations.getAsRange<DictionaryAttr>()) {
      auto &annotation = *graph.add_quantization_annotation();
      annotation.set_tensor_name(stringAttr(entry, "tensor").str());
      addMetadata(entry.get("parameters"), *annotation.mutable_quant_parameter_tensor_names());
    }
  return success();
}

LogicalResult ModelExporter::run() {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function || function.isExternal())
    return module.emitError("has no function @main to export");
  auto text = [&](StringRef name) {
    auto attr = module->getAttrOfType<StringAttr>(name);
    return attr ? attr.str() : std::string();
  };
  auto irVersion = module->getAttrOfType<IntegerAttr>("onnx.ir_version");
  model.set_ir_version(irVersion ? irVersion.getInt() : static_cast<int64_t>(proto::IR_VERSION));
  if (auto version = module->getAttrOfType<IntegerAttr>("onnx.model_version"))
    model.set_model_version(version.getInt());
  std::string producer = text("onnx.producer_name");
  model.set_producer_name(producer.empty() ? "strata" : producer);
  if (std::string version = text("onnx.producer_version"); !version.empty())
    model.set_producer_version(version);
  if (std::string domain = text("onnx.domain"); !domain.empty())
    model.set_domain(domain);
  if (std::string doc = text("onnx.doc_string"); !doc.empty())
    model.set_doc_string(doc);
  std::string graphName = text("onnx.graph_name");
  model.mutable_graph()->set_name(graphName.empty() ? "main" : graphName);
  addMetadata(module->getAttr("onnx.metadata_props"), *model.mutable_metadata_props());
  return success(succeeded(chooseOpsets()) && succeeded(exportMain(function)));
}

} // namespace exporter

LogicalResult exportOnnx(ModuleOp module, raw_ostream &out) {
  ::onnx::ModelProto model;
  if (failed(exporter::ModelExporter(module, model).run()))
    return failure();
  size_t bytes = model.ByteSizeLong();
  if (bytes > INT32_MAX)
    return module.emitError("the model has ") << bytes << " bytes; a protobuf message has 2 GB at most";
  std::string serialized;
  if (!model.SerializeToString(&serialized))
    return module.emitError("protobuf cannot serialise the model");
  out << serialized;
  return success();
}

LogicalResult exportOnnxText(ModuleOp module, raw_ostream &out) {
  ::onnx::ModelProto model;
  if (failed(exporter::ModelExporter(module, model).run()))
    return failure();
  try {
    out << ::onnx::ProtoToString(model) << "\n";
  } catch (const std::exception &error) {
    return module.emitError("ONNX's text syntax cannot express the model: ") << error.what();
  }
  return success();
}

} // namespace strata
