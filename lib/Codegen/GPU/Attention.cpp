//===- Attention.cpp - products around a softmax, by their shape ----------===//
#include "Attention.h"
#include "../LoopNest.h"
#include "AttentionParts.h"
#include "Codegen/GPUPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata;
using linalg::GenericOp;

SmallVector<std::pair<StringRef, GenericOp>> Attention::ops() const {
  std::pair<StringRef, GenericOp> all[] = {{"scores", scores},           {"score", score},   {"maximum", maximum},
                                           {"exponential", exponential}, {"sum", sum},       {"inverse", inverse},
                                           {"weight", weight},           {"values", values}, {"finish", finish}};
  SmallVector<std::pair<StringRef, GenericOp>> present;
  llvm::copy_if(all, std::back_inserter(present), [](auto entry) { return bool(entry.second); });
  return present;
}

static Value resultOf(GenericOp op) { return op->getNumResults() ? op->getResult(0) : op.getDpsInits()[0]; }

OpOperand *strata::inputFrom(GenericOp op, GenericOp producer) {
  OpOperand *found = nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get() == resultOf(producer)) {
      if (found)
        return nullptr;
      found = input;
    }
  return found;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Value strata::withoutConversions(Value value) {
  while (Operation *maker = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(maker))
      break;
    value = maker->getOperand(0);
  }
  return value;
}

Value strata::yielded(GenericOp op) { return op.getBody()->getTerminator()->getOperand(0); }

static bool isPure(GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<linalg::IndexOp>(inner) ||
           (!inner.getNumRegions() && isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()));
  });
}

/// Computed in f32, whatever the types around it are.
static bool isSinglePrecision(GenericOp op) {
  return isPure(op) && !op.hasIndexSemantics() &&
         llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
           Type type = inner.getResult(0).getType();
           return isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp>(inner) || type.isF32() || type.isInteger(1);
         });
}

static bool isElementwise(GenericOp op) { return op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1; }

/// A reduction of its only input, as it is.
static bool reducesInput(GenericOp op, bool isMaximum) {
  if (op.getNumDpsInputs() != 1 || op.getNumReductionLoops() != 1)
    return false;
  std::optional<Combiner> combiner = matchCombiner(op);
  if (!combiner || !combiner->neutral.getType().isF32() || !isSinglePrecision(op))
    return false;
  using Kind = vector::CombiningKind;
  Block *body = op.getBody();
  Value accumulator = body->getArgument(1), value;
  if (combiner->comparison)
    value = combiner->comparison.getLhs();
  else
    value = combiner->op->getOperand(combiner->op->getOperand(0) == accumulator ? 1 : 0);
  bool fits =
      isMaximum ? combiner->kind == Kind::MAXNUMF || combiner->kind == Kind::MAXIMUMF : combiner->kind == Kind::ADD;
  return fits && withoutConversions(value) == body->getArgument(0);
}

static bool isNumber(Value value, bool negativeInfinity) {
  APFloat number(0.0f);
  return matchPattern(value, m_ConstantFloat(&number)) &&
         (negativeInfinity ? number.isInfinity() && number.isNegative() : number.isZero());
}

/// The maximum, or nothing subtracted where that is -inf.
static bool isShift(Value value, Value maximum) {
  auto guard = value.getDefiningOp<arith::SelectOp>();
  if (!guard)
    return withoutConversions(value) == maximum;
  auto none = guard.getCondition().getDefiningOp<arith::CmpFOp>();
  return none && none.getPredicate() == arith::CmpFPredicate::OEQ && withoutConversions(none.getLhs()) == maximum &&
         isNumber(none.getRhs(), true) && isNumber(guard.getTrueValue(), false) &&
         withoutConversions(guard.getFalseValue()) == maximum;
}

static bool isExponential(GenericOp op, OpOperand *score, OpOperand *maximum) {
  auto exp = withoutConversions(yielded(op)).getDefiningOp<math::ExpOp>();
  auto difference = exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : nullptr;
  return difference && op.getNumDpsInputs() == 2 && isElementwise(op) && isSinglePrecision(op) &&
         withoutConversions(difference.getLhs()) == op.getMatchingBlockArgument(score) &&
         isShift(difference.getRhs(), op.getMatchingBlockArgument(maximum));
}

