//===- Recurrent.cpp - RNN, GRU, LSTM -------------------------------------===//
//
// The products with the operand of all steps are one contraction in front of a
// loop over the steps, which carries the state and the result.
//
//===----------------------------------------------------------------------===//

#include "../Moments.h"
#include "Dialect/VersionSteps.h"

using utils::IteratorType;

namespace {
enum Input { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };

int64_t getGates(Operation *op) {
  StringRef name = getUnversionedName(op);
  return name == "LSTM" ? 4 : name == "GRU" ? 3 : 1;
}
// Functions per direction.
unsigned getNumFunctions(Operation *op) {
  StringRef name = getUnversionedName(op);
  return name == "LSTM" ? 3 : name == "GRU" ? 2 : 1;
}
} // namespace

// The activation functions, and which parameters they have.
namespace {
struct Known {
  StringLiteral name, key;
  bool hasAlpha, hasBeta;
  double alpha, beta;
};
} // namespace
static constexpr Known kFunctions[] = {{"Tanh", "tanh", false, false, 0, 0},
                                       {"Sigmoid", "sigmoid", false, false, 0, 0},
                                       {"Relu", "relu", false, false, 0, 0},
                                       {"Affine", "affine", true, true, 1, 0},
                                       {"LeakyRelu", "leakyrelu", true, false, 0.01, 0},
                                       {"ThresholdedRelu", "thresholdedrelu", true, false, 1, 0},
                                       {"ScaledTanh", "scaledtanh", true, true, 1, 1},
                                       {"HardSigmoid", "hardsigmoid", true, true, 0.2, 0.5},
                                       {"Elu", "elu", true, false, 1, 0},
                                       {"Softsign", "softsign", false, false, 0, 0},
                                       {"Softplus", "softplus", false, false, 0, 0}};

static const Known *findFunction(StringRef name) {
  // Case does not matter.
  return llvm::find_if(kFunctions, [&](const Known &known) { return known.name.equals_insensitive(name); });
}

static StringRef getDirection(Operation *op) {
  auto attr = op->getAttrOfType<StringAttr>("direction");
  // Version 1 of GRU spells its default so.
  return !attr || attr.getValue() == "foward" ? "forward" : attr.getValue();
}

static LogicalResult verifyRecurrent(Operation *op) {
  StringRef direction = getDirection(op);
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return op->emitOpError("'direction' is '") << direction << "', not forward, reverse or bidirectional";
  if (auto functions = op->getAttrOfType<ArrayAttr>("activations")) {
    // RNN's default has two, whatever the direction.
    size_t count = getNumFunctions(op) * (direction == "bidirectional" ? 2 : 1);
    if (functions.size() < count)
      return op->emitOpError("'activations' has ") << functions.size() << " functions, not " << count;
    for (StringAttr name : functions.getAsRange<StringAttr>())
      if (findFunction(name.getValue()) == std::end(kFunctions)) {
        InFlightDiagnostic error = op->emitOpError("'activations' has the unknown function '")
                                   << name.getValue() << "', not ";
        llvm::interleaveComma(kFunctions, error, [&](const Known &known) { error << known.name; });
        return error;
      }
  }
  if (auto layout = op->getAttrOfType<IntegerAttr>("layout"); layout && layout.getInt() != 0 && layout.getInt() != 1)
    return op->emitOpError("'layout' is ") << layout.getInt() << ", not 0 or 1";
  return success();
}

