//===- Memory.cpp - memory of constants and tensors -----------------------===//

#include "Memory.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace strata {

static uint64_t alignTo(uint64_t size, uint64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

std::shared_ptr<char> allocateConstant(uint64_t bytes, uint64_t alignment) {
  constexpr uint64_t kHugePage = 2 << 20;
  if (bytes > (uint64_t(1) << 47))
    return nullptr;
  if (alignment <= 4096 && bytes >= 4096) {
    uint64_t mapped = alignTo(bytes, 4096);
    void *memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return nullptr;
    if (bytes >= kHugePage)
      madvise(memory, mapped, MADV_HUGEPAGE);
    return std::shared_ptr<char>(static_cast<char *>(memory), [mapped](char *p) { munmap(p, mapped); });
  }
  alignment = std::max<uint64_t>(alignment, 64);
  uint64_t size = alignTo(std::max<uint64_t>(bytes, 1), alignment);
  void *memory = std::aligned_alloc(alignment, size);
  if (!memory)
    return nullptr;
  std::memset(memory, 0, size);
  return std::shared_ptr<char>(static_cast<char *>(memory), [](char *p) { std::free(p); });
}

std::unique_ptr<FileMemory> FileMemory::map(int file, uint64_t offset, uint64_t bytes) {
  uint64_t skipped = offset % sysconf(_SC_PAGESIZE);
  void *begin = mmap(nullptr, skipped + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset - skipped);
  if (begin == MAP_FAILED)
    return nullptr;
  return std::unique_ptr<FileMemory>(new FileMemory(static_cast<char *>(begin), skipped, skipped + bytes));
}

FileMemory::~FileMemory() { munmap(begin, bytes); }

void FileMemory::release() const { madvise(begin, bytes, MADV_DONTNEED); }

} // namespace strata
