//===- LoopNest.h - linalg operations on buffers as strided loop nests ----===//
//
// A kernel (a reduction with what initialises and what consumes its result, or
// one elementwise operation) is one nest of loops; every buffer is accessed at
// an offset plus a stride per loop. In this form adjacent loops that walk memory
// as one are seen and merged: the pixels of a 1x1 convolution, the columns and
// channels of a filter window, the dimensions of a contiguous tensor.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_LOOPNEST_H
#define STRATA_CODEGEN_LOOPNEST_H

#include "Codegen/Target.h"
#include "Padding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace strata {

/// A number of elements: known, or a value of type index.
struct Extent {
  int64_t known = 0;
  mlir::Value value;

  bool isKnown() const { return !value; }
  bool is(int64_t number) const { return !value && known == number; }
  bool operator==(const Extent &other) const { return known == other.known && value == other.value; }
};

/// How one operand is read or written.
struct Access {
  mlir::Value scalar; ///< not a buffer: the value itself
  mlir::Value base;   ///< memref<?xT, strided<[1]>> over the whole buffer
  mlir::Value offset; ///< null is zero
  mlir::Type element;
  llvm::SmallVector<Extent> strides; ///< one per loop of the nest
  /// One per loop: that whose iterations are all there is between one iteration of this loop and the next, whatever its
  /// size; -1: none that the buffer's shape tells.
  llvm::SmallVector<int> inside;
  /// A dimension stored in blocks: index (d floordiv block, ..., d mod block, ...). Where `withinStride` is 0, one
  /// element is for a block.
  int blockedLoop = -1;
  int64_t block = 0, withinStride = 1;
  Extent blockStride;
  bool isGiven = false; ///< begins anywhere, where the buffers of this program begin with a line
  Extent ahead;         ///< so many elements behind what is used lies what shall be in the cache next; 0: nothing
};

struct Loop {
  bool reduction = false;
  Extent size;
};

/// One linalg operation of the nest.
struct Stage {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<Access> inputs, outputs;
  llvm::SmallVector<int> loopOf; ///< of the operation's dimensions
  int carried = -1;              ///< the input that is the previous stage's result
  unsigned result = 0;           ///< which of that stage's results
};

struct LoopNest {
  llvm::SmallVector<Loop> loops;
  std::optional<Stage> init; ///< parallel; its result starts the accumulator
  std::optional<Stage> reduce;
  std::optional<Stage> finish;          ///< parallel; stores the results
  llvm::SmallVector<Stage, 0> tails;    ///< reductions along the lanes of what is stored (Tails.h)
  llvm::SmallVector<PaddedLoop> padded; ///< of the reduction

  Stage &last() { return finish ? *finish : *reduce; }
  template <typename F> void forEachStage(F f) {
    for (std::optional<Stage> *stage : {&init, &reduce, &finish})
      if (*stage)
        f(**stage);
    llvm::for_each(tails, f);
  }
  template <typename F> void forEachAccess(F f) {
    forEachStage([&](Stage &stage) {
      llvm::for_each(stage.inputs, f);
      llvm::for_each(stage.outputs, f);
    });
  }
};

/// What joins the accumulator of a reduction with the next value, in parts that may be combined in any order.
struct Combiner {
  mlir::Operation *op = nullptr; ///< in the body: its operands are the accumulator and the value
  /// Of an op that selects the larger or the smaller of the two (a NaN among the values is passed over): what compares
  /// the value with the accumulator.
  mlir::arith::CmpFOp comparison;
  mlir::vector::CombiningKind kind;
  mlir::TypedAttr neutral; ///< the value that changes nothing

  /// Of scalars or vectors.
  mlir::Value join(mlir::OpBuilder &b, mlir::Location loc, mlir::Value accumulator, mlir::Value value) const;
  /// The same of scalars, by a copy of the op with its attributes.
  mlir::Value joinScalars(mlir::OpBuilder &b, mlir::Location loc, mlir::Value accumulator, mlir::Value value) const;
};

/// Which of two zeros is larger is open in ONNX; to tell takes as many instructions as the rest of a maximum or
/// minimum. Nothing happens to other operations. Gives the operation back.
mlir::Operation *leaveZerosOpen(mlir::Operation *op);

/// Nothing if the body is of another form, or a vector has no reduction of its kind.
std::optional<Combiner> matchCombiner(mlir::linalg::GenericOp op);

/// Of a kernel's buffer: by dimension, the argument that is its size; -1: it is known, or none is.
constexpr const char kSizes[] = "strata.sizes";

/// Of a nest's operation that is a tail.
constexpr const char kTail[] = "strata.tail";

/// Whether elements are copied as they are, or, where that is asked for, rounded from f32.
bool isCopy(mlir::Block *body, bool rounds = false);

/// Builds the nest of `ops` (in program order: initialisation, reduction, consumer, tails); fails on accesses that are
/// not affine and on element types without vectors. Creates operations that compute sizes, strides and base buffers
/// before the first one.
mlir::FailureOr<LoopNest> buildLoopNest(mlir::OpBuilder &b, llvm::ArrayRef<mlir::linalg::GenericOp> ops);

/// One operation of a nest whose `loops` its dimensions are (`loopOf`). The buffers `carriedIn` and `carriedOut`, which
/// it reads and writes, do not leave the kernel and have no access. Creates operations as buildLoopNest does.
mlir::FailureOr<Stage> buildStage(mlir::OpBuilder &b, mlir::linalg::GenericOp op, llvm::ArrayRef<int> loopOf,
                                  unsigned loops, mlir::Value carriedIn, mlir::Value carriedOut);

/// Whether the results of groups that have `size` each share vectors on this target.
bool canShareVectors(const TargetFacts &target, int64_t size);

/// The memory of `base` as elements of another type.
mlir::Value viewAs(mlir::OpBuilder &b, mlir::Location loc, mlir::Value base, mlir::Type element);

/// Whether an access has an element for several iterations of a loop, then the next one.
bool isOfGroups(const Access &access, int loop);

/// Drops loops of one iteration and merges those that walk memory as one. Elements that a copy moves together become
/// one; where the emitter `roundsGroups`, also those that it rounds: a body's rounding is then one of the group's
/// numbers.
void simplify(mlir::OpBuilder &b, mlir::Location loc, LoopNest &nest, bool roundsGroups = true);

/// A convolution in groups that share vectors on this target: one loop over the results of all groups, which has lanes
/// for a vector. The groups' data is then an access with one element for a block.
void mergeGroups(LoopNest &nest, const TargetFacts &target);

} // namespace strata

#endif // STRATA_CODEGEN_LOOPNEST_H
