//===- OnnxLibrary.cpp - the parts of ONNX's C++ library that we call -----===//

#include "OnnxLibrary.h"
#include "onnx/defs/parser.h"
#include "onnx/defs/schema.h"
#include <exception>

using namespace llvm;

namespace strata::importer {

LogicalResult parseModelText(StringRef text, const Trace &trace, proto::ModelProto &model) {
  std::string message;
  try {
    ::onnx::OnnxParser parser(std::string_view(text.data(), text.size()));
    ::onnx::Common::Status status = parser.Parse(model);
    if (!status.IsOK())
      message = status.ErrorMessage();
    else if (!parser.EndOfInput())
      message = "there is text after the model at " + parser.GetCurrentPos();
    else
      return success();
  } catch (const std::exception &error) {
    message = error.what();
  }
  for (char &c : message)
    if (c == '\n')
      c = ' ';
  return trace.error() << "is not a model in ONNX's text syntax: " << message;
}

/// The types of the node's inputs; a default TypeProto for an absent one.
static std::vector<proto::TypeProto> inputTypes(const proto::NodeProto &node, const proto::GraphProto &graph) {
  std::vector<proto::TypeProto> types;
  for (const std::string &name : node.input()) {
    proto::TypeProto type;
    for (const auto &input : graph.input())
      if (input.name() == name)
        type = input.type();
    types.push_back(type);
  }
  return types;
}

/// The body for this node; none if the schema has none that applies.
static std::optional<proto::FunctionProto> buildBody(const ::onnx::OpSchema &schema, const proto::NodeProto &node,
                                                     const proto::GraphProto &graph) {
  if (schema.HasFunction())
    return *schema.GetFunction(schema.function_opset_versions().back());
  if (!schema.HasContextDependentFunction())
    return std::nullopt;
  proto::FunctionProto body;
  ::onnx::FunctionBodyBuildContextImpl context(node, inputTypes(node, graph));
  if (!schema.BuildContextDependentFunction(context, body, schema.context_dependent_function_opset_versions().back()))
    return std::nullopt;
  return body;
}

bool callFunctionBody(std::string &bytes, StringRef operatorName, StringRef domain, int64_t sinceVersion,
                      std::string &error) {
  try {
    proto::ModelProto model;
    model.ParseFromString(bytes);
    if (model.graph().node_size() != 1) {
      error = "it is not a node of its own";
      return false;
    }
    auto &node = *model.mutable_graph()->mutable_node(0);
    const auto *schema = ::onnx::OpSchemaRegistry::Schema(operatorName.str(), static_cast<int>(sinceVersion),
                                                          domain == "ai.onnx" ? "" : domain.str());
    std::optional<proto::FunctionProto> body;
    if (schema)
      body = buildBody(*schema, node, model.graph());
    if (!body) {
      error = "the specification gives it no function body for these inputs and attributes";
      return false;
    }
    // Defaults that the body refers to.
    for (const auto &[name, attribute] : schema->attributes()) {
      bool present = false;
      for (const auto &given : node.attribute())
        present |= given.name() == name;
      if (!present && attribute.default_value.type() != proto::AttributeProto::UNDEFINED) {
        *node.add_attribute() = attribute.default_value;
        node.mutable_attribute()->rbegin()->set_name(name);
      }
    }
    const char *functions = "strata.function";
    auto &function = *model.add_functions();
    function = *body;
    function.set_domain(functions);
    function.set_name(operatorName.str());
    node.set_domain(functions);
    node.set_op_type(operatorName.str());
    auto *import = model.add_opset_import();
    import->set_domain(functions);
    import->set_version(1);
    // Bodies of other domains use operators of the default one without saying of which version. Those in the node's
    // subgraphs, which the body takes over, are of their newest versions.
    bool importsDefault = false;
    for (const auto &used : function.opset_import())
      importsDefault |= used.domain().empty() || used.domain() == "ai.onnx";
    if (!importsDefault)
      function.add_opset_import()->set_version(
          ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second);
    // SoftmaxCrossEntropyLoss lists bfloat16, which the loss that its body calls has from opset 22 on. Nothing else in
    // the body means something different there.
    if (operatorName == "SoftmaxCrossEntropyLoss" && sinceVersion == 13)
      for (auto &used : *function.mutable_opset_import())
        used.set_version(22);
    // The body may need other operator sets than the node.
    for (const auto &used : function.opset_import()) {
      bool known = false;
      for (const auto &own : model.opset_import())
        known |= own.domain() == used.domain();
      if (!known)
        *model.add_opset_import() = used;
    }
    bytes = model.SerializeAsString();
    return true;
  } catch (const std::exception &exception) {
    error = exception.what();
    return false;
  }
}

} // namespace strata::importer
