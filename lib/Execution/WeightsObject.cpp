//===- WeightsObject.cpp - constants as a relocatable object --------------===//
//
// LLVM IR literals cost many times their size in memory, so the object is
// written directly: header, one data section, symbols, names, section table.
// An object that only makes room has a section without contents, which a
// section of one byte under the same name makes the linker give a place in the
// file.
//
//===----------------------------------------------------------------------===//

#include "WeightsObject.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include <cstring>
#include <fcntl.h>

using namespace llvm;
using namespace llvm::ELF;

namespace strata {

std::string constantSymbol(StringRef modelName, size_t index) {
  return (modelName + "_constant_" + Twine(index)).str();
}

static Expected<uint16_t> machineOf(const Triple &triple) {
  switch (triple.getArch()) {
  case Triple::x86_64:
    return EM_X86_64;
  case Triple::aarch64:
    return EM_AARCH64;
  case Triple::riscv64:
    return EM_RISCV;
  default:
    return createStringError("object files for %s are not supported; x86-64, "
                             "aarch64 and riscv64 are",
                             triple.str().c_str());
  }
}

template <typename T> static void put(raw_ostream &os, const T &value) {
  os.write(reinterpret_cast<const char *>(&value), sizeof(T));
}

static void pad(raw_ostream &os, uint64_t &at, uint64_t alignment) {
  uint64_t next = alignTo(at, alignment);
  os.write_zeros(next - at);
  at = next;
}

static constexpr StringLiteral kSection = ".strata.weights";

/// Where a constant starts that would otherwise start at `offset`.
static uint64_t placeOf(const Constant &constant, uint64_t offset) {
  return alignTo(offset, std::max<uint64_t>(constant.alignment, 64));
}

Error writeWeightsObject(raw_ostream &os, const Triple &triple, uint32_t eflags, StringRef modelName,
                         ArrayRef<Constant> constants, function_ref<bool(size_t)> include, bool contents) {
  static_assert(endianness::native == endianness::little, "headers are written as they are in memory");
  auto machine = machineOf(triple);
  if (!machine)
    return machine.takeError();
  // Weights of more than 2 GiB must not stand between code and data.
  bool isX86 = *machine == EM_X86_64;

  uint64_t alignment = 64, size = 0;
  std::vector<Elf64_Sym> symbols(1);
  std::string strings(1, 0);
  for (size_t i = 0; i < constants.size(); ++i) {
    if (!include(i))
      continue;
    const Constant &constant = constants[i];
    uint64_t start = placeOf(constant, size);
    alignment = std::max(alignment, constant.alignment);
    Elf64_Sym symbol = {};
    symbol.st_name = strings.size();
    symbol.setBindingAndType(STB_GLOBAL, STT_OBJECT);
    symbol.st_other = STV_HIDDEN;
    symbol.st_shndx = 1;
    symbol.st_value = start;
    symbol.st_size = constant.bytes;
    symbols.push_back(symbol);
    strings += constantSymbol(modelName, i);
    strings += '\0';
    size = start + constant.bytes;
  }

  std::string names(1, 0);
  auto name = [&](StringRef text) {
    uint32_t at = names.size();
    names += text;
    names += '\0';
    return at;
  };
  Elf64_Shdr sections[7] = {};
  Elf64_Shdr &data = sections[1], &symtab = sections[2], &strtab = sections[3], &shstrtab = sections[4],
             &stack = sections[5], &byte = sections[6];
  data.sh_name = name(kSection);
  data.sh_type = contents ? SHT_PROGBITS : SHT_NOBITS;
  data.sh_flags = SHF_ALLOC | (isX86 ? uint64_t(SHF_X86_64_LARGE) : 0);
  data.sh_offset = alignTo(sizeof(Elf64_Ehdr), alignment);
  data.sh_size = size;
  data.sh_addralign = alignment;
  symtab.sh_name = name(".symtab");
  symtab.sh_type = SHT_SYMTAB;
  byte = data;
  byte.sh_type = SHT_PROGBITS;
  byte.sh_size = byte.sh_addralign = 1;
  symtab.sh_offset = alignTo(data.sh_offset + (contents ? size : 1), 8);
  symtab.sh_size = symbols.size() * sizeof(Elf64_Sym);
  symtab.sh_link = 3;
  symtab.sh_info = 1; // the first global symbol
  symtab.sh_addralign = 8;
  symtab.sh_entsize = sizeof(Elf64_Sym);
  strtab.sh_name = name(".strtab");
  strtab.sh_type = SHT_STRTAB;
  strtab.sh_offset = symtab.sh_offset + symtab.sh_size;
  strtab.sh_size = strings.size();
  strtab.sh_addralign = 1;
  shstrtab.sh_name = name(".shstrtab");
  stack.sh_name = name(".note.GNU-stack");
  shstrtab.sh_type = SHT_STRTAB;
  shstrtab.sh_offset = strtab.sh_offset + strtab.sh_size;
  shstrtab.sh_size = names.size();
  shstrtab.sh_addralign = 1;
  stack.sh_type = SHT_PROGBITS;
  stack.sh_offset = shstrtab.sh_offset + shstrtab.sh_size;
  stack.sh_addralign = 1;

  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ElfMagic, 4);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = *machine;
  header.e_version = EV_CURRENT;
  header.e_shoff = alignTo(stack.sh_offset, 8);
  header.e_flags = eflags;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = std::size(sections);
  header.e_shstrndx = 4;

