/* Philox4x32-10 counter-based random numbers; see strata_runtime.h for what is counter and what is key. */
#include "Internal.h"

#include <math.h>

void strata_rt_philox_4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = (uint64_t)0xD2511F53u * c0, product1 = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)product1;
    c2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)product0;
    /* The Weyl sequence of the key: the golden ratio and sqrt(3) - 1. */
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

static void block(uint64_t seed, uint64_t index, uint32_t out[4]) {
  const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), 0, 0};
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  strata_rt_philox_4x32_10(counter, key, out);
}

uint32_t strata_rt_philox_bits(uint64_t seed, uint64_t index) {
  uint32_t out[4];
  block(seed, index, out);
  return out[0];
}

float strata_rt_philox_uniform_f32(uint64_t seed, uint64_t index) {
  return (float)(strata_rt_philox_bits(seed, index) >> 8) * 0x1p-24f;
}

/* 53 bits, the first word on top. */
static double unit(uint32_t high, uint32_t low) {
  return (double)((((uint64_t)high << 32) | low) >> 11) * 0x1p-53;
}

double strata_rt_philox_uniform_f64(uint64_t seed, uint64_t index) {
  uint32_t out[4];
  block(seed, index, out);
  return unit(out[0], out[1]);
}

double strata_rt_philox_normal_f64(uint64_t seed, uint64_t index) {
  uint32_t out[4];
  block(seed, index, out);
  double u = unit(out[0], out[1]) + 0x1p-53; /* (0, 1] */
  return sqrt(-2.0 * log(u)) * cos(6.283185307179586476925 * unit(out[2], out[3]));
}

float strata_rt_philox_normal_f32(uint64_t seed, uint64_t index) {
  return (float)strata_rt_philox_normal_f64(seed, index);
}

uint64_t strata_rt_random_seed(uint64_t node) {
  strata_run *run = strata_current_run;
  uint64_t seed = run ? run->seed : 0, number = run ? run->number : 0;
  uint32_t out[4];
  const uint32_t counter[4] = {(uint32_t)number, (uint32_t)(number >> 32), (uint32_t)node, (uint32_t)(node >> 32)};
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  strata_rt_philox_4x32_10(counter, key, out);
  return ((uint64_t)out[1] << 32) | out[0];
}
