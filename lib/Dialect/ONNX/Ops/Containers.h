//===- Containers.h - sequences and optionals at the seam -------*- C++ -*-===//
//
// They are rank-0 tensors of one i64, a handle of a runtime object
// (docs/architecture.md, "Values that are no numbers").
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_CONTAINERS_H
#define STRATA_LIB_DIALECT_ONNX_OPS_CONTAINERS_H

#include "Conversion/RuntimeCalls.h"
#include "Elementwise.h"

namespace strata::onnx {

/// More dimensions than the runtime's objects have.
inline constexpr int64_t kMaxObjectRank = 60;

/// The handle of a value: of a tensor, that of a copy.
inline Value toObject(LinalgBuilder &b, Value onnxValue, Value value) {
  auto tensor = dyn_cast<TensorType>(onnxValue.getType());
  if (!tensor)
    return b.extractScalar(value);
  Value rank = b.scalarInt(b.getI64Type(), getRank(value));
  return callRuntime(b, "strata_rt_tensor_make", {value, dtypeOf(b, tensor.getElementType()), rank}, b.getI64Type());
}

/// The value of an object, of the onnx type `type`: its rank and its sizes are checked.
inline Value fromObject(LinalgBuilder &b, Value object, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return b.fromScalar(object);
  Type i64 = b.getI64Type();
  Value rank = b.scalarInt(i64, tensor.getRank());
  b.check(b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, callRuntime(b, "strata_rt_tensor_rank", object, i64), rank),
          "the element has another rank than " + Twine(tensor.getRank()));
  Sizes sizes;
  for (int64_t i = 0; i < tensor.getRank(); ++i) {
    Value size = callRuntime(b, "strata_rt_tensor_size", {object, b.scalarInt(i64, i)}, i64);
    sizes.push_back(b.create<arith::IndexCastOp>(b.getIndexType(), size).getResult());
  }
  for (int64_t i = 0; i < tensor.getRank(); ++i)
    if (!tensor.isDynamicDim(i)) {
      b.checkEqual(sizes[i], b.getIndexAttr(tensor.getDimSize(i)),
                   "the element has another size than " + Twine(tensor.getDimSize(i)) + " in dimension " + Twine(i));
      sizes[i] = b.getIndexAttr(tensor.getDimSize(i));
    }
  Value buffer = makeBuffer(b, sizes, getSeamElementType(tensor.getElementType()));
  callRuntime(b, "strata_rt_tensor_read", {object, buffer, rank});
  return bufferToTensor(b, buffer);
}

/// An error if values of this type cannot be in a container or be taken out of it.
inline LogicalResult checkElement(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (isa<UnrankedTensorType>(type))
    return op->emitOpError("cannot be compiled: the rank of the elements is not known at compile time");
  if (tensor && tensor.getRank() > kMaxObjectRank)
    return op->emitOpError("cannot be compiled: elements of rank ") << tensor.getRank();
  return success();
}

inline Type elementOf(Type container) {
  if (auto seq = dyn_cast<SeqType>(container))
    return seq.getElement();
  if (auto optional = dyn_cast<OptionalType>(container))
    return optional.getElement();
  return {};
}

/// The type of the elements of a sequence; null of one that is empty.
inline Type elementOf(Value sequence) {
  Operation *maker = sequence.getDefiningOp();
  Type element = elementOf(sequence.getType());
  bool isEmpty = maker && isa<VersionedOpInterface>(maker) && getUnversionedName(maker) == "SequenceEmpty";
  return isEmpty || isa<NoneType>(element) ? Type() : element;
}

} // namespace strata::onnx

#endif // STRATA_LIB_DIALECT_ONNX_OPS_CONTAINERS_H
