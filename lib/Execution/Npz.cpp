//===- Npz.cpp - NumPy's format for several arrays: a zip file ------------===//

#include "TensorFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include <zlib.h>

using namespace llvm;
using namespace llvm::support::endian;

namespace strata {

namespace {
/// One file in the archive, from its entry in the central directory.
struct Entry {
  StringRef name;
  unsigned method = 0;
  uint64_t compressed = 0, size = 0, offset = 0;
};
} // namespace

/// Sizes and offsets that do not fit 32 bits are in the zip64 extra field, in
/// this order, each only if its short form is all ones.
static void readZip64(StringRef extra, Entry &entry) {
  while (extra.size() >= 4) {
    unsigned id = read16le(extra.data()), size = read16le(extra.data() + 2);
    StringRef field = extra.substr(4, size);
    extra = extra.drop_front(std::min<size_t>(extra.size(), 4 + size));
    if (id != 1)
      continue;
    for (uint64_t *value : {&entry.size, &entry.compressed, &entry.offset})
      if (*value == 0xffffffff && field.size() >= 8) {
        *value = read64le(field.data());
        field = field.drop_front(8);
      }
  }
}

static Expected<std::vector<Entry>> readDirectory(StringRef bytes) {
  size_t end = bytes.rfind(StringRef("PK\5\6", 4));
  if (end == StringRef::npos || bytes.size() - end < 22)
    return createStringError("it is not a zip file");
  uint64_t at = read32le(bytes.data() + end + 16);
  unsigned count = read16le(bytes.data() + end + 10);
  if (at == 0xffffffff && end >= 20 && bytes.substr(end - 20, 4) == StringRef("PK\6\7", 4)) {
    uint64_t end64 = read64le(bytes.data() + end - 12);
    if (end64 > bytes.size() || bytes.size() - end64 < 56)
      return createStringError("its directory is damaged");
    at = read64le(bytes.data() + end64 + 48);
  }
  std::vector<Entry> entries;
  for (unsigned i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 || bytes.substr(at, 4) != StringRef("PK\1\2", 4))
      return createStringError("its directory is damaged");
    const char *p = bytes.data() + at;
    unsigned name = read16le(p + 28), extra = read16le(p + 30), comment = read16le(p + 32);
    Entry entry;
    entry.method = read16le(p + 10);
    entry.compressed = read32le(p + 20);
    entry.size = read32le(p + 24);
    entry.offset = read32le(p + 42);
    entry.name = bytes.substr(at + 46, name);
    readZip64(bytes.substr(at + 46 + name, extra), entry);
    entries.push_back(entry);
    at += 46 + name + extra + comment;
  }
  return entries;
}

/// The bytes of an entry as stored.
static Expected<StringRef> contents(StringRef bytes, const Entry &entry) {
  uint64_t at = entry.offset;
  if (at > bytes.size() || bytes.size() - at < 30)
    return createStringError("'%s' is truncated", entry.name.str().c_str());
  at += 30 + read16le(bytes.data() + at + 26) + read16le(bytes.data() + at + 28);
  if (at > bytes.size() || bytes.size() - at < entry.compressed)
    return createStringError("'%s' is truncated", entry.name.str().c_str());
  return bytes.substr(at, entry.compressed);
}

static Expected<std::shared_ptr<std::string>> inflateEntry(StringRef stored, const Entry &entry) {
  // Deflate shrinks by 1032 at most: a larger size is a lie.
  if (entry.size / 1032 > stored.size() + 1)
    return createStringError("'%s' is damaged", entry.name.str().c_str());
  auto result = std::make_shared<std::string>(entry.size, 0);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return createStringError("out of memory");
  stream.next_in = const_cast<Bytef *>(stored.bytes_begin());
  stream.next_out = reinterpret_cast<Bytef *>(result->data());
  uint64_t in = stored.size(), out = entry.size;
  int status = Z_OK;
  // zlib counts in 32 bits.
  while (status == Z_OK) {
    uint64_t give = std::min<uint64_t>(in, 1u << 30);
    uint64_t room = std::min<uint64_t>(out, 1u << 30);
    stream.avail_in = give;
    stream.avail_out = room;
    status = inflate(&stream, Z_NO_FLUSH);
    in -= give - stream.avail_in;
    out -= room - stream.avail_out;
    if (give == stream.avail_in && room == stream.avail_out)
      break;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || out != 0)
    return createStringError("'%s' is damaged", entry.name.str().c_str());
  return result;
}