/// In proportion to the exponential; what is no number may become 0.
static bool isWeight(GenericOp op, OpOperand *exponential, OpOperand *factor) {
  if (op.getNumDpsInputs() != 2 || !isElementwise(op) || !isSinglePrecision(op))
    return false;
  Value value = withoutConversions(yielded(op));
  if (auto guard = value.getDefiningOp<arith::SelectOp>()) {
    auto test = guard.getCondition().getDefiningOp<arith::CmpFOp>();
    using Predicate = arith::CmpFPredicate;
    if (!test || (test.getPredicate() != Predicate::UNO && test.getPredicate() != Predicate::UNE) ||
        withoutConversions(test.getLhs()) != withoutConversions(test.getRhs()) ||
        !isNumber(guard.getTrueValue(), false))
      return false;
    value = withoutConversions(guard.getFalseValue());
    if (withoutConversions(test.getLhs()) != value)
      return false;
  }
  Operation *product = value.getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(product))
    return false;
  Value x = withoutConversions(product->getOperand(0)), y = withoutConversions(product->getOperand(1));
  if (isa<arith::MulFOp>(product) && y == op.getMatchingBlockArgument(exponential))
    std::swap(x, y);
  return x == op.getMatchingBlockArgument(exponential) && y == op.getMatchingBlockArgument(factor);
}

static bool isProduct(GenericOp op) {
  std::optional<ProductSum> product = op.getNumReductionLoops() == 1 ? matchProductSum(op) : std::nullopt;
  return product && product->sum.isF32() && isa<FloatType>(product->elements[0]) &&
         isa<FloatType>(product->elements[1]);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Which loops of the scores the loops of an operation are that reads `operand`, the result of one whose loops are
/// `from`; -1 for others. Fails where a dimension is no loop.
static std::optional<SmallVector<int>> loopsThrough(GenericOp producer, ArrayRef<int> from, OpOperand *operand) {
  auto op = cast<GenericOp>(operand->getOwner());
  AffineMap written = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0)),
            read = op.getMatchingIndexingMap(operand);
  SmallVector<int> loops(op.getNumLoops(), -1);
  if (!written.isProjectedPermutation() || !read.isProjectedPermutation())
    return std::nullopt;
  for (unsigned i = 0; i < written.getNumResults(); ++i)
    loops[read.getDimPosition(i)] = from[written.getDimPosition(i)];
  return loops;
}

static bool walks(GenericOp op, OpOperand &operand, unsigned loop) {
  return op.getMatchingIndexingMap(&operand).isFunctionOfDim(loop);
}

static bool areAll(ArrayRef<int> loops) { return !llvm::is_contained(loops, -1); }

