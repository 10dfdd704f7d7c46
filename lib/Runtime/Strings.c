/* Strings of a run. */
#include "Internal.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
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
    int result =
        compare(table_bytes(table) + table[i + 1], (size_t)(table[i + 2] - table[i + 1]), key->bytes, key->length);
    if (result == 0)
      return i;
    if (result < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

/* --- n-grams: a trie, whose edges but those from the root lie in a hash table. */

static const int64_t *integers_of(const void *tensor) { return (const int64_t *)(intptr_t)strata_rt_address(tensor); }

typedef struct {
  const strata_memref *rows;
  strata_memref *result;
  const int64_t *first, *edges, *grams, *index;
  const float *weight;
  int64_t words, places, least, most, skips, mode;
} gram_counter;

static int64_t child_of(const gram_counter *c, int64_t node, int64_t word) {
  int64_t key = node * c->words + word;
  uint64_t at = strata_gram_place(key);
  for (;; ++at) {
    const int64_t *edge = c->edges + 2 * (at & (uint64_t)(c->places - 1));
    if (edge[0] == key)
      return edge[1];
    if (edge[0] < 0)
      return -1;
  }
}

/* An element of the result while it is counted: the weight of the last n-gram in the list counts. */
typedef union {
  float value;
  int32_t last; /* its number + 1 */
} gram_cell;

static void count_grams(int64_t begin, int64_t end, void *context) {
  const gram_counter *c = context;
  int64_t width = c->result->sizes[1], length = c->rows->sizes[1];
  for (int64_t r = begin; r < end; ++r) {
    const int64_t *row = integers_of(c->rows) + r * length;
    gram_cell *cells = (gram_cell *)c->result->aligned + c->result->offset + r * width;
    memset(cells, 0, (size_t)width * sizeof(*cells));
    for (int64_t start = 0; start < length; ++start) {
      int64_t root = row[start] < 0 ? -1 : c->first[row[start]];
      if (root < 0)
        continue;
      /* Single elements have nothing between them. */
      for (int64_t step = 1; step <= c->skips + 1 && (step == 1 || start + step < length); ++step) {
        int64_t node = root;
        for (int64_t n = 1;; ++n) {
          int64_t k = n < c->least || (n == 1 && step > 1) ? -1 : c->grams[node], at = start + n * step;
          if (k >= 0) {
            gram_cell *cell = &cells[c->index[k]];
            if (c->mode != 1)
              cell->value += c->mode == 0 ? 1 : c->weight[k];
            else if (cell->last <= k)
              cell->last = (int32_t)k + 1;
          }
          if (n == c->most || at >= length || row[at] < 0 || (node = child_of(c, node, row[at])) < 0)
            break;
        }
      }
    }
    if (c->mode == 1)
      for (int64_t i = 0; i < width; ++i)
        cells[i].value = cells[i].last ? c->weight[cells[i].last - 1] : 0;
  }
}

void strata_rt_tfidf(const void *ids, const void *first, const void *edges, const void *grams, const void *indexes,
                     const void *weights, int64_t least, int64_t most, int64_t skips, int64_t mode, void *out) {
  int64_t length = ((const strata_memref *)ids)->sizes[1];
  gram_counter c = {.rows = ids,
                    .result = out,
                    .first = integers_of(first),
                    .edges = integers_of(edges),
                    .grams = integers_of(grams),
                    .index = integers_of(indexes),
                    .weight = (const float *)((const strata_memref *)weights)->aligned,
                    .words = ((const strata_memref *)first)->sizes[0],
                    .places = ((const strata_memref *)edges)->sizes[0] / 2,
                    .least = least,
                    .most = most,
                    .skips = skips < length ? skips : length,
                    .mode = mode};
  /* Some microseconds of work for each task. */
  int64_t work = length * (most < length ? most : length) * (c.skips + 1) + c.result->sizes[1] / 8;
  strata_rt_parallel_for(count_grams, 0, c.rows->sizes[0], 2000 / (work + 1) + 1, &c);
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
  int more = first >= 0xf0 && first < 0xf8   ? 3
             : first >= 0xe0 && first < 0xf0 ? 2
             : first >= 0xc2 && first < 0xe0 ? 1
                                             : 0;
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
  if (dtype == STRATA_BOOL)
    return value ? copy("True", 4) : copy("False", 5);
  char text[32], *end = text + sizeof(text), *at = end;
  bool negative = value < 0 && dtype != STRATA_UINT64;
  uint64_t rest = negative ? -(uint64_t)value : (uint64_t)value;
  do
    *--at = (char)('0' + rest % 10);
  while (rest /= 10);
  if (negative)
    *--at = '-';
  return copy(at, (size_t)(end - at));
}

/* Whether the text reads back as the element that `value` is. */
static bool reads_back(const char *text, double value, int64_t dtype) {
  double read = strtod(text, NULL);
  switch (dtype) {
  case STRATA_DOUBLE:
    return read == value;
  case STRATA_FLOAT:
    return strtof(text, NULL) == (float)value;
  default: { /* fewer digits: the nearest multiple of the last one's place, the even one of two */
    bool is_half = dtype == STRATA_FLOAT16, is_bfloat = dtype == STRATA_BFLOAT16;
    int digits = is_half ? 11 : is_bfloat ? 8 : 4, lowest = is_half ? -24 : is_bfloat ? -133 : -1000, exponent;
    frexp(read, &exponent);
    double unit = ldexp(1, exponent - digits > lowest ? exponent - digits : lowest);
    return rint(read / unit) * unit == value;
  }
  }
}

/* The shortest decimal number that reads back, "-d.ddde+xx": a text of so `few` digits behind the first one that no two
 * of them are the same element is found by printing as many, and ends in zeros if it is shorter. */
static void print_shortest(char *digits, size_t size, double value, int64_t dtype) {
  int few = 0, most = 16; /* what every element can be told by */
  double least = 0;       /* below, elements have fewer digits */
  switch (dtype) {
  case STRATA_DOUBLE:
    few = DBL_DIG - 1, most = DBL_DECIMAL_DIG - 1, least = DBL_MIN;
    break;
  case STRATA_FLOAT:
    few = FLT_DIG - 1, most = FLT_DECIMAL_DIG - 1, least = FLT_MIN;
    break;
  case STRATA_FLOAT16:
    few = 2, most = 4, least = 0x1p-14;
    break;
  case STRATA_BFLOAT16:
    few = 1, most = 3, least = FLT_MIN;
    break;
  }
  if (fabs(value) < least)
    few = 0;
  /* Most numbers need nearly all digits. */
  snprintf(digits, size, "%.*e", most - 1, value);
  if (!reads_back(digits, value, dtype)) {
    snprintf(digits, size, "%.*e", most, value);
    return;
  }
  for (; few < most; ++few) {
    snprintf(digits, size, "%.*e", few, value);
    if (reads_back(digits, value, dtype))
      return;
  }
}

int64_t strata_rt_string_from_float(double value, int64_t dtype) {
  if (isnan(value))
    return copy("nan", 3);
  if (isinf(value))
    return value < 0 ? copy("-inf", 4) : copy("inf", 3);
  char printed[64], text[96], *to = text;
  print_shortest(printed, sizeof(printed), value, dtype);
  const char *from = printed;
  if (*from == '-')
    *to++ = *from++;
  char *mark = strchr(printed, 'e');
  int exponent = atoi(mark + 1), count = 1;
  char digits[32] = {from[0]};
  for (const char *digit = from + 2; digit < mark; ++digit)
    digits[count++] = *digit;
  while (count > 1 && digits[count - 1] == '0')
    --count;
  if (value != 0 && (exponent < -4 || exponent >= 16)) {
    *to++ = digits[0];
    if (count > 1)
      *to++ = '.';
    memcpy(to, digits + 1, (size_t)count - 1);
    to += count - 1;
    memcpy(to, mark, strlen(mark));
    return copy(text, (size_t)(to + strlen(mark) - text));
  }
  /* "d...d.d...d", with zeros where there are no digits, and at least one behind the point. */
  for (int place = exponent < 0 ? 0 : exponent; place >= 0 || place >= exponent - (count - 1); --place) {
    int at = exponent - place;
    if (place == -1)
      *to++ = '.';
    *to++ = at < 0 || at >= count ? '0' : digits[at];
  }
  if (exponent - (count - 1) >= 0) {
    memcpy(to, ".0", 2);
    to += 2;
  }
  return copy(text, (size_t)(to - text));
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
