//===- ImportModel.cpp - ModelProto to a module, and the entry points -----===//

#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OperatorSets.h"
#include "GraphImporter.h"
#include "Import/Import.h"
#include "OnnxLibrary.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mlir;

namespace strata {
namespace importer {

static constexpr int64_t kOldestIRVersion = 3;

FailureOr<OpsetImports> importOpsets(const google::protobuf::RepeatedPtrField<proto::OperatorSetIdProto> &imports,
                                     const Trace &trace) {
  OpsetImports opsets;
  for (const auto &import : imports) {
    StringRef domain = normalizeDomain(import.domain());
    if (import.version() < 1)
      return trace.error() << "imports opset " << import.version() << " of '" << domain << "'; versions begin at 1",
             failure();
    auto [known, isNew] = opsets.try_emplace(domain, import.version());
    if (!isNew && known->second != import.version())
      return trace.error() << "imports both opset " << known->second << " and " << import.version() << " of '" << domain
                           << "'",
             failure();
  }
  return opsets;
}

FailureOr<OwningOpRef<ModuleOp>> GraphImporter::importModel(const Trace &file) {
  const proto::ModelProto &proto = model.proto;
  if (!proto.has_graph())
    return file.error() << "has no graph: it is not an ONNX model", failure();
  irVersion = proto.ir_version();
  if (irVersion < kOldestIRVersion || irVersion > proto::IR_VERSION)
    return file.error() << "has IR version " << irVersion << "; the known ones are " << kOldestIRVersion << " to "
                        << static_cast<int64_t>(proto::IR_VERSION),
           failure();
  FailureOr<OpsetImports> opsets = importOpsets(proto.opset_import(), file);
  if (failed(opsets))
    return failure();
  if (opsets->empty())
    return file.error() << "imports no operator set", failure();
  if (model.hasTraining)
    file.warning() << "has training information, which is left out";
  if (proto.configuration_size() != 0)
    file.warning() << "has configurations for several devices, which are ignored";
  for (const auto &opset : *opsets)
    if (int64_t newest = getNewestOpset(opset.first()); isStandardDomain(opset.first()) && opset.second > newest)
      file.warning() << "imports opset " << opset.second << " of '" << opset.first() << "', the newest known is "
                     << newest << ": operators are taken as of that one";

  for (const auto &function : proto.functions()) {
    Trace trace(file, "function '" + function.name() + "'");
    std::string key = (normalizeDomain(function.domain()) + "::" + function.name() + ":" + function.overload()).str();
    auto [entry, isNew] = functions.try_emplace(key);
    if (!isNew)
      return trace.error() << "is defined twice", failure();
    FailureOr<OpsetImports> imports = importOpsets(function.opset_import(), trace);
    if (failed(imports))
      return failure();
    entry->second = {&function, std::move(*imports), {}};
  }

  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  Operation *op = *module;
  auto setString = [&](StringRef name, const std::string &value) {
    if (!value.empty())
      op->setAttr(name, builder.getStringAttr(value));
  };
  op->setAttr("onnx.ir_version", builder.getI64IntegerAttr(irVersion));
  NamedAttrList opsetAttrs;
  for (const auto &opset : *opsets)
    opsetAttrs.append(opset.first(), builder.getI64IntegerAttr(opset.second));
  op->setAttr("onnx.opset_import", opsetAttrs.getDictionary(context));
  setString("onnx.producer_name", proto.producer_name());
  setString("onnx.producer_version", proto.producer_version());
  setString("onnx.domain", proto.domain());
  if (proto.has_model_version())
    op->setAttr("onnx.model_version", builder.getI64IntegerAttr(proto.model_version()));
  setString("onnx.doc_string", proto.doc_string());
  setString("onnx.graph_name", proto.graph().name());
  FailureOr<DictionaryAttr> metadata = importMetadata(proto.metadata_props(), file);
  if (failed(metadata))
    return failure();
  if (*metadata)
    op->setAttr("onnx.metadata_props", *metadata);

  Frame frame;
  frame.opsets = &*opsets;
  if (failed(importMain(proto.graph(), frame, *module, Trace(file, "graph '" + proto.graph().name() + "'"))))
    return failure();
  return module;
}

/// Calls `use` with all tensors in a message.
static void forEachTensor(const google::protobuf::Message &message,
                          llvm::function_ref<void(const proto::TensorProto &)> use) {
  if (auto *tensor = dynamic_cast<const proto::TensorProto *>(&message))
    return use(*tensor);
  const google::protobuf::Reflection *reflection = message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor *> fields;
  reflection->ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor *field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE)
      continue;
    if (!field->is_repeated())
      forEachTensor(reflection->GetMessage(message, field), use);
    else
      for (int i = 0; i < reflection->FieldSize(message, field); ++i)
        forEachTensor(reflection->GetRepeatedMessage(message, field, i), use);
  }
}

