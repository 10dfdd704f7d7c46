//===- Einsum.cpp - sums of products by labels of dimensions --------------===//
//
// The operands are multiplied from left to right, one contraction each; labels
// that nothing further reads are summed as early as possible.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include <map>
#include <set>

using utils::IteratorType;

namespace {
// Labels are characters; dimension i from the end of an ellipsis is -1 - i.
using Labels = SmallVector<int64_t, 6>;

struct Equation {
  SmallVector<Labels> terms;
  Labels result;

  template <typename EmitError>
  static FailureOr<Equation> parse(StringRef text, ArrayRef<int64_t> ranks, EmitError emitError);
};
} // namespace

template <typename EmitError>
FailureOr<Equation> Equation::parse(StringRef text, ArrayRef<int64_t> ranks, EmitError emitError) {
  std::string packed;
  for (char c : text)
    if (c != ' ')
      packed.push_back(c);
  StringRef rest = packed;
  size_t arrow = rest.find("->");
  bool isExplicit = arrow != StringRef::npos;
  StringRef left = isExplicit ? rest.take_front(arrow) : rest, right = isExplicit ? rest.drop_front(arrow + 2) : "";
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != ranks.size())
    return emitError() << "'equation' has " << parts.size() << " terms for " << ranks.size() << " operands";
  // `ellipsis`: how many dimensions `...` stands for.
  auto read = [&](StringRef term, int64_t ellipsis, Labels &labels) -> LogicalResult {
    bool seen = false;
    while (!term.empty()) {
      if (term.consume_front("...")) {
        if (seen)
          return emitError() << "'equation' has two ellipses in one term";
        seen = true;
        for (int64_t i = ellipsis; i > 0; --i)
          labels.push_back(-i);
        continue;
      }
      if (!llvm::isAlpha(term.front()))
        return emitError() << "'equation' has the character '" << term.front() << "', which is no label";
      labels.push_back(term.front());
      term = term.drop_front();
    }
    return success();
  };
  Equation equation;
  int64_t ellipsis = 0;
  for (auto [part, rank] : llvm::zip_equal(parts, ranks)) {
    Labels &labels = equation.terms.emplace_back();
    int64_t letters = llvm::count_if(part, [](char c) { return c != '.'; });
    bool hasEllipsis = part.contains("...");
    if (letters > rank || (!hasEllipsis && letters != rank))
      return emitError() << "the term '" << part << "' of 'equation' has " << letters
                         << " labels for an operand of rank " << rank;
    ellipsis = std::max(ellipsis, hasEllipsis ? rank - letters : 0);
    if (failed(read(part, rank - letters, labels)))
      return failure();
  }
  if (isExplicit) {
    if (failed(read(right, ellipsis, equation.result)))
      return failure();
    for (int64_t label : equation.result) {
      if (llvm::count(equation.result, label) > 1)
        return emitError() << "the result of 'equation' repeats a label";
      if (llvm::none_of(equation.terms, [&](const Labels &term) { return llvm::is_contained(term, label); }))
        return emitError() << "the result of 'equation' has the label '" << static_cast<char>(label)
                           << "', which no operand has";
    }
    return equation;
  }
  std::map<int64_t, int> counts;
  for (const Labels &term : equation.terms)
    for (int64_t label : term)
      ++counts[label];
  for (int64_t i = ellipsis; i > 0; --i)
    equation.result.push_back(-i);
  for (auto [label, count] : counts)
    if (label > 0 && count == 1)
      equation.result.push_back(label);
  return equation;
}

static LogicalResult inferEinsum(ShapeContext &c) {
  SmallVector<int64_t> ranks;
  for (unsigned i = 0; i < c.numInputs(0); ++i) {
    auto rank = c.rank(0, i);
    if (!rank)
      return success();
    ranks.push_back(*rank);
  }
  auto equation = Equation::parse(c.string("equation", ""), ranks, [&] { return c.emitError(); });
  if (failed(equation))
    return failure();
  std::map<int64_t, Dim> dims;
  for (auto [i, term] : llvm::enumerate(equation->terms)) {
    Shape shape = *c.shape(0, i);
    for (auto [label, dim] : llvm::zip_equal(term, shape)) {
      auto [it, isNew] = dims.try_emplace(label, dim);
      if (isNew)
        continue;
      std::optional<Dim> both = broadcastDims(it->second, dim);
      if (!both)
        return c.emitError() << "operand " << i << " has size " << dim.size << " where another has " << it->second.size;
      it->second = *both;
    }
  }
  Shape result;
  for (int64_t label : equation->result)
    result.push_back(dims[label]);
  c.setShape(0, result);
  return success();
}