static LogicalResult inferRecurrent(ShapeContext &c) {
  Operation *op = c.getOperation();
  int64_t gates = getGates(op);
  std::optional<Shape> x = c.shape(kX), w = c.shape(kW), r = c.shape(kR);
  static constexpr std::pair<StringLiteral, int64_t> ranks[] = {
      {"X", 3}, {"W", 3}, {"R", 3}, {"B", 2}, {"sequence_lens", 1}, {"initial_h", 3}, {"initial_c", 3}, {"P", 2}};
  for (auto [i, operand] : llvm::enumerate(ranks))
    if (auto rank = c.hasInput(i) ? c.rank(i) : std::nullopt; rank && *rank != operand.second)
      return c.emitError() << "'" << operand.first << "' has rank " << *rank << ", not " << operand.second;
  bool batchFirst = c.integer("layout", 0) != 0;
  Dim directions(getDirection(op) == "bidirectional" ? 2 : 1), hidden, seq, batch;
  if (r)
    hidden = (*r)[2];
  if (int64_t size = c.integer("hidden_size", 0); size > 0) {
    if (hidden.isStatic() && hidden.size != size)
      return c.emitError() << "'hidden_size' is " << size << ", but 'R' has " << hidden.size;
    hidden = Dim(size);
  }
  if (x) {
    seq = (*x)[batchFirst ? 1 : 0];
    batch = (*x)[batchFirst ? 0 : 1];
  }
  for (auto [name, weight] : {std::pair<StringRef, std::optional<Shape> &>("W", w), {"R", r}})
    if (weight) {
      if ((*weight)[0].isStatic() && (*weight)[0].size != directions.size)
        return c.emitError() << "'" << name << "' has " << (*weight)[0].size << " directions, not " << directions.size;
      if ((*weight)[1].isStatic() && hidden.isStatic() && (*weight)[1].size != gates * hidden.size)
        return c.emitError() << "'" << name << "' has " << (*weight)[1].size << " rows, not " << gates * hidden.size;
    }
  if (x && w && (*x)[2].isStatic() && (*w)[2].isStatic() && (*x)[2].size != (*w)[2].size)
    return c.emitError() << "'X' has " << (*x)[2].size << " features, but 'W' reads " << (*w)[2].size;
  std::optional<Shape> lengths = c.shape(kLengths), initial = c.shape(kInitialH);
  const Dim *ofLengths = lengths && lengths->size() == 1 ? &(*lengths)[0] : nullptr;
  const Dim *ofInitial = initial && initial->size() == 3 ? &(*initial)[batchFirst ? 0 : 1] : nullptr;
  for (const Dim *own : {ofLengths, ofInitial})
    if (own && own->isStatic() && !batch.isStatic())
      batch = *own;
  if (ofLengths && ofLengths->isStatic() && ofLengths->size != batch.size)
    return c.emitError() << "'sequence_lens' has " << ofLengths->size << " elements for a batch of " << batch.size;
  if (ofInitial && ofInitial->isStatic() && ofInitial->size != batch.size)
    return c.emitError() << "'initial_h' has " << ofInitial->size << " rows for a batch of " << batch.size;
  Shape state = batchFirst ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  c.setShape(0, batchFirst ? Shape{batch, seq, directions, hidden} : Shape{seq, directions, batch, hidden});
  c.setShape(1, state);
  c.setShape(2, state);
  return success();
}

// Results and `output_sequence` stay and go: a result that is asked for is there in all versions.
static LogicalResult upgradeRecurrent(Operation *op, PatternRewriter &rewriter) {
  SmallVector<NamedAttribute, 1> added;
  if (op->getAttr("direction"))
    added.push_back(rewriter.getNamedAttr("direction", rewriter.getStringAttr(getDirection(op))));
  return changeAttributes(op, rewriter, {"output_sequence"}, added);
}

// Before version 14 time comes first; before 7 the whole sequence is a result only if an attribute says so.
static LogicalResult downgradeRecurrent(Operation *op, PatternRewriter &rewriter) {
  auto versioned = cast<VersionedOpInterface>(op);
  int64_t previous = getPreviousVersion(op);
  if (previous >= 7)
    return downgradeStep(op, rewriter, {{"layout", 0}});
  if (versioned.getSinceVersion() == 7 && !versioned.getOutputGroup(0).empty())
    rewriter.modifyOpInPlace(op, [&] { op->setAttr("output_sequence", rewriter.getI64IntegerAttr(1)); });
  return downgradeStep(op, rewriter, {{"linear_before_reset", 0}});
}

//===----------------------------------------------------------------------===//
// Activation functions
//===----------------------------------------------------------------------===//

namespace {
struct Function {
  StringRef name;
  double alpha = 0, beta = 0;
};
} // namespace

