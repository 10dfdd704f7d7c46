//===- Logarithm.h - the parts of logarithms of f32 -------------*- C++ -*-===//
#ifndef STRATA_CODEGEN_LOGARITHM_H
#define STRATA_CODEGEN_LOGARITHM_H

#include "FloatBuilder.h"

namespace strata {

/// log(y) = n ln 2 + f + rest of a y > 0 and not subnormal; of others, any number.
struct Logarithm {
  mlir::Value n, f, rest;

  Logarithm(Floats &b, mlir::Value y) {
    mlir::Value e = exponent(b, y);
    n = b.create<mlir::arith::SIToFPOp>(b.type, e);
    f = b.subtract(scaled(b, y, e), b.number(1));
    rest = restOf(b, f);
  }

  /// The e of y = 2^e m, m in [sqrt(1/2), sqrt(2)).
  static mlir::Value exponent(Floats &b, mlir::Value y) {
    mlir::Value relative = b.create<mlir::arith::SubIOp>(b.bits(y), b.integer(0x3f3504f3));
    return b.create<mlir::arith::ShRSIOp>(relative, b.integer(23));
  }
  /// x 2^-e of an x for which that is no subnormal number, or of e = 0.
  static mlir::Value scaled(Floats &b, mlir::Value x, mlir::Value e) {
    mlir::Value exponents = b.create<mlir::arith::ShLIOp>(e, b.integer(23));
    return b.fromBits(b.create<mlir::arith::SubIOp>(b.bits(x), exponents));
  }
  /// log(1 + f) - f of 1 + f in [sqrt(1/2), sqrt(2)).
  static mlir::Value restOf(Floats &b, mlir::Value f) {
    return b.multiply(b.multiply(f, f),
                      b.multiplyAdds(f, {-0x1.38a074p-4f, 0x1.07479cp-3f, -0x1.0e7deap-3f, 0x1.229becp-3f,
                                         -0x1.544e8ap-3f, 0x1.99a21cp-3f, -0x1.0002c6p-2f, 0x1.555552p-2f, -0.5f}));
  }
};

} // namespace strata

#endif // STRATA_CODEGEN_LOGARITHM_H
