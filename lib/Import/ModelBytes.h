//===- ModelBytes.h - parsing a model without copying its weights *- C++ -*-===//
//
// protobuf copies every field to the heap. Before it sees the bytes, a scan of
// the wire format takes the large payloads of tensors out and leaves a
// reference in each tensor, so that weights stay in the mapped file.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_IMPORT_MODELBYTES_H
#define STRATA_LIB_IMPORT_MODELBYTES_H

#include "Trace.h"
#include "onnx/onnx_pb.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>
#include <vector>

namespace strata::importer {

/// Immutable bytes, shared by all that point into them: a mapped file or a caller's buffer.
class SharedBytes {
public:
  SharedBytes() = default;
  explicit SharedBytes(std::unique_ptr<llvm::MemoryBuffer> buffer) : buffer(std::move(buffer)) {}

  llvm::StringRef bytes() const { return buffer->getBuffer(); }
  explicit operator bool() const { return buffer != nullptr; }
  bool isMapped() const { return buffer && buffer->getBufferKind() == llvm::MemoryBuffer::MemoryBuffer_MMap; }
  /// Tells the system that `range` of a mapped file was copied, so that it need not stay in memory twice.
  void release(llvm::StringRef range) const;

private:
  std::shared_ptr<llvm::MemoryBuffer> buffer;
};

/// Calls `use` with pieces of `bytes`, which lie in `source` if there is one. Pages of a file need not stay in memory
/// afterwards: nothing large is there twice.
void forEachPiece(llvm::StringRef bytes, const SharedBytes &source, llvm::function_ref<void(llvm::StringRef)> use);

/// Little-endian elements of a tensor that were left out of its message.
struct Payload {
  llvm::StringRef bytes;
  /// They are the packed list `float_data`, not `raw_data`.
  bool isFloatData;
};

/// A model and the tensor payloads that were left out of it.
struct ParsedModel {
  proto::ModelProto proto;
  SharedBytes source;
  std::vector<Payload> payloads;
  /// The file has training_info, which is not parsed.
  bool hasTraining = false;

  /// What was left out of `tensor`, if anything was.
  std::optional<Payload> payloadOf(const proto::TensorProto &tensor) const;
};

/// Maps a file. Fails with a message if it does not exist, is a directory or is empty.
llvm::FailureOr<SharedBytes> mapFile(llvm::StringRef path, const Trace &trace);

/// Parses a serialised ModelProto.
llvm::LogicalResult parseModel(SharedBytes source, const Trace &trace, ParsedModel &model);

} // namespace strata::importer

#endif // STRATA_LIB_IMPORT_MODELBYTES_H
