//===- FormalParameters.cpp - uses against signatures ---------------------===//

#include "Dialect/FormalParameters.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace strata {

// `float16, float or double`
static std::string inWords(ArrayRef<std::string> names, StringRef last) {
  if (names.size() < 2)
    return names.empty() ? "" : names.front();
  return (llvm::join(names.drop_back(), ", ") + " " + last + " " + names.back()).str();
}

std::string describe(ArrayRef<Formal> formals, StringRef what) {
  SmallVector<std::string> words;
  for (const Formal &formal : formals) {
    StringRef form = formal.atLeastOne ? "one or more of "
                     : formal.variadic ? "any number of "
                     : formal.optional ? "optionally "
                                       : "";
    words.push_back((form + "'" + formal.name + "'").str());
  }
  if (words.empty())
    return ("the operator has no " + what + "s").str();
  return ("the operator's " + what + (words.size() == 1 ? " is " : "s are ") + inWords(words, "and")).str();
}

size_t countNeeded(ArrayRef<Formal> formals) {
  return llvm::count_if(formals, [](const Formal &f) { return !f.optional && (!f.variadic || f.atLeastOne); });
}

static SmallVector<std::string> elementNames(uint32_t mask) {
  SmallVector<std::string> names;
  for (unsigned kind = 0; kind < onnx::kNumElementKinds; ++kind)
    if (mask >> kind & 1)
      names.push_back(onnx::getElementName(static_cast<onnx::ElementKind>(kind)).str());
  return names;
}

// In the order of the bits of TypeSet::maps.
static SmallVector<std::string> mapNames(uint32_t mask) {
  static constexpr StringLiteral keys[] = {"int64", "string"}, values[] = {"float", "double", "string", "int64"};
  SmallVector<std::string> names;
  for (unsigned bit = 0; bit < 8; ++bit)
    if (mask >> bit & 1)
      names.push_back(("map(" + keys[bit / 4] + ", " + values[bit % 4] + ")").str());
  return names;
}

// `a tensor of float or double, or a sequence of tensors of float`
static std::string describe(const onnx::TypeSet &set) {
  SmallVector<std::string, 6> forms;
  auto add = [&](StringRef form, ArrayRef<std::string> names) {
    if (!names.empty())
      forms.push_back((form + inWords(names, "or")).str());
  };
  add("a tensor of ", elementNames(set.tensor));
  add("a sequence of tensors of ", elementNames(set.seq));
  add("an optional tensor of ", elementNames(set.optional));
  add("an optional sequence of tensors of ", elementNames(set.optionalSeq));
  add("a ", mapNames(set.maps));
  add("a sequence of ", mapNames(set.seqMaps));
  return llvm::join(forms, ", or ");
}

// `groupOf` gives the values of a formal parameter.
template <typename Group>
static LogicalResult verifyTypes(Operation *op, StringRef what, ArrayRef<Formal> formals, ArrayRef<onnx::TypeSet> sets,
                                 Group groupOf) {
  unsigned position = 0;
  for (auto [i, set] : llvm::enumerate(sets))
    for (Value value : groupOf(i)) {
      if (!set.contains(value.getType()))
        return op->emitOpError() << what << " #" << position << " '" << formals[i].name << "' must be " << describe(set)
                                 << ", but is " << onnx::getTypeString(value.getType());
      ++position;
    }
  return success();
}

LogicalResult verifyTypes(Operation *op, TypeSets sets) {
  auto versioned = cast<VersionedOpInterface>(op);
  const Signature &signature = versioned.getSignature();
  if (failed(verifyTypes(op, "operand", signature.inputs, sets.inputs,
                         [&](unsigned i) { return versioned.getInputGroup(i); })))
    return failure();
  if (isBeforeInference())
    return success();
  return verifyTypes(op, "result", signature.outputs, sets.outputs,
                     [&](unsigned i) { return versioned.getOutputGroup(i); });
}

// ODS' verifiers have no argument but the op.
static thread_local bool beforeInference = false;

bool isBeforeInference() { return beforeInference; }

LogicalResult verifyBeforeInference(Operation *op) {
  llvm::SaveAndRestore scope(beforeInference, true);
  return op->getName().verifyInvariants(op);
}

} // namespace strata
