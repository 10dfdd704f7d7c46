//===- ModelBytes.cpp - parsing a model without copying its weights -------===//

#include "ModelBytes.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/unknown_field_set.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include <sys/mman.h>

using namespace llvm;
namespace pb = google::protobuf;

namespace strata::importer {

void SharedBytes::release(StringRef range) const {
  if (!isMapped())
    return;
  // Only the pages that lie in the range altogether.
  uintptr_t page = sys::Process::getPageSizeEstimate();
  uintptr_t begin = alignTo(reinterpret_cast<uintptr_t>(range.begin()), page);
  uintptr_t end = alignDown(reinterpret_cast<uintptr_t>(range.end()), page);
  if (begin < end)
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

void forEachPiece(StringRef bytes, const SharedBytes &source, function_ref<void(StringRef)> use) {
  constexpr size_t readAtOnce = 8 << 20;
  for (; !bytes.empty(); bytes = bytes.drop_front(std::min(readAtOnce, bytes.size()))) {
    use(bytes.take_front(readAtOnce));
    if (source)
      source.release(bytes.take_front(readAtOnce));
  }
}

FailureOr<SharedBytes> mapFile(StringRef path, const Trace &trace) {
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return trace.error() << "cannot be opened: " << error.message(), failure();
  if (sys::fs::is_directory(status))
    return trace.error() << "is a directory, not a file", failure();
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return trace.error() << "cannot be read: " << buffer.getError().message(), failure();
  return SharedBytes(std::move(*buffer));
}

namespace {
/// Payloads smaller than this stay in the message.
constexpr size_t kSmallestPayload = 4096;
/// In TensorProto: index of the payload that was taken out. Not a field of ONNX; dropped where a file has it.
constexpr uint32_t kPayloadField = 536870000;
/// Of messages within messages. A subgraph is three levels; the text of a message is nested no deeper.
constexpr unsigned kDeepestNesting = 300;

enum WireType { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// The messages on the way to a tensor.
enum class Message { Other, Model, Graph, Function, Node, Attribute, Sparse, Tensor };

/// The message in field `field` of `parent`, if the scan must look into it.
Message submessage(Message parent, uint32_t field) {
  switch (parent) {
  case Message::Model:
    return field == 7 ? Message::Graph : field == 25 ? Message::Function : Message::Other;
  case Message::Graph:
    return field == 1 ? Message::Node : field == 5 ? Message::Tensor : field == 15 ? Message::Sparse : Message::Other;
  case Message::Function:
    return field == 7 ? Message::Node : field == 11 ? Message::Attribute : Message::Other;
  case Message::Node:
    return field == 5 ? Message::Attribute : Message::Other;
  case Message::Attribute:
    return field == 5 || field == 10    ? Message::Tensor
           : field == 6 || field == 11  ? Message::Graph
           : field == 22 || field == 23 ? Message::Sparse
                                        : Message::Other;
  case Message::Sparse:
    return field == 1 || field == 2 ? Message::Tensor : Message::Other;
  default:
    return Message::Other;
  }
}

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

/// Copies a message while taking the large payloads of tensors out.
class PayloadScan {
public:
  PayloadScan(StringRef file, const Trace &trace, ParsedModel &model) : file(file), trace(trace), model(model) {}

  /// Appends the message in `bytes` to `out`.
  LogicalResult copy(StringRef bytes, Message kind, unsigned depth, std::string &out);

private:
  mlir::InFlightDiagnostic errorAt(const char *position) const {
    return trace.error() << "is not an ONNX model: byte " << static_cast<uint64_t>(position - file.begin()) << ": ";
  }
  FailureOr<uint64_t> varint(StringRef &rest) const;

  StringRef file;
  const Trace &trace;
  ParsedModel &model;
};
} // namespace

FailureOr<uint64_t> PayloadScan::varint(StringRef &rest) const {
  uint64_t value = 0;
  const char *begin = rest.begin();
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (rest.empty())
      return errorAt(begin) << "the file is truncated within a number", failure();
    uint8_t byte = rest.front();
    rest = rest.drop_front();
    if (shift < 64)
      value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return value;
  }
  return errorAt(begin) << "a number of more than 64 bits", failure();
}

LogicalResult PayloadScan::copy(StringRef bytes, Message kind, unsigned depth, std::string &out) {
  if (depth > kDeepestNesting)
    return errorAt(bytes.begin()) << "messages are nested deeper than " << kDeepestNesting << " levels";
  // A tensor may have one payload only: several raw_data fields replace each other, several packed lists concatenate.
  size_t largePayloads = 0;
  for (StringRef rest = bytes; !rest.empty();) {
    const char *begin = rest.begin();
    FailureOr<uint64_t> tag = varint(rest);
    if (failed(tag))
      return failure();
    uint64_t field = *tag >> 3, wire = *tag & 7;
    if (field == 0 || field > 536870911 || (wire != Varint && wire != Fixed64 && wire != Bytes && wire != Fixed32))
      return errorAt(begin) << "no protobuf field begins with this byte";
    if (kind == Message::Model && field <= 26 && (field == 1 || field == 5) != (wire == Varint))
      return errorAt(begin) << "field " << field << " of a model has another encoding";
    uint64_t size = 0;
    if (wire == Varint) {
      if (failed(varint(rest)))
        return failure();
    } else if (wire == Bytes) {
      FailureOr<uint64_t> length = varint(rest);
      if (failed(length))
        return failure();
      size = *length;
    } else {
      size = wire == Fixed64 ? 8 : 4;
    }
    if (size > rest.size())
      return errorAt(begin) << "the file is truncated: a field of " << size << " bytes begins, " << rest.size()
                            << " bytes are left";
    StringRef content = rest.take_front(size);
    rest = rest.drop_front(size);

    if (wire == Bytes) {
      if (Message child = submessage(kind, field); child != Message::Other) {
        std::string copied;
        if (failed(copy(content, child, depth + 1, copied)))
          return failure();
        appendVarint(out, *tag);
        appendVarint(out, copied.size());
        out += copied;
        continue;
      }
      // training_info is not imported: do not even parse it.
      if (kind == Message::Model && field == 20) {
        model.hasTraining = true;
        continue;
      }
      // raw_data (9) and a packed float_data (4) hold little-endian elements.
      if (kind == Message::Tensor && (field == 9 || field == 4) && size >= kSmallestPayload && largePayloads++ == 0) {
        appendVarint(out, uint64_t(kPayloadField) << 3 | Varint);
        appendVarint(out, model.payloads.size());
        model.payloads.push_back({content, field == 4});
        continue;
      }
    }
    if (kind == Message::Tensor && field == kPayloadField)
      continue;
    out.append(begin, rest.begin());
  }
  if (largePayloads > 1)
    return errorAt(bytes.begin()) << "a tensor with several payloads";
  return success();
}

LogicalResult parseModel(SharedBytes source, const Trace &trace, ParsedModel &model) {
  StringRef bytes = source.bytes();
  if (bytes.empty())
    return trace.error() << "is empty";
  if (bytes.starts_with("version https://git-lfs"))
    return trace.error() << "is a Git LFS pointer, not the model itself: fetch the file with `git lfs pull`";
  std::string message;
  if (failed(PayloadScan(bytes, trace, model).copy(bytes, Message::Model, 0, message)))
    return failure();
  if (message.size() > INT32_MAX)
    return trace.error() << "has " << message.size()
                         << " bytes besides its tensors' raw data; protobuf allows 2 GB at most";
  pb::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(message.data()), message.size());
  stream.SetRecursionLimit(kDeepestNesting + 100);
  if (!model.proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return trace.error() << "is not an ONNX model: protobuf cannot parse it";
  model.source = std::move(source);
  return success();
}

std::optional<Payload> ParsedModel::payloadOf(const proto::TensorProto &tensor) const {
  const pb::UnknownFieldSet &fields = tensor.GetReflection()->GetUnknownFields(tensor);
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == static_cast<int>(kPayloadField) &&
        fields.field(i).type() == pb::UnknownField::TYPE_VARINT)
      return payloads[fields.field(i).varint()];
  return std::nullopt;
}

} // namespace strata::importer
