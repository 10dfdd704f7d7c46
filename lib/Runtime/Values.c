/* What callers pass and get, and what runs work on, into each other. */
#include "Internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *type_name(int32_t dtype) {
  const char *name = strata_dtype_name(dtype);
  return name ? name : "an unknown type";
}

static const strata_tensor *children(const strata_tensor *value) { return value->data; }

static bool is_container(int32_t dtype) { return dtype == STRATA_SEQUENCE || dtype == STRATA_MAP; }

int strata_check_value(const strata_value_info *info, const strata_tensor *value, const char *label) {
  char place[STRATA_MESSAGE / 2];
  if (info->dtype == STRATA_OPTIONAL)
    return value->dtype == STRATA_OPTIONAL ? 0 : strata_check_value(info->element, value, label);
  if (value->dtype != info->dtype)
    return strata_set_last_error(is_container(value->dtype) || is_container(info->dtype) ||
                                         value->dtype == STRATA_OPTIONAL
                                     ? "%s is of type %s, the model expects %s"
                                     : "%s has element type %s, the model expects %s",
                                 label, type_name(value->dtype), type_name(info->dtype));
  if (is_container(value->dtype)) {
    int64_t count = value->rank == 1 ? value->shape[0] : -1;
    if (count < 0 || (value->dtype == STRATA_MAP && count != 2) || (count && !value->data))
      return strata_set_last_error("%s is a malformed %s", label, type_name(value->dtype));
    for (int64_t i = 0; i < count; ++i) {
      bool map = value->dtype == STRATA_MAP;
      if (map)
        snprintf(place, sizeof(place), "the %s of %.400s", i ? "values" : "keys", label);
      else
        snprintf(place, sizeof(place), "element %" PRId64 " of %.400s", i, label);
      if (strata_check_value(map ? &info->element[i] : info->element, &children(value)[i], place))
        return 1;
    }
    if (value->dtype == STRATA_MAP && children(value)[0].shape[0] != children(value)[1].shape[0])
      return strata_set_last_error("%s has %" PRId64 " keys and %" PRId64 " values", label,
                                   children(value)[0].shape[0], children(value)[1].shape[0]);
    return 0;
  }
  if (info->rank >= 0 && value->rank != info->rank)
    return strata_set_last_error("%s has rank %d, the model expects rank %d", label, value->rank, info->rank);
  for (int32_t i = 0; i < value->rank; ++i) {
    int64_t want = info->rank >= 0 ? info->dims[i] : -1;
    if (value->shape[i] < 0 || (want >= 0 && value->shape[i] != want))
      return strata_set_last_error("%s has size %" PRId64 " in dimension %d, the model expects %" PRId64, label,
                                   value->shape[i], i, want);
  }
  if (!value->data && strata_element_count(value->shape, value->rank))
    return strata_set_last_error("%s has no data", label);
  return 0;
}

static void gather_strings(const strata_string *from, const int64_t *strides, int32_t rank, const int64_t *sizes,
                           int64_t **to) {
  if (rank == 0) {
    *(*to)++ = (int64_t)(intptr_t)from;
    return;
  }
  int64_t inner = 1;
  for (int32_t i = 1; i < rank; ++i)
    inner *= sizes[i];
  for (int64_t i = 0; i < sizes[0]; ++i)
    gather_strings(from + i * (strides ? strides[0] : inner), strides ? strides + 1 : NULL, rank - 1, sizes + 1, to);
}

void strata_strings_to_handles(const strata_tensor *tensor, int64_t *handles) {
  if (strata_element_count(tensor->shape, tensor->rank))
    gather_strings(tensor->data, tensor->strides, tensor->rank, tensor->shape, &handles);
}

