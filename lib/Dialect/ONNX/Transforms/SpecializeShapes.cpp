//===- SpecializeShapes.cpp - onnx-specialize-shapes ----------------------===//

#include "Dialect/ONNX/Transforms/SpecializeShapes.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Dialect/ShapeContext.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace strata {
#define GEN_PASS_DEF_SPECIALIZESHAPESPASS
#include "Dialect/ONNX/Transforms/Passes.h.inc"

llvm::Expected<ShapeSet> parseShapeSet(ArrayRef<StringRef> sizes) {
  ShapeSet set;
  for (StringRef text : sizes) {
    auto [name, size] = text.rsplit('=');
    int64_t value;
    if (name.empty() || size.getAsInteger(10, value))
      return llvm::createStringError("sizes of symbolic dimensions are NAME=SIZE, separated by commas, not '%s'",
                                     text.str().c_str());
    if (value < 1)
      return llvm::createStringError("the size of dimension '%s' is %lld; it must be at least 1", name.str().c_str(),
                                     static_cast<long long>(value));
    if (llvm::is_contained(llvm::make_first_range(set), name))
      return llvm::createStringError("dimension '%s' is given twice in one set", name.str().c_str());
    set.emplace_back(name, value);
  }
  if (set.empty())
    return llvm::createStringError("a set of sizes is empty; it is NAME=SIZE, separated by commas");
  return set;
}

static LogicalResult refuse(ModuleOp module, StringRef name, ArrayRef<StringRef> known) {
  InFlightDiagnostic error = module.emitError("no input has a dimension '") << name << "'; ";
  if (known.empty())
    return error << "no dimension of an input has a name";
  error << "the names are ";
  llvm::interleaveComma(known, error, [&](StringRef other) { error << "'" << other << "'"; });
  return error;
}

FailureOr<InputShapes> shapesFor(ModuleOp module, const ShapeSet &set) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return module.emitError("the module has no function @main");
  llvm::MapVector<StringRef, int64_t> sizes; // -1: of a name that the set leaves alone
  InputShapes shapes;
  for (Type type : main.getArgumentTypes()) {
    std::vector<int64_t> &shape = shapes.emplace_back();
    for (const Dim &dim : getShape(type).value_or(Shape())) {
      shape.push_back(dim.isStatic() ? dim.size : -1);
      if (!dim.symbol)
        continue;
      auto given = llvm::find_if(set, [&](const auto &entry) { return entry.first == dim.symbol.getValue(); });
      shape.back() = sizes[dim.symbol.getValue()] = given == set.end() ? -1 : given->second;
    }
  }
  for (const auto &[name, size] : set)
    if (!sizes.contains(name))
      return refuse(module, name, llvm::to_vector(llvm::make_first_range(sizes)));
  return shapes;
}

void specializeInputs(ModuleOp module, const InputShapes &shapes) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  SmallVector<Type> types;
  for (auto [argument, sizes] : llvm::zip_equal(main.getArguments(), shapes)) {
    if (std::optional<Shape> shape = getShape(argument.getType())) {
      for (auto [dim, size] : llvm::zip_equal(*shape, sizes))
        if (size >= 0)
          dim = Dim(size);
      argument.setType(makeTensorType(*shape, cast<TensorType>(argument.getType()).getElementType()));
    }
    types.push_back(argument.getType());
  }
  main.setType(FunctionType::get(module.getContext(), types, main.getResultTypes()));
}

namespace {
struct SpecializeShapesPass : impl::SpecializeShapesPassBase<SpecializeShapesPass> {
  using SpecializeShapesPassBase::SpecializeShapesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::Expected<ShapeSet> set = parseShapeSet(llvm::map_to_vector(sizes, [](auto &s) { return StringRef(s); }));
    if (!set) {
      module.emitError(llvm::toString(set.takeError()));
      return signalPassFailure();
    }
    FailureOr<InputShapes> shapes = shapesFor(module, *set);
    if (failed(shapes))
      return signalPassFailure();
    specializeInputs(module, *shapes);
  }
};
} // namespace
} // namespace strata
