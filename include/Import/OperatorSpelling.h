//===- OperatorSpelling.h - what nodes and their ops spell differently *- C++ -*-===//

#ifndef STRATA_IMPORT_OPERATORSPELLING_H
#define STRATA_IMPORT_OPERATORSPELLING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace strata {

/// `ai.onnx` for the default domain, which models leave empty.
inline llvm::StringRef normalizeDomain(llvm::StringRef domain) { return domain.empty() ? "ai.onnx" : domain; }

/// ai.onnx and the other domains whose operators ONNX itself defines: an unknown one of them is an error.
bool isStandardDomain(llvm::StringRef domain);

/// Names of the operator's graph attributes in the order of its op's regions.
llvm::ArrayRef<llvm::StringLiteral> getGraphAttributes(llvm::StringRef operatorName);

/// The op's name of an operator's attribute, and back.
llvm::StringRef getOpAttributeName(llvm::StringRef operatorName, llvm::StringRef attribute);
llvm::StringRef getOnnxAttributeName(llvm::StringRef operatorName, llvm::StringRef attribute);

} // namespace strata

#endif // STRATA_IMPORT_OPERATORSPELLING_H
