//===- Attention.cpp - scaled dot product attention -----------------------===//
//
// Scores Q * K^T, softcap, masks, softmax, times V: two contractions and a
// softmax over loops [batch, key heads, query heads per key head, queries,
// keys]. Masked scores are -inf; a row without any key becomes zeros.
//
//===----------------------------------------------------------------------===//

#include "../Moments.h"
#include "Dialect/VersionSteps.h"

using utils::IteratorType;

namespace {
enum Input { kQ, kK, kV, kMask, kPastKey, kPastValue, kValidKeys };
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static LogicalResult verifyAttention(Operation *op) {
  auto versioned = cast<VersionedOpInterface>(op);
  auto has = [&](unsigned i) { return !versioned.getInputGroup(i).empty(); };
  if (has(kPastKey) != has(kPastValue))
    return op->emitOpError("has only one of 'past_key' and 'past_value'");
  if (versioned.getSinceVersion() >= 24 && has(kValidKeys) && has(kPastKey))
    return op->emitOpError("has both 'nonpad_kv_seqlen' and 'past_key'");
  auto mode = op->getAttrOfType<IntegerAttr>("qk_matmul_output_mode");
  if (mode && (mode.getInt() < 0 || mode.getInt() > 3))
    return op->emitOpError("'qk_matmul_output_mode' is ") << mode.getInt() << ", not 0, 1, 2 or 3";
  for (StringRef name : {"left_window_size", "right_window_size"})
    if (auto size = op->getAttrOfType<IntegerAttr>(name); size && size.getInt() < -1)
      return op->emitOpError("'") << name << "' is " << size.getInt() << ", less than -1";
  if (auto precision = op->getAttrOfType<IntegerAttr>("softmax_precision"))
    if (int64_t p = precision.getInt(); p != 1 && p != 10 && p != 11 && p != 16)
      return op->emitOpError("'softmax_precision' is ") << p << ", not 1, 10, 11 or 16";
  return success();
}

static Dim divide(const Dim &dim, int64_t by) { return by > 0 && dim.isStatic() ? floorDiv(dim, Dim(by)) : Dim(); }

// The mask broadcasts to [batch, heads of Q, queries, keys]. From version 24 on it may lack keys, which it hides.
static LogicalResult checkMask(ShapeContext &c, ArrayRef<Dim> scores) {
  std::optional<Shape> mask = c.shape(kMask);
  if (!mask)
    return success();
  if (mask->empty() || mask->size() > scores.size())
    return c.emitError() << "'attn_mask' has rank " << mask->size() << ", not 1 to 4";
  for (auto [own, wanted] : llvm::zip(llvm::reverse(*mask), llvm::reverse(scores))) {
    if (!own.isStatic() || !wanted.isStatic() || own.size == 1)
      continue;
    bool mayLack = &wanted == &scores.back() && c.version() >= 24;
    if (mayLack ? own.size > wanted.size : own.size != wanted.size)
      return c.emitError() << "'attn_mask' has size " << own.size << " where the scores have " << wanted.size;
  }
  return success();
}

static LogicalResult inferAttention(ShapeContext &c) {
  std::optional<Shape> q = c.shape(kQ), k = c.shape(kK), v = c.shape(kV);
  static constexpr StringLiteral names[] = {"Q", "K", "V"};
  for (unsigned i = 0; i < 3; ++i)
    if (auto rank = c.rank(i); rank && *rank != 3 && *rank != 4)
      return c.emitError() << "'" << names[i] << "' has rank " << *rank << ", not 3 or 4";
  if (!q || !k || !v)
    return success();
  if (q->size() != k->size() || q->size() != v->size())
    return c.emitError() << "'Q', 'K' and 'V' have ranks " << q->size() << ", " << k->size() << " and " << v->size();
  bool flat = q->size() == 3;
  int64_t qHeads = c.integer("q_num_heads", 0), kvHeads = c.integer("kv_num_heads", 0);
  if (flat && (qHeads < 1 || kvHeads < 1))
    return c.emitError() << "operands of rank 3 need 'q_num_heads' and 'kv_num_heads'";
  auto check = [&](const Dim &dim, int64_t heads, StringRef name) -> LogicalResult {
    if (flat && dim.isStatic() && dim.size % heads != 0)
      return c.emitError() << "'" << name << "' has " << dim.size << " elements, which do not divide into " << heads
                           << " heads";
    return success();
  };
  if (failed(check(q->back(), qHeads, "Q")) || failed(check(k->back(), kvHeads, "K")) ||
      failed(check(v->back(), kvHeads, "V")))
    return failure();
  Dim numQ = flat ? Dim(qHeads) : (*q)[1], numKV = flat ? Dim(kvHeads) : (*k)[1];
  if (numQ.isStatic() && numKV.isStatic() && (numKV.size < 1 || numQ.size % numKV.size != 0))
    return c.emitError() << "has " << numQ.size << " heads of queries, which do not divide among " << numKV.size
                         << " heads of keys";
  Dim batch = (*q)[0], queries = flat ? (*q)[1] : (*q)[2], keys = flat ? (*k)[1] : (*k)[2];
  Dim size = flat ? divide(q->back(), qHeads) : q->back(), keySize = flat ? divide(k->back(), kvHeads) : k->back();
  Dim valueSize = flat ? divide(v->back(), kvHeads) : v->back();
  if (size.isStatic() && keySize.isStatic() && size.size != keySize.size)
    return c.emitError() << "multiplies queries of " << size.size << " elements by keys of " << keySize.size;
  Dim total = keys;
  if (auto past = c.shape(kPastKey)) {
    if (past->size() != 4)
      return c.emitError() << "'past_key' has rank " << past->size() << ", not 4";
    total = (*past)[2] + keys;
  } else if (c.hasInput(kPastKey)) {
    total = Dim();
  }
  if (failed(checkMask(c, {batch, numQ, queries, total})))
    return failure();
  if (flat)
    c.setShape(0, {batch, queries, numQ * valueSize});
  else
    c.setShape(0, {batch, numQ, queries, valueSize});
  c.setShape(1, {batch, numKV, total, keySize});
  c.setShape(2, {batch, numKV, total, valueSize});
  c.setShape(3, {batch, numQ, queries, total});
  return success();
}

static LogicalResult downgradeAttention(Operation *op, PatternRewriter &rewriter) {
  return downgradeStep(op, rewriter, {{"left_window_size", -1}, {"right_window_size", -1}});
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

namespace {
// An operand with heads [B, S, H, D] or [B, H, S, D].
struct Heads {
  Value value;
  bool headsLast; // S before H.
  OpFoldResult length(LinalgBuilder &b) const { return b.dim(value, headsLast ? 1 : 2); }
};

struct Lowering {
  Operation *op;
  LinalgBuilder &b;
  Heads q{}, k{}, v{};
  OpFoldResult batch{}, queries{}, total{};
  OpFoldResult keyHeads{}, group{}; // queries have keyHeads * group
  Type element{}, compute{};
  Sizes scoreSizes{}; // batch, key heads, group, queries, total

  AffineExpr d(unsigned i) { return b.getAffineDimExpr(i); }
  AffineMap map(unsigned dims, ArrayRef<AffineExpr> exprs) { return AffineMap::get(dims, 0, exprs, b.getContext()); }

  void prepare();
  Value split(Value tensor, int64_t at, OpFoldResult outer);
  Heads appendTo(Value past, Heads fresh);
  Value scores();
  FailureOr<Value> mask(Value scores);
  Value softmax(Value scores);
  Value times(Value probabilities, bool flat);
  Value asResult(Value scores, Type onnxElement);
};
} // namespace

// [B, H, total, D] of the past keys (or values) and the new ones.
Heads Lowering::appendTo(Value past, Heads fresh) {
  if (fresh.headsLast)
    fresh = {b.transpose(fresh.value, {0, 2, 1, 3}), false};
  if (past)
    fresh.value = b.concat({past, fresh.value}, 2);
  return fresh;
}

// splitDim by a number that need not be known.
Value Lowering::split(Value tensor, int64_t at, OpFoldResult outer) {
  if (auto known = getConstantIntValue(outer))
    return splitDim(b, tensor, at, *known);
  Sizes sizes = b.sizes(tensor);
  sizes[at] = b.floorDiv(sizes[at], outer);
  sizes.insert(sizes.begin() + at, outer);
  return b.reshape(tensor, sizes);
}

void Lowering::prepare() {
  auto attention = cast<AttentionOp>(op);
  element = getElementType(attention.getQ());
  compute = scalar::getComputeType(element);
  if (auto precision = attention.getSoftmaxPrecision(); precision && *precision == 11)
    compute = b.getF64Type();
  Value values[] = {b.operand(kQ), b.operand(kK), b.operand(kV)};
  OpFoldResult queryHeads;
  if (getRank(values[0]) == 3) {
    queryHeads = b.getIndexAttr(*attention.getQNumHeads());
    keyHeads = b.getIndexAttr(*attention.getKvNumHeads());
    q = {split(values[0], 2, queryHeads), true};
    k = {split(values[1], 2, keyHeads), true};
    v = {split(values[2], 2, keyHeads), true};
  } else {
    queryHeads = b.dim(values[0], 1);
    keyHeads = b.dim(values[1], 1);
    q = {values[0], false};
    k = {values[1], false};
    v = {values[2], false};
  }
  group = b.floorDiv(queryHeads, b.maximum(keyHeads, b.getIndexAttr(1)));
  b.checkEqual(b.mul(group, keyHeads), queryHeads, "the heads of queries do not divide among those of keys");
  Value pastKey = b.operand(kPastKey), pastValue = b.operand(kPastValue);
  if (pastKey || attention.getPresentKey() || attention.getPresentValue()) {
    k = appendTo(pastKey, k);
    v = appendTo(pastValue, v);
  }
  batch = b.dim(q.value, 0);
  queries = q.length(b);
  total = k.length(b);
  b.checkEqual(b.dim(k.value, 0), batch, "'K' does not fit the batch of 'Q'");
  b.checkEqual(b.dim(v.value, 0), batch, "'V' does not fit the batch of 'Q'");
  b.checkEqual(v.length(b), total, "'K' and 'V' differ in length");
  b.checkEqual(b.dim(k.value, 3), b.dim(q.value, 3), "'Q' and 'K' differ in the size of a head");
  b.checkEqual(b.dim(v.value, v.headsLast ? 2 : 1), keyHeads, "'K' and 'V' differ in heads");
  // Heads of queries as [key heads, group].
  q.value = split(q.value, q.headsLast ? 2 : 1, keyHeads);
  scoreSizes = {batch, keyHeads, group, queries, total};
}

// Q * K^T. Loops: batch, key head, group, query, key, element.
Value Lowering::scores() {
  AffineMap readQ = q.headsLast ? map(6, {d(0), d(3), d(1), d(2), d(5)}) : map(6, {d(0), d(1), d(2), d(3), d(5)});
  AffineMap readK = k.headsLast ? map(6, {d(0), d(4), d(1), d(5)}) : map(6, {d(0), d(1), d(4), d(5)});
  SmallVector<IteratorType> iterators(6, IteratorType::parallel);
  iterators.back() = IteratorType::reduction;
  return contract(b, q.value, k.value, {readQ, readK, map(6, {d(0), d(1), d(2), d(3), d(4)})}, iterators, scoreSizes,
                  compute.isF64() ? compute : element);
}

// Adds the mask and -inf where the causal frontier, the window or the padding hides a key.
FailureOr<Value> Lowering::mask(Value scores) {
  auto attention = cast<AttentionOp>(op);
  bool causal = attention.getIsCausal() != 0;
  int64_t left = static_cast<int64_t>(attention.getLeftWindowSize());
  int64_t right = static_cast<int64_t>(attention.getRightWindowSize());
  Value valid = b.operand(kValidKeys), past = b.operand(kPastKey), bias = b.operand(kMask);
  if (!causal && left < 0 && right < 0 && !valid && !bias)
    return scores;

  SmallVector<Value> inputs{scores};
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(5)};
  Type biasElement;
  if (bias) {
    biasElement = getElementType(attention.getAttnMask());
    int64_t rank = getRank(bias);
    if (rank < 1 || rank > 4)
      return op->emitOpError("'attn_mask' has rank ") << rank << ", not 1 to 4";
    // A mask shorter than the keys hides the others.
    OpFoldResult length = b.dim(bias, rank - 1);
    std::optional<Shape> onnxMask = getShape(attention.getAttnMask().getType());
    bool fits = isEqualConstantIntOrValue(length, total);
    if (!fits && isConstantIntValue(length, 1))
      return op->emitOpError("cannot be compiled: 'attn_mask' has one key where there may be more");
    if (!fits) {
      Sizes none(rank, b.getIndexAttr(0)), more(none);
      more[rank - 1] = b.maximum(b.sub(total, length), b.getIndexAttr(0));
      Type seam = getElementType(bias);
      Value hidden =
          isa<FloatType>(seam) ? b.scalar(seam, -std::numeric_limits<double>::infinity()) : b.scalarInt(seam, 0);
      bias = b.pad(bias, none, more, hidden);
      b.checkEqual(b.dim(bias, rank - 1), total, "'attn_mask' has more keys than there are");
    }
    // Its heads, if it has any, are those of the queries.
    Sizes wanted{batch, b.mul(keyHeads, group), queries, total};
    std::optional<Shape> shapeQ = getShape(attention.getQ().getType());
    Dim numHeads = q.headsLast ? Dim(int64_t(*attention.getQNumHeads())) : (*shapeQ)[1];
    Dim known[] = {(*shapeQ)[0], numHeads, (*shapeQ)[q.headsLast ? 1 : 2], Dim()};
    SmallVector<int64_t> one;
    for (int64_t i = 0; i < rank; ++i) {
      int64_t at = 4 - rank + i;
      OpFoldResult own = b.dim(bias, i);
      if (isConstantIntValue(own, 1) && !isConstantIntValue(wanted[at], 1))
        one.push_back(at);
      else if (i + 1 < rank && !getConstantIntValue(own) && !(*onnxMask)[i].sameAs(known[at])) {
        // Only the run tells whether it repeats.
        Sizes full(ArrayRef(wanted).drop_front(4 - rank));
        bias = b.broadcast(bias, full);
        one.clear();
        break;
      } else if (i + 1 < rank && !(*onnxMask)[i].sameAs(known[at])) {
        b.checkEqual(own, wanted[at], "'attn_mask' does not broadcast in dimension " + Twine(i));
      }
    }
    SmallVector<AffineExpr> exprs;
    for (int64_t at = 4 - rank; at < 4; ++at) {
      bool repeats = llvm::is_contained(one, at);
      AffineExpr zero = b.getAffineConstantExpr(0);
      if (at == 1 && !repeats) {
        bias = split(bias, at - (4 - rank), keyHeads);
        exprs.append({d(1), d(2)});
        continue;
      }
      exprs.push_back(repeats ? zero : d(at == 0 ? 0 : at + 1));
    }
    inputs.push_back(bias);
    maps.push_back(map(5, exprs));
  }
  if (valid) {
    b.checkEqual(b.dim(valid, 0), batch, "'nonpad_kv_seqlen' does not fit the batch");
    inputs.push_back(valid);
    maps.push_back(map(5, d(0)));
  }
  // Keys in front of the first query.
  Value before = past ? b.index(b.dim(past, 2)) : b.index(int64_t(0)), numQueries = b.index(queries);
  return mapElements(b, inputs, maps, scoreSizes, compute, [&](ImplicitLocOpBuilder &n, ValueRange args) {
    Value score = args[0], hidden = constantFloat(n, compute, -std::numeric_limits<double>::infinity());
    auto hideUnless = [&](Value visible) { score = n.create<arith::SelectOp>(visible, score, hidden); };
    if (bias) {
      if (biasElement.isInteger(1))
        hideUnless(args[1]);
      else if (isa<FloatType>(biasElement))
        score = n.create<arith::AddFOp>(score, convertFloat(n, args[1], compute));
      else
        score = n.create<arith::AddFOp>(score, scalar::convert(n, args[1], biasElement, compute));
    }
    auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
      return n.create<arith::CmpIOp>(predicate, x, y).getResult();
    };
    if (!causal && left < 0 && right < 0 && !valid)
      return score;
    Value key = n.create<linalg::IndexOp>(4), offset = before;
    if (valid) {
      Value count = n.create<arith::IndexCastOp>(n.getIndexType(), args.back());
      hideUnless(compare(arith::CmpIPredicate::slt, key, count));
      offset = n.create<arith::SubIOp>(count, numQueries);
    }
    if (!causal && left < 0 && right < 0)
      return score;
    Value position = n.create<arith::AddIOp>(n.create<linalg::IndexOp>(3), offset);
    if (causal)
      hideUnless(compare(arith::CmpIPredicate::sle, key, position));
    if (left >= 0)
      hideUnless(compare(arith::CmpIPredicate::sge, key,
                         n.create<arith::SubIOp>(position, n.create<arith::ConstantIndexOp>(left))));
    if (right >= 0)
      hideUnless(compare(arith::CmpIPredicate::sle, key,
                         n.create<arith::AddIOp>(position, n.create<arith::ConstantIndexOp>(right))));
    return score;
  });
}

