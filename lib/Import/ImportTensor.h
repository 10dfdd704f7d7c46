//===- ImportTensor.h - TensorProto to elements attributes ------*- C++ -*-===//
//
// Small tensors become `dense<...>`, large ones resources. In both, elements
// narrower than a byte take one byte each, as at the seam. Large tensors of a
// mapped file stay there if they are aligned to 64 bytes; others are copied to
// such an address once, and their pages of the file given back. Large tensors
// of equal type and elements are one resource: exporters write shared weights
// several times, and what is computed from them twice is then seen to be equal.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_IMPORT_IMPORTTENSOR_H
#define STRATA_LIB_IMPORT_IMPORTTENSOR_H

#include "ExternalData.h"
#include "ImportTypes.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace strata::importer {

class TensorImporter {
public:
  TensorImporter(const ParsedModel &model, llvm::StringRef folder) : model(model), external(folder) {}

  llvm::FailureOr<mlir::ElementsAttr> import(const proto::TensorProto &tensor, const Trace &trace);

  /// The dense tensor that a sparse one stands for.
  llvm::FailureOr<mlir::ElementsAttr> importDensified(const proto::SparseTensorProto &tensor, const Trace &trace);

  /// `#onnx.sparse<...>`
  llvm::FailureOr<mlir::Attribute> importSparse(const proto::SparseTensorProto &tensor, const Trace &trace);

private:
  /// One byte or more per element; strings apart. Bytes are owned by `source` or `heap`.
  struct Elements {
    llvm::ArrayRef<char> bytes;
    SharedBytes source;
    std::unique_ptr<llvm::WritableMemoryBuffer> heap;
    std::vector<llvm::StringRef> strings;
  };
  llvm::FailureOr<mlir::RankedTensorType> importTensorType(const proto::TensorProto &tensor, const Trace &trace);
  llvm::FailureOr<Elements> read(const proto::TensorProto &tensor, mlir::RankedTensorType type, const Trace &trace);
  llvm::FailureOr<Elements> readRaw(llvm::StringRef raw, SharedBytes source, int32_t dataType, int64_t count,
                                    const Trace &trace);
  llvm::FailureOr<Elements> readField(const proto::TensorProto &tensor, int64_t count, const Trace &trace);
  mlir::ElementsAttr makeAttr(mlir::RankedTensorType type, Elements elements, llvm::StringRef name);
  mlir::ElementsAttr makeResource(mlir::RankedTensorType type, Elements elements, llvm::StringRef name);
  llvm::LogicalResult checkSparse(const proto::SparseTensorProto &tensor, const Trace &trace);

  /// A large tensor that was imported, and where its bytes lie.
  struct Resource {
    mlir::ElementsAttr attribute;
    llvm::StringRef bytes;
    SharedBytes source;
    /// Of all bytes, once it was asked for.
    std::string digest;
  };
  static llvm::StringRef digestOf(Resource &resource);

  const ParsedModel &model;
  ExternalData external;
  /// By type and a hash of some of their bytes.
  llvm::DenseMap<std::pair<mlir::Type, uint64_t>, llvm::SmallVector<Resource, 1>> resources;
};

} // namespace strata::importer

#endif // STRATA_LIB_IMPORT_IMPORTTENSOR_H