/// Fills in the loops; fails where the operations do not walk the same rows.
static bool findLoops(Attention &a) {
  auto own = llvm::to_vector(llvm::seq<int>(0, a.scores.getNumLoops()));
  GenericOp before = a.scores;
  SmallVector<int> beforeLoops = own;
  OpOperand *operand = nullptr;
  auto follow = [&](GenericOp producer, ArrayRef<int> from, GenericOp op) {
    operand = inputFrom(op, producer);
    return operand ? loopsThrough(producer, from, operand) : std::nullopt;
  };
  if (a.score) {
    auto loops = follow(a.scores, own, a.score);
    if (!loops || !areAll(*loops) || !a.score.getMatchingIndexingMap(a.score.getDpsInitOperand(0)).isPermutation())
      return false;
    a.scoreLoops = *loops;
    before = a.score;
    beforeLoops = *loops;
  }
  auto maximum = follow(before, beforeLoops, a.maximum);
  auto exponential = follow(before, beforeLoops, a.exponential);
  if (!maximum || !exponential || !areAll(*maximum) || !areAll(*exponential))
    return false;
  OpOperand *score = operand;
  if (follow(a.maximum, *maximum, a.exponential) == std::nullopt || !isExponential(a.exponential, score, operand) ||
      !reducesInput(a.maximum, true))
    return false;
  SmallVector<unsigned> reduced;
  a.maximum.getReductionDims(reduced);
  a.key = (*maximum)[reduced[0]];
  // What each row has is read in the row.
  auto agrees = [&](GenericOp producer, ArrayRef<int> from, GenericOp op, ArrayRef<int> loops) {
    auto found = follow(producer, from, op);
    return found && llvm::all_of(llvm::zip(*found, loops), [](auto pair) {
             return std::get<0>(pair) < 0 || std::get<0>(pair) == std::get<1>(pair);
           });
  };
  if (!agrees(a.maximum, *maximum, a.exponential, *exponential))
    return false;
  auto sum = follow(a.exponential, *exponential, a.sum);
  reduced.clear();
  a.sum.getReductionDims(reduced);
  if (!sum || !areAll(*sum) || !reducesInput(a.sum, false) || (*sum)[reduced[0]] != a.key)
    return false;
  GenericOp factor = a.sum;
  SmallVector<int> factorLoops = *sum;
  if (a.inverse) {
    auto loops = follow(a.sum, *sum, a.inverse);
    if (!loops || !areAll(*loops) || !isElementwise(a.inverse) || a.inverse.getNumDpsInputs() != 1 ||
        !isSinglePrecision(a.inverse))
      return false;
    factor = a.inverse;
    factorLoops = *loops;
  }
  auto weight = follow(a.exponential, *exponential, a.weight);
  OpOperand *weighed = operand;
  if (!weight || !areAll(*weight) || !agrees(factor, factorLoops, a.weight, *weight) ||
      !isWeight(a.weight, weighed, operand))
    return false;
  auto values = follow(a.weight, *weight, a.values);
  if (!values || llvm::count(*values, -1) != 1)
    return false;
  a.probability = operand->getOperandNumber();
  *llvm::find(*values, -1) = a.scores.getNumLoops();
  a.valueLoops = *values;
  if (a.finish) {
    auto loops = follow(a.values, a.valueLoops, a.finish);
    if (!loops || !areAll(*loops))
      return false;
    a.finishLoops = *loops;
  }
  return true;
}

/// Which loops are rows of one matrix or of a batch of them: the same in both products.
static bool sortLoops(Attention &a) {
  OpOperand *v = &a.valuesOperand();
  SmallVector<bool> inValues(a.scores.getNumLoops() + 1, false);
  for (auto [loop, of] : llvm::enumerate(a.valueLoops))
    inValues[of] = walks(a.values, *v, loop);
  SmallVector<unsigned> reduced;
  a.scores.getReductionDims(reduced);
  a.depth = reduced[0];
  reduced.clear();
  a.values.getReductionDims(reduced);
  if (a.valueLoops[reduced[0]] != a.key || !inValues.back() || !inValues[a.key])
    return false;
  // Q has no keys.
  a.query = walks(a.scores, *a.scores.getDpsInputOperand(0), a.key) ? 1 : 0;
  if (walks(a.scores, a.queries(), a.key) || !walks(a.scores, a.keys(), a.key))
    return false;
  SmallVector<int64_t> ranges = a.scores.getStaticLoopRanges();
  for (int loop = 0, e = a.scores.getNumLoops(); loop < e; ++loop) {
    if (loop == a.key || loop == a.depth)
      continue;
    bool inQueries = walks(a.scores, a.queries(), loop), inKeys = walks(a.scores, a.keys(), loop);
    // A matrix of its own for each; or all have the same.
    if (ranges[loop] != 1 && (!inQueries || inKeys != inValues[loop]))
      return false;
    (inKeys || !inQueries ? a.batch : a.rows).push_back(loop);
  }
  // Those whose number counts fastest are found by a division: of known sizes, which are the smaller ones.
  auto sizeOf = [&](int loop) { return ShapedType::isDynamic(ranges[loop]) ? INT64_MAX : ranges[loop]; };
  llvm::stable_sort(a.rows, [&](int x, int y) { return sizeOf(x) > sizeOf(y); });
  return !a.rows.empty();
}

/// Each dimension is a loop of its own, or has one element. There may be more of them than loops.
static bool readsPlainly(AffineMap map) {
  llvm::SmallBitVector seen(map.getNumDims());
  return llvm::all_of(map.getResults(), [&](AffineExpr e) {
    if (auto number = dyn_cast<AffineConstantExpr>(e))
      return number.getValue() == 0;
    auto loop = dyn_cast<AffineDimExpr>(e);
    if (!loop || seen.test(loop.getPosition()))
      return false;
    seen.set(loop.getPosition());
    return true;
  });
}