// Over the keys; a row that is -inf throughout becomes zeros.
Value Lowering::softmax(Value scores) {
  Value lowest = b.scalar(compute, -std::numeric_limits<double>::infinity());
  AffineMap full = b.getMultiDimIdentityMap(5), row = map(5, {d(0), d(1), d(2), d(3)});
  // A NaN is passed over, as in Softmax: the sum of the exponentials has it.
  Value maximum = reduceMany(b, scores, full, {4}, lowest, [](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value larger = n.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, v[0], v[1]);
    return n.create<arith::SelectOp>(larger, v[0], v[1]);
  });
  Value e = mapElements(b, {scores, maximum}, {full, row}, scoreSizes, compute,
                        [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
                          Value none = n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[1], lowest);
                          Value shift = n.create<arith::SelectOp>(none, constantFloat(n, compute, 0), v[1]);
                          return scalar::expBelow(n, v[0], shift);
                        });
  Value sum = reduceMany(b, e, full, {4}, b.scalar(compute, 0),
                         [](ImplicitLocOpBuilder &n, ValueRange v) { return addScalars(n, v[1], v[0]); });
  // A sum that is not zero is at least 1.
  Value inverse = b.elementwise(sum, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
    Value none = n.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[0], constantFloat(n, compute, 0));
    Value one = constantFloat(n, compute, 1);
    return n.create<arith::DivFOp>(one, n.create<arith::SelectOp>(none, one, v[0]));
  });
  return mapElements(
      b, {e, inverse}, {full, row}, scoreSizes, compute,
      [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value { return n.create<arith::MulFOp>(v[0], v[1]); });
}

