//===- LoopBody.h - bodies of Loop and Scan ---------------------*- C++ -*-===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_LOOPBODY_H
#define STRATA_LIB_DIALECT_ONNX_OPS_LOOPBODY_H

#include "Slice.h"

namespace strata::loopbody {

/// Infers the types of a body whose arguments from `firstArgument` on are carried: their first values have the types
/// `carried`, the next ones come from the terminator's operands from `firstYield` on. Widens the types until they
/// describe all iterations, and returns them.
inline FailureOr<SmallVector<Type>> inferTypes(ShapeContext &c, Block &body, unsigned firstArgument,
                                               unsigned firstYield, SmallVector<Type> carried) {
  // A second round must not see what the first one concluded from narrower types.
  SmallVector<std::pair<Value, Type>> original;
  body.walk([&](Operation *op) {
    for (Value result : op->getResults())
      original.emplace_back(result, result.getType());
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        original.emplace_back(argument, argument.getType());
  });
  while (true) {
    for (auto [i, type] : llvm::enumerate(carried)) {
      BlockArgument argument = body.getArgument(firstArgument + i);
      Type merged = isa<UnrankedTensorType>(type) ? mergeTypes(argument.getType(), type) : type;
      argument.setType(merged ? merged : type);
    }
    if (failed(inferTypesInBlock(body, c.getAnalysis())))
      return failure();
    bool widened = false;
    for (auto [i, type] : llvm::enumerate(carried)) {
      Type next = body.getTerminator()->getOperand(firstYield + i).getType(), joined = joinTypes(type, next);
      // A scalar that becomes one element of a higher rank is that from the start.
      if (isa_and_nonnull<UnrankedTensorType>(joined) && areOneElement(type, next))
        joined = cast<ShapedType>(type).getRank() < cast<ShapedType>(next).getRank() ? next : type;
      if (!joined)
        return c.emitError() << "carries a value of type " << getTypeString(type) << " that its body makes "
                             << getTypeString(next);
      // A dimension without a name and one with a name are joined to one without.
      widened |= joined != type;
      type = joined;
    }
    if (!widened)
      return carried;
    c.getAnalysis().clear();
    for (auto [value, type] : original)
      value.setType(type);
  }
}

/// Values that a body makes one of per iteration, stacked along dimension 0. The buffer grows where the number of
/// iterations is not known, and gets its element sizes from the first value where those are not known.
struct Stack {
  LinalgBuilder &b;
  RankedTensorType elementType;
  /// Number of iterations, if known before the loop.
  std::optional<OpFoldResult> count;
  /// The source's type of an element: what it tells of sizes is what there is without an iteration.
  Type source;

  RankedTensorType getType() const {
    SmallVector<int64_t> shape{ShapedType::kDynamic};
    llvm::append_range(shape, elementType.getShape());
    return RankedTensorType::get(shape, elementType.getElementType());
  }

  Value start() const {
    Sizes sizes{count && elementType.hasStaticShape() ? *count : b.getIndexAttr(0)};
    std::optional<Shape> dims = getShape(source);
    for (auto [i, size] : llvm::enumerate(elementType.getShape())) {
      std::optional<OpFoldResult> known = dims ? b.knownSize((*dims)[i]) : std::nullopt;
      sizes.push_back(!ShapedType::isDynamic(size) ? b.getIndexAttr(size) : known ? *known : b.getIndexAttr(0));
    }
    return b.castTo(b.empty(sizes, elementType.getElementType()), getType());
  }

