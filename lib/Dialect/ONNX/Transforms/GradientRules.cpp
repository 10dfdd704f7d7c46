//===- GradientRules.cpp - derivatives of movements, choices, windows -----===//
//
// Operators that only move elements share one rule: what they make of the
// positions of the elements tells where each part of the gradient belongs. An
// operator without a rule is differentiated through its function body.
//
//===----------------------------------------------------------------------===//

#include "Dialect/ONNX/Transforms/ExpandFunctions.h"
#include "Differentiator.h"
#include "llvm/ADT/StringSet.h"

namespace strata {

void Differentiator::infer(Operation *op) {
  ShapeContext context(op, values);
  if (succeeded(cast<TypeInferenceInterface>(op).inferResultTypes(context)))
    for (auto [result, type] : llvm::zip(op->getResults(), context.getResultTypes()))
      result.setType(type);
}

LogicalResult Differentiator::sweep(ArrayRef<Operation *> slice) {
  for (Operation *op : llvm::reverse(slice))
    if (llvm::any_of(op->getResults(), [&](Value result) { return gradients.contains(result); }) &&
        llvm::any_of(op->getOperands(), [&](Value operand) { return needs(operand); }) && failed(differentiate(op)))
      return failure();
  return success();
}

// The body is computed once more, beside the op.
LogicalResult Differentiator::body(Operation *op) {
  Operation *clone = builder.clone(*op), *before = clone->getPrevNode();
  SmallVector<Operation *> ends;
  for (Value result : clone->getResults())
    ends.push_back(builder.create<onnx::CastShapeOp>(loc, result.getType(), result));
  if (failed(expandFunctionBody(clone)))
    return failure();
  SmallVector<Operation *> inner;
  for (Operation *at = before ? before->getNextNode() : &ends.front()->getBlock()->front(); at != ends.front();
       at = at->getNextNode()) {
    inner.push_back(at);
    if (isa<VersionedOpInterface>(at))
      infer(at);
    if (llvm::any_of(at->getOperands(), [&](Value operand) { return needs(operand); }))
      active.insert(at->result_begin(), at->result_end());
  }
  for (auto [end, result] : llvm::zip_equal(ends, op->getResults())) {
    if (Value gradient = gradients.lookup(result))
      accumulate(end->getOperand(0), gradient);
    end->erase();
  }
  return sweep(inner);
}

// Dimensions [begin, end) of a shape.
Value Differentiator::sizes(Value value, int64_t begin, std::optional<int64_t> end) {
  SmallVector<NamedAttribute> attributes{integer("start", begin)};
  if (end)
    attributes.push_back(integer("end", *end));
  return create("Shape", value, attributes, builder.getI64Type());
}

// `count` + 1 sums of the gradient's elements by their positions, without the first one: a vector.
Value Differentiator::scattered(Value positions, Value gradient, Value count) {
  Value room = create("Expand", {number(gradient, 0), create("Add", {count, list(1)})});
  NamedAttribute sum = builder.getNamedAttr("reduction", builder.getStringAttr("add"));
  Value all = create("ScatterElements",
                     {room, create("Reshape", {positions, list(-1)}), create("Reshape", {gradient, list(-1)})},
                     {integer("axis", 0), sum});
  return create("Slice", {all, list(1), list(std::numeric_limits<int64_t>::max()), list(0)});
}

LogicalResult Differentiator::movement(Operation *op, unsigned data) {
  Value x = op->getOperand(data);
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (i != data && needs(operand))
      return refuse(op) << "there is no rule for its input " << i;
  Type i64 = builder.getI64Type();
  // Positions from 1; 0 is what comes from nowhere.
  Value count = create("Reshape", {create("Size", x, {}, i64), list(1)}), shape = shapeOf(x);
  auto scalar = [&](Value vector) { return create("Squeeze", {vector, list(0)}); };
  Value begin = scalar(list(1));
  Value range = create("Range", {begin, scalar(create("Add", {count, list(1)})), begin});
  SmallVector<Value> inputs(op->getOperands());
  inputs[data] = create("Reshape", {range, shape});
  // The value that a Pad puts in, and what a scatter replaces or puts in.
  for (auto [i, operand] : llvm::enumerate(inputs))
    if (i != data && isa<FloatType>(elementType(operand)) && getUnversionedName(op) != "Resize" &&
        getUnversionedName(op) != "Upsample")
      operand = create("Expand", {scalar(list(0)), shapeOf(operand)});
  OperationState state(loc, op->getName());
  state.addOperands(inputs);
  state.addAttributes(op->getAttrs());
  for (Value result : op->getResults())
    state.addTypes(UnrankedTensorType::get(isa<FloatType>(elementType(result)) ? i64 : elementType(result)));
  Operation *moved = builder.create(state);
  infer(moved);
  for (auto [result, positions] : llvm::zip_equal(op->getResults(), moved->getResults()))
    if (Value g = gradients.lookup(result))
      accumulate(x, create("Reshape", {scattered(positions, g, count), shape}));
  return success();
}

LogicalResult Differentiator::concat(Operation *op) {
  Value g = gradients.lookup(op->getResult(0)), offset = list(0);
  auto attr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = attr ? attr.getInt() : 1;
  for (Value operand : op->getOperands()) {
    Value size = sizes(operand, axis, axis == -1 ? std::nullopt : std::optional<int64_t>(axis + 1));
    Value end = create("Add", {offset, size});
    if (needs(operand))
      accumulate(operand, create("Slice", {g, offset, end, list(axis)}));
    offset = end;
  }
  return success();
}

// Max and Min: equal operands share the gradient.
LogicalResult Differentiator::extreme(Operation *op) {
  Value y = op->getResult(0), g = gradients.lookup(y), zero = number(g, 0), one = number(g, 1), count;
  SmallVector<Value> shares;
  for (Value operand : op->getOperands()) {
    Value is = where(create("Equal", {operand, y}, {}, builder.getI1Type()), one, zero);
    shares.push_back(is);
    count = count ? add(count, is) : is;
  }
  g = div(g, count);
  for (auto [operand, share] : llvm::zip_equal(op->getOperands(), shares))
    if (needs(operand) && failed(accumulateBroadcast(op, operand, mul(g, share))))
      return failure();
  return success();
}

// ReduceMax, ReduceMin and GlobalMaxPool.
LogicalResult Differentiator::reducedExtreme(Operation *op) {
  Value x = op->getOperand(0), y = op->getResult(0), g = gradients.lookup(y);
  FailureOr<Reduced> by = reduced(op);
  if (failed(by))
    return failure();
  if (getUnversionedName(op) == "GlobalMaxPool") {
    std::optional<Shape> shape = getShape(x.getType());
    if (!shape)
      return refuse(op) << "the rank of its input is not known";
    by->axes = llvm::to_vector(llvm::seq<int64_t>(2, shape->size()));
  }
  if (by->nothing) {
    accumulate(x, g);
    return success();
  }
  bool all = by->axes.empty();
  if (by->dropped && !all) {
    y = create("Unsqueeze", {y, list(by->axes)});
    g = create("Unsqueeze", {g, list(by->axes)});
  }
  Value is = where(create("Equal", {x, y}, {}, builder.getI1Type()), number(g, 1), number(g, 0));
  Value count = all ? create("ReduceSum", is, integer("keepdims", 0)) : create("ReduceSum", {is, list(by->axes)});
  accumulate(x, mul(is, div(g, count)));
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> getList(Operation *op, StringRef name, int64_t count, int64_t absent) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return attr ? SmallVector<int64_t>(attr.asArrayRef()) : SmallVector<int64_t>(count, absent);
}

LogicalResult Differentiator::convolution(Operation *op) {
  Value x = op->getOperand(0), w = op->getOperand(1), g = gradients.lookup(op->getResult(0));
  auto type = dyn_cast<RankedTensorType>(w.getType());
  if (auto pad = op->getAttrOfType<StringAttr>("auto_pad"); pad && pad != "NOTSET" && pad != "VALID")
    return refuse(op) << "there is no rule for auto_pad " << pad.getValue();
  if (!type || !isa<RankedTensorType>(x.getType()) || type.getRank() < 3)
    return refuse(op) << "the rank of an operand is not known";
  int64_t spatial = type.getRank() - 2, count = 2 * spatial;
  auto groupAttr = op->getAttrOfType<IntegerAttr>("group");
  int64_t group = groupAttr ? groupAttr.getInt() : 1;
  SmallVector<int64_t> strides = getList(op, "strides", spatial, 1), dilations = getList(op, "dilations", spatial, 1);
  SmallVector<int64_t> pads = getList(op, "pads", count, 0), axes = llvm::to_vector(llvm::seq<int64_t>(2, spatial + 2));
  Value zeros = list(SmallVector<int64_t>(spatial, 0));
  if (needs(x)) {
    // The transposed convolution, longer at the end by what the stride left out, cut to the input's sizes.
    SmallVector<int64_t> more = llvm::map_to_vector(strides, [](int64_t s) { return s - 1; });
    Value wide = create("ConvTranspose", {g, w},
                        {integers("dilations", dilations), integer("group", group), integers("output_padding", more),
                         integers("pads", pads), integers("strides", strides)});
    accumulate(x, create("Slice", {wide, zeros, sizes(x, 2), list(axes)}));
  }
  if (needs(w)) {
    // A convolution of the input by the gradient with strides for dilations; batch and channels change places, groups
    // lie one behind the other: [N, G, C / G, ..] -> [C / G, G, N, ..].
    Value n = sizes(x, 0, 1), data = x;
    SmallVector<int64_t> order{2, 1, 0}, swap{1, 0};
    for (int64_t i = 0; i < spatial; ++i) {
      order.push_back(3 + i);
      swap.push_back(2 + i);
    }
    Value rest = sizes(x, 2), groups = list(group);
    Value perGroup = create("Div", {sizes(x, 1, 2), groups});
    data = create("Reshape", {data, create("Concat", {n, groups, perGroup, rest}, integer("axis", 0))});
    data = create("Transpose", data, integers("perm", order));
    data =
        create("Reshape", {data, create("Concat", {perGroup, create("Mul", {groups, n}), rest}, integer("axis", 0))});
    Value kernel = create("Transpose", g, integers("perm", swap));
    Value wide = create("Conv", {data, kernel},
                        {integers("dilations", strides), integer("group", group), integers("pads", pads),
                         integers("strides", dilations)});
    Value cut = create("Slice", {wide, zeros, sizes(w, 2), list(axes)});
    accumulate(w, create("Transpose", cut, integers("perm", swap)));
  }
  if (op->getNumOperands() > 2 && needs(op->getOperand(2))) {
    SmallVector<int64_t> others{0};
    others.append(axes);
    accumulate(op->getOperand(2), create("ReduceSum", {g, list(others)}, integer("keepdims", 0)));
  }
  return success();
}

// The sum in each window is a convolution with ones.
LogicalResult Differentiator::averagePool(Operation *op) {
  Value x = op->getOperand(0), g = gradients.lookup(op->getResult(0));
  std::optional<Shape> shape = getShape(x.getType());
  auto integerOf = [&](StringRef name) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  };
  if (auto pad = op->getAttrOfType<StringAttr>("auto_pad"); pad && pad != "NOTSET" && pad != "VALID")
    return refuse(op) << "there is no rule for auto_pad " << pad.getValue();
  if (integerOf("ceil_mode") != 0)
    return refuse(op) << "there is no rule for ceil_mode";
  if (!shape || shape->size() < 3)
    return refuse(op) << "the rank of its input is not known";
  int64_t spatial = shape->size() - 2;
  SmallVector<int64_t> window = getList(op, "kernel_shape", spatial, 1), strides = getList(op, "strides", spatial, 1);
  SmallVector<int64_t> dilations = getList(op, "dilations", spatial, 1), pads = getList(op, "pads", 2 * spatial, 0);
  SmallVector<int64_t> more = llvm::map_to_vector(strides, [](int64_t s) { return s - 1; }), weights{1, 1};
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, spatial + 2));
  weights.append(window);
  Value ones = create("Expand", {number(x, 1), list(weights)});
  // Each channel is a batch of its own.
  Value flat = create("Concat", {list({-1, 1}), sizes(x, 2)}, integer("axis", 0));
  Value flatResult = create("Concat", {list({-1, 1}), sizes(g, 2)}, integer("axis", 0));
  SmallVector<NamedAttribute> attributes{integers("dilations", dilations), integers("pads", pads),
                                         integers("strides", strides)};
  Value count;
  if (integerOf("count_include_pad") != 0) {
    int64_t product = 1;
    for (int64_t size : window)
      product *= size;
    count = number(g, static_cast<double>(product));
  } else {
    count = create("Conv", {create("Reshape", {like(x, 1), flat}), ones}, attributes);
  }
  g = div(create("Reshape", {g, flatResult}), count);
  attributes.push_back(integers("output_padding", more));
  Value wide = create("ConvTranspose", {g, ones}, attributes);
  Value cut = create("Slice", {wide, list(SmallVector<int64_t>(spatial, 0)), sizes(x, 2), list(axes)});
  accumulate(x, create("Reshape", {cut, shapeOf(x)}));
  return success();
}

