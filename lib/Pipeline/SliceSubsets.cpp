//===- SliceSubsets.cpp - which slices of a tensor are the same -----------===//

#include "SliceSubsets.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SubsetOpInterface.h"

using namespace mlir;

using Equivalence = llvm::function_ref<bool(Value, Value)>;

static OffsetSizeAndStrideOpInterface sliceOf(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(op)
             ? cast<OffsetSizeAndStrideOpInterface>(op)
             : nullptr;
}

/// One range of indices lies before the other in some dimension.
static bool isDisjoint(OffsetSizeAndStrideOpInterface a, OffsetSizeAndStrideOpInterface b) {
  if (a.getMixedOffsets().size() != b.getMixedOffsets().size())
    return false;
  auto rangeOf = [](OffsetSizeAndStrideOpInterface slice, size_t dim) -> std::optional<std::pair<int64_t, int64_t>> {
    std::optional<int64_t> offset = getConstantIntValue(slice.getMixedOffsets()[dim]),
                           size = getConstantIntValue(slice.getMixedSizes()[dim]),
                           stride = getConstantIntValue(slice.getMixedStrides()[dim]);
    if (!offset || !size || !stride || *size <= 0 || *stride <= 0)
      return std::nullopt;
    return std::pair(*offset, *offset + (*size - 1) * *stride);
  };
  for (size_t dim = 0; dim < a.getMixedOffsets().size(); ++dim) {
    auto x = rangeOf(a, dim), y = rangeOf(b, dim);
    if (x && y && (x->second < y->first || y->second < x->first))
      return true;
  }
  return false;
}

namespace {
template <typename Op> struct SliceSubset : SubsetOpInterface::ExternalModel<SliceSubset<Op>, Op> {
  bool operatesOnEquivalentSubset(Operation *op, SubsetOpInterface candidate, Equivalence equivalent) const {
    auto slice = cast<OffsetSizeAndStrideOpInterface>(op), other = sliceOf(candidate);
    return other && slice.isSameAs(other, isEqualConstantIntOrValue) &&
           equivalent(cast<SubsetOpInterface>(op).getTensorContainer(), candidate.getTensorContainer());
  }
  bool operatesOnDisjointSubset(Operation *op, SubsetOpInterface candidate, Equivalence equivalent) const {
    auto slice = cast<OffsetSizeAndStrideOpInterface>(op), other = sliceOf(candidate);
    return other && isDisjoint(slice, other) &&
           equivalent(cast<SubsetOpInterface>(op).getTensorContainer(), candidate.getTensorContainer());
  }
};

struct Extraction : SubsetExtractionOpInterface::ExternalModel<Extraction, tensor::ExtractSliceOp> {
  OpOperand &getSourceOperand(Operation *op) const { return cast<tensor::ExtractSliceOp>(op).getSourceMutable(); }
};

template <typename Op> struct Insertion : SubsetInsertionOpInterface::ExternalModel<Insertion<Op>, Op> {
  OpOperand &getSourceOperand(Operation *op) const { return cast<Op>(op).getSourceMutable(); }
  OpOperand &getDestinationOperand(Operation *op) const { return cast<Op>(op).getDestMutable(); }
  Value buildSubsetExtraction(Operation *op, OpBuilder &b, Location loc) const {
    auto insert = cast<Op>(op);
    return b.create<tensor::ExtractSliceOp>(loc, insert.getSourceType(), insert.getDest(), insert.getMixedOffsets(),
                                            insert.getMixedSizes(), insert.getMixedStrides());
  }
  SmallVector<Value> getValuesNeededToBuildSubsetExtraction(Operation *op) const {
    auto insert = cast<Op>(op);
    SmallVector<Value> needed{insert.getDest()};
    for (ValueRange values : {insert.getOffsets(), insert.getSizes(), insert.getStrides()})
      llvm::append_range(needed, values);
    return needed;
  }
};
} // namespace

void strata::registerSliceSubsets(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExtractSliceOp::attachInterface<SliceSubset<tensor::ExtractSliceOp>, Extraction>(*context);
    tensor::InsertSliceOp::attachInterface<SliceSubset<tensor::InsertSliceOp>, Insertion<tensor::InsertSliceOp>>(
        *context);
    // Without it, what a loop's iteration computes would be copied to where it belongs.
    tensor::ParallelInsertSliceOp::attachInterface<SliceSubset<tensor::ParallelInsertSliceOp>,
                                                   Insertion<tensor::ParallelInsertSliceOp>>(*context);
  });
}
