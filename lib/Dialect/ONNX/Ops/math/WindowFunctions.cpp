//===- WindowFunctions.cpp - BlackmanWindow, HammingWindow, HannWindow ----===//
//
// They run as their function bodies; here are their types.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"

static LogicalResult inferWindow(ShapeContext &c) {
  if (auto kind = getElementKindOfDataType(c.integer("output_datatype", 1)))
    c.setElementType(0, onnx::getElementType(c.getContext(), *kind));
  ValueAnalysis::Values size = c.values(0);
  if (size && size->size() == 1 && (*size)[0].isStatic() && (*size)[0].size < 0)
    return c.emitError() << "has the size " << (*size)[0].size;
  c.setShape(0, size && size->size() == 1 ? Shape{(*size)[0]} : Shape(1));
  return success();
}

STRATA_SLICE(WindowFunctions) {
  for (StringRef name : {"BlackmanWindow", "HammingWindow", "HannWindow"})
    ops.add(name, {.inferShapes = inferWindow});
}
