//===- CacheBlocks.h - what of a nest's data stays in the cache -*- C++ -*-===//
#ifndef STRATA_LIB_CODEGEN_CACHEBLOCKS_H
#define STRATA_LIB_CODEGEN_CACHEBLOCKS_H

#include "NestPlan.h"

namespace strata {

/// Whether the elements that a reduction's lanes read, which all rows share, may be too many for the cache.
bool hasLargeWeights(const LoopNest &nest, const NestPlan &plan, int64_t bits, int64_t cacheBytes);

/// Which parts of the data stay in the cache while all weights pass, and whether what is read comes from behind it.
/// `bits` are those of an element of the weights, `dataBits` of the data.
void planCacheBlocks(const LoopNest &nest, const NestOptions &options, int64_t bits, int64_t dataBits, NestPlan &plan);

} // namespace strata

#endif // STRATA_LIB_CODEGEN_CACHEBLOCKS_H
