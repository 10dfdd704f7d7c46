//===- LinalgTensors.cpp - the vocabulary of lowerings: tensors -----------===//

#include "Conversion/LinalgBuilder.h"
#include "Conversion/RuntimeCalls.h"
#include "Dialect/LeastDims.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace strata {

Value LinalgBuilder::empty(ArrayRef<OpFoldResult> sizes, Type element) {
  return create<tensor::EmptyOp>(sizes, element);
}

Value LinalgBuilder::fill(ArrayRef<OpFoldResult> sizes, Value scalar) {
  return create<linalg::FillOp>(scalar, empty(sizes, scalar.getType())).getResult(0);
}

// The same bytes (or, for sub-byte integers, values) under the seam's element type.
static ElementsAttr toSeam(ElementsAttr value, RankedTensorType type) {
  if (value.getType() == type)
    return value;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  auto dense = cast<DenseElementsAttr>(value);
  auto source = dyn_cast<IntegerType>(value.getElementType());
  if (source && source.getWidth() > 1 && source.getWidth() < 8) {
    bool isSigned = !source.isUnsigned();
    return cast<DenseIntElementsAttr>(dense).mapValues(
        type.getElementType(), [&](const APInt &v) { return isSigned ? v.sext(8) : v.zext(8); });
  }
  return DenseElementsAttr::getFromRawBuffer(type, dense.getRawData());
}

Value LinalgBuilder::constant(ElementsAttr value) {
  // Up to here a constant is part of the code; above it is data.
  constexpr int64_t maxInline = 64;
  auto type = dyn_cast_or_null<RankedTensorType>(getSeamType(value.getShapedType()));
  if (!type)
    return {};
  if (isa<onnx::StringType>(value.getElementType())) {
    auto strings = llvm::to_vector(cast<DenseStringElementsAttr>(value).getValues<StringRef>());
    return reshape(stringConstants(*this, strings), getAsIndexOpFoldResult(getContext(), type.getShape()));
  }
  ElementsAttr seam = toSeam(value, type);
  if (type.getNumElements() > maxInline && seam.isSplat() && !isa<DenseResourceElementsAttr>(seam)) {
    auto splat = cast<DenseElementsAttr>(seam);
    Value element;
    if (auto complex = dyn_cast<ComplexType>(type.getElementType()))
      element = create<complex::ConstantOp>(complex, cast<ArrayAttr>(splat.getSplatValue<Attribute>()));
    else
      element = create<arith::ConstantOp>(cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    return fill(getAsIndexOpFoldResult(getContext(), type.getShape()), element);
  }
  if (isa<DenseElementsAttr>(seam) && type.getNumElements() <= maxInline)
    return create<arith::ConstantOp>(seam);

  FlatSymbolRefAttr &name = globals[seam];
  if (!name) {
    name = FlatSymbolRefAttr::get(getContext(), ("w" + Twine(globals.size() - 1)).str());
    OpBuilder::atBlockBegin(module.getBody())
        .create<ml_program::GlobalOp>(getLoc(), name.getValue(), type, /*is_mutable=*/false, seam,
                                      getStringAttr("private"));
  }
  return create<ml_program::GlobalLoadConstOp>(type, name);
}

Value LinalgBuilder::castTo(Value tensor, Type type) {
  if (tensor.getType() == type)
    return tensor;
  auto shaped = cast<ShapedType>(type);
  if (cast<ShapedType>(tensor.getType()).getRank() != shaped.getRank()) // one element
    return reshape(tensor, getAsIndexOpFoldResult(getContext(), shaped.getShape()));
  return create<tensor::CastOp>(type, tensor);
}

/// How an operand is read for a result of these sizes: always the same element where it has but one.
static AffineMap repeatingMap(LinalgBuilder &b, Value operand, ArrayRef<OpFoldResult> sizes) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.getType()).getShape();
  int64_t lead = sizes.size() - shape.size();
  SmallVector<AffineExpr> exprs;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool repeats = size == 1 && !isConstantIntValue(sizes[lead + i], 1);
    exprs.push_back(repeats ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(lead + i));
  }
  return AffineMap::get(sizes.size(), 0, exprs, b.getContext());
}

