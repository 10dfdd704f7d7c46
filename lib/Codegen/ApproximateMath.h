//===- ApproximateMath.h - transcendental functions -----------------------===//
#ifndef STRATA_CODEGEN_APPROXIMATEMATH_H
#define STRATA_CODEGEN_APPROXIMATEMATH_H

#include "mlir/IR/PatternMatch.h"

namespace strata {

/// Whether a polynomial comes of this operation of f32: many instructions, each of which waits for the one before it.
bool becomesPolynomial(mlir::Operation &op);
/// What is to be done below `root` before the patterns are applied.
void prepareApproximateMath(mlir::Operation *root);
/// Functions of f32 whose polynomials are accurate everywhere.
void populateApproximateMathPatterns(mlir::RewritePatternSet &patterns, bool powerScaling = false);
/// exp, expm1 and erf of f32.
/// `powerScaling`: x86 has an instruction that multiplies vectors of 512 bits by powers of two.
void populateExpErfPatterns(mlir::RewritePatternSet &patterns, bool powerScaling = false);
/// Powers of f32 by way of f64: for processors, whose f64 is half as fast as f32; many GPUs' is a fraction of that.
/// `fused`, here and below: there is an instruction for x y + z.
void populatePowerPatterns(mlir::RewritePatternSet &patterns, bool powerScaling, bool fused);
/// sin, cos and tan of f32, with angles in f64: for processors, too, as are the next two, since the device library has
/// these functions of f32 by way of f64.
void populateTrigonometryPatterns(mlir::RewritePatternSet &patterns, bool fused);
/// asin, acos and atan of f32.
void populateInverseTrigonometryPatterns(mlir::RewritePatternSet &patterns, bool fused);
/// sinh, cosh, asinh, acosh and atanh of f32.
void populateHyperbolicPatterns(mlir::RewritePatternSet &patterns, bool fused);
/// Divisions of vectors of integers, and remainders of vectors of f32, in wider floating-point types: for processors.
void populateDivisionPatterns(mlir::RewritePatternSet &patterns);
/// Conversions from and to bf16 and f16, and rounding divisions, in operations
/// that every target has.
void populateNarrowFloatPatterns(mlir::RewritePatternSet &patterns);

} // namespace strata

#endif // STRATA_CODEGEN_APPROXIMATEMATH_H