/// Of a file that is text or protobuf.
static LogicalResult parseFile(SharedBytes source, StringRef path, const Trace &file, ParsedModel &model) {
  if (sys::path::extension(path) == ".onnxtxt")
    return parseModelText(source.bytes(), file, model.proto);
  return parseModel(std::move(source), file, model);
}

static StringRef folderOf(StringRef path) {
  StringRef folder = sys::path::parent_path(path);
  return folder.empty() ? "." : folder;
}

static OwningOpRef<ModuleOp> importParsed(const ParsedModel &model, StringRef folder, MLIRContext *context,
                                          const Trace &file) {
  loadImportDialects(context);
  auto module = GraphImporter(model, folder, context).importModel(file);
  return succeeded(module) ? std::move(*module) : OwningOpRef<ModuleOp>();
}

} // namespace importer

using namespace importer;

void loadImportDialects(MLIRContext *context) {
  DialectRegistry registry;
  registerOperatorSets(registry);
  registry.insert<func::FuncDialect>();
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);
}

OwningOpRef<ModuleOp> importOnnxFile(StringRef path, MLIRContext *context, const ImportOptions &options) {
  Trace file(context, options.name.empty() ? path : StringRef(options.name));
  FailureOr<SharedBytes> source = mapFile(path, file);
  ParsedModel model;
  if (failed(source) || failed(parseFile(*source, path, file, model)))
    return {};
  StringRef folder = options.externalDataFolder;
  return importParsed(model, folder.empty() ? folderOf(path) : folder, context, file);
}

LogicalResult writeSources(StringRef path, MLIRContext *context, raw_ostream &os) {
  Trace file(context, path);
  FailureOr<SharedBytes> source = mapFile(path, file);
  ParsedModel model;
  if (failed(source) || failed(parseFile(*source, path, file, model)))
    return failure();
  auto write = [&](const SharedBytes &bytes) {
    forEachPiece(bytes.bytes(), bytes, [&](StringRef piece) { os << piece; });
  };
  write(*source);
  ExternalData external(folderOf(path));
  llvm::DenseSet<const char *> written;
  LogicalResult result = success();
  forEachTensor(model.proto, [&](const proto::TensorProto &tensor) {
    if (failed(result) || tensor.data_location() != proto::TensorProto::EXTERNAL)
      return;
    FailureOr<SharedBytes> data = external.file(tensor, Trace(file, "tensor '" + tensor.name() + "'"));
    result = success(succeeded(data));
    if (succeeded(data) && written.insert(data->bytes().data()).second)
      write(*data);
  });
  return result;
}

OwningOpRef<ModuleOp> importOnnxBytes(std::unique_ptr<MemoryBuffer> bytes, MLIRContext *context,
                                      const ImportOptions &options) {
  Trace file(context, options.name.empty() ? "model" : options.name);
  ParsedModel model;
  if (failed(parseModel(SharedBytes(std::move(bytes)), file, model)))
    return {};
  return importParsed(model, options.externalDataFolder, context, file);
}

OwningOpRef<ModuleOp> importOnnxText(StringRef text, MLIRContext *context, const ImportOptions &options) {
  Trace file(context, options.name.empty() ? "model" : options.name);
  ParsedModel model;
  if (failed(parseModelText(text, file, model.proto)))
    return {};
  return importParsed(model, options.externalDataFolder, context, file);
}

} // namespace strata
