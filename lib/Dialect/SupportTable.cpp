//===- SupportTable.cpp - what is supported, as a page --------------------===//

#include "Dialect/SupportTable.h"
#include "Dialect/FormalParameters.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/OpBehavior.h"
#include "Dialect/OperatorSets.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace strata {

static VersionedOpInterface::Concept *getVersioned(RegisteredOperationName name) {
  return name.getInterface<VersionedOpInterface>();
}

static const OpBehavior &getBehavior(RegisteredOperationName name) {
  StringRef unversioned = name.stripDialect().take_front(name.stripDialect().rfind('_'));
  return name.getDialect().getRegisteredInterface<OperatorSet>()->lookup(unversioned);
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct Group {
  StringLiteral name;
  onnx::ElementKind first, last;
};
} // namespace

// Kinds that follow each other and mostly come together.
static constexpr Group kGroups[] = {
    {"floats", onnx::ElementKind::float16, onnx::ElementKind::float64},
    {"float8s", onnx::ElementKind::float8e4m3fn, onnx::ElementKind::float8e5m2fnuz},
    {"float6s", onnx::ElementKind::float6e2m3, onnx::ElementKind::float6e3m2},
    {"ints", onnx::ElementKind::int8, onnx::ElementKind::int64},
    {"uints", onnx::ElementKind::uint8, onnx::ElementKind::uint64},
    {"int4s", onnx::ElementKind::int4, onnx::ElementKind::uint4},
    {"int2s", onnx::ElementKind::int2, onnx::ElementKind::uint2},
    {"complexes", onnx::ElementKind::complex64, onnx::ElementKind::complex128},
};

static uint32_t maskOf(const Group &group) {
  uint32_t mask = 0;
  for (unsigned kind = static_cast<unsigned>(group.first); kind <= static_cast<unsigned>(group.last); ++kind)
    mask |= 1u << kind;
  return mask;
}

static std::string namesOf(uint32_t mask) {
  SmallVector<StringRef> words;
  for (unsigned kind = 0; kind < onnx::kNumElementKinds; ++kind) {
    const Group *group = llvm::find_if(kGroups, [&](const Group &g) {
      return static_cast<unsigned>(g.first) == kind && (maskOf(g) & mask) == maskOf(g);
    });
    if (group != std::end(kGroups)) {
      words.push_back(group->name);
      kind = static_cast<unsigned>(group->last);
    } else if (mask >> kind & 1) {
      words.push_back(onnx::getElementName(static_cast<onnx::ElementKind>(kind)));
    }
  }
  return llvm::join(words, " ");
}

static std::string formsOf(const onnx::TypeSet &set) {
  SmallVector<std::string> forms;
  for (auto [form, mask] : {std::pair<StringRef, uint32_t>("", set.tensor),
                            {"sequence of ", set.seq},
                            {"optional ", set.optional},
                            {"optional sequence of ", set.optionalSeq}})
    if (mask)
      forms.push_back((form + namesOf(mask)).str());
  if (set.maps)
    forms.push_back("maps");
  if (set.seqMaps)
    forms.push_back("sequence of maps");
  return llvm::join(forms, ", ");
}

