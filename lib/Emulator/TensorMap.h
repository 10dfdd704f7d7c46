//===- TensorMap.h - what cuTensorMapEncodeTiled makes --------------------===//
#ifndef STRATA_EMULATOR_TENSORMAP_H
#define STRATA_EMULATOR_TENSORMAP_H

#include <cstdint>

namespace strata::emulator {

/// 128 bytes in which the driver describes a tensor in device memory, and the box of it that one copy takes.
struct TensorMap {
  static constexpr uint32_t expectedMagic = 0x70A5B0C5;
  enum Type : uint8_t { Byte = 0, Half = 6, BFloat = 9, TensorFloat = 11 };

  uint32_t magic;
  uint8_t type, elementBytes, rank, swizzle; ///< none, 32, 64 or 128 bytes
  const char *address;
  uint64_t sizes[5], strides[4]; ///< strides in bytes, from the second dimension on
  uint16_t box[5];
  uint8_t steps[5];

  /// Elements of a box along a dimension.
  unsigned copied(unsigned dimension) const { return (box[dimension] + steps[dimension] - 1) / steps[dimension]; }
};
static_assert(sizeof(TensorMap) <= 128);

} // namespace strata::emulator

#endif // STRATA_EMULATOR_TENSORMAP_H