Value LinalgBuilder::generate(ArrayRef<OpFoldResult> sizes, Type element, ScalarFn body, ValueRange inputs) {
  Value init = empty(sizes, element);
  int64_t rank = sizes.size();
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(repeatingMap(*this, input, sizes));
  maps.push_back(getMultiDimIdentityMap(rank));
  return create<linalg::GenericOp>(init.getType(), inputs, init, maps, iterators,
                                   [&](OpBuilder &nested, Location loc, ValueRange args) {
                                     ImplicitLocOpBuilder b(loc, nested);
                                     SmallVector<Value> scalars;
                                     for (int64_t i = 0; i < rank; ++i)
                                       scalars.push_back(b.create<linalg::IndexOp>(i));
                                     llvm::append_range(scalars, args.drop_back());
                                     b.create<linalg::YieldOp>(body(b, scalars));
                                   })
      .getResult(0);
}

// Broadcasts by index: dimension i reads 0 where the tensor's size is 1 at run time, and the result's may be another.
static Value broadcastAtRunTime(LinalgBuilder &b, Value tensor, ArrayRef<OpFoldResult> sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank(), lead = sizes.size() - rank;
  SmallVector<Value> isOne(rank);
  Value one = b.index(int64_t(1));
  for (int64_t i = 0; i < rank; ++i)
    if (type.isDynamicDim(i) && !isEqualConstantIntOrValue(b.dim(tensor, i), sizes[lead + i]))
      isOne[i] = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, b.index(b.dim(tensor, i)), one);
  return b.generate(sizes, type.getElementType(), [&](ImplicitLocOpBuilder &nested, ValueRange indices) -> Value {
    Value zero = nested.create<arith::ConstantIndexOp>(0);
    SmallVector<Value> source;
    for (int64_t i = 0; i < rank; ++i) {
      Value index = indices[lead + i];
      if (isOne[i])
        index = nested.create<arith::SelectOp>(isOne[i], zero, index);
      else if (type.getDimSize(i) == 1)
        index = zero;
      source.push_back(index);
    }
    return nested.create<tensor::ExtractOp>(tensor, source);
  });
}

Value LinalgBuilder::elementwise(ValueRange operands, Type element, ScalarFn body, ValueRange onnxOperands) {
  int64_t rank = 0;
  for (Value operand : operands)
    rank = std::max(rank, cast<RankedTensorType>(operand.getType()).getRank());

  // Dimension i (of the result) of an operand; 1 where the operand has none.
  auto getDim = [&](unsigned o, int64_t i) -> Dim {
    auto type = cast<RankedTensorType>(operands[o].getType());
    int64_t own = i - (rank - type.getRank());
    if (own < 0)
      return Dim(1);
    if (!type.isDynamicDim(own))
      return Dim(type.getDimSize(own));
    std::optional<Shape> known = o < onnxOperands.size() ? getShape(onnxOperands[o].getType()) : std::nullopt;
    return known && static_cast<int64_t>(known->size()) == type.getRank() && (*known)[own].symbol ? (*known)[own]
                                                                                                  : Dim();
  };
  auto getSize = [&](unsigned o, int64_t i) {
    return dim(operands[o], i - (rank - cast<RankedTensorType>(operands[o].getType()).getRank()));
  };

  Sizes result(rank);
  SmallVector<bool> ambiguous(operands.size(), false);
  for (int64_t i = 0; i < rank; ++i) {
    // The operands whose size is not known to be 1, without repetitions of one symbol or value.
    SmallVector<unsigned> sources;
    for (unsigned o = 0; o < operands.size(); ++o) {
      if (getDim(o, i).is(1))
        continue;
      if (llvm::none_of(sources, [&](unsigned s) {
            return getDim(s, i).sameAs(getDim(o, i)) || isEqualConstantIntOrValue(getSize(s, i), getSize(o, i));
          }))
        sources.push_back(o);
    }
    if (sources.empty()) {
      result[i] = getIndexAttr(1);
      continue;
    }
    // What is cut to the length of another must be as long.
    llvm::erase_if(sources, [&](unsigned cut) {
      auto whole = llvm::find_if(sources, [&](unsigned s) { return isLeastOf(getDim(cut, i), getDim(s, i)); });
      if (whole == sources.end())
        return false;
      check(createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, index(getSize(cut, i)), index(getSize(*whole, i))),
            "sizes do not broadcast in dimension " + Twine(i));
      return true;
    });
    result[i] = getSize(sources[0], i);
    for (unsigned s : ArrayRef(sources).drop_front()) {
      // Sizes that only the run tells: the result's is the one that is not 1.
      OpFoldResult a = result[i], c = getSize(s, i);
      Value one = index(int64_t(1)), av = index(a), cv = index(c);
      Value aIsOne = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, av, one);
      Value cIsOne = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, cv, one);
      Value same = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, av, cv);
      check(createOrFold<arith::OrIOp>(createOrFold<arith::OrIOp>(aIsOne, cIsOne), same),
            "sizes do not broadcast in dimension " + Twine(i));
      if (getConstantIntValue(a))
        continue; // Known and not 1.
      result[i] = getConstantIntValue(c) ? c : OpFoldResult(createOrFold<arith::SelectOp>(aIsOne, cv, av));
    }
    if (sources.size() > 1)
      for (unsigned o = 0; o < operands.size(); ++o)
        ambiguous[o] = ambiguous[o] || !getDim(o, i).isStatic();
  }

  SmallVector<Value> inputs(operands);
  SmallVector<AffineMap> maps;
  for (unsigned o = 0; o < operands.size(); ++o) {
    if (ambiguous[o]) {
      // Only along what may have either size.
      auto type = cast<RankedTensorType>(operands[o].getType());
      Sizes sizes(ArrayRef<OpFoldResult>(result).take_back(type.getRank()));
      for (auto [size, known] : llvm::zip(sizes, type.getShape()))
        if (!ShapedType::isDynamic(known))
          size = getIndexAttr(known);
      inputs[o] = broadcastAtRunTime(*this, operands[o], sizes);
    }
    maps.push_back(repeatingMap(*this, inputs[o], result));
  }
  maps.push_back(getMultiDimIdentityMap(rank));
  Value init = empty(result, element);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return create<linalg::GenericOp>(init.getType(), inputs, init, maps, iterators,
                                   [&](OpBuilder &nested, Location loc, ValueRange args) {
                                     ImplicitLocOpBuilder b(loc, nested);
                                     b.create<linalg::YieldOp>(body(b, args.drop_back()));
                                   })
      .getResult(0);
}

