//===- Grid.cpp - blocks and threads --------------------------------------===//
#include "Block.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <sys/mman.h>

using namespace llvm;

namespace strata::emulator {

Device device;

namespace {

//===----------------------------------------------------------------------===//
// Fibers
//===----------------------------------------------------------------------===//

constexpr size_t stackBytes = 256 << 10;

#ifdef __x86_64__
extern "C" void strata_emulator_switch(void **from, void *to);
asm(R"(
.text
.type strata_emulator_switch, @function
strata_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

void makeContext(Context &context, char *stack, void (*entry)()) {
  auto *top = reinterpret_cast<void **>(stack + stackBytes - 64);
  *--top = nullptr; // the address that entry would return to
  *--top = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; ++i)
    *--top = nullptr;
  context = top;
}
void switchContext(Context &from, Context &to) { strata_emulator_switch(&from, to); }
#else
void makeContext(Context &context, char *stack, void (*entry)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = stackBytes;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}
void switchContext(Context &from, Context &to) { swapcontext(&from, &to); }
#endif

//===----------------------------------------------------------------------===//
// The device: one kernel runs at a time
//===----------------------------------------------------------------------===//

} // namespace

void waitAs(Waits kind) {
  Thread &thread = self();
  thread.waits = kind;
  switchContext(thread.context, device.scheduler);
}

/// Ends the kernel.
void fail(const Twine &message) {
  device.failure = message.str();
  waitAs(Waits::Ended);
}

char *sharedWindow() {
  static char *window = [] {
    constexpr size_t bytes = 256 << 10;
    void *memory = mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      std::abort();
    return reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(memory) + bytes - 1) / bytes * bytes);
  }();
  return window;
}

