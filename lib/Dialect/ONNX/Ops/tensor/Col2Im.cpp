//===- Col2Im.cpp - Col2Im ------------------------------------------------===//
//
// Each element of the image sums the column elements that were read from it:
// over the positions in a block, those whose block starts on the stride's grid.
// A sum of strings is their concatenation in that order.
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

  // Loops: batch, channel, image..., block...
  int64_t outer = 2 + rank, loops = outer + rank;
  Sizes sizes{b.dim(input, 0), channels};
  sizes.append(image.begin(), image.end());
  Value init = b.fill(sizes, b.scalarInt(compute, 0)),
        shape = b.empty(block, b.getI1Type()); // Only tells the block's sizes.
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
  SmallVector<int64_t> reduced = llvm::to_vector(llvm::seq<int64_t>(outer, loops));
  for (int64_t i : reduced)
    iterators[i] = utils::IteratorType::reduction;
  SmallVector<AffineExpr> inBlock;
  for (int64_t i : reduced)
    inBlock.push_back(b.getAffineDimExpr(i));
  SmallVector<AffineMap> maps{AffineMap::get(loops, 0, inBlock, b.getContext()),
                              mapWithout(b.getContext(), loops, reduced)};
  SmallVector<Value> blockSizes, blockCounts;
  for (int64_t i = 0; i < rank; ++i) {
    blockSizes.push_back(b.index(block[i]));
    blockCounts.push_back(b.index(blocks[i]));
  }
  // The element of the columns at the loops' indices, and whether there is one.
  auto read = [&](ImplicitLocOpBuilder &n, ValueRange loop) -> std::pair<Value, Value> {
    using P = arith::CmpIPredicate;
    auto number = [&](int64_t value) -> Value { return n.create<arith::ConstantIndexOp>(value); };
    Value row = loop[1], column = number(0), inside;
    for (int64_t i = 0; i < rank; ++i) {
      Value k = loop[outer + i], at = loop[2 + i];
      row = n.create<arith::AddIOp>(n.create<arith::MulIOp>(row, blockSizes[i]), k);
      // Where the block starts, in the padded image; it may be in front of it.
      Value origin = n.create<arith::SubIOp>(n.create<arith::AddIOp>(at, number(pads[i])),
                                             n.create<arith::MulIOp>(k, number(dilations[i])));
      Value which = n.create<arith::DivSIOp>(origin, number(strides[i]));
      Value onGrid = n.create<arith::CmpIOp>(P::eq, n.create<arith::MulIOp>(which, number(strides[i])), origin);
      Value exists = n.create<arith::CmpIOp>(P::ult, which, blockCounts[i]);
      Value both = n.create<arith::AndIOp>(onGrid, exists);
      inside = inside ? n.create<arith::AndIOp>(inside, both).getResult() : both;
      Value last = n.create<arith::SubIOp>(blockCounts[i], number(1));
      Value clamped = n.create<arith::MaxSIOp>(n.create<arith::MinSIOp>(which, last), number(0));
      column = n.create<arith::AddIOp>(n.create<arith::MulIOp>(column, blockCounts[i]), clamped);
    }
    if (!inside)
      inside = n.create<arith::ConstantOp>(n.getBoolAttr(true));
    return {n.create<tensor::ExtractOp>(input, ValueRange{loop[0], row, column}), inside};
  };
  if (isa<StringType>(onnx)) {
    Sizes all = sizes;
    all.append(block.begin(), block.end());
    return SmallVector<Value>{b.loopNest(all, init, [&](ValueRange loop, ValueRange carried) -> SmallVector<Value> {
      auto [element, inside] = read(b, loop);
      Value added = b.create<arith::SelectOp>(inside, element, b.scalarInt(compute, 0));
      Value current = b.create<tensor::ExtractOp>(carried[0], loop.take_front(outer));
      Value next = callRuntime(b, "strata_rt_string_concat", {current, added}, compute);
      return {b.create<tensor::InsertOp>(next, carried[0], loop.take_front(outer))};
    })[0]};
  }
  auto sum = b.create<linalg::GenericOp>(
      init.getType(), shape, init, maps, iterators, [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder n(loc, nested);
        SmallVector<Value> loop;
        for (int64_t i = 0; i < loops; ++i)
          loop.push_back(n.create<linalg::IndexOp>(i));
        auto [element, inside] = read(n, loop);
        Value next = addElements(n, args[1], isa<ComplexType>(compute) ? element : scalar::decode(n, element, onnx));
        n.create<linalg::YieldOp>(n.create<arith::SelectOp>(inside, next, args[1]).getResult());
      });
  Value result = sum.getResult(0);
  return SmallVector<Value>{isa<ComplexType>(compute) ? result : roundTo(b, result, onnx)};
}

STRATA_SLICE(Col2Im) {
  ops.add("Col2Im", {.verify = verifyCol2Im, .inferShapes = inferCol2Im, .lower = lowerCol2Im, .handles = true});
}