// The second result tells which element each one is.
LogicalResult Differentiator::maxPool(Operation *op) {
  Value x = op->getOperand(0), g = gradients.lookup(op->getResult(0));
  if (auto order = op->getAttrOfType<IntegerAttr>("storage_order"); order && order.getInt() != 0)
    return refuse(op) << "there is no rule for column-major order";
  Type i64 = builder.getI64Type();
  OperationState state(loc,
                       *lookupOperator(builder.getContext(), "ai.onnx", "MaxPool", getNewestOpset("ai.onnx")).name);
  state.addOperands(x);
  for (NamedAttribute attr : op->getAttrs())
    if (attr.getName() != "resultSegmentSizes")
      state.addAttribute(attr.getName(), attr.getValue());
  state.addTypes({UnrankedTensorType::get(elementType(x)), UnrankedTensorType::get(i64)});
  Operation *pool = builder.create(state);
  infer(pool);
  Value count = create("Reshape", {create("Size", x, {}, i64), list(1)});
  Value positions = create("Add", {pool->getResult(1), list(1)});
  accumulate(x, create("Reshape", {scattered(positions, g, count), shapeOf(x)}));
  return success();
}

// BatchNormalization by given statistics.
LogicalResult Differentiator::normalization(Operation *op) {
  Value x = op->getOperand(0), scale = op->getOperand(1), mean = op->getOperand(3), variance = op->getOperand(4);
  Value g = gradients.lookup(op->getResult(0));
  std::optional<Shape> shape = getShape(x.getType());
  auto training = op->getAttrOfType<IntegerAttr>("training_mode");
  if ((training && training.getInt() != 0) || needs(mean) || needs(variance))
    return refuse(op) << "there is only a rule for statistics that are given and constant";
  if (!shape || shape->size() < 2)
    return refuse(op) << "the rank of its input is not known";
  auto attr = op->getAttrOfType<FloatAttr>("epsilon");
  SmallVector<int64_t> axes{0}, behind;
  for (int64_t i = 2, rank = shape->size(); i < rank; ++i) {
    axes.push_back(i);
    behind.push_back(i - 1);
  }
  auto perChannel = [&](Value value) { return behind.empty() ? value : create("Unsqueeze", {value, list(behind)}); };
  Value deviation = create("Sqrt", add(variance, number(variance, attr ? attr.getValueAsDouble() : 1e-5f)));
  if (needs(x))
    accumulate(x, mul(g, perChannel(div(scale, deviation))));
  auto sum = [&](Value value) { return create("ReduceSum", {value, list(axes)}, integer("keepdims", 0)); };
  if (needs(scale))
    accumulate(scale, sum(mul(g, div(sub(x, perChannel(mean)), perChannel(deviation)))));
  if (needs(op->getOperand(2)))
    accumulate(op->getOperand(2), sum(g));
  return success();
}

