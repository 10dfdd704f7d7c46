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
#include "Conversions.h"
#include "LinalgQueries.h"
#include "NarrowWords.h"

#include "mlir/IR/IRMapping.h"

namespace strata {
#define GEN_PASS_DEF_PACKNIBBLES
#include "Codegen/Passes.h.inc"
} // namespace strata

using namespace mlir;
using strata::NarrowCodes;

namespace {
struct PackNibblesPass : strata::impl::PackNibblesBase<PackNibblesPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> found;
    getOperation().walk([&](linalg::GenericOp op) { found.push_back(op); });
    for (linalg::GenericOp op : found)
      if (std::optional<NarrowCodes> codes = strata::matchNarrowCodes(op); codes && codes->bits == 4)
        pack(op, *codes);
  }

private:
  static constexpr int32_t bias = 0x4B000000; ///< 2^23: the last place of a float is 1

  static void pack(linalg::GenericOp op, NarrowCodes codes);
};
} // namespace

/// Where a term of a word begins: the lowest bits are the first one's.
static Value placeOf(OpBuilder &b, Location loc, Value term) {
  return b.create<arith::MulIOp>(loc, term, b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(4)));
}

void PackNibblesPass::pack(linalg::GenericOp op, NarrowCodes codes) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  unsigned bytes = codes.bytes.getArgNumber(), term = op.getNumLoops();
  SmallVector<Value> inputs(op.getDpsInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [input, map] : llvm::enumerate(maps)) {
    SmallVector<AffineExpr> exprs(map.getResults());
    if (std::optional<unsigned> at = strata::positionOf(map, codes.terms)) {
      if (input == bytes) {
        inputs[input] = strata::makeWords(b, loc, inputs[input], *at, codes, placeOf);
      } else {
        inputs[input] = strata::inGroups(b, loc, inputs[input], *at, codes.perWord());
        exprs.insert(exprs.begin() + *at + 1, b.getAffineDimExpr(term));
      }
    }
    map = AffineMap::get(term + 1, 0, exprs, b.getContext());
  }
  // What is taken away: zero points as floats, or a number.
  const auto moved = static_cast<float>((1 << 23) + codes.offset() + codes.zeroPoint);
  if (codes.zero) {
    Value &zeros = inputs[codes.zero.getArgNumber()];
    zeros = strata::mapElements(b, loc, zeros, f32, [&](OpBuilder &b, Value zero) -> Value {
              Value real = codes.isUnsigned ? b.create<arith::UIToFPOp>(loc, f32, zero).getResult()
                                            : b.create<arith::SIToFPOp>(loc, f32, zero).getResult();
              return b.create<arith::AddFOp>(loc, real, b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(moved)));
            }).getResult(0);
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.push_back(utils::IteratorType::reduction);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    IRMapping mapping;
    mapping.map(op.getBody()->getArguments(), args);
    auto constant = [&](TypedAttr value) { return b.create<arith::ConstantOp>(loc, value); };
    Value place = placeOf(b, loc, b.create<arith::IndexCastOp>(loc, i32, b.create<linalg::IndexOp>(loc, term)));
    Value value = strata::readWord(b, loc, args[bytes], place, codes.bits);
    value = b.create<arith::OrIOp>(loc, value, constant(b.getI32IntegerAttr(bias)));
    value = b.create<arith::BitcastOp>(loc, f32, value);
    Value zero = codes.zero ? args[codes.zero.getArgNumber()] : constant(b.getF32FloatAttr(moved)).getResult();
    mapping.map(codes.real, b.create<arith::SubFOp>(loc, value, zero));
    // What the bytes were is not needed any more.
    llvm::SmallPtrSet<Operation *, 4> gone{codes.real.getDefiningOp()};
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
