//===- MaxUnpool.cpp - MaxUnpool ------------------------------------------===//
//
// The indices count the elements of the result that kernel, strides and pads
// imply; a larger output_shape has zeros behind those.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"

namespace {
struct Unpooling {
  SmallVector<int64_t> kernel, strides, pads;

  static FailureOr<Unpooling> get(Operation *op) {
    Unpooling u;
    auto read = [&](StringRef name, SmallVector<int64_t> &into, int64_t count, int64_t absent,
                    int64_t least) -> LogicalResult {
      auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
      into = attr ? SmallVector<int64_t>(attr.asArrayRef()) : SmallVector<int64_t>(count, absent);
      if (count >= 0 && static_cast<int64_t>(into.size()) != count)
        return op->emitOpError("'") << name << "' has " << into.size() << " values, not " << count;
      for (int64_t value : into)
        if (value < least)
          return op->emitOpError("'") << name << "' holds " << value << ", less than " << least;
      return success();
    };
    if (!op->getAttr("kernel_shape") || failed(read("kernel_shape", u.kernel, -1, 1, 1)))
      return failure();
    int64_t rank = u.kernel.size();
    if (failed(read("strides", u.strides, rank, 1, 1)) || failed(read("pads", u.pads, 2 * rank, 0, 0)))
      return failure();
    return u;
  }

  /// What is added to (size - 1) * stride.
  int64_t extra(int64_t i) const { return kernel[i] - pads[i] - pads[kernel.size() + i]; }
};
} // namespace

static LogicalResult inferMaxUnpool(ShapeContext &c) {
  FailureOr<Unpooling> unpooling = Unpooling::get(c.getOperation());
  if (failed(unpooling))
    return failure();
  int64_t rank = unpooling->kernel.size();
  std::optional<Shape> shape = c.shape(0), indices = c.shape(1);
  if ((shape && static_cast<int64_t>(shape->size()) != rank + 2) ||
      (indices && static_cast<int64_t>(indices->size()) != rank + 2))
    return c.emitError() << "needs operands of rank " << rank + 2 << " for a kernel of rank " << rank;
  if (!shape)
    return success();
  Shape result(*shape);
  for (int64_t i = 0; i < rank; ++i) {
    Dim &size = result[2 + i];
    if (size.isStatic()) {
      size = Dim((size.size - 1) * unpooling->strides[i] + unpooling->extra(i));
      if (size.size < 0)
        return c.emitError() << "has a size of " << size.size << " in dimension " << 2 + i;
    } else {
      size = Dim();
    }
  }
  if (c.hasInput(2)) {
    auto values = c.values(2);
    if (values && static_cast<int64_t>(values->size()) != rank + 2)
      return c.emitError() << "has an output shape of " << values->size() << " values, not " << rank + 2;
    for (auto [i, size] : llvm::enumerate(result)) {
      if (values && (*values)[i].isStatic() && size.isStatic() && (*values)[i].size < size.size)
        return c.emitError() << "has an output shape of " << (*values)[i].size << " in dimension " << i
                             << ", less than the " << size.size << " that the kernel implies";
      size = values ? (*values)[i] : Dim();
    }
  }
  c.setShape(0, result);
  return success();
}

static FailureOr<SmallVector<Value>> lowerMaxUnpool(Operation *op, ValueRange operands, LinalgBuilder &b) {
  FailureOr<Unpooling> unpooling = Unpooling::get(op);
  if (failed(unpooling))
    return failure();
  Value x = operands[0], indices = operands[1];
  Sizes sizes = b.sizes(x), result(sizes.begin(), sizes.begin() + 2);
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  using P = arith::CmpIPredicate;
  for (auto [i, size] : llvm::enumerate(sizes))
    b.checkEqual(size, b.dim(indices, i), "there is not an index for each element");
  for (size_t i = 0; i < unpooling->kernel.size(); ++i) {
    result.push_back(b.add(b.mul(b.sub(sizes[2 + i], one), b.getIndexAttr(unpooling->strides[i])),
                           b.getIndexAttr(unpooling->extra(i))));
    b.check(b.compare(P::sge, result.back(), zero), "a size of the result is negative");
  }
  OpFoldResult total = b.product(result);
  Value count = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), b.index(total));
  Value flat = b.reshape(x, {b.product(sizes)}), flatIndices = b.reshape(indices, {b.product(sizes)});
  Value ok = b.reduce(flatIndices, {0}, false, b.scalarInt(b.getI1Type(), 1),
                      [&](ImplicitLocOpBuilder &n, ValueRange args) -> Value {
                        Value fits = n.create<arith::CmpIOp>(P::ult, args[0], count);
                        return n.create<arith::AndIOp>(args[1], fits);
                      });
  b.check(b.extractScalar(ok), "an index is out of range");
  Value start = b.fill({total}, b.scalarInt(getElementType(x), 0));
  Value filled = b.loopNest({b.product(sizes)}, start, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    Value to = b.create<arith::IndexCastOp>(b.getIndexType(), b.create<tensor::ExtractOp>(flatIndices, at[0]));
    return {b.create<tensor::InsertOp>(b.create<tensor::ExtractOp>(flat, at[0]), carried[0], to)};
  })[0];
  Value image = b.reshape(filled, result);
  Value shape = b.onnxOperand(2);
  if (!shape)
    return SmallVector<Value>{image};
  Sizes asked, low(result.size(), zero), high;
  if (cast<RankedTensorType>(shape.getType()).hasStaticShape()) {
    asked = b.integerElements(shape);
  } else {
    b.checkEqual(b.dim(operands[2], 0), b.getIndexAttr(result.size()), "the output shape does not have the rank of X");
    for (size_t i = 0; i < result.size(); ++i)
      asked.push_back(b.element(operands[2], i));
  }
  for (size_t i = 0; i < result.size(); ++i) {
    b.check(b.compare(P::sge, asked[i], result[i]), "the output shape is smaller than the kernel implies");
    high.push_back(b.sub(asked[i], result[i]));
  }
  return SmallVector<Value>{b.pad(image, low, high, b.scalarInt(getElementType(x), 0))};
}

STRATA_SLICE(MaxUnpool) { ops.add("MaxUnpool", {.inferShapes = inferMaxUnpool, .lower = lowerMaxUnpool}); }
