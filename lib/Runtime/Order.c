/* The best elements of each row. */
#include "Heap.h"
#include "Internal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef struct {
  const int64_t *keys;
  int64_t *positions;
  int64_t count, k;
} rows;

#if defined(__x86_64__)
/* Passes by steps of 16 keys of which none is below `last`. */
__attribute__((target("avx2"))) static int64_t pass_by_16(const int64_t *keys, int64_t i, int64_t count, int64_t last) {
  __m256i bound = _mm256_set1_epi64x(last);
  for (; i + 16 <= count; i += 16) {
    const __m256i *four = (const __m256i *)(keys + i);
    __m256i lower = _mm256_setzero_si256();
    for (int j = 0; j < 4; ++j)
      lower = _mm256_or_si256(lower, _mm256_cmpgt_epi64(bound, _mm256_loadu_si256(four + j)));
    if (!_mm256_testz_si256(lower, lower))
      break;
  }
  return i;
}
#endif

/* Passes by keys of which none is below `last`; somewhere in the next 16 one may be. */
static int64_t pass_by(const int64_t *keys, int64_t i, int64_t count, int64_t last) {
#if defined(__x86_64__)
  if (strata_cpu_has_avx2())
    return pass_by_16(keys, i, count, last);
#endif
  while (i + 4 <= count && keys[i] >= last && keys[i + 1] >= last && keys[i + 2] >= last && keys[i + 3] >= last)
    i += 4;
  return i;
}

/* The last one of the first k so far is on top of the heap, where only a better one takes its place: with its bits
 * inverted it is the first. Later elements of an equal key are not better. */
static void order_rows(int64_t begin, int64_t end, void *context) {
  const rows *r = context;
  entry *heap = strata_rt_alloc((uint64_t)r->k * sizeof(entry), 64);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t *keys = r->keys + row * r->count;
    int64_t *positions = r->positions + row * r->k, size = r->k;
    for (int64_t i = 0; i < size; ++i)
      heap[i] = (entry){~keys[i], ~i};
    make_heap(heap, size);
    int64_t last = ~heap[0].key;
    for (int64_t i = size; i < r->count;) {
      /* Few are better once the first ones have been seen. */
      i = pass_by(keys, i, r->count, last);
      for (int64_t end_of_step = i + 16 < r->count ? i + 16 : r->count; i < end_of_step; ++i)
        if (keys[i] < last) {
          heap[0] = (entry){~keys[i], ~i};
          sink(heap, size, 0);
          last = ~heap[0].key;
        }
    }
    while (size > 0) {
      int64_t place = size - 1;
      positions[place] = ~pop(heap, &size).position;
    }
  }
  strata_rt_free(heap);
}

void strata_rt_first_of_rows(const void *keys, void *positions) {
  const strata_memref *in = keys, *out = positions;
  rows r = {(const int64_t *)in->aligned + in->offset, (int64_t *)out->aligned + out->offset, in->sizes[1],
            out->sizes[1]};
  if (r.k == 0)
    return;
  /* Some ten thousand elements are worth a thread. */
  int64_t grain = 1 + 16384 / (r.count + 16 * r.k);
  strata_rt_parallel_for(order_rows, 0, in->sizes[0], grain, &r);
}
