//===- Scan.cpp - Scan ----------------------------------------------------===//
//
// body(states..., slices...) -> (states..., elements...), once per element of
// the scan inputs along their axes.
//
//===----------------------------------------------------------------------===//

#include "../LoopBody.h"
#include "Dialect/VersionSteps.h"

namespace {
/// How many of the inputs and outputs are states, scan inputs and scan outputs; version 8 has a batch dimension.
struct Parts {
  unsigned states, inputs, outputs;
  bool batched;

  explicit Parts(Operation *op) {
    auto versioned = cast<VersionedOpInterface>(op);
    batched = versioned.getSinceVersion() < 9;
    int64_t all = versioned.getInputGroup(batched ? 1 : 0).size();
    int64_t scanned = op->getAttrOfType<IntegerAttr>("num_scan_inputs").getInt();
    inputs = std::clamp<int64_t>(scanned, 0, all);
    states = all - inputs;
    outputs = std::max<int64_t>(static_cast<int64_t>(op->getNumResults()) - states, 0);
  }
};
} // namespace

static int64_t getListElement(Operation *op, StringRef name, unsigned i) {
  auto list = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return list && i < list.size() ? list[i] : 0;
}

static LogicalResult verifyScan(Operation *op) {
  Parts parts(op);
  int64_t scanned = op->getAttrOfType<IntegerAttr>("num_scan_inputs").getInt();
  if (scanned < 1 || scanned > static_cast<int64_t>(parts.states + parts.inputs))
    return op->emitOpError("num_scan_inputs is ") << scanned << " with " << parts.states + parts.inputs << " inputs";
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != parts.states + parts.inputs)
    return op->emitOpError("has ") << parts.states + parts.inputs << " inputs, but its body has "
                                   << body.getNumArguments();
  if (body.getTerminator()->getNumOperands() != op->getNumResults() || op->getNumResults() < parts.states)
    return op->emitOpError("has ") << op->getNumResults() << " outputs and " << parts.states
                                   << " states, but its body has " << body.getTerminator()->getNumOperands()
                                   << " outputs";
  auto checkLength = [&](StringRef name, unsigned length) -> LogicalResult {
    auto list = op->getAttrOfType<DenseI64ArrayAttr>(name);
    if (list && list.size() != length)
      return op->emitOpError() << "'" << name << "' has " << list.size() << " elements instead of " << length;
    return success();
  };
  return success(succeeded(checkLength("scan_input_axes", parts.inputs)) &&
                 succeeded(checkLength("scan_input_directions", parts.inputs)) &&
                 succeeded(checkLength("directions", parts.inputs)) &&
                 succeeded(checkLength("scan_output_axes", parts.outputs)) &&
                 succeeded(checkLength("scan_output_directions", parts.outputs)));
}

static Type withoutDims(Type type, ArrayRef<int64_t> axes) {
  std::optional<Shape> shape = getShape(type);
  if (!shape)
    return type;
  for (int64_t axis : llvm::reverse(axes))
    if (axis < static_cast<int64_t>(shape->size()))
      shape->erase(shape->begin() + axis);
  return makeTensorType(*shape, cast<TensorType>(type).getElementType());
}

static Type withDim(Type type, int64_t axis, Dim dim) {
  std::optional<Shape> shape = getShape(type);
  if (!shape)
    return type;
  shape->insert(shape->begin() + axis, dim);
  return makeTensorType(*shape, cast<TensorType>(type).getElementType());
}

static LogicalResult inferScan(ShapeContext &c) {
  Operation *op = c.getOperation();
  Parts parts(op);
  Block &body = op->getRegion(0).front();
  unsigned group = parts.batched ? 1 : 0;
  Dim length, batch;
  SmallVector<Type> initial;
  for (unsigned i = 0; i < parts.states; ++i) {
    Type type = c.input(group, i).getType();
    if (std::optional<Shape> shape = getShape(type); parts.batched && shape && !shape->empty())
      batch = batch.isStatic() ? batch : shape->front();
    initial.push_back(parts.batched ? withoutDims(type, 0) : type);
  }
  for (unsigned k = 0; k < parts.inputs; ++k) {
    Type type = c.input(group, parts.states + k).getType();
    std::optional<Shape> shape = getShape(type);
    BlockArgument argument = body.getArgument(parts.states + k);
    if (!shape) {
      continue;
    }
    int64_t axis = 1;
    if (!parts.batched) {
      FailureOr<int64_t> normal = c.normalizeAxis(getListElement(op, "scan_input_axes", k), shape->size());
      if (failed(normal))
        return failure();
      axis = *normal;
    } else if (shape->size() < 2) {
      return c.emitError() << "needs scan inputs of rank at least 2, not " << shape->size();
    } else {
      batch = batch.isStatic() ? batch : shape->front();
    }
    Dim here = (*shape)[axis];
    if (length.isStatic() && here.isStatic() && length.size != here.size)
      return c.emitError() << "has scan inputs of lengths " << length.size << " and " << here.size;
    if (!length.isStatic() && (here.isStatic() || !length.symbol))
      length = here;
    argument.setType(parts.batched ? withoutDims(type, {0, 1}) : withoutDims(type, axis));
  }
  FailureOr<SmallVector<Type>> states = loopbody::inferTypes(c, body, 0, 0, initial);
  if (failed(states))
    return failure();
  for (auto [i, type] : llvm::enumerate(*states))
    c.setType(0, parts.batched ? withDim(type, 0, batch) : type, i);
  for (unsigned k = 0; k < parts.outputs; ++k) {
    Type element = body.getTerminator()->getOperand(parts.states + k).getType();
    std::optional<Shape> shape = getShape(element);
    if (shape && parts.batched) {
      element = withDim(withDim(element, 0, length), 0, batch);
    } else if (shape) {
      FailureOr<int64_t> axis = c.normalizeAxis(getListElement(op, "scan_output_axes", k), shape->size() + 1);
      if (failed(axis))
        return failure();
      element = withDim(element, *axis, length);
    }
    c.setType(0, element, parts.states + k);
  }
  return success();
}

