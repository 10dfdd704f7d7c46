//===- Constants.h - the table of constants ---------------------*- C++ -*-===//
//
// The module attribute strata.constants says what each slot of NAME_constants
// points to: the bytes of a weight where they already are (a mapped file), or
// a buffer that NAME_init fills.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_LIB_EXECUTION_CONSTANTS_H
#define STRATA_LIB_EXECUTION_CONSTANTS_H

#include "Memory.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
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
  /// The bytes of a constant that is not computed; of one that is, where they shall be.
  const char *data = nullptr;
  /// Holds the bytes where the attribute does not have them as memory.
  std::shared_ptr<char> storage;
  /// The bytes need not stay: they are a file's or a copy of our own.
  bool droppable = false;
  /// Of a weight: its attribute, which is the same in all modules of a context.
  const void *attribute = nullptr;
  /// Of a computed constant of a model with versions: equal keys, equal values (Codegen/ShareConstants.h).
  std::string key;
  /// Another version's NAME_init computes it.
  bool shared = false;
};

/// Reads strata.constants; weights stay where they are.
mlir::FailureOr<std::vector<Constant>> readConstants(mlir::ModuleOp module);

/// Constants in memory that the versions of a model share, for as long as one of them lives.
class ConstantPool {
public:
  bool has(llvm::StringRef key) const;
  /// Lets the constants use what the pool has, and puts the others into it. To be called once they have memory.
  void share(std::vector<Constant> &constants);

private:
  llvm::StringMap<std::weak_ptr<char>> computed;
  llvm::DenseMap<const void *, std::weak_ptr<char>> copies; ///< of weights that do not lie well where they are
};

/// Allocates the computed constants that have no memory yet and returns the table; the slots point
/// into `constants`. Fails if there is not enough memory.
mlir::FailureOr<std::vector<void *>> makeTable(mlir::ModuleOp module, std::vector<Constant> &constants,
                                               ConstantPool *pool = nullptr);

/// While it lives, memory of constants goes back to the system as soon as NAME_init, on this thread, has read them, and
/// with them what it has computed so far where that lies in a file.
class DropConstants {
public:
  /// Without constants: only what lies in the file.
  explicit DropConstants(const std::vector<Constant> *constants, const FileMemory *file = nullptr);
  ~DropConstants();
  DropConstants(const DropConstants &) = delete;

private:
  static void drop(void *self, int64_t slot, int64_t first, int64_t last);

  const std::vector<Constant> *const constants;
  const FileMemory *const file;
};

} // namespace strata

#endif // STRATA_LIB_EXECUTION_CONSTANTS_H
