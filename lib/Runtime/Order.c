/* The best elements of each row. */
#include "Heap.h"
#include "Internal.h"

typedef struct {
  const int64_t *keys;
  int64_t *positions;
  int64_t count, k;
} rows;

static void order_rows(int64_t begin, int64_t end, void *context) {
  const rows *r = context;
  entry *heap = strata_rt_alloc((uint64_t)r->count * sizeof(entry), 64);
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t i = 0; i < r->count; ++i)
      heap[i] = (entry){r->keys[row * r->count + i], i};
    make_heap(heap, r->count);
    int64_t size = r->count;
    for (int64_t i = 0; i < r->k; ++i)
      r->positions[row * r->k + i] = pop(heap, &size).position;
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
