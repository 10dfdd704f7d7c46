//===- Constants.h - the table of constants ---------------------*- C++ -*-===//
//
// The module attribute strata.constants says what each slot of NAME_constants
// points to: the bytes of a weight where they already are (a mapped file), or
// a buffer that NAME_init fills.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_LIB_EXECUTION_CONSTANTS_H
#define STRATA_LIB_EXECUTION_CONSTANTS_H

#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>
#include <vector>

namespace strata {

struct Constant {
  std::string name;
  uint64_t bytes = 0, alignment = 64;
  bool computed = false;
  /// False for what only NAME_init reads.
  bool neededAtRunTime = true;
  /// The bytes of a constant that is not computed.
  const char *data = nullptr;
  /// Holds the bytes where the attribute does not have them as memory.
  std::shared_ptr<char> storage;
  /// The bytes need not stay: they are a file's or a copy of our own.
  bool droppable = false;
};

/// Reads strata.constants; weights stay where they are.
mlir::FailureOr<std::vector<Constant>> readConstants(mlir::ModuleOp module);

/// Zeroed memory at a multiple of 64 bytes, with huge pages where it is large.
std::shared_ptr<char> allocateConstant(uint64_t bytes, uint64_t alignment);

/// Allocates the computed constants and returns the table; the slots point
/// into `constants`. Fails if there is not enough memory.
mlir::FailureOr<std::vector<void *>> makeTable(mlir::ModuleOp module, std::vector<Constant> &constants);

/// While it lives, memory of constants goes back to the system as soon as NAME_init, on this thread, has read them.
class DropConstants {
public:
  explicit DropConstants(std::vector<Constant> &constants);
  ~DropConstants();
  DropConstants(const DropConstants &) = delete;
};

} // namespace strata

#endif // STRATA_LIB_EXECUTION_CONSTANTS_H