static bool analyse(Attention &a) {
  for (auto [name, op] : a.ops())
    if (!llvm::all_of(op.getIndexingMapsArray(), readsPlainly))
      return false;
  for (GenericOp op : {a.score, a.finish})
    if (op && (!isElementwise(op) || !isPure(op) || !op.getBody()->getArguments().back().use_empty()))
      return false;
  return isProduct(a.scores) && isProduct(a.values) && findLoops(a) && sortLoops(a);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// The loop of the scores whose number it is; -1 if it is none.
static int loopOf(const Attention &a, Value value) {
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index ? a.scoreLoops[index.getDim()] : -1;
}

/// Whether it grows with the first of the rows, one by one, or is the same for all.
static bool followsRows(const Attention &a, Value value) {
  auto isOutside = [&](Value value) { return value.getParentBlock() != GenericOp(a.score).getBody(); };
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return (isOutside(sum.getLhs()) && followsRows(a, sum.getRhs())) ||
           (isOutside(sum.getRhs()) && followsRows(a, sum.getLhs()));
  if (auto difference = value.getDefiningOp<arith::SubIOp>())
    return isOutside(difference.getRhs()) && followsRows(a, difference.getLhs());
  int loop = loopOf(a, value);
  return isOutside(value) || loop == a.rows.front() ||
         (loop >= 0 && GenericOp(a.scores).getStaticLoopRanges()[loop] == 1);
}

static void addBounds(const Attention &a, Value condition, SmallVectorImpl<KeyBound> &bounds) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    addBounds(a, both.getLhs(), bounds);
    addBounds(a, both.getRhs(), bounds);
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return;
  using Predicate = arith::CmpIPredicate;
  Value key = compare.getLhs(), number = compare.getRhs();
  Predicate predicate = compare.getPredicate();
  if (loopOf(a, key) != a.key) {
    std::swap(key, number);
    predicate = predicate == Predicate::sle   ? Predicate::sge
                : predicate == Predicate::slt ? Predicate::sgt
                : predicate == Predicate::sge ? Predicate::sle
                : predicate == Predicate::sgt ? Predicate::slt
                                              : Predicate::eq;
  }
  if (loopOf(a, key) != a.key || !followsRows(a, number))
    return;
  if (predicate == Predicate::sle || predicate == Predicate::slt)
    bounds.push_back({number, predicate == Predicate::sle, false});
  if (predicate == Predicate::sge || predicate == Predicate::sgt)
    bounds.push_back({number, predicate == Predicate::sgt, true});
}