Expected<std::vector<NamedTensor>> parseNpz(StringRef bytes, strata_dtype expected, std::shared_ptr<void> owner) {
  auto entries = readDirectory(bytes);
  if (!entries)
    return entries.takeError();
  std::vector<NamedTensor> tensors;
  for (const Entry &entry : *entries) {
    auto stored = contents(bytes, entry);
    if (!stored)
      return stored.takeError();
    StringRef npy = *stored;
    std::shared_ptr<void> holder = owner;
    if (entry.method == 8) {
      auto inflated = inflateEntry(*stored, entry);
      if (!inflated)
        return inflated.takeError();
      npy = **inflated;
      holder = *inflated;
    } else if (entry.method != 0) {
      return createStringError("'%s' is compressed by method %u; only deflate "
                               "is supported",
                               entry.name.str().c_str(), entry.method);
    }
    auto tensor = parseNpy(npy, expected, holder);
    if (!tensor)
      return createStringError("'%s': %s", entry.name.str().c_str(), toString(tensor.takeError()).c_str());
    StringRef name = entry.name;
    name.consume_back(".npy");
    tensors.push_back({name.str(), std::move(*tensor)});
  }
  return tensors;
}

namespace {
/// Writes little-endian fields of a header.
struct Fields {
  raw_ostream &os;
  Fields &u16(uint64_t value) { return put(value, 2); }
  Fields &u32(uint64_t value) { return put(value, 4); }
  Fields &put(uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i)
      os << static_cast<char>(value >> (8 * i));
    return *this;
  }
};
} // namespace

Error printNpz(raw_ostream &os, ArrayRef<NamedTensor> tensors) {
  struct Written {
    std::string name;
    uint64_t size, offset;
    uint32_t crc;
  };
  std::vector<Written> entries;
  uint64_t start = os.tell();
  for (const NamedTensor &named : tensors) {
    // The header by itself, so that the elements are not copied.
    std::string header;
    raw_string_ostream text(header);
    printNpyHeader(text, named.tensor);
    text.flush();
    ArrayRef<uint8_t> data(static_cast<const uint8_t *>(named.tensor.data), named.tensor.bytes());
    Written entry;
    entry.name = named.name + ".npy";
    entry.size = header.size() + data.size();
    entry.offset = os.tell() - start;
    entry.crc = crc32(arrayRefFromStringRef(header));
    entry.crc = crc32(entry.crc, data);
    if (entry.size > 0xfffffffe || entry.offset > 0xfffffffe)
      return createStringError("a .npz file of more than 4 GiB is not "
                               "supported; write a folder of .npy files");
    Fields{os}
        .u32(0x04034b50)
        .u16(20)
        .u16(0)
        .u16(0)
        .u16(0)
        .u16(0x21)
        .u32(entry.crc)
        .u32(entry.size)
        .u32(entry.size)
        .u16(entry.name.size())
        .u16(0);
    os << entry.name << header;
    os.write(reinterpret_cast<const char *>(data.data()), data.size());
    entries.push_back(entry);
  }
  uint64_t directory = os.tell() - start;
  for (const Written &entry : entries) {
    Fields{os}
        .u32(0x02014b50)
        .u16(20)
        .u16(20)
        .u16(0)
        .u16(0)
        .u16(0)
        .u16(0x21)
        .u32(entry.crc)
        .u32(entry.size)
        .u32(entry.size)
        .u16(entry.name.size())
        .u16(0)
        .u16(0)
        .u16(0)
        .u16(0)
        .u32(0)
        .u32(entry.offset);
    os << entry.name;
  }
  uint64_t size = os.tell() - start - directory;
  if (directory > 0xfffffffe)
    return createStringError("a .npz file of more than 4 GiB is not supported; "
                             "write a folder of .npy files");
  Fields{os}.u32(0x06054b50).u16(0).u16(0).u16(entries.size()).u16(entries.size()).u32(size).u32(directory).u16(0);
  return Error::success();
}

} // namespace strata
