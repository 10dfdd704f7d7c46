//===- Warpgroups.cpp - products by four warps ----------------------------===//
//
// wgmma multiplies what descriptors say of shared memory, or registers by that. It
// is done when its threads have come; what it read counts as being read until its
// group is waited for, and registers need a fence after each wait.
//
//===----------------------------------------------------------------------===//
#include "Block.h"

#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;

namespace strata::emulator {
namespace {

/// In the order of elementKinds in InlineAssembly.cpp.
enum Kind { Half, BFloat, TensorFloat, Signed, Unsigned };
int64_t bytesOf(int kind) { return kind == TensorFloat ? 4 : kind >= Signed ? 1 : 2; }

double numberAt(const char *address, int kind) {
  uint32_t bits = 0;
  std::memcpy(&bits, address, bytesOf(kind));
  auto asFloat = [](uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  };
  switch (kind) {
  case Half:
    return halfOf(bits);
  case BFloat:
    return asFloat(bits << 16);
  case TensorFloat:
    return asFloat(bits & ~0x1fffu);
  case Signed:
    return static_cast<int8_t>(bits);
  default:
    return static_cast<uint8_t>(bits);
  }
}

/// An operand in shared memory: `count` rows (or columns) by 32 bytes of steps.
struct Operand {
  uint64_t descriptor;
  int kind, count;
  bool across; ///< lines are steps, with neighbouring rows

  int64_t field(unsigned shift) const { return (descriptor >> shift & 0x3fff) << 4; }
  int64_t width() const {
    static const int64_t widths[] = {0, 128, 64, 32};
    return widths[descriptor >> 62];
  }
  int64_t steps() const { return 32 / bytesOf(kind); }

  /// Lines of the swizzle's width are in groups of eight. Along the steps, a line is a row, and a group follows at the
  /// stride offset. Else a line is a step: groups of steps are at the stride offset, the next rows at the leading one.
  char *address(int64_t row, int64_t step) const {
    int64_t bytes = bytesOf(kind), start = field(0), leading = field(16), stride = field(32);
    int64_t offset =
        across ? row * bytes / width() * leading + step / 8 * stride + step % 8 * width() + row * bytes % width()
               : row / 8 * stride + row % 8 * width() + step * bytes;
    // Of the window, as the hardware's addresses are.
    uint64_t at = start + offset, mask = width() == 128 ? 0x70 : width() == 64 ? 0x30 : 0x10;
    at ^= at >> 3 & mask;
    return sharedWindow() + at;
  }

