//===- ApproximateMath.h - transcendental functions -----------------------===//
#ifndef STRATA_CODEGEN_APPROXIMATEMATH_H
#define STRATA_CODEGEN_APPROXIMATEMATH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace strata {

/// Whether a polynomial comes of this operation: many instructions, each of which waits for the one before it.
bool becomesPolynomial(mlir::Operation &op);
/// exp, expm1, erf and tanh of f32.
/// `powerScaling`: x86 has an instruction that multiplies vectors of 512 bits by powers of two.
/// `fused`, here and below: there is an instruction for x y + z.
void populateExpErfPatterns(mlir::RewritePatternSet &patterns, bool powerScaling, bool fused);
/// exp, expm1 and tanh of f64: for processors.
void populateExpF64Patterns(mlir::RewritePatternSet &patterns, bool fused);
/// log and log1p of f32.
void populateLogarithmPatterns(mlir::RewritePatternSet &patterns, bool fused);
/// Powers of f32 by way of f64: for processors, whose f64 is half as fast as f32; many GPUs' is a fraction of that.
void populatePowerPatterns(mlir::RewritePatternSet &patterns, bool powerScaling, bool fused);
/// sin, cos and tan of f32, with angles in f64: for processors, too, as are the next two, since the device library has
/// these functions of f32 by way of f64.
void populateTrigonometryPatterns(mlir::RewritePatternSet &patterns, bool fused);
/// Functions of the module that these patterns call for large angles, for each type that has some; without them they
/// have the instructions in place.
void addLargeAngleFunctions(mlir::ModuleOp module);
/// asin, acos and atan of f32.
void populateInverseTrigonometryPatterns(mlir::RewritePatternSet &patterns, bool fused);
/// sinh, cosh, asinh, acosh and atanh of f32.
void populateHyperbolicPatterns(mlir::RewritePatternSet &patterns, bool fused);
/// All of these.
void populatePolynomialPatterns(mlir::RewritePatternSet &patterns, bool powerScaling, bool fused);
/// Folds what these functions of constants consist of, and upstream doesn't: x y + z rounded once, rounded numbers,
/// branches, and lists of one number.
void populateConstantMathPatterns(mlir::RewritePatternSet &patterns);
/// Divisions of vectors of integers, and remainders of vectors of f32, in wider floating-point types, and remainders of
/// vectors of f64, where products are fused: for processors.
void populateDivisionPatterns(mlir::RewritePatternSet &patterns, bool fused);
/// Conversions from and to bf16 and f16, and rounding divisions, in operations
/// that every target has.
void populateNarrowFloatPatterns(mlir::RewritePatternSet &patterns);

} // namespace strata

#endif // STRATA_CODEGEN_APPROXIMATEMATH_H
