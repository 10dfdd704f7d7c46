//===- Col2Im.cpp - Col2Im ------------------------------------------------===//
//
// Each element of the image sums the column elements that were read from it, in
// the order of their positions in a block. A sum of strings is their
// concatenation in that order.
//
//===----------------------------------------------------------------------===//

#include "../Compute.h"
#include "Conversion/RuntimeCalls.h"

static LogicalResult verifyCol2Im(Operation *op) {
  for (auto [name, least] : {std::pair("strides", 1), std::pair("dilations", 1), std::pair("pads", 0)})
    if (auto list = op->getAttrOfType<DenseI64ArrayAttr>(name))
      for (int64_t value : list.asArrayRef())
        if (value < least)
          return op->emitOpError("'") << name << "' holds " << value << ", less than " << least;
  return success();
}

static LogicalResult inferCol2Im(ShapeContext &c) {
  std::optional<Shape> input = c.shape(0), image = c.shape(1), block = c.shape(2);
  if (input && input->size() != 3)
    return c.emitError() << "needs an input of rank 3, not " << input->size();
  if ((image && image->size() != 1) || (block && block->size() != 1))
    return c.emitError() << "needs an image shape and a block shape of rank 1";
  Dim spatial = image ? image->front() : Dim();
  if (!spatial.isStatic() && block)
    spatial = block->front();
  for (auto [name, count] : {std::pair("strides", 1), std::pair("dilations", 1), std::pair("pads", 2)})
    if (auto list = c.integerArray(name); list && !spatial.isStatic())
      spatial = Dim(list->size() / count);
  if (!spatial.isStatic())
    return success();
  if (block && block->front().isStatic() && block->front().size != spatial.size)
    return c.emitError() << "has an image of " << spatial.size << " dimensions, but a block of " << block->front().size;
  for (auto [name, count] : {std::pair("strides", 1), std::pair("dilations", 1), std::pair("pads", 2)})
    if (auto list = c.integerArray(name); list && static_cast<int64_t>(list->size()) != count * spatial.size)
      return c.emitError() << "'" << name << "' has " << list->size() << " values, not " << count * spatial.size;
  Shape result{input ? input->front() : Dim(), Dim()};
  auto blockSizes = c.integers(2);
  if (blockSizes) {
    int64_t elements = 1;
    for (int64_t size : *blockSizes)
      if (size < 1 || llvm::MulOverflow(elements, size, elements))
        return c.emitError() << "has a block size of " << size;
    if (input && (*input)[1].isStatic()) {
      if ((*input)[1].size % elements != 0)
        return c.emitError() << "has " << (*input)[1].size << " rows, which blocks of " << elements
                             << " elements do not divide";
      result[1] = Dim((*input)[1].size / elements);
    }
  }
  auto imageSizes = c.values(1);
  for (int64_t i = 0; i < spatial.size; ++i)
    result.push_back(imageSizes && static_cast<int64_t>(imageSizes->size()) == spatial.size ? (*imageSizes)[i] : Dim());
  c.setShape(0, result);
  return success();
}

static Value addElements(ImplicitLocOpBuilder &n, Value x, Value y) {
  if (isa<ComplexType>(x.getType()))
    return n.create<complex::AddOp>(x, y);
  if (x.getType().isInteger(1))
    return n.create<arith::OrIOp>(x, y);
  return addScalars(n, x, y);
}

