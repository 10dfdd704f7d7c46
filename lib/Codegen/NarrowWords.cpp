//===- NarrowWords.cpp - weights of few bits in words of 32 ---------------===//
#include "NarrowWords.h"
#include "Blocks.h"
#include "ConstantExpressions.h"
#include "LinalgQueries.h"
#include "ProductSums.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata;

/// The byte that a value is, or is extended from.
static Value extended(Value value, bool &isUnsigned) {
  Operation *extension = value.getDefiningOp();
  isUnsigned = isa_and_nonnull<arith::ExtUIOp>(extension);
  if (isa_and_nonnull<arith::ExtUIOp, arith::ExtSIOp>(extension))
    value = extension->getOperand(0);
  return value.getType().isInteger(8) ? value : Value();
}

BlockArgument NarrowCodes::scale() const {
  auto scaled = weights.value.getDefiningOp<arith::MulFOp>();
  return scaled && scaled.getLhs() == real ? dyn_cast<BlockArgument>(scaled.getRhs()) : BlockArgument();
}

/// What an input of the body is filled with, or the value itself.
static Value filledWith(linalg::GenericOp op, Value value) {
  auto input = dyn_cast_or_null<BlockArgument>(value);
  auto fill = input ? op.getDpsInputs()[input.getArgNumber()].getDefiningOp<linalg::FillOp>() : nullptr;
  return fill ? fill.getInputs()[0] : value;
}

std::optional<NarrowCodes> strata::matchNarrowCodes(linalg::GenericOp op) {
  std::optional<ComputedWeights> weights = op.hasPureTensorSemantics() ? matchComputedWeights(op) : std::nullopt;
  if (!weights)
    return std::nullopt;
  NarrowCodes result{*weights, {}, {}, {}, 0, false, 0, 8};
  Operation *conversion = nullptr;
  for (Operation *inner : weights->operations)
    if (isa<arith::SIToFPOp, arith::UIToFPOp>(inner))
      conversion = inner;
  if (!conversion)
    return std::nullopt;
  result.real = conversion->getResult(0);
  Value integer = conversion->getOperand(0);
  bool zeroIsUnsigned = false;
  if (auto difference = integer.getDefiningOp<arith::SubIOp>()) {
    integer = difference.getLhs();
    Value zero = filledWith(op, extended(difference.getRhs(), zeroIsUnsigned));
    APInt number;
    if (matchPattern(difference.getRhs(), m_ConstantInt(&number)))
      result.zeroPoint = number.getSExtValue();
    else if (zero && matchPattern(zero, m_ConstantInt(&number)))
      result.zeroPoint = zeroIsUnsigned ? number.getZExtValue() : number.getSExtValue();
    else if (result.zero = dyn_cast_or_null<BlockArgument>(zero); !result.zero)
      return std::nullopt;
  }
  result.bytes = dyn_cast_or_null<BlockArgument>(extended(integer, result.isUnsigned));
  if (!result.bytes || (result.zero && zeroIsUnsigned != result.isUnsigned))
    return std::nullopt;
  result.isUnsigned |= isa<arith::UIToFPOp>(conversion);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap map = maps[result.bytes.getArgNumber()], data = maps[weights->data];
  std::optional<unsigned> terms = innermost(data);
  if (!terms || !isPlain(map) || !isPlain(data) || !positionOf(map, *terms) ||
      op.getIteratorTypesArray()[*terms] != utils::IteratorType::reduction)
    return std::nullopt;
  result.terms = *terms;
  // What else depends on the terms would have to be cut, too.
  for (auto [input, read] : llvm::enumerate(maps))
    if (input != weights->data && input != result.bytes.getArgNumber() && read.isFunctionOfDim(*terms))
      return std::nullopt;
  auto bytesOf = [&](BlockArgument input) {
    auto [bytes, stored] = elementsBehind(op.getDpsInputs()[input.getArgNumber()]);
    return stored && stored.isInteger(8) ? bytes : ArrayRef<char>();
  };
  auto numberOf = [&](char byte) -> int {
    return result.isUnsigned ? static_cast<uint8_t>(byte) : static_cast<int8_t>(byte);
  };
  auto areNibbles = [&](ArrayRef<char> bytes) {
    int lowest = result.isUnsigned ? 0 : -8;
    return llvm::all_of(bytes,
                        [&](char byte) { return numberOf(byte) >= lowest && numberOf(byte) < lowest + (1 << 4); });
  };
  ArrayRef<char> bytes = bytesOf(result.bytes), zeros = result.zero ? bytesOf(result.zero) : ArrayRef<char>();
  if (bytes.empty())
    return std::nullopt;
  if (!zeros.empty() && llvm::all_equal(zeros)) {
    result.zeroPoint = numberOf(zeros[0]);
    result.zero = {};
  }
  if (areNibbles(bytes) && (!result.zero || (!zeros.empty() && areNibbles(zeros))))
    result.bits = 4;
  int64_t size = op.getStaticLoopRanges()[*terms];
  return size > 0 && size % result.perWord() == 0 ? std::optional(result) : std::nullopt;
}

Value strata::makeWords(OpBuilder &b, Location loc, Value bytes, unsigned dim, const NarrowCodes &codes,
                        function_ref<Value(OpBuilder &, Location, Value)> placeOf) {
  bytes = inGroups(b, loc, bytes, dim, codes.perWord());
  auto type = cast<RankedTensorType>(bytes.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim + 1);
  Type i32 = b.getI32Type();
  Value none = b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(0));
  Value words = b.create<tensor::EmptyOp>(loc, shape, i32);
  words = b.create<linalg::FillOp>(loc, none, words).getResult(0);
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  kinds[dim + 1] = utils::IteratorType::reduction;
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  maps[1] = maps[1].dropResult(dim + 1);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    Value term = b.create<arith::IndexCastOp>(loc, i32, b.create<linalg::IndexOp>(loc, dim + 1));
    Value code = b.create<arith::ExtUIOp>(loc, i32, args[0]);
    auto constant = [&](int64_t number) { return b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(number)); };
    if (int64_t offset = codes.offset())
      code = b.create<arith::AddIOp>(loc, code, constant(offset));
    code = b.create<arith::AndIOp>(loc, code, constant((1 << codes.bits) - 1));
    code = b.create<arith::ShLIOp>(loc, code, placeOf(b, loc, term));
    b.create<linalg::YieldOp>(loc, b.create<arith::OrIOp>(loc, args[1], code).getResult());
  };
  return b.create<linalg::GenericOp>(loc, words.getType(), bytes, words, maps, kinds, body).getResult(0);
}

Value strata::readWord(OpBuilder &b, Location loc, Value word, Value place, unsigned bits) {
  Value mask = b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr((1 << bits) - 1));
  return b.create<arith::AndIOp>(loc, b.create<arith::ShRUIOp>(loc, word, place), mask);
}