// Makes the states of a body stay as they are from iteration `length` on. The iteration becomes one more state.
static void stopAfter(Block &body, unsigned states, Value length, RewriterBase &rewriter) {
  Location loc = length.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  Operation *yield = body.getTerminator();
  rewriter.setInsertionPoint(yield);
  auto integer = RankedTensorType::get({}, rewriter.getI64Type());
  Value iteration = body.insertArgument(states, integer, loc);
  Value goes = createVersion(rewriter, loc, "Less", 9, {iteration, length}, {}, integer.clone(rewriter.getI1Type()))
                   ->getResult(0);
  SmallVector<Value> yielded(yield->getOperands());
  for (unsigned i = 0; i < states; ++i)
    yielded[i] = createVersion(rewriter, loc, "Where", 9, {goes, yielded[i], body.getArgument(i)}, {},
                               eraseShape(yielded[i].getType()))
                     ->getResult(0);
  Value one = makeIntegers(rewriter, loc, 1, /*scalar=*/true);
  Value next = createVersion(rewriter, loc, "Add", 7, {iteration, one}, {}, integer)->getResult(0);
  yielded.insert(yielded.begin() + states, next);
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(yielded); });
}

// 8 to 9: a Scan over the batch whose body is the Scan over the sequence. With lengths of the sequences it goes on to
// the end with the last states; what is scanned behind the length is undefined.
static LogicalResult upgradeScan(Operation *op, PatternRewriter &rewriter) {
  Parts parts(op);
  auto versioned = cast<VersionedOpInterface>(op);
  Location loc = op->getLoc();
  SmallVector<Value> inputs(versioned.getInputGroup(1));
  bool hasLengths = !versioned.getInputGroup(0).empty();
  if (hasLengths) {
    // A sequence that is scanned backwards begins with its own last element.
    Value lengths = versioned.getInputGroup(0).front();
    auto order = [&](StringRef name, int64_t axis) {
      return rewriter.getNamedAttr(name, rewriter.getI64IntegerAttr(axis));
    };
    for (unsigned k = 0; k < parts.inputs; ++k)
      if (Value &input = inputs[parts.states + k]; getListElement(op, "directions", k) != 0)
        input = createVersion(rewriter, loc, "ReverseSequence", 10, {input, lengths},
                              {order("batch_axis", 0), order("time_axis", 1)}, input.getType())
                    ->getResult(0);
    inputs.push_back(lengths);
  }
  OperationState outerState(loc, "onnx.Scan_9");
  outerState.addOperands(inputs);
  outerState.addTypes(op->getResultTypes());
  outerState.addAttribute("num_scan_inputs", rewriter.getI64IntegerAttr(inputs.size()));
  outerState.addRegion();
  Operation *outer = rewriter.create(outerState);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    SmallVector<Type> types, results;
    for (Value input : inputs)
      types.push_back(withoutDims(input.getType(), 0));
    for (Type type : op->getResultTypes())
      results.push_back(withoutDims(type, 0));
    Block *block = rewriter.createBlock(&outer->getRegion(0), {}, types, SmallVector<Location>(types.size(), loc));
    SmallVector<Value> operands(block->getArguments());
    if (hasLengths) {
      operands.pop_back();
      operands.insert(operands.begin() + parts.states, makeIntegers(rewriter, loc, 0, /*scalar=*/true));
      results.insert(results.begin() + parts.states, RankedTensorType::get({}, rewriter.getI64Type()));
    }
    OperationState innerState(loc, "onnx.Scan_9");
    innerState.addOperands(operands);
    innerState.addTypes(results);
    innerState.addAttribute("num_scan_inputs", rewriter.getI64IntegerAttr(parts.inputs));
    if (Attribute directions = op->getAttr("directions"); directions && !hasLengths)
      innerState.addAttribute("scan_input_directions", directions);
    innerState.addRegion();
    Operation *inner = rewriter.create(innerState);
    rewriter.inlineRegionBefore(op->getRegion(0), inner->getRegion(0), inner->getRegion(0).end());
    SmallVector<Value> scanned(inner->getResults());
    if (hasLengths) {
      stopAfter(inner->getRegion(0).front(), parts.states, block->getArguments().back(), rewriter);
      scanned.erase(scanned.begin() + parts.states);
    }
    rewriter.create<YieldOp>(loc, scanned);
  }
  rewriter.replaceOp(op, outer);
  return success();
}