// Each operand's gradient is the product of the result's and the other operands, where these have all of its letters.
LogicalResult Differentiator::einsum(Operation *op) {
  std::string equation = op->getAttrOfType<StringAttr>("equation").getValue().str();
  llvm::erase_if(equation, [](char c) { return c == ' '; });
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  std::string output = right.str();
  if (equation.find("->") == std::string::npos) { // the letters that occur once, in order
    for (char c = 'A'; c <= 'z'; ++c)
      if (left.count(c) == 1)
        output.push_back(c);
  }
  for (StringRef term : terms)
    if (term.contains('.') || llvm::any_of(term, [&](char c) { return term.count(c) != 1; }))
      return refuse(op) << "there is no rule for the equation " << equation;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!needs(operand))
      continue;
    SmallVector<Value> inputs{gradients.lookup(op->getResult(0))};
    std::string others = output, given = output;
    for (auto [k, term] : llvm::enumerate(terms))
      if (k != i) {
        inputs.push_back(op->getOperand(k));
        others += "," + term.str();
        given += term;
      }
    if (llvm::any_of(terms[i], [&](char c) { return given.find(c) == std::string::npos; }))
      return refuse(op) << "there is no rule for the equation " << equation;
    accumulate(operand,
               create("Einsum", inputs,
                      builder.getNamedAttr("equation", builder.getStringAttr(others + "->" + terms[i].str()))));
  }
  return success();
}

