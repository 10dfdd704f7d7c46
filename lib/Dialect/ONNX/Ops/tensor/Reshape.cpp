//===- Reshape.cpp - Reshape ----------------------------------------------===//
//
// 0 copies the input's dimension (unless allowzero), -1 is what is left.
//
//===----------------------------------------------------------------------===//

#include "../Slice.h"
#include "Dialect/VersionSteps.h"

static bool allowsZero(Operation *op) {
  auto attr = op->getAttrOfType<IntegerAttr>("allowzero");
  return attr && attr.getInt() != 0;
}

// numerators / denominators as far as it is a number or one symbol.
static Dim divide(ArrayRef<Dim> numerators, ArrayRef<Dim> denominators) {
  int64_t top = 1, bottom = 1;
  SmallVector<Dim> topSymbols;
  for (const Dim &dim : numerators) {
    if (dim.isStatic() && llvm::MulOverflow(top, dim.size, top))
      return {};
    if (!dim.isStatic())
      topSymbols.push_back(dim);
  }
  for (const Dim &dim : denominators) {
    if (dim.isStatic()) {
      if (llvm::MulOverflow(bottom, dim.size, bottom))
        return {};
      continue;
    }
    auto same = llvm::find_if(topSymbols, [&](const Dim &other) { return other.sameAs(dim); });
    if (same == topSymbols.end())
      return {};
    topSymbols.erase(same);
  }
  if (bottom == 0 || top % bottom != 0)
    return {};
  Dim result(top / bottom);
  for (const Dim &dim : topSymbols)
    result = result * dim;
  return result;
}

static LogicalResult inferReshape(ShapeContext &c) {
  ValueAnalysis::Values target;
  if (c.version() >= 5) {
    target = c.values(1);
    if (!target)
      if (auto shape = c.shape(1); shape && shape->size() == 1 && (*shape)[0].isStatic())
        target.emplace((*shape)[0].size);
  } else if (auto list = c.integerArray("shape")) {
    target.emplace(list->begin(), list->end());
  }
  std::optional<Shape> input = c.shape(0);
  if (!target) {
    // Version 1 says nothing of an absent shape; runtimes then leave the data as it is.
    if (c.version() < 5)
      c.copyShape(0);
    return success();
  }
  bool allowZero = allowsZero(c.getOperation());
  auto holds = [&](int64_t size) { return llvm::any_of(*target, [&](const Dim &dim) { return dim.is(size); }); };
  if (allowZero && holds(0) && holds(-1))
    return c.emitError() << "has both 0 and -1 in its shape, which allowzero forbids";
  Shape result;
  SmallVector<Dim> numerators, denominators;
  std::optional<size_t> inferred;
  // An element that only the run tells may be -1, and then any other may be anything.
  bool complete = input.has_value();
  llvm::SmallBitVector copied(input ? input->size() : 0);
  for (auto [i, dim] : llvm::enumerate(*target)) {
    if (dim.is(-1)) {
      if (inferred)
        return c.emitError() << "has more than one -1 in its shape";
      inferred = i;
      result.push_back(Dim());
    } else if (dim.is(0) && !allowZero) {
      if (input && i >= input->size())
        return c.emitError() << "copies dimension " << i << " of an input of rank " << input->size();
      result.push_back(input ? (*input)[i] : Dim());
      if (input)
        copied.set(i);
    } else if (dim.isStatic() && dim.size < 0) {
      return c.emitError() << "has the size " << dim.size << " in its shape";
    } else {
      complete &= dim.isStatic() || dim.symbol;
      result.push_back(dim);
      denominators.push_back(dim);
    }
  }
  for (size_t i = 0; input && i < input->size(); ++i)
    if (!copied[i])
      numerators.push_back((*input)[i]);
  if (inferred && complete)
    result[*inferred] = divide(numerators, denominators);
  auto isStatic = [](ArrayRef<Dim> dims) { return llvm::all_of(dims, [](const Dim &dim) { return dim.isStatic(); }); };
  Dim fixed(1), whole(1);
  for (const Dim &dim : denominators)
    fixed = fixed * dim;
  for (const Dim &dim : numerators)
    whole = whole * dim;
  if (inferred && complete && fixed.isStatic() && whole.isStatic() && fixed.size > 0 && whole.size % fixed.size != 0)
    return c.emitError() << "reshapes " << whole.size << " elements, which do not divide by " << fixed.size;
  if (input && isStatic(*input) && isStatic(result)) {
    auto count = [](ArrayRef<Dim> dims) {
      Dim product(1);
      for (const Dim &dim : dims)
        product = product * dim;
      return product.size;
    };
    if (count(*input) != count(result))
      return c.emitError() << "reshapes " << count(*input) << " elements into " << count(result);
  }
  c.setShape(0, result);
  return success();
}