Value LinalgBuilder::broadcast(Value tensor, ArrayRef<OpFoldResult> sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = sizes.size(), lead = rank - type.getRank();
  bool ambiguous = false;
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    bool same = isEqualConstantIntOrValue(dim(tensor, i), sizes[lead + i]);
    ambiguous |= type.isDynamicDim(i) && !same;
    exprs.push_back(same ? getAffineDimExpr(lead + i) : getAffineConstantExpr(0));
    if (!same) {
      Value size = index(dim(tensor, i));
      Value isOne = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, size, index(int64_t(1)));
      Value fits = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, size, index(sizes[lead + i]));
      check(createOrFold<arith::OrIOp>(isOne, fits), "size does not broadcast in dimension " + Twine(lead + i));
    }
  }
  if (ambiguous)
    return broadcastAtRunTime(*this, tensor, sizes);
  Value init = empty(sizes, type.getElementType());
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  SmallVector<AffineMap> maps{AffineMap::get(rank, 0, exprs, getContext()), getMultiDimIdentityMap(rank)};
  return create<linalg::GenericOp>(
             init.getType(), tensor, init, maps, iterators,
             [](OpBuilder &b, Location loc, ValueRange args) { b.create<linalg::YieldOp>(loc, args[0]); })
      .getResult(0);
}

Value LinalgBuilder::reduce(Value tensor, ArrayRef<int64_t> axes, bool keepDims, Value init, ScalarFn combine) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  SmallVector<AffineExpr> kept;
  Sizes sizes;
  for (int64_t axis : axes)
    iterators[axis] = utils::IteratorType::reduction;
  for (int64_t i = 0; i < rank; ++i)
    if (iterators[i] == utils::IteratorType::parallel) {
      kept.push_back(getAffineDimExpr(i));
      sizes.push_back(dim(tensor, i));
    }
  Value accumulator = fill(sizes, init);
  SmallVector<AffineMap> maps{getMultiDimIdentityMap(rank), AffineMap::get(rank, 0, kept, getContext())};
  Value result = create<linalg::GenericOp>(accumulator.getType(), tensor, accumulator, maps, iterators,
                                           [&](OpBuilder &nested, Location loc, ValueRange args) {
                                             ImplicitLocOpBuilder b(loc, nested);
                                             b.create<linalg::YieldOp>(combine(b, args));
                                           })
                     .getResult(0);
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  return keepDims ? unsqueeze(result, sorted) : result;
}

