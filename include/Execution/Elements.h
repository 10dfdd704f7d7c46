//===- Elements.h - the values of a tensor ----------------------*- C++ -*-===//
//
// Reading, generating and comparing elements of any type; for tools and tests,
// not for speed.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_EXECUTION_ELEMENTS_H
#define STRATA_EXECUTION_ELEMENTS_H

#include "Execution/Interface.h"
#include "Execution/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <complex>

namespace strata {

/// Element `index` of a row-major tensor; 64-bit integers are rounded.
std::complex<double> elementAt(const Tensor &tensor, int64_t index);
void setElement(Tensor &tensor, int64_t index, double value);

/// "1x3x224x224xf32" (also "batchx3xf32" for symbolic sizes taken from
/// `sizes`, 1 by default). The type is f32, i64, ui8, i1, bf16, ... or ONNX's
/// name.
llvm::Expected<Tensor> allocateFromType(llvm::StringRef type, const llvm::StringMap<int64_t> &sizes);
/// Zeroed memory for an input of a model; unknown sizes as above.
llvm::Expected<Tensor> allocateFor(const ValueInfo &info, const llvm::StringMap<int64_t> &sizes);

/// Fills with "zeros", "ones", "range" (0, 1, 2, ...) or "random": uniform on
/// [-1, 1) for floats, [0, 10) for integers (cut to the type), both from
/// Philox with that seed.
llvm::Error fill(Tensor &tensor, llvm::StringRef how, uint64_t seed);

/// Whether |actual - expected| <= atol + rtol * |expected| everywhere, as
/// numpy.isclose has it (NaN equals NaN, infinities must be equal). If not,
/// `why` says how many elements differ and which one most.
bool isClose(const Tensor &actual, const Tensor &expected, double rtol, double atol, std::string &why);

/// "[1, 2, 3, ...]" with the first `count` values.
void printValues(llvm::raw_ostream &os, const Tensor &tensor, int64_t count);

/// A hash of type, shape and bytes.
uint64_t checksum(const Tensor &tensor);

} // namespace strata

#endif // STRATA_EXECUTION_ELEMENTS_H
