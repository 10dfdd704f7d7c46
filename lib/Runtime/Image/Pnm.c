/* Portable bitmaps, graymaps and pixmaps (P1 to P6). */
#include "Image.h"

#include <math.h>

typedef struct {
  int kind; /* of P1 to P6 */
  int channels, plain;
  int64_t most; /* the value of white */
  size_t at;    /* where the pixels are */
} header;

static int is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The next byte that is neither white space nor part of a comment, or -1. */
static int next(const image_source *s, size_t *at) {
  while (*at < s->size) {
    int c = s->bytes[*at];
    if (c == '#')
      while (*at < s->size && s->bytes[*at] != '\n' && s->bytes[*at] != '\r')
        ++*at;
    else if (is_space(c))
      ++*at;
    else
      return c;
  }
  return -1;
}

static int number(image_source *s, size_t *at, int64_t *value) {
  int c = next(s, at);
  if (c < 0)
    return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
  if (c < '0' || c > '9')
    return strata_image_error(s, "a number was expected");
  for (*value = 0; *at < s->size && s->bytes[*at] >= '0' && s->bytes[*at] <= '9'; ++*at) {
    *value = *value * 10 + (s->bytes[*at] - '0');
    if (*value > INT32_MAX)
      return strata_image_error(s, "a number is too large");
  }
  return 1;
}

static int read_header(image_source *s, header *h) {
  h->kind = s->bytes[1] - '0';
  h->plain = h->kind <= 3;
  h->channels = h->kind % 3 == 0 ? 3 : 1;
  h->most = 1;
  h->at = 2;
  if (!number(s, &h->at, &s->width) || !number(s, &h->at, &s->height) ||
      (h->kind % 3 != 1 && !number(s, &h->at, &h->most)))
    return 0;
  if (h->most < 1 || h->most > 65535)
    return strata_image_error(s, "the largest value %lld is not in 1 to 65535", (long long)h->most);
  if (!h->plain && h->at < s->size && !is_space(s->bytes[h->at]))
    return strata_image_error(s, "the header is broken");
  h->at += !h->plain;
  return 1;
}

static int measure(image_source *s) {
  header h;
  if (!read_header(s, &h))
    return 0;
  if (s->width < 1 || s->height < 1 || s->height > strata_max_pixels / s->width)
    return 1; /* refused by the caller */
  uint64_t row = (uint64_t)s->width * (uint64_t)h.channels, rows = (uint64_t)s->height, least;
  if (h.plain)
    least = h.kind == 1 ? row * rows : 2 * row * rows - 1;
  else
    least = rows * (h.kind == 4 ? (row + 7) / 8 : h.most > 255 ? 2 * row : row);
  if (h.at > s->size || least > s->size - h.at)
    return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
  return 1;
}

static int decode(image_source *s, uint8_t *rgb) {
  header h;
  if (!read_header(s, &h))
    return 0;
  const uint8_t *p = s->bytes + h.at; /* there is enough of what is not plain */
  for (int64_t y = 0; y < s->height; ++y)
    for (int64_t x = 0; x < s->width; ++x, rgb += 3) {
      for (int i = 0; i < h.channels; ++i) {
        int64_t value;
        if (h.kind == 1) {
          int c = next(s, &h.at);
          if (c != '0' && c != '1')
            return strata_image_error(s, c < 0 ? STRATA_IMAGE_TRUNCATED : "a bit is neither 0 nor 1");
          ++h.at;
          value = c == '0';
        } else if (h.plain) {
          if (!number(s, &h.at, &value))
            return 0;
        } else if (h.kind == 4) {
          value = !(p[x / 8] >> (7 - x % 8) & 1);
        } else if (h.most > 255) {
          value = p[0] << 8 | p[1];
          p += 2;
        } else {
          value = *p++;
        }
        if (h.plain && value > h.most)
          return strata_image_error(s, "the value %lld is larger than %lld", (long long)value, (long long)h.most);
        rgb[i] = value >= h.most ? 255 : (uint8_t)lrint((double)value / (double)h.most * 255);
      }
      if (h.channels == 1)
        rgb[1] = rgb[2] = rgb[0];
      if (h.kind == 4 && x == s->width - 1)
        p += (s->width + 7) / 8;
    }
  return 1;
}

static int matches(const image_source *s) {
  return s->size >= 3 && s->bytes[0] == 'P' && s->bytes[1] >= '1' && s->bytes[1] <= '6' &&
         (is_space(s->bytes[2]) || s->bytes[2] == '#');
}

const image_reader strata_pnm_reader = {"PNM", matches, measure, decode, 0};