// Probabilities * V as the result has it. Loops: batch, key head, group, query, element, key.
Value Lowering::times(Value probabilities, bool flat) {
  AffineMap readP = map(6, {d(0), d(1), d(2), d(3), d(5)});
  AffineMap readV = v.headsLast ? map(6, {d(0), d(5), d(1), d(4)}) : map(6, {d(0), d(1), d(5), d(4)});
  SmallVector<IteratorType> iterators(6, IteratorType::parallel);
  iterators.back() = IteratorType::reduction;
  OpFoldResult size = b.dim(v.value, 3);
  AffineMap write = flat ? map(6, {d(0), d(3), d(1), d(2), d(4)}) : map(6, {d(0), d(1), d(2), d(3), d(4)});
  Sizes sizes = flat ? Sizes{batch, queries, keyHeads, group, size} : Sizes{batch, keyHeads, group, queries, size};
  Type valueElement = compute.isF64() ? compute : getElementType(v.value);
  Value y = contract(b, probabilities, v.value, {readP, readV, write}, iterators, sizes, valueElement);
  y = mergeDims(b, y, flat ? 2 : 1);
  return flat ? mergeDims(b, y, 2) : y;
}

// Scores as [batch, heads, queries, keys] of the result's element type.
Value Lowering::asResult(Value scores, Type onnxElement) {
  Type seam = getSeamElementType(onnxElement);
  if (getElementType(scores) != seam)
    scores =
        b.elementwise(scores, seam, [&](ImplicitLocOpBuilder &n, ValueRange v) { return convertFloat(n, v[0], seam); });
  return mergeDims(b, scores, 1);
}

