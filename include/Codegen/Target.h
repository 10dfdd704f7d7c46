//===- Target.h - what code generation knows of the machine -----*- C++ -*-===//
//
// The one description that passes ask: derived from LLVM's of the target
// (lib/Pipeline/Target.cpp), and, for the machine that compiles, from its
// operating system. No pass knows a CPU's name, and no other place holds a
// number of one machine.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_TARGET_H
#define STRATA_CODEGEN_TARGET_H

#include <cstdint>

namespace strata {

struct TargetFacts {
  unsigned vectorBits = 128; ///< widest vector register worth using
  unsigned registers = 16;   ///< number of vector registers
  bool fma = false;          ///< fused multiply-add of f32 and f64 vectors
  unsigned fmaPerCycle = 2;  ///< vector multiply-adds that begin in a cycle
  unsigned fmaLatency = 4;   ///< cycles until the sum of one is there
  bool bf16Tiles = false;    ///< a matrix unit: tiles of bf16 to sums of f32
  bool int8Tiles = false;    ///< the same of 8-bit integers to sums of i32
  bool byteDots = false;     ///< x86 vectors that add products of four bytes
  bool pairDots = false;     ///< x86 vectors that add products of two 16-bit integers
  bool spareAdders = false;  ///< at least twice as many of these can be added in a cycle as multiplied
  bool bf16Dots = false;     ///< x86 vectors that add products of two bf16 to sums of f32
  bool f16Loads = false;     ///< vectors of f16 become f32 as they are loaded
  bool integerPacks = false; ///< x86 vectors, which narrow integers by saturation and round what becomes one
  bool gathers = false;      ///< a vector is loaded whose lanes each have their own place in memory
  bool partLoads = false;    ///< vectors of which some lanes are loaded, whatever memory the others would be in
  bool powerScaling = false; ///< x86 vectors of 512 bits that multiply by powers of two
  unsigned tileCycles = 16;  ///< of one product of two tiles
  /// Of the first and the second level: a core has both to itself.
  int64_t nearCacheBytes = 32 << 10, cacheBytes = 1 << 20;
  int64_t lineBytes = 64;        ///< of a line of the caches
  int64_t pageBytes = 4 << 10;   ///< of what hardware fetches ahead in, and not beyond
  int64_t streamBytes = 8 << 20; ///< results of this size have left even the last level when they are read
  unsigned nearLatency = 96;     ///< cycles ahead at which a line of the second level is best asked for
  /// Bytes in a cycle that reach one core from the last level of the caches when all are read in order, and from
  /// memory.
  double streamRate = 8, memoryRate = 4.5;
  double cyclesPerNs = 4; ///< the clock: estimates of times need no more than its magnitude
};

/// Whether vectors add products of two bytes in 16 bits. (Of 128 bits, the first ones have no such instruction.)
template <typename Target> bool addsBytePairs(const Target &target) {
  return target.pairDots && target.vectorBits == 256;
}

/// The facts that `targetOptions` in Passes.td gives to passes as options, from one of both to the other.
template <typename To, typename From> void copyTarget(To &to, const From &from) {
  to.vectorBits = from.vectorBits;
  to.registers = from.registers;
  to.fma = from.fma;
  to.fmaPerCycle = from.fmaPerCycle;
  to.fmaLatency = from.fmaLatency;
  to.bf16Tiles = from.bf16Tiles;
  to.int8Tiles = from.int8Tiles;
  to.byteDots = from.byteDots;
  to.pairDots = from.pairDots;
  to.bf16Dots = from.bf16Dots;
  to.integerPacks = from.integerPacks;
  to.gathers = from.gathers;
  to.partLoads = from.partLoads;
  to.tileCycles = from.tileCycles;
  to.nearCacheBytes = from.nearCacheBytes;
  to.cacheBytes = from.cacheBytes;
  to.lineBytes = from.lineBytes;
  to.pageBytes = from.pageBytes;
  to.streamBytes = from.streamBytes;
  to.nearLatency = from.nearLatency;
  to.streamRate = from.streamRate;
  to.memoryRate = from.memoryRate;
  to.cyclesPerNs = from.cyclesPerNs;
}

/// A pass with these options: as facts again.
template <typename Base> struct WithTarget : Base {
  using Base::Base;

  TargetFacts target() const {
    TargetFacts facts;
    copyTarget(facts, *this);
    return facts;
  }

private:
  template <typename To, typename From> friend void copyTarget(To &to, const From &from);
};

} // namespace strata

#endif // STRATA_CODEGEN_TARGET_H