static Value apply(ImplicitLocOpBuilder &n, const Function &f, Value x) {
  Type type = x.getType();
  auto number = [&](double value) { return constantFloat(n, type, value); };
  auto less = [&](Value p, Value q) { return n.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, p, q).getResult(); };
  auto mul = [&](Value p, Value q) { return n.create<arith::MulFOp>(p, q).getResult(); };
  auto add = [&](Value p, Value q) { return n.create<arith::AddFOp>(p, q).getResult(); };
  auto div = [&](Value p, Value q) { return n.create<arith::DivFOp>(p, q).getResult(); };
  if (f.name == "tanh")
    return n.create<math::TanhOp>(x);
  if (f.name == "sigmoid")
    return scalar::logistic(n, x);
  if (f.name == "relu")
    return n.create<arith::MaximumFOp>(x, number(0));
  if (f.name == "affine")
    return add(mul(x, number(f.alpha)), number(f.beta));
  if (f.name == "leakyrelu")
    return n.create<arith::SelectOp>(less(x, number(0)), mul(x, number(f.alpha)), x);
  if (f.name == "thresholdedrelu")
    return n.create<arith::SelectOp>(less(x, number(f.alpha)), number(0), x);
  if (f.name == "scaledtanh")
    return mul(number(f.alpha), n.create<math::TanhOp>(mul(x, number(f.beta))));
  if (f.name == "hardsigmoid") {
    Value line = add(mul(x, number(f.alpha)), number(f.beta));
    return n.create<arith::MinimumFOp>(n.create<arith::MaximumFOp>(line, number(0)), number(1));
  }
  if (f.name == "elu")
    return n.create<arith::SelectOp>(less(x, number(0)), mul(number(f.alpha), n.create<math::ExpM1Op>(x)), x);
  if (f.name == "softsign")
    return div(x, add(number(1), n.create<math::AbsFOp>(x)));
  // softplus: log(1 + exp(x)), without overflow.
  Value tail = n.create<math::Log1pOp>(n.create<math::ExpOp>(n.create<arith::NegFOp>(n.create<math::AbsFOp>(x))));
  return add(n.create<arith::MaximumFOp>(x, number(0)), tail);
}

