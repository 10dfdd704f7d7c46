/* BMP: 1, 2, 4 and 8 bits with colour tables, 16, 24 and 32 bits with masks, run lengths. */
#include "Image.h"

#include <string.h>

enum { RGB = 0, RLE8 = 1, RLE4 = 2, FIELDS = 3, ALPHA_FIELDS = 6 };

typedef struct {
  uint32_t bits, compression, masks[3], colors;
  size_t pixels, stride; /* where the pixels are; bytes of a row */
  const uint8_t *palette;
  int entry, top_down;
} header;

static uint32_t read2(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t read4(const uint8_t *p) { return read2(p) | read2(p + 2) << 16; }

static int read_header(image_source *s, header *h) {
  *h = (header){.entry = 4};
  if (s->size < 26)
    return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
  const uint8_t *p = s->bytes + 14;
  uint32_t size = read4(p);
  h->pixels = read4(s->bytes + 10);
  if (size != 12 && (size < 40 || size > 1024))
    return strata_image_error(s, "a header of %u bytes is not known", size);
  if (14 + (size_t)size > s->size)
    return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
  size_t end = 14 + (size_t)size;
  if (size == 12) {
    s->width = read2(p + 4);
    s->height = read2(p + 6);
    h->bits = read2(p + 10);
    h->entry = 3;
  } else {
    s->width = (int32_t)read4(p + 4);
    s->height = (int32_t)read4(p + 8);
    h->bits = read2(p + 14);
    h->compression = read4(p + 16);
    h->colors = read4(p + 32);
    h->top_down = s->height < 0;
    s->height = h->top_down ? -s->height : s->height;
  }
  if (s->width < 1 || s->height < 1 || s->height > strata_max_pixels / s->width)
    return 1; /* refused by the caller */
  uint32_t bits = h->bits, compression = h->compression;
  int fields = (compression == FIELDS || compression == ALPHA_FIELDS) && (bits == 16 || bits == 32);
  int known = compression == RGB && bits >= 1 && bits <= 32 && (bits == 24 || (bits & (bits - 1)) == 0);
  if (!known && !fields && !(compression == RLE8 && bits == 8) && !(compression == RLE4 && bits == 4))
    return strata_image_error(s, "%u bits with compression %u are not supported", bits, compression);
  for (int i = 0; i < 3; ++i)
    h->masks[i] = bits == 16 ? 0x7c00u >> 5 * i : 0xff0000u >> 8 * i;
  if (fields) {
    size_t masks = 14 + 40; /* in a longer header, or behind one of 40 bytes */
    if (masks + 12 > s->size)
      return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
    for (int i = 0; i < 3; ++i)
      h->masks[i] = read4(s->bytes + masks + 4 * (size_t)i);
    if (size == 40)
      end += compression == FIELDS ? 12 : 16;
  }
  if (bits <= 8) {
    uint32_t most = 1u << bits;
    if (!h->colors || h->colors > most)
      h->colors = most;
    size_t room = (h->pixels > end && h->pixels < s->size ? h->pixels : s->size) - end;
    if (room / (size_t)h->entry < h->colors)
      h->colors = (uint32_t)(room / (size_t)h->entry);
    h->palette = s->bytes + end;
  }
  if (h->pixels < end || h->pixels > s->size)
    return strata_image_error(s, h->pixels < end ? "the header is broken" : STRATA_IMAGE_TRUNCATED);
  h->stride = ((size_t)s->width * bits + 31) / 32 * 4;
  /* The padding of the last row may be missing. Four bytes of runs skip 255 columns and rows at most. */
  size_t last = ((size_t)s->width * bits + 7) / 8, room = s->size - h->pixels;
  int runs = compression == RLE4 || compression == RLE8;
  size_t rows = (size_t)s->height;
  if (runs ? rows * (size_t)s->width / (256 * 256 / 4) > room : h->stride * (rows - 1) + last > room)
    return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
  return 1;
}

static int measure(image_source *s) {
  header h;
  return read_header(s, &h);
}

static void put_color(const header *h, uint8_t *rgb, uint32_t index) {
  for (int i = 0; i < 3; ++i)
    rgb[i] = index < h->colors ? h->palette[(size_t)h->entry * index + 2 - (size_t)i] : 0;
}

static uint8_t field(uint32_t pixel, uint32_t mask) {
  if (!mask)
    return 0;
  int shift = __builtin_ctz(mask);
  return (uint8_t)((uint64_t)((pixel & mask) >> shift) * 255 / (mask >> shift));
}

static void decode_row(const header *h, const uint8_t *row, int64_t width, uint8_t *rgb) {
  for (int64_t x = 0; x < width; ++x, rgb += 3) {
    uint32_t bits = h->bits;
    if (bits <= 8) {
      uint32_t per_byte = 8 / bits, shift = 8 - bits * (uint32_t)(x % per_byte + 1);
      put_color(h, rgb, row[x / per_byte] >> shift & ((1u << bits) - 1));
    } else if (bits == 24) {
      rgb[0] = row[3 * x + 2];
      rgb[1] = row[3 * x + 1];
      rgb[2] = row[3 * x];
    } else {
      uint32_t pixel = bits == 16 ? read2(row + 2 * x) : read4(row + 4 * x);
      for (int i = 0; i < 3; ++i)
        rgb[i] = field(pixel, h->masks[i]);
    }
  }
}

/* Run lengths. Pixels that no run covers have the first colour. */
static int decode_runs(image_source *s, const header *h, uint8_t *rgb) {
  const uint8_t *p = s->bytes + h->pixels, *end = s->bytes + s->size;
  int64_t x = 0, y = 0;
  int nibbles = h->bits == 4;
  for (int64_t i = 0; i < s->height * s->width; ++i)
    put_color(h, rgb + 3 * i, 0);
  while (y < s->height) {
    if (end - p < 2)
      return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
    int count = p[0], code = p[1], literal = 0;
    p += 2;
    if (count == 0 && code == 0) {
      x = 0;
      ++y;
      continue;
    }
    if (count == 0 && code == 1)
      return 1;
    if (count == 0 && code == 2) {
      if (end - p < 2)
        return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
      x += p[0];
      y += p[1];
      p += 2;
      continue;
    }
    if (count == 0) {
      literal = 1;
      count = code;
      int64_t bytes = nibbles ? (count + 1) / 2 : count;
      if (end - p < bytes)
        return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
    }
    for (int i = 0; i < count; ++i, ++x) {
      int from = literal ? p[nibbles ? i / 2 : i] : code;
      if (x < s->width)
        put_color(h, rgb + 3 * ((h->top_down ? y : s->height - 1 - y) * s->width + x),
                  (uint32_t)(nibbles ? (i % 2 ? from & 15 : from >> 4) : from));
    }
    if (literal) {
      int64_t bytes = nibbles ? (count + 1) / 2 : count;
      bytes += bytes % 2;
      p += bytes < end - p ? bytes : end - p;
    }
  }
  return 1;
}

static int decode(image_source *s, uint8_t *rgb) {
  header h;
  if (!read_header(s, &h))
    return 0;
  if (h.compression == RLE4 || h.compression == RLE8)
    return decode_runs(s, &h, rgb);
  for (int64_t y = 0; y < s->height; ++y)
    decode_row(&h, s->bytes + h.pixels + h.stride * (size_t)(h.top_down ? y : s->height - 1 - y), s->width,
               rgb + y * s->width * 3);
  return 1;
}

static int matches(const image_source *s) { return strata_image_starts_with(s, 0, "BM", 2); }

const image_reader strata_bmp_reader = {"BMP", matches, measure, decode, 0};
