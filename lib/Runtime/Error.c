/* The last error of each thread, the names of the element types, the version. */
#include "Internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[STRATA_MESSAGE];

int strata_set_last_error(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(last_error, sizeof(last_error), format, args);
  va_end(args);
  return 1;
}

const char *strata_last_error(void) { return last_error; }

const char *strata_version(void) { return STRATA_VERSION; }

static const struct {
  const char *name;
  uint8_t size;
} types[] = {
    [STRATA_FLOAT] = {"float", 4},
    [STRATA_UINT8] = {"uint8", 1},
    [STRATA_INT8] = {"int8", 1},
    [STRATA_UINT16] = {"uint16", 2},
    [STRATA_INT16] = {"int16", 2},
    [STRATA_INT32] = {"int32", 4},
    [STRATA_INT64] = {"int64", 8},
    [STRATA_STRING] = {"string", sizeof(strata_string)},
    [STRATA_BOOL] = {"bool", 1},
    [STRATA_FLOAT16] = {"float16", 2},
    [STRATA_DOUBLE] = {"double", 8},
    [STRATA_UINT32] = {"uint32", 4},
    [STRATA_UINT64] = {"uint64", 8},
    [STRATA_COMPLEX64] = {"complex64", 8},
    [STRATA_COMPLEX128] = {"complex128", 16},
    [STRATA_BFLOAT16] = {"bfloat16", 2},
    [STRATA_FLOAT8E4M3FN] = {"float8e4m3fn", 1},
    [STRATA_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 1},
    [STRATA_FLOAT8E5M2] = {"float8e5m2", 1},
    [STRATA_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 1},
    [STRATA_UINT4] = {"uint4", 1},
    [STRATA_INT4] = {"int4", 1},
    [STRATA_FLOAT4E2M1] = {"float4e2m1", 1},
    [STRATA_FLOAT8E8M0] = {"float8e8m0", 1},
    [STRATA_UINT2] = {"uint2", 1},
    [STRATA_INT2] = {"int2", 1},
    [STRATA_FLOAT6E2M3] = {"float6e2m3", 1},
    [STRATA_FLOAT6E3M2] = {"float6e3m2", 1},
};
enum { num_types = sizeof(types) / sizeof(types[0]) };

const char *strata_dtype_name(int32_t dtype) {
  switch (dtype) {
  case STRATA_SEQUENCE:
    return "sequence";
  case STRATA_OPTIONAL:
    return "optional";
  case STRATA_MAP:
    return "map";
  }
  return dtype > 0 && dtype < num_types ? types[dtype].name : NULL;
}

size_t strata_dtype_size(int32_t dtype) { return dtype > 0 && dtype < num_types ? types[dtype].size : 0; }

strata_dtype strata_dtype_from_name(const char *name) {
  for (int i = STRATA_SEQUENCE; i <= STRATA_MAP; ++i)
    if (strcmp(strata_dtype_name(i), name) == 0)
      return (strata_dtype)i;
  for (int i = 1; i < num_types; ++i)
    if (types[i].name && strcmp(types[i].name, name) == 0)
      return (strata_dtype)i;
  return STRATA_UNDEFINED;
}