static FailureOr<SmallVector<Value>> lowerScan(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Parts parts(op);
  Block &body = op->getRegion(0).front();
  SmallVector<Type> types;
  SmallVector<Value> values;
  for (unsigned i = 0; i < parts.states; ++i) {
    Type type = body.getArgument(i).getType();
    if (failed(loopbody::checkCarried(op, type)))
      return failure();
    types.push_back(getSeamType(type));
    values.push_back(b.castTo(operands[i], types.back()));
  }
  SmallVector<int64_t> axes;
  OpFoldResult length;
  for (unsigned k = 0; k < parts.inputs; ++k) {
    Value input = operands[parts.states + k];
    int64_t axis = getListElement(op, "scan_input_axes", k);
    axes.push_back(axis < 0 ? axis + getRank(input) : axis);
    if (k == 0)
      length = b.dim(input, axes[0]);
    else
      b.checkEqual(length, b.dim(input, axes[k]), "the scan inputs have different lengths");
  }
  SmallVector<loopbody::Stack> stacks;
  for (unsigned k = 0; k < parts.outputs; ++k) {
    Type element = body.getTerminator()->getOperand(parts.states + k).getType();
    if (failed(loopbody::checkCarried(op, element)))
      return failure();
    stacks.push_back({b, cast<RankedTensorType>(getSeamType(element)), length, element});
    values.push_back(stacks.back().start());
  }
  OpFoldResult last = b.sub(length, b.getIndexAttr(1));
  // One iteration at the insertion point: the next states and buffers.
  auto iterate = [&](Value iteration, ValueRange carried) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> arguments(carried.take_front(parts.states));
    for (unsigned k = 0; k < parts.inputs; ++k) {
      Value input = operands[parts.states + k];
      Sizes sizes = b.sizes(input);
      SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), ones(sizes.size(), b.getIndexAttr(1));
      bool backwards = getListElement(op, "scan_input_directions", k) != 0;
      offsets[axes[k]] = backwards ? b.sub(last, iteration) : OpFoldResult(iteration);
      sizes[axes[k]] = b.getIndexAttr(1);
      SmallVector<int64_t> shape(cast<RankedTensorType>(input.getType()).getShape());
      shape.erase(shape.begin() + axes[k]);
      auto type = RankedTensorType::get(shape, getElementType(input));
      Value slice = b.create<tensor::ExtractSliceOp>(type, input, offsets, sizes, ones);
      arguments.push_back(b.castTo(slice, getSeamType(body.getArgument(parts.states + k).getType())));
    }
    FailureOr<SmallVector<Value>> yielded = b.lowerBlock(body, arguments);
    if (failed(yielded))
      return failure();
    SmallVector<Value> next;
    for (unsigned i = 0; i < parts.states; ++i)
      next.push_back(b.castTo((*yielded)[i], types[i]));
    for (unsigned k = 0; k < parts.outputs; ++k) {
      bool backwards = getListElement(op, "scan_output_directions", k) != 0;
      OpFoldResult position = backwards ? b.sub(last, iteration) : OpFoldResult(iteration);
      next.push_back(stacks[k].add(carried[parts.states + k], (*yielded)[parts.states + k], iteration, position));
    }
    return next;
  };
  FailureOr<SmallVector<Value>> results =
      loopbody::repeat(b, length, values, loopbody::mayChangeSize(types, stacks), iterate);
  if (failed(results))
    return failure();
  for (unsigned k = 0; k < parts.outputs; ++k) {
    Value &result = (*results)[parts.states + k];
    int64_t rank = getRank(result), axis = getListElement(op, "scan_output_axes", k);
    axis = axis < 0 ? axis + rank : axis;
    SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(1, rank));
    permutation.insert(permutation.begin() + axis, 0);
    result = b.transpose(result, permutation);
  }
  return results;
}

STRATA_SLICE(Scan) {
  ops.add(
      "Scan",
      {.verify = verifyScan, .inferShapes = inferScan, .upgrade = upgradeScan, .lower = lowerScan, .handles = true});
}
