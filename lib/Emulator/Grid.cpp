//===- Grid.cpp - blocks and threads --------------------------------------===//
#include "Emulator.h"

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <random>
#include <sys/mman.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif

using namespace llvm;

namespace strata::emulator {
namespace {

//===----------------------------------------------------------------------===//
// Fibers
//===----------------------------------------------------------------------===//

constexpr size_t stackBytes = 256 << 10;

#ifdef __x86_64__
using Context = void *; // the stack pointer; what calls preserve lies on the stack

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
using Context = ucontext_t;

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

enum class Waits { No, ForBlock, ForWarp, Ended };

struct Thread {
  Context context;
  Waits waits = Waits::No;
  unsigned number = 0, id[3] = {};
  uint32_t given[4] = {}; ///< to the other lanes of the warp
};

struct Device {
  const Kernel *kernel = nullptr;
  void **arguments = nullptr;
  Grid grid = {};
  unsigned block[3] = {};
  std::vector<Thread> threads;
  unsigned count = 0, current = 0;
  Context scheduler;
  char *stacks = nullptr;
  size_t numStacks = 0;
  bool random = false;
  std::minstd_rand generator;
  sigjmp_buf fault;
} device;

Thread &self() { return device.threads[device.current]; }

void waitAs(Waits kind) {
  Thread &thread = self();
  thread.waits = kind;
  switchContext(thread.context, device.scheduler);
}

void threadMain() {
  device.kernel->run(device.arguments);
  waitAs(Waits::Ended);
}

/// Lets those go on whose rendezvous is complete; false if nobody can.
bool release() {
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
    for (unsigned i = warp; i < end; ++i)
      device.threads[i].waits = Waits::No;
    any = true;
  }
  return any;
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
  std::vector<unsigned> ready(device.count);
  for (unsigned i = 0; i < device.count; ++i) {
    device.threads[i].waits = Waits::No;
    makeContext(device.threads[i].context, device.stacks + i * stackBytes, threadMain);
  }
  for (;;) {
    ready.clear();
    bool live = false;
    for (unsigned i = 0; i < device.count; ++i) {
      live |= device.threads[i].waits != Waits::Ended;
      if (device.threads[i].waits == Waits::No)
        ready.push_back(i);
    }
    if (!live)
      return true;
    if (ready.empty()) {
      if (!release())
        return false;
      continue;
    }
    if (device.random)
      std::shuffle(ready.begin(), ready.end(), device.generator);
    for (unsigned i : ready) {
      device.current = i;
      switchContext(device.scheduler, device.threads[i].context);
    }
  }
}

void onFault(int) { siglongjmp(device.fault, 1); }

} // namespace

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
  action.sa_handler = onFault;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, &oldAction);
  sigaction(SIGBUS, &action, &oldBus);
  const char *failure = nullptr;
  if (sigsetjmp(device.fault, 1) == 0) {
    unsigned *block = device.block;
    for (block[2] = 0; block[2] < grid.blocks[2] && !failure; ++block[2])
      for (block[1] = 0; block[1] < grid.blocks[1] && !failure; ++block[1])
        for (block[0] = 0; block[0] < grid.blocks[0] && !failure; ++block[0]) {
          for (const SharedMemory &memory : kernel.shared)
            std::memset(memory.data, 0xff, memory.bytes);
          if (kernel.meets) {
            if (!runFibers())
              failure = "threads wait at a barrier that others do not reach";
            continue;
          }
          for (unsigned i = 0; i < device.count; ++i) {
            device.current = i;
            kernel.run(arguments);
          }
        }
  } else {
    failure = "illegal address";
  }
  sigaction(SIGSEGV, &oldAction, nullptr);
  sigaction(SIGBUS, &oldBus, nullptr);
  sigaltstack(&oldStack, nullptr);
  if (failure)
    return createStringError("%s (block %u, %u, %u)", failure, device.block[0], device.block[1], device.block[2]);
  return Error::success();
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

/// All lanes give a value, then each takes the one of lane `from(lane)`.
template <typename From> uint32_t exchange(uint32_t value, From from) {
  Thread &thread = self();
  thread.given[0] = value;
  waitAs(Waits::ForWarp);
  unsigned warp = thread.number / 32 * 32;
  int other = from(static_cast<int>(thread.number % 32));
  unsigned source = warp + (other < 0 || other > 31 || warp + other >= device.count ? thread.number % 32 : other);
  uint32_t result = device.threads[source].given[0];
  // Nobody may give the next value before everybody has taken this one.
  waitAs(Waits::ForWarp);
  return result;
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
} // namespace

ArrayRef<DeviceFunction> deviceFunctions() {
#define AXES(name, function)                                                                                           \
  {"emulator_read_ptx_sreg_" name "_x", reinterpret_cast<void *>(&function<0>)},                                       \
      {"emulator_read_ptx_sreg_" name "_y", reinterpret_cast<void *>(&function<1>)}, {                                 \
    "emulator_read_ptx_sreg_" name "_z", reinterpret_cast<void *>(&function<2>)                                        \
  }
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
  };
#undef AXES
  return functions;
}

} // namespace strata::emulator