// The functions of a direction; alpha and beta are taken in turn by those that have such.
static FailureOr<SmallVector<Function>> getFunctions(Operation *op, int64_t direction) {
  unsigned count = getNumFunctions(op);
  SmallVector<StringRef> names;
  if (auto attr = op->getAttrOfType<ArrayAttr>("activations")) {
    for (Attribute name : attr)
      names.push_back(cast<StringAttr>(name).getValue());
  } else {
    for (int i = 0; i < 2; ++i)
      if (count == 3)
        names.append({"Sigmoid", "Tanh", "Tanh"});
      else if (count == 2)
        names.append({"Sigmoid", "Tanh"});
      else
        names.push_back("Tanh");
  }
  auto floats = [&](StringRef name) {
    auto attr = op->getAttrOfType<DenseF32ArrayAttr>(name);
    return attr ? attr.asArrayRef() : ArrayRef<float>();
  };
  ArrayRef<float> alphas = floats("activation_alpha"), betas = floats("activation_beta");
  SmallVector<Function> functions;
  for (StringRef name : names) {
    const Known *known = findFunction(name);
    Function f{known->key, known->alpha, known->beta};
    if (known->hasAlpha && !alphas.empty()) {
      f.alpha = alphas.front();
      alphas = alphas.drop_front();
    }
    if (known->hasBeta && !betas.empty()) {
      f.beta = betas.front();
      betas = betas.drop_front();
    }
    functions.push_back(f);
  }
  return SmallVector<Function>(ArrayRef(functions).slice(direction * count, count));
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

namespace {
struct Recurrent {
  Operation *op;
  LinalgBuilder &b;
  Type compute{}, element{};
  OpFoldResult seq{}, batch{}, hidden{};
  int64_t gates = 1;
  std::optional<double> clip{};
  // Of the current direction.
  SmallVector<Function> functions{};
  Value recurrence{}, recurrenceBias{}, peepholes{};

  OpFoldResult number(int64_t value) { return b.getIndexAttr(value); }
  AffineMap map(unsigned dims, ArrayRef<AffineExpr> exprs) { return AffineMap::get(dims, 0, exprs, b.getContext()); }

  // tensor[at, ...]; `rest`: the sizes after the first one, where they are known better than from the tensor.
  Value take(Value tensor, OpFoldResult at, ArrayRef<OpFoldResult> rest = {});
  // matrix[:, at*hidden : (at+count)*hidden], or the same of a vector.
  Value columns(Value tensor, int64_t at, int64_t count = 1);
  Value rows(Value tensor, int64_t at, int64_t count);
  // state [batch, k] * weights [n, k]^T
  Value product(Value state, Value weights, OpFoldResult n);
  Value activate(ImplicitLocOpBuilder &n, unsigned f, Value x);
  SmallVector<Value> step(Value x, ValueRange state);
  Value combine(ValueRange matrices, ValueRange vectors, ScalarFn body);
};
} // namespace

Value Recurrent::take(Value tensor, OpFoldResult at, ArrayRef<OpFoldResult> rest) {
  Sizes sizes = b.sizes(tensor), offsets(sizes.size(), number(0)), ones(sizes.size(), number(1));
  sizes[0] = number(1);
  llvm::copy(rest, sizes.begin() + 1);
  offsets[0] = at;
  auto type = cast<RankedTensorType>(tensor.getType());
  RankedTensorType taken =
      tensor::ExtractSliceOp::inferCanonicalRankReducedResultType(type.getRank() - 1, type, offsets, sizes, ones);
  return b.create<tensor::ExtractSliceOp>(taken, tensor, offsets, sizes, ones);
}

Value Recurrent::columns(Value tensor, int64_t at, int64_t count) {
  Sizes sizes = b.sizes(tensor), offsets(sizes.size(), number(0));
  offsets.back() = b.mul(number(at), hidden);
  sizes.back() = b.mul(number(count), hidden);
  return b.slice(tensor, offsets, sizes);
}

Value Recurrent::rows(Value tensor, int64_t at, int64_t count) {
  Sizes sizes = b.sizes(tensor), offsets(sizes.size(), number(0));
  offsets[0] = b.mul(number(at), hidden);
  sizes[0] = b.mul(number(count), hidden);
  return b.slice(tensor, offsets, sizes);
}

Value Recurrent::product(Value state, Value weights, OpFoldResult n) {
  AffineExpr i = b.getAffineDimExpr(0), j = b.getAffineDimExpr(1), k = b.getAffineDimExpr(2);
  return contract(b, state, weights, {map(3, {i, k}), map(3, {j, k}), map(3, {i, j})},
                  {IteratorType::parallel, IteratorType::parallel, IteratorType::reduction}, {batch, n}, element);
}

Value Recurrent::activate(ImplicitLocOpBuilder &n, unsigned f, Value x) {
  if (clip)
    x = n.create<arith::MaximumFOp>(n.create<arith::MinimumFOp>(x, constantFloat(n, compute, *clip)),
                                    constantFloat(n, compute, -*clip));
  return apply(n, functions[f], x);
}

// Elementwise over [batch, hidden]; the vectors have one element per column.
Value Recurrent::combine(ValueRange matrices, ValueRange vectors, ScalarFn body) {
  SmallVector<Value> inputs(matrices);
  SmallVector<AffineMap> maps(matrices.size(), b.getMultiDimIdentityMap(2));
  inputs.append(vectors.begin(), vectors.end());
  maps.append(vectors.size(), map(2, b.getAffineDimExpr(1)));
  return mapElements(b, inputs, maps, {batch, hidden}, compute, [&](ImplicitLocOpBuilder &n, ValueRange v) {
    SmallVector<Value> wide;
    for (Value value : v)
      wide.push_back(extend(n, value, compute));
    return body(n, wide);
  });
}

// The next state from the products with the operand [batch, gates * hidden] and the state.
SmallVector<Value> Recurrent::step(Value x, ValueRange state) {
  Value h = state[0], bias = recurrenceBias;
  SmallVector<Value> none;
  auto sum = [](ImplicitLocOpBuilder &n, ArrayRef<Value> values) {
    Value result = values[0];
    for (Value value : values.drop_front())
      result = addScalars(n, result, value);
    return result;
  };
  auto biasOf = [&](int64_t gate) { return bias ? SmallVector<Value>{columns(bias, gate)} : none; };
  auto one = [&](ImplicitLocOpBuilder &n) { return constantFloat(n, compute, 1); };
  if (gates == 1) {
    Value r = product(h, recurrence, hidden);
    return {combine({x, r}, biasOf(0),
                    [&](ImplicitLocOpBuilder &n, ValueRange v) { return activate(n, 0, sum(n, llvm::to_vector(v))); })};
  }
  if (gates == 3) {
    // z, r, h.
    bool resetsAfter = false;
    if (auto attr = op->getAttrOfType<IntegerAttr>("linear_before_reset"))
      resetsAfter = attr.getInt() != 0;
    Value zr = product(h, rows(recurrence, 0, 2), b.mul(number(2), hidden));
    auto gate = [&](int64_t i) {
      return combine({columns(x, i), columns(zr, i)}, biasOf(i),
                     [&](ImplicitLocOpBuilder &n, ValueRange v) { return activate(n, 0, sum(n, llvm::to_vector(v))); });
    };
    Value z = gate(0), r = gate(1), candidate;
    if (resetsAfter) {
      Value product2 = product(h, rows(recurrence, 2, 1), hidden);
      candidate = combine({columns(x, 2), product2, r}, biasOf(2), [&](ImplicitLocOpBuilder &n, ValueRange v) {
        Value inner = v.size() > 3 ? addScalars(n, v[1], v[3]) : v[1];
        return activate(n, 1, addScalars(n, v[0], mulScalars(n, v[2], inner)));
      });
    } else {
      Value reset =
          combine({r, h}, none, [](ImplicitLocOpBuilder &n, ValueRange v) { return mulScalars(n, v[0], v[1]); });
      Value product2 = product(reset, rows(recurrence, 2, 1), hidden);
      candidate = combine({columns(x, 2), product2}, biasOf(2), [&](ImplicitLocOpBuilder &n, ValueRange v) {
        return activate(n, 1, sum(n, llvm::to_vector(v)));
      });
    }
    return {combine({z, candidate, h}, none, [&](ImplicitLocOpBuilder &n, ValueRange v) {
      Value fresh = mulScalars(n, n.create<arith::SubFOp>(one(n), v[0]), v[1]);
      return addScalars(n, fresh, mulScalars(n, v[0], v[2]));
    })};
  }
  // i, o, f, c; peepholes i, o, f.
  Value c = state[1], r = product(h, recurrence, b.mul(number(4), hidden));
  auto peephole = [&](int64_t i) { return peepholes ? SmallVector<Value>{columns(peepholes, i)} : none; };
  // A gate from products, bias, and the cell through a peephole.
  auto gate = [&](int64_t i, unsigned f, Value cell, int64_t hole) {
    SmallVector<Value> matrices{columns(x, i), columns(r, i)}, vectors = biasOf(i);
    bool looks = hole >= 0 && peepholes;
    if (looks) {
      matrices.push_back(cell);
      vectors.append(peephole(hole));
    }
    return combine(matrices, vectors, [&, looks](ImplicitLocOpBuilder &n, ValueRange v) {
      SmallVector<Value> terms{v[0], v[1]};
      if (looks)
        terms.push_back(mulScalars(n, v[2], v.back()));
      if (bias)
        terms.push_back(v[looks ? 3 : 2]);
      return activate(n, f, sum(n, terms));
    });
  };
  bool coupled = false;
  if (auto attr = op->getAttrOfType<IntegerAttr>("input_forget"))
    coupled = attr.getInt() != 0;
  Value in = gate(0, 0, c, 0), forget = coupled ? in : gate(2, 0, c, 2), candidate = gate(3, 1, {}, -1);
  Value cell = combine({in, forget, candidate, c}, none, [&](ImplicitLocOpBuilder &n, ValueRange v) {
    Value keep = coupled ? n.create<arith::SubFOp>(one(n), v[1]).getResult() : v[1];
    return addScalars(n, mulScalars(n, keep, v[3]), mulScalars(n, v[0], v[2]));
  });
  Value out = gate(1, 0, cell, 1);
  Value result = combine({out, cell}, none, [&](ImplicitLocOpBuilder &n, ValueRange v) {
    return mulScalars(n, v[0], apply(n, functions[2], v[1]));
  });
  return {result, cell};
}

static FailureOr<SmallVector<Value>> lowerRecurrent(Operation *op, ValueRange, LinalgBuilder &b) {
  Recurrent rnn{op, b};
  Value x = b.operand(kX), w = b.operand(kW), r = b.operand(kR), bias = b.operand(kB);
  Value lengths = b.operand(kLengths);
  auto layoutAttr = op->getAttrOfType<IntegerAttr>("layout");
  bool batchFirst = layoutAttr && layoutAttr.getInt() != 0;
  rnn.element = getElementType(x);
  rnn.compute = scalar::getComputeType(rnn.element);
  rnn.gates = getGates(op);
  bool isLstm = rnn.gates == 4;
  unsigned numStates = isLstm ? 2 : 1;
  if (auto clip = op->getAttrOfType<FloatAttr>("clip"))
    rnn.clip = clip.getValueAsDouble();
  if (batchFirst)
    x = b.transpose(x, {1, 0, 2});
  rnn.seq = b.dim(x, 0);
  rnn.batch = b.dim(x, 1);
  rnn.hidden = b.dim(r, 2);
  Type compute = rnn.compute;
  OpFoldResult features = b.dim(x, 2), width = b.mul(rnn.number(rnn.gates), rnn.hidden);
  int64_t directions = getDirection(op) == "bidirectional" ? 2 : 1;
  OpFoldResult numDirections = rnn.number(directions);
  for (Value weights : {w, r}) {
    b.checkEqual(b.dim(weights, 0), numDirections, "the weights do not fit the directions");
    b.checkEqual(b.dim(weights, 1), width, "the weights do not fit the hidden size");
  }
  b.checkEqual(b.dim(w, 2), features, "the weights do not fit the features of 'X'");
  // One size may be known where the other is not.
  auto agree = [&](OpFoldResult &size, OpFoldResult own, const Twine &message) {
    b.checkEqual(own, size, message);
    if (getConstantIntValue(own))
      size = own;
  };
  if (lengths)
    agree(rnn.batch, b.dim(lengths, 0), "'sequence_lens' does not fit the batch");

  // [directions, batch, hidden], in the compute type.
  auto initial = [&](unsigned formal) -> Value {
    Value given = formal <= (isLstm ? kInitialC : kInitialH) ? b.operand(formal) : Value();
    if (!given)
      return {};
    if (batchFirst)
      given = b.transpose(given, {1, 0, 2});
    b.checkEqual(b.dim(given, 0), numDirections, "an initial state does not fit the directions");
    agree(rnn.batch, b.dim(given, 1), "an initial state does not fit the batch");
    agree(rnn.hidden, b.dim(given, 2), "an initial state does not fit the hidden size");
    return widen(b, given, rnn.element);
  };
  Value initialStates[] = {initial(kInitialH), isLstm ? initial(kInitialC) : Value()};
  Value peepholes = isLstm ? b.operand(kPeepholes) : Value();

  Type seam = rnn.element;
  bool wantsSequence = !cast<VersionedOpInterface>(op).getOutputGroup(0).empty();
  Sizes sequenceSizes{rnn.seq, numDirections, rnn.batch, rnn.hidden};
  Value sequence = wantsSequence ? b.empty(sequenceSizes, seam) : Value();
  Sizes stateSizes{numDirections, rnn.batch, rnn.hidden};
  Value finals[2];
  for (unsigned s = 0; s < numStates; ++s)
    finals[s] = b.empty(stateSizes, seam);

  for (int64_t direction = 0; direction < directions; ++direction) {
    bool reverse = direction == 1 || getDirection(op) == "reverse";
    FailureOr<SmallVector<Function>> functions = getFunctions(op, direction);
    if (failed(functions))
      return failure();
    rnn.functions = *functions;
    OpFoldResult at = rnn.number(direction);
    rnn.recurrence = rnn.take(r, at);
    rnn.peepholes = peepholes ? rnn.take(peepholes, at) : Value();
    Value inputBias;
    if (bias) {
      Value both = rnn.take(bias, at);
      inputBias = rnn.columns(both, 0, rnn.gates);
      rnn.recurrenceBias = rnn.columns(both, rnn.gates, rnn.gates);
    }
    // All steps: [seq, batch, gates * hidden]. Loops: step, batch, row of the weights, feature.
    AffineExpr t = b.getAffineDimExpr(0), i = b.getAffineDimExpr(1), j = b.getAffineDimExpr(2),
               k = b.getAffineDimExpr(3);
    Sizes productSizes{rnn.seq, rnn.batch, width};
    Value products =
        contract(b, x, rnn.take(w, at), {rnn.map(4, {t, i, k}), rnn.map(4, {j, k}), rnn.map(4, {t, i, j})},
                 {IteratorType::parallel, IteratorType::parallel, IteratorType::parallel, IteratorType::reduction},
                 productSizes, rnn.element);
    if (inputBias)
      products = mapElements(
          b, {products, inputBias}, {b.getMultiDimIdentityMap(3), rnn.map(3, j)}, productSizes, compute,
          [&](ImplicitLocOpBuilder &n, ValueRange v) { return addScalars(n, v[0], extend(n, v[1], compute)); });

    SmallVector<Value> carried;
    Sizes state{rnn.batch, rnn.hidden};
    for (Value initial : ArrayRef(initialStates).take_front(numStates))
      carried.push_back(initial ? rnn.take(initial, at, state) : b.fill(state, b.scalar(compute, 0)));
    if (sequence)
      carried.push_back(sequence);
    Value zero = b.index(int64_t(0)), steps = b.index(rnn.seq), one = b.index(int64_t(1));
    auto loop = b.create<scf::ForOp>(zero, steps, one, carried);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value time = loop.getInductionVar();
      if (reverse)
        time = b.create<arith::SubIOp>(b.create<arith::SubIOp>(steps, one), time);
      ValueRange state = loop.getRegionIterArgs().take_front(numStates);
      SmallVector<Value> next = rnn.step(rnn.take(products, time), state);
      Value shown = next[0];
      if (lengths) {
        // After its end a sequence keeps its state and shows zeros.
        AffineMap full = b.getMultiDimIdentityMap(2), row = rnn.map(2, b.getAffineDimExpr(0));
        auto choose = [&](Value fresh, Value old, bool zeros) {
          return mapElements(b, {fresh, old, lengths}, {full, full, row}, {rnn.batch, rnn.hidden}, compute,
                             [&](ImplicitLocOpBuilder &n, ValueRange v) -> Value {
                               Value length = n.create<arith::IndexCastOp>(n.getIndexType(), v[2]);
                               Value active = n.create<arith::CmpIOp>(arith::CmpIPredicate::slt, time, length);
                               return n.create<arith::SelectOp>(active, v[0],
                                                                zeros ? constantFloat(n, compute, 0) : v[1]);
                             });
        };
        shown = choose(next[0], state[0], true);
        for (unsigned s = 0; s < numStates; ++s)
          next[s] = choose(next[s], state[s], false);
      }
      if (sequence) {
        Sizes offsets{time, at, rnn.number(0), rnn.number(0)}, ones(4, rnn.number(1));
        Sizes slice{rnn.number(1), rnn.number(1), rnn.batch, rnn.hidden};
        next.push_back(b.create<tensor::InsertSliceOp>(roundTo(b, shown, rnn.element), loop.getRegionIterArgs().back(),
                                                       offsets, slice, ones));
      }
      b.create<scf::YieldOp>(next);
    }
    if (sequence)
      sequence = loop.getResults().back();
    for (unsigned s = 0; s < numStates; ++s) {
      Sizes offsets{at, rnn.number(0), rnn.number(0)}, ones(3, rnn.number(1));
      Sizes slice{rnn.number(1), rnn.batch, rnn.hidden};
      finals[s] =
          b.create<tensor::InsertSliceOp>(roundTo(b, loop.getResult(s), rnn.element), finals[s], offsets, slice, ones);
    }
  }
  SmallVector<Value> results;
  if (sequence)
    results.push_back(batchFirst ? b.transpose(sequence, {2, 0, 1, 3}) : sequence);
  for (unsigned s = 0; s < numStates; ++s)
    if (!cast<VersionedOpInterface>(op).getOutputGroup(1 + s).empty())
      results.push_back(batchFirst ? b.transpose(finals[s], {1, 0, 2}) : finals[s]);
  return results;
}

STRATA_SLICE(Recurrent) {
  for (StringRef name : {"GRU", "LSTM", "RNN"})
    ops.add(name, {.verify = verifyRecurrent,
                   .inferShapes = inferRecurrent,
                   .upgrade = upgradeRecurrent,
                   .downgrade = downgradeRecurrent,
                   .lower = lowerRecurrent});
}
