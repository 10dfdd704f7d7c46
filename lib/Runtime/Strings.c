/* Strings of a run. */
#include "Internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wctype.h>

static const strata_string *string_of(int64_t handle) {
  static const strata_string empty = {"", 0};
  return handle ? (const strata_string *)(intptr_t)handle : &empty;
}
static int64_t handle_of(const void *object) { return (int64_t)(intptr_t)object; }

/* A string of `length` bytes behind its head. */
static strata_string *make(size_t length, char **bytes) {
  strata_string *string = strata_object_alloc(sizeof(*string) + length);
  *bytes = (char *)(string + 1);
  *string = (strata_string){*bytes, length};
  return string;
}

static int64_t copy(const char *from, size_t length) {
  char *bytes;
  strata_string *string = make(length, &bytes);
  memcpy(bytes, from, length);
  return handle_of(string);
}

/* A part of a string shares its bytes. */
static int64_t part_of(const char *bytes, size_t length) {
  strata_string *string = strata_object_alloc(sizeof(*string));
  *string = (strata_string){bytes, length};
  return handle_of(string);
}

static int compare(const char *a, size_t a_length, const char *b, size_t b_length) {
  size_t least = a_length < b_length ? a_length : b_length;
  int order = least ? memcmp(a, b, least) : 0;
  return order ? order : a_length < b_length ? -1 : a_length > b_length;
}

/* --- Tables of constants: count, count + 1 offsets from the first byte, bytes. */

int64_t strata_rt_address(const void *tensor) {
  const strata_memref *m = tensor;
  return handle_of(m->aligned + m->offset); /* of a constant: the offset is zero */
}

static const char *table_bytes(const int64_t *table) { return (const char *)(table + table[0] + 2); }

void strata_rt_string_constants(const void *table_tensor, void *out) {
  const int64_t *table = (const int64_t *)(intptr_t)strata_rt_address(table_tensor);
  strata_memref *m = out;
  int64_t *handles = (int64_t *)m->aligned + m->offset;
  strata_string *strings = strata_object_alloc((size_t)table[0] * sizeof(strata_string));
  for (int64_t i = 0; i < table[0]; ++i) {
    strings[i] = (strata_string){table_bytes(table) + table[i + 1], (size_t)(table[i + 2] - table[i + 1])};
    handles[i] = handle_of(&strings[i]);
  }
}