static ValueAnalysis::Values reshapeValues(ShapeContext &c) { return c.elements(0); }

static LogicalResult upgradeReshape(Operation *op, PatternRewriter &rewriter) {
  if (cast<VersionedOpInterface>(op).getSinceVersion() >= 5)
    return keepAttributes(op, rewriter);
  auto shape = op->getAttrOfType<DenseI64ArrayAttr>("shape");
  if (!shape) {
    rewriter.replaceOp(op, op->getOperands());
    return success();
  }
  Value list = makeIntegers(rewriter, op->getLoc(), shape);
  replaceByNext(op, rewriter, {op->getOperand(0), list}, {"consumed_inputs", "shape"});
  return success();
}

static LogicalResult downgradeReshape(Operation *op, PatternRewriter &rewriter) {
  int64_t previous = getPreviousVersion(op);
  if (previous >= 5) {
    auto sizes = getIntegers(getConstant(op->getOperand(1)));
    if (previous < 14 && sizes && !llvm::is_contained(*sizes, 0))
      return downgradeStep(op, rewriter, {{"allowzero", 0}, {"allowzero", 1}});
    return downgradeStep(op, rewriter, {{"allowzero", 0}});
  }
  FailureOr<SmallVector<int64_t>> shape = requireIntegers(op, 1);
  if (failed(shape))
    return failure();
  return replaceByPrevious(op, rewriter, op->getOperand(0), {},
                           rewriter.getNamedAttr("shape", rewriter.getDenseI64ArrayAttr(*shape)));
}

static FailureOr<SmallVector<Value>> lowerReshape(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value data = operands[0];
  Sizes from = b.sizes(data), to;
  bool allowZero = allowsZero(op);
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<Shape> result = getShape(resultType);
  if (!cast<RankedTensorType>(op->getOperand(1).getType()).hasStaticShape())
    // The declared rank says how many elements there must be.
    b.checkEqual(b.dim(operands[1], 0), b.getIndexAttr(resultType.getRank()),
                 "the shape has another number of elements");
  ValueAnalysis::Values known = b.getAnalysis().get(op->getOperand(1));
  SmallVector<unsigned> unknown, inferred;
  for (unsigned i = 0; i < resultType.getRank(); ++i) {
    Dim dim = known && i < known->size() ? (*known)[i] : Dim();
    if (std::optional<OpFoldResult> size = b.knownSize((*result)[i]))
      to.push_back(*size);
    else if (dim.is(0) && !allowZero)
      to.push_back(from[i]);
    else if (dim.is(-1)) {
      inferred.push_back(i);
      to.push_back(b.getIndexAttr(1));
    } else if (std::optional<OpFoldResult> size = b.knownSize(dim))
      to.push_back(*size);
    else {
      unknown.push_back(i);
      to.push_back(b.element(operands[1], i));
      if (!allowZero && i < from.size())
        to[i] = b.select(b.compare(arith::CmpIPredicate::eq, to[i], b.getIndexAttr(0)), from[i], to[i]);
    }
  }
  if (!inferred.empty()) {
    Sizes others(to);
    others.erase(others.begin() + inferred[0]);
    to[inferred[0]] = b.quotient(from, others);
  } else if (!unknown.empty()) {
    // One of the elements that only the run tells may be -1.
    Sizes others(to);
    SmallVector<Value> isRest;
    for (unsigned i : unknown) {
      isRest.push_back(b.compare(arith::CmpIPredicate::eq, to[i], b.getIndexAttr(-1)));
      others[i] = b.select(isRest.back(), b.getIndexAttr(1), to[i]);
    }
    OpFoldResult rest = b.quotient(from, others);
    for (auto [i, is] : llvm::zip_equal(unknown, isRest))
      to[i] = b.select(is, rest, to[i]);
  }
  for (unsigned i : unknown)
    b.check(b.compare(arith::CmpIPredicate::sge, to[i], b.getIndexAttr(0)), "the shape has a negative size");
  if (!LinalgBuilder::haveSameProduct(from, to))
    b.checkEqual(b.product(from), b.product(to), "the data does not have as many elements as the shape asks for");
  return SmallVector<Value>{b.reshape(data, to)};
}

STRATA_SLICE(Reshape) {
  ops.add("Reshape", {.inferShapes = inferReshape,
                      .inferValues = reshapeValues,
                      .upgrade = upgradeReshape,
                      .downgrade = downgradeReshape,
                      .lower = lowerReshape,
                      .handles = true});
}
