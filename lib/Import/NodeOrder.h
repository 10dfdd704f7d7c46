//===- NodeOrder.h - order of a graph's nodes -------------------*- C++ -*-===//

#ifndef STRATA_LIB_IMPORT_NODEORDER_H
#define STRATA_LIB_IMPORT_NODEORDER_H

#include "Trace.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace strata::importer {

/// Indices of `nodes` such that each comes after those whose results it uses, also from within its subgraphs. ONNX asks
/// for that order in the file, and it is kept if it is there; not all writers keep to it. A cycle is an error.
/// `isDefined` tells the names that the graph defines without its nodes.
llvm::FailureOr<llvm::SmallVector<int>> orderNodes(const google::protobuf::RepeatedPtrField<proto::NodeProto> &nodes,
                                                   llvm::function_ref<bool(llvm::StringRef)> isDefined,
                                                   const Trace &trace);

} // namespace strata::importer

#endif // STRATA_LIB_IMPORT_NODEORDER_H