std::optional<LogicalResult> Differentiator::rule(Operation *op, StringRef name) {
  static const llvm::StringSet<> movements{
      "CenterCropPad",   "Compress", "DepthToSpace", "Gather", "GatherElements", "GatherND", "Pad",
      "ReverseSequence", "Slice",    "SpaceToDepth", "Split",  "Tile",           "Trilu"};
  static const llvm::StringSet<> steps{"Ceil", "Floor", "Round", "Sign"};
  auto text = [&](StringRef attribute, StringRef absent) {
    auto attr = op->getAttrOfType<StringAttr>(attribute);
    return attr ? attr.getValue() : absent;
  };
  bool first = op->getNumResults() > 0 && gradients.contains(op->getResult(0));
  if (movements.contains(name) || ((name == "Resize" || name == "Upsample") && text("mode", "nearest") == "nearest"))
    return movement(op, 0);
  if ((name == "ScatterElements" || name == "ScatterND") && text("reduction", "none") == "none") {
    Value data = op->getOperand(0), updates = op->getOperand(2);
    llvm::DenseSet<Value> saved = active;
    for (unsigned i : {0u, 2u}) {
      if (!saved.contains(op->getOperand(i)))
        continue;
      active = saved;
      active.erase(i == 0 ? updates : data);
      active.insert(op->getOperand(i));
      if (data == updates)
        return refuse(op) << "its data are its updates";
      if (failed(movement(op, i)))
        return failure();
    }
    active = saved;
    return success();
  }
  if (!first)
    return std::nullopt;
  Value x = op->getNumOperands() ? op->getOperand(0) : Value(), y = op->getResult(0), g = gradients.lookup(y);
  if (steps.contains(name))
    return success(); // constant between the steps
  if (name == "Concat")
    return concat(op);
  if ((name == "Max" || name == "Min") && isa<FloatType>(elementType(y)))
    return extreme(op);
  if (name == "Mean") {
    g = div(g, number(g, op->getNumOperands()));
    for (Value operand : op->getOperands())
      if (needs(operand) && failed(accumulateBroadcast(op, operand, g)))
        return failure();
    return success();
  }
  if (name == "ReduceMax" || name == "ReduceMin" || name == "GlobalMaxPool")
    return reducedExtreme(op);
  if (name == "GlobalAveragePool") {
    Type i64 = builder.getI64Type();
    Value count = create("Div", {create("Size", x, {}, i64), create("Size", y, {}, i64)});
    count =
        create("Cast", count, integer("to", onnx::getDataType(*onnx::getElementKind(elementType(x)))), elementType(x));
    accumulate(x, create("Expand", {div(g, count), shapeOf(x)}));
    return success();
  }
  if (name == "Clip" && llvm::none_of(op->getOperands().drop_front(), [&](Value bound) { return needs(bound); })) {
    accumulate(x, where(create("Equal", {x, y}, {}, builder.getI1Type()), g, number(g, 0)));
    return success();
  }
  if (name == "CumSum") {
    SmallVector<NamedAttribute> attributes;
    auto reverse = op->getAttrOfType<IntegerAttr>("reverse");
    attributes.push_back(integer("reverse", !reverse || reverse.getInt() == 0));
    if (auto exclusive = op->getAttrOfType<IntegerAttr>("exclusive"))
      attributes.push_back(integer("exclusive", exclusive.getInt()));
    accumulate(x, create("CumSum", {g, op->getOperand(1)}, attributes));
    return success();
  }
  if (name == "Dropout" && cast<VersionedOpInterface>(op).getSinceVersion() >= 7) {
    auto training = op->getNumOperands() > 2 ? getIntegers(getConstant(op->getOperand(2))) : SmallVector<int64_t>{0};
    if (!training || training->size() != 1 || training->front() != 0)
      return refuse(op) << "there is no rule for its training mode";
    accumulate(x, g);
    return success();
  }
  if (name == "Conv")
    return convolution(op);
  if (name == "AveragePool")
    return averagePool(op);
  if (name == "MaxPool")
    return maxPool(op);
  if (name == "BatchNormalization")
    return normalization(op);
  if (name == "Einsum")
    return einsum(op);
  return std::nullopt;
}

} // namespace strata