namespace {

void threadMain() {
  device.kernel->run(device.arguments);
  if (!self().copies.empty())
    fail("a thread ends without waiting for its copies");
  if (!self().reads.empty())
    fail("a thread ends without waiting for its products");
  waitAs(Waits::Ended);
}

/// Lets those go on whose rendezvous is complete, or for whom a copy may arrive; false if nobody can.
bool release(bool mayArrive) {
  unsigned atBarrier = 0;
  for (unsigned i = 0; i < device.count; ++i)
    atBarrier += device.threads[i].waits == Waits::ForBlock;
  bool any = false;
  if (atBarrier == device.count) {
    for (unsigned i = 0; i < device.count; ++i)
      device.threads[i].waits = Waits::No;
    return true;
  }
  for (unsigned warp = 0; warp < device.count; warp += 32) {
    unsigned end = std::min(warp + 32, device.count);
    bool all = true;
    for (unsigned i = warp; i < end; ++i)
      all &= device.threads[i].waits == Waits::ForWarp;
    if (!all)
      continue;
    for (unsigned i = warp; i < end; ++i) {
      const char *operation = device.threads[i].operation, *first = device.threads[warp].operation;
      if (operation != first) {
        device.failure =
            (Twine("threads of a warp wait for each other in different operations, ") + first + " and " + operation)
                .str();
        return false;
      }
      device.threads[i].waits = Waits::No;
    }
    any = true;
  }
  any |= releaseWarpgroups();
  return device.failure.empty() && (any || releaseAtBarriers(mayArrive));
}

/// A random order, in which some warps stay behind the others for a while.
void shuffle(std::vector<unsigned> &ready) {
  std::shuffle(ready.begin(), ready.end(), device.generator);
  uint32_t behind = device.generator();
  auto *last = std::stable_partition(ready.data(), ready.data() + ready.size(),
                                     [&](unsigned thread) { return !(behind >> thread / 32 % 31 & 1); });
  if (last != ready.data())
    ready.resize(last - ready.data());
}

/// Runs the block's threads as fibers; false: some wait for what never happens.
bool runFibers() {
  if (device.count > device.numStacks) {
    if (device.stacks)
      munmap(device.stacks, device.numStacks * stackBytes);
    void *memory = mmap(nullptr, device.count * stackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return false;
    device.stacks = static_cast<char *>(memory);
    device.numStacks = device.count;
  }
  startBulkCopies();
  std::vector<unsigned> ready(device.count);
  for (unsigned i = 0; i < device.count; ++i) {
    Thread &thread = device.threads[i];
    thread.waits = Waits::No;
    thread.meetings = thread.groups = thread.productGroups = 0;
    thread.fenced = false;
    thread.copies.clear();
    thread.reads.clear();
    makeContext(device.threads[i].context, device.stacks + i * stackBytes, threadMain);
  }
  for (;;) {
    if (device.random) {
      maybeArrive();
      release(/*mayArrive=*/false);
      if (!device.failure.empty())
        return false;
    }
    ready.clear();
    bool live = false;
    for (unsigned i = 0; i < device.count; ++i) {
      live |= device.threads[i].waits != Waits::Ended;
      if (device.threads[i].waits == Waits::No)
        ready.push_back(i);
    }
    if (!live) {
      if (const char *why = whyCopiesAreUnfinished())
        device.failure = why;
      return device.failure.empty();
    }
    if (ready.empty()) {
      if (!release(/*mayArrive=*/true))
        return false;
      continue;
    }
    if (device.random)
      shuffle(ready);
    for (unsigned i : ready) {
      device.current = i;
      switchContext(device.scheduler, device.threads[i].context);
      if (!device.failure.empty())
        return false;
    }
  }
}

Error runBlocks() {
  const Kernel &kernel = *device.kernel;
  unsigned *block = device.block;
  for (block[2] = 0; block[2] < device.grid.blocks[2]; ++block[2])
    for (block[1] = 0; block[1] < device.grid.blocks[1]; ++block[1])
      for (block[0] = 0; block[0] < device.grid.blocks[0]; ++block[0]) {
        for (const SharedMemory &memory : kernel.shared)
          std::memset(memory.data, 0xff, memory.bytes);
        if (device.grid.shared)
          std::memset(sharedWindow() + kernel.dynamicAlignment, 0xff, device.grid.shared);
        if (kernel.meets) {
          if (runFibers())
            continue;
          return createStringError("%s (block %u, %u, %u)",
                                   device.failure.empty() ? "threads wait at a barrier that others do not reach"
                                                          : device.failure.c_str(),
                                   block[0], block[1], block[2]);
        }
        for (unsigned i = 0; i < device.count; ++i) {
          device.current = i;
          kernel.run(device.arguments);
        }
      }
  return Error::success();
}

void onFault(int, siginfo_t *info, void *context) {
  device.faultAddress = info->si_addr;
  device.faultContext = static_cast<ucontext_t *>(context)->uc_mcontext;
  siglongjmp(device.fault, 1);
}

/// What the instruction that was not allowed had before it, and where it lies behind the kernel's entry.
std::string registersOfFault() {
  std::string text;
#ifdef __x86_64__
  static constexpr const char *names[] = {"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
                                          "rdi", "rsi", "rbp", "rbx", "rdx", "rax", "rcx"};
  const greg_t *values = device.faultContext.gregs;
  text = formatv("; {0} bytes behind run",
                 values[REG_RIP] - static_cast<greg_t>(reinterpret_cast<intptr_t>(device.kernel->run)));
  for (auto [i, name] : enumerate(names))
    text += formatv(" {0}={1:x}", name, values[i]).str();
#endif
  return text;
}

} // namespace

char Fault::ID;
void Fault::log(raw_ostream &os) const {
  os << formatv("illegal address {0:x} of thread {1} (block {2}, {3}, {4})", address, thread, block[0], block[1],
                block[2]);
}

Error run(const Kernel &kernel, const Grid &grid, void **arguments) {
  device.kernel = &kernel;
  device.grid = grid;
  device.arguments = arguments;
  device.count = grid.threads[0] * grid.threads[1] * grid.threads[2];
  if (device.count == 0 || device.count > 1024)
    return createStringError("a block has 1 to 1024 threads, not %u", device.count);
  device.threads.resize(std::max<size_t>(device.threads.size(), device.count));
  const char *order = std::getenv("STRATA_EMULATOR_ORDER");
  device.random = order && *order;
  device.generator.seed(device.random ? std::strtoul(order, nullptr, 10) + 1 : 1);
  for (unsigned i = 0; i < device.count; ++i) {
    Thread &thread = device.threads[i];
    thread.number = i;
    thread.id[0] = i % grid.threads[0];
    thread.id[1] = i / grid.threads[0] % grid.threads[1];
    thread.id[2] = i / grid.threads[0] / grid.threads[1];
  }

  static char alternate[64 << 10];
  stack_t stack = {}, oldStack;
  stack.ss_sp = alternate;
  stack.ss_size = sizeof(alternate);
  sigaltstack(&stack, &oldStack);
  struct sigaction action = {}, oldAction, oldBus;
  action.sa_sigaction = onFault;
  action.sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO;
  sigaction(SIGSEGV, &action, &oldAction);
  sigaction(SIGBUS, &action, &oldBus);
  device.failure.clear();
  Error error = Error::success();
  if (sigsetjmp(device.fault, 1) == 0)
    error = runBlocks();
  else
    error = make_error<Fault>(reinterpret_cast<uint64_t>(device.faultAddress), device.current, device.block,
                              registersOfFault());
  sigaction(SIGSEGV, &oldAction, nullptr);
  sigaction(SIGBUS, &oldBus, nullptr);
  sigaltstack(&oldStack, nullptr);
  return error;
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

namespace {
template <int d> int threadId() { return self().id[d]; }
template <int d> int blockSize() { return device.grid.threads[d]; }
template <int d> int blockId() { return device.block[d]; }
template <int d> int gridSize() { return device.grid.blocks[d]; }
int lane() { return self().number % 32; }

void barrier() { waitAs(Waits::ForBlock); }

/// All lanes give words in the same operation; then each can read those of lane i with the function's result.
auto meet(const char *operation, ArrayRef<uint32_t> words) {
  Thread &thread = self();
  unsigned parity = thread.meetings++ % 2, warp = thread.number / 32 * 32;
  llvm::copy(words, thread.given[parity]);
  thread.operation = operation;
  waitAs(Waits::ForWarp);
  return [parity, warp](unsigned lane) { return device.threads[warp + lane].given[parity]; };
}

/// Each lane takes the value of lane `from(lane)`.
template <typename From> uint32_t exchange(uint32_t value, From from) {
  unsigned lane = self().number % 32, warp = self().number - lane;
  auto given = meet("shfl", value);
  int other = from(static_cast<int>(lane));
  return *given(other < 0 || other > 31 || warp + other >= device.count ? lane : other);
}
uint32_t exchangeButterfly(int, uint32_t value, int b, int) {
  return exchange(value, [b](int lane) { return lane ^ b; });
}
uint32_t exchangeDown(int, uint32_t value, int b, int) {
  return exchange(value, [b](int lane) { return lane + b; });
}
uint32_t exchangeUp(int, uint32_t value, int b, int) {
  return exchange(value, [b](int lane) { return lane - b; });
}
uint32_t exchangeIndex(int, uint32_t value, int b, int) {
  return exchange(value, [b](int) { return b & 31; });
}

//===----------------------------------------------------------------------===//
// Copies that arrive later: when they are waited for, or, in random order, maybe at once. Until then there is garbage.
//===----------------------------------------------------------------------===//

} // namespace
bool isShared(const void *address, size_t bytes) {
  const char *first = static_cast<const char *>(address);
  if (const char *dynamic = sharedWindow() + device.kernel->dynamicAlignment;
      first >= dynamic && first + bytes <= dynamic + device.grid.shared)
    return true;
  return llvm::any_of(device.kernel->shared, [&](const SharedMemory &memory) {
    return first >= memory.data && first + bytes <= memory.data + memory.bytes;
  });
}
namespace {

void arrive(const Copy &copy) {
  std::memcpy(copy.to, copy.from, copy.bytes);
  std::memset(copy.to + copy.bytes, 0, copy.zeros);
}

template <int bytes> void copySome(void *to, const void *from, int size) {
  if (size < 0 || size > bytes || !isAligned(to, bytes) || !isAligned(from, bytes) || !isShared(to, bytes))
    fail("cp.async of " + Twine(size) + " of " + Twine(bytes) +
         " bytes to an address that is not shared or not aligned");
  Copy copy{static_cast<char *>(to), static_cast<const char *>(from), unsigned(size), unsigned(bytes - size),
            self().groups};
  std::memset(to, 0xff, bytes);
  if (device.random && device.generator() % 2)
    arrive(copy);
  else
    self().copies.push_back(copy);
}
template <int bytes> void copyAll(void *to, const void *from) { copySome<bytes>(to, from, bytes); }

void commitCopies() { ++self().groups; }

/// Until at most the last `groups` are under way.
void waitForCopies(int groups) {
  Thread &thread = self();
  llvm::erase_if(thread.copies, [&](const Copy &copy) {
    bool waited = copy.group + groups < thread.groups;
    if (waited)
      arrive(copy);
    return waited;
  });
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Lane 8 i + r points to row r of matrix i: 8 elements of 16 bits. Lane l gets elements l % 4 * 2 and the next one of
/// row l / 4, or of that column.
template <int count, bool transposed> void loadMatrices(uint32_t *result, const void *row) {
  unsigned lane = self().number % 32;
  uint32_t words[4] = {};
  if (lane < 8 * count) {
    if (!isAligned(row, 16) || !isShared(row, 16))
      fail("ldmatrix of an address that is not shared or not aligned");
    std::memcpy(words, row, 16);
  }
  auto given = meet(transposed ? "ldmatrix.trans" : "ldmatrix", words);
  for (unsigned i = 0; i < count; ++i) {
    auto element = [&](unsigned row, unsigned column) {
      return given(8 * i + row)[column / 2] >> (column % 2 * 16) & 0xffff;
    };
    unsigned first = lane % 4 * 2, fixed = lane / 4;
    result[i] = transposed ? element(first, fixed) | element(first + 1, fixed) << 16
                           : element(fixed, first) | element(fixed, first + 1) << 16;
  }
}

float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

struct Half {
  static double of(uint32_t bits) {
    static const std::vector<double> all = [] {
      std::vector<double> values(1 << 16);
      for (uint32_t i = 0; i < values.size(); ++i)
        values[i] = decode(i);
      return values;
    }();
    return all[bits];
  }
  static double decode(uint32_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                                  : std::ldexp(exponent ? fraction + 1024 : fraction, std::max(exponent, 1) - 25);
    return bits & 0x8000 ? -value : value;
  }
  static constexpr int bits = 16;
};
struct BFloat {
  static double of(uint32_t bits) { return floatOf(bits << 16); }
  static constexpr int bits = 16;
};
struct TensorFloat {
  static double of(uint32_t bits) { return floatOf(bits & ~0x1fffu); }
  static constexpr int bits = 32;
};
struct Signed {
  static int of(uint32_t bits) { return static_cast<int8_t>(bits); }
  static constexpr int bits = 8;
};
struct Unsigned {
  static int of(uint32_t bits) { return static_cast<uint8_t>(bits); }
  static constexpr int bits = 8;
};

/// 16 rows by 8 columns by 32 bytes of steps. In bytes, lane l holds of rows (or columns) l / 4 and l / 4 + 8 bytes
/// l % 4 * 4 on and 16 further; of the sums, of these rows, columns l % 4 * 2 and the next one.
template <typename Left, typename Right>
void multiplyMatrices(uint32_t *result, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,
                      uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3) {
  unsigned lane = self().number % 32;
  auto given = meet("mma", {a0, a1, a2, a3, b0, b1});
  // The terms of this lane's two rows and two columns.
  using Number = decltype(Left::of(0) * Right::of(0));
  constexpr unsigned terms = 8 * 32 / Left::bits;
  Number rows[2][terms], columns[2][terms];
  for (unsigned i = 0; i < 2; ++i) {
    for (unsigned term = 0; term < terms; ++term) {
      unsigned bit = term * Left::bits % 32, word = term * Left::bits / 32;
      uint32_t x = given(lane / 4 * 4 + word % 4)[i + word / 4 * 2];
      uint32_t y = given((lane % 4 * 2 + i) * 4 + word % 4)[4 + word / 4];
      constexpr uint32_t mask = ~0u >> (32 - Left::bits);
      rows[i][term] = Left::of(x >> bit & mask);
      columns[i][term] = Right::of(y >> bit & mask);
    }
  }
  std::conditional_t<std::is_same_v<Number, int>, int64_t, double> sums[4] = {};
  for (unsigned term = 0; term < terms; ++term)
    for (unsigned i = 0; i < 4; ++i)
      sums[i] += rows[i / 2][term] * columns[i % 2][term];
  uint32_t before[4] = {c0, c1, c2, c3};
  for (unsigned i = 0; i < 4; ++i) {
    if constexpr (std::is_same_v<Number, int>)
      result[i] = before[i] + static_cast<uint32_t>(sums[i]);
    else
      result[i] = bitsOf(static_cast<float>(floatOf(before[i]) + sums[i]));
  }
}

} // namespace

double halfOf(uint32_t bits) { return Half::of(bits); }

/// To 11 bits, halves away from zero.
static uint32_t roundToTensorFloat(uint32_t bits) {
  bool finite = (bits & 0x7f800000) != 0x7f800000;
  return finite ? (bits + 0x1000) & ~0x1fffu : bits;
}

/// Subnormal numbers are zeros.
static uint32_t powerOfTwo(uint32_t bits) {
  float power = std::exp2(floatOf(bits));
  return std::isnormal(power) || std::isnan(power) || std::isinf(power) ? bitsOf(power) : 0;
}

static ArrayRef<DeviceFunction> gridFunctions() {
#define AXES(name, function)                                                                                           \
  {"emulator_read_ptx_sreg_" name "_x", reinterpret_cast<void *>(&function<0>)},                                       \
      {"emulator_read_ptx_sreg_" name "_y", reinterpret_cast<void *>(&function<1>)}, {                                 \
    "emulator_read_ptx_sreg_" name "_z", reinterpret_cast<void *>(&function<2>)                                        \
  }
#define COPY(cache, bytes)                                                                                             \
  {"emulator_cp_async_" cache "_shared_global_" #bytes, reinterpret_cast<void *>(&copyAll<bytes>)}, {                  \
    "emulator_cp_async_" cache "_shared_global_" #bytes "_s", reinterpret_cast<void *>(&copySome<bytes>)               \
  }
#define MATRICES(name, count)                                                                                          \
  {"emulator_ldmatrix_sync_aligned_m8n8_" name "_b16", reinterpret_cast<void *>(&loadMatrices<count, false>)}, {       \
    "emulator_ldmatrix_sync_aligned_m8n8_" name "_trans_b16", reinterpret_cast<void *>(&loadMatrices<count, true>)     \
  }
#define PRODUCT(shape, types, left, right)                                                                             \
  {"emulator_mma_" shape "_row_col_" types, reinterpret_cast<void *>(&multiplyMatrices<left, right>)}
  static const DeviceFunction functions[] = {
      AXES("tid", threadId),
      AXES("ntid", blockSize),
      AXES("ctaid", blockId),
      AXES("nctaid", gridSize),
      {"emulator_read_ptx_sreg_laneid", reinterpret_cast<void *>(&lane)},
      {"emulator_barrier0", reinterpret_cast<void *>(&barrier)},
      {"emulator_shfl_sync_bfly", reinterpret_cast<void *>(&exchangeButterfly)},
      {"emulator_shfl_sync_down", reinterpret_cast<void *>(&exchangeDown)},
      {"emulator_shfl_sync_up", reinterpret_cast<void *>(&exchangeUp)},
      {"emulator_shfl_sync_idx", reinterpret_cast<void *>(&exchangeIndex)},
      COPY("ca", 4),
      COPY("ca", 8),
      COPY("ca", 16),
      COPY("cg", 16),
      {"emulator_cp_async_commit_group", reinterpret_cast<void *>(&commitCopies)},
      {"emulator_cp_async_wait_group", reinterpret_cast<void *>(&waitForCopies)},
      MATRICES("x1", 1),
      MATRICES("x2", 2),
      MATRICES("x4", 4),
      PRODUCT("m16n8k16", "f32_f32", Half, Half),
      PRODUCT("m16n8k16", "bf16", BFloat, BFloat),
      PRODUCT("m16n8k8", "tf32", TensorFloat, TensorFloat),
      PRODUCT("m16n8k32", "s8", Signed, Signed),
      PRODUCT("m16n8k32", "u8", Unsigned, Unsigned),
      PRODUCT("m16n8k32", "s8_u8", Signed, Unsigned),
      PRODUCT("m16n8k32", "u8_s8", Unsigned, Signed),
      {"emulator_ex2_approx_ftz_f", reinterpret_cast<void *>(&powerOfTwo)},
      {"emulator_f2tf32_rna", reinterpret_cast<void *>(&roundToTensorFloat)},
  };
#undef AXES
#undef COPY
#undef MATRICES
#undef PRODUCT
  return functions;
}

ArrayRef<DeviceFunction> deviceFunctions() {
  static const std::vector<DeviceFunction> all = [] {
    std::vector<DeviceFunction> functions;
    for (ArrayRef<DeviceFunction> some : {gridFunctions(), bulkFunctions(), warpgroupFunctions()})
      functions.insert(functions.end(), some.begin(), some.end());
    return functions;
  }();
  return all;
}

} // namespace strata::emulator
