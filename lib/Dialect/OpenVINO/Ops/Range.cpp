//===- Range.cpp - OpenVINO's Range-4 -------------------------------------===//

#include "../../ONNX/Ops/Slice.h"
#include "Dialect/OpenVINO/IR/OpenVINO.h"

// OpenVINO's names of the numeric element types.
static std::optional<ElementKind> parseOpenVINOType(StringRef name) {
  return llvm::StringSwitch<std::optional<ElementKind>>(name)
      .Case("f16", ElementKind::float16)
      .Case("f32", ElementKind::float32)
      .Case("f64", ElementKind::float64)
      .Case("bf16", ElementKind::bfloat16)
      .Case("i8", ElementKind::int8)
      .Case("i16", ElementKind::int16)
      .Case("i32", ElementKind::int32)
      .Case("i64", ElementKind::int64)
      .Case("u8", ElementKind::uint8)
      .Case("u16", ElementKind::uint16)
      .Case("u32", ElementKind::uint32)
      .Case("u64", ElementKind::uint64)
      .Default(std::nullopt);
}

static LogicalResult verifyRange(Operation *operation) {
  auto op = cast<ov::Range_4Op>(operation);
  std::optional<ElementKind> kind = parseOpenVINOType(op.getOutputType());
  if (!kind)
    return op.emitOpError("attribute 'output_type' is '")
           << op.getOutputType() << "'; allowed are f16, f32, f64, bf16, i8 to i64 and u8 to u64";
  for (Value scalar : op->getOperands())
    if (std::optional<Shape> shape = getShape(scalar.getType()); shape && !shape->empty())
      return op.emitOpError("start, stop and step must be scalars, found rank ") << shape->size();
  Type element = cast<TensorType>(op.getOutput().getType()).getElementType();
  if (element != getElementType(op.getContext(), *kind))
    return op.emitOpError("output_type is ") << op.getOutputType() << ", but the result holds " << element;
  return success();
}

// The number of elements is max(ceil((stop - start) / step), 0), known for constant integers.
static LogicalResult inferRange(ShapeContext &c) {
  auto kind = parseOpenVINOType(c.string("output_type", ""));
  if (!kind)
    return c.emitError() << "attribute 'output_type' is no numeric type";
  c.setElementType(0, getElementType(c.getContext(), *kind));
  auto start = c.integers(0), stop = c.integers(1), step = c.integers(2);
  Dim count;
  if (start && stop && step) {
    if (step->front() == 0)
      return c.emitError() << "step is zero";
    __int128 difference = static_cast<__int128>(stop->front()) - start->front(), by = step->front();
    __int128 steps = difference / by + ((difference % by != 0) && ((difference < 0) == (by < 0)));
    if (steps > INT64_MAX)
      return c.emitError() << "has more than 2^63 elements";
    count = Dim(std::max<int64_t>(static_cast<int64_t>(steps), 0));
  }
  c.setShape(0, count);
  return success();
}

STRATA_SLICE_OF(ov, Range) { ops.add("Range", {.verify = verifyRange, .inferShapes = inferRange}); }
