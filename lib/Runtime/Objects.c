/* Immutable tensors and sequences of a run, behind handles. */
#include "Internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { chunk = 64 << 10 };

void *strata_object_alloc(size_t bytes) {
  strata_run *run = strata_current_run;
  bytes = (bytes + 15) & ~(size_t)15;
  if (!run || bytes > chunk / 4)
    return strata_rt_alloc(bytes, 64);
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  if ((size_t)(run->objects_end - run->objects) < bytes) {
    char error[STRATA_MESSAGE];
    strata_block *block = strata_heap_alloc(run->heap, &run->blocks, chunk, 64, false, error);
    if (!block) {
      pthread_mutex_unlock(&mutex);
      strata_rt_fail(error);
    }
    run->objects = strata_block_data(block);
    run->objects_end = run->objects + chunk;
  }
  void *result = run->objects;
  run->objects += bytes;
  pthread_mutex_unlock(&mutex);
  return result;
}

static const strata_tensor *object_of(int64_t handle) { return (const strata_tensor *)(intptr_t)handle; }
static int64_t handle_of(const void *object) { return (int64_t)(intptr_t)object; }

__attribute__((noreturn)) static void fail(int64_t node, const char *message) {
  char text[STRATA_MESSAGE];
  const char *name = (const char *)(intptr_t)node;
  snprintf(text, sizeof(text), "%s%s%s", name ? name : "", name && *name ? ": " : "", message);
  strata_rt_fail(text);
}

/* --- Tensors */

static int64_t *sizes_of(strata_tensor *object) { return (int64_t *)(object + 1); }

/* An object with room for its elements, whose sizes are still to be set. */
static strata_tensor *make(int32_t dtype, int32_t rank, uint64_t count) {
  size_t head = sizeof(strata_tensor) + (size_t)rank * sizeof(int64_t);
  strata_tensor *object = strata_object_alloc(head);
  *object = (strata_tensor){.dtype = dtype, .rank = rank, .shape = sizes_of(object)};
  uint64_t bytes;
  if (__builtin_mul_overflow(count, strata_inner_size(dtype), &bytes))
    bytes = UINT64_MAX;
  object->data = bytes > chunk / 4 ? strata_rt_alloc(bytes, 64) : strata_object_alloc(bytes);
  return object;
}

static const char *elements(const strata_memref *m, int32_t dtype) {
  return m->aligned + m->offset * (int64_t)strata_inner_size(dtype);
}

int64_t strata_rt_tensor_make(const void *tensor, int64_t dtype, int64_t rank) {
  const strata_memref *m = tensor;
  strata_tensor *object = make((int32_t)dtype, (int32_t)rank, strata_element_count(m->sizes, (int32_t)rank));
  memcpy(sizes_of(object), m->sizes, (size_t)rank * sizeof(int64_t));
  strata_copy(object->data, NULL, elements(m, object->dtype), m->sizes + rank, strata_inner_size(object->dtype),
              object->rank, m->sizes);
  return handle_of(object);
}

int64_t strata_rt_tensor_rank(int64_t object) { return object_of(object)->rank; }

int64_t strata_rt_tensor_size(int64_t object, int64_t dimension) { return object_of(object)->shape[dimension]; }

void strata_rt_tensor_read(int64_t object, void *out, int64_t rank) {
  const strata_tensor *from = object_of(object);
  strata_memref *m = out;
  size_t element = strata_inner_size(from->dtype);
  strata_copy(m->aligned + m->offset * (int64_t)element, m->sizes + rank, from->data, NULL, element, from->rank,
              from->shape);
}

/* --- Sequences: an array of elements, which a longer sequence may share: what lies behind the end of a sequence is
 * written once, by the first who appends to it. */

typedef struct {
  int64_t used, capacity;
  const strata_tensor *items[];
} item_array;

typedef struct {
  strata_tensor tensor; /* data: the items; rank 1 */
  int64_t length;
  item_array *array;
} sequence;

/* An empty optional that is taken for a sequence is empty (a Loop that makes the one of the other, and does not run). */
static const sequence *sequence_of(int64_t handle) {
  static item_array none;
  static const sequence empty = {.tensor = {.dtype = STRATA_SEQUENCE, .rank = 1, .shape = &empty.length}, .array = &none};
  return handle ? (const sequence *)(intptr_t)handle : &empty;
}

static item_array *make_array(int64_t capacity) {
  item_array *array = strata_object_alloc(sizeof(item_array) + (size_t)capacity * sizeof(void *));
  array->used = 0;
  array->capacity = capacity;
  return array;
}

static int64_t make_sequence(item_array *array, int64_t length) {
  sequence *result = strata_object_alloc(sizeof(sequence));
  result->length = length;
  result->array = array;
  result->tensor =
      (strata_tensor){.data = array->items, .dtype = STRATA_SEQUENCE, .rank = 1, .shape = &result->length};
  return handle_of(result);
}