  const char *problem() const {
    if (width() == 0)
      return "wgmma of an operand without swizzle, which the emulator has not";
    if (across && bytesOf(kind) != 2)
      return "wgmma transposes elements of 16 bits only";
    if (descriptor >> 49 & 7)
      return "wgmma with a base offset, which the emulator has not";
    if (field(0) % (8 * width()) >= width())
      return "wgmma of an operand that does not begin where the swizzle's pattern does";
    return nullptr;
  }
};

/// Numbers in the order [row][step]; false if they may not be read.
bool read(const Operand &operand, std::vector<double> &numbers, const char *&begin, const char *&end) {
  numbers.clear();
  begin = end = nullptr;
  for (int64_t row = 0; row < operand.count; ++row)
    for (int64_t step = 0; step < operand.steps(); ++step) {
      const char *at = operand.address(row, step);
      begin = begin ? std::min(begin, at) : at;
      end = std::max(end, at + bytesOf(operand.kind));
      if (!isShared(at, bytesOf(operand.kind))) {
        device.failure = "wgmma of an address that is not shared";
        return false;
      }
      numbers.push_back(numberAt(at, operand.kind));
    }
  if (isAwaited(begin, end)) {
    device.failure = "wgmma of what has not arrived";
    return false;
  }
  return true;
}

/// The left side in registers, two steps in each: a warp has 16 rows, of which the second register has those from 8 on,
/// the next two eight steps more.
void readRegisters(unsigned first, int kind, std::vector<double> &numbers) {
  constexpr int64_t steps = 16;
  numbers.resize(64 * steps);
  for (unsigned t = 0; t < 128; ++t)
    for (int64_t i = 0; i < 8; ++i) {
      int64_t row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, step = i / 4 * 8 + t % 4 * 2 + i % 2;
      uint32_t word = device.threads[first + t].product.registers[i / 2] >> (i % 2 * 16);
      numbers[row * steps + step] = numberAt(reinterpret_cast<const char *>(&word), kind);
    }
}

bool multiply(unsigned first) {
  const WarpgroupProduct &product = device.threads[first].product;
  bool integer = product.leftKind >= Signed;
  Operand left{product.left, product.leftKind, 64, product.leftAcross != 0},
      right{product.right, product.rightKind, product.columns, product.rightAcross != 0};
  for (const Operand *operand : {&left, &right})
    if (const char *problem = operand == &left && product.registers ? nullptr : operand->problem()) {
      device.failure = problem;
      return false;
    }
  static std::vector<double> x, y;
  const char *begin[2] = {}, *end[2] = {};
  if (product.registers)
    readRegisters(first, product.leftKind, x);
  else if (!read(left, x, begin[0], end[0]))
    return false;
  if (!read(right, y, begin[1], end[1]))
    return false;
  int64_t steps = left.steps();
  for (unsigned t = 0; t < 128; ++t) {
    Thread &thread = device.threads[first + t];
    const WarpgroupProduct &own = thread.product;
    if (own.left != product.left || own.right != product.right || own.columns != product.columns ||
        own.leftKind != product.leftKind || own.rightKind != product.rightKind || own.adds != product.adds ||
        !own.registers != !product.registers) {
      device.failure = "threads of a warpgroup meet in different products";
      return false;
    }
    if (!thread.fenced) {
      device.failure = "wgmma without wgmma.fence since its registers were last another's";
      return false;
    }
    // A warp has 16 rows; in pairs of neighbouring columns, of row l / 4 and of the one 8 below.
    for (int64_t i = 0; i < product.columns / 2; ++i) {
      int64_t row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + t % 4 * 2 + i % 2;
      double sum = 0;
      for (int64_t k = 0; k < steps; ++k)
        sum += x[row * steps + k] * y[column * steps + k];
      if (!product.adds)
        own.sums[i] = 0;
      if (integer) {
        own.sums[i] += static_cast<uint32_t>(static_cast<int64_t>(sum));
        continue;
      }
      float total;
      std::memcpy(&total, &own.sums[i], 4);
      total = static_cast<float>(total + sum);
      std::memcpy(&own.sums[i], &total, 4);
    }
    for (int i = product.registers ? 1 : 0; i < 2; ++i)
      thread.reads.push_back({begin[i], end[i], thread.productGroups});
  }
  return true;
}

void multiplyTogether(const WarpgroupProduct &product) {
  self().product = product;
  self().operation = "wgmma";
  waitAs(Waits::ForWarpgroup);
}
void multiplyByWarpgroup(uint32_t *sums, uint64_t left, uint64_t right, int columns, int leftKind, int rightKind,
                         int leftAcross, int rightAcross, int adds) {
  multiplyTogether({left, right, columns, leftKind, rightKind, leftAcross, rightAcross, adds != 0, sums});
}
void multiplyRegisters(uint32_t *sums, const uint32_t *registers, uint64_t right, int columns, int kind,
                       int rightAcross) {
  multiplyTogether({0, right, columns, kind, kind, 0, rightAcross, true, sums, registers});
}

void fence() { self().fenced = true; }
void commit() { ++self().productGroups; }
void wait(int groups) {
  Thread &thread = self();
  llvm::erase_if(thread.reads, [&](const ProductRead &read) { return read.group + groups < thread.productGroups; });
  thread.fenced = false;
}
} // namespace

bool isBeingRead(const char *begin, const char *end) {
  for (unsigned i = 0; i < device.count; i += 32)
    for (const ProductRead &read : device.threads[i].reads)
      if (read.begin < end && begin < read.end)
        return true;
  return false;
}

bool releaseWarpgroups() {
  bool any = false;
  for (unsigned first = 0; first + 128 <= device.count; first += 128) {
    bool all = true;
    for (unsigned i = first; i < first + 128; ++i)
      all &= device.threads[i].waits == Waits::ForWarpgroup;
    if (!all)
      continue;
    if (!multiply(first))
      return false;
    for (unsigned i = first; i < first + 128; ++i)
      device.threads[i].waits = Waits::No;
    any = true;
  }
  return any;
}

ArrayRef<DeviceFunction> warpgroupFunctions() {
  static const DeviceFunction functions[] = {
      {"emulator_wgmma_mma_async", reinterpret_cast<void *>(&multiplyByWarpgroup)},
      {"emulator_wgmma_mma_async_registers", reinterpret_cast<void *>(&multiplyRegisters)},
      {"emulator_wgmma_fence", reinterpret_cast<void *>(&fence)},
      {"emulator_wgmma_commit_group", reinterpret_cast<void *>(&commit)},
      {"emulator_wgmma_wait_group", reinterpret_cast<void *>(&wait)},
  };
  return functions;
}

} // namespace strata::emulator
