//===- Block.h - the block that runs --------------------------------------===//
//
// What the files share that execute instructions: the threads of the block, and
// how one of them waits.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_EMULATOR_BLOCK_H
#define STRATA_EMULATOR_BLOCK_H

#include "Emulator.h"

#include "llvm/ADT/Twine.h"
#include <csetjmp>
#include <random>
#include <ucontext.h>

namespace strata::emulator {

#ifdef __x86_64__
using Context = void *; // the stack pointer; what calls preserve lies on the stack
#else
using Context = ucontext_t;
#endif

enum class Waits { No, ForBlock, ForWarp, ForWarpgroup, ForBarrier, Ended };

/// A copy to shared memory that is under way.
struct Copy {
  char *to;
  const char *from;
  unsigned bytes, zeros; ///< zeros follow the bytes
  unsigned group;
};

/// What a warpgroup multiplies together: 64 rows by `columns`, 32 bytes of steps of each.
struct WarpgroupProduct {
  uint64_t left, right; ///< descriptors of shared memory
  int columns, leftKind, rightKind, leftAcross, rightAcross;
  bool adds;
  uint32_t *sums;                      ///< the thread's
  const uint32_t *registers = nullptr; ///< the thread's four of the left side, in place of its descriptor
};

/// Shared memory that a product reads until its group is waited for.
struct ProductRead {
  const char *begin, *end;
  unsigned group;
};

struct Thread {
  Context context;
  Waits waits = Waits::No;
  unsigned number = 0, id[3] = {};
  const char *operation = nullptr; ///< in which it meets its warp
  /// To the other lanes: of this meeting and the last one, which some may not have read yet.
  uint32_t given[2][6] = {};
  unsigned meetings = 0, groups = 0;
  std::vector<Copy> copies;
  /// Of warpgroups.
  WarpgroupProduct product = {};
  std::vector<ProductRead> reads;
  unsigned productGroups = 0;
  bool fenced = false; ///< since registers were last another's
  /// An mbarrier, and the parity of the phase whose end is waited for.
  const char *barrier = nullptr;
  unsigned parity = 0;
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
  std::string failure;
  sigjmp_buf fault;
  void *faultAddress;
  mcontext_t faultContext;
};
extern Device device;

inline Thread &self() { return device.threads[device.current]; }
void waitAs(Waits kind);
/// Ends the kernel.
void fail(const llvm::Twine &message);
bool isShared(const void *address, size_t bytes);
inline bool isAligned(const void *address, size_t bytes) { return reinterpret_cast<uintptr_t>(address) % bytes == 0; }

/// A number of 16 bits.
double halfOf(uint32_t bits);

/// The window of 256 KiB in which descriptors say where operands lie. Shared memory whose size a launch says begins in
/// it at its alignment, a multiple of nothing larger.
char *sharedWindow();

//===--- BulkCopies.cpp: mbarriers, and copies of boxes of tensors ---------===//
void startBulkCopies();
/// Lets those go on whose phase has ended; where there are none, copies may arrive until there are. False: nobody.
bool releaseAtBarriers(bool mayArrive);
/// In random order, at any time.
void maybeArrive();
/// Why the block may not end, or nothing.
const char *whyCopiesAreUnfinished();
/// Whether a copy under way will write into [begin, end).
bool isAwaited(const char *begin, const char *end);

//===--- Warpgroups.cpp ---------------------------------------------------===//
/// Lets warpgroups go on whose threads all have come; false: none.
bool releaseWarpgroups();
/// Whether a product that nobody has waited for reads of [begin, end).
bool isBeingRead(const char *begin, const char *end);

llvm::ArrayRef<DeviceFunction> bulkFunctions();
llvm::ArrayRef<DeviceFunction> warpgroupFunctions();

} // namespace strata::emulator

#endif // STRATA_EMULATOR_BLOCK_H
