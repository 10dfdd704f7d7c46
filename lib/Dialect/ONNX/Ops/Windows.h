//===- Windows.h - sliding windows of convolutions and pools ----*- C++ -*-===//
//
// kernel_shape, strides, dilations, pads and auto_pad, for shape rules (Dim)
// and for lowerings (OpFoldResult).
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_WINDOWS_H
#define STRATA_LIB_DIALECT_ONNX_OPS_WINDOWS_H

#include "Compute.h"

namespace strata {

struct Windows {
  SmallVector<int64_t> kernel, strides, dilations, low, high;
  bool sameUpper = false, sameLower = false, ceil = false;
  /// Windows that start in the padding after the data do not count (pools from version 22 on).
  bool dropLast = false;

  int64_t rank() const { return kernel.size(); }
  /// Positions from a window's first to its last element.
  int64_t extent(int64_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  bool isSame() const { return sameUpper || sameLower; }

  /// Reads the attributes of an op with `spatialRank` spatial dimensions; `kernel` is the kernel's shape where the
  /// attribute is absent (sizes that are unknown are errors of the caller). Emits an error for what the specification
  /// does not allow.
  static FailureOr<Windows> get(Operation *op, ArrayRef<int64_t> kernelShape, bool dropLast = false) {
    Windows w;
    w.kernel.assign(kernelShape.begin(), kernelShape.end());
    int64_t rank = w.rank();
    auto read = [&](StringRef name, SmallVector<int64_t> &into, int64_t count, int64_t absent,
                    int64_t lowest) -> LogicalResult {
      auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
      if (!attr) {
        into.assign(count, absent);
        return success();
      }
      into.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
      if (static_cast<int64_t>(into.size()) != count)
        return op->emitOpError("'") << name << "' has " << into.size() << " values, not " << count;
      for (int64_t value : into)
        if (value < lowest)
          return op->emitOpError("'") << name << "' holds " << value << ", less than " << lowest;
      return success();
    };
    SmallVector<int64_t> pads;
    for (int64_t size : w.kernel)
      if (size < 1)
        return op->emitOpError("'kernel_shape' holds ") << size << ", less than 1";
    if (failed(read("strides", w.strides, rank, 1, 1)) || failed(read("dilations", w.dilations, rank, 1, 1)) ||
        failed(read("pads", pads, 2 * rank, 0, 0)))
      return failure();
    w.low.assign(pads.begin(), pads.begin() + rank);
    w.high.assign(pads.begin() + rank, pads.end());
    if (auto autoPad = op->getAttrOfType<StringAttr>("auto_pad")) {
      StringRef mode = autoPad.getValue();
      w.sameUpper = mode == "SAME_UPPER";
      w.sameLower = mode == "SAME_LOWER";
      if (!w.isSame() && mode != "VALID" && mode != "NOTSET")
        return op->emitOpError("'auto_pad' is '") << mode << "', not NOTSET, SAME_UPPER, SAME_LOWER or VALID";
      if (mode != "NOTSET") {
        w.low.assign(rank, 0);
        w.high.assign(rank, 0);
      }
    }
    auto ceil = op->getAttrOfType<IntegerAttr>("ceil_mode");
    w.ceil = ceil && ceil.getInt() != 0 && !w.isSame();
    w.dropLast = dropLast;
    return w;
  }

  /// The number of windows along dimension `i` of size `in`.
  Dim outSize(const Dim &in, int64_t i) const {
    if (!in.isStatic())
      return isSame() && strides[i] == 1 ? in : low[i] + high[i] + 1 == extent(i) && strides[i] == 1 ? in : Dim();
    if (isSame())
      return Dim(llvm::divideCeilSigned(in.size, strides[i]));
    int64_t room = in.size + low[i] + high[i] - extent(i);
    if (room < 0)
      return Dim(ceil && room > -strides[i] && (!dropLast || in.size + low[i] > 0) ? 1 : 0);
    int64_t out = (ceil ? llvm::divideCeilSigned(room, strides[i]) : room / strides[i]) + 1;
    if (ceil && dropLast && (out - 1) * strides[i] >= in.size + low[i])
      --out;
    return Dim(out);
  }

  OpFoldResult outSize(LinalgBuilder &b, OpFoldResult in, int64_t i) const {
    if (auto known = getConstantIntValue(in))
      return b.getIndexAttr(outSize(Dim(*known), i).size);
    auto number = [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); };
    if (isSame())
      return b.ceilDiv(in, number(strides[i]));
    int64_t grow = low[i] + high[i] - extent(i);
    if (strides[i] == 1)
      return b.maximum(b.add(in, number(grow + 1)), number(0));
    OpFoldResult room = b.add(in, number(grow)), stride = number(strides[i]);
    OpFoldResult out = b.add(ceil ? b.ceilDiv(room, stride) : b.floorDiv(room, stride), number(1));
    if (ceil && dropLast) // The last window must start before the end of the data.
      out = b.minimum(out, b.ceilDiv(b.add(in, number(low[i])), stride));
    return b.maximum(out, number(0));
  }

  /// Padding in front of and behind dimension `i`, so that exactly the windows fit in: for ceil_mode the padding behind
  /// may be more than `high`.
  std::pair<OpFoldResult, OpFoldResult> padding(LinalgBuilder &b, OpFoldResult in, OpFoldResult out, int64_t i) const {
    OpFoldResult zero = b.getIndexAttr(0);
    OpFoldResult need =
        b.add(b.mul(b.sub(out, b.getIndexAttr(1)), b.getIndexAttr(strides[i])), b.getIndexAttr(extent(i)));
    if (isSame()) {
      OpFoldResult total = b.maximum(b.sub(need, in), zero);
      OpFoldResult half = b.floorDiv(total, b.getIndexAttr(2)), rest = b.sub(total, half);
      return sameUpper ? std::pair(half, rest) : std::pair(rest, half);
    }
    OpFoldResult before = b.getIndexAttr(low[i]);
    if (!ceil)
      return {before, b.getIndexAttr(high[i])};
    return {before, b.maximum(b.sub(b.sub(need, in), before), b.getIndexAttr(high[i]))};
  }
};

} // namespace strata

#endif // STRATA_LIB_DIALECT_ONNX_OPS_WINDOWS_H