static FailureOr<SmallVector<Value>> lowerAttention(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto attention = cast<AttentionOp>(op);
  Lowering l{op, b};
  l.prepare();
  bool flat = getRank(operands[0]) == 3;
  Type compute = l.compute;

  // Scaled by the attribute, or by 1 / sqrt(size of a head).
  Value scale;
  OpFoldResult headSize = b.dim(l.q.value, 4);
  if (auto given = attention.getScale()) {
    scale = b.scalar(compute, given->convertToFloat());
  } else if (auto known = getConstantIntValue(headSize)) {
    scale = b.scalar(compute, 1 / std::sqrt(static_cast<double>(*known)));
  } else {
    Value size = b.create<arith::SIToFPOp>(compute, b.create<arith::IndexCastOp>(b.getI64Type(), b.index(headSize)));
    scale = b.create<arith::DivFOp>(b.scalar(compute, 1), b.create<math::SqrtOp>(size));
  }
  Value raw = b.elementwise(l.scores(), compute,
                            [&](ImplicitLocOpBuilder &n, ValueRange v) { return mulScalars(n, v[0], scale); });
  double softcap = attention.getSoftcap().convertToFloat();
  Value capped = raw;
  if (softcap != 0)
    capped = b.elementwise(raw, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) {
      Value cap = constantFloat(n, compute, softcap);
      return mulScalars(n, n.create<math::TanhOp>(n.create<arith::DivFOp>(v[0], cap)), cap);
    });
  FailureOr<Value> masked = l.mask(capped);
  if (failed(masked))
    return failure();
  Value probabilities = l.softmax(*masked);
  Value y = l.times(probabilities, flat);
  Type seam = getSeamElementType(getElementType(attention.getY()));
  if (getElementType(y) != seam)
    y = b.elementwise(y, seam, [&](ImplicitLocOpBuilder &n, ValueRange v) { return convertFloat(n, v[0], seam); });

  SmallVector<Value> results{y};
  if (attention.getPresentKey())
    results.push_back(l.k.value);
  if (attention.getPresentValue())
    results.push_back(l.v.value);
  if (Value qk = attention.getQkMatmulOutput()) {
    Value shown[] = {raw, capped, *masked, probabilities};
    results.push_back(l.asResult(shown[attention.getQkMatmulOutputMode()], getElementType(qk)));
  }
  return results;
}

STRATA_SLICE(Attention) {
  ops.add("Attention", {.verify = verifyAttention,
                        .inferShapes = inferAttention,
                        .upgrade = keepAttributes,
                        .downgrade = downgradeAttention,
                        .lower = lowerAttention});
}