// The strings of an image, element by element.
static Value joinStrings(LinalgBuilder &b, Value input, const Sizes &sizes, const Sizes &block, const Sizes &blocks,
                         ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads) {
  using P = arith::CmpIPredicate;
  int64_t rank = block.size(), outer = 2 + rank;
  Value none = b.scalarInt(b.getI64Type(), 0);
  Sizes all = sizes;
  all.append(block.begin(), block.end());
  return b.loopNest(all, b.fill(sizes, none), [&](ValueRange loop, ValueRange carried) -> SmallVector<Value> {
    Value row = loop[1], column = b.index(0), inside = b.create<arith::ConstantOp>(b.getBoolAttr(true));
    for (int64_t i = 0; i < rank; ++i) {
      Value k = loop[outer + i], count = b.index(blocks[i]), stride = b.index(strides[i]);
      row = b.create<arith::AddIOp>(b.create<arith::MulIOp>(row, b.index(block[i])), k);
      // Where the block starts, in the padded image; it may be in front of it.
      Value at = b.create<arith::AddIOp>(loop[2 + i], b.index(pads[i]));
      Value origin = b.create<arith::SubIOp>(at, b.create<arith::MulIOp>(k, b.index(dilations[i])));
      Value which = b.create<arith::DivSIOp>(origin, stride);
      Value onGrid = b.create<arith::CmpIOp>(P::eq, b.create<arith::MulIOp>(which, stride), origin);
      Value exists = b.create<arith::CmpIOp>(P::ult, which, count);
      inside = b.create<arith::AndIOp>(inside, b.create<arith::AndIOp>(onGrid, exists));
      Value last = b.create<arith::SubIOp>(count, b.index(1));
      Value clamped = b.create<arith::MaxSIOp>(b.create<arith::MinSIOp>(which, last), b.index(0));
      column = b.create<arith::AddIOp>(b.create<arith::MulIOp>(column, count), clamped);
    }
    Value element = b.create<tensor::ExtractOp>(input, ValueRange{loop[0], row, column});
    Value added = b.create<arith::SelectOp>(inside, element, none);
    Value current = b.create<tensor::ExtractOp>(carried[0], loop.take_front(outer));
    Value next = callRuntime(b, "strata_rt_string_concat", {current, added}, b.getI64Type());
    return {b.create<tensor::InsertOp>(next, carried[0], loop.take_front(outer))};
  })[0];
}