const strata_tensor *strata_value_to_object(const strata_tensor *value) {
  if (value->dtype == STRATA_OPTIONAL)
    return NULL;
  if (is_container(value->dtype)) {
    int64_t count = value->shape[0];
    const strata_tensor **items = strata_object_alloc((size_t)count * sizeof(void *));
    for (int64_t i = 0; i < count; ++i)
      items[i] = strata_value_to_object(&children(value)[i]);
    return strata_sequence_of(value->dtype, items, count);
  }
  /* The caller's memory where it lies as it must. */
  size_t element = strata_inner_size(value->dtype);
  if (value->dtype != STRATA_STRING && !strata_narrow_shift(value->dtype) &&
      (uintptr_t)value->data % (element > 8 ? 8 : element) == 0 &&
      strata_row_major(value->shape, value->strides, value->rank, NULL))
    return value;
  uint64_t count = strata_element_count(value->shape, value->rank);
  strata_tensor *object = strata_object_alloc(sizeof(*object));
  *object = (strata_tensor){.dtype = value->dtype, .rank = value->rank, .shape = value->shape};
  object->data = strata_rt_alloc(count * element, 64);
  if (value->dtype == STRATA_STRING)
    strata_strings_to_handles(value, object->data);
  else
    strata_copy(object->data, NULL, value->data, value->strides, element, value->rank, value->shape);
  if (strata_narrow_shift(value->dtype))
    strata_extend_narrow(object->data, count, value->dtype);
  return object;
}

static uint64_t rounded(uint64_t bytes) { return (bytes + 15) & ~(uint64_t)15; }

static const strata_string *string_of(int64_t handle) {
  static const strata_string empty = {"", 0};
  return handle ? (const strata_string *)(intptr_t)handle : &empty;
}

uint64_t strata_string_bytes(const int64_t *handles, uint64_t count) {
  uint64_t bytes = count * sizeof(strata_string);
  for (uint64_t i = 0; i < count; ++i)
    bytes += string_of(handles[i])->length;
  return bytes;
}

void strata_handles_to_strings(const int64_t *handles, uint64_t count, char *memory) {
  strata_string *strings = (strata_string *)memory;
  char *bytes = memory + count * sizeof(strata_string);
  for (uint64_t i = 0; i < count; ++i) {
    const strata_string *from = string_of(handles[i]);
    strings[i] = (strata_string){bytes, from->length};
    if (from->length)
      memcpy(bytes, from->bytes, from->length);
    bytes += from->length;
  }
}

uint64_t strata_object_bytes(const strata_tensor *object) {
  if (!object)
    return 0;
  uint64_t bytes = rounded((uint64_t)object->rank * sizeof(int64_t));
  uint64_t count = strata_element_count(object->shape, object->rank);
  if (is_container(object->dtype)) {
    const strata_tensor *const *items = object->data;
    bytes += rounded(count * sizeof(strata_tensor));
    for (uint64_t i = 0; i < count; ++i)
      bytes += strata_object_bytes(items[i]);
    return bytes;
  }
  if (object->dtype == STRATA_STRING)
    return bytes + rounded(strata_string_bytes(object->data, count));
  return bytes + rounded(count * strata_dtype_size(object->dtype));
}

strata_tensor strata_object_to_value(const strata_tensor *object, char *memory) {
  if (!object)
    return (strata_tensor){.dtype = STRATA_OPTIONAL};
  strata_tensor value = {.dtype = object->dtype, .rank = object->rank, .shape = (int64_t *)memory};
  if (object->rank)
    memcpy(memory, object->shape, (size_t)object->rank * sizeof(int64_t));
  memory += rounded((uint64_t)object->rank * sizeof(int64_t));
  value.data = memory;
  uint64_t count = strata_element_count(object->shape, object->rank);
  if (is_container(object->dtype)) {
    const strata_tensor *const *items = object->data;
    strata_tensor *to = value.data;
    memory += rounded(count * sizeof(strata_tensor));
    for (uint64_t i = 0; i < count; ++i) {
      to[i] = strata_object_to_value(items[i], memory);
      memory += strata_object_bytes(items[i]);
    }
  } else if (object->dtype == STRATA_STRING) {
    strata_handles_to_strings(object->data, count, memory);
  } else if (count) {
    memcpy(memory, object->data, count * strata_dtype_size(object->dtype));
  }
  return value;
}
