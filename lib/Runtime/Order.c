/* What depends on the order of many elements: the best of each row, and boxes that are taken in the order of scores. */
#include "Internal.h"

#pragma STDC FP_CONTRACT OFF

/* The lower key first; of equal ones the lower position. */
typedef struct {
  int64_t key, position;
} entry;

static inline bool is_before(entry x, entry y) {
  return x.key != y.key ? x.key < y.key : x.position < y.position;
}

/* Lets the entry at `i` sink to where no child of it comes first. */
static void sink(entry *heap, int64_t size, int64_t i) {
  entry moved = heap[i];
  for (int64_t child; (child = 2 * i + 1) < size; i = child) {
    child += child + 1 < size && is_before(heap[child + 1], heap[child]);
    if (!is_before(heap[child], moved))
      break;
    heap[i] = heap[child];
  }
  heap[i] = moved;
}

static void make_heap(entry *heap, int64_t size) {
  for (int64_t i = size / 2; i-- > 0;)
    sink(heap, size, i);
}

/* Takes the first one out. */
static entry pop(entry *heap, int64_t *size) {
  entry first = heap[0];
  heap[0] = heap[--*size];
  sink(heap, *size, 0);
  return first;
}

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

/* The corners of boxes, each number with those of the other boxes, and their areas. */
typedef struct {
  float *low[2], *high[2], *area;
} corners;

static float lower(float x, float y) { return x < y ? x : y; }
static float upper(float x, float y) { return x > y ? x : y; }

/* Whether box `b` of `all` and one of the `count` boxes of `taken` overlap by more than the threshold. */
static bool overlaps(const corners *all, int64_t b, const corners *taken, int64_t count, float threshold) {
  enum { block = 64 };
  float low0 = all->low[0][b], high0 = all->high[0][b], low1 = all->low[1][b], high1 = all->high[1][b];
  float area = all->area[b];
  for (int64_t first = 0; first < count; first += block) {
    int64_t last = first + block < count ? first + block : count;
    int found = 0;
    for (int64_t i = first; i < last; ++i) {
      float side0 = lower(high0, taken->high[0][i]) - upper(low0, taken->low[0][i]);
      float side1 = lower(high1, taken->high[1][i]) - upper(low1, taken->low[1][i]);
      float common = side0 * side1, whole = area + taken->area[i] - common;
      found |= (side0 > 0) & (side1 > 0) & (common > 0) & (area > 0) & (taken->area[i] > 0) & (whole > 0) &
               (common / whole > threshold);
    }
    if (found)
      return true;
  }
  return false;
}

static corners cut_corners(float *numbers, int64_t count) {
  return (corners){{numbers, numbers + count}, {numbers + 2 * count, numbers + 3 * count}, numbers + 4 * count};
}

/* Of boxes given as two corners, or as center and size. */
static void read_corners(const corners *to, const float *boxes, int64_t count, bool centers) {
  for (int64_t i = 0; i < count; ++i, boxes += 4) {
    for (int axis = 0; axis < 2; ++axis) {
      float x = boxes[axis], y = boxes[axis + 2], half = y * 0.5f;
      to->low[axis][i] = centers ? x - half : lower(x, y);
      to->high[axis][i] = centers ? x + half : upper(x, y);
    }
    to->area[i] = (to->high[0][i] - to->low[0][i]) * (to->high[1][i] - to->low[1][i]);
  }
}

/* A key whose order is the opposite of the scores'; NaN comes last. */
static int64_t key_of(float score) {
  union {
    float number;
    int32_t bits;
  } u = {score + 0.0f}; /* a zero has no sign */
  if (score != score)
    return INT64_MAX;
  return -(int64_t)(u.bits < 0 ? INT32_MIN - (int64_t)u.bits : u.bits);
}

int64_t strata_rt_non_max_suppression(const void *boxes, const void *scores, int64_t limit, float overlap,
                                      int64_t has_least, float least, int64_t centers, void *selected) {
  const strata_memref *box = boxes, *score = scores, *out = selected;
  int64_t batches = score->sizes[0], classes = score->sizes[1], count = score->sizes[2];
  const float *number = (const float *)box->aligned + box->offset, *value = (const float *)score->aligned + score->offset;
  int64_t *row = (int64_t *)out->aligned + out->offset;
  if (limit == 0 || count == 0)
    return 0;
  entry *heap = strata_rt_alloc((uint64_t)count * sizeof(entry), 64);
  float *numbers = strata_rt_alloc((uint64_t)(count + limit) * 5 * sizeof(float), 64);
  corners all = cut_corners(numbers, count), taken = cut_corners(numbers + 5 * count, limit);
  for (int64_t batch = 0; batch < batches; ++batch) {
    read_corners(&all, number + batch * count * 4, count, centers);
    for (int64_t class = 0; class < classes; ++class, value += count) {
      int64_t size = 0, found = 0;
      for (int64_t i = 0; i < count; ++i)
        if (!has_least || value[i] > least)
          heap[size++] = (entry){key_of(value[i]), i};
      make_heap(heap, size);
      while (size > 0 && found < limit) {
        int64_t b = pop(heap, &size).position;
        if (overlaps(&all, b, &taken, found, overlap))
          continue;
        for (int axis = 0; axis < 2; ++axis) {
          taken.low[axis][found] = all.low[axis][b];
          taken.high[axis][found] = all.high[axis][b];
        }
        taken.area[found++] = all.area[b];
        *row++ = batch;
        *row++ = class;
        *row++ = b;
      }
    }
  }
  strata_rt_free(numbers);
  strata_rt_free(heap);
  return (row - ((int64_t *)out->aligned + out->offset)) / 3;
}
