/* Conversions between float formats that LLVM calls where the target has no instruction for them; all of them round
 * to nearest, ties to even. */
#include "Internal.h"

#include <string.h>

/* Rounds a finite or infinite double to a format with `mantissa` stored bits, least normal exponent `min` and largest
 * exponent `max`, whose biased exponent has the bias 1 - min. Rounding from double at once: rounding through float
 * first would round twice. NaNs become quiet and keep their top payload bits. */
static uint16_t narrow(double value, int mantissa, int min, int max) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  uint16_t sign = (uint16_t)((bits >> 63) << 15);
  int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
  uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
  uint16_t infinity = (uint16_t)((max + 2 - min) << mantissa);
  if (exponent == 1024) {
    if (fraction == 0)
      return sign | infinity;
    return sign | infinity | (uint16_t)(1 << (mantissa - 1)) | (uint16_t)(fraction >> (52 - mantissa));
  }
  if (exponent > max)
    return sign | infinity;
  /* The significand with its hidden bit, to be shifted so that one unit is the format's last place. */
  uint64_t significand = fraction | ((uint64_t)1 << 52);
  int shift = 52 - mantissa;
  uint32_t result = 0;
  if (exponent < min)
    shift += min - exponent;
  else
    result = (uint32_t)(exponent - min) << mantissa; /* the hidden bit adds the one that is missing */
  if (shift > 54)
    return sign;
  uint64_t rest = significand & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
  result += (uint32_t)(significand >> shift);
  if (rest > half || (rest == half && (result & 1)))
    ++result; /* may carry into the exponent, up to infinity: both are right */
  return sign | (uint16_t)result;
}

static float widen_half(uint16_t half) {
  uint32_t sign = (uint32_t)(half >> 15) << 31, exponent = (half >> 10) & 31, fraction = half & 1023;
  uint32_t bits;
  if (exponent == 31) {
    bits = sign | 0x7f800000u | (fraction ? 0x400000u | (fraction << 13) : 0);
  } else if (exponent == 0) {
    float value = (float)fraction * 0x1p-24f;
    memcpy(&bits, &value, 4);
    bits |= sign;
  } else {
    bits = sign | ((exponent + 112) << 23) | (fraction << 13);
  }
  float result;
  memcpy(&result, &bits, 4);
  return result;
}

/* The types' own calling convention: on x86-64 and AArch64 halves travel in vector registers. */
typedef _Float16 half_t;
typedef __bf16 bfloat_t;

static half_t half_of(uint16_t bits) {
  half_t result;
  memcpy(&result, &bits, 2);
  return result;
}

static bfloat_t bfloat_of(uint16_t bits) {
  bfloat_t result;
  memcpy(&result, &bits, 2);
  return result;
}

STRATA_API half_t __truncsfhf2(float value);
STRATA_API half_t __truncdfhf2(double value);
STRATA_API float __extendhfsf2(half_t value);
STRATA_API double __extendhfdf2(half_t value);
STRATA_API bfloat_t __truncsfbf2(float value);
STRATA_API bfloat_t __truncdfbf2(double value);

half_t __truncsfhf2(float value) { return half_of(narrow(value, 10, -14, 15)); }
half_t __truncdfhf2(double value) { return half_of(narrow(value, 10, -14, 15)); }
bfloat_t __truncsfbf2(float value) { return bfloat_of(narrow(value, 7, -126, 127)); }
bfloat_t __truncdfbf2(double value) { return bfloat_of(narrow(value, 7, -126, 127)); }

float __extendhfsf2(half_t value) {
  uint16_t bits;
  memcpy(&bits, &value, 2);
  return widen_half(bits);
}

double __extendhfdf2(half_t value) { return __extendhfsf2(value); }
