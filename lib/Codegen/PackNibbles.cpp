//===- PackNibbles.cpp - eight weights of four bits in a word -------------===//
//
// Each word is loaded once, and each of its numbers takes three or four
// instructions to become a float: a shift, what leaves four bits in the place of a
// float's last ones, and a difference that also takes away the zero point. None of
// them needs the units that multiply.
//
//===----------------------------------------------------------------------===//
#include "Blocks.h"
#include "Codegen/Passes.h"
#include "ComputedWeights.h"
#include "ConstantExpressions.h"
#include "Conversions.h"
#include "LinalgQueries.h"
#include "ProductSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace strata {
#define GEN_PASS_DEF_PACKNIBBLES
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;

namespace {
constexpr int64_t perWord = 8, bits = 4;
constexpr uint32_t bias = 0x4B000000; ///< 2^23: the last place of a float is 1

/// Bytes that become floats, less perhaps others.
struct Nibbles {
  arith::SIToFPOp real;
  BlockArgument byte, zero; ///< null: 0
  bool isUnsigned;
  unsigned terms; ///< the loop of the reduction that words cut

  static std::optional<Nibbles> match(linalg::GenericOp op);

private:
  static BlockArgument extended(Value value, bool &isUnsigned) {
    Operation *extension = value.getDefiningOp();
    isUnsigned = isa_and_nonnull<arith::ExtUIOp>(extension);
    if (isa_and_nonnull<arith::ExtUIOp, arith::ExtSIOp>(extension))
      value = extension->getOperand(0);
    auto byte = dyn_cast<BlockArgument>(value);
    return byte && byte.getType().isInteger(8) ? byte : BlockArgument();
  }
};

struct PackNibblesPass : strata::impl::PackNibblesBase<PackNibblesPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> found;
    getOperation().walk([&](linalg::GenericOp op) { found.push_back(op); });
    for (linalg::GenericOp op : found)
      if (std::optional<Nibbles> nibbles = Nibbles::match(op))
        pack(op, *nibbles);
  }

private:
  static Value wordsOf(OpBuilder &b, Location loc, Value bytes, unsigned dim, bool isUnsigned);
  static void pack(linalg::GenericOp op, Nibbles nibbles);
};
} // namespace

std::optional<Nibbles> Nibbles::match(linalg::GenericOp op) {
  std::optional<strata::ComputedWeights> weights =
      op.hasPureTensorSemantics() ? strata::matchComputedWeights(op) : std::nullopt;
  if (!weights)
    return std::nullopt;
  Nibbles result{};
  for (Operation *inner : weights->operations)
    if (auto real = dyn_cast<arith::SIToFPOp>(inner))
      result.real = real;
  if (!result.real)
    return std::nullopt;
  Value integer = result.real.getIn();
  bool zeroIsUnsigned = false;
  if (auto difference = integer.getDefiningOp<arith::SubIOp>()) {
    result.zero = extended(difference.getRhs(), zeroIsUnsigned);
    integer = difference.getLhs();
    if (!result.zero)
      return std::nullopt;
  }
  result.byte = extended(integer, result.isUnsigned);
  if (!result.byte || (result.zero && zeroIsUnsigned != result.isUnsigned))
    return std::nullopt;
  AffineMap map = op.getIndexingMapsArray()[result.byte.getArgNumber()],
            data = op.getIndexingMapsArray()[weights->data];
  std::optional<unsigned> terms = strata::innermost(data);
  if (!terms || !strata::isPlain(map) || !strata::isPlain(data) || !strata::positionOf(map, *terms) ||
      op.getIteratorTypesArray()[*terms] != utils::IteratorType::reduction ||
      op.getStaticLoopRanges()[*terms] % perWord != 0 || op.getStaticLoopRanges()[*terms] <= 0)
    return std::nullopt;
  result.terms = *terms;
  // What else depends on the terms would have to be cut, too.
  for (auto [input, read] : llvm::enumerate(op.getIndexingMapsArray()))
    if (input != weights->data && input != result.byte.getArgNumber() && read.isFunctionOfDim(*terms))
      return std::nullopt;
  auto [bytes, stored] = strata::elementsBehind(op.getDpsInputs()[result.byte.getArgNumber()]);
  int lowest = result.isUnsigned ? 0 : -8;
  bool fits = !bytes.empty() && stored.isInteger(8) && llvm::all_of(bytes, [&](char byte) {
    int value = result.isUnsigned ? static_cast<uint8_t>(byte) : static_cast<int8_t>(byte);
    return value >= lowest && value < lowest + 16;
  });
  return fits ? std::optional(result) : std::nullopt;
}

/// Dimension `dim` in groups of `perWord`, which are a dimension behind it.
static Value cut(OpBuilder &b, Location loc, Value value, unsigned dim) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= perWord;
  shape.insert(shape.begin() + dim + 1, perWord);
  return b.create<tensor::ExpandShapeOp>(loc, type.clone(shape), value, strata::withNext(type.getRank(), dim));
}

