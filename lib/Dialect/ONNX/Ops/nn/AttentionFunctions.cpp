//===- AttentionFunctions.cpp - FlexAttention, LinearAttention, CausalConv ===//
//
// They run as their function bodies; here are their types.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"

// Y: Q's batch, heads and length, V's head size.
static LogicalResult inferFlexAttention(ShapeContext &c) {
  std::optional<Shape> q = c.shape(0), k = c.shape(1), v = c.shape(2);
  for (auto [name, shape] : {std::pair<StringRef, std::optional<Shape> &>("Q", q), {"K", k}, {"V", v}})
    if (shape && shape->size() != 4)
      return c.emitError() << "'" << name << "' has rank " << shape->size() << ", not 4";
  if (q || v)
    c.setShape(0, {q ? (*q)[0] : (*v)[0], q ? (*q)[1] : Dim(), q ? (*q)[2] : Dim(), v ? (*v)[3] : Dim()});
  return success();
}

// output [B, T, H_q * d_v], present_state [B, H_kv, d_k, d_v]
static LogicalResult inferLinearAttention(ShapeContext &c) {
  std::optional<Shape> query = c.shape(0), key = c.shape(1), value = c.shape(2), past = c.shape(3);
  for (auto [name, shape] :
       {std::pair<StringRef, std::optional<Shape> &>("query", query), {"key", key}, {"value", value}})
    if (shape && shape->size() != 3)
      return c.emitError() << "'" << name << "' has rank " << shape->size() << ", not 3";
  if (past && past->size() != 4)
    return c.emitError() << "'past_state' has rank " << past->size() << ", not 4";
  int64_t queries = c.integer("q_num_heads", 0), heads = c.integer("kv_num_heads", 0);
  if (queries < 1 || heads < 1 || queries % heads != 0)
    return c.emitError() << "needs 'q_num_heads' to be a positive multiple of 'kv_num_heads', not " << queries
                         << " and " << heads;
  auto split = [&](std::optional<Shape> &shape, int64_t count, unsigned at) {
    if (shape && (*shape)[2].isStatic() && (*shape)[2].size % count == 0)
      return Dim((*shape)[2].size / count);
    return past ? (*past)[at] : Dim();
  };
  Dim keySize = split(key, heads, 2), valueSize = split(value, heads, 3);
  auto first = [&](unsigned i) {
    for (const auto *shape : {&query, &key, &value})
      if (*shape && ((**shape)[i].isStatic() || (**shape)[i].symbol))
        return (**shape)[i];
    return Dim();
  };
  Dim width = queries == heads && value ? (*value)[2] : valueSize * Dim(queries);
  c.setShape(0, {first(0), first(1), width});
  // Without a past state nothing but the model says in what type the state is kept.
  if (c.hasOutput(1) && !c.boundType("S")) {
    auto declared = dyn_cast<TensorType>(c.getOperation()->getResult(1).getType());
    c.setElementType(1, declared ? declared.getElementType() : c.elementType(0));
  }
  c.setShape(1, {first(0), Dim(heads), keySize, valueSize});
  return success();
}

// output as the input, present_state [B, C, k - 1]
static LogicalResult inferCausalConv(ShapeContext &c) {
  std::optional<Shape> input = c.shape(0), weight = c.shape(1), past = c.shape(3);
  for (auto [name, shape] :
       {std::pair<StringRef, std::optional<Shape> &>("input", input), {"weight", weight}, {"past_state", past}})
    if (shape && shape->size() != 3)
      return c.emitError() << "'" << name << "' has rank " << shape->size() << ", not 3";
  Dim carried = weight ? (*weight)[2] - Dim(1) : Dim();
  if (past && carried.isStatic() && (*past)[2].isStatic() && (*past)[2].size != carried.size)
    return c.emitError() << "'past_state' holds " << (*past)[2].size << " positions, but a kernel of "
                         << (*weight)[2].size << " carries " << carried.size;
  if (past && !carried.isStatic())
    carried = (*past)[2];
  c.copyShape(0);
  if (input || past)
    c.setShape(1, {input ? (*input)[0] : (*past)[0], input ? (*input)[1] : (*past)[1], carried});
  return success();
}

STRATA_SLICE(AttentionFunctions) {
  ops.add("preview.FlexAttention", {.inferShapes = inferFlexAttention});
  ops.add("LinearAttention", {.inferShapes = inferLinearAttention});
  ops.add("CausalConvWithState", {.inferShapes = inferCausalConv});
}
