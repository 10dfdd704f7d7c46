//===- ExplainPlacement.cpp - what runs where, and what is copied ---------===//
#include "Codegen/NodeNames.h"
#include "Codegen/Passes.h"
#include "DeviceMemory.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/StringSet.h"

namespace strata {
#define GEN_PASS_DEF_EXPLAINPLACEMENT
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using namespace strata;

/// Bytes of a buffer, in words.
static std::string sizeOf(MemRefType type) {
  if (type.hasStaticShape())
    return std::to_string(type.getNumElements() * bytesPerElement(type)) + " bytes";
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t size : type.getShape())
    if (ShapedType::isDynamic(size))
      os << "? x ";
    else
      os << size << " x ";
  os << bytesPerElement(type) << " bytes";
  return text;
}

/// The name that the caller knows an input or a result of the model by.
static std::string interfaceName(ModuleOp module, StringRef side, unsigned index) {
  auto interface = module->getAttrOfType<DictionaryAttr>("strata.interface");
  auto values = interface ? interface.getAs<ArrayAttr>(side) : ArrayAttr();
  auto value = values && index < values.size() ? dyn_cast<DictionaryAttr>(values[index]) : DictionaryAttr();
  auto name = value ? value.getAs<StringAttr>("name") : StringAttr();
  return name ? ("'" + name.getValue() + "'").str() : std::to_string(index);
}

namespace {
using Row = SmallVector<std::string, 4>;

/// Rows of text in columns as wide as their widest entry.
void printTable(raw_ostream &os, ArrayRef<Row> rows) {
  SmallVector<size_t> widths;
  for (const Row &row : rows)
    for (auto [i, text] : llvm::enumerate(row)) {
      if (i == widths.size())
        widths.push_back(0);
      widths[i] = std::max(widths[i], text.size());
    }
  for (const Row &row : rows) {
    std::string line;
    for (auto [text, width] : llvm::zip(row, widths))
      line += "  " + text + std::string(width - text.size(), ' ');
    os << StringRef(line).rtrim() << "\n";
  }
}

struct ExplainPlacementPass : strata::impl::ExplainPlacementBase<ExplainPlacementPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    work.clear();
    copies.clear();
    constants = constantBytes = 0;
    if (auto main = module.lookupSymbol<func::FuncOp>("main"); main && !main.isExternal())
      visit(main.getBody());
    addNodesWithoutCode(module);
    llvm::errs() << "what runs where:\n";
    printTable(llvm::errs(), rowsOfWork());
    llvm::errs() << "copies in each run:\n";
    if (copies.empty())
      llvm::errs() << "  none\n";
    printTable(llvm::errs(), copies);
    if (constants)
      llvm::errs() << "once in a session: " << constants << (constants == 1 ? " constant" : " constants") << " of "
                   << constantBytes << " bytes to the GPU\n";
    markAllAnalysesPreserved();
  }

