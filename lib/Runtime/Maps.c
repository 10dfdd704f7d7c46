/* Maps of a run: a tensor of keys and a tensor of values of the same length. */
#include "Internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const strata_tensor *part_of(int64_t map, int i) {
  return ((const strata_tensor *const *)((const strata_tensor *)(intptr_t)map)->data)[i];
}

static strata_tensor *make_list(int32_t dtype, int64_t count, const void *data) {
  strata_tensor *list = strata_object_alloc(sizeof(strata_tensor) + sizeof(int64_t));
  int64_t *size = (int64_t *)(list + 1);
  *size = count;
  *list = (strata_tensor){.dtype = dtype, .rank = 1, .shape = size};
  list->data = strata_object_alloc((size_t)count * strata_inner_size(dtype));
  memcpy(list->data, data, (size_t)count * strata_inner_size(dtype));
  return list;
}

int64_t strata_rt_zip_map(const void *rows, const void *labels, int64_t dtype) {
  const strata_memref *m = rows;
  const float *values = (const float *)m->aligned + m->offset;
  int64_t count = m->sizes[1];
  const strata_tensor *keys = make_list((int32_t)dtype, count, (const void *)(intptr_t)strata_rt_address(labels));
  const strata_tensor **maps = strata_object_alloc((size_t)m->sizes[0] * sizeof(void *));
  for (int64_t i = 0; i < m->sizes[0]; ++i) {
    const strata_tensor *parts[] = {keys, make_list(STRATA_FLOAT, count, values + i * count)};
    maps[i] = strata_sequence_of(STRATA_MAP, parts, 2);
  }
  return (int64_t)(intptr_t)strata_sequence_of(STRATA_SEQUENCE, maps, m->sizes[0]);
}

int64_t strata_rt_map_size(int64_t map) { return part_of(map, 0)->shape[0]; }

void strata_rt_map_values(int64_t map, const void *labels, void *out) {
  const strata_tensor *keys = part_of(map, 0), *values = part_of(map, 1);
  const int64_t *key = keys->data, *label = (const int64_t *)(intptr_t)strata_rt_address(labels);
  strata_memref *m = out;
  size_t element = strata_inner_size(values->dtype);
  memset(m->aligned, 0, (size_t)m->sizes[1] * element);
  for (int64_t i = 0; i < m->sizes[1]; ++i)
    for (int64_t k = keys->shape[0]; k-- > 0;)
      if (keys->dtype == STRATA_STRING ? strata_rt_string_equal(key[k], label[i]) : key[k] == label[i]) {
        memcpy(m->aligned + (size_t)i * element, (const char *)values->data + (size_t)k * element, element);
        break;
      }
}

void strata_rt_map_list(int64_t map, int64_t width, int64_t none, void *out, int64_t node) {
  const strata_tensor *values = part_of(map, 1);
  const int64_t *key = part_of(map, 0)->data;
  int64_t count = part_of(map, 0)->shape[0];
  strata_memref *m = out;
  size_t element = strata_inner_size(values->dtype);
  memset(m->aligned, 0, (size_t)m->sizes[1] * element);
  for (int64_t i = 0; values->dtype == STRATA_STRING && i < m->sizes[1]; ++i)
    ((int64_t *)m->aligned)[i] = none;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = key[i];
    if (width < 0) { /* how many keys are smaller */
      at = 0;
      for (int64_t k = 0; k < count; ++k)
        at += key[k] < key[i] || (key[k] == key[i] && k < i);
    } else if (at < 0 || at >= width) {
      char message[STRATA_MESSAGE];
      const char *name = (const char *)(intptr_t)node;
      snprintf(message, sizeof(message), "%s%sthe key %" PRId64 " is not in [0, %" PRId64 ")", name ? name : "",
               name && *name ? ": " : "", at, width);
      strata_rt_fail(message);
    }
    memcpy(m->aligned + (size_t)at * element, (const char *)values->data + (size_t)i * element, element);
  }
}