namespace {
struct Operand {
  Value value;
  Labels labels;
};

struct EinsumBuilder {
  LinalgBuilder &b;
  Type element;
  std::map<int64_t, OpFoldResult> sizes;

  Operand takeDiagonal(Operand operand);
  void settleSizes(MutableArrayRef<Operand> operands, ArrayRef<std::map<int64_t, Dim>> dims);
  Operand contractWith(const Operand &x, const Operand *y, const Labels &result);
  Operand multiply(const Operand &x, const Operand &y, const Labels &result);
};
} // namespace

// Repeated labels read equal positions.
Operand EinsumBuilder::takeDiagonal(Operand operand) {
  Labels unique;
  Sizes result;
  for (auto [i, label] : llvm::enumerate(operand.labels))
    if (!llvm::is_contained(unique, label)) {
      unique.push_back(label);
      result.push_back(b.dim(operand.value, i));
    } else {
      b.checkEqual(b.dim(operand.value, i), result[llvm::find(unique, label) - unique.begin()],
                   "a label is repeated for dimensions of different sizes");
    }
  if (unique.size() == operand.labels.size())
    return operand;
  Value diagonal =
      b.generate(result, getElementType(operand.value), [&](ImplicitLocOpBuilder &n, ValueRange at) -> Value {
        SmallVector<Value> from;
        for (int64_t label : operand.labels)
          from.push_back(at[llvm::find(unique, label) - unique.begin()]);
        return n.create<tensor::ExtractOp>(operand.value, from);
      });
  return {diagonal, unique};
}

// Finds the size of each label. Dimensions of one letter are equal, but those of an ellipsis broadcast: a size that may
// be 1 or not is settled by broadcasting its operand first; it is rare. `dims`: what the types say of each operand's
// labels.
void EinsumBuilder::settleSizes(MutableArrayRef<Operand> operands, ArrayRef<std::map<int64_t, Dim>> dims) {
  std::map<int64_t, Dim> known;
  std::set<int64_t> ambiguous;
  auto equal = [&](OpFoldResult x, OpFoldResult y) -> Value {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, b.index(x), b.index(y));
  };
  for (auto [operand, own] : llvm::zip_equal(operands, dims))
    for (auto [i, label] : llvm::enumerate(operand.labels)) {
      OpFoldResult size = b.dim(operand.value, i);
      Dim dim = own.at(label);
      auto [it, isNew] = sizes.try_emplace(label, size);
      if (isNew || isConstantIntValue(it->second, 1)) {
        it->second = size;
        known[label] = dim;
        continue;
      }
      if (isConstantIntValue(size, 1) || dim.sameAs(known[label]))
        continue;
      OpFoldResult one = b.getIndexAttr(1), other = it->second;
      bool isConstant = getConstantIntValue(size).has_value(), otherIsConstant = getConstantIntValue(other).has_value();
      if (isConstant) {
        it->second = size;
        known[label] = dim;
      }
      if (label > 0 || (isConstant && otherIsConstant)) {
        b.checkEqual(size, other, "operands differ in the size of a dimension with one label");
        continue;
      }
      Value fits = equal(size, other);
      for (OpFoldResult dynamic : {size, other})
        if (!getConstantIntValue(dynamic))
          fits = b.create<arith::OrIOp>(fits, equal(dynamic, one));
      b.check(fits, "dimensions of the ellipsis do not broadcast");
      ambiguous.insert(label);
      if (!isConstant && !otherIsConstant) {
        it->second = b.create<arith::SelectOp>(equal(other, one), b.index(size), b.index(other)).getResult();
        known[label] = Dim();
      }
    }
  for (Operand &operand : operands) {
    Sizes full;
    bool differs = false;
    for (auto [i, label] : llvm::enumerate(operand.labels)) {
      OpFoldResult size = b.dim(operand.value, i);
      bool settles = ambiguous.count(label) && !isConstantIntValue(size, 1);
      differs |= settles && !isEqualConstantIntOrValue(size, sizes[label]);
      full.push_back(settles ? sizes[label] : size);
    }
    if (differs)
      operand.value = b.broadcast(operand.value, full);
  }
}

