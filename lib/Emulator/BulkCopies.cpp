//===- BulkCopies.cpp - mbarriers, and copies of boxes of tensors ---------===//
//
// A copy's place in shared memory is garbage until it arrives: when somebody waits
// for it and nobody else can go on, or, in random order, at any time. It must not
// be what an unfinished product reads.
//
//===----------------------------------------------------------------------===//
#include "Block.h"

#include "TensorMap.h"

#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <deque>
#include <map>

using namespace llvm;

namespace strata::emulator {

/// To 11 bits, halves to even: an H100's tensor copies do so.
static uint32_t roundToEven(uint32_t bits) {
  bool finite = (bits & 0x7f800000) != 0x7f800000;
  return finite ? (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu : bits;
}

namespace {

struct Barrier {
  int expected, pending; ///< arrivals
  int64_t bytes = 0;     ///< expected and not there
  unsigned phase = 0;
  unsigned maker;      ///< the thread that made it
  bool fenced = false; ///< others may see it
};
std::map<const char *, Barrier> barriers;

struct BoxCopy {
  char *to;
  const TensorMap *map;
  int64_t at[5];
  const char *barrier;
};
std::deque<BoxCopy> copies;

Barrier &barrierAt(const char *address, bool byCopy = false) {
  auto found = barriers.find(address);
  if (found == barriers.end()) {
    fail("an mbarrier is used that nobody has made");
    std::abort();
  }
  Barrier &barrier = found->second;
  if (!barrier.fenced && (byCopy || barrier.maker != self().number))
    fail("an mbarrier is used by others before fence.mbarrier_init");
  return barrier;
}

void endPhase(Barrier &barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0)
    return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
}

void makeBarrier(char *address, int count) {
  if (!isAligned(address, 8) || !isShared(address, 8))
    fail("an mbarrier is made at an address that is not shared or not aligned");
  Barrier barrier;
  barrier.expected = barrier.pending = count;
  barrier.maker = self().number;
  barriers[address] = barrier;
}
void fenceBarriers() {
  for (auto &[address, barrier] : barriers)
    if (barrier.maker == self().number)
      barrier.fenced = true;
}

void arriveAt(Barrier &barrier) {
  if (--barrier.pending < 0)
    fail("more threads arrive at an mbarrier than it expects");
  endPhase(barrier);
}
int64_t arriveAtBarrier(const char *address) {
  arriveAt(barrierAt(address));
  return 0;
}
void arriveAndExpect(const char *address, int bytes) {
  Barrier &barrier = barrierAt(address);
  barrier.bytes += bytes;
  arriveAt(barrier);
}

bool hasEnded(const char *address, unsigned parity) { return (barriers.at(address).phase & 1) != parity; }

void waitAtBarrier(const char *address, int parity, int) {
  barrierAt(address);
  self().barrier = address;
  self().parity = parity & 1;
  while (!hasEnded(address, parity & 1))
    waitAs(Waits::ForBarrier);
}

size_t boxBytes(const TensorMap &map) {
  size_t bytes = map.elementBytes;
  for (unsigned d = 0; d < map.rank; ++d)
    bytes *= map.copied(d);
  return bytes;
}

/// Where a byte of a box lies: of each eight lines of the swizzle's width, chunks of 16 bytes change places.
char *swizzled(char *address, unsigned swizzle) {
  auto bits = reinterpret_cast<uintptr_t>(address);
  static const uintptr_t masks[] = {0, 0x10, 0x30, 0x70};
  return reinterpret_cast<char *>(bits ^ (bits >> 3 & masks[swizzle]));
}

void arrive(const BoxCopy &copy) {
  const TensorMap &map = *copy.map;
  size_t elements = boxBytes(map) / map.elementBytes;
  for (size_t i = 0; i < elements; ++i) {
    size_t rest = i;
    const char *from = map.address;
    bool inside = true;
    for (unsigned d = 0; d < map.rank; ++d) {
      int64_t at = copy.at[d] + int64_t(rest % map.copied(d)) * map.steps[d];
      rest /= map.copied(d);
      inside &= at >= 0 && at < int64_t(map.sizes[d]);
      from += at * int64_t(d == 0 ? map.elementBytes : map.strides[d - 1]);
    }
    char *to = swizzled(copy.to + i * map.elementBytes, map.swizzle);
    if (!inside) {
      std::memset(to, 0, map.elementBytes);
      continue;
    }
    std::memcpy(to, from, map.elementBytes);
    if (map.type == TensorMap::TensorFloat) {
      uint32_t bits;
      std::memcpy(&bits, to, 4);
      bits = roundToEven(bits);
      std::memcpy(to, &bits, 4);
    }
  }
  Barrier &barrier = barriers.at(copy.barrier);
  barrier.bytes -= boxBytes(map);
  endPhase(barrier);
}

void copyBox(char *to, const TensorMap *map, ArrayRef<int> at, const char *barrier) {
  if (map->magic != TensorMap::expectedMagic || map->rank != at.size())
    return fail("cp.async.bulk.tensor with what is no tensor map of its rank");
  size_t bytes = boxBytes(*map);
  if (!isShared(to, bytes) || !isAligned(to, 128))
    return fail("cp.async.bulk.tensor to an address that is not shared or not aligned to 128 bytes");
  // The pattern of the swizzle is one of addresses: a box that is to be read as one begins where it does.
  static const size_t patterns[] = {128, 256, 512, 1024};
  if (!isAligned(to, patterns[map->swizzle]))
    return fail("cp.async.bulk.tensor to an address at which the swizzle's pattern does not begin");
  if (isBeingRead(to, to + bytes))
    return fail("cp.async.bulk.tensor to what a wgmma may still read");
  if (isAwaited(to, to + bytes))
    return fail("cp.async.bulk.tensor to where another copy is under way");
  barrierAt(barrier, /*byCopy=*/true);
  std::memset(to, 0xff, bytes);
  BoxCopy copy{to, map, {}, barrier};
  llvm::copy(at, copy.at);
  copies.push_back(copy);
}
void copyBox1(char *to, const TensorMap *map, int a, const char *barrier) { copyBox(to, map, {a}, barrier); }
void copyBox2(char *to, const TensorMap *map, int a, int b, const char *barrier) { copyBox(to, map, {a, b}, barrier); }
void copyBox3(char *to, const TensorMap *map, int a, int b, int c, const char *barrier) {
  copyBox(to, map, {a, b, c}, barrier);
}
void copyBox4(char *to, const TensorMap *map, int a, int b, int c, int d, const char *barrier) {
  copyBox(to, map, {a, b, c, d}, barrier);
}
void copyBox5(char *to, const TensorMap *map, int a, int b, int c, int d, int e, const char *barrier) {
  copyBox(to, map, {a, b, c, d, e}, barrier);
}

void arriveOne(size_t number) {
  BoxCopy copy = copies[number];
  copies.erase(copies.begin() + number);
  arrive(copy);
}

void nothing() {}
void prefetch(const TensorMap *map) {
  if (map->magic != TensorMap::expectedMagic)
    fail("prefetch.tensormap of what is no tensor map");
}
void changeRegisters(int count) {
  if (count < 24 || count > 256 || count % 8)
    fail("setmaxnreg of " + Twine(count));
}
} // namespace

void startBulkCopies() {
  barriers.clear();
  copies.clear();
}

bool isAwaited(const char *begin, const char *end) {
  return any_of(copies, [&](const BoxCopy &copy) { return copy.to < end && begin < copy.to + boxBytes(*copy.map); });
}

const char *whyCopiesAreUnfinished() {
  return copies.empty() ? nullptr : "a block ends before its copies have arrived";
}

void maybeArrive() {
  while (!copies.empty() && device.generator() % 4 == 0)
    arriveOne(device.generator() % copies.size());
}

bool releaseAtBarriers(bool mayArrive) {
  auto release = [] {
    bool any = false;
    for (unsigned i = 0; i < device.count; ++i) {
      Thread &thread = device.threads[i];
      if (thread.waits != Waits::ForBarrier || !hasEnded(thread.barrier, thread.parity))
        continue;
      thread.waits = Waits::No;
      any = true;
    }
    return any;
  };
  while (!release()) {
    if (!mayArrive || copies.empty())
      return false;
    arriveOne(device.random ? device.generator() % copies.size() : 0);
  }
  return true;
}

ArrayRef<DeviceFunction> bulkFunctions() {
  static const DeviceFunction functions[] = {
      {"emulator_mbarrier_init_shared", reinterpret_cast<void *>(&makeBarrier)},
      {"emulator_mbarrier_arrive_shared", reinterpret_cast<void *>(&arriveAtBarrier)},
      {"emulator_mbarrier_arrive_expect_tx", reinterpret_cast<void *>(&arriveAndExpect)},
      {"emulator_mbarrier_try_wait_parity", reinterpret_cast<void *>(&waitAtBarrier)},
      {"emulator_fence_mbarrier_init", reinterpret_cast<void *>(&fenceBarriers)},
      {"emulator_fence_proxy_async", reinterpret_cast<void *>(&nothing)},
      {"emulator_prefetch_tensormap", reinterpret_cast<void *>(&prefetch)},
      {"emulator_setmaxnreg_inc_sync_aligned_u32", reinterpret_cast<void *>(&changeRegisters)},
      {"emulator_setmaxnreg_dec_sync_aligned_u32", reinterpret_cast<void *>(&changeRegisters)},
      {"emulator_cp_async_bulk_tensor_1d", reinterpret_cast<void *>(&copyBox1)},
      {"emulator_cp_async_bulk_tensor_2d", reinterpret_cast<void *>(&copyBox2)},
      {"emulator_cp_async_bulk_tensor_3d", reinterpret_cast<void *>(&copyBox3)},
      {"emulator_cp_async_bulk_tensor_4d", reinterpret_cast<void *>(&copyBox4)},
      {"emulator_cp_async_bulk_tensor_5d", reinterpret_cast<void *>(&copyBox5)},
  };
  return functions;
}

} // namespace strata::emulator
