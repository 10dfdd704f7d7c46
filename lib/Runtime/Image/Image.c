/* Encoded images to pixels: which format it is, limits, pixel formats. A library of its own, because of the codecs that
 * it needs: only models with ImageDecoder link it. */
#include "Image.h"
#include "Runtime/strata_runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int strata_image_error(image_source *s, const char *format, ...) {
  if (s->error[0])
    return 0;
  va_list args;
  va_start(args, format);
  vsnprintf(s->error, sizeof(s->error), format, args);
  va_end(args);
  return 0;
}

int strata_image_starts_with(const image_source *s, size_t at, const char *bytes, size_t count) {
  return s->size >= at + count && memcmp(s->bytes + at, bytes, count) == 0;
}

static const image_reader *const readers[] = {&strata_jpeg_reader, &strata_png_reader,      &strata_webp_reader,
                                              &strata_tiff_reader, &strata_jpeg2000_reader, &strata_bmp_reader,
                                              &strata_pnm_reader};

typedef struct {
  int64_t sizes[2]; /* 0: it cannot be decoded */
  uint8_t *rgb;
} image;

typedef struct {
  uint8_t *allocated, *aligned;
  int64_t offset, sizes_and_strides[];
} memref;

static image_source source_of(const void *stream) {
  const memref *m = stream;
  return (image_source){.bytes = m->aligned + m->offset, .size = (size_t)m->sizes_and_strides[0]};
}

/* A codec takes its memory from malloc, which grants what the machine does not have. The runtime refuses it. */
static void ensure_memory(uint64_t bytes) {
  if (bytes > (64u << 20))
    strata_rt_free(strata_rt_alloc(bytes, 64));
}

static const image_reader *reader_of(const image_source *s) {
  for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); ++i)
    if (readers[i]->matches(s))
      return readers[i];
  return NULL;
}

int64_t strata_rt_image_open(const void *stream) {
  image_source s = source_of(stream);
  const image_reader *reader = reader_of(&s);
  image *result = strata_rt_alloc(sizeof(image), 16);
  *result = (image){{0, 0}, NULL};
  if (!reader || !reader->measure(&s) || s.error[0] || s.height <= 0 || s.width <= 0 ||
      s.height > strata_max_pixels / s.width)
    return (int64_t)(intptr_t)result;
  uint64_t pixels = (uint64_t)s.height * (uint64_t)s.width;
  result->rgb = strata_rt_alloc(pixels * 3, 64);
  ensure_memory(pixels * (uint64_t)reader->scratch);
  if (reader->decode(&s, result->rgb)) {
    result->sizes[0] = s.height;
    result->sizes[1] = s.width;
  }
  return (int64_t)(intptr_t)result;
}

int64_t strata_rt_image_size(int64_t handle, int64_t dimension) {
  return ((const image *)(intptr_t)handle)->sizes[dimension];
}

void strata_rt_image_pixels(int64_t handle, int64_t format, void *out) {
  image *opened = (image *)(intptr_t)handle;
  int64_t pixels = opened->sizes[0] * opened->sizes[1];
  uint8_t *result = ((memref *)out)->aligned + ((memref *)out)->offset;
  const uint8_t *rgb = opened->rgb;
  if (format == STRATA_IMAGE_RGB && pixels)
    memcpy(result, rgb, (size_t)pixels * 3);
  for (int64_t i = 0; format == STRATA_IMAGE_BGR && i < pixels; ++i)
    for (int c = 0; c < 3; ++c)
      result[3 * i + c] = rgb[3 * i + 2 - c];
  /* ITU-R 601-2 luma, with 16 bits behind the point. */
  for (int64_t i = 0; format == STRATA_IMAGE_GRAY && i < pixels; ++i)
    result[i] = (uint8_t)((rgb[3 * i] * 19595u + rgb[3 * i + 1] * 38470u + rgb[3 * i + 2] * 7471u + 0x8000u) >> 16);
  strata_rt_free(opened->rgb);
  strata_rt_free(opened);
}