/// The lowest number first; signed ones, moved to begin with 0.
Value PackNibblesPass::wordsOf(OpBuilder &b, Location loc, Value bytes, unsigned dim, bool isUnsigned) {
  bytes = cut(b, loc, bytes, dim);
  auto type = cast<RankedTensorType>(bytes.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim + 1);
  auto i32 = b.getI32Type();
  auto number = [&](int64_t n) { return b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(n)); };
  Value words = b.create<tensor::EmptyOp>(loc, shape, i32);
  words = b.create<linalg::FillOp>(loc, ValueRange{number(0)}, words).getResult(0);
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  kinds[dim + 1] = utils::IteratorType::reduction;
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  maps[1] = maps[1].dropResult(dim + 1);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    Value place = b.create<arith::IndexCastOp>(loc, i32, b.create<linalg::IndexOp>(loc, dim + 1));
    auto number = [&](int64_t n) { return b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(n)); };
    Value value = b.create<arith::ExtUIOp>(loc, i32, args[0]);
    if (!isUnsigned)
      value = b.create<arith::AddIOp>(loc, value, number(8));
    value = b.create<arith::AndIOp>(loc, value, number(15));
    value = b.create<arith::ShLIOp>(loc, value, b.create<arith::MulIOp>(loc, place, number(bits)));
    b.create<linalg::YieldOp>(loc, b.create<arith::OrIOp>(loc, args[1], value).getResult());
  };
  return b.create<linalg::GenericOp>(loc, words.getType(), bytes, words, maps, kinds, body).getResult(0);
}

void PackNibblesPass::pack(linalg::GenericOp op, Nibbles nibbles) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  unsigned byte = nibbles.byte.getArgNumber(), number = op.getNumLoops();
  SmallVector<Value> inputs(op.getDpsInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [input, map] : llvm::enumerate(maps)) {
    SmallVector<AffineExpr> exprs(map.getResults());
    if (std::optional<unsigned> at = strata::positionOf(map, nibbles.terms)) {
      if (input == byte) {
        inputs[input] = wordsOf(b, loc, inputs[input], *at, nibbles.isUnsigned);
      } else {
        inputs[input] = cut(b, loc, inputs[input], *at);
        exprs.insert(exprs.begin() + *at + 1, b.getAffineDimExpr(number));
      }
    }
    map = AffineMap::get(number + 1, 0, exprs, b.getContext());
  }
  // What is taken away: zero points as floats, or a number.
  const float moved = 8388608.0f + (nibbles.isUnsigned ? 0.0f : 8.0f);
  if (nibbles.zero)
    inputs[nibbles.zero.getArgNumber()] =
        strata::mapElements(b, loc, inputs[nibbles.zero.getArgNumber()], f32, [&](OpBuilder &b, Value zero) -> Value {
          Value real = nibbles.isUnsigned ? b.create<arith::UIToFPOp>(loc, f32, zero).getResult()
                                          : b.create<arith::SIToFPOp>(loc, f32, zero).getResult();
          return b.create<arith::AddFOp>(loc, real, b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(moved)));
        }).getResult(0);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.push_back(utils::IteratorType::reduction);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    IRMapping mapping;
    mapping.map(op.getBody()->getArguments(), args);
    auto constant = [&](TypedAttr value) { return b.create<arith::ConstantOp>(loc, value); };
    Value place = b.create<arith::IndexCastOp>(loc, i32, b.create<linalg::IndexOp>(loc, number));
    Value shift = b.create<arith::MulIOp>(loc, place, constant(b.getI32IntegerAttr(bits)));
    Value value = b.create<arith::ShRUIOp>(loc, args[byte], shift);
    value = b.create<arith::AndIOp>(loc, value, constant(b.getI32IntegerAttr(15)));
    value = b.create<arith::OrIOp>(loc, value, constant(b.getI32IntegerAttr(bias)));
    value = b.create<arith::BitcastOp>(loc, f32, value);
    Value zero = nibbles.zero ? args[nibbles.zero.getArgNumber()] : constant(b.getF32FloatAttr(moved)).getResult();
    mapping.map(nibbles.real.getResult(), b.create<arith::SubFOp>(loc, value, zero));
    // What the bytes were is not needed any more.
    llvm::SmallPtrSet<Operation *, 4> gone{nibbles.real};
    for (Operation &inner : llvm::reverse(op.getBody()->without_terminator()))
      if (!inner.use_empty() && llvm::all_of(inner.getUsers(), [&](Operation *user) { return gone.contains(user); }))
        gone.insert(&inner);
    for (Operation &inner : *op.getBody())
      if (!gone.contains(&inner))
        b.clone(inner, mapping);
  };
  auto packed = b.create<linalg::GenericOp>(loc, op.getResultTypes(), inputs, op.getDpsInits(), maps, kinds, body);
  op->replaceAllUsesWith(packed);
  op.erase();
}
