//===- Memory.h - memory of constants and tensors ---------------*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_MEMORY_H
#define STRATA_LIB_EXECUTION_MEMORY_H

#include <cstdint>
#include <memory>

namespace strata {

/// Zeroed memory at a multiple of 64 bytes, with huge pages where it is large.
std::shared_ptr<char> allocateConstant(uint64_t bytes, uint64_t alignment);

/// Bytes of a file as memory: what is written there is in the file.
class FileMemory {
public:
  /// Null where the file system cannot. The file must have room for the bytes.
  static std::unique_ptr<FileMemory> map(int file, uint64_t offset, uint64_t bytes);
  ~FileMemory();
  FileMemory(const FileMemory &) = delete;

  char *data() const { return begin + skipped; }
  /// Lets the pages go; those that are used again come back from the file.
  void release() const;

private:
  FileMemory(char *begin, uint64_t skipped, uint64_t bytes) : begin(begin), skipped(skipped), bytes(bytes) {}

  char *const begin;
  const uint64_t skipped, bytes; ///< from `begin` on, which is where a page begins
};

} // namespace strata

#endif // STRATA_LIB_EXECUTION_MEMORY_H
