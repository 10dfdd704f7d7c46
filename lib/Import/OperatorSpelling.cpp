//===- OperatorSpelling.cpp - what nodes and their ops spell differently --===//

#include "Import/OperatorSpelling.h"

using namespace llvm;

namespace strata {

bool isStandardDomain(StringRef domain) {
  return domain == "ai.onnx" || domain == "ai.onnx.ml" || domain == "ai.onnx.preview" ||
         domain == "ai.onnx.preview.training";
}

ArrayRef<StringLiteral> getGraphAttributes(StringRef operatorName) {
  static constexpr StringLiteral branches[] = {"else_branch", "then_branch"};
  static constexpr StringLiteral body[] = {"body"};
  static constexpr StringLiteral modifiers[] = {"prob_mod", "score_mod"};
  if (operatorName == "If")
    return branches;
  if (operatorName == "Loop" || operatorName == "Scan" || operatorName == "SequenceMap")
    return body;
  if (operatorName == "FlexAttention")
    return modifiers;
  return {};
}

StringRef getOpAttributeName(StringRef operatorName, StringRef attribute) {
  return operatorName == "Optional" && attribute == "type" ? StringRef("elem_type") : attribute;
}

StringRef getOnnxAttributeName(StringRef operatorName, StringRef attribute) {
  return operatorName == "Optional" && attribute == "elem_type" ? StringRef("type") : attribute;
}

} // namespace strata
