// All 2^16 halves and bfloats there and back; rounding against the compiler's own conversions in a volatile loop.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
float __extendhfsf2(_Float16);
double __extendhfdf2(_Float16);
__bf16 __truncsfbf2(float);
__bf16 __truncdfbf2(double);

static uint16_t half_bits(_Float16 h) {
  uint16_t b;
  memcpy(&b, &h, 2);
  return b;
}
static uint16_t bfloat_bits(__bf16 h) {
  uint16_t b;
  memcpy(&b, &h, 2);
  return b;
}
static float float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

// The value of a half by the definition of the format.
static double half_value(uint16_t b) {
  int e = b >> 10 & 31, m = b & 1023;
  double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
  return b >> 15 ? -v : v;
}
static double bfloat_value(uint16_t b) { return float_of((uint32_t)b << 16); }

// The nearest of the values of a format with 2^16 codes, by search among the positive finite codes.
static uint16_t nearest(double x, double (*value)(uint16_t), uint16_t infinity) {
  uint16_t sign = signbit(x) ? 0x8000 : 0, low = 0, high = infinity;
  x = fabs(x);
  while (high - low > 1) { // value(low) <= x < value(high)
    uint16_t middle = (low + high) / 2;
    if (value(middle) <= x)
      low = middle;
    else
      high = middle;
  }
  // Beyond the largest finite value the grid goes on as if the exponent were not at its end.
  double below = value(low), above = high == infinity ? 2 * below - value(low - 1) : value(high);
  double half = below + (above - below) / 2;
  return sign | (x < half || (x == half && !(low & 1)) ? low : high);
}

int main(void) {
  for (uint32_t b = 0; b < 0x10000; ++b) {
    _Float16 h;
    uint16_t bits = b;
    memcpy(&h, &bits, 2);
    double v = half_value(b);
    if (isnan(v)) {
      if (!isnan(__extendhfsf2(h)) || (half_bits(__truncsfhf2(__extendhfsf2(h))) & 0x7c00) != 0x7c00)
        return printf("nan %04x\n", b), 1;
    } else if (__extendhfsf2(h) != v || __extendhfdf2(h) != v || half_bits(__truncdfhf2(v)) != b) {
      return printf("half %04x\n", b), 1;
    }
    double w = bfloat_value(b);
    if (!isnan(w) && (bfloat_bits(__truncsfbf2(w)) != b || bfloat_bits(__truncdfbf2(w)) != b))
      return printf("bfloat %04x\n", b), 1;
  }
  uint64_t state = 1;
  for (int i = 0; i < 2000000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // Every float exponent for bfloat; the exponents around the half's range for half, with many exact ties.
    uint32_t r = state >> 32;
    if (i & 1)
      r &= 0xffffe000 | (i & 2 ? 0x1000 : 0);
    float f = float_of(r), g = float_of((r & 0x80ffffff) | (95 + (r >> 24) % 52) % 255 << 23);
    if (!isnan(f) && !isinf(f) && bfloat_bits(__truncsfbf2(f)) != nearest(f, bfloat_value, 0x7f80))
      return printf("float %a to bfloat %04x\n", f, bfloat_bits(__truncsfbf2(f))), 1;
    if (!isnan(g) && !isinf(g) && half_bits(__truncsfhf2(g)) != nearest(g, half_value, 0x7c00))
      return printf("float %a to half %04x\n", g, half_bits(__truncsfhf2(g))), 1;
    // A double just above a tie must not be rounded through float.
    double d = half_value(r % 0x7bff) + (half_value(r % 0x7bff + 1) - half_value(r % 0x7bff)) / 2;
    if (half_bits(__truncdfhf2(nextafter(d, INFINITY))) != r % 0x7bff + 1 ||
        half_bits(__truncdfhf2(nextafter(d, 0))) != r % 0x7bff)
      return printf("double %a\n", d), 1;
  }
  puts("halves: ok");
}
