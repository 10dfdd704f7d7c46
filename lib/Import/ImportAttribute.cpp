//===- ImportAttribute.cpp - AttributeProto to attributes -----------------===//

#include "GraphImporter.h"

using namespace llvm;
using namespace mlir;
using ::onnx::AttributeProto;

namespace strata::importer {

AttributeProto::AttributeType kindOf(const AttributeProto &attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED)
    return attribute.type();
  if (attribute.has_f())
    return AttributeProto::FLOAT;
  if (attribute.has_i())
    return AttributeProto::INT;
  if (attribute.has_s())
    return AttributeProto::STRING;
  if (attribute.has_t())
    return AttributeProto::TENSOR;
  if (attribute.has_g())
    return AttributeProto::GRAPH;
  if (attribute.has_sparse_tensor())
    return AttributeProto::SPARSE_TENSOR;
  if (attribute.has_tp())
    return AttributeProto::TYPE_PROTO;
  if (attribute.floats_size())
    return AttributeProto::FLOATS;
  if (attribute.ints_size())
    return AttributeProto::INTS;
  if (attribute.strings_size())
    return AttributeProto::STRINGS;
  if (attribute.tensors_size())
    return AttributeProto::TENSORS;
  if (attribute.graphs_size())
    return AttributeProto::GRAPHS;
  if (attribute.sparse_tensors_size())
    return AttributeProto::SPARSE_TENSORS;
  if (attribute.type_protos_size())
    return AttributeProto::TYPE_PROTOS;
  return AttributeProto::UNDEFINED;
}

FailureOr<const AttributeProto *> GraphImporter::resolve(const AttributeProto &attribute, const Frame &frame,
                                                         const Trace &trace) {
  if (attribute.ref_attr_name().empty())
    return &attribute;
  if (!frame.function)
    return trace.error() << "refers to the attribute '" << attribute.ref_attr_name()
                         << "' of a function, but is not in one",
           failure();
  auto found = frame.attributes.find(attribute.ref_attr_name());
  if (found == frame.attributes.end())
    return trace.error() << "refers to '" << attribute.ref_attr_name() << "', which is no attribute of function '"
                         << frame.function->name() << "'",
           failure();
  const AttributeProto *bound = found->second;
  if (bound && attribute.type() != AttributeProto::UNDEFINED && kindOf(*bound) != attribute.type())
    return trace.error() << "is of kind " << AttributeProto::AttributeType_Name(attribute.type()) << ", but '"
                         << attribute.ref_attr_name() << "' that it refers to is of kind "
                         << AttributeProto::AttributeType_Name(kindOf(*bound)),
           failure();
  return bound;
}

FailureOr<Attribute> GraphImporter::importAttribute(const AttributeProto &attribute, const Trace &trace) {
  // Several tensors, sparse tensors or types: an array.
  auto importAll = [&](const auto &list, auto importOne) -> FailureOr<Attribute> {
    SmallVector<Attribute> items;
    for (const auto &[i, item] : llvm::enumerate(list)) {
      auto imported = importOne(item, Trace(trace, "item " + Twine(i)));
      if (failed(imported))
        return failure();
      items.push_back(*imported);
    }
    return Attribute(builder.getArrayAttr(items));
  };
  auto tensor = [&](const proto::TensorProto &t, const Trace &trace) -> FailureOr<Attribute> {
    FailureOr<ElementsAttr> value = tensors.import(t, trace);
    if (failed(value))
      return failure();
    return Attribute(*value);
  };
  auto type = [&](const proto::TypeProto &t, const Trace &trace) -> FailureOr<Attribute> {
    FailureOr<Type> imported = importType(t, trace);
    if (failed(imported))
      return failure();
    return Attribute(TypeAttr::get(*imported));
  };
  auto sparse = [&](const proto::SparseTensorProto &t, const Trace &trace) { return tensors.importSparse(t, trace); };

  switch (kindOf(attribute)) {
  case AttributeProto::FLOAT:
    return Attribute(builder.getF32FloatAttr(attribute.f()));
  case AttributeProto::INT:
    return Attribute(builder.getI64IntegerAttr(attribute.i()));
  case AttributeProto::STRING:
    return Attribute(builder.getStringAttr(attribute.s()));
  case AttributeProto::FLOATS:
    return Attribute(builder.getDenseF32ArrayAttr(ArrayRef(attribute.floats().data(), attribute.floats_size())));
  case AttributeProto::INTS:
    return Attribute(
        builder.getDenseI64ArrayAttr(SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end())));
  case AttributeProto::STRINGS:
    return Attribute(
        builder.getStrArrayAttr(SmallVector<StringRef>(attribute.strings().begin(), attribute.strings().end())));
  case AttributeProto::TENSOR:
    return tensor(attribute.t(), trace);
  case AttributeProto::SPARSE_TENSOR:
    return sparse(attribute.sparse_tensor(), trace);
  case AttributeProto::TYPE_PROTO:
    return type(attribute.tp(), trace);
  case AttributeProto::TENSORS:
    return importAll(attribute.tensors(), tensor);
  case AttributeProto::SPARSE_TENSORS:
    return importAll(attribute.sparse_tensors(), sparse);
  case AttributeProto::TYPE_PROTOS:
    return importAll(attribute.type_protos(), type);
  case AttributeProto::GRAPH:
  case AttributeProto::GRAPHS:
    return trace.error() << "is a graph, which the operator does not take here", failure();
  case AttributeProto::UNDEFINED:
    break;
  }
  return trace.error() << "has neither a kind nor a value", failure();
}

FailureOr<DictionaryAttr>
importMetadata(const google::protobuf::RepeatedPtrField<proto::StringStringEntryProto> &entries, const Trace &trace) {
  if (entries.empty())
    return DictionaryAttr();
  Builder builder(trace.getContext());
  NamedAttrList attrs;
  for (const auto &entry : entries) {
    if (entry.key().empty())
      return trace.error() << "a metadata entry without a key", failure();
    if (attrs.get(entry.key()))
      return trace.error() << "metadata key '" << entry.key() << "' occurs twice", failure();
    attrs.append(entry.key(), builder.getStringAttr(entry.value()));
  }
  return attrs.getDictionary(trace.getContext());
}

} // namespace strata::importer
