//===- OperatorSets.cpp - registration and lookup of operators ------------===//

#include "Dialect/OperatorSets.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OpBehavior.h"
#include "Dialect/OpenVINO/IR/OpenVINO.h"
#include "Dialect/TensorFlow/IR/TensorFlow.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

// The slices: SLICE(dialect, file), one registration function per file of */Ops/ (the list is made by CMake).
namespace strata::slices {
#define SLICE(SET, NAME)                                                                                               \
  namespace SET {                                                                                                      \
  void register##NAME(OperatorSet &);                                                                                  \
  }
#include "Slices.def"
} // namespace strata::slices

namespace strata {

// Adds the slices whose dialect is `set`.
static void addSlices(OperatorSet &ops, StringRef set) {
#define SLICE(SET, NAME)                                                                                               \
  if (set == #SET)                                                                                                     \
    slices::SET::register##NAME(ops);
#include "Slices.def"
}

template <typename DialectT> static void registerOperatorSet(DialectRegistry &registry) {
  registry.insert<DialectT>();
  registry.addExtension(+[](MLIRContext *, DialectT *dialect) {
    if (!dialect->template getRegisteredInterface<OperatorSet>())
      addSlices(dialect->template addInterface<OperatorSet>(), DialectT::getDialectNamespace());
  });
}

void registerOperatorSets(DialectRegistry &registry) {
  registerOperatorSet<onnx::ONNXDialect>(registry);
  registerOperatorSet<tf::TensorFlowDialect>(registry);
  registerOperatorSet<ov::OpenVINODialect>(registry);
}

static VersionedOpInterface::Concept *getVersioned(RegisteredOperationName name) {
  return name.getInterface<VersionedOpInterface>();
}

// Prefix of a domain's operators, with the dialect.
static std::optional<StringRef> getPrefix(StringRef domain) {
  if (domain.empty() || domain == "ai.onnx")
    return StringRef("onnx.");
  if (domain == "ai.onnx.ml")
    return StringRef("onnx.ml.");
  if (domain == "ai.onnx.preview.training")
    return StringRef("onnx.training.");
  if (domain == "ai.onnx.preview")
    return StringRef("onnx.preview.");
  if (domain == "ai.onnx.converters.tensorflow")
    return StringRef("tf.");
  if (domain == "org.openvinotoolkit")
    return StringRef("ov.");
  return std::nullopt;
}

std::string describeForeign(StringRef domain) {
  std::string text = ("operators of the domain '" + domain + "' are not part of ONNX; ").str();
  text += "the model can define this one as a function of its own (a FunctionProto)";
  if (domain == "com.microsoft")
    text += ", or be exported without it: ONNX Runtime's quantisers need none of its own operators in the QDQ format "
            "(quantize_static and MatMulNBitsQuantizer with quant_format=QuantFormat.QDQ), and others are what its graph "
            "optimisations leave";
  return text;
}

OperatorLookup lookupOperator(MLIRContext *context, StringRef domain, StringRef name, int64_t opsetVersion) {
  OperatorLookup result;
  std::optional<StringRef> prefix = getPrefix(domain);
  if (!prefix)
    return result;
  // Versions are few and small numbers: try them.
  for (int64_t version = 1, newest = getNewestOpset(domain); version <= newest; ++version) {
    auto op = RegisteredOperationName::lookup((*prefix + name + "_" + Twine(version)).str(), context);
    if (!op)
      continue;
    result.versions.push_back(version);
    if (version <= opsetVersion)
      result.name = op;
  }
  return result;
}

SmallVector<RegisteredOperationName> getVersionedOps(MLIRContext *context) {
  SmallVector<RegisteredOperationName> ops;
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (getVersioned(name))
      ops.push_back(name);
  llvm::sort(ops, [](RegisteredOperationName a, RegisteredOperationName b) {
    auto *x = getVersioned(a), *y = getVersioned(b);
    return std::tuple(x->getDomain(), x->getOperatorName(), x->getSinceVersion()) <
           std::tuple(y->getDomain(), y->getOperatorName(), y->getSinceVersion());
  });
  return ops;
}

void printVersionedOps(raw_ostream &out) {
  DialectRegistry registry;
  registerOperatorSets(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  SmallVector<RegisteredOperationName> ops = getVersionedOps(&context);
  out << "# op  domain  operator  since  newest  notes\n";
  VersionedOpInterface::Concept *previous = nullptr;
  for (RegisteredOperationName name : ops) {
    auto *op = getVersioned(name);
    bool isFirst = !previous || previous->getNextVersion() != op->getSinceVersion() ||
                   previous->getOperatorName() != op->getOperatorName();
    const OperatorSet *set = name.getDialect().getRegisteredInterface<OperatorSet>();
    StringRef unversioned = name.stripDialect().take_front(name.stripDialect().rfind('_'));
    const OpBehavior &behavior = set->lookup(unversioned);
    out << name.getStringRef() << "  " << op->getDomain() << "  " << op->getOperatorName() << "  "
        << op->getSinceVersion() << "  " << op->getNewestVersion();
    if (op->isDeprecated())
      out << "  deprecated";
    if (op->hasFunctionBody())
      out << "  function-body";
    if (behavior.inferShapes)
      out << "  shapes";
    if (op->getNextVersion() != 0 && (op->stepKeepsSignature() || behavior.upgrade))
      out << "  upgrade";
    if (!isFirst && (previous->stepKeepsSignature() || behavior.downgrade))
      out << "  downgrade";
    previous = op;
    if (behavior.lower)
      out << "  lowering";
    out << "\n";
  }
  out << ops.size() << " versioned ops\n";
}

int64_t getNewestOpset(StringRef domain) {
  if (domain.empty() || domain == "ai.onnx")
    return 28;
  if (domain == "ai.onnx.ml")
    return 5;
  if (domain == "org.openvinotoolkit")
    return 4;
  return getPrefix(domain) ? 1 : 0;
}

} // namespace strata
