//===- EmulateInstructions.cpp - for tests on other CPUs ------------------===//
//
// Intrinsics become what Intel's manual says of their instructions. A tile has 16 rows of 64 bytes in memory; those
// that it does not have are zeros, as the hardware leaves them.
//
//===----------------------------------------------------------------------===//
#include "EmulateInstructions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <cstring>

using namespace llvm;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
constexpr int kRows = 16, kRowBytes = 64;
using Tile = char[kRows][kRowBytes];

template <typename Element> Element at(const Tile &tile, int row, int i) {
  Element element;
  std::memcpy(&element, tile[row] + i * sizeof(Element), sizeof(Element));
  return element;
}

/// Half of a float.
struct BFloat {
  uint16_t bits;
  operator float() const {
    uint32_t wide = uint32_t(bits) << 16;
    float number;
    std::memcpy(&number, &wide, sizeof(number));
    return number;
  }
};

void load(Tile &result, int16_t rows, int16_t rowBytes, const char *from, int64_t stride) {
  std::memset(result, 0, sizeof(result));
  for (int row = 0; row < rows; ++row)
    std::memcpy(result[row], from + row * stride, rowBytes);
}

void store(int16_t rows, int16_t rowBytes, char *to, int64_t stride, const Tile &tile) {
  for (int row = 0; row < rows; ++row)
    std::memcpy(to + row * stride, tile[row], rowBytes);
}

void zero(Tile &result, int16_t, int16_t) { std::memset(result, 0, sizeof(result)); }

/// Of rows of A, and columns of B whose neighbouring steps lie in one sum's place.
template <typename Sum, typename Left, typename Right>
void multiply(Tile &result, int16_t rows, int16_t columnBytes, int16_t stepBytes, const Tile &sums, const Tile &a,
              const Tile &b) {
  constexpr int inPlace = sizeof(Sum) / sizeof(Left);
  Tile sum;
  std::memset(sum, 0, sizeof(sum));
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columnBytes / int(sizeof(Sum)); ++column) {
      Sum total = at<Sum>(sums, row, column);
      for (int step = 0; step < stepBytes / int(sizeof(Left)); ++step)
        total += Sum(at<Left>(a, row, step)) * Sum(at<Right>(b, step / inPlace, column * inPlace + step % inPlace));
      std::memcpy(sum[row] + column * sizeof(Sum), &total, sizeof(Sum));
    }
  std::memcpy(result, sum, sizeof(sum));
}
} // namespace

/// The function that computes what an intrinsic of tiles does; null for others.
static void *functionOf(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::x86_tileloadd64_internal:
    return reinterpret_cast<void *>(load);
  case Intrinsic::x86_tilestored64_internal:
    return reinterpret_cast<void *>(store);
  case Intrinsic::x86_tilezero_internal:
    return reinterpret_cast<void *>(zero);
  case Intrinsic::x86_tdpbf16ps_internal:
    return reinterpret_cast<void *>(multiply<float, BFloat, BFloat>);
  case Intrinsic::x86_tdpbssd_internal:
    return reinterpret_cast<void *>(multiply<int32_t, int8_t, int8_t>);
  case Intrinsic::x86_tdpbsud_internal:
    return reinterpret_cast<void *>(multiply<int32_t, int8_t, uint8_t>);
  case Intrinsic::x86_tdpbusd_internal:
    return reinterpret_cast<void *>(multiply<int32_t, uint8_t, int8_t>);
  case Intrinsic::x86_tdpbuud_internal:
    return reinterpret_cast<void *>(multiply<int32_t, uint8_t, uint8_t>);
  default:
    return nullptr;
  }
}

