//===- OnnxLibrary.cpp - the parts of ONNX's C++ library that we call -----===//

#include "OnnxLibrary.h"
#include "onnx/defs/parser.h"
#include <exception>

using namespace llvm;

namespace strata::importer {

LogicalResult parseModelText(StringRef text, const Trace &trace, proto::ModelProto &model) {
  std::string message;
  try {
    ::onnx::OnnxParser parser(std::string_view(text.data(), text.size()));
    ::onnx::Common::Status status = parser.Parse(model);
    if (!status.IsOK())
      message = status.ErrorMessage();
    else if (!parser.EndOfInput())
      message = "there is text after the model at " + parser.GetCurrentPos();
    else
      return success();
  } catch (const std::exception &error) {
    message = error.what();
  }
  for (char &c : message)
    if (c == '\n')
      c = ' ';
  return trace.error() << "is not a model in ONNX's text syntax: " << message;
}

} // namespace strata::importer