// Type variables in the order of the signature; a parameter of one type only goes by its own name.
static std::string elementTypes(RegisteredOperationName name) {
  const Signature &signature = getVersioned(name)->getSignature();
  std::optional<TypeSets> sets = getTypeSets(name.getStringRef());
  llvm::MapVector<StringRef, std::string> entries;
  auto add = [&](ArrayRef<Formal> formals, ArrayRef<onnx::TypeSet> types) {
    for (auto [formal, set] : llvm::zip(formals, types))
      entries.try_emplace(formal.isTypeVariable() ? formal.type : formal.name, formsOf(set));
  };
  if (sets) {
    add(signature.inputs, sets->inputs);
    add(signature.outputs, sets->outputs);
  }
  SmallVector<std::string> texts;
  for (auto &[variable, text] : entries)
    texts.push_back((variable + ": " + text).str());
  return llvm::join(texts, "; ");
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

// `versions` are those of one operator, ascending. Empty if the version cannot be compiled.
static std::string loweringOf(ArrayRef<RegisteredOperationName> versions, size_t index) {
  auto *op = getVersioned(versions[index]), *newest = getVersioned(versions.back());
  const OpBehavior &behavior = getBehavior(versions[index]);
  if (op->isDeprecated())
    return "";
  for (size_t i = index; i + 1 < versions.size(); ++i)
    if (!getVersioned(versions[i])->stepKeepsSignature() && !behavior.upgrade)
      return "";
  if (newest->isDeprecated())
    return "rewritten as another operator";
  std::string text;
  if (index + 1 < versions.size())
    text = "upgraded to " + std::to_string(newest->getSinceVersion()) + ", then ";
  if (behavior.lower)
    return text + "own lowering";
  if (newest->hasFunctionBody())
    return text + "function body";
  // The pass onnx-expand-gradients replaces it.
  return getVersioned(versions.back())->getOperatorName() == "Gradient" ? "expanded into other operators" : "";
}

//===----------------------------------------------------------------------===//
// The GPU
//===----------------------------------------------------------------------===//

namespace {
/// Where an operator's work is done from this version on, as the compiler says when it compiles a use of it.
struct GpuPlacement {
  StringLiteral domain, op;
  int version;
  StringLiteral where;
};
} // namespace

static constexpr GpuPlacement kGpuPlacements[] = {
#include "GpuPlacement.inc"
};

static StringRef placementOf(VersionedOpInterface::Concept *op) {
  StringRef where = "not known";
  for (const GpuPlacement &row : kGpuPlacements)
    if (row.domain == op->getDomain() && row.op == op->getOperatorName() && row.version <= op->getSinceVersion())
      where = row.where;
  return where;
}

void printSupportTable(raw_ostream &out) {
  DialectRegistry registry;
  registerOperatorSets(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  out << "# Operators\n\n"
         "Printed by `strata-opt --list-ops=markdown`; do not edit. Every operator of ONNX at every version: the element\n"
         "types that its type variables (or parameters of one type) allow, and how it is compiled. A version that is not the\n"
         "newest is upgraded step by step, once, after the import; a function body is the one that the specification gives.\n"
         "Sizes may be static or dynamic; ranks must be known when a model is compiled.\n\n"
         "GPU: where `--target=cuda` does the operator's work, as the compiler says of uses of it (`--explain`,\n"
         "[gpu.md](gpu.md)): yes, all of it in kernels; partly, the rest on the host; host; or no code, for it is computed when\n"
         "the model is compiled, or is another view of its input. Sizes and conditions are always the host's.\n\n"
         "Names of several types:";
  for (const Group &group : kGroups) {
    SmallVector<StringRef> names;
    for (unsigned kind = static_cast<unsigned>(group.first); kind <= static_cast<unsigned>(group.last); ++kind)
      names.push_back(onnx::getElementName(static_cast<onnx::ElementKind>(kind)));
    out << (&group == kGroups ? " " : ";\n") << group.name << " = " << llvm::join(names, " ");
  }
  out << ".\n";
  SmallVector<RegisteredOperationName> ops = getVersionedOps(&context);
  StringRef domain;
  unsigned total = 0, compiled = 0;
  for (size_t first = 0; first < ops.size();) {
    auto *op = getVersioned(ops[first]);
    size_t end = first + 1;
    while (end < ops.size() && getVersioned(ops[end])->getDomain() == op->getDomain() &&
           getVersioned(ops[end])->getOperatorName() == op->getOperatorName())
      ++end;
    ArrayRef<RegisteredOperationName> versions = ArrayRef(ops).slice(first, end - first);
    first = end;
    if (versions.front().getDialectNamespace() != "onnx")
      continue;
    if (op->getDomain() != domain) {
      domain = op->getDomain();
      out << "\n## " << domain << "\n| operator | version | element types | CPU | GPU | shapes | lowering |\n"
          << "|---|---|---|---|---|---|---|\n";
    }
    for (size_t i = 0; i < versions.size(); ++i) {
      auto *version = getVersioned(versions[i]);
      std::string lowering = loweringOf(versions, i);
      ++total;
      compiled += !lowering.empty();
      out << "| " << version->getOperatorName() << " | " << version->getSinceVersion() << " | "
          << elementTypes(versions[i]) << " | " << (lowering.empty() ? "no" : "yes") << " | "
          << (lowering.empty() ? "no" : placementOf(version)) << " | "
          << (lowering.empty() ? "" : "static, dynamic") << " | "
          << (version->isDeprecated() ? "none: deprecated"
              : lowering.empty()      ? "none"
                                      : lowering)
          << " |\n";
    }
  }
  out << "\n" << compiled << " of " << total << " versions are compiled.\n";
}

} // namespace strata
