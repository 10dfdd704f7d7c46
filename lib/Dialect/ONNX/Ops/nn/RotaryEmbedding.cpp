//===- RotaryEmbedding.cpp - rotary positional embedding ------------------===//

#include "../Moments.h"

static LogicalResult inferRotaryEmbedding(ShapeContext &c) {
  c.copyShape(0);
  std::optional<int64_t> rank = c.rank(0);
  if (!rank)
    return success();
  if (*rank != 3 && *rank != 4)
    return c.emitError() << "'X' has rank " << *rank << ", not 3 or 4";
  int64_t heads = c.integer("num_heads", 0);
  if (*rank == 3 && heads < 1)
    return c.emitError() << "'X' has rank 3, which needs 'num_heads'";
  int64_t part = c.integer("rotary_embedding_dim", 0);
  if (part < 0 || part % 2 != 0)
    return c.emitError() << "'rotary_embedding_dim' is " << part << ", not an even size";
  Dim hidden = c.shape(0)->back();
  if (*rank == 3 && hidden.isStatic() && hidden.size % heads != 0)
    return c.emitError() << "has " << hidden.size << " elements, which do not divide into " << heads << " heads";
  int64_t cacheRank = c.hasInput(3) ? 2 : 3;
  for (unsigned i = 1; i < 3; ++i)
    if (auto cache = c.rank(i); cache && *cache != cacheRank)
      return c.emitError() << "a cache has rank " << *cache << ", not " << cacheRank
                           << (cacheRank == 2 ? " as with 'position_ids'" : " as without 'position_ids'");
  Dim head = *rank == 3 && hidden.isStatic() ? Dim(hidden.size / heads) : *rank == 3 ? Dim() : hidden;
  if (head.isStatic() && part > head.size)
    return c.emitError() << "'rotary_embedding_dim' is " << part << ", more than the " << head.size << " of a head";
  Dim rotated = part ? Dim(part) : head;
  if (auto cache = c.shape(1);
      cache && cache->back().isStatic() && rotated.isStatic() && cache->back().size * 2 != rotated.size)
    return c.emitError() << "the caches have " << cache->back().size << " columns, not half of the " << rotated.size
                         << " that are rotated";
  if (auto ids = c.rank(3); ids && *ids != 2)
    return c.emitError() << "'position_ids' has rank " << *ids << ", not 2";
  return success();
}

// rows[b, s, :] = cache[ids[b, s], :], with ids checked once.
static Value gatherRows(LinalgBuilder &b, Value cache, Value ids) {
  Sizes sizes{b.dim(ids, 0), b.dim(ids, 1), b.dim(cache, 1)};
  return b.generate(sizes, getElementType(cache), [&](ImplicitLocOpBuilder &n, ValueRange i) -> Value {
    Value id = n.create<tensor::ExtractOp>(ids, ValueRange{i[0], i[1]});
    Value row = n.create<arith::IndexCastOp>(n.getIndexType(), id);
    return n.create<tensor::ExtractOp>(cache, ValueRange{row, i[2]});
  });
}

static void checkIds(LinalgBuilder &b, Value ids, OpFoldResult limit) {
  Type type = getElementType(ids);
  Value rows = b.create<arith::IndexCastOp>(type, b.index(limit));
  Value good = reduceMany(b, ids, b.getMultiDimIdentityMap(2), {0, 1}, b.scalarInt(b.getI1Type(), 1),
                          [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
                            // Unsigned: negative numbers are large.
                            Value in = n.create<arith::CmpIOp>(arith::CmpIPredicate::ult, v[0], rows);
                            return n.create<arith::AndIOp>(v[1], in);
                          });
  b.check(b.extractScalar(good), "a position is out of range of the cosine and sine caches");
}

static FailureOr<SmallVector<Value>> lowerRotaryEmbedding(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto rotary = cast<RotaryEmbeddingOp>(op);
  Value x = operands[0], cosines = operands[1], sines = operands[2];
  bool flat = getRank(x) == 3, interleaved = rotary.getInterleaved() != 0;
  Type seam = getElementType(x), compute = scalar::getComputeType(seam);
  if (flat) // [B, S, H * D] -> [B, S, H, D]
    x = splitDim(b, x, 2, *rotary.getNumHeads());
  Sizes sizes = b.sizes(x);
  OpFoldResult head = sizes[3], seq = flat ? sizes[1] : sizes[2];
  int64_t part = rotary.getRotaryEmbeddingDim();
  OpFoldResult rotated = part ? OpFoldResult(b.getIndexAttr(part)) : head;
  OpFoldResult half = b.floorDiv(rotated, b.getIndexAttr(2)), one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
  b.checkEqual(b.mul(half, b.getIndexAttr(2)), rotated, "an odd number of elements cannot be rotated");
  if (part)
    b.checkEqual(b.maximum(head, rotated), head, "'rotary_embedding_dim' is more than the size of a head");
  if (operands.size() > 3) {
    Value ids = operands[3];
    b.checkEqual(b.dim(cosines, 0), b.dim(sines, 0), "the caches differ in size");
    checkIds(b, ids, b.dim(cosines, 0));
    cosines = gatherRows(b, cosines, ids);
    sines = gatherRows(b, sines, ids);
  }
  for (Value cache : {cosines, sines}) {
    b.checkEqual(b.dim(cache, 0), sizes[0], "a cache does not fit the batch");
    b.checkEqual(b.dim(cache, 1), seq, "a cache does not fit the length of the sequence");
    b.checkEqual(b.dim(cache, 2), half, "a cache does not have half of the rotated size");
  }

  // The two members of each pair: the halves, or every other element.
  SmallVector<OpFoldResult> at(4, zero), steps(4, one);
  Sizes halfSizes(sizes);
  halfSizes[3] = half;
  steps[3] = b.getIndexAttr(interleaved ? 2 : 1);
  SmallVector<OpFoldResult> second(at);
  second[3] = interleaved ? one : half;
  Value x1 = b.slice(x, at, halfSizes, steps), x2 = b.slice(x, second, halfSizes, steps);
  AffineMap full = b.getMultiDimIdentityMap(4);
  AffineMap angle = AffineMap::get(
      4, 0, {b.getAffineDimExpr(0), b.getAffineDimExpr(flat ? 1 : 2), b.getAffineDimExpr(3)}, b.getContext());
  auto rotate = [&](Value first, Value other, bool subtract) {
    return mapElements(b, {first, other, cosines, sines}, {full, full, angle, angle}, halfSizes, seam,
                       [&](ImplicitLocOpBuilder &n, ValueRange v) {
                         Value p = n.create<arith::MulFOp>(extend(n, v[0], compute), extend(n, v[2], compute));
                         Value q = n.create<arith::MulFOp>(extend(n, v[1], compute), extend(n, v[3], compute));
                         Value sum = subtract ? n.create<arith::SubFOp>(p, q).getResult()
                                              : n.create<arith::AddFOp>(p, q).getResult();
                         return convertFloat(n, sum, seam);
                       });
  };
  // One after the other, so that each is computed where it goes.
  Value result = part ? x : b.empty(sizes, seam);
  result = b.create<tensor::InsertSliceOp>(rotate(x1, x2, true), result, at, halfSizes, steps);
  result = b.create<tensor::InsertSliceOp>(rotate(x2, x1, false), result, second, halfSizes, steps);
  return SmallVector<Value>{flat ? mergeDims(b, result, 2) : result};
}

STRATA_SLICE(RotaryEmbedding) {
  ops.add("RotaryEmbedding", {.inferShapes = inferRotaryEmbedding, .lower = lowerRotaryEmbedding});
}