const strata_tensor *strata_sequence_of(int32_t dtype, const strata_tensor **items, int64_t length) {
  item_array *array = make_array(length);
  memcpy(array->items, items, (size_t)length * sizeof(void *));
  array->used = length;
  sequence *result = (sequence *)(intptr_t)make_sequence(array, length);
  result->tensor.dtype = dtype;
  return &result->tensor;
}

int64_t strata_rt_seq_empty(void) { return make_sequence(make_array(4), 0); }

int64_t strata_rt_seq_length(int64_t s) { return sequence_of(s)->length; }

int64_t strata_rt_seq_at(int64_t s, int64_t position) { return handle_of(sequence_of(s)->array->items[position]); }

int64_t strata_rt_seq_insert(int64_t s, int64_t object, int64_t position) {
  const sequence *old = sequence_of(s);
  item_array *array = old->array;
  int64_t length = old->length;
  if (position < length || array->used != length || array->used == array->capacity) {
    array = make_array(2 * length + 4);
    memcpy(array->items, old->array->items, (size_t)position * sizeof(void *));
    memcpy(array->items + position + 1, old->array->items + position, (size_t)(length - position) * sizeof(void *));
  }
  array->items[position] = object_of(object);
  array->used = length + 1;
  return make_sequence(array, length + 1);
}

int64_t strata_rt_seq_erase(int64_t s, int64_t position) {
  const sequence *old = sequence_of(s);
  int64_t length = old->length - 1;
  if (position == length) /* the rest is a part of the same array */
    return make_sequence(old->array, length);
  item_array *array = make_array(length + 4);
  memcpy(array->items, old->array->items, (size_t)position * sizeof(void *));
  memcpy(array->items + position, old->array->items + position + 1, (size_t)(length - position) * sizeof(void *));
  array->used = length;
  return make_sequence(array, length);
}

int64_t strata_rt_seq_split(const void *tensor, int64_t dtype, int64_t rank, int64_t axis, const void *sizes,
                            int64_t keep_dims) {
  const strata_memref *m = tensor, *parts = sizes;
  const int64_t *lengths = (const int64_t *)parts->aligned + parts->offset;
  size_t element = strata_inner_size((int32_t)dtype);
  int64_t count = parts->sizes[0], offset = 0;
  item_array *array = make_array(count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t part[64]; /* more dimensions than any tensor type has here */
    memcpy(part, m->sizes, (size_t)rank * sizeof(int64_t));
    part[axis] = lengths[i];
    strata_tensor *object = make((int32_t)dtype, (int32_t)rank, strata_element_count(part, (int32_t)rank));
    strata_copy(object->data, NULL, elements(m, (int32_t)dtype) + offset * m->sizes[rank + axis] * (int64_t)element,
                m->sizes + rank, element, (int32_t)rank, part);
    if (!keep_dims) {
      memmove(part + axis, part + axis + 1, (size_t)(rank - axis - 1) * sizeof(int64_t));
      --object->rank;
    }
    memcpy(sizes_of(object), part, (size_t)object->rank * sizeof(int64_t));
    array->items[i] = object;
    offset += lengths[i];
  }
  array->used = count;
  return make_sequence(array, count);
}

int64_t strata_rt_seq_concat_size(int64_t s, int64_t rank, int64_t axis, int64_t node) {
  const sequence *from = sequence_of(s);
  char message[256];
  int64_t sum = 0;
  if (from->length == 0)
    fail(node, "the sequence to be concatenated is empty");
  const strata_tensor *first = from->array->items[0];
  for (int64_t i = 0; i < from->length; ++i) {
    const strata_tensor *item = from->array->items[i];
    if (item->rank != rank) {
      snprintf(message, sizeof(message), "element %" PRId64 " of the sequence has rank %d, not %" PRId64, i, item->rank,
               rank);
      fail(node, message);
    }
    for (int32_t d = 0; d < item->rank; ++d)
      if (d != axis && item->shape[d] != first->shape[d]) {
        snprintf(message, sizeof(message),
                 "element %" PRId64 " of the sequence has size %" PRId64 " in dimension %d, the first one %" PRId64, i,
                 item->shape[d], d, first->shape[d]);
        fail(node, message);
      }
    sum += axis >= 0 ? item->shape[axis] : 1;
  }
  return sum;
}

void strata_rt_seq_concat(int64_t s, int64_t rank, int64_t axis, int64_t new_axis, void *out) {
  const sequence *from = sequence_of(s);
  strata_memref *m = out;
  int64_t out_rank = rank + (new_axis != 0), strides[64];
  /* The strides of the result, without those of a new axis. */
  memcpy(strides, m->sizes + out_rank, (size_t)out_rank * sizeof(int64_t));
  int64_t step = strides[axis];
  if (new_axis)
    memmove(strides + axis, strides + axis + 1, (size_t)(out_rank - axis - 1) * sizeof(int64_t));
  for (int64_t i = 0, at = 0; i < from->length; ++i) {
    const strata_tensor *item = from->array->items[i];
    size_t element = strata_inner_size(item->dtype);
    strata_copy(m->aligned + (m->offset + at * step) * (int64_t)element, strides, item->data, NULL, element, item->rank,
                item->shape);
    at += new_axis ? 1 : item->shape[axis];
  }
}
