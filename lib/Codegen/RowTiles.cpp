//===- RowTiles.cpp - what a block of rows has of tensors -----------------===//
#include "RowTiles.h"
#include "LinalgQueries.h"
#include "RowWindows.h"
#include "Transposed.h"

using namespace mlir;
using namespace strata;

tensor::EmptyOp strata::emptyBehind(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getOutputs()[0];
  return init.getDefiningOp<tensor::EmptyOp>();
}

/// The block's rows of a tensor; or as many from the first one on.
tensor::ExtractSliceOp RowTiles::slice(Value source, AffineMap map, ArrayRef<unsigned> rows, bool first) {
  SmallVector<OpFoldResult> from(map.getNumResults(), b.getIndexAttr(0)), strides(from.size(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> count = tensor::getMixedSizes(b, loc, source);
  for (auto [row, offset, size] : llvm::zip(rows, offsets, sizes))
    if (std::optional<unsigned> at = positionOf(map, row)) {
      if (!first)
        from[*at] = offset;
      count[*at] = size;
    }
  return b.create<tensor::ExtractSliceOp>(loc, source, from, count, strides);
}

/// The block's rows of an input, which are padded here if they are nowhere else.
Value RowTiles::read(Value source, AffineMap map, ArrayRef<unsigned> rows) {
  tensor::PadOp pad = rowPadding(source, map, rows);
  if (!pad)
    return slice(source, map, rows);
  tensor::ExtractSliceOp inner = slice(pad.getSource(), map, rows);
  SmallVector<int64_t> shape(pad.getResultType().getShape());
  for (unsigned row : rows)
    if (std::optional<unsigned> at = positionOf(map, row))
      shape[*at] = inner.getType().getDimSize(*at);
  Value padding = pad.getConstantPaddingValue();
  if (Operation *constant = padding.getDefiningOp(); constant && pad->isAncestor(constant))
    padding = b.clone(*constant)->getResult(0);
  return b.create<tensor::PadOp>(loc, pad.getResultType().clone(shape), inner, pad.getMixedLowPad(),
                                 pad.getMixedHighPad(), padding);
}

Value RowTiles::transposed(linalg::TransposeOp transpose, ArrayRef<OpFoldResult> sizesOfInput, AffineMap map,
                           ArrayRef<unsigned> rows) {
  AffineMap before = mapBehind(transpose, map);
  tensor::ExtractSliceOp part = slice(transpose.getInput(), before, rows);
  SmallVector<OpFoldResult> count(sizesOfInput);
  for (auto [row, size] : llvm::zip(rows, sizes))
    if (std::optional<unsigned> at = positionOf(before, row))
      count[*at] = size;
  applyPermutationToVector(count, transpose.getPermutation());
  Value place = b.create<tensor::EmptyOp>(loc, count, part.getType().getElementType());
  return b.create<linalg::TransposeOp>(loc, part, place, transpose.getPermutation()).getResult()[0];
}

/// A place for a result that only members read: as large as a whole block, of which this one's rows are used.
Value RowTiles::scratch(Value init, AffineMap map, ArrayRef<unsigned> rows) {
  tensor::EmptyOp like = emptyBehind(init);
  SmallVector<OpFoldResult> count = tensor::getMixedSizes(b, loc, like);
  bool partial = false;
  for (auto [row, size, all] : llvm::zip(rows, sizes, whole)) {
    count[*positionOf(map, row)] = all;
    partial |= size != all;
  }
  Value place = b.create<tensor::EmptyOp>(loc, count, like.getType().getElementType());
  return partial ? slice(place, map, rows, /*first=*/true) : place;
}