private:
  /// What follows each other for the same nodes is one entry.
  void addWork(StringRef where, StringRef what, const Twine &nodes, StringRef reason = "") {
    Work next = {where.str(), {what.str()}, nodes.str(), reason.str()};
    if (work.empty() || work.back().where != next.where || work.back().nodes != next.nodes ||
        work.back().reason != next.reason)
      work.push_back(next);
    else if (!llvm::is_contained(work.back().what, what))
      work.back().what.push_back(what.str());
  }
  void addWork(StringRef where, StringRef what, Location loc, StringRef reason = "") {
    addWork(where, what, joinNodeNames(loc, ", "), reason);
  }
  SmallVector<Row> rowsOfWork() const {
    SmallVector<Row> rows;
    for (const Work &entry : work) {
      std::string what = entry.what.front();
      if (entry.what.size() > 1)
        what += " and " + std::to_string(entry.what.size() - 1) + " more";
      rows.push_back({entry.where, what, entry.nodes, entry.reason});
    }
    return rows;
  }
  void addCopy(StringRef direction, MemRefType type, const Twine &what) {
    copies.push_back({direction.str(), sizeOf(type), what.str()});
  }

  static bool launches(Operation &op) {
    return op.walk([](gpu::LaunchFuncOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }
  static bool touchesMemory(Operation &op) {
    return op
        .walk([](Operation *inner) {
          bool touches = isa<memref::LoadOp, memref::StoreOp, memref::CopyOp, func::CallOp>(inner);
          return touches ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void visit(Region &region) {
    for (Operation &op : region.getOps()) {
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
        auto note = op.getAttrOfType<StringAttr>(kKernelNote);
        addWork("GPU", launch.getKernelName().getValue(), op.getLoc(), note ? note.getValue() : StringRef());
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        visitCall(call);
      } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
        visitCopy(copy);
      } else if (isa<cf::AssertOp>(op)) {
        addWork("host", "check", op.getLoc(), "ends the run where the input is not allowed");
      } else if (op.getNumRegions() && launches(op)) {
        addWork("host", op.getName().getStringRef(), op.getLoc(), "decides which kernels start");
        for (Region &inner : op.getRegions())
          visit(inner);
      } else if (op.getNumRegions() && touchesMemory(op)) {
        addWork("host", op.getName().getStringRef(), op.getLoc(), "is no kernel");
      } else if (isa<memref::LoadOp, memref::StoreOp>(op)) {
        addWork("host", "scalars", op.getLoc(), "sizes, conditions and other single numbers");
      }
    }
  }

  void visitCall(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (auto role = callee->getAttrOfType<StringAttr>(kDeviceCall))
      return visitDeviceCall(call, role);
    if (auto reason = call->getAttrOfType<StringAttr>(kOnHost))
      return addWork("host", call.getCallee(), call.getLoc(), reason);
    auto symbol = callee->getAttrOfType<StringAttr>("strata.symbol");
    addWork("host", symbol ? symbol.getValue() : call.getCallee(), call.getLoc(), "a function of the runtime");
  }

  void visitDeviceCall(func::CallOp call, StringAttr role) {
    // Parts of a launch.
    if (role == "tensor_map" || role == "multiprocessors")
      return;
    auto type = cast<MemRefType>(call.getOperand(0).getType());
    std::string nodes = joinNodeNames(call.getLoc(), ", ");
    if (role == "constant") {
      // A clone for each user names the same constant.
      auto global = call.getOperand(0).getDefiningOp<memref::GetGlobalOp>();
      if (global && !seen.insert(global.getNameAttr().getAttr()).second)
        return;
      ++constants;
      constantBytes += type.hasStaticShape() ? type.getNumElements() * bytesPerElement(type) : 0;
    } else if (role == "input") {
      addCopy("to the GPU", type, "input " + argumentName(call) + ", unless it is there");
    } else if (role == "result") {
      Operation *end = call->getBlock()->getTerminator();
      auto index = std::distance(end->operand_begin(), llvm::find(end->getOperands(), call.getResult(0)));
      addCopy("to the host", type, "result " + interfaceName(getOperation(), "outputs", index));
    } else if (role == "host_input") {
      // Of a caller who has it on the GPU, which is rare.
    } else if (role == "to_host") {
      addCopy("to the host", type, "what " + nodes + " reads there, if it has changed on the GPU");
    } else {
      addCopy("to the GPU", type, "what " + nodes + " has written, before the GPU uses it");
    }
  }

  std::string argumentName(func::CallOp call) {
    return interfaceName(getOperation(), "inputs", cast<BlockArgument>(call.getOperand(0)).getArgNumber());
  }

  void visitCopy(memref::CopyOp copy) {
    auto source = cast<MemRefType>(copy.getSource().getType()), target = cast<MemRefType>(copy.getTarget().getType());
    if (isDeviceMemory(source) && isDeviceMemory(target))
      addWork("GPU", "copy", copy.getLoc());
    else if (isDeviceMemory(source) || isDeviceMemory(target))
      addCopy(isDeviceMemory(target) ? "to the GPU" : "to the host", target,
              "for " + joinNodeNames(copy.getLoc(), ", "));
  }

  /// Nodes of the model that nothing was left of.
  void addNodesWithoutCode(ModuleOp module) {
    auto nodes = module->getAttrOfType<ArrayAttr>(kNodes);
    if (!nodes)
      return;
    SmallVector<StringRef> found;
    module.walk([&](Operation *op) {
      if (isa<gpu::LaunchFuncOp, memref::CopyOp, memref::LoadOp, memref::StoreOp, func::CallOp>(op))
        collectNodeNames(op->getLoc(), found);
    });
    llvm::StringSet<> known;
    for (StringRef name : found)
      known.insert(name);
    for (auto node : nodes.getAsRange<StringAttr>())
      if (known.insert(node.getValue()).second)
        addWork("-", "no code", node.getValue(), "computed when compiled, or another view of its input");
    module->removeAttr(kNodes);
  }

  struct Work {
    std::string where;
    SmallVector<std::string> what;
    std::string nodes, reason;
  };
  SmallVector<Work> work;
  SmallVector<Row> copies;
  DenseSet<StringAttr> seen;
  int64_t constants = 0, constantBytes = 0;
};
} // namespace