int64_t strata_rt_string_find(int64_t table_address, int64_t order_address, int64_t string) {
  const int64_t *table = (const int64_t *)(intptr_t)table_address, *order = (const int64_t *)(intptr_t)order_address;
  const strata_string *key = string_of(string);
  int64_t low = 0, high = *order++;
  while (low < high) {
    int64_t middle = low + (high - low) / 2, i = order[middle];
    int result = compare(table_bytes(table) + table[i + 1], (size_t)(table[i + 2] - table[i + 1]), key->bytes, key->length);
    if (result == 0)
      return i;
    if (result < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

static void count_grams(const int64_t *row, int64_t length, const int64_t *gram, int64_t n, int64_t skips,
                        float *count) {
  /* Single elements have nothing between them. */
  for (int64_t step = 1; step <= (n == 1 ? 1 : skips + 1) && (n - 1) * step < length; ++step)
    for (int64_t start = 0; start + (n - 1) * step < length; ++start) {
      int64_t i = 0;
      while (i < n && row[start + i * step] == gram[i])
        ++i;
      *count += i == n;
    }
}

static const int64_t *integers_of(const void *tensor) { return (const int64_t *)(intptr_t)strata_rt_address(tensor); }

void strata_rt_tfidf(const void *ids, const void *pool, const void *starts, const void *indexes, const void *weights,
                     int64_t least, int64_t most, int64_t skips, int64_t mode, void *out) {
  const strata_memref *rows = ids;
  strata_memref *result = out;
  const int64_t *start = integers_of(starts), *index = integers_of(indexes), *words = integers_of(pool);
  const float *weight = (const float *)((const strata_memref *)weights)->aligned;
  int64_t width = result->sizes[1], length = rows->sizes[1], lengths = ((const strata_memref *)starts)->sizes[0] - 1;
  for (int64_t r = 0; r < rows->sizes[0]; ++r) {
    const int64_t *row = integers_of(ids) + r * length;
    float *counts = (float *)result->aligned + result->offset + r * width;
    memset(counts, 0, (size_t)width * sizeof(float));
    int64_t k = 0;
    for (int64_t n = 1; n <= lengths; ++n)
      for (int64_t at = start[n - 1]; at < start[n]; at += n, ++k) {
        float count = 0;
        if (n >= least && n <= most && index[k] >= 0)
          count_grams(row, length, words + at, n, skips, &count);
        if (count == 0)
          continue;
        if (mode == 1)
          counts[index[k]] = weight[k];
        else
          counts[index[k]] += mode == 0 ? count : count * weight[k];
      }
  }
}

/* --- Operations */

int64_t strata_rt_string_length(int64_t string) { return (int64_t)string_of(string)->length; }

int64_t strata_rt_string_compare(int64_t a, int64_t b) {
  const strata_string *x = string_of(a), *y = string_of(b);
  return compare(x->bytes, x->length, y->bytes, y->length);
}

int64_t strata_rt_string_equal(int64_t a, int64_t b) { return a == b || strata_rt_string_compare(a, b) == 0; }

int64_t strata_rt_string_concat(int64_t a, int64_t b) {
  const strata_string *x = string_of(a), *y = string_of(b);
  if (x->length == 0 || y->length == 0)
    return x->length ? a : b;
  char *bytes;
  strata_string *result = make(x->length + y->length, &bytes);
  memcpy(bytes, x->bytes, x->length);
  memcpy(bytes + x->length, y->bytes, y->length);
  return handle_of(result);
}

/* --- Letters */

static locale_t unicode_locale;
static pthread_once_t unicode_once = PTHREAD_ONCE_INIT;
static void open_locale(void) { unicode_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

/* The code point at *at, which moves on; -1: no UTF-8, one byte. */
static int32_t decode(const unsigned char **at, const unsigned char *end) {
  unsigned char first = *(*at)++;
  int more = first >= 0xf0 && first < 0xf8 ? 3 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xc2 && first < 0xe0 ? 1 : 0;
  if (first < 0x80)
    return first;
  if (!more || end - *at < more)
    return -1;
  int32_t code = first & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    if (((*at)[i] & 0xc0) != 0x80)
      return -1;
    code = code << 6 | ((*at)[i] & 0x3f);
  }
  *at += more;
  return code;
}

static char *encode(char *to, uint32_t code) {
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xc0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *to++ = (char)(0xe0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  } else {
    *to++ = (char)(0xf0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3f));
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  }
  return to;
}

int64_t strata_rt_string_change_case(int64_t string, int64_t action) {
  pthread_once(&unicode_once, open_locale);
  const strata_string *from = string_of(string);
  const unsigned char *at = (const unsigned char *)from->bytes, *end = at + from->length;
  char *bytes, *to;
  /* No letter's other case takes more than twice its bytes. */
  strata_string *result = make(2 * from->length, &bytes);
  to = bytes;
  while (at < end) {
    const unsigned char *before = at;
    int32_t code = decode(&at, end);
    if (code < 0) {
      *to++ = (char)*before;
      continue;
    }
    uint32_t other = (uint32_t)code;
    if (code < 0x80)
      other = (uint32_t)(action == 1 ? (code >= 'A' && code <= 'Z' ? code + 32 : code)
                                     : (code >= 'a' && code <= 'z' ? code - 32 : code));
    else if (unicode_locale)
      other = action == 1 ? towlower_l((wint_t)code, unicode_locale) : towupper_l((wint_t)code, unicode_locale);
    to = encode(to, other);
  }
  result->length = (size_t)(to - bytes);
  return handle_of(result);
}

/* --- Splitting */

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Calls itself through the parts until part `wanted`, or counts them all (-1). */
static int64_t split(const strata_string *string, const strata_string *delimiter, int64_t limit, int64_t wanted,
                     int64_t *part) {
  const char *at = string->bytes, *end = at + string->length;
  bool spaces = delimiter->length == 0;
  int64_t count = 0;
  while (true) {
    if (spaces) {
      while (at < end && is_space(*at))
        ++at;
      if (at == end)
        return count;
    }
    const char *stop = end, *next = NULL;
    if (limit < 0 || count < limit) {
      if (spaces) {
        for (stop = at; stop < end && !is_space(*stop); ++stop)
          ;
        next = stop < end ? stop : NULL;
      } else if ((stop = memmem(at, (size_t)(end - at), delimiter->bytes, delimiter->length))) {
        next = stop + delimiter->length;
      } else {
        stop = end;
      }
    } else if (spaces) { /* the rest, without the space behind it */
      while (stop > at && is_space(stop[-1]))
        --stop;
    }
    if (count++ == wanted) {
      *part = part_of(at, (size_t)(stop - at));
      return count;
    }
    if (!next)
      return count;
    at = next;
  }
}

int64_t strata_rt_string_split_count(int64_t string, int64_t delimiter, int64_t limit) {
  return split(string_of(string), string_of(delimiter), limit, -1, NULL);
}

int64_t strata_rt_string_split_part(int64_t string, int64_t delimiter, int64_t limit, int64_t i) {
  int64_t part = 0;
  split(string_of(string), string_of(delimiter), limit, i, &part);
  return part;
}

/* --- Numbers */

int64_t strata_rt_string_from_integer(int64_t value, int64_t dtype) {
  char text[32];
  int length;
  if (dtype == STRATA_BOOL)
    return value ? copy("True", 4) : copy("False", 5);
  if (dtype == STRATA_UINT64)
    length = snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)value);
  else
    length = snprintf(text, sizeof(text), "%" PRId64, value);
  return copy(text, (size_t)length);
}

