/* Philox4x32-10 counter-based random numbers; see strata_runtime.h for what is counter and what is key. */
#include "Internal.h"

#include <stdlib.h>
#include <string.h>

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

/* 53 bits, the first word on top. */
static double unit(uint32_t high, uint32_t low) {
  return (double)((((uint64_t)high << 32) | low) >> 11) * 0x1p-53;
}

double strata_rt_philox_uniform_f64(uint64_t seed, uint64_t index) {
  uint32_t out[4];
  block(seed, index, out);
  return unit(out[0], out[1]);
}

void strata_random_begin_run(strata_run *run) {
  if (run->draws)
    memset(run->draws, 0, run->num_draws * sizeof(*run->draws));
}

void strata_random_end(strata_run *run) { free(run->draws); }

/* How often the node was evaluated in this run before: more than once only inside of loops. */
static uint32_t count_draw(strata_run *run, uint64_t node) {
  if (node >= run->num_draws) {
    size_t count = (size_t)node + 16;
    uint32_t *draws = realloc(run->draws, count * sizeof(*draws));
    if (!draws)
      strata_rt_fail("out of memory");
    memset(draws + run->num_draws, 0, (count - run->num_draws) * sizeof(*draws));
    run->draws = draws;
    run->num_draws = count;
  }
  return run->draws[node]++;
}

static uint64_t derive(uint64_t key, uint64_t number, uint32_t node, uint32_t draw) {
  uint32_t out[4];
  const uint32_t counter[4] = {(uint32_t)number, (uint32_t)(number >> 32), node, draw};
  const uint32_t keys[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
  strata_rt_philox_4x32_10(counter, keys, out);
  return ((uint64_t)out[1] << 32) | out[0];
}

uint64_t strata_rt_random_seed(uint64_t node) {
  strata_run *run = strata_current_run;
  if (!run)
    return derive(0, 0, (uint32_t)node, 0);
  return derive(run->seed, run->number, (uint32_t)node, count_draw(run, node));
}

uint64_t strata_rt_random_advance(uint64_t node, uint64_t seed) {
  strata_run *run = strata_current_run;
  if (!run || !run->advance_seeds)
    return seed;
  uint32_t draw = count_draw(run, node);
  return run->number == 0 && draw == 0 ? seed : derive(seed, run->number, UINT32_MAX, draw);
}
