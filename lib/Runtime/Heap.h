/* A heap of keys and their positions, for taking the first ones of many in their order. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The lower key first; of equal ones the lower position. */
typedef struct {
  int64_t key, position;
} entry;

static inline bool is_before(entry x, entry y) { return x.key != y.key ? x.key < y.key : x.position < y.position; }

/* Lets the entry at `i` sink to where no child of it comes first. */
static inline void sink(entry *heap, int64_t size, int64_t i) {
  entry moved = heap[i];
  for (int64_t child; (child = 2 * i + 1) < size; i = child) {
    child += child + 1 < size && is_before(heap[child + 1], heap[child]);
    if (!is_before(heap[child], moved))
      break;
    heap[i] = heap[child];
  }
  heap[i] = moved;
}

static inline void make_heap(entry *heap, int64_t size) {
  for (int64_t i = size / 2; i-- > 0;)
    sink(heap, size, i);
}

/* Takes the first one out. */
static inline entry pop(entry *heap, int64_t *size) {
  entry first = heap[0];
  heap[0] = heap[--*size];
  sink(heap, *size, 0);
  return first;
}
