//===- GraphImporter.h - nodes to ops ---------------------------*- C++ -*-===//
//
// State that the files of the importer share while they build one module.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_IMPORT_GRAPHIMPORTER_H
#define STRATA_LIB_IMPORT_GRAPHIMPORTER_H

#include "Dialect/ShapeContext.h"
#include "Import/OperatorSpelling.h"
#include "ImportTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"

namespace strata::importer {

/// Versions of the operator sets that nodes belong to, by domain (`ai.onnx` for the default one).
using OpsetImports = llvm::StringMap<int64_t>;

llvm::FailureOr<OpsetImports> importOpsets(const google::protobuf::RepeatedPtrField<proto::OperatorSetIdProto> &imports,
                                           const Trace &trace);

/// What nodes are in besides a graph: the model, or the body of a model-local function that is being inlined.
struct Frame {
  const Frame *outer = nullptr;
  /// Null in the model itself.
  const proto::FunctionProto *function = nullptr;
  const OpsetImports *opsets = nullptr;
  /// The function's attributes at this call; null for an absent one without a default.
  llvm::StringMap<const proto::AttributeProto *> attributes;
  /// Before the names of the function's nodes: "call/".
  std::string prefix;
};

/// The names that a graph sees.
struct Scope {
  const Scope *outer;
  const Frame &frame;
  llvm::StringMap<mlir::Value> values;
  /// Types that the graph declares for values.
  llvm::StringMap<const proto::TypeProto *> declared;
  /// Inputs of a function that the call leaves out.
  llvm::StringSet<> absent;

  mlir::Value lookup(llvm::StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->outer)
      if (mlir::Value value = scope->values.lookup(name))
        return value;
    return {};
  }
  bool isAbsent(llvm::StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->outer)
      if (scope->absent.contains(name))
        return true;
    return false;
  }
};

/// A function that the model brings.
struct LocalFunction {
  const proto::FunctionProto *proto = nullptr;
  OpsetImports opsets;
  std::optional<uint64_t> nodes; ///< that a call becomes, once they are counted
};

class GraphImporter {
public:
  GraphImporter(const ParsedModel &model, llvm::StringRef externalDataFolder, mlir::MLIRContext *context)
      : model(model), context(context), tensors(model, externalDataFolder), builder(context) {}

  /// The whole model as a module; a failure after a diagnostic.
  llvm::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importModel(const Trace &file);

private:
  // ImportGraph.cpp
  llvm::LogicalResult importMain(const proto::GraphProto &graph, const Frame &frame, mlir::ModuleOp module,
                                 const Trace &trace);
  llvm::LogicalResult importSubgraph(const proto::GraphProto &graph, mlir::Region &region, const Scope &outer,
                                     llvm::ArrayRef<mlir::Type> argumentTypes, const Trace &trace);
  llvm::FailureOr<mlir::Value> addInput(const proto::ValueInfoProto &input, mlir::Type type, mlir::Block &block,
                                        Scope &scope, const Trace &trace);
  llvm::LogicalResult declareValues(const proto::GraphProto &graph, Scope &scope, const Trace &trace);
  llvm::LogicalResult importInitializers(const proto::GraphProto &graph, Scope &scope, const Trace &trace);
  llvm::FailureOr<llvm::SmallVector<mlir::Value>> importOutputs(const proto::GraphProto &graph, const Scope &scope,
                                                                const Trace &trace);
  llvm::LogicalResult importNodes(const google::protobuf::RepeatedPtrField<proto::NodeProto> &nodes, Scope &scope,
                                  const Trace &trace);
  llvm::LogicalResult define(Scope &scope, llvm::StringRef name, mlir::Value value, const Trace &trace);

  // ImportNode.cpp
  llvm::LogicalResult importNode(const proto::NodeProto &node, size_t index, Scope &scope, const Trace &graphTrace);
  llvm::LogicalResult importOperator(const proto::NodeProto &node, mlir::RegisteredOperationName name, Scope &scope,
                                     const Trace &trace);
  llvm::LogicalResult importCustom(const proto::NodeProto &node, int64_t opset, Scope &scope, const Trace &trace);
  /// The model's function that the node calls; null if it calls none.
  LocalFunction *findFunction(const proto::NodeProto &node);
  /// How many nodes a call of the function becomes, or something above the limit. Nothing counts for functions that
  /// call themselves, or that are nested too deep: importCall refuses them.
  uint64_t countNodes(LocalFunction &function, unsigned depth);
  uint64_t countNodes(const google::protobuf::RepeatedPtrField<proto::NodeProto> &nodes, unsigned depth);
  llvm::LogicalResult importCall(const proto::NodeProto &node, const LocalFunction &callee, Scope &scope,
                                 const Trace &trace);
  llvm::FailureOr<mlir::Type> declaredType(llvm::StringRef name, const Scope &scope, const Trace &trace);
  llvm::LogicalResult defineResult(mlir::Value value, llvm::StringRef name, Scope &scope, const Trace &trace);
  llvm::LogicalResult inferTypes(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> names, const Scope &scope,
                                 const Trace &trace);
  llvm::LogicalResult addDocumentation(const proto::NodeProto &node, mlir::OperationState &state, const Trace &trace);

  // ImportAttribute.cpp
  /// The attribute that `attribute` stands for in the frame; null if it refers to an absent one.
  llvm::FailureOr<const proto::AttributeProto *> resolve(const proto::AttributeProto &attribute, const Frame &frame,
                                                         const Trace &trace);
  /// All kinds but graphs.
  llvm::FailureOr<mlir::Attribute> importAttribute(const proto::AttributeProto &attribute, const Trace &trace);

  const ParsedModel &model;
  mlir::MLIRContext *context;
  TensorImporter tensors;
  mlir::OpBuilder builder;
  ValueAnalysis values;
  /// By "domain::name:overload".
  llvm::StringMap<LocalFunction> functions;
  unsigned graphDepth = 0;
  int64_t irVersion = 0;
  uint64_t importedNodes = 0;
};

/// Key/value pairs as a dictionary; null if there are none. A duplicate or empty key is an error.
llvm::FailureOr<mlir::DictionaryAttr>
importMetadata(const google::protobuf::RepeatedPtrField<proto::StringStringEntryProto> &entries, const Trace &trace);

/// The kind of an attribute; of files that do not say it, the field that is used.
proto::AttributeProto::AttributeType kindOf(const proto::AttributeProto &attribute);

} // namespace strata::importer

#endif // STRATA_LIB_IMPORT_GRAPHIMPORTER_H
