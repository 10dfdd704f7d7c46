/* Sizes, strides and copies of tensors. */
#include "Internal.h"

#include <string.h>

uint64_t strata_element_count(const int64_t *sizes, int32_t rank) {
  uint64_t count = 1;
  for (int32_t i = 0; i < rank; ++i)
    if (sizes[i] == 0)
      return 0;
  for (int32_t i = 0; i < rank; ++i)
    if (__builtin_mul_overflow(count, (uint64_t)sizes[i], &count))
      return UINT64_MAX / 16; /* no memory holds so much: the allocation says so */
  return count;
}

bool strata_row_major(const int64_t *sizes, const int64_t *strides, int32_t rank, int64_t *result) {
  bool same = true;
  int64_t stride = 1;
  for (int32_t i = rank - 1; i >= 0; --i) {
    if (result)
      result[i] = stride;
    same &= !strides || sizes[i] == 1 || strides[i] == stride;
    stride *= sizes[i];
  }
  return same;
}

void strata_copy(char *to, const int64_t *to_strides, const char *from, const int64_t *from_strides, size_t element,
                 int32_t rank, const int64_t *sizes) {
  for (int32_t i = 0; i < rank; ++i)
    if (sizes[i] == 0)
      return;
  if (strata_row_major(sizes, to_strides, rank, NULL) && strata_row_major(sizes, from_strides, rank, NULL)) {
    memcpy(to, from, (size_t)strata_element_count(sizes, rank) * element);
    return;
  }
  int64_t inner = 1;
  for (int32_t i = 1; i < rank; ++i)
    inner *= sizes[i];
  int64_t to_step = to_strides ? to_strides[0] : inner, from_step = from_strides ? from_strides[0] : inner;
  for (int64_t i = 0; i < sizes[0]; ++i)
    strata_copy(to + i * to_step * (int64_t)element, to_strides ? to_strides + 1 : NULL,
                from + i * from_step * (int64_t)element, from_strides ? from_strides + 1 : NULL, element, rank - 1,
                sizes + 1);
}

unsigned strata_narrow_shift(int32_t dtype) {
  return dtype == STRATA_INT4 || dtype == STRATA_UINT4 ? 4 : dtype == STRATA_INT2 || dtype == STRATA_UINT2 ? 6 : 0;
}

void strata_extend_narrow(uint8_t *data, uint64_t count, int32_t dtype) {
  unsigned shift = strata_narrow_shift(dtype);
  bool is_signed = dtype == STRATA_INT4 || dtype == STRATA_INT2;
  for (uint64_t i = 0; i < count; ++i) {
    uint8_t high = (uint8_t)(data[i] << shift);
    data[i] = is_signed ? (uint8_t)((int8_t)high >> shift) : (uint8_t)(high >> shift);
  }
}

size_t strata_inner_size(int32_t dtype) { return dtype == STRATA_STRING ? sizeof(int64_t) : strata_dtype_size(dtype); }
