//===- Gradient.cpp - Gradient: types -------------------------------------===//
//
// onnx-expand-gradients replaces it before anything is lowered.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"

static LogicalResult inferGradient(ShapeContext &c) {
  for (unsigned i = 0; i < c.getOperation()->getNumResults() && i < c.numInputs(0); ++i)
    c.setType(0, c.input(0, i).getType(), i);
  return success();
}

STRATA_SLICE(Gradient) { ops.add("training.Gradient", {.inferShapes = inferGradient}); }
