//===- ExternalData.cpp - tensors in files beside the model ---------------===//

#include "ExternalData.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA1.h"

using namespace llvm;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace strata::importer {

FailureOr<ExternalData::File *> ExternalData::open(StringRef location, const Trace &trace) {
  if (auto known = files.find(location); known != files.end())
    return &known->second;
  auto refuse = [&](const Twine &why) {
    return trace.error() << "external data file '" << location << "' " << why.str(), failure();
  };
  if (folder.empty())
    return refuse("cannot be found: the model comes from memory and has no folder");
  if (location.empty())
    return trace.error() << "external data without a location", failure();
  if (location.contains('\0'))
    return trace.error() << "external data with a zero byte in its location", failure();
  if (path::is_absolute(location))
    return refuse("is an absolute path; only files in the model's folder are read");
  for (StringRef part : make_range(path::begin(location), path::end(location)))
    if (part == "..")
      return refuse("leaves the model's folder by '..'");

  SmallString<128> file(folder), realFolder, realFile;
  path::append(file, location);
  if (std::error_code error = fs::real_path(folder, realFolder))
    return refuse("cannot be found: " + error.message());
  if (std::error_code error = fs::real_path(file, realFile))
    return refuse("cannot be opened: " + error.message());
  if (!realFolder.ends_with("/"))
    realFolder += "/";
  if (!StringRef(realFile).starts_with(realFolder))
    return refuse("is a symbolic link that leads out of the model's folder");
  if (!fs::is_regular_file(realFile))
    return refuse("is not a regular file");
  FailureOr<SharedBytes> bytes = mapFile(realFile, Trace(trace, "external data file '" + location + "'"));
  if (failed(bytes))
    return failure();
  File &opened = files[location];
  opened.bytes = *bytes;
  return &opened;
}

FailureOr<SharedBytes> ExternalData::file(const proto::TensorProto &tensor, const Trace &trace) {
  for (const auto &entry : tensor.external_data())
    if (entry.key() == "location") {
      FailureOr<File *> file = open(entry.value(), trace);
      return failed(file) ? FailureOr<SharedBytes>(failure()) : FailureOr<SharedBytes>((*file)->bytes);
    }
  return trace.error() << "external data without a location", failure();
}

/// A decimal number that is not negative.
static FailureOr<uint64_t> parseNumber(StringRef key, StringRef text, const Trace &trace) {
  uint64_t number;
  if (text.starts_with("-"))
    return trace.error() << "external data with the negative " << key << " " << text, failure();
  if (text.getAsInteger(10, number) || number > INT64_MAX)
    return trace.error() << "external data whose " << key << " '" << text << "' is not a number", failure();
  return number;
}

/// SHA-1 of the whole file, in lower-case hexadecimal digits.
static std::string digestOf(const SharedBytes &file) {
  SHA1 sha1;
  forEachPiece(file.bytes(), file, [&](StringRef piece) { sha1.update(piece); });
  return toHex(sha1.final(), /*LowerCase=*/true);
}

FailureOr<std::pair<SharedBytes, StringRef>> ExternalData::find(const proto::TensorProto &tensor, uint64_t size,
                                                                const Trace &trace) {
  StringRef location, checksum;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const auto &entry : tensor.external_data()) {
    StringRef key = entry.key();
    if (key == "location") {
      location = entry.value();
    } else if (key == "checksum") {
      checksum = entry.value();
      if (checksum.size() != 40 || !llvm::all_of(checksum, isHexDigit))
        return trace.error() << "external data whose checksum '" << checksum
                             << "' is not a SHA-1 digest of 40 hexadecimal digits",
               failure();
    } else if (key == "offset" || key == "length") {
      FailureOr<uint64_t> number = parseNumber(key, entry.value(), trace);
      if (failed(number))
        return failure();
      key == "offset" ? offset = *number : length.emplace(*number);
    }
  }
  FailureOr<File *> file = open(location, trace);
  if (failed(file))
    return failure();
  if (!checksum.empty()) {
    std::string &digest = (*file)->digest;
    if (digest.empty())
      digest = digestOf((*file)->bytes);
    if (!checksum.equals_insensitive(digest))
      return trace.error() << "external data file '" << location << "' has the SHA-1 digest " << digest
                           << ", the model says " << checksum.lower(),
             failure();
  }
  StringRef bytes = (*file)->bytes.bytes();
  if (offset > bytes.size() || length.value_or(0) > bytes.size() - offset)
    return trace.error() << "external data at offset " << offset << " with " << length.value_or(size)
                         << " bytes lies beyond the end of '" << location << "', which has " << bytes.size()
                         << " bytes",
           failure();
  // Without a length, the data reaches to the end of the file.
  uint64_t found = length.value_or(bytes.size() - offset);
  if (found != size)
    return trace.error() << "external data has " << found << " bytes, the tensor's type needs " << size, failure();

  // Tensors may share the same data, but not a part of it.
  if (size != 0) {
    auto &used = (*file)->used;
    auto next = used.lower_bound(offset);
    const Range *clash = nullptr;
    if (next != used.end() && next->first < offset + size &&
        !(next->first == offset && next->second.end == offset + size))
      clash = &next->second;
    else if (next != used.begin() && std::prev(next)->second.end > offset)
      clash = &std::prev(next)->second;
    if (clash)
      return trace.error() << "external data at offset " << offset << " of '" << location
                           << "' overlaps that of tensor '" << clash->tensor << "'",
             failure();
    used.try_emplace(offset, Range{offset + size, tensor.name()});
  }
  return std::make_pair((*file)->bytes, bytes.substr(offset, size));
}

} // namespace strata::importer
