//===- FunctionBodies.cpp - operators as ONNX defines them by others ------===//
//
// The op alone makes a model, its node a call of a model-local function, and the
// body that ONNX's library gives is that function: the importer inlines it.
//
//===----------------------------------------------------------------------===//

#include "Import/FunctionBodies.h"
#include "Dialect/VersionedOp.h"
#include "Export/Export.h"
#include "Import/Import.h"
#include "OnnxLibrary.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace llvm;
using namespace mlir;

namespace strata {

/// A module with the op in a function of its operands.
static OwningOpRef<ModuleOp> isolate(Operation *op) {
  OpBuilder builder(op->getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto function = builder.create<func::FuncOp>(op->getLoc(), "main",
                                               builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  IRMapping mapping;
  for (auto [operand, argument] : llvm::zip_equal(op->getOperands(), entry->getArguments()))
    mapping.map(operand, argument);
  Operation *clone = builder.clone(*op, mapping);
  builder.create<func::ReturnOp>(op->getLoc(), clone->getResults());
  return module;
}

FailureOr<OwningOpRef<ModuleOp>> importFunctionBody(Operation *op) {
  auto versioned = cast<VersionedOpInterface>(op);
  for (Region &region : op->getRegions())
    if (region
            .walk([](VersionedOpInterface inner) {
              return inner.getNextVersion() != 0 ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted())
      return op->emitOpError(
          "cannot be expanded: its subgraphs have operators of old versions; run onnx-upgrade-opset first");
  // Values of subgraphs would have to become operands; no operator has both a body and subgraphs that capture.
  OwningOpRef<ModuleOp> isolated = isolate(op);
  std::string bytes;
  raw_string_ostream stream(bytes);
  if (failed(exportOnnx(*isolated, stream)))
    return failure();
  std::string error;
  if (!importer::callFunctionBody(bytes, versioned.getOperatorName(), versioned.getDomain(),
                                  versioned.getSinceVersion(), error))
    return op->emitOpError("cannot be expanded: ") << error;
  ImportOptions options;
  options.name = ("function body of " + op->getName().getStringRef()).str();
  OwningOpRef<ModuleOp> body = importOnnxBytes(MemoryBuffer::getMemBufferCopy(bytes), op->getContext(), options);
  if (!body)
    return op->emitOpError("cannot be expanded");
  return body;
}

} // namespace strata