/// Each tile has a place in memory.
static void emulateTiles(Function &function) {
  SmallVector<IntrinsicInst *> calls;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction); call && functionOf(call->getIntrinsicID()))
      calls.push_back(call);
  DenseMap<Value *, Value *> places;
  IRBuilder<> b(function.getContext());
  BasicBlock &entry = function.getEntryBlock();
  for (IntrinsicInst *call : calls)
    if (call->getType()->isX86_AMXTy()) {
      b.SetInsertPoint(&entry, entry.begin());
      places[call] = b.CreateAlloca(ArrayType::get(b.getInt8Ty(), sizeof(Tile)));
    }
  for (IntrinsicInst *call : calls) {
    b.SetInsertPoint(call);
    SmallVector<Value *> arguments;
    if (Value *place = places.lookup(call))
      arguments.push_back(place);
    for (Value *argument : call->args())
      arguments.push_back(argument->getType()->isX86_AMXTy() ? places.lookup(argument) : argument);
    SmallVector<Type *> types;
    for (Value *argument : arguments)
      types.push_back(argument->getType());
    Value *address = b.getInt64(reinterpret_cast<uint64_t>(functionOf(call->getIntrinsicID())));
    b.CreateCall(FunctionType::get(b.getVoidTy(), types, /*isVarArg=*/false), b.CreateIntToPtr(address, b.getPtrTy()),
                 arguments);
  }
  for (IntrinsicInst *call : reverse(calls))
    call->eraseFromParent();
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

namespace {
/// What each lane of 32 bits of a vector adds up: products of its parts.
struct LaneProducts {
  IRBuilder<> &b;
  unsigned lanes, parts; ///< of a lane

  /// The vector as one of narrow integers.
  Value *split(Value *vector) {
    return b.CreateBitCast(vector, FixedVectorType::get(b.getIntNTy(32 / parts), lanes * parts));
  }
  /// One part of each lane.
  Value *pick(Value *all, unsigned part) {
    SmallVector<int> mask;
    for (unsigned lane = 0; lane < lanes; ++lane)
      mask.push_back(lane * parts + part);
    return b.CreateShuffleVector(all, mask);
  }
  Value *number(Value *all, unsigned part, bool isUnsigned) {
    Type *wide = FixedVectorType::get(b.getInt32Ty(), lanes);
    Value *picked = pick(all, part);
    return isUnsigned ? b.CreateZExt(picked, wide) : b.CreateSExt(picked, wide);
  }
  Value *real(Value *all, unsigned part) {
    Value *bits = b.CreateShl(number(all, part, /*isUnsigned=*/true), 16);
    return b.CreateBitCast(bits, FixedVectorType::get(b.getFloatTy(), lanes));
  }
};
} // namespace

/// The same by other instructions; null for what needs none.
static Value *expand(IRBuilder<> &b, IntrinsicInst &call) {
  auto *type = dyn_cast<FixedVectorType>(call.getType());
  unsigned lanes = type ? type->getNumElements() : 0;
  switch (call.getIntrinsicID()) {
  case Intrinsic::x86_avx512_vpdpbusd_128:
  case Intrinsic::x86_avx512_vpdpbusd_256:
  case Intrinsic::x86_avx512_vpdpbusd_512: {
    LaneProducts of{b, lanes, 4};
    Value *sum = call.getArgOperand(0), *x = of.split(call.getArgOperand(1)), *y = of.split(call.getArgOperand(2));
    for (unsigned part = 0; part < 4; ++part)
      sum = b.CreateAdd(sum,
                        b.CreateMul(of.number(x, part, /*isUnsigned=*/true), of.number(y, part, /*isUnsigned=*/false)));
    return sum;
  }
  case Intrinsic::x86_avx512_pmaddw_d_512: {
    LaneProducts of{b, lanes, 2};
    Value *x = call.getArgOperand(0), *y = call.getArgOperand(1);
    auto product = [&](unsigned part) { return b.CreateMul(of.number(x, part, false), of.number(y, part, false)); };
    return b.CreateAdd(product(0), product(1));
  }
  case Intrinsic::x86_avx512bf16_dpbf16ps_128:
  case Intrinsic::x86_avx512bf16_dpbf16ps_256:
  case Intrinsic::x86_avx512bf16_dpbf16ps_512: {
    LaneProducts of{b, lanes, 2};
    Value *sum = call.getArgOperand(0), *x = of.split(call.getArgOperand(1)), *y = of.split(call.getArgOperand(2));
    for (unsigned part : {1u, 0u})
      sum = b.CreateFAdd(sum, b.CreateFMul(of.real(x, part), of.real(y, part)));
    return sum;
  }
  default:
    return nullptr;
  }
}

void strata::emulateInstructions(Function &function) {
  emulateTiles(function);
  IRBuilder<> b(function.getContext());
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
      b.SetInsertPoint(call);
      if (Value *value = expand(b, *call)) {
        call->replaceAllUsesWith(value);
        call->eraseFromParent();
      }
    }
}