static FailureOr<SmallVector<Value>> lowerCol2Im(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Value input = operands[0];
  Type onnx = getElementType(op->getOperand(0)),
       compute = isa<StringType>(onnx) ? Type(b.getI64Type()) : scalar::getComputeType(onnx);
  Sizes image = b.integerElements(op->getOperand(1)), block = b.integerElements(op->getOperand(2));
  int64_t rank = image.size();
  auto getList = [&](StringRef name, int64_t count, int64_t absent) {
    auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
    return attr ? SmallVector<int64_t>(attr.asArrayRef()) : SmallVector<int64_t>(count, absent);
  };
  SmallVector<int64_t> strides = getList("strides", rank, 1), dilations = getList("dilations", rank, 1);
  SmallVector<int64_t> pads = getList("pads", 2 * rank, 0);
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  Sizes blocks;
  for (int64_t i = 0; i < rank; ++i) {
    using P = arith::CmpIPredicate;
    b.check(b.compare(P::sge, block[i], one), "a size of the block is less than 1");
    b.check(b.compare(P::sge, image[i], zero), "a size of the image is negative");
    OpFoldResult extent = b.add(b.mul(b.sub(block[i], one), b.getIndexAttr(dilations[i])), one);
    OpFoldResult room = b.sub(b.add(image[i], b.getIndexAttr(pads[i] + pads[rank + i])), extent);
    b.check(b.compare(P::sge, room, zero), "the block is larger than the padded image");
    blocks.push_back(b.add(b.floorDiv(room, b.getIndexAttr(strides[i])), one));
  }
  OpFoldResult channels = b.quotient({b.dim(input, 1)}, block);
  SmallVector<OpFoldResult> factors{channels};
  factors.append(block.begin(), block.end());
  b.checkEqual(b.product(factors), b.dim(input, 1), "the number of rows is not a multiple of the block's elements");
  b.checkEqual(b.product(blocks), b.dim(input, 2), "the number of columns is not the number of blocks");

  Sizes sizes{b.dim(input, 0), channels};
  sizes.append(image.begin(), image.end());
  if (isa<StringType>(onnx))
    return SmallVector<Value>{joinStrings(b, input, sizes, block, blocks, strides, dilations, pads)};

  // One group of positions in the blocks after the other: its elements of all blocks lie on a grid of the padded image.
  // Where as many positions as a stride lie side by side, and so in the image, they are a group.
  Sizes columns{sizes[0], channels}, padded = columns, counts;
  SmallVector<int64_t> groups;
  bool once = true, everywhere = true;
  for (int64_t i = 0; i < rank; ++i) {
    std::optional<int64_t> known = getConstantIntValue(block[i]);
    bool grouped = known && *known % strides[i] == 0 && dilations[i] == 1;
    groups.push_back(grouped ? strides[i] : 1);
    counts.push_back(grouped ? OpFoldResult(b.getIndexAttr(*known / strides[i])) : block[i]);
    padded.push_back(b.add(image[i], b.getIndexAttr(pads[i] + pads[rank + i])));
    once &= isConstantIntValue(counts[i], 1);
    everywhere &= grouped && isEqualConstantIntOrValue(b.mul(blocks[i], b.getIndexAttr(groups[i])), padded[2 + i]);
  }
  columns.append(block.begin(), block.end());
  columns.append(blocks.begin(), blocks.end());
  Value elements = b.reshape(input, columns);
  // The group's dimensions and then those of the blocks, where the loops have them side by side.
  SmallVector<AffineExpr> read{b.getAffineDimExpr(0), b.getAffineDimExpr(1)};
  for (int64_t side : {1, 0})
    for (int64_t i = 0; i < rank; ++i)
      read.push_back(b.getAffineDimExpr(2 + 2 * i + side));
  AffineMap readMap = AffineMap::get(2 + 2 * rank, 0, read, b.getContext()),
            placeMap = b.getMultiDimIdentityMap(2 + 2 * rank);
  Value none = once && everywhere ? b.empty(padded, compute) : b.fill(padded, b.scalarInt(compute, 0));
  Value sum = b.loopNest(counts, none, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
    Sizes from(2 + 2 * rank, zero), fromSizes{sizes[0], channels}, to(2, zero), toSizes = fromSizes, steps(2, one),
                                                                                split = fromSizes;
    for (int64_t i = 0; i < rank; ++i) {
      OpFoldResult group = b.getIndexAttr(groups[i]);
      from[2 + i] = b.mul(at[i], group);
      fromSizes.push_back(group);
      to.push_back(b.mul(from[2 + i], b.getIndexAttr(dilations[i])));
      toSizes.push_back(b.mul(blocks[i], group));
      steps.push_back(b.getIndexAttr(strides[i] / groups[i]));
      split.append({blocks[i], group});
    }
    fromSizes.append(blocks);
    // In place; what is there for the first time is added to nothing.
    Value taken = b.slice(elements, from, fromSizes);
    Value place = b.reshape(b.slice(carried[0], to, toSizes, steps), split);
    SmallVector<utils::IteratorType> loops(2 + 2 * rank, utils::IteratorType::parallel);
    auto body = [&](OpBuilder &nested, Location loc, ValueRange x) {
      ImplicitLocOpBuilder n(loc, nested);
      Value element = isa<ComplexType>(compute) ? x[0] : scalar::decode(n, x[0], onnx);
      n.create<linalg::YieldOp>(once ? element : addElements(n, x[1], element));
    };
    Value next = b.create<linalg::GenericOp>(place.getType(), taken, place, ArrayRef{readMap, placeMap}, loops, body)
                     .getResult(0);
    return {b.create<tensor::InsertSliceOp>(b.reshape(next, toSizes), carried[0], to, toSizes, steps)};
  })[0];
  if (llvm::any_of(pads, [](int64_t pad) { return pad != 0; })) {
    Sizes offsets(2, zero);
    for (int64_t i = 0; i < rank; ++i)
      offsets.push_back(b.getIndexAttr(pads[i]));
    sum = b.slice(sum, offsets, sizes);
  }
  return SmallVector<Value>{isa<ComplexType>(compute) ? sum : roundTo(b, sum, onnx)};
}

STRATA_SLICE(Col2Im) {
  ops.add("Col2Im", {.verify = verifyCol2Im, .inferShapes = inferCol2Im, .lower = lowerCol2Im, .handles = true});
}
