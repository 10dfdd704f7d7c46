/* NonMaxSuppression: boxes are taken in the order of their scores unless they overlap with one that was taken.
 *
 * Comparing each box with all that were taken is quadratic. Once many are taken, they are filed in a tree whose leaves
 * are groups of boxes that lie near each other, and a box is compared with the groups that it touches. Whether it
 * overlaps with any does not depend on the order of comparisons, so the result is the same. */
#include "Heap.h"
#include "Internal.h"

#include <math.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

/* The corners of boxes, each number with those of the other boxes, and their areas. */
typedef struct {
  float *low[2], *high[2], *area;
} corners;

static inline float lower(float x, float y) { return x < y ? x : y; }
static inline float upper(float x, float y) { return x > y ? x : y; }

static corners cut_corners(float *numbers, int64_t count) {
  return (corners){{numbers, numbers + count}, {numbers + 2 * count, numbers + 3 * count}, numbers + 4 * count};
}

static void copy_corners(const corners *from, int64_t i, const corners *to, int64_t j) {
  for (int axis = 0; axis < 2; ++axis) {
    to->low[axis][j] = from->low[axis][i];
    to->high[axis][j] = from->high[axis][i];
  }
  to->area[j] = from->area[i];
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

/* Whether box `b` of `all` and one of the boxes begin .. end of `taken` overlap by more than the threshold. */
static bool overlaps(const corners *all, int64_t b, const corners *taken, int64_t begin, int64_t end, float threshold) {
  enum { block = 64 };
  float low0 = all->low[0][b], high0 = all->high[0][b], low1 = all->low[1][b], high1 = all->high[1][b];
  float area = all->area[b];
  for (int64_t first = begin; first < end; first += block) {
    int64_t last = first + block < end ? first + block : end;
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

/* Boxes of one leaf, and how many are taken before they are worth a tree. */
enum { leaf_size = 32, worth_a_tree = 512 };

/* A complete binary tree: node 1 is the root, 2 n and 2 n + 1 are the children of n, the leaves come last. */
typedef struct {
  int64_t leaves;
  int32_t *leaf_of; /* of each box */
  int32_t *filled;  /* how many boxes of each leaf are taken; they lie from leaf_size * leaf on */
  corners taken;
  float (*bounds)[4]; /* of each node, what its taken boxes span: low, low, high, high */
} tree;

/* Puts the boxes with the lowest centers along an axis first: `first` of those in `order`. */
static void part(const corners *all, int axis, int32_t *order, int64_t count, int64_t first) {
  const float *low = all->low[axis], *high = all->high[axis];
  int64_t begin = 0, end = count - 1;
  while (begin < end) {
    int64_t i = begin, j = end;
    int32_t middle = order[begin + (end - begin) / 2];
    float pivot = low[middle] + high[middle];
    while (i <= j) {
      while (low[order[i]] + high[order[i]] < pivot)
        ++i;
      while (low[order[j]] + high[order[j]] > pivot)
        --j;
      if (i <= j) {
        int32_t other = order[i];
        order[i++] = order[j];
        order[j--] = other;
      }
    }
    if (first <= j)
      end = j;
    else if (first >= i)
      begin = i;
    else
      return;
  }
}

/* The axis along which the centers of boxes differ most. */
static int longer_axis(const corners *all, const int32_t *order, int64_t count) {
  float side[2];
  for (int axis = 0; axis < 2; ++axis) {
    float least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < count; ++i) {
      float center = all->low[axis][order[i]] + all->high[axis][order[i]];
      least = lower(center, least);
      most = upper(center, most);
    }
    side[axis] = most - least;
  }
  return side[1] > side[0];
}

/* Gives the boxes in `order` to so many leaves from `leaf` on: a half to each half of them. */
static void assign_leaves(tree *t, const corners *all, int32_t *order, int64_t count, int64_t leaf, int64_t leaves) {
  if (leaves == 1) {
    for (int64_t i = 0; i < count; ++i)
      t->leaf_of[order[i]] = (int32_t)leaf;
    return;
  }
  int64_t half = (count + 1) / 2;
  part(all, longer_axis(all, order, count), order, count, half);
  assign_leaves(t, all, order, half, leaf, leaves / 2);
  assign_leaves(t, all, order + half, count - half, leaf + leaves / 2, leaves / 2);
}

static void plant(tree *t, const corners *all, int64_t count) {
  for (t->leaves = 1; t->leaves * leaf_size < count;)
    t->leaves *= 2;
  int64_t slots = t->leaves * leaf_size;
  t->bounds = strata_rt_alloc((uint64_t)t->leaves * 2 * sizeof *t->bounds, 64);
  t->leaf_of = strata_rt_alloc((uint64_t)count * sizeof(int32_t), 64);
  t->filled = strata_rt_alloc((uint64_t)t->leaves * sizeof(int32_t), 64);
  t->taken = cut_corners(strata_rt_alloc((uint64_t)slots * 5 * sizeof(float), 64), slots);
  int32_t *order = strata_rt_alloc((uint64_t)count * sizeof(int32_t), 64);
  int64_t size = 0;
  for (int64_t i = 0; i < count; ++i)
    if (all->area[i] > 0)
      order[size++] = (int32_t)i;
  assign_leaves(t, all, order, size, 0, t->leaves);
  strata_rt_free(order);
}

static void fell(tree *t) {
  strata_rt_free(t->taken.low[0]);
  strata_rt_free(t->filled);
  strata_rt_free(t->leaf_of);
  strata_rt_free(t->bounds);
}

/* Nothing is taken. */
static void clear(tree *t) {
  memset(t->filled, 0, (size_t)t->leaves * sizeof *t->filled);
  for (int64_t i = 0; i < 2 * t->leaves; ++i)
    for (int side = 0; side < 4; ++side)
      t->bounds[i][side] = side < 2 ? INFINITY : -INFINITY;
}

/* A box without an area overlaps with none, and is not in the tree. So is one with a NaN. */
static void file(tree *t, const corners *all, int64_t b) {
  if (!(all->area[b] > 0))
    return;
  int64_t leaf = t->leaf_of[b];
  copy_corners(all, b, &t->taken, leaf * leaf_size + t->filled[leaf]++);
  for (int64_t node = t->leaves + leaf; node > 0; node /= 2)
    for (int axis = 0; axis < 2; ++axis) {
      float *bounds = t->bounds[node];
      bounds[axis] = lower(all->low[axis][b], bounds[axis]);
      bounds[axis + 2] = upper(all->high[axis][b], bounds[axis + 2]);
    }
}

/* Whether a box may overlap enough with one inside these bounds: what they have in common is not less than what it has
 * with that one, and the union not less than the box. The factor is for rounding errors, which subnormal numbers do
 * not keep to. */
static inline bool reaches(const corners *all, int64_t b, const float bounds[4], float threshold) {
  float side0 = lower(all->high[0][b], bounds[2]) - upper(all->low[0][b], bounds[0]);
  float side1 = lower(all->high[1][b], bounds[3]) - upper(all->low[1][b], bounds[1]);
  float needed = 0.999f * threshold * all->area[b];
  return (side0 > 0) & (side1 > 0) & !((needed > 1e-30f) & (side0 * side1 < needed));
}

static bool overlaps_in_tree(const tree *t, const corners *all, int64_t b, float threshold) {
  if (!(all->area[b] > 0))
    return false;
  int64_t pending[64], size = 0; /* one for each level at most, and one */
  for (pending[size++] = 1; size > 0;) {
    int64_t node = pending[--size];
    if (!reaches(all, b, t->bounds[node], threshold))
      continue;
    if (node < t->leaves) {
      pending[size++] = 2 * node;
      pending[size++] = 2 * node + 1;
      continue;
    }
    int64_t leaf = node - t->leaves, begin = leaf * leaf_size;
    if (overlaps(all, b, &t->taken, begin, begin + t->filled[leaf], threshold))
      return true;
  }
  return false;
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

/* What one batch entry's classes share. */
typedef struct {
  corners all;
  int64_t count;
  bool planted; /* once for all classes: the tree is that of all boxes */
  tree tree;
} scene;

/* Takes the boxes of one class from the heap; their numbers, and how many they are, not more than `limit`. */
static int64_t select_boxes(scene *s, entry *heap, int64_t size, float overlap, int64_t limit, int64_t *selected) {
  float numbers[5 * worth_a_tree];
  corners taken = cut_corners(numbers, worth_a_tree);
  int64_t found = 0;
  bool few = true;
  while (size > 0 && found < limit) {
    int64_t b = pop(heap, &size).position;
    if (few ? overlaps(&s->all, b, &taken, 0, found, overlap) : overlaps_in_tree(&s->tree, &s->all, b, overlap))
      continue;
    if (few && found == worth_a_tree) {
      few = false;
      if (!s->planted)
        plant(&s->tree, &s->all, s->count);
      s->planted = true;
      clear(&s->tree);
      for (int64_t i = 0; i < found; ++i)
        file(&s->tree, &s->all, selected[i]);
    }
    if (few)
      copy_corners(&s->all, b, &taken, found);
    else
      file(&s->tree, &s->all, b);
    selected[found++] = b;
  }
  return found;
}

int64_t strata_rt_non_max_suppression(const void *boxes, const void *scores, int64_t limit, float overlap,
                                      int64_t has_least, float least, int64_t centers, void *selected) {
  const strata_memref *box = boxes, *score = scores, *out = selected;
  int64_t batches = score->sizes[0], classes = score->sizes[1], count = score->sizes[2];
  const float *number = (const float *)box->aligned + box->offset,
              *value = (const float *)score->aligned + score->offset;
  int64_t *row = (int64_t *)out->aligned + out->offset;
  if (limit == 0 || count == 0)
    return 0;
  entry *heap = strata_rt_alloc((uint64_t)count * sizeof(entry), 64);
  int64_t *taken = strata_rt_alloc((uint64_t)limit * sizeof(int64_t), 64);
  scene s = {.all = cut_corners(strata_rt_alloc((uint64_t)count * 5 * sizeof(float), 64), count), .count = count};
  for (int64_t batch = 0; batch < batches; ++batch) {
    read_corners(&s.all, number + batch * count * 4, count, centers);
    for (int64_t class = 0; class < classes; ++class, value += count) {
      int64_t size = 0;
      for (int64_t i = 0; i < count; ++i)
        if (!has_least || value[i] > least)
          heap[size++] = (entry){key_of(value[i]), i};
      make_heap(heap, size);
      int64_t found = select_boxes(&s, heap, size, overlap, limit, taken);
      for (int64_t i = 0; i < found; ++i) {
        *row++ = batch;
        *row++ = class;
        *row++ = taken[i];
      }
    }
    if (s.planted)
      fell(&s.tree);
    s.planted = false;
  }
  strata_rt_free(s.all.low[0]);
  strata_rt_free(taken);
  strata_rt_free(heap);
  return (row - ((int64_t *)out->aligned + out->offset)) / 3;
}