// The product of one or two operands summed over the labels that `result` lacks, in the compute type.
Operand EinsumBuilder::contractWith(const Operand &x, const Operand *y, const Labels &result) {
  Labels loops(result);
  for (const Operand *operand : {&x, y})
    if (operand)
      for (int64_t label : operand->labels)
        if (!llvm::is_contained(loops, label))
          loops.push_back(label);
  unsigned rank = loops.size();
  SmallVector<IteratorType> iterators(rank, IteratorType::parallel);
  std::fill(iterators.begin() + result.size(), iterators.end(), IteratorType::reduction);
  auto read = [&](const Operand &operand) {
    SmallVector<AffineExpr> exprs;
    for (auto [i, label] : llvm::enumerate(operand.labels)) {
      bool repeats = isConstantIntValue(b.dim(operand.value, i), 1) && !isConstantIntValue(sizes[label], 1);
      exprs.push_back(repeats ? b.getAffineConstantExpr(0)
                              : b.getAffineDimExpr(llvm::find(loops, label) - loops.begin()));
    }
    return AffineMap::get(rank, 0, exprs, b.getContext());
  };
  Sizes resultSizes;
  for (int64_t label : result)
    resultSizes.push_back(sizes[label]);
  SmallVector<int64_t> reduced = llvm::to_vector(llvm::seq<int64_t>(result.size(), rank));
  AffineMap write = mapWithout(b.getContext(), rank, reduced);
  if (y)
    return {contract(b, x.value, y->value, {read(x), read(*y), write}, iterators, resultSizes, element), result};
  Type compute = scalar::getComputeType(element);
  Value zero = b.fill(resultSizes, b.scalar(compute, 0));
  SmallVector<AffineMap> maps{read(x), write};
  Value sum = b.create<linalg::GenericOp>(zero.getType(), x.value, zero, maps, iterators,
                                          [&](OpBuilder &nested, Location loc, ValueRange v) {
                                            ImplicitLocOpBuilder n(loc, nested);
                                            Value e =
                                                v[0].getType() == compute ? v[0] : scalar::decode(n, v[0], element);
                                            n.create<linalg::YieldOp>(addScalars(n, v[1], e));
                                          })
                  .getResult(0);
  return {sum, result};
}

// Products whose result ends in a label that tells products apart: along it, no element of an operand is read twice. So
// these labels are the first ones of what is computed, which then is transposed.
Operand EinsumBuilder::multiply(const Operand &x, const Operand &y, const Labels &result) {
  auto has = [](const Operand &operand, int64_t label) { return llvm::is_contained(operand.labels, label); };
  auto isShared = [&](int64_t label) { return has(x, label) && has(y, label); };
  auto isOwn = [&](const Operand &operand) {
    return llvm::any_of(result, [&](int64_t label) { return has(operand, label) && !isShared(label); });
  };
  Labels order(result);
  std::stable_partition(order.begin(), order.end(), isShared);
  if (result.empty() || !isShared(result.back()) || !isOwn(x) || !isOwn(y))
    return contractWith(x, &y, result);
  Value product = contractWith(x, &y, order).value;
  SmallVector<int64_t> permutation;
  for (int64_t label : result)
    permutation.push_back(llvm::find(order, label) - order.begin());
  return {b.transpose(product, permutation), result};
}

static FailureOr<SmallVector<Value>> lowerEinsum(Operation *op, ValueRange operands, LinalgBuilder &b) {
  SmallVector<int64_t> ranks;
  for (Value operand : operands)
    ranks.push_back(getRank(operand));
  auto equation = Equation::parse(cast<EinsumOp>(op).getEquation(), ranks, [&] { return op->emitOpError(); });
  if (failed(equation))
    return failure();
  EinsumBuilder builder{b, getElementType(op->getResult(0)), {}};
  SmallVector<Operand> all;
  SmallVector<std::map<int64_t, Dim>> dims;
  for (auto [value, labels, source] : llvm::zip_equal(operands, equation->terms, op->getOperands())) {
    all.push_back(builder.takeDiagonal({value, labels}));
    std::map<int64_t, Dim> &own = dims.emplace_back();
    for (auto [label, dim] : llvm::zip_equal(labels, *getShape(source.getType())))
      own.try_emplace(label, dim);
  }
  builder.settleSizes(all, dims);
  if (all.size() == 1)
    return SmallVector<Value>{
        roundTo(b, builder.contractWith(all[0], nullptr, equation->result).value, builder.element)};
  Operand product = all[0];
  for (size_t i = 1; i < all.size(); ++i) {
    // What the result or a later operand reads stays.
    Labels kept(i + 1 == all.size() ? equation->result : Labels());
    if (i + 1 < all.size())
      for (const Operand *operand : {&product, &all[i]})
        for (int64_t label : operand->labels) {
          bool read = llvm::is_contained(equation->result, label);
          for (size_t later = i + 1; later < all.size(); ++later)
            read |= llvm::is_contained(all[later].labels, label);
          if (read && !llvm::is_contained(kept, label))
            kept.push_back(label);
        }
    product = builder.multiply(product, all[i], kept);
  }
  return SmallVector<Value>{roundTo(b, product.value, builder.element)};
}

STRATA_SLICE(Einsum) { ops.add("Einsum", {.inferShapes = inferEinsum, .lower = lowerEinsum}); }