  put(os, header);
  uint64_t at = sizeof(header);
  pad(os, at, alignment);
  uint64_t start = at;
  for (size_t i = 0; contents && i < constants.size(); ++i) {
    if (!include(i))
      continue;
    uint64_t offset = at - start, place = placeOf(constants[i], offset);
    os.write_zeros(place - offset);
    os.write(constants[i].data, constants[i].bytes);
    at = start + place + constants[i].bytes;
  }
  if (!contents) {
    os.write_zeros(1);
    ++at;
  }
  pad(os, at, 8);
  for (const Elf64_Sym &symbol : symbols)
    put(os, symbol);
  os << strings << names;
  at += symtab.sh_size + strings.size() + names.size();
  pad(os, at, 8);
  for (const Elf64_Shdr &section : sections)
    put(os, section);
  return Error::success();
}

/// Where the linker left room in the file.
static Expected<uint64_t> findRoom(StringRef file) {
  // A file whose size is that of whole pages has no zero behind it, for which all of it would be read.
  auto bytes = MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return errorCodeToError(bytes.getError());
  auto linked = object::ObjectFile::createObjectFile(**bytes);
  if (!linked)
    return linked.takeError();
  for (const object::SectionRef &section : (*linked)->sections()) {
    Expected<StringRef> name = section.getName();
    if (!name)
      return name.takeError();
    if (*name == kSection)
      return object::ELFSectionRef(section).getOffset();
  }
  return createStringError("the linker left no room for the weights");
}

/// In large pieces, of which the system makes large pages: what is first written through a mapping stays in single
/// pages, and a model that does nothing but read its weights then takes up to 1.5 times as long. Besides, a disk that
/// is full would end the process at the first write to a page that has no block.
static std::error_code writeZeros(int fd, uint64_t at, uint64_t bytes) {
  std::vector<char> zeros(8 << 20);
  raw_fd_ostream os(fd, /*shouldClose=*/false, /*unbuffered=*/true);
  os.seek(at);
  // Large pages begin at multiples of their size.
  for (uint64_t end = at + bytes, next; at < end && !os.has_error(); at = next) {
    next = std::min(end, alignDown(at, zeros.size()) + zeros.size());
    os.write(zeros.data(), next - at);
  }
  std::error_code code = os.error();
  os.clear_error();
  return code;
}

Expected<std::unique_ptr<FileMemory>> mapWeights(StringRef file, MutableArrayRef<Constant> constants,
                                                 function_ref<bool(size_t)> include) {
  Expected<uint64_t> room = findRoom(file);
  if (!room)
    return room.takeError();
  uint64_t size = 0;
  SmallVector<std::pair<Constant *, uint64_t>> computed;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (!include(i))
      continue;
    uint64_t at = placeOf(constants[i], size);
    size = at + constants[i].bytes;
    if (constants[i].computed)
      computed.push_back({&constants[i], at});
  }
  int fd;
  if (std::error_code code = sys::fs::openFileForReadWrite(file, fd, sys::fs::CD_OpenExisting, sys::fs::OF_None))
    return errorCodeToError(code);
  auto close = make_scope_exit([&] { sys::Process::SafelyCloseFileDescriptor(fd); });
  // What was read of the room, ahead of the headers around it, is there in single pages.
  posix_fadvise(fd, *room, size, POSIX_FADV_DONTNEED);
  for (auto &[constant, at] : computed)
    if (std::error_code code = writeZeros(fd, *room + at, constant->bytes))
      return errorCodeToError(code);
  std::unique_ptr<FileMemory> memory = FileMemory::map(fd, *room, size);
  auto isInPlace = [&](auto &entry) {
    return isAddrAligned(Align(entry.first->alignment), memory->data() + entry.second);
  };
  if (!memory || !all_of(computed, isInPlace))
    return nullptr;
  for (auto &[constant, at] : computed)
    constant->data = memory->data() + at;
  return memory;
}

Error fillWeights(StringRef file, ArrayRef<Constant> constants, function_ref<bool(size_t)> include) {
  Expected<uint64_t> room = findRoom(file);
  if (!room)
    return room.takeError();
  int fd;
  if (std::error_code code = sys::fs::openFileForWrite(file, fd, sys::fs::CD_OpenExisting))
    return errorCodeToError(code);
  raw_fd_ostream os(fd, /*shouldClose=*/true);
  uint64_t offset = 0;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (!include(i))
      continue;
    const Constant &constant = constants[i];
    offset = placeOf(constant, offset);
    // What was computed without memory of its own was computed into the file.
    if (!constant.computed || constant.storage) {
      os.seek(*room + offset);
      os.write(constant.data, constant.bytes);
    }
    offset += constant.bytes;
  }
  os.close();
  std::error_code code = os.error();
  os.clear_error();
  return errorCodeToError(code);
}

} // namespace strata
