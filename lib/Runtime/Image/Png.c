/* PNG by libpng. */
#include "Image.h"

#include <png.h>
#include <string.h>

typedef struct {
  image_source *source;
  size_t at;
} reader;

static void on_error(png_structp png, png_const_charp message) {
  strata_image_error(png_get_error_ptr(png), "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {}

static void read_bytes(png_structp png, png_bytep to, size_t count) {
  reader *r = png_get_io_ptr(png);
  if (count > r->source->size - r->at)
    png_error(png, STRATA_IMAGE_TRUNCATED);
  memcpy(to, r->source->bytes + r->at, count);
  r->at += count;
}

/* Sizes, and the pixels if there is a place for them. */
static int read_image(image_source *s, uint8_t *rgb) {
  reader r = {s, 0};
  png_infop info = NULL;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, s, on_error, on_warning);
  png_infop *volatile held = &info;
  if (!png)
    return strata_image_error(s, "out of memory");
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_read_struct(&png, held, NULL);
    return 0;
  }
  info = png_create_info_struct(png);
  if (!info)
    png_error(png, "out of memory");
  png_set_read_fn(png, &r, read_bytes);
  png_read_info(png, info);
  int64_t height = png_get_image_height(png, info), width = png_get_image_width(png, info);
  if (!rgb) {
    s->height = height;
    s->width = width;
    /* Deflate's best ratio is 1032. */
    if ((uint64_t)height * png_get_rowbytes(png, info) / 1032 > s->size)
      png_error(png, STRATA_IMAGE_TRUNCATED);
  } else {
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != (size_t)width * 3 || height != s->height || width != s->width)
      png_error(png, "unknown kind of pixels");
    for (int pass = 0; pass < passes; ++pass)
      for (int64_t y = 0; y < height; ++y)
        png_read_row(png, rgb + y * width * 3, NULL);
    png_read_end(png, NULL);
  }
  png_destroy_read_struct(&png, &info, NULL);
  return 1;
}

static int measure(image_source *s) { return read_image(s, NULL); }

static int matches(const image_source *s) { return strata_image_starts_with(s, 0, "\x89PNG\r\n\x1a\n", 8); }

const image_reader strata_png_reader = {"PNG", matches, measure, read_image, 0};