Value LinalgBuilder::transpose(Value tensor, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return tensor;
  Sizes result;
  for (int64_t axis : permutation)
    result.push_back(dim(tensor, axis));
  Value init = empty(result, cast<RankedTensorType>(tensor.getType()).getElementType());
  return create<linalg::TransposeOp>(tensor, init, permutation)->getResult(0);
}

Value LinalgBuilder::unsqueeze(Value tensor, ArrayRef<int64_t> axes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank() + axes.size();
  if (axes.empty())
    return tensor;
  Sizes result;
  SmallVector<ReassociationIndices> groups(type.getRank());
  for (int64_t i = 0, from = 0; i < rank; ++i) {
    bool added = llvm::is_contained(axes, i);
    result.push_back(added ? OpFoldResult(getIndexAttr(1)) : dim(tensor, from));
    // Leading ones belong to the first group, others to the group before them.
    if (!groups.empty())
      groups[added ? (from > 0 ? from - 1 : 0) : from].push_back(i);
    from += !added;
  }
  SmallVector<int64_t> shape;
  for (OpFoldResult size : result)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return create<tensor::ExpandShapeOp>(RankedTensorType::get(shape, type.getElementType()), tensor, groups, result);
}

Value LinalgBuilder::squeeze(Value tensor, ArrayRef<int64_t> axes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (axes.empty())
    return tensor;
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  ReassociationIndices pending;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (llvm::is_contained(axes, i)) {
      (groups.empty() ? pending : groups.back()).push_back(i);
      continue;
    }
    groups.push_back(pending);
    groups.back().push_back(i);
    pending.clear();
    shape.push_back(type.getDimSize(i));
  }
  // A dynamic size at a removed axis is 1 (the caller checks); say so in the type.
  SmallVector<int64_t> source(type.getShape());
  for (int64_t axis : axes)
    source[axis] = 1;
  tensor = castTo(tensor, RankedTensorType::get(source, type.getElementType()));
  return create<tensor::CollapseShapeOp>(RankedTensorType::get(shape, type.getElementType()), tensor, groups);
}

Value LinalgBuilder::slice(Value tensor, ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                           ArrayRef<OpFoldResult> strides) {
  SmallVector<OpFoldResult> ones(offsets.size(), getIndexAttr(1));
  return create<tensor::ExtractSliceOp>(tensor, SmallVector<OpFoldResult>(offsets), SmallVector<OpFoldResult>(sizes),
                                        strides.empty() ? ones : SmallVector<OpFoldResult>(strides));
}

Value LinalgBuilder::concat(ValueRange tensors, int64_t axis) {
  if (tensors.size() == 1)
    return tensors[0];
  return create<tensor::ConcatOp>(axis, tensors);
}

Value LinalgBuilder::pad(Value tensor, ArrayRef<OpFoldResult> low, ArrayRef<OpFoldResult> high, Value value) {
  auto isZero = [](OpFoldResult amount) { return isConstantIntValue(amount, 0); };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return tensor;
  return create<tensor::PadOp>(Type(), tensor, low, high, value);
}

SmallVector<Value> LinalgBuilder::loopNest(ArrayRef<OpFoldResult> sizes, ValueRange carried,
                                           function_ref<SmallVector<Value>(ValueRange, ValueRange)> body) {
  SmallVector<Value> indices;
  auto build = [&](auto &self, ValueRange values) -> SmallVector<Value> {
    if (indices.size() == sizes.size())
      return body(indices, values);
    auto loop = create<scf::ForOp>(index(int64_t(0)), index(sizes[indices.size()]), index(int64_t(1)), values);
    InsertionGuard guard(*this);
    setInsertionPointToStart(loop.getBody());
    indices.push_back(loop.getInductionVar());
    SmallVector<Value> next = self(self, loop.getRegionIterArgs());
    indices.pop_back();
    if (!next.empty() || loop.getBody()->empty() || !loop.getBody()->back().hasTrait<OpTrait::IsTerminator>())
      create<scf::YieldOp>(next);
    return SmallVector<Value>(loop.getResults());
  };
  return build(build, carried);
}

Operation *LinalgBuilder::declareRuntimeFunction(StringRef name, FunctionType type) {
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  OpBuilder builder(module.getBody(), module.getBody()->begin());
  auto function = builder.create<func::FuncOp>(module.getLoc(), name, type);
  function.setPrivate();
  function->setAttr("llvm.emit_c_interface", getUnitAttr());
  return function;
}

} // namespace strata