  /// The buffer with `value` at `position`, the `iteration`-th one to be added.
  Value add(Value buffer, Value value, Value iteration, OpFoldResult position) const {
    Sizes element = b.sizes(value);
    if (!count || !elementType.hasStaticShape()) {
      Value capacity = b.index(b.dim(buffer, 0));
      Value full = b.compare(arith::CmpIPredicate::sge, position, capacity);
      if (count)
        full = b.compare(arith::CmpIPredicate::eq, iteration, b.getIndexAttr(0));
      auto grown = b.create<scf::IfOp>(getType(), full, /*withElseRegion=*/true);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(grown.thenBlock());
        Sizes sizes{count ? *count : b.maximum(b.mul(capacity, b.getIndexAttr(2)), b.getIndexAttr(8))};
        llvm::append_range(sizes, element);
        Value larger = b.empty(sizes, elementType.getElementType());
        if (!count) {
          Sizes old = b.sizes(buffer);
          SmallVector<OpFoldResult> zeros(old.size(), b.getIndexAttr(0)), ones(old.size(), b.getIndexAttr(1));
          // The first, empty buffer has no element sizes yet.
          for (size_t i = 1; i < old.size(); ++i)
            old[i] = b.minimum(old[i], sizes[i]);
          Value part = b.slice(buffer, zeros, old);
          larger = b.create<tensor::InsertSliceOp>(part, larger, zeros, old, ones);
        }
        b.create<scf::YieldOp>(b.castTo(larger, getType()));
        b.setInsertionPointToEnd(grown.elseBlock());
        b.create<scf::YieldOp>(buffer);
      }
      buffer = grown.getResult(0);
    }
    SmallVector<OpFoldResult> offsets{position}, sizes{b.getIndexAttr(1)};
    for (auto [i, size] : llvm::enumerate(element)) {
      offsets.push_back(b.getIndexAttr(0));
      sizes.push_back(size);
      if (!getConstantIntValue(size))
        b.checkEqual(b.dim(buffer, i + 1), size,
                     "the iterations make values of different sizes in dimension " + Twine(i));
    }
    SmallVector<OpFoldResult> ones(offsets.size(), b.getIndexAttr(1));
    return b.create<tensor::InsertSliceOp>(value, buffer, offsets, sizes, ones);
  }

  /// What `iterations` iterations have made.
  Value finish(Value buffer, Value iterations) const {
    Sizes sizes = b.sizes(buffer);
    if (count)
      return buffer;
    sizes[0] = iterations;
    SmallVector<OpFoldResult> zeros(sizes.size(), b.getIndexAttr(0));
    return b.slice(buffer, zeros, sizes);
  }
};

/// True if a carried value or a buffer may change its sizes from iteration to iteration. The folders of scf.for take
/// that for impossible (they move static sizes of the first value into the loop): such loops are scf.while.
inline bool mayChangeSize(ArrayRef<Type> carried, ArrayRef<Stack> stacks) {
  return llvm::any_of(carried, [](Type type) { return !cast<RankedTensorType>(type).hasStaticShape(); }) ||
         llvm::any_of(stacks, [](const Stack &stack) { return !stack.count || !stack.elementType.hasStaticShape(); });
}

/// Runs `iterate` (iteration, carried values) -> next values `count` times and returns the last values.
inline FailureOr<SmallVector<Value>>
repeat(LinalgBuilder &b, OpFoldResult count, ValueRange initial, bool changesSize,
       llvm::function_ref<FailureOr<SmallVector<Value>>(Value iteration, ValueRange carried)> iterate) {
  SmallVector<Type> types(initial.getTypes());
  Value limit = b.index(count), zero = b.index(int64_t(0)), one = b.index(int64_t(1));
  OpBuilder::InsertionGuard guard(b);
  if (!changesSize) {
    auto loop = b.create<scf::ForOp>(zero, limit, one, initial);
    b.setInsertionPointToStart(loop.getBody());
    FailureOr<SmallVector<Value>> next = iterate(loop.getInductionVar(), loop.getRegionIterArgs());
    if (failed(next))
      return failure();
    if (!initial.empty())
      b.create<scf::YieldOp>(*next);
    return SmallVector<Value>(loop.getResults());
  }
  SmallVector<Value> state{zero};
  llvm::append_range(state, initial);
  types.insert(types.begin(), b.getIndexType());
  auto loop = b.create<scf::WhileOp>(types, state);
  SmallVector<Location> locations(types.size(), b.getLoc());
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value more = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, before->getArgument(0), limit);
  b.create<scf::ConditionOp>(more, before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  FailureOr<SmallVector<Value>> next = iterate(after->getArgument(0), ValueRange(after->getArguments()).drop_front());
  if (failed(next))
    return failure();
  SmallVector<Value> yielded{b.create<arith::AddIOp>(after->getArgument(0), one)};
  llvm::append_range(yielded, *next);
  b.create<scf::YieldOp>(yielded);
  return SmallVector<Value>(loop.getResults().drop_front());
}

/// An error if a value of this type cannot be carried.
inline LogicalResult checkCarried(Operation *op, Type type) {
  if (getSeamType(type))
    return success();
  if (isa<UnrankedTensorType>(type))
    return op->emitOpError("cannot be compiled: it carries a value whose rank is not known at compile time");
  return op->emitOpError("cannot be compiled: no lowering for values of type ") << getTypeString(type);
}

} // namespace strata::loopbody

#endif // STRATA_LIB_DIALECT_ONNX_OPS_LOOPBODY_H
