//===- OneHotEncoder.cpp - ml.OneHotEncoder: a one at the place of the category ------------===//
//
// Floating-point elements are cast to integers. Of equal categories the last one
// counts.
//
//===----------------------------------------------------------------------===//

#include "../Search.h"

static LogicalResult inferOneHotEncoder(ShapeContext &c) {
  auto integers = c.integerArray("cats_int64s");
  auto strings = c.attr<ArrayAttr>("cats_strings");
  if (static_cast<bool>(integers) == static_cast<bool>(strings))
    return c.emitError() << "needs one of 'cats_int64s' and 'cats_strings'";
  if (Type element = c.elementType(0); element && isa<StringType>(element) != static_cast<bool>(strings))
    return c.emitError() << "has categories that are " << (strings ? "strings" : "numbers") << " for an input of "
                         << (strings ? "numbers" : "strings");
  if (std::optional<Shape> shape = c.shape(0)) {
    shape->push_back(Dim(integers ? integers->size() : strings.size()));
    c.setShape(0, *shape);
  }
  return success();
}

static ElementsAttr getCategories(OneHotEncoderOp op) {
  Builder b(op.getContext());
  if (auto integers = op.getCatsInt64s())
    return DenseElementsAttr::get(RankedTensorType::get(static_cast<int64_t>(integers->size()), b.getI64Type()),
                                  *integers);
  SmallVector<StringRef> strings;
  for (StringAttr name : op.getCatsStrings()->getAsRange<StringAttr>())
    strings.push_back(name.getValue());
  return DenseStringElementsAttr::get(
      RankedTensorType::get(static_cast<int64_t>(strings.size()), StringType::get(op.getContext())), strings);
}

static FailureOr<SmallVector<Value>> lowerOneHotEncoder(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto encoder = cast<OneHotEncoderOp>(op);
  Type from = getElementType(op->getOperand(0)), i64 = b.getI64Type(), f32 = b.getF32Type();
  ElementsAttr categories = getCategories(encoder);
  Value x = operands[0], positions;
  Sizes sizes = b.sizes(x);
  if (categories.getNumElements() == 0) {
    positions = b.fill(sizes, b.scalarInt(i64, -1));
  } else {
    KeySearch search(b, categories);
    if (!isa<StringType>(from))
      x = b.elementwise(x, i64,
                        [&](ImplicitLocOpBuilder &n, ValueRange v) { return scalar::convert(n, v[0], from, i64); });
    positions = search.findAll(b, x, isa<StringType>(from) ? from : i64);
  }
  if (encoder.getZeros() == 0) {
    SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, sizes.size()));
    Value least =
        b.reduce(positions, all, false, b.scalarInt(i64, 0),
                 [](ImplicitLocOpBuilder &n, ValueRange v) -> Value { return n.create<arith::MinSIOp>(v[0], v[1]); });
    b.check(b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, b.extractScalar(least), b.scalarInt(i64, 0)),
            "an element is in no category");
  }
  sizes.push_back(b.getIndexAttr(categories.getNumElements()));
  return SmallVector<Value>{b.generate(sizes, f32, [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
    // In as many bits as the result has.
    Type i32 = n.getI32Type();
    Value position = n.create<arith::TruncIOp>(i32, n.create<tensor::ExtractOp>(positions, at.drop_back()));
    Value own = n.create<arith::IndexCastOp>(i32, at.back());
    return n.create<arith::UIToFPOp>(f32, n.create<arith::CmpIOp>(arith::CmpIPredicate::eq, position, own));
  })};
}

STRATA_SLICE(OneHotEncoder) {
  ops.add("ml.OneHotEncoder", {.inferShapes = inferOneHotEncoder, .lower = lowerOneHotEncoder, .handles = true});
}
