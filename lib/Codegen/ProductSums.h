//===- ProductSums.h - reductions that are sums of products -----*- C++ -*-===//
#ifndef STRATA_CODEGEN_PRODUCTSUMS_H
#define STRATA_CODEGEN_PRODUCTSUMS_H

#include "Codegen/Target.h"
#include "ConstantExpressions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace strata {

/// What a reduction of one result adds to its sum in each step; null if it does anything else.
mlir::Value getAddend(mlir::linalg::GenericOp op);

/// sum + x * y, where x and y are the operation's two inputs, each perhaps extended.
struct ProductSum {
  mlir::Type sum;         ///< the type of products and sum
  mlir::Type elements[2]; ///< the inputs' types
  bool isUnsigned[2];     ///< zero-extended
};

std::optional<ProductSum> matchProductSum(mlir::linalg::GenericOp op);

/// Such a body of f32: `args` are x, y and the sum; factors may be narrower floats or signed integers.
void buildProductSum(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange args);

/// The last dimension of the result, if only input `weights` depends on it.
std::optional<unsigned> getLaneOf(mlir::linalg::GenericOp op, unsigned weights);

/// How often an operand's elements are read: the product of the loops that it does not depend on, 16 for one whose
/// extent only the run tells.
int64_t getUses(mlir::linalg::GenericOp op, mlir::OpOperand *operand);

/// Uses of weights from which on what is computed takes the time; of fewer, reading their bytes does.
constexpr int64_t kManyRows = 16;

/// Whether an operand that is given in each run is used by so many rows that it pays to copy it with the elements of 32
/// bits side by side, as a matrix unit takes them.
bool isWorthCopyingInGroups(mlir::linalg::GenericOp op, mlir::OpOperand *operand);

/// The loop that walks the last dimension of an operand, if one alone does.
std::optional<unsigned> innermost(mlir::AffineMap map);

/// Whether the innermost dimension of a product's data can be split in groups, of weights that are constant or worth
/// copying.
bool canGroup(mlir::linalg::GenericOp op, unsigned weights, const ConstantExpressions &constants);

/// Dimensions of the operand are dimensions of the loops, or constants.
bool isPlain(mlir::AffineMap map);

/// The dimension that `strata-group-reductions` made: the last one of `data`, with 32 bits of elements.
std::optional<unsigned> getGroup(mlir::linalg::GenericOp op, mlir::OpOperand *data);

/// Whether the groups of `data` are such as the target's matrix unit multiplies.
bool isForMatrixUnit(mlir::linalg::GenericOp op, mlir::OpOperand *data, const TargetFacts &target);

/// On a sum of products of unsigned and signed bytes: two such products and their sum fit 16 bits.
constexpr const char kExactPairs[] = "strata.exact_pairs";

/// On the products of an attention whose keys are filled up to whole blocks of so many.
constexpr const char kPaddedKeys[] = "strata.padded_keys";
constexpr int64_t kKeyBlock = 32;

/// On a sum of products of bytes that were extended to 16 bits: the largest magnitude of such a product.
constexpr const char kLargestProduct[] = "strata.largest_product";

/// The same operation, with what earlier passes have noted of its elements, of other inputs and by other loops.
void replaceLoops(mlir::linalg::GenericOp &op, mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                  llvm::ArrayRef<mlir::utils::IteratorType> kinds);

} // namespace strata

#endif // STRATA_CODEGEN_PRODUCTSUMS_H