/* Whether the text reads back as the element that `value` is. */
static bool reads_back(const char *text, double value, int64_t dtype) {
  double read = strtod(text, NULL);
  switch (dtype) {
  case STRATA_DOUBLE:
    return read == value;
  case STRATA_FLOAT:
    return strtof(text, NULL) == (float)value;
  default: { /* fewer bits: nearer to this element than half its last place */
    int digits = dtype == STRATA_FLOAT16 ? 11 : dtype == STRATA_BFLOAT16 ? 8 : 4, exponent;
    frexp(value, &exponent);
    return fabs(read - value) < ldexp(0.5, exponent - digits);
  }
  }
}

int64_t strata_rt_string_from_float(double value, int64_t dtype) {
  if (isnan(value))
    return copy("nan", 3);
  if (isinf(value))
    return value < 0 ? copy("-inf", 4) : copy("inf", 3);
  char digits[64], text[96];
  int precision = 0;
  do
    snprintf(digits, sizeof(digits), "%.*e", precision, value);
  while (precision++ < 17 && !reads_back(digits, value, dtype));
  int exponent = atoi(strchr(digits, 'e') + 1);
  --precision; /* digits behind the first one */
  int length;
  if (value == 0 || (exponent >= -4 && exponent < 16)) {
    int behind = precision - exponent;
    length = snprintf(text, sizeof(text), "%.*f", behind > 1 ? behind : 1, strtod(digits, NULL));
  } else {
    length = snprintf(text, sizeof(text), "%s", digits);
  }
  return copy(text, (size_t)length);
}

__attribute__((noreturn)) static void fail_conversion(int64_t string, const char *what, int64_t node) {
  const strata_string *s = string_of(string);
  const char *name = (const char *)(intptr_t)node;
  char message[STRATA_MESSAGE];
  snprintf(message, sizeof(message), "%s%s'%.*s' is not %s", name ? name : "", name && *name ? ": " : "",
           (int)(s->length < 200 ? s->length : 200), s->bytes, what);
  strata_rt_fail(message);
}

/* The string with an end, without space around it; cut off at `size`. */
static const char *trimmed(int64_t string, char *buffer, size_t size) {
  const strata_string *s = string_of(string);
  const char *begin = s->bytes, *end = begin + s->length;
  while (begin < end && is_space(*begin))
    ++begin;
  while (end > begin && is_space(end[-1]))
    --end;
  size_t length = (size_t)(end - begin);
  if (length >= size || memchr(begin, 0, length))
    length = 0; /* no number is that long */
  memcpy(buffer, begin, length);
  buffer[length] = 0;
  return buffer;
}

double strata_rt_string_to_float(int64_t string, int64_t node) {
  char buffer[512], *end;
  const char *text = trimmed(string, buffer, sizeof(buffer));
  const char *digits = text + (*text == '+' || *text == '-');
  bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  double value = strtod(text, &end);
  if (end == text || *end || hexadecimal)
    fail_conversion(string, "a number", node);
  return value;
}

int64_t strata_rt_string_to_integer(int64_t string, int64_t dtype, int64_t node) {
  char buffer[512], *end;
  const char *text = trimmed(string, buffer, sizeof(buffer));
  if (dtype == STRATA_BOOL) {
    if (strcasecmp(text, "true") == 0)
      return 1;
    if (strcasecmp(text, "false") == 0)
      return 0;
  }
  errno = 0;
  int64_t value = dtype == STRATA_UINT64 && *text != '-' ? (int64_t)strtoull(text, &end, 10) : strtoll(text, &end, 10);
  if (end != text && *end == 0 && errno == 0)
    return dtype == STRATA_BOOL ? value != 0 : value;
  /* "100.5": the integer part. */
  double number = strata_rt_string_to_float(string, node);
  if (dtype == STRATA_BOOL)
    return number != 0;
  if (!(number > -9223372036854775808.0 && number < 9223372036854775808.0))
    fail_conversion(string, "an integer in range", node);
  return (int64_t)number;
}
