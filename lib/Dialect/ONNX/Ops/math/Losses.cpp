//===- Losses.cpp - NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss ----===//
//
// They run as their function bodies; here are their types. Scores are
// [N, C, d...], labels and the unreduced loss [N, d...].
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"

static LogicalResult inferLoss(ShapeContext &c) {
  std::optional<Shape> scores = c.shape(0), labels = c.shape(1), weights = c.shape(2);
  if (scores && scores->size() < 2)
    return c.emitError() << "needs scores of rank at least 2, not " << scores->size();
  if (scores && labels && scores->size() != labels->size() + 1)
    return c.emitError() << "has labels of rank " << labels->size() << " for scores of rank " << scores->size();
  if (weights && weights->size() != 1)
    return c.emitError() << "has weights of rank " << weights->size() << ", not 1";
  Shape loss = labels.value_or(Shape());
  if (scores) {
    Shape own{scores->front()};
    own.append(scores->begin() + 2, scores->end());
    for (size_t i = 0; i < own.size(); ++i)
      if (labels && own[i].isStatic() && loss[i].isStatic() && own[i].size != loss[i].size)
        return c.emitError() << "has labels of size " << loss[i].size << " in dimension " << i
                             << ", where the scores have " << own[i].size;
    loss.resize(own.size());
    for (size_t i = 0; i < own.size(); ++i)
      if (!loss[i].isStatic() && (own[i].isStatic() || !loss[i].symbol))
        loss[i] = own[i];
  }
  if (c.string("reduction", "mean") != "none")
    c.setShape(0, {});
  else if (scores || labels)
    c.setShape(0, loss);
  c.copyShape(0, /*formal=*/1); // log_prob of SoftmaxCrossEntropyLoss.
  return success();
}

STRATA_SLICE(Losses) {
  for (StringRef name : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
    ops.add(name, {.inferShapes = inferLoss});
}
