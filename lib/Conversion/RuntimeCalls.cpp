//===- RuntimeCalls.cpp - what linalg cannot do ---------------------------===//

#include "Conversion/RuntimeCalls.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace strata {

Value callRuntime(LinalgBuilder &b, StringRef symbol, ValueRange arguments, Type result, bool located) {
  // One declaration for each combination of types, all of the same C function: ConvertToLLVM gives them its name.
  SmallVector<Value> values;
  std::string name = (symbol + "_").str(); // not the C function's
  llvm::raw_string_ostream os(name);
  for (Value value : arguments) {
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
      SmallVector<int64_t> dynamic(tensor.getRank(), ShapedType::kDynamic);
      value = b.castTo(value, RankedTensorType::get(dynamic, tensor.getElementType()));
      os << "_t" << tensor.getRank() << tensor.getElementType();
    } else if (auto buffer = dyn_cast<MemRefType>(value.getType())) {
      SmallVector<int64_t> dynamic(buffer.getRank(), ShapedType::kDynamic);
      auto type = MemRefType::get(dynamic, buffer.getElementType());
      if (type != buffer)
        value = b.create<memref::CastOp>(type, value);
      os << "_m" << buffer.getRank() << buffer.getElementType();
    } else {
      os << "_" << value.getType();
    }
    values.push_back(value);
  }
  for (char &c : os.str())
    if (!llvm::isAlnum(c))
      c = '_';
  if (located)
    values.push_back(b.scalarInt(b.getI64Type(), 0));
  SmallVector<Type> results;
  if (result)
    results.push_back(result);
  Operation *function = b.declareRuntimeFunction(name, b.getFunctionType(ValueRange(values).getTypes(), results));
  function->setAttr("strata.symbol", b.getStringAttr(symbol));
  if (located)
    function->setAttr("strata.located", b.getUnitAttr());
  auto call = b.create<func::CallOp>(cast<func::FuncOp>(function), values);
  return result ? call.getResult(0) : Value();
}

Value makeBuffer(LinalgBuilder &b, ArrayRef<OpFoldResult> sizes, Type element) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> known = getConstantIntValue(size);
    shape.push_back(known ? *known : ShapedType::kDynamic);
    if (!known)
      dynamic.push_back(b.index(size));
  }
  return b.create<memref::AllocOp>(MemRefType::get(shape, element), dynamic);
}

Value bufferToTensor(LinalgBuilder &b, Value buffer) {
  return b.create<bufferization::ToTensorOp>(buffer, /*restrict=*/true, /*writable=*/true);
}

Value stringTable(LinalgBuilder &b, ArrayRef<StringRef> strings) {
  // The count, then where each string begins and the last one ends, then the bytes (strata_rt_string_constants).
  SmallVector<int64_t> head{static_cast<int64_t>(strings.size()), 0};
  std::string bytes;
  for (StringRef string : strings) {
    bytes += string;
    head.push_back(bytes.size());
  }
  std::string data(reinterpret_cast<const char *>(head.data()), head.size() * sizeof(int64_t));
  data += bytes;
  auto type = RankedTensorType::get({static_cast<int64_t>(data.size())}, b.getI8Type());
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned i = 0; name.empty() || module.lookupSymbol(name); ++i)
    name = ("strings" + Twine(i)).str();
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  top.create<ml_program::GlobalOp>(b.getLoc(), name, type, /*is_mutable=*/false,
                                   DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(data.data(), data.size())),
                                   top.getStringAttr("private"));
  return b.create<ml_program::GlobalLoadConstOp>(type, FlatSymbolRefAttr::get(b.getContext(), name));
}

Value stringConstants(LinalgBuilder &b, ArrayRef<StringRef> strings) {
  OpFoldResult count = b.getIndexAttr(strings.size());
  Value buffer = makeBuffer(b, count, b.getI64Type());
  callRuntime(b, "strata_rt_string_constants", {stringTable(b, strings), buffer});
  return bufferToTensor(b, buffer);
}

Value stringConstant(LinalgBuilder &b, StringRef string) {
  if (string.empty())
    return b.scalarInt(b.getI64Type(), 0);
  return b.create<tensor::ExtractOp>(stringConstants(b, string), ValueRange{b.index(int64_t(0))});
}

Value addressOf(LinalgBuilder &b, Value constant) {
  return callRuntime(b, "strata_rt_address", constant, b.getI64Type());
}

StringSearch::StringSearch(LinalgBuilder &b, ArrayRef<StringRef> strings) {
  // Of equal strings only the last one is searched.
  llvm::StringMap<int64_t> last;
  for (auto [i, string] : llvm::enumerate(strings))
    last[string] = i;
  SmallVector<int64_t> order;
  for (const auto &entry : last)
    order.push_back(entry.second);
  llvm::sort(order, [&](int64_t x, int64_t y) { return strings[x] < strings[y]; });
  order.insert(order.begin(), order.size());
  table = addressOf(b, stringTable(b, strings));
  this->order = addressOf(
      b, b.constant(DenseIntElementsAttr::get(
             RankedTensorType::get({static_cast<int64_t>(order.size())}, b.getI64Type()), ArrayRef<int64_t>(order))));
}

Value StringSearch::find(LinalgBuilder &b, Value string) const {
  return callRuntime(b, "strata_rt_string_find", {table, order, string}, b.getI64Type());
}

Value tabulate(LinalgBuilder &b, ArrayRef<OpFoldResult> sizes, Type element,
               llvm::function_ref<Value(ValueRange)> body) {
  return b.loopNest(sizes, b.empty(sizes, element), [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    return {b.create<tensor::InsertOp>(body(at), carried[0], at)};
  })[0];
}

Value mapElements(LinalgBuilder &b, ValueRange tensors, Type element, llvm::function_ref<Value(ValueRange)> body) {
  SmallVector<Value> same(tensors);
  if (tensors.size() > 1)
    for (auto [i, tensor] : llvm::enumerate(tensors))
      same[i] = b.elementwise(tensors, cast<RankedTensorType>(tensor.getType()).getElementType(),
                              [i = i](ImplicitLocOpBuilder &, ValueRange x) { return x[i]; });
  return tabulate(b, b.sizes(same[0]), element, [&](ValueRange at) {
    return body(
        llvm::map_to_vector(same, [&](Value tensor) -> Value { return b.create<tensor::ExtractOp>(tensor, at); }));
  });
}

Value dtypeOf(LinalgBuilder &b, Type onnxElement) {
  return b.scalarInt(b.getI64Type(), onnx::getDataType(*onnx::getElementKind(onnxElement)));
}

} // namespace strata
