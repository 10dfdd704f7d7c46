//===- Emulator.h - a GPU in software, for tests --------------------------===//
//
// A library with the functions of CUDA's driver that the runtime calls. Its
// device runs LLVM IR for NVPTX (--gpu-format=bitcode) on the CPU: the very code
// that PTX would be made of, with the special registers, barriers and exchanges
// between threads as functions of the emulator. Blocks run one after the other,
// threads of a block as fibers if they meet anywhere, else one after the other.
//
// What it checks beyond results: device memory is out of reach of the host, and
// of kernels where nothing is allocated; shared memory starts with garbage;
// barriers that not all threads reach are errors, as are lanes of a warp that
// meet in different operations. An asynchronous copy leaves garbage until it is
// waited for; a copy of a box of a tensor must not write what a product of a
// warpgroup may still read, nor may that read what has not arrived. STRATA_EMULATOR_ORDER=N runs ready threads in a
// random order (seed N), which shows missing barriers; copies then arrive at once or late.
//
// What it cannot see: speed, and races between threads that run at the same
// time.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_EMULATOR_EMULATOR_H
#define STRATA_EMULATOR_EMULATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace strata::emulator {

/// A range of memory that belongs to a block.
struct SharedMemory {
  char *data;
  size_t bytes;
};

struct Kernel {
  void (*run)(void **arguments);    ///< one thread
  bool meets;                       ///< its threads wait for each other
  std::vector<SharedMemory> shared; ///< of all kernels of the module
  size_t ownShared = 0;             ///< bytes of it that this one uses
  std::vector<size_t> parameters;   ///< bytes of each
  size_t dynamicAlignment = 16;     ///< of the shared memory whose size the launch says
  size_t mostShared = 0;            ///< that launches may ask for beyond 48 KiB
};

/// Compiled kernels. Errors are texts for whoever reads a test's log.
class KernelModule {
public:
  static llvm::Expected<std::unique_ptr<KernelModule>> load(llvm::StringRef bitcode);
  ~KernelModule();
  const Kernel *find(const std::string &name) const;

private:
  struct State;
  KernelModule();
  std::unique_ptr<State> state;
};

struct Grid {
  unsigned blocks[3], threads[3], shared = 0; ///< bytes of shared memory beside the kernel's own
};

/// A thread read or wrote where it may not.
struct Fault : llvm::ErrorInfo<Fault> {
  static char ID;
  uint64_t address;
  unsigned thread, block[3];
  std::string registers; ///< of this machine, where it happened

  Fault(uint64_t address, unsigned thread, const unsigned *block, std::string registers)
      : address(address), thread(thread), block{block[0], block[1], block[2]}, registers(std::move(registers)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

/// Runs the kernel; an error is an Fault or says which threads wait in vain.
llvm::Error run(const Kernel &kernel, const Grid &grid, void **arguments);

/// A function that kernels call, by its name in their IR.
struct DeviceFunction {
  const char *name;
  void *address;
};
llvm::ArrayRef<DeviceFunction> deviceFunctions();

/// PTX in the kernels' IR becomes calls of the functions; an error where there is none for an instruction.
llvm::Error replaceInlineAssembly(llvm::Module &module);

} // namespace strata::emulator

#endif // STRATA_EMULATOR_EMULATOR_H
