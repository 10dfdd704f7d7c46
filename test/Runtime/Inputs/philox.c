// The known answers published with Random123 (kat_vectors, philox4x32 with 10 rounds), and the derived numbers.
#include "Runtime/strata_runtime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  static const struct {
    uint32_t counter[4], key[2], expected[4];
  } known[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (int i = 0; i < 3; ++i) {
    uint32_t out[4];
    strata_rt_philox_4x32_10(known[i].counter, known[i].key, out);
    if (memcmp(out, known[i].expected, sizeof(out))) {
      printf("vector %d differs: %08x %08x %08x %08x\n", i, out[0], out[1], out[2], out[3]);
      return 1;
    }
  }
  if (strata_rt_philox_bits(0, 0) != 0x6627e8d5 ||
      strata_rt_philox_uniform_f64(0, 0) != (0x6627e8d5e169c58d >> 11) * 0x1p-53)
    return puts("counter or key are not where they belong"), 1;
  // Mean and deviation of 2^16 numbers: within six standard errors.
  double sum = 0, squares = 0;
  int n = 1 << 16;
  for (int i = 0; i < n; ++i) {
    double x = strata_rt_philox_uniform_f64(42, i) - 0.5;
    sum += x, squares += x * x;
  }
  if (fabs(sum / n) > 6 * sqrt(1 / 12.0 / n) || fabs(squares / n - 1 / 12.0) > 6 * sqrt(1 / 180.0 / n))
    return printf("moments: %g %g\n", sum / n, squares / n), 1;
  puts("philox: ok");
}
