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
  const image_reader *reader;
  int64_t sizes[2];
} image;

typedef struct {
  uint8_t *allocated, *aligned;
  int64_t offset, sizes_and_strides[];
} memref;

static image_source source_of(const void *stream) {
  const memref *m = stream;
  return (image_source){.bytes = m->aligned + m->offset, .size = (size_t)m->sizes_and_strides[0]};
}

/* Leaves the run: nothing but buffers of the run may be held here. */
__attribute__((noreturn)) static void fail(const image_reader *reader, const image_source *s, int64_t node) {
  char text[512];
  const char *name = (const char *)(intptr_t)node;
  int named = name && *name;
  snprintf(text, sizeof(text), "%.200s%scannot decode the %s image: %s", named ? name : "", named ? ": " : "",
           reader ? reader->name : "encoded", s->error[0] ? s->error : "the data is broken");
  for (char *c = text; *c; ++c)
    if ((unsigned char)*c < ' ')
      *c = ' ';
  strata_rt_fail(text);
}

int64_t strata_rt_image_open(const void *stream, int64_t node) {
  image_source s = source_of(stream);
  const image_reader *reader = NULL;
  for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]) && !reader; ++i)
    if (readers[i]->matches(&s))
      reader = readers[i];
  if (!reader) {
    strata_image_error(&s, !s.size ? "the stream is empty"
                                   : "it is neither BMP, JPEG, JPEG 2000, PNG, PNM, TIFF nor WebP");
    fail(reader, &s, node);
  }
  if (!reader->measure(&s))
    fail(reader, &s, node);
  if (s.height <= 0 || s.width <= 0)
    strata_image_error(&s, "it has no pixels");
  else if (s.height > strata_max_pixels / s.width)
    strata_image_error(&s, "%lld x %lld pixels are more than the %d that are allowed", (long long)s.width,
                       (long long)s.height, strata_max_pixels);
  if (s.error[0])
    fail(reader, &s, node);
  image *result = strata_rt_alloc(sizeof(image), 16);
  *result = (image){reader, {s.height, s.width}};
  return (int64_t)(intptr_t)result;
}

int64_t strata_rt_image_size(int64_t handle, int64_t dimension) {
  return ((const image *)(intptr_t)handle)->sizes[dimension];
}

/* A codec takes its memory from malloc, which grants what the machine does not have. The runtime refuses it. */
static void ensure_memory(uint64_t bytes) {
  if (bytes > (64u << 20))
    strata_rt_free(strata_rt_alloc(bytes, 64));
}

void strata_rt_image_decode(const void *stream, int64_t handle, int64_t format, void *out, int64_t node) {
  image *opened = (image *)(intptr_t)handle;
  image_source s = source_of(stream);
  s.height = opened->sizes[0];
  s.width = opened->sizes[1];
  int64_t pixels = s.height * s.width;
  uint8_t *result = ((memref *)out)->aligned + ((memref *)out)->offset;
  uint8_t *rgb = format == STRATA_IMAGE_GRAY ? strata_rt_alloc((uint64_t)pixels * 3, 64) : result;
  ensure_memory((uint64_t)pixels * (uint64_t)opened->reader->scratch);
  if (!opened->reader->decode(&s, rgb))
    fail(opened->reader, &s, node);
  if (format == STRATA_IMAGE_BGR)
    for (int64_t i = 0; i < pixels; ++i) {
      uint8_t red = rgb[3 * i];
      rgb[3 * i] = rgb[3 * i + 2];
      rgb[3 * i + 2] = red;
    }
  if (format == STRATA_IMAGE_GRAY) {
    /* ITU-R 601-2 luma, with 16 bits behind the point. */
    for (int64_t i = 0; i < pixels; ++i)
      result[i] = (uint8_t)((rgb[3 * i] * 19595u + rgb[3 * i + 1] * 38470u + rgb[3 * i + 2] * 7471u + 0x8000u) >> 16);
    strata_rt_free(rgb);
  }
  strata_rt_free(opened);
}