SmallVector<KeyBound> strata::findKeyBounds(const Attention &a) {
  SmallVector<KeyBound> bounds;
  if (!a.score)
    return bounds;
  // What hides a key comes last.
  for (Value value = yielded(a.score);;) {
    auto hidden = value.getDefiningOp<arith::SelectOp>();
    if (!hidden || !isNumber(hidden.getFalseValue(), true))
      return bounds;
    addBounds(a, hidden.getCondition(), bounds);
    value = hidden.getTrueValue();
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static GenericOp makerOf(OpOperand *operand) { return operand->get().getDefiningOp<GenericOp>(); }

static bool hasExponential(GenericOp op) {
  return op && op.getNumDpsInits() == 1 && withoutConversions(yielded(op)).getDefiningOp<math::ExpOp>();
}

static bool isReduction(GenericOp op) { return op && op.getNumReductionLoops() == 1 && op.getNumDpsInits() == 1; }

std::optional<Attention> strata::findAttention(GenericOp values) {
  if (!values.hasPureTensorSemantics() || !isProduct(values))
    return std::nullopt;
  Attention a;
  a.values = values;
  for (OpOperand *input : values.getDpsInputOperands()) {
    GenericOp weight = makerOf(input);
    for (OpOperand *factor : weight ? weight.getDpsInputOperands() : SmallVector<OpOperand *>())
      if (GenericOp maker = makerOf(factor); hasExponential(maker) && weight.getNumDpsInputs() == 2) {
        a.weight = weight;
        a.exponential = maker;
        a.inverse = makerOf(weight.getDpsInputOperand(1 - factor->getOperandNumber()));
      }
  }
  if (!a.exponential || !a.inverse)
    return std::nullopt;
  a.sum = isReduction(a.inverse)
              ? a.inverse
              : (a.inverse.getNumDpsInputs() == 1 ? makerOf(a.inverse.getDpsInputOperand(0)) : nullptr);
  if (a.sum == a.inverse)
    a.inverse = nullptr;
  GenericOp scored;
  for (OpOperand *input : a.exponential.getDpsInputOperands())
    (isReduction(makerOf(input)) && reducesInput(makerOf(input), true) ? a.maximum : scored) = makerOf(input);
  if (!isReduction(a.sum) || !a.maximum || !scored)
    return std::nullopt;
  if (isProduct(scored)) {
    a.scores = scored;
  } else {
    a.score = scored;
    for (OpOperand *input : scored.getDpsInputOperands())
      if (GenericOp maker = makerOf(input); maker && isProduct(maker) && maker->hasOneUse())
        a.scores = maker;
  }
  if (!a.scores)
    return std::nullopt;
  // Of what is done with the results, what writes as many elements.
  if (values->hasOneUse()) {
    auto user = dyn_cast<GenericOp>(*values->user_begin());
    if (user && isElementwise(user) && user->getBlock() == values->getBlock())
      if (OpOperand *input = inputFrom(user, values);
          input && user.getMatchingIndexingMap(input).isPermutation() &&
          user.getMatchingIndexingMap(user.getDpsInitOperand(0)).isPermutation())
        a.finish = user;
  }
  if (!analyse(a)) {
    // What comes behind may be of a kind that stays alone.
    a.finish = nullptr;
    a.batch.clear();
    a.rows.clear();
    if (!analyse(a))
      return std::nullopt;
  }
  return a;
}

std::optional<Attention> strata::matchAttention(scf::ForallOp loop) { return matchAttention(*loop.getBody()); }

std::optional<Attention> strata::matchAttention(Block &body) {
  Attention a;
  for (GenericOp op : body.getOps<GenericOp>()) {
    auto name = op->getAttrOfType<StringAttr>(kAttention);
    if (!name)
      continue;
    GenericOp *place = llvm::StringSwitch<GenericOp *>(name.getValue())
                           .Case("scores", &a.scores)
                           .Case("score", &a.score)
                           .Case("maximum", &a.maximum)
                           .Case("exponential", &a.exponential)
                           .Case("sum", &a.sum)
                           .Case("inverse", &a.inverse)
                           .Case("weight", &a.weight)
                           .Case("values", &a.values)
                           .Case("finish", &a.finish)
                           .Default(nullptr);
    if (place)
      *place = op;
  }
  if (!a.scores || !a.maximum || !a.exponential || !a.sum || !a.weight || !a.values || !analyse(a))
    return std::nullopt;
  return a;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static int64_t bytesOf(Type element) { return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8); }

static int64_t knownProduct(ArrayRef<int64_t> ranges, ArrayRef<int> loops, int64_t ifUnknown) {
  int64_t product = 1;
  for (int loop : loops)
    product =
        llvm::SaturatingMultiply<uint64_t>(product, ShapedType::isDynamic(ranges[loop]) ? ifUnknown : ranges[loop]);
  return product;
}

/// Q stays in shared memory, of K and V there is one tile each. Rows and keys are as many as fit 48 KiB, and tiles have
/// 128 rows only where there are enough blocks then. A few queries, such as the next token's, are a warp's: what it
/// does is mostly to wait for keys.
std::optional<AttentionTile> strata::chooseAttentionTile(const Attention &attention) {
  Attention a = attention;
  auto module = a.scores->getParentOfType<ModuleOp>();
  auto chip = module->getAttrOfType<StringAttr>(kChip);
  bool nvidia = !chip || !chip.getValue().starts_with("gfx"), tf32 = module->hasAttr(kTensorFloat);
  ProductSum scores = *matchProductSum(a.scores), values = *matchProductSum(a.values);
  Type q = scores.elements[a.query], k = scores.elements[1 - a.query], v = values.elements[1 - a.probability];
  Type weights = values.elements[a.probability];
  SmallVector<int64_t> ranges = a.scores.getStaticLoopRanges();
  int64_t depth = ranges[a.depth],
          width =
              a.values.getStaticLoopRanges()[llvm::find(a.valueLoops, a.scores.getNumLoops()) - a.valueLoops.begin()];
  constexpr int64_t leastHead = 8, mostHead = 128, fewRows = 16, leastKeys = 16, enoughBlocks = 128,
                    sharedBytes = 48 << 10, fewBytes = 8 << 10;
  for (int64_t size : {depth, width})
    if (ShapedType::isDynamic(size) || size < leastHead || size > mostHead)
      return std::nullopt;
  for (Type type : {q, k, v, weights})
    if (bytesOf(type) > 4)
      return std::nullopt;
  int64_t rows = knownProduct(ranges, a.rows, 128), batch = knownProduct(ranges, a.batch, 8);
  if (rows == 0 || ranges[a.key] == 0 || batch == 0)
    return std::nullopt;
  AttentionTile tile;
  tile.async = nvidia;
  tile.depth = std::max<int64_t>(16, llvm::PowerOf2Ceil(depth));
  tile.width = std::max<int64_t>(16, llvm::PowerOf2Ceil(width));
  tile.weightType = weights;
  tile.ahead = rows <= fewRows;
  if (nvidia && q == k && k == v) {
    ProductSum product = scores;
    tile.matrix = matchMatrixInstruction(product, tf32);
  }
  // So few keys fill no step of a tensor core, and what else there is rounds the weights less.
  if (tile.ahead && tile.matrix && !ShapedType::isDynamic(ranges[a.key]) && ranges[a.key] < leastKeys)
    return std::nullopt;
  // Lanes read eight lines of V, of 128 bytes at least.
  if (tile.matrix && v.isF32())
    tile.width = std::max<int64_t>(32, tile.width);
  using Size = std::pair<int64_t, int64_t>;
  static constexpr Size narrow[] = {{128, 64}, {64, 64}, {64, 32}}, wide[] = {{64, 32}, {64, 16}},
                        single[] = {{64, 64}, {64, 32}, {32, 32}, {32, 16}};
  // Without tensor cores, rows of the tile that there are not take as long as others; a thread's rows are multiples of
  // eight apart, as swizzled lines repeat.
  int64_t few = tile.matrix ? fewRows : std::max<int64_t>(4, llvm::PowerOf2Ceil(rows)), threads = few > 4 ? 64 : 32;
  for (auto [mostRows, keys] : ArrayRef<Size>(!tile.matrix      ? ArrayRef<Size>(single)
                                              : bytesOf(v) == 2 ? ArrayRef<Size>(narrow)
                                                                : ArrayRef<Size>(wide))) {
    int64_t tileRows = tile.ahead ? few : mostRows;
    if (tileRows > 64 &&
        (rows <= 64 || llvm::SaturatingMultiply<uint64_t>(llvm::divideCeil(rows, tileRows), batch) < enoughBlocks))
      continue;
    // Scores and results of a warp's 16 rows, half a register of each lane for a column, beside all else.
    if (tile.matrix && keys + tile.width > 160)
      continue;
    tile.rows = tileRows;
    tile.keys = keys;
    tile.partRows = tile.matrix ? 16 : tileRows * AttentionTile::threadsOfRow / (tile.ahead ? threads : 128);
    tile.queryBytes = tileRows * tile.depth * bytesOf(q);
    tile.keyBytes = keys * tile.depth * bytesOf(k);
    tile.valueBytes = keys * tile.width * bytesOf(v);
    tile.weightBytes = tile.matrix ? 0 : tileRows * keys * bytesOf(tile.weightType);
    // Few threads keep the places of all that they copy in registers.
    if (tile.ahead && std::max(tile.keyBytes, tile.valueBytes) > fewBytes)
      continue;
    if (tile.bytes() <= sharedBytes) {
      tile.parts = chooseKeyParts(a, tile);
      return tile;
    }
  }
  return std::nullopt;
}
