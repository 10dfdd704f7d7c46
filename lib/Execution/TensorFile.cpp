//===- TensorFile.cpp - tensors in files ----------------------------------===//

#include "TensorFile.h"
#include "Link.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace strata {

/// Prefixes a message with the file it is about.
static Error inFile(StringRef path, Error error) {
  return createStringError("cannot read '%s': %s", path.str().c_str(), toString(std::move(error)).c_str());
}

Expected<std::vector<NamedTensor>> readTensors(StringRef path, strata_dtype expected) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (std::error_code code = buffer.getError())
    return createStringError(code, "cannot read '%s': %s", path.str().c_str(), code.message().c_str());
  std::shared_ptr<MemoryBuffer> owner = std::move(*buffer);
  StringRef bytes = owner->getBuffer();
  std::vector<NamedTensor> tensors;
  if (path.ends_with(".npz")) {
    auto all = parseNpz(bytes, expected, owner);
    if (!all)
      return inFile(path, all.takeError());
    return all;
  }
  if (path.ends_with(".pb")) {
    auto tensor = parseTensorProto(bytes, expected);
    if (!tensor)
      return inFile(path, tensor.takeError());
    tensors.push_back(std::move(*tensor));
    return tensors;
  }
  if (path.ends_with(".npy")) {
    auto tensor = parseNpy(bytes, expected, owner);
    if (!tensor)
      return inFile(path, tensor.takeError());
    tensors.push_back({"", std::move(*tensor)});
    return tensors;
  }
  return createStringError("cannot read '%s': the name of a tensor file ends "
                           "in .npy, .npz or .pb",
                           path.str().c_str());
}

static Error write(StringRef path, function_ref<Error(raw_ostream &)> print) {
  Error error = writeOutput(path, [&](raw_ostream &os) { return print(os); });
  if (!error)
    return Error::success();
  return createStringError("cannot write '%s': %s", path.str().c_str(), toString(std::move(error)).c_str());
}

static Error checkWritable(StringRef path, const Tensor &tensor) {
  if (!tensor.isContainer() && tensor.dtype != STRATA_STRING)
    return Error::success();
  return createStringError("cannot write '%s': NumPy's files hold numbers, not "
                           "strings and sequences",
                           path.str().c_str());
}

Error writeNpy(StringRef path, const Tensor &tensor) {
  if (Error error = checkWritable(path, tensor))
    return error;
  return write(path, [&](raw_ostream &os) {
    printNpy(os, tensor);
    return Error::success();
  });
}

Error writeNpz(StringRef path, ArrayRef<NamedTensor> tensors) {
  for (const NamedTensor &named : tensors)
    if (Error error = checkWritable(path, named.tensor))
      return error;
  return write(path, [&](raw_ostream &os) { return printNpz(os, tensors); });
}

} // namespace strata
